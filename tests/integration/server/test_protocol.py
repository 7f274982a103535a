"""HTTP byte by byte: whatever comes is a request or a typed refusal, nothing waits for ever, and
the server lives on.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from ordain.models.scripted import make_script
from ordain.runtime.descriptors import last_descriptors
from ordain.server.protocol import HEAD_BYTES, STALL_S, HttpProtocol
from ordain.server.socket_protocol import SocketProtocol
from tests.integration.server.connecting import (
    PATIENCE_S,
    Answer,
    Listening,
    Wire,
    listening_server,
    wire,
)
from tests.integration.server.openai_house import Waits

HOST = b"Host: localhost\r\n"
GOOD = b'{"verb_id": "math.evaluate", "payload": {"expression": "1 + 1"}}'


def post(body: bytes, *headers: bytes, path: bytes = b"/verbs/execute") -> bytes:
    """A request for a verb, with these headers for its length."""
    return (
        b"POST "
        + path
        + b" HTTP/1.1\r\n"
        + HOST
        + b"Content-Type: application/json\r\n"
        + b"".join(headers)
        + b"\r\n"
        + body
    )


def sized(body: bytes, **more: Any) -> bytes:
    return post(body, b"Content-Length: %d\r\n" % len(body), **more)


STREAM = b"GET /sessions/s/events HTTP/1.1\r\n" + HOST + b"\r\n"
HANDSHAKE = (
    b"GET /ws?session=unread HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


class HastyHead(HttpProtocol):
    """Waits for a head no longer than a test."""

    head_s = 0.3


class HastyEnd(HttpProtocol):
    """Waits no longer than a test for the rest of what nobody reads, and for whoever reads
    nothing.
    """

    linger_s = 0.3
    stall_s = 0.3
    half_closed_s = 0.3


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    """As it is served: whoever does what it should is in time, however busy the machine is."""
    async with listening_server(tmp_path_factory.mktemp("protocol")) as place:
        yield place


def problem(answer: Answer) -> tuple[int, str]:
    assert answer.headers.get("content-type") == "application/problem+json", answer
    body = json.loads(answer.body)
    assert body["status"] == answer.status
    return answer.status, body["code"]


async def lives(place: Listening) -> bool:
    """Whether the server still does its work."""
    async with wire(place.port) as line:
        await line.send(sized(GOOD))
        return json.loads((await line.answer()).body)["output"]["result"] == "2"


async def asked(line: Wire, address: bytes) -> bytes:
    """What a GET brings."""
    await line.send(b"GET " + address + b" HTTP/1.1\r\n" + HOST + b"\r\n")
    return (await line.answer()).body


async def until_nobody_listens(place: Listening) -> None:
    """Wait until no stream of a session is read any more."""
    async with asyncio.timeout(PATIENCE_S):
        while place.face.runtime.services.streams._readers:  # noqa: ASYNC110 - announced to nobody
            await asyncio.sleep(0.01)


NO_HTTP = {
    "garbage": b"\x00\x01\x02\x03\r\n\r\n",
    "prose": b"hello there\r\n\r\n",
    "TLS": bytes.fromhex("16030100c8010000c403035f") + b"\x00" * 200,
    "another version": b"GET /health HTTP/9.9\r\n" + HOST + b"\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a null byte in a header": b"GET /health HTTP/1.1\r\n" + HOST + b"X: a\x00b\r\n\r\n",
    "a line feed in a header's name": b"GET /health HTTP/1.1\r\n" + HOST + b"X\n: a\r\n\r\n",
    "a header without colon": b"GET /health HTTP/1.1\r\n" + HOST + b"nonsense\r\n\r\n",
    "a space in the target": b"GET /hea lth HTTP/1.1\r\n" + HOST + b"\r\n",
    "bytes beyond ASCII in the target": "GET /hé HTTP/1.1\r\n".encode("latin-1") + HOST + b"\r\n",
    "an unknown method": b"BREW /health HTTP/1.1\r\n" + HOST + b"\r\n",
    "a tunnel": b"CONNECT example.com:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "two lengths": post(GOOD, b"Content-Length: 5\r\nContent-Length: 6\r\n"),
    "length and chunks": post(b"0\r\n\r\n", b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
    "a negative length": post(GOOD, b"Content-Length: -1\r\n"),
    "a length in words": post(GOOD, b"Content-Length: many\r\n"),
    "a length beyond all bounds": post(GOOD, b"Content-Length: 99999999999999999999999999\r\n"),
    "an unknown transfer coding": post(GOOD, b"Transfer-Encoding: gzip\r\n"),
    "chunks of garbage": post(b"zzz\r\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n"),
    "a chunk that is longer than it says": post(
        b"2\r\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n"
    ),
    "a chunk without end of any number": post(
        b"fffffffffffffffffffff\r\nx", b"Transfer-Encoding: chunked\r\n"
    ),
}


@pytest.mark.parametrize("name", list(NO_HTTP))
async def test_what_is_no_http_is_a_problem(place: Listening, name: str) -> None:
    """What cannot be parsed is 400 malformed_http as problem+json, the connection ends, and the
    server lives on.
    """
    async with wire(place.port) as line:
        await line.send(NO_HTTP[name])
        assert problem(await line.answer()) == (400, "malformed_http")
        assert await line.ended()
    assert await lives(place)


@pytest.mark.parametrize("path", [b"/v1/models", b"/v1/models/%00?x=1", b"/v1/chat/completions"])
@pytest.mark.parametrize(
    "broken",
    [
        b"GET PATH HTTP/1.1\r\n" + HOST + b"Prefer: \x01\r\n\r\n",
        b"GET PATH HTTP/1.1\r\nX: a\x00b\r\n\r\n",
        b"GET PATH HTTP/1.1\r\nX: a\rb\r\n\r\n",
        b"BREW PATH HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET PATH\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n",
        b"GET PATH HTTP/9.9\r\n" + HOST + b"\r\n",
    ],
)
async def test_what_is_no_http_below_the_openai_address_is_said_in_its_shape(
    place: Listening, path: bytes, broken: bytes
) -> None:
    """A client of that address is told in words that it reads, also where only its headers are
    none.
    """
    async with wire(place.port) as line:
        await line.send(broken.replace(b"PATH", path))
        answer = await line.answer()
        assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
        assert json.loads(answer.body)["error"] == {
            "message": "what came is no HTTP request",
            "type": "invalid_request_error",
            "param": None,
            "code": "malformed_http",
        }
        assert await line.ended()


async def test_a_broken_request_is_not_answered_in_the_place_of_the_one_before(
    place: Listening,
) -> None:
    """Garbage behind a whole request does not take its answer's place: that comes first, and then
    the connection ends.
    """
    async with wire(place.port) as line:
        await line.send(sized(GOOD) + b"garbage\r\n\r\n")
        answer = await line.answer()
        assert (answer.status, json.loads(answer.body)["output"]["result"]) == (200, "2")
        assert await line.ended()


async def test_a_broken_body_is_not_answered_in_the_place_of_a_stream(place: Listening) -> None:
    """A stream that is going on is ended by garbage behind it, and nothing is written into it."""
    broken = post(b"zzz\r\n", b"Transfer-Encoding: chunked\r\n")
    async with wire(place.port) as line:
        await line.send(STREAM + broken)
        came = b""
        async with asyncio.timeout(PATIENCE_S):
            while data := await line.reader.read(65_536):
                came += data
    assert b"malformed_http" not in came
    assert await lives(place)
    await until_nobody_listens(place)


@pytest.mark.parametrize(
    "behind", [b"", b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n"], ids=["alone", "first"]
)
async def test_a_stream_ends_with_its_connection_whatever_waits_behind_it(
    tmp_path: Path, behind: bytes
) -> None:
    """Who leaves a stream leaves nothing behind, also where another request was sent after it."""
    async with listening_server(tmp_path, HastyEnd) as place:
        async with wire(place.port) as line:
            await line.send(STREAM + behind)
            assert await line.reader.readuntil(b"from here on")
            assert place.face.runtime.services.streams._readers
        await until_nobody_listens(place)


async def test_who_leaves_a_stream_is_found_by_what_is_told(
    place: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written to one that has left fails, and so does the heartbeat of a stream in which
    nothing happens, long before the time is over.
    """
    monkeypatch.setattr("ordain.server.transcripts.HEARTBEAT_S", 0.05)
    async with wire(place.port) as line:
        await line.send(STREAM)
        assert await line.reader.readuntil(b"from here on")
    await until_nobody_listens(place)


