"""The OpenAI-compatible adapter where somebody listens: answers that come as events."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.event_stream import STREAM_BYTES
from ordain.models.exchange import HttpAnswer
from ordain.models.openai import OpenAIModel
from ordain.models.pace import BREATH, CHUNKS_FREE
from ordain.ports.model import ModelError, ModelReply, ModelRequest
from tests.e2e.model_endpoint import ModelEndpoint
from tests.integration.models.wire import API_KEY, SYSTEM, http, http_json, playing, request, send
from tests.lanes import examples

TEXT = "Models propose. Code ordains. “Ça va?” 😀\nYes."
ANSWER = json.dumps({"thought": "x", "content": TEXT}, ensure_ascii=False)
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
CLOSE = {"close": True}
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
CHUNKED = send(HEAD + b"transfer-encoding: chunked\r\n\r\n")
LAST = send(b"0\r\n\r\n")


def chunk(data: bytes) -> dict[str, Any]:
    return send(b"%x\r\n%b\r\n" % (len(data), data))


def event(content: str | None = None, finish_reason: str | None = None, **more: Any) -> bytes:
    delta = {} if content is None else {"content": content}
    body = {
        "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
        **more,
    }
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def pieces(text: str = ANSWER, size: int = 5) -> list[bytes]:
    return [event(text[start : start + size]) for start in range(0, len(text), size)]


STOP = event(None, "stop")
COUNTS = b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode() + b"\n\n"
DONE = b"data: [DONE]\n\n"
WHOLE = [*pieces(), STOP, COUNTS, DONE]


def listening(asked: ModelRequest, place: str = "content") -> ModelRequest:
    return structs.replace(asked, narrative=place)


async def listen(
    model: OpenAIModel, *operations: dict[str, Any], **options: Any
) -> tuple[str, ModelReply | ModelError]:
    heard: list[str] = []
    answer = await model.attempt(listening(playing(*operations, **options)), heard.append)
    return "".join(heard), answer


async def test_a_streamed_answer_is_heard_and_whole(wire: OpenAIModel) -> None:
    """The pieces that are heard make the narrative; text, model and counts are those of the whole
    stream.
    """
    whole = ModelReply(
        text=ANSWER, model="m-1", input_tokens=11, output_tokens=7, held=Structured.NATIVE
    )
    assert await listen(wire, CHUNKED, *[chunk(part) for part in WHOLE], LAST) == (TEXT, whole)
    joined = b"".join(WHOLE)
    declared = send(HEAD + b"content-length: %d\r\n\r\n" % len(joined) + joined)
    assert await listen(wire, declared) == (TEXT, whole)
    assert await listen(
        wire, CHUNKED, *[chunk(joined[at : at + 7]) for at in range(0, len(joined), 7)], LAST
    ) == (TEXT, whole)
    until_the_end = send(HEAD + b"connection: close\r\n\r\n" + joined)
    assert await listen(wire, until_the_end, CLOSE) == (TEXT, whole)


async def test_comments_and_other_line_ends(wire: OpenAIModel) -> None:
    """Keep-alives, event names, CRLF and data of several lines change nothing; without [DONE] the
    finish reason is enough.
    """
    split = STOP.replace(b', "choices"', b'\ndata: , "choices"')
    parts = [
        b": keep-alive\n\n",
        *[b"event: chunk\nid: 1\n" + part for part in pieces()],
        b":\n\n",
        split,
        COUNTS,
    ]
    crlf = b"".join(parts).replace(b"\n", b"\r\n")
    heard, answer = await listen(
        wire, CHUNKED, *[chunk(crlf[at : at + 11]) for at in range(0, len(crlf), 11)], LAST
    )
    assert (heard, answer) == (
        TEXT,
        ModelReply(
            text=ANSWER, model="m-1", input_tokens=11, output_tokens=7, held=Structured.NATIVE
        ),
    )


async def test_what_is_sent(wire: OpenAIModel) -> None:
    """A stream with counts is asked for where somebody listens to a narrative, and not otherwise; a
    whole answer to it is taken.
    """
    for asked, heard, streams in (
        (listening(playing({"echo": True})), [].append, True),
        (listening(playing({"echo": True})), None, False),
        (playing({"echo": True}), [].append, False),
    ):
        answer = await wire.attempt(asked, heard)
        assert isinstance(answer, ModelReply)
        body = json.loads(json.loads(answer.text)["body"])
        assert ("stream" in body, "stream_options" in body) == (streams, streams)
        if streams:
            assert (body.pop("stream"), body.pop("stream_options")) == (
                True,
                {"include_usage": True},
            )
        assert list(body) == ["model", "messages", "max_tokens", "response_format"]


def failed(answer: ModelReply | ModelError) -> ModelErrorCode:
    assert isinstance(answer, ModelError), answer
    assert 0 < len(answer.message) <= 300
    assert API_KEY not in answer.message
    assert SYSTEM not in answer.message
    return answer.code


def streamed(*parts: bytes) -> list[dict[str, Any]]:
    return [CHUNKED, *[chunk(part) for part in parts], LAST]


def said(**error: Any) -> bytes:
    return (
        b"data: "
        + json.dumps({"error": {"message": f"words with {API_KEY} and {SYSTEM}", **error}}).encode()
        + b"\n\n"
    )


BROKEN: list[tuple[str, ModelErrorCode, list[dict[str, Any]]]] = [
    ("nothing", ModelErrorCode.CONNECTION, streamed()),
    ("only [DONE]", ModelErrorCode.MALFORMED, streamed(DONE)),
    ("text and [DONE]", ModelErrorCode.MALFORMED, streamed(*pieces(), DONE)),
    ("text and the end", ModelErrorCode.CONNECTION, streamed(*pieces())),
    ("no text", ModelErrorCode.MALFORMED, streamed(event(""), STOP, DONE)),
    ("cut within an event", ModelErrorCode.CONNECTION, streamed(*pieces(), STOP[:-9])),
    ("length", ModelErrorCode.TRUNCATED, streamed(*pieces(), event(None, "length"), DONE)),
    (
        "content filter",
        ModelErrorCode.FILTERED,
        streamed(*pieces(), event(None, "content_filter"), DONE),
    ),
    ("unknown reason", ModelErrorCode.MALFORMED, streamed(*pieces(), event(None, "odd"), DONE)),
    (
        "a server's fault",
        ModelErrorCode.SERVER_ERROR,
        streamed(*pieces(), event(None, "abort"), DONE),
    ),
    (
        "an event that is no JSON",
        ModelErrorCode.MALFORMED,
        streamed(*pieces(), b"data: {oops\n\n", STOP, DONE),
    ),
    ("no events", ModelErrorCode.MALFORMED, streamed(b"<html>Bad gateway</html>")),
    (
        "invalid UTF-8",
        ModelErrorCode.MALFORMED,
        streamed(event("x@").replace(b"@", b"\xff"), STOP, DONE),
    ),
    ("an error first", ModelErrorCode.RATE_LIMITED, streamed(said(code="rate_limit_exceeded"))),
    (
        "an error in between",
        ModelErrorCode.OVERLOADED,
        streamed(*pieces(), said(code=503), STOP, DONE),
    ),
    (
        "an error that says little",
        ModelErrorCode.SERVER_ERROR,
        streamed(*pieces(), said(code=API_KEY, type=SYSTEM), DONE),
    ),
    ("closed", ModelErrorCode.CONNECTION, [*streamed(*pieces())[:-1], CLOSE]),
    (
        "closed after the finish reason",
        ModelErrorCode.CONNECTION,
        [*streamed(*pieces(), STOP)[:-1], CLOSE],
    ),
    (
        "reset",
        ModelErrorCode.CONNECTION,
        [*streamed(*pieces())[:-1], {"sleep": 0.1}, {"reset": True}],
    ),
    ("no chunk", ModelErrorCode.MALFORMED, [CHUNKED, send(b"data: {}\r\n\r\n"), CLOSE]),
    (
        "another media type",
        ModelErrorCode.MALFORMED,
        [http(b"".join(WHOLE), "200 OK", "content-type: text/plain")],
    ),
    (
        "refused for stream_options",
        ModelErrorCode.REJECTED,
        [
            http_json(
                {
                    "error": {
                        "message": "x",
                        "code": "unsupported_parameter",
                        "param": "stream_options",
                    }
                },
                "400 Bad Request",
            )
        ],
    ),
    (
        "refused as an event",
        ModelErrorCode.OVERLOADED,
        [http(said(), "503 Service Unavailable", "content-type: text/event-stream")],
    ),
]


@pytest.mark.parametrize(
    ("code", "operations"),
    [pytest.param(code, operations, id=name) for name, code, operations in BROKEN],
)
async def test_a_stream_that_is_no_answer_has_its_code(
    wire: OpenAIModel, code: ModelErrorCode, operations: list[dict[str, Any]]
) -> None:
    """Each way in which a stream can fail has its code, says nothing of key or prompt, and the next
    call works.
    """
    heard, answer = await listen(wire, *operations)
    assert failed(answer) is code, answer
    assert TEXT.startswith(heard)
    assert (await listen(wire, *streamed(*WHOLE)))[0] == TEXT


async def test_pieces_are_heard_while_the_server_still_writes(wire: OpenAIModel) -> None:
    """What has arrived is heard at once: the server holds the rest back until the attempt is given
    up.
    """
    first = asyncio.Event()
    heard: list[str] = []

    def hear(text: str) -> None:
        heard.append(text)
        first.set()

    parts = pieces('{"content": "so far, ')
    task = asyncio.create_task(
        wire.attempt(
            listening(playing(CHUNKED, *[chunk(part) for part in parts], {"sleep": 30})), hear
        )
    )
    await first.wait()
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert "so far, ".startswith("".join(heard))
    assert (await listen(wire, *streamed(*WHOLE)))[0] == TEXT


async def test_cancelling_closes_the_connection() -> None:
    """A server whose stream is given up sees its connection end."""
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        part = event('{"content": "begun')
        writer.write(HEAD + b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(part), part))
        while await reader.read(1000):
            pass
        writer.close()
        closed.set()

    begun = asyncio.Event()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        model = OpenAIModel(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        task = asyncio.create_task(model.attempt(listening(request("x")), lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await closed.wait()
        await model.close()


@pytest.mark.parametrize(
    "operations",
    [
        [CHUNKED, *[chunk(part) for part in pieces()[:3]], {"sleep": 30}],
        [CHUNKED, *[chunk(b": still here\n\n"), {"sleep": 0.02}] * 400],
    ],
    ids=["stalls", "keeps alive"],
)
async def test_a_stall_is_bounded(wire: OpenAIModel, operations: list[dict[str, Any]]) -> None:
    """A stream that stalls, or only keeps alive, ends at the attempt's time-out."""
    _, answer = await listen(wire, *operations, timeout_s=0.3)
    assert failed(answer) is ModelErrorCode.TIMED_OUT


