"""The adapters over pydantic-ai, and /v1/responses, against a server that can do anything on the
wire.
"""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.exchange import ANSWER_BYTES
from ordain.models.pace import CHUNKS_FREE, TOO_FINE
from ordain.models.providers import build_models
from ordain.ports.model import Charge, ModelError, ModelPort, ModelReply, ModelRequest
from tests.e2e.process import nobody
from tests.integration.models.wire import (
    API_KEY,
    PROTOCOLS,
    SYSTEM,
    Protocol,
    http,
    http_json,
    playing,
    profile,
    send,
)
from tests.integration.models.wire_server import whole
from tests.lanes import examples

CODES = ModelErrorCode
CLOSE = {"close": True}
PATHS = {
    "responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "gemini": "/v1beta/models/wire:generateContent",
}


@pytest.fixture(params=PROTOCOLS[1:], ids=[protocol.name for protocol in PROTOCOLS[1:]])
def protocol(request: pytest.FixtureRequest) -> Protocol:
    """Every wire but chat completions, which has a module of its own."""
    return request.param


@pytest.fixture
async def model(protocol: Protocol, wire_url: str) -> AsyncIterator[ModelPort]:
    built = build_models({"m": profile(protocol, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    yield built
    await built.close()


def asked(
    protocol: Protocol, *operations: dict[str, Any], narrative: str = "", **more: Any
) -> ModelRequest:
    """A request that makes the server do this; the answer is a text."""
    own = profile(protocol, "http://x", **{"structured": "text", **more})
    return structs.replace(playing(*operations), profile=own, narrative=narrative)


def good(protocol: Protocol, text: str = "{}") -> dict[str, Any]:
    return whole(PATHS[protocol.name], text)


def error(status: str, body: Any, *headers: str) -> list[dict[str, Any]]:
    return [http_json(body, status, *headers)]


def said(**more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"message": f"words with {API_KEY} and {SYSTEM}", **more}}


ANSWERS: list[tuple[str, ModelErrorCode, list[dict[str, Any]]]] = [
    ("an empty object", CODES.MALFORMED, [http_json({})]),
    ("a list", CODES.MALFORMED, [http_json([])]),
    ("a number", CODES.MALFORMED, [http_json(7)]),
    (
        "a page",
        CODES.MALFORMED,
        [http(b"<!doctype html><title>Welcome</title>", "200 OK", "content-type: text/html")],
    ),
    ("nothing", CODES.MALFORMED, [http(b"", "200 OK", "content-type: application/json")]),
    (
        "half of a JSON",
        CODES.MALFORMED,
        [http(b'{"output": [', "200 OK", "content-type: application/json")],
    ),
    (
        "invalid UTF-8",
        CODES.MALFORMED,
        [http(b'{"x": "\xff\xfe"}', "200 OK", "content-type: application/json")],
    ),
    (
        "nested deeply",
        CODES.MALFORMED,
        [
            http(
                b'{"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
                "200 OK",
                "content-type: application/json",
            )
        ],
    ),
    (
        "empty choices",
        CODES.MALFORMED,
        [http_json({"content": [], "output": [], "candidates": [], "status": "completed"})],
    ),
    (
        "nulls",
        CODES.MALFORMED,
        [
            http_json(
                {
                    "content": None,
                    "output": None,
                    "candidates": None,
                    "status": None,
                    "stop_reason": None,
                }
            )
        ],
    ),
    (
        "wrong types",
        CODES.MALFORMED,
        [
            http_json(
                {
                    "content": 7,
                    "output": "x",
                    "candidates": {"a": 1},
                    "status": [],
                    "stop_reason": 3,
                }
            )
        ],
    ),
    (
        "compressed although not asked to",
        CODES.MALFORMED,
        [http(gzip.compress(b"{}"), "200 OK", "content-encoding: gzip")],
    ),
    (
        "larger than the bound",
        CODES.MALFORMED,
        [http(b" " * (ANSWER_BYTES + 1), "200 OK", "content-type: application/json")],
    ),
    ("not HTTP", CODES.MALFORMED, [send(b"220 mail.example ESMTP ready\r\n\r\n"), CLOSE]),
    ("closed without an answer", CODES.CONNECTION, [CLOSE]),
    ("reset without an answer", CODES.CONNECTION, [{"reset": True}]),
    (
        "closed within the body",
        CODES.CONNECTION,
        [send(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{"), CLOSE],
    ),
    ("301", CODES.REJECTED, error("301 Moved Permanently", {}, "location: http://127.0.0.1:1/v1")),
    ("307", CODES.REJECTED, error("307 Temporary Redirect", {}, "location: /v1/responses")),
    (
        "400",
        CODES.REJECTED,
        error("400 Bad Request", said(type="invalid_request_error", status="INVALID_ARGUMENT")),
    ),
    ("401", CODES.AUTHENTICATION, error("401 Unauthorized", said(type="authentication_error"))),
    ("404", CODES.NOT_FOUND, error("404 Not Found", said(type="not_found_error"))),
    ("405", CODES.REJECTED, error("405 Method Not Allowed", [])),
    ("418 text", CODES.REJECTED, [http(b"I am a teapot", "418 Teapot")]),
    (
        "429",
        CODES.RATE_LIMITED,
        error("429 Too Many Requests", said(type="rate_limit_error", status="RESOURCE_EXHAUSTED")),
    ),
    ("502 page", CODES.SERVER_ERROR, [http(b"<html>Bad gateway</html>", "502 Bad Gateway")]),
    ("529", CODES.OVERLOADED, error("529 Overloaded", None)),
    ("599", CODES.SERVER_ERROR, error("599 Odd", "text")),
]


def failed(answer: ModelReply | ModelError) -> ModelErrorCode:
    assert isinstance(answer, ModelError), answer
    assert 0 < len(answer.message) <= 300
    assert API_KEY not in answer.message
    assert SYSTEM not in answer.message
    assert "words" not in answer.message
    return answer.code


@pytest.mark.parametrize(
    ("code", "operations"),
    [pytest.param(code, operations, id=name) for name, code, operations in ANSWERS],
)
async def test_an_answer_that_is_none_has_its_code(
    protocol: Protocol, model: ModelPort, code: ModelErrorCode, operations: list[dict[str, Any]]
) -> None:
    """Each way in which an answer can fail has its code, tells nothing of key, prompt or the
    provider's words, and the next call works.
    """
    assert failed(await model.attempt(asked(protocol, *operations))) is code
    assert isinstance(await model.attempt(asked(protocol, {"echo": True})), ModelReply)


@pytest.mark.parametrize(
    ("code", "operations"),
    [pytest.param(code, operations, id=name) for name, code, operations in ANSWERS],
)
async def test_a_stream_that_is_none_has_a_code(
    protocol: Protocol, model: ModelPort, code: ModelErrorCode, operations: list[dict[str, Any]]
) -> None:
    """The same where a stream was asked for; a broken one may have another code, and never is a
    reply.
    """
    found = failed(
        await model.attempt(asked(protocol, *operations, narrative="content"), [].append)
    )
    assert found is code or {found, code} <= {CODES.MALFORMED, CODES.CONNECTION}


async def test_an_answer_in_crumbs_is_given_up(protocol: Protocol, model: ModelPort) -> None:
    """More and smaller pieces than any answer has are no answer, as one body and as a stream."""
    crumbs = send(b"1\r\n:\r\n" * (2 * CHUNKS_FREE))
    for media_type, narrative in (("application/json", ""), ("text/event-stream", "content")):
        head = send(
            (
                f"HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\n"
                "transfer-encoding: chunked\r\n\r\n"
            ).encode()
        )
        answer = await model.attempt(
            asked(protocol, head, crumbs, {"sleep": 30}, narrative=narrative),
            [].append if narrative else None,
        )
        assert failed(answer) is CODES.MALFORMED
        assert isinstance(answer, ModelError)
        assert answer.message == TOO_FINE


async def test_a_whole_answer_is_a_reply(protocol: Protocol, model: ModelPort) -> None:
    """Text and model come back as given; absent token counts are None, never zero."""
    given = good(protocol, "Ça va? 😀")
    if protocol.name == "anthropic":
        given["usage"] = {"input_tokens": 0, "output_tokens": 0}
    answer = await model.attempt(asked(protocol, http_json(given)))
    assert answer == ModelReply(
        text="Ça va? 😀", model="wire", input_tokens=None, output_tokens=None, held=Structured.TEXT
    )


USAGE = {
    "responses": {
        "usage": {
            "input_tokens": 100,
            "output_tokens": 7,
            "input_tokens_details": {"cached_tokens": 64},
        }
    },
    "anthropic": {
        "usage": {
            "input_tokens": 36,
            "output_tokens": 7,
            "cache_read_input_tokens": 64,
            "cache_creation_input_tokens": 0,
        }
    },
    "gemini": {
        "usageMetadata": {
            "promptTokenCount": 100,
            "candidatesTokenCount": 7,
            "cachedContentTokenCount": 64,
            "totalTokenCount": 107,
        }
    },
}


async def test_cached_tokens_are_part_of_the_input(protocol: Protocol, model: ModelPort) -> None:
    """However a provider counts them, input tokens hold what was read from the cache, and that part
    is told.
    """
    answer = await model.attempt(
        asked(protocol, http_json({**good(protocol), **USAGE[protocol.name]}))
    )
    assert isinstance(answer, ModelReply)
    assert (answer.input_tokens, answer.cached_tokens, answer.output_tokens) == (100, 64, 7)


FINISHES = {
    "anthropic": (
        "stop_reason",
        {
            "max_tokens": CODES.TRUNCATED,
            "refusal": CODES.FILTERED,
            "pause_turn": CODES.MALFORMED,
            "odd": CODES.MALFORMED,
        },
    ),
    "gemini": (
        "finishReason",
        {
            "MAX_TOKENS": CODES.TRUNCATED,
            "SAFETY": CODES.FILTERED,
            "RECITATION": CODES.FILTERED,
            "OTHER": CODES.MALFORMED,
            "ODD": CODES.MALFORMED,
        },
    ),
    "responses": (
        "status",
        {
            "queued": CODES.MALFORMED,
            "in_progress": CODES.MALFORMED,
            "cancelled": CODES.MALFORMED,
            "odd": CODES.MALFORMED,
        },
    ),
}


async def test_only_a_whole_answer_counts(protocol: Protocol, model: ModelPort) -> None:
    """Missing, unknown and early ends are errors although there is a text."""
    key, codes = FINISHES[protocol.name]
    for reason, code in {None: CODES.MALFORMED, **codes}.items():
        given = good(protocol)
        place = given["candidates"][0] if protocol.name == "gemini" else given
        place.pop(key)
        if reason is not None:
            place[key] = reason
        assert failed(await model.attempt(asked(protocol, http_json(given)))) is code, reason


STARTED = {
    "anthropic": [
        {
            "type": "message_start",
            "message": {**whole("/messages", ""), "content": [], "stop_reason": None},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": '{"content": "so far'},
        },
    ],
    "gemini": [
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": '{"content": "so far'}]},
                    "index": 0,
                }
            ],
            "modelVersion": "wire",
        }
    ],
    "responses": [
        {"type": "response.output_text.delta", "output_index": 0, "delta": '{"content": "so far'}
    ],
}
ENDED = [
    (
        "anthropic",
        {"type": "error", "error": {"type": "overloaded_error", "message": f"words {API_KEY}"}},
        CODES.OVERLOADED,
    ),
    (
        "anthropic",
        {"type": "error", "error": {"type": "rate_limit_error", "message": f"words {API_KEY}"}},
        CODES.RATE_LIMITED,
    ),
    (
        "anthropic",
        {"type": "error", "error": {"type": "api_error", "message": f"words {API_KEY}"}},
        CODES.SERVER_ERROR,
    ),
    (
        "anthropic",
        {"type": "error", "error": {"type": "odd", "message": f"words {API_KEY}"}},
        CODES.SERVER_ERROR,
    ),
    (
        "anthropic",
        {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": 1},
        },
        CODES.TRUNCATED,
    ),
    (
        "anthropic",
        {
            "type": "message_delta",
            "delta": {"stop_reason": "refusal"},
            "usage": {"output_tokens": 1},
        },
        CODES.FILTERED,
    ),
    (
        "gemini",
        {"error": {"code": 503, "message": f"words {API_KEY}", "status": "UNAVAILABLE"}},
        CODES.OVERLOADED,
    ),
    (
        "gemini",
        {"error": {"code": 429, "message": f"words {API_KEY}", "status": "RESOURCE_EXHAUSTED"}},
        CODES.RATE_LIMITED,
    ),
    ("gemini", {"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}, CODES.TRUNCATED),
    ("gemini", {"candidates": [{"finishReason": "SAFETY", "index": 0}]}, CODES.FILTERED),
    ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, CODES.FILTERED),
    (
        "responses",
        {"type": "error", "code": "rate_limit_exceeded", "message": f"words {API_KEY}"},
        CODES.RATE_LIMITED,
    ),
    (
        "responses",
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error"}},
        },
        CODES.SERVER_ERROR,
    ),
]


@pytest.mark.parametrize(("name", "event", "code"), ENDED)
async def test_a_stream_ends_early(
    wire_url: str, name: str, event: dict[str, Any], code: ModelErrorCode
) -> None:
    """What a provider says in the middle of a stream ends it with its code, and what was heard
    before counts for nothing.
    """
    protocol = next(each for each in PROTOCOLS if each.name == name)
    model = build_models({"m": profile(protocol, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    lines = [
        f"event: {each.get('type')}\n" * ("type" in each) + f"data: {json.dumps(each)}\n\n"
        for each in (*STARTED[name], event)
    ]
    heard: list[str] = []
    answer = await model.attempt(
        asked(
            protocol,
            http("".join(lines).encode(), "200 OK", "content-type: text/event-stream"),
            narrative="content",
        ),
        heard.append,
    )
    await model.close()
    assert failed(answer) is code, answer
    assert isinstance(answer, ModelError)
    assert answer.charge is Charge.POSSIBLE  # it had begun
    assert "".join(heard) == "so far"


async def test_a_blocked_prompt_is_filtered(wire_url: str) -> None:
    """Gemini answers a prompt that it blocks without any candidate."""
    protocol = PROTOCOLS[3]
    model = build_models({"m": profile(protocol, wire_url, base_url=wire_url)}, {"m": API_KEY})["m"]
    answer = await model.attempt(
        asked(protocol, http_json({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}))
    )
    await model.close()
    assert failed(answer) is CODES.FILTERED


async def test_a_lone_surrogate_is_no_text(protocol: Protocol, model: ModelPort) -> None:
    """An answer that no journal can hold is malformed; a prompt that no wire can carry is never
    sent.
    """
    assert (
        failed(await model.attempt(asked(protocol, http_json(good(protocol, "\ud800")))))
        is CODES.MALFORMED
    )
    answer = await model.attempt(structs.replace(asked(protocol), system="\ud800"))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.charge) == (CODES.REJECTED, Charge.NOTHING_SENT)


async def test_a_redirect_is_not_followed(protocol: Protocol, model: ModelPort) -> None:
    """The key goes nowhere else than where the profile says."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        location = f"location: http://127.0.0.1:{other.getsockname()[1]}/v1"
        assert (
            failed(await model.attempt(asked(protocol, *error("302 Found", {}, location))))
            is CODES.REJECTED
        )
        with pytest.raises(BlockingIOError):
            other.accept()


async def test_a_late_answer_is_given_up(protocol: Protocol, model: ModelPort) -> None:
    """The profile's time-out holds for the whole attempt, however steadily bytes arrive."""
    dripping = [
        send(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"),
        *[send(b" "), {"sleep": 0.05}] * 400,
    ]
    assert (
        failed(await model.attempt(asked(protocol, *dripping, timeout_ms=300))) is CODES.TIMED_OUT
    )
    answer = await model.attempt(structs.replace(asked(protocol), timeout_s=0))
    assert isinstance(answer, ModelError)
    assert (answer.code, answer.message) == (CODES.TIMED_OUT, "no time left; nothing was sent")
    assert answer.charge is Charge.NOTHING_SENT


async def test_an_endpoint_that_is_not_there(protocol: Protocol) -> None:
    """A refused connection is one, tells no address of the prompt's, and nothing was sent over
    it.
    """
    with nobody() as port:
        url = f"http://127.0.0.1:{port}"
        model = build_models({"m": profile(protocol, url, base_url=url)}, {"m": API_KEY})["m"]
        for narrative in ("", "content"):
            answer = await model.attempt(asked(protocol, narrative=narrative), [].append)
            assert isinstance(answer, ModelError)
            assert (failed(answer), answer.charge) == (CODES.CONNECTION, Charge.NOTHING_SENT)
        await model.close()


async def test_a_key_comes_back_in_no_message(protocol: Protocol, model: ModelPort) -> None:
    """A provider that answers with the key or the prompt as its identifiers is not repeated."""
    body = said(type=API_KEY, code=API_KEY.replace("-", "_"), status="system")
    answer = await model.attempt(asked(protocol, *error("400 Bad Request", body)))
    assert failed(answer) is CODES.REJECTED


@settings(
    max_examples=examples(15),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    body=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "content",
                        "output",
                        "candidates",
                        "status",
                        "stop_reason",
                        "finishReason",
                        "parts",
                        "text",
                        "type",
                        "usage",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_body_breaks_the_adapter(protocol: Protocol, wire_url: str, body: bytes) -> None:
    """Whatever comes with a status of success, the attempt ends as a reply or as a typed error,
    never as a bug.
    """

    async def attempt() -> ModelReply | ModelError:
        model = build_models({"m": profile(protocol, wire_url, base_url=wire_url)}, {"m": API_KEY})[
            "m"
        ]
        try:
            return await model.attempt(
                asked(protocol, http(body, "200 OK", "content-type: application/json"))
            )
        finally:
            await model.close()

    answer = asyncio.run(attempt())
    assert isinstance(answer, ModelReply) or answer.code is CODES.MALFORMED