@pytest.mark.parametrize(
    "half", [b"GET /hea", post(GOOD[:9], b"Content-Length: 100\r\n")], ids=["head", "body"]
)
async def test_who_has_ended_its_side_is_answered(place: Listening, half: bytes) -> None:
    """As `nc -N` does: every request that was whole gets its answer, in order; what is not whole
    gets none; then the connection ends.
    """
    async with wire(place.port) as line:
        await line.send(
            sized(GOOD) + b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n" + sized(GOOD) + half
        )
        line.writer.write_eof()
        answers = [await line.answer() for _ in range(3)]
        assert [answer.status for answer in answers] == [200, 200, 200]
        assert answers[2].headers["connection"] == "close"
        assert await line.ended()


@pytest.mark.parametrize("path", [b"/verbs/execute", b"/v1/chat/completions"])
@pytest.mark.parametrize("before", [False, True], ids=["alone", "after another"])
@pytest.mark.parametrize(
    ("cut", "headers"),
    [
        (b"POST %s HTTP/1.1\r\nHost: loc", None),
        (b"{", b"Content-Length: 100\r\n"),
        (b"2\r\n{", b"Transfer-Encoding: chunked\r\n"),
    ],
    ids=["a head", "a body", "chunks"],
)
async def test_what_ends_before_it_is_whole_is_refused(
    place: Listening, path: bytes, before: bool, cut: bytes, headers: bytes | None
) -> None:
    """Half a request, behind which its sender has ended, is 400 as its address says it, and not
    merely the connection's end.
    """
    async with wire(place.port) as line:
        if before:
            assert b"ok" in await asked(line, b"/health")
        await line.send(cut % path if headers is None else post(cut, headers, path=path))
        line.writer.write_eof()
        answer = await line.answer()
        body = json.loads(answer.body)
        told = body["error"] if path.startswith(b"/v1") else body
        assert (answer.status, told["code"]) == (400, "malformed_http")
        assert "ended before all of it" in answer.body.decode()
        assert await line.ended()