@pytest.mark.parametrize(
    ("operations", "code"),
    [
        ([*map(chunk, pieces()[:3])], ModelErrorCode.CONNECTION),
        ([chunk(b": still here\n\n"), chunk(event(""))], ModelErrorCode.TIMED_OUT),
    ],
    ids=["in the midst", "before its first word"],
)
async def test_silence_in_the_midst_ends_it_sooner(
    wire: OpenAIModel, operations: list[dict[str, Any]], code: ModelErrorCode
) -> None:
    """A stream that fell silent after its first word is lost after the profile's own patience;
    before that a model may think.
    """
    asked = listening(
        playing(
            CHUNKED,
            *operations,
            {"sleep": 30},
            timeout_s=20 if code is ModelErrorCode.CONNECTION else 0.5,
        )
    )
    asked = structs.replace(asked, profile=asked.profile.model_copy(update={"idle_ms": 100}))
    assert failed(await wire.attempt(asked, [].append)) is code


async def test_what_an_endpoint_goes_on_with_holds_no_whole_answer_back(wire: OpenAIModel) -> None:
    """Comments behind its end, each in time: the answer stands a moment after it was whole."""
    on_and_on = [part for _ in range(100) for part in (chunk(b": on\n\n"), {"sleep": 0.3})]
    asked = listening(
        playing(CHUNKED, *[chunk(part) for part in (*pieces(), STOP)], *on_and_on, timeout_s=20)
    )
    asked = structs.replace(asked, profile=asked.profile.model_copy(update={"idle_ms": 60_000}))
    answer = await wire.attempt(asked, [].append)
    assert isinstance(answer, ModelReply), answer
    assert answer.text == ANSWER


