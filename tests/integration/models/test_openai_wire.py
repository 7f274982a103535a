"""The OpenAI-compatible adapter against a server that can do anything on the wire."""

import asyncio
import gzip
import json
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.exchange import ANSWER_BYTES
from ordain.models.openai import OpenAIModel
from ordain.ports.model import Charge, ModelError, ModelReply
from tests.e2e.process import nobody
from tests.integration.models.wire import (
    API_KEY,
    SCHEMA,
    SYSTEM,
    http,
    http_json,
    playing,
    request,
    send,
)
from tests.lanes import examples

GOOD = {"model": "m-1", "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
CLOSE = {"close": True}


def choice(finish_reason: Any, **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish_reason}]
    }


def error(status: str, body: Any, *headers: str) -> list[dict[str, Any]]:
    return [http_json(body, status, *headers)]


def said(code: str | None = None, **more: Any) -> dict[str, Any]:
    return {"error": {"message": "words of the provider", "code": code, **more}}


ANSWERS: list[tuple[str, ModelErrorCode, list[dict[str, Any]]]] = [
    ("choices empty", ModelErrorCode.MALFORMED, [http_json({"choices": []})]),
    ("choices null", ModelErrorCode.MALFORMED, [http_json({"choices": None})]),
    ("choices absent", ModelErrorCode.MALFORMED, [http_json({"id": "x"})]),
    ("choices of a wrong type", ModelErrorCode.MALFORMED, [http_json({"choices": {"0": {}}})]),
    (
        "message null",
        ModelErrorCode.MALFORMED,
        [http_json({"choices": [{"message": None, "finish_reason": "stop"}]})],
    ),
    (
        "content of a wrong type",
        ModelErrorCode.MALFORMED,
        [http_json(choice("stop", content={"a": 1}))],
    ),
    ("content null", ModelErrorCode.MALFORMED, [http_json(choice("stop", content=None))]),
    ("content empty", ModelErrorCode.MALFORMED, [http_json(choice("stop", content=""))]),
    ("finish_reason null", ModelErrorCode.MALFORMED, [http_json(choice(None, content="{}"))]),
    (
        "finish_reason absent",
        ModelErrorCode.MALFORMED,
        [http_json({"choices": [{"message": {"content": "{}"}}]})],
    ),
    ("finish_reason unknown", ModelErrorCode.MALFORMED, [http_json(choice("odd", content="{}"))]),
    ("finish_reason empty", ModelErrorCode.MALFORMED, [http_json(choice("", content="{}"))]),
    (
        "finish_reason of a server's fault",
        ModelErrorCode.SERVER_ERROR,
        [http_json(choice("abort", content="{}"))],
    ),
    ("finish_reason a number", ModelErrorCode.MALFORMED, [http_json(choice(1, content="{}"))]),
    (
        "tool calls instead of content",
        ModelErrorCode.MALFORMED,
        [http_json(choice("tool_calls", content=None, tool_calls=[{}]))],
    ),
    ("length", ModelErrorCode.TRUNCATED, [http_json(choice("length", content='{"a": 1}'))]),
    (
        "content filter",
        ModelErrorCode.FILTERED,
        [http_json(choice("content_filter", content="{}"))],
    ),
    (
        "refusal",
        ModelErrorCode.FILTERED,
        [http_json(choice("stop", content=None, refusal="I cannot"))],
    ),
    ("200 with an error", ModelErrorCode.MALFORMED, [http_json(said("server_error"))]),
    (
        "200 with an error and choices",
        ModelErrorCode.MALFORMED,
        [http_json({**GOOD, "error": {"message": "x"}})],
    ),
    (
        "a page",
        ModelErrorCode.MALFORMED,
        [http(b"<!doctype html><title>Welcome</title>", "200 OK", "content-type: text/html")],
    ),
    ("nothing", ModelErrorCode.MALFORMED, [http(b"")]),
    ("204", ModelErrorCode.MALFORMED, [send(b"HTTP/1.1 204 No Content\r\n\r\n")]),
    ("half of a JSON", ModelErrorCode.MALFORMED, [http(json.dumps(GOOD).encode()[:-9])]),
    (
        "an event stream",
        ModelErrorCode.MALFORMED,
        [http(b'data: {"choices": []}\n\ndata: [DONE]\n\n')],
    ),
    (
        "invalid UTF-8",
        ModelErrorCode.MALFORMED,
        [http(json.dumps(choice("stop", content="x@y")).encode().replace(b"@", b"\xff\xfe"))],
    ),
    (
        "a lone surrogate",
        ModelErrorCode.MALFORMED,
        [http(json.dumps(choice("stop", content="\ud800")).encode())],
    ),
    (
        "NaN",
        ModelErrorCode.MALFORMED,
        [http(json.dumps({**GOOD, "usage": {"prompt_tokens": float("nan")}}).encode())],
    ),
    (
        "nested deeply",
        ModelErrorCode.MALFORMED,
        [http(b'{"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}")],
    ),
    ("a list", ModelErrorCode.MALFORMED, [http_json([GOOD])]),
    (
        "compressed although not asked to",
        ModelErrorCode.MALFORMED,
        [http(gzip.compress(b"{}"), "200 OK", "content-encoding: gzip")],
    ),
    (
        "larger than the bound, declared",
        ModelErrorCode.MALFORMED,
        [http(b" " * (ANSWER_BYTES + 1))],
    ),
    ("not HTTP", ModelErrorCode.MALFORMED, [send(b"220 mail.example ESMTP ready\r\n\r\n"), CLOSE]),
    ("other binary", ModelErrorCode.MALFORMED, [send(bytes(range(256)) * 8), CLOSE]),
    ("closed without an answer", ModelErrorCode.CONNECTION, [CLOSE]),
    ("reset without an answer", ModelErrorCode.CONNECTION, [{"reset": True}]),
    (
        "closed within the head",
        ModelErrorCode.CONNECTION,
        [send(b"HTTP/1.1 200 OK\r\ncontent-"), CLOSE],
    ),
    (
        "closed within the body",
        ModelErrorCode.CONNECTION,
        [send(b'HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"choices"'), CLOSE],
    ),
    (
        "reset within the body",
        ModelErrorCode.CONNECTION,
        [send(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"), {"sleep": 0.2}, {"reset": True}],
    ),
    (
        "closed within a chunk",
        ModelErrorCode.CONNECTION,
        [send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{"), CLOSE],
    ),
    (
        "a chunk of no size",
        ModelErrorCode.MALFORMED,
        [send(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{"), CLOSE],
    ),
    (
        "300",
        ModelErrorCode.REJECTED,
        error("301 Moved Permanently", {}, "location: http://127.0.0.1:1/v1"),
    ),
    (
        "400",
        ModelErrorCode.REJECTED,
        error("400 Bad Request", said("unsupported_value", param="temperature")),
    ),
    (
        "400 context",
        ModelErrorCode.CONTEXT_TOO_LONG,
        error("400 Bad Request", said("context_length_exceeded")),
    ),
    (
        "400 context, vLLM",
        ModelErrorCode.CONTEXT_TOO_LONG,
        error("400 Bad Request", {"message": "This model's maximum context length is 9"}),
    ),
    (
        "400 context, llama.cpp",
        ModelErrorCode.CONTEXT_TOO_LONG,
        error("400 Bad Request", said(None, type="exceed_context_size_error")),
    ),
    ("400 filter", ModelErrorCode.FILTERED, error("400 Bad Request", said("content_filter"))),
    ("401", ModelErrorCode.AUTHENTICATION, error("401 Unauthorized", said("invalid_api_key"))),
    ("402", ModelErrorCode.QUOTA_EXCEEDED, error("402 Payment Required", said())),
    ("403", ModelErrorCode.AUTHENTICATION, error("403 Forbidden", said())),
    ("404", ModelErrorCode.NOT_FOUND, error("404 Not Found", said("model_not_found"))),
    ("405", ModelErrorCode.REJECTED, error("405 Method Not Allowed", [])),
    ("408", ModelErrorCode.SERVER_ERROR, error("408 Request Timeout", {})),
    ("413", ModelErrorCode.CONTEXT_TOO_LONG, error("413 Content Too Large", {})),
    (
        "422",
        ModelErrorCode.REJECTED,
        error("422 Unprocessable Content", {"detail": [{"loc": ["body"]}]}),
    ),
    (
        "429",
        ModelErrorCode.RATE_LIMITED,
        error("429 Too Many Requests", said("rate_limit_exceeded")),
    ),
    (
        "429 quota",
        ModelErrorCode.QUOTA_EXCEEDED,
        error("429 Too Many Requests", said("insufficient_quota")),
    ),
    (
        "429 quota in type",
        ModelErrorCode.QUOTA_EXCEEDED,
        error("429 Too Many Requests", said(None, type="insufficient_quota")),
    ),
    ("500", ModelErrorCode.SERVER_ERROR, error("500 Internal Server Error", said("server_error"))),
    (
        "502 page",
        ModelErrorCode.SERVER_ERROR,
        [http(b"<html>Bad gateway</html>", "502 Bad Gateway")],
    ),
    ("503", ModelErrorCode.OVERLOADED, error("503 Service Unavailable", said())),
    ("504", ModelErrorCode.SERVER_ERROR, error("504 Gateway Timeout", "text")),
    ("529", ModelErrorCode.OVERLOADED, error("529 Overloaded", None)),
    ("599", ModelErrorCode.SERVER_ERROR, error("599 Odd", {"error": "a text"})),
    (
        "401 cut off",
        ModelErrorCode.AUTHENTICATION,
        [send(b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 90\r\n\r\n{"), CLOSE],
    ),
]

BEFORE_WORK = {
    *(
        ModelErrorCode.REJECTED,
        ModelErrorCode.AUTHENTICATION,
        ModelErrorCode.NOT_FOUND,
        ModelErrorCode.CONTEXT_TOO_LONG,
    ),
    *(ModelErrorCode.RATE_LIMITED, ModelErrorCode.QUOTA_EXCEEDED, ModelErrorCode.OVERLOADED),
}


@pytest.mark.parametrize(
    ("code", "operations"),
    [pytest.param(code, operations, id=name) for name, code, operations in ANSWERS],
)
async def test_an_answer_that_is_none_has_its_code(
    wire: OpenAIModel, code: ModelErrorCode, operations: list[dict[str, Any]]
) -> None:
    """Each way in which an answer can fail has its code and what is known of its cost, and says
    nothing of key or prompt.
    """
    answer = await wire.attempt(playing(*operations))
    assert isinstance(answer, ModelError)
    assert answer.code is code, answer
    assert answer.charge is (Charge.REFUSED if code in BEFORE_WORK else Charge.POSSIBLE)
    assert 0 < len(answer.message) <= 300
    assert API_KEY not in answer.message
    assert SYSTEM not in answer.message


async def test_a_whole_answer_is_a_reply(wire: OpenAIModel) -> None:
    """Text, model and token counts come back as given."""
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    answer = await wire.attempt(playing(http_json({**GOOD, "usage": usage})))
    assert answer == ModelReply(
        text="{}", model="m-1", input_tokens=11, output_tokens=7, held=Structured.NATIVE
    )


@pytest.mark.parametrize(
    "usage",
    [None, {}, [], {"prompt_tokens": "9"}, {"prompt_tokens": -1, "completion_tokens": True}, 7],
)
async def test_missing_usage_is_none(wire: OpenAIModel, usage: Any) -> None:
    """Token counts that are absent or none are None, never zero; the answer still counts."""
    answer = await wire.attempt(playing(http_json({**GOOD, "usage": usage})))
    assert isinstance(answer, ModelReply)
    assert (answer.input_tokens, answer.output_tokens) == (None, None)


async def test_what_is_sent(wire: OpenAIModel) -> None:
    """One request carries key, model, both messages, length and schema, and asks for no
    compression.
    """
    answer = await wire.attempt(playing({"echo": True}, temperature=0.5, max_tokens=200))
    assert isinstance(answer, ModelReply)
    seen = json.loads(answer.text)
    body = json.loads(seen["body"])
    assert seen["line"] == "POST /v1/chat/completions HTTP/1.1"
    assert seen["headers"]["authorization"] == f"Bearer {API_KEY}"
    assert seen["headers"]["accept-encoding"] == "identity"
    assert seen["headers"]["host"] == wire.url.split("/")[2]
    assert body.pop("messages")[0] == {"role": "system", "content": SYSTEM}
    wanted = {
        "type": "json_schema",
        "json_schema": {"name": "planner_step", "strict": True, "schema": SCHEMA},
    }
    assert body == {
        "model": "wire",
        "max_tokens": 200,
        "temperature": 0.5,
        "response_format": wanted,
    }


async def test_a_schema_without_native_support_stands_in_the_text(wire: OpenAIModel) -> None:
    """Without native_schema no response_format is assumed: the schema is the end of the system
    text.
    """
    answer = await wire.attempt(playing({"echo": True}, native_schema=False))
    assert isinstance(answer, ModelReply)
    body = json.loads(json.loads(answer.text)["body"])
    assert "response_format" not in body
    system = body["messages"][0]["content"]
    assert system.startswith(SYSTEM)
    assert json.loads(system.splitlines()[-1]) == SCHEMA


async def test_without_a_key_none_is_sent(wire_url: str) -> None:
    """A profile without a key sends no Authorization header."""
    model = OpenAIModel(wire_url + "/v1")
    answer = await model.attempt(playing({"echo": True}))
    assert isinstance(answer, ModelReply)
    assert "authorization" not in json.loads(answer.text)["headers"]
    await model.close()


async def test_a_proxy_of_the_environment_is_used(
    wire_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A foreign host is reached through the proxy that the environment names, this machine itself
    never.
    """
    monkeypatch.setenv("http_proxy", wire_url)
    monkeypatch.delenv("no_proxy", raising=False)
    for base, line in (
        ("http://model.example", "POST http://model.example:80/v1/chat/completions"),
        (wire_url, "POST /v1/chat/completions"),
    ):
        model = OpenAIModel(base, API_KEY)
        answer = await model.attempt(playing({"echo": True}))
        assert isinstance(answer, ModelReply)
        assert json.loads(answer.text)["line"].startswith(line + " ")
        await model.close()


async def test_connections_are_kept(wire: OpenAIModel) -> None:
    """One call after another travels on one connection, calls side by side on several, and a broken
    one is not used again.
    """

    async def peer() -> int:
        answer = await wire.attempt(playing({"echo": True}))
        assert isinstance(answer, ModelReply)
        return json.loads(answer.text)["peer"]

    first = await peer()
    assert await peer() == first
    side_by_side = await asyncio.gather(*[peer() for _ in range(8)])
    assert len(set(side_by_side)) == 8
    assert await peer() in side_by_side
    assert isinstance(await wire.attempt(playing(http_json(GOOD), CLOSE)), ModelReply)
    await asyncio.sleep(0.1)
    assert await peer() in side_by_side


async def test_an_undeclared_endless_answer_ends_at_the_bound(wire: OpenAIModel) -> None:
    """A chunked answer is read up to the bound and no further."""
    chunk = b"%x\r\n" % 1_000_000 + b" " * 1_000_000 + b"\r\n"
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    answer = await wire.attempt(playing(send(head), *[send(chunk)] * 5, {"sleep": 30}))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.MALFORMED
    assert str(ANSWER_BYTES) in answer.message


@pytest.mark.parametrize(
    "operations",
    [
        [{"sleep": 30}],
        [send(b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{"), {"sleep": 30}],
        [
            send(b"HTTP/1.1 200 OK\r\ncontent-length: 9000\r\n\r\n"),
            *[send(b" "), {"sleep": 0.02}] * 400,
        ],
    ],
    ids=["silent", "stalls", "drips"],
)
async def test_the_time_out_covers_the_whole_attempt(
    wire: OpenAIModel, operations: list[dict[str, Any]]
) -> None:
    """The attempt ends at its deadline, however the server spends the time."""
    answer = await wire.attempt(playing(*operations, timeout_s=0.3))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.TIMED_OUT
    answer = await wire.attempt(playing(*operations, timeout_ms=300))
    assert isinstance(answer, ModelError)
    assert answer.code is ModelErrorCode.TIMED_OUT


async def test_without_time_nothing_is_sent() -> None:
    """An attempt whose deadline has passed does not connect."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        model = OpenAIModel(f"http://127.0.0.1:{listener.getsockname()[1]}")
        answer = await model.attempt(request("x", timeout_s=0.0))
        assert isinstance(answer, ModelError)
        assert (answer.code, answer.charge) == (ModelErrorCode.TIMED_OUT, Charge.NOTHING_SENT)
        with pytest.raises(TimeoutError):
            listener.accept()


async def test_nobody_listens() -> None:
    """A refused connection is a connection error that names the fault and not the key, and nothing
    was sent over it.
    """
    with nobody() as port:
        model = OpenAIModel(f"http://127.0.0.1:{port}", API_KEY)
        answer = await model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.charge) == (ModelErrorCode.CONNECTION, Charge.NOTHING_SENT)
    assert API_KEY not in answer.message
    await model.close()


async def test_a_name_that_does_not_resolve() -> None:
    """An unknown host is a connection error."""
    model = OpenAIModel("http://no-such-host.localhost.invalid")

    async def nowhere(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # the live-call lock forbids asking a resolver for a foreign name, so the loop's resolver
    # answers as the system's does
    asyncio.get_running_loop().getaddrinfo = nowhere  # type: ignore[method-assign]
    answer = await model.attempt(request("x"))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.charge) == (ModelErrorCode.CONNECTION, Charge.NOTHING_SENT)


async def test_a_proxy_that_opens_no_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that refuses the way to an encrypted endpoint was told no word of the request."""
    told: list[bytes] = []
    over = asyncio.Event()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        told.append(await reader.read())
        writer.close()
        await writer.wait_closed()
        over.set()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        model = OpenAIModel("https://model.example", API_KEY)
        answer = await model.attempt(request("x"))
        await model.close()
        await over.wait()
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.charge) == (ModelErrorCode.CONNECTION, Charge.NOTHING_SENT)
    assert told[0].startswith(b"CONNECT model.example:443 ")
    assert b"".join(told[1:]) == b""


async def test_cancelling_abandons_and_the_next_call_works(wire: OpenAIModel) -> None:
    """Cancellation passes through the adapter, closes its connection, and leaves the others
    usable.
    """
    for _ in range(3):
        task = asyncio.create_task(wire.attempt(playing({"sleep": 30})))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert isinstance(await wire.attempt(playing(http_json(GOOD))), ModelReply)


async def test_closing_is_idempotent(wire: OpenAIModel) -> None:
    """Close twice, also with a call in flight, which still gets its answer."""
    running = asyncio.create_task(wire.attempt(playing({"sleep": 0.1}, http_json(GOOD))))
    await asyncio.sleep(0.05)
    await wire.close()
    await wire.close()
    assert isinstance(await running, ModelReply)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (["retry-after: 7"], 7000),
        (["Retry-After: 0.25"], 250),
        (["retry-after-ms: 1500", "retry-after: 2"], 1500),
        (
            ["date: Sat, 21 Nov 2026 10:00:00 GMT", "retry-after: Sat, 21 Nov 2026 10:00:30 GMT"],
            30_000,
        ),
        (
            ["date: Sat, 21 Nov 2026 10:00:00 GMT", "retry-after: Sat, 21 Nov 2026 09:00:00 GMT"],
            1000,
        ),
        (
            ["date: Sat, 21 Nov 2026 10:00:00 GMT", "retry-after: Sat, 21 Nov 2026 10:00:00 GMT"],
            1000,
        ),
        (["retry-after: 0"], 1000),
        (["retry-after-ms: 0"], 1000),
        (["retry-after: -7.5"], 1000),
        (["retry-after: 999999999"], 24 * 3600 * 1000),
        (["retry-after: soon"], None),
        (["retry-after: -1"], 1000),
        (["retry-after: Sat, 21 Nov 2026 10:00:30 GMT"], 1000),
        ([], None),
    ],
)
async def test_retry_after(wire: OpenAIModel, headers: list[str], expected: int | None) -> None:
    """The delay that a server asks for comes back in milliseconds, bounded; one that is not ahead
    is a rest of a second; what is none is None.
    """
    answer = await wire.attempt(playing(http_json({}, "429 Too Many Requests", *headers)))
    assert isinstance(answer, ModelError)
    assert answer.retry_after_ms == expected


async def test_errors_echo_neither_key_nor_prompt(wire: OpenAIModel) -> None:
    """A provider that puts key and prompt into every field of its error gets none of it into
    ours.
    """
    for secret in ("hush_hush_key", "private_words_of_the_prompt"):
        model = OpenAIModel(wire.url, "hush_hush_key")
        body = {
            "error": {
                "message": f"bad {secret}",
                "code": secret,
                "type": f"pre_{secret}_post",
                "param": secret[:9],
            }
        }
        answer = await model.attempt(
            playing(
                http_json(body, "400 Bad Request"),
                system="say pre_private_words_of_the_prompt_post",
            )
        )
        assert isinstance(answer, ModelError)
        assert secret not in answer.message
        assert "hush" not in answer.message
        await model.close()


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.one_of(
        st.binary(max_size=300),
        st.binary(max_size=200).map(
            lambda body: b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body
        ),
        st.tuples(st.integers(0, 999), st.binary(max_size=80)).map(
            lambda of: b"HTTP/1.1 %d X\r\n%b\r\n\r\n" % of
        ),
        st.tuples(st.integers(0, 200), st.binary(min_size=1, max_size=4)).map(
            lambda of: (good := http_bytes(GOOD))[: of[0]] + of[1] + good[of[0] + len(of[1]) :]
        ),
    )
)
def test_no_bytes_break_the_adapter(wire_url: str, data: bytes) -> None:
    """Whatever bytes a server answers with, a reply or a mapped error comes back, never an
    exception or a bug of the adapter.
    """

    async def ask() -> ModelReply | ModelError:
        model = OpenAIModel(wire_url, API_KEY)
        try:
            return await model.attempt(playing(send(data), CLOSE))
        finally:
            await model.close()

    answer = asyncio.run(ask())
    assert isinstance(answer, ModelReply) or answer.code is not ModelErrorCode.ADAPTER_BUG, answer


def http_bytes(value: Any) -> bytes:
    body = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body