async def test_who_sends_nothing_more_is_told_nothing(place: Listening) -> None:
    """A connection that ends where no request has begun asks for no answer, neither at its
    beginning nor after one.
    """
    async with wire(place.port) as silent, wire(place.port) as line:
        silent.writer.write_eof()
        assert (await silent.answer()).status == 0
        assert b"ok" in await asked(line, b"/health")
        line.writer.write_eof()
        assert (await line.answer()).status == 0


async def test_a_stream_goes_on_for_who_has_ended_its_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each piece of a stream that arrives shows that its reader is there: it goes on beyond the
    time in which nothing is told.
    """
    monkeypatch.setattr("ordain.server.transcripts.HEARTBEAT_S", 0.05)
    async with listening_server(tmp_path, HastyEnd) as place, wire(place.port) as line:
        await line.send(STREAM)
        line.writer.write_eof()
        for _ in range(20):
            assert await line.reader.readuntil(b"still here")
        assert place.face.runtime.services.streams._readers


async def test_who_has_ended_its_side_gives_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no connection is left, one that may have left makes place for the newcomer; where there
    is none, the newcomer is refused.
    """
    monkeypatch.setattr("ordain.server.protocol.most_connections", lambda: 1)
    async with listening_server(tmp_path) as place, wire(place.port) as silent:
        await silent.send(STREAM)
        silent.writer.write_eof()
        assert await silent.reader.readuntil(b"from here on")
        async with wire(place.port) as line, wire(place.port) as refused:
            await line.send(sized(GOOD))
            assert (await line.answer()).status == 200
            assert await silent.ended()
            assert problem(await refused.answer()) == (503, "too_many_connections")