async def test_connections_are_kept_after_streams(wire: OpenAIModel) -> None:
    """Streams travel on one connection, one after another; where the server never ends one, the
    answer counts and another is used.
    """

    async def peer() -> int:
        answer = await wire.attempt(playing({"echo": True}))
        assert isinstance(answer, ModelReply)
        return json.loads(answer.text)["peer"]

    first = await peer()
    for parts in (WHOLE, [*pieces(), STOP], [b"data: {oops\n\n"], [said(code=503)]):
        await listen(wire, *streamed(*parts))
        assert await peer() == first
    heard, answer = await listen(wire, *streamed(*WHOLE)[:-1], {"sleep": 30})
    assert (heard, isinstance(answer, ModelReply)) == (TEXT, True)
    assert await peer() != first


async def test_an_endless_stream_ends_at_the_bound(wire: OpenAIModel) -> None:
    """A stream is read up to its bound and no further."""
    million = chunk(b": " + b"." * 999_996 + b"\n\n")
    heard, answer = await listen(
        wire, CHUNKED, *[million] * (STREAM_BYTES // 1_000_000 + 2), {"sleep": 30}
    )
    assert failed(answer) is ModelErrorCode.MALFORMED
    assert isinstance(answer, ModelError)
    assert str(STREAM_BYTES) in answer.message
    assert heard == ""


CRUMBS = send(b"1\r\n:\r\n" * (2 * CHUNKS_FREE))


async def test_a_stream_in_crumbs_is_given_up(wire: OpenAIModel) -> None:
    """More and smaller pieces than any answer has are no answer, as a stream and as one body; a
    refusal's status counts all the same.
    """
    assert (
        failed((await listen(wire, CHUNKED, CRUMBS, {"sleep": 30}))[1]) is ModelErrorCode.MALFORMED
    )
    body = send(
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    assert (
        failed(await wire.attempt(playing(body, CRUMBS, {"sleep": 30}))) is ModelErrorCode.MALFORMED
    )
    refused = send(b"HTTP/1.1 429 Wait\r\ntransfer-encoding: chunked\r\n\r\n")
    assert (
        failed(await wire.attempt(playing(refused, CRUMBS, {"sleep": 30})))
        is ModelErrorCode.RATE_LIMITED
    )


class Ticking:
    """A listener that counts how many pieces it gets in one turn of the loop."""

    def __init__(self) -> None:
        self.tick = self.seen = self.together = self.most = self.taken = 0

    patience_s = None

    def wants(self, media_type: bytes) -> bool:
        return True

    def take(self, chunk: bytes) -> bool:
        self.together = self.together + 1 if self.seen == self.tick else 1
        self.seen, self.most, self.taken = self.tick, max(self.most, self.together), self.taken + 1
        return True

    async def run(self) -> None:
        while True:
            self.tick += 1
            await asyncio.sleep(0)


async def test_many_pieces_that_came_together_keep_nobody_waiting(wire: OpenAIModel) -> None:
    """However many pieces have arrived, others get their turn after a few of them."""
    ticking = Ticking()
    clock = asyncio.ensure_future(ticking.run())
    asked = playing(CHUNKED, send(b"1\r\n:\r\n" * 8000), LAST)
    body = json.dumps({"messages": [{"role": "user", "content": asked.user}]}).encode()
    assert isinstance(await wire.post(body, 30, ticking), HttpAnswer)
    clock.cancel()
    assert ticking.taken == 8000
    assert ticking.most <= BREATH


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2000), st.binary(min_size=1, max_size=4))
def test_no_bytes_break_a_stream(wire_url: str, at: int, other: bytes) -> None:
    """Whatever is changed in a stream, a reply or a mapped error comes back, never an exception or
    a bug of the adapter.
    """
    body = b"".join(WHOLE)
    raw = HEAD + b"content-length: %d\r\n\r\n" % len(body) + body
    raw = raw[:at] + other + raw[at + len(other) :]

    async def ask() -> ModelReply | ModelError:
        model = OpenAIModel(wire_url, API_KEY)
        try:
            return (await listen(model, send(raw), CLOSE))[1]
        finally:
            await model.close()

    answer = asyncio.run(ask())
    assert isinstance(answer, ModelReply) or answer.code is not ModelErrorCode.ADAPTER_BUG, answer