async def test_what_one_asked_for_that_gives_way_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has ended its side and waits for a message's answer makes place for the newcomer, and
    the message is answered in its session.
    """
    monkeypatch.setattr("ordain.server.protocol.most_connections", lambda: 1)
    body = b'{"sessionId": "s", "userId": "ada", "message": {"text": "What is a lighthouse?"}}'
    model = Waits(make_script(verbs={"chat_general": [{"content": "A tower with a lamp"}]}))
    async with listening_server(tmp_path, model=model) as place, wire(place.port) as waiting:
        await waiting.send(sized(body, path=b"/messages"))
        waiting.writer.write_eof()
        async with asyncio.timeout(PATIENCE_S):
            await model.asked.wait()
        async with wire(place.port) as line:
            await line.send(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
            assert (await line.answer()).status == 200
            assert await waiting.ended()
            model.gate.set()
            async with asyncio.timeout(PATIENCE_S):
                while b"A tower with a lamp" not in await asked(line, b"/sessions/s/messages"):  # noqa: ASYNC110 - told to those that listen, not here
                    await asyncio.sleep(0.01)


async def test_those_beyond_all_places_hold_few_for_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told so and let go for the next, however many come and stay; a place that becomes
    free is for the next one that comes.
    """
    monkeypatch.setattr("ordain.server.protocol.most_connections", lambda: 2)
    async with listening_server(tmp_path) as place, AsyncExitStack() as stack:
        first, *_ = [await stack.enter_async_context(wire(place.port)) for _ in range(2)]
        await first.send(post(b"{", b"Content-Length: 1000\r\n"))
        for _ in range(3 * last_descriptors()):
            beyond = await stack.enter_async_context(wire(place.port))
            await beyond.send(post(b"{", b"Content-Length: 1000\r\n"))
            assert problem(await beyond.answer()) == (503, "too_many_connections")
            assert len(place.server.server_state.connections) <= 2 + last_descriptors()
        first.writer.close()
        async with asyncio.timeout(PATIENCE_S):
            while len(place.server.server_state.connections) > 1 + last_descriptors() // 2:  # noqa: ASYNC110 - announced to nobody
                await asyncio.sleep(0.01)
        assert await lives(place)