async def test_the_endpoint_of_the_end_to_end_tests() -> None:
    """The fake endpoint streams where it is asked to and answers whole where it is not, or
    cannot.
    """
    with ModelEndpoint() as endpoint:
        model = OpenAIModel(endpoint.url)
        answers = []
        for narrative, streams in (("content", True), ("", True), ("content", False)):
            endpoint.will_answer({"content": TEXT})
            endpoint.streams = streams
            heard: list[str] = []
            answers.append(await model.attempt(listening(request("x"), narrative), heard.append))
            assert "".join(heard) == (TEXT if narrative and streams else "")
        assert answers[0] == answers[1] == answers[2]
        assert isinstance(answers[0], ModelReply)
        await model.close()


async def test_llmock_streams(
    llmock_model: OpenAIModel, script_llmock: Callable[..., None]
) -> None:
    """A fake server that nobody here wrote is heard, and its counts come back."""
    script_llmock({"type": "reply", "text": ANSWER, "times": 2})
    heard: list[str] = []
    answer = await llmock_model.attempt(listening(request("x")), heard.append)
    whole = await llmock_model.attempt(request("x"))
    assert isinstance(answer, ModelReply)
    assert answer == whole
    assert answer.text == ANSWER
    assert answer.input_tokens
    assert "".join(heard) == TEXT
    assert len(heard) > 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (
            {"type": "stream_fault", "kind": "truncate", "after_chunks": 4},
            ModelErrorCode.CONNECTION,
        ),
        (
            {"type": "stream_fault", "kind": "malformed", "after_chunks": 4},
            ModelErrorCode.MALFORMED,
        ),
        (
            {"type": "stream_fault", "kind": "disconnect", "after_chunks": 4},
            ModelErrorCode.CONNECTION,
        ),
        (
            {"type": "stream_fault", "kind": "stall", "after_chunks": 4, "stall_seconds": 20},
            ModelErrorCode.TIMED_OUT,
        ),
        ({"type": "fail", "status": 429}, ModelErrorCode.RATE_LIMITED),
    ],
    ids=["truncate", "malformed", "disconnect", "stall", "fail"],
)
async def test_llmock_breaks_its_streams(
    llmock_model: OpenAIModel,
    script_llmock: Callable[..., None],
    fault: dict[str, Any],
    code: ModelErrorCode,
) -> None:
    """Streams that another server cuts, spoils, drops or holds are errors, and the next one is an
    answer.
    """
    script_llmock({"type": "reply", "text": ANSWER, "times": 1}, {**fault, "times": 1})
    heard: list[str] = []
    limit_s = 1.0 if code is ModelErrorCode.TIMED_OUT else 20.0
    answer = await llmock_model.attempt(listening(request("x", timeout_s=limit_s)), heard.append)
    assert failed(answer) is code, answer
    assert TEXT.startswith("".join(heard))
    script_llmock({"type": "reply", "text": ANSWER, "times": 1})
    assert isinstance(await llmock_model.attempt(listening(request("x")), heard.append), ModelReply)