async def test_the_last_descriptors_are_for_no_connection(
    place: Listening, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few connections there are: where models and verbs have the others, whoever comes is
    told so.
    """
    monkeypatch.setattr("ordain.server.protocol.is_among_last", bool)
    async with wire(place.port) as line:
        assert problem(await line.answer()) == (503, "too_many_connections")


async def test_requests_in_a_row_are_answered_in_order(place: Listening) -> None:
    """Requests that are sent without waiting get their answers in the order in which they were
    sent.
    """
    async with wire(place.port) as line:
        await line.send(
            b"".join(b"GET /verbs/none-%d HTTP/1.1\r\n" % n + HOST + b"\r\n" for n in range(20))
        )
        for n in range(20):
            assert json.loads((await line.answer()).body)["detail"] == f"there is no verb none-{n}"


@pytest.mark.parametrize(
    "data", [b"GET /health HTTP/1.1\r\nX: ", b"GET /", sized(b"")[:-2] + b"X-1: 1\r\nX: "]
)
async def test_a_head_without_end_is_refused(place: Listening, data: bytes) -> None:
    """A head that grows and grows is 431 as soon as it is too large; it is never kept."""
    async with wire(place.port) as line:
        await line.send(data)
        for _ in range(HEAD_BYTES // 8192 + 2):
            await line.send(b"x" * 8192)
        assert problem(await line.answer()) == (431, "headers_too_large")
        assert await line.ended()
    assert await lives(place)


async def test_trailers_without_end_are_refused(place: Listening) -> None:
    """What comes after a chunked body is bounded too, and none of it is taken for a header."""
    async with wire(place.port) as line:
        await line.send(
            post(b"%x\r\n%s\r\n0\r\n" % (len(GOOD), GOOD), b"Transfer-Encoding: chunked\r\n")
        )
        for n in range(HEAD_BYTES // 4096 + 2):
            await line.send(b"T-%d: " % n + b"x" * 4096 + b"\r\n")
        assert problem(await line.answer()) == (400, "malformed_http")


async def test_a_head_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    """Half a head is 408 request_timeout; a connection on which nothing comes is closed."""
    async with (
        listening_server(tmp_path, HastyHead) as place,
        wire(place.port) as half,
        wire(place.port) as nothing,
    ):
        await half.send(b"GET /health HTTP/1.1\r\nHost:")
        assert problem(await half.answer()) == (408, "request_timeout")
        assert await half.ended()
        assert (await nothing.answer()).status == 0


async def test_a_head_that_drips_is_given_up(tmp_path: Path) -> None:
    """A byte now and then does not buy more time."""
    async with listening_server(tmp_path, HastyHead) as place, wire(place.port) as line:
        dripping = asyncio.ensure_future(_drip(line.send, b"x"))
        await line.send(b"GET /health HTTP/1.1\r\nX: ")
        assert problem(await line.answer()) == (408, "request_timeout")
        dripping.cancel()


async def _drip(send: Any, data: bytes) -> None:
    while True:
        await asyncio.sleep(0.02)
        await send(data)


@pytest.mark.parametrize("drip", [b"", b" "])
async def test_a_body_that_does_not_come_is_given_up(tmp_path: Path, drip: bytes) -> None:
    """Half a body is 408 request_timeout, whether the rest drips or nothing comes, and nothing of
    it was accepted.
    """
    async with listening_server(tmp_path, HastyEnd, body_s=0.3) as place, wire(place.port) as line:
        await line.send(post(b"{", b"Content-Length: 100000\r\n"))
        dripping = asyncio.ensure_future(_drip(line.send, drip))
        assert problem(await line.answer()) == (408, "request_timeout")
        assert await line.ended()
        dripping.cancel()
        assert place.ordain.store.query("SELECT count(*) FROM runs") == [(0,)]


async def test_a_slow_body_that_goes_on_is_read(place: Listening) -> None:
    """A body that comes in many parts within its time is a body like any other."""
    async with wire(place.port) as line:
        await line.send(post(b"", b"Content-Length: %d\r\n" % len(GOOD)))
        for at in range(len(GOOD)):
            await line.send(GOOD[at : at + 1])
            await asyncio.sleep(0)
        assert (await line.answer()).status == 200


async def test_a_body_that_nobody_reads_holds_no_connection(tmp_path: Path) -> None:
    """Who is refused before the body was read may send on for a while and reads the answer; then
    the connection ends.
    """
    async with listening_server(tmp_path, HastyEnd) as place, wire(place.port) as line:
        await line.send(post(b"x" * 1000, b"Content-Length: 9000000\r\n", path=b"/nowhere"))
        assert problem(await line.answer()) == (404, "no_such_address")
        dripping = asyncio.ensure_future(_drip(line.send, b"x"))
        assert await line.ended()
        dripping.cancel()


@asynccontextmanager
async def asking_only(place: Listening, first: bytes, more: bytes) -> AsyncIterator[None]:
    """A client with little room for answers: it reads how that to ``first`` begins, and nothing of
    what ``more`` brings.
    """
    loop, line = asyncio.get_running_loop(), socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    line.setblocking(False)

    async def asking() -> None:
        with suppress(ConnectionError):
            await loop.sock_sendall(line, more)

    with closing(line):
        await loop.sock_connect(line, ("127.0.0.1", place.port))
        await loop.sock_sendall(line, first)
        assert await loop.sock_recv(line, 9) == b"HTTP/1.1 "
        sending = asyncio.ensure_future(asking())
        try:
            yield
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def until_cut_off(place: Listening, kind: type[asyncio.Protocol]) -> None:
    """Wait until there has been a connection of this kind that does not keep up, and there is none
    of that kind any more.
    """
    there = place.server.server_state.connections
    async with asyncio.timeout(PATIENCE_S):
        while not any(  # noqa: ASYNC110 - announced to nobody
            isinstance(one, kind) and one.transport.get_write_buffer_size() for one in there
        ):
            await asyncio.sleep(0.01)
        while any(isinstance(one, kind) for one in there):  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)


async def test_a_client_that_reads_nothing_holds_no_connection(tmp_path: Path) -> None:
    """Who asks on and on and takes no answer is cut off; those who read are not."""
    question = b"GET /openapi.json HTTP/1.1\r\n" + HOST + b"\r\n"
    async with listening_server(tmp_path, HastyEnd) as place:
        async with asking_only(place, question, question * 100):
            await until_cut_off(place, HttpProtocol)
        assert await lives(place)


@pytest.mark.parametrize(
    ("stall_s", "pings"), [(0.3, 60_000), (STALL_S, 200_000)], ids=["in time", "in memory"]
)
async def test_a_socket_that_reads_nothing_holds_no_connection(
    place: Listening, monkeypatch: pytest.MonkeyPatch, stall_s: float, pings: int
) -> None:
    """On a WebSocket pings cannot end it: what waits stands before the end, and cannot grow long."""
    monkeypatch.setattr(SocketProtocol, "stall_s", stall_s)
    ping = b"\x89\xfd" + bytes(4 + 125)  # masked with zeros
    async with asking_only(place, HANDSHAKE, ping * pings):
        await until_cut_off(place, SocketProtocol)
    assert await lives(place)


async def test_a_connection_goes_on_after_a_refused_body(place: Listening) -> None:
    """Where the refused body comes to its end in time, the connection serves the next request."""
    async with wire(place.port) as line:
        await line.send(post(b"x" * 1000, b"Content-Length: 2000\r\n", path=b"/nowhere"))
        assert problem(await line.answer()) == (404, "no_such_address")
        await line.send(b"x" * 1000 + sized(GOOD))
        assert (await line.answer()).status == 200


@pytest.mark.parametrize("head", [b"Connection: close\r\n", b""], ids=["last", "kept"])
async def test_who_sends_all_before_it_reads_is_told_why_it_is_refused(
    place: Listening, head: bytes
) -> None:
    """As Python's urllib does, which asks for the end of the connection, too: nothing is reset
    while a body is sent that is far too large.
    """
    body = bytes(30_000_000)
    request = post(body, head + b"Content-Length: %d\r\n" % len(body), path=b"/messages")
    assert problem(await asyncio.to_thread(answered_after_sending, place.port, request)) == (
        413,
        "too_large",
    )


def answered_after_sending(port: int, request: bytes) -> Answer:
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as line:
        line.sendall(request)
        with HTTPResponse(line) as response:
            response.begin()
            return Answer(response.status, dict(response.headers), response.read())


async def test_a_body_that_is_half_sent_when_the_server_stops_is_told_so(tmp_path: Path) -> None:
    """A request that still arrives when the server stops is 503 stopping, and the server ends in
    time.
    """
    async with listening_server(tmp_path) as place, wire(place.port) as line:
        await line.send(post(b"{", b"Content-Length: 1000\r\n"))
        while not place.server.server_state.tasks:  # noqa: ASYNC110 - announced to nobody
            await asyncio.sleep(0.01)
        place.face.stopping.set()
        place.server.should_exit = True
        answer = await line.answer()
        assert problem(answer) == (503, "stopping")
        assert answer.headers["retry-after"] == "2"


@pytest.mark.parametrize(
    "address",
    [
        "/health",
        "/ready",
        "/metrics",
        "/runs",
        "/verbs",
        "/openapi.json",
        "/sessions/s/events",
        "/nowhere",
    ],
)
async def test_head_is_get_without_a_body(place: Listening, address: str) -> None:
    """HEAD has the status and headers of GET and no body, also where the body would never end, and
    the connection goes on.
    """
    async with wire(place.port) as line:
        await line.send(b"HEAD " + address.encode() + b" HTTP/1.1\r\n" + HOST + b"\r\n")
        answer = await line.answer(head=True)
        async with (
            httpx2.AsyncClient(base_url=f"http://127.0.0.1:{place.port}", verify=False) as http,
            http.stream("GET", address) as got,
        ):
            same = {
                name: value
                for name, value in got.headers.items()
                if name not in {"date", "transfer-encoding"}
            }
            assert answer.status == got.status_code
        assert {name: value for name, value in answer.headers.items() if name != "date"} == same
        await line.send(b"GET /health HTTP/1.1\r\n" + HOST + b"\r\n")
        assert json.loads((await line.answer()).body)["status"] == "ok"
    await until_nobody_listens(place)


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [
        ("DELETE", "/runs", "GET, HEAD"),
        ("GET", "/plan/react", "POST"),
        ("OPTIONS", "/verbs/execute", "POST"),
        ("TRACE", "/health", "GET, HEAD"),
        ("PUT", f"/runs/{'0' * 32}/cancel", "POST"),
        ("POST", "/sessions/a%2Fb/messages", "GET, HEAD"),
    ],
)
async def test_other_methods_are_told_which_there_are(
    place: Listening, method: str, address: str, allowed: str
) -> None:
    """405 names the methods of the address in Allow."""
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{place.port}", verify=False) as http:
        refused = await http.request(method, address)
    assert (refused.status_code, refused.json()["code"], refused.headers["allow"]) == (
        405,
        "method_not_allowed",
        allowed,
    )


UPGRADE = b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
HANDSHAKES = {
    "without any": b"",
    "without a key": UPGRADE + b"Sec-WebSocket-Version: 13\r\n",
    "with half a key": UPGRADE + b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: abc\r\n",
    "of another version": UPGRADE
    + b"Sec-WebSocket-Version: 8\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "to something else": b"Connection: Upgrade\r\nUpgrade: h2c\r\n",
}


@pytest.mark.parametrize("name", list(HANDSHAKES))
async def test_a_handshake_that_is_none_is_told_what_this_address_speaks(
    place: Listening, name: str
) -> None:
    """What asks for /ws without a proper handshake is 426 upgrade_required."""
    async with wire(place.port) as line:
        await line.send(b"GET /ws HTTP/1.1\r\n" + HOST + HANDSHAKES[name] + b"\r\n")
        answer = await line.answer()
    assert problem(answer) == (426, "upgrade_required")
    assert answer.headers["upgrade"] == "websocket"
