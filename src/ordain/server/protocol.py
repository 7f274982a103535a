"""HTTP/1.1 as the server speaks it: uvicorn's protocol, with bounds on what it waits for and on
what it keeps, and refusals that are problems.

A request's head comes within ``head_s`` seconds and ``HEAD_BYTES`` bytes. What is no HTTP is
refused, and never answered in the place of a request before it. A body that nobody reads is thrown
away for ``linger_s`` seconds, so that its sender can read the answer; then the connection closes.
(Bodies that are read are bounded in ``arrival``.) A client that takes nothing of what it was sent
for ``stall_s`` seconds is cut off, whether it asked by HTTP or through a WebSocket: what waits for
it would wait for ever, and so would a connection that only closes.

A client that has ended its side (`nc -N`) is answered, and cannot be told from one that has left
until something is written to it: what is written to one that has left fails, and one to which
nothing is written for ``half_closed_s`` seconds (a run's, as shipped) counts as such; so does any
of them where there is no connection left for somebody else.

A connection beyond those that there may be is told so. To read that it has ``linger_s`` seconds
like whoever is refused, or less: it holds a descriptor that is kept for something else, so only a
few may, and the one that was told first is closed for the newest.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from asyncio.transports import BaseTransport
from http import HTTPStatus
from typing import Any, ClassVar, cast
from urllib.parse import unquote

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ordain.runtime.descriptors import is_among_last, last_descriptors, most_connections
from ordain.server.handshake import opens_socket
from ordain.server.loopback import APART, take_host_of
from ordain.server.openai.wire import is_openai, refusal_of
from ordain.server.peers import PEER, Peer
from ordain.server.problems import NOTHING_LEFT, USED_UP, out_of_resources, problem

LOG = logging.getLogger("ordain.http")
HEAD_BYTES = 131_072
LINE_BYTES = 256
"""As much of what came is looked at for the address of a request that is none."""
STALL_S = 120.0
TOLD_FOR_S = 60.0
UNREAD_BYTES = 8 * 1024 * 1024
"""Most that may wait for a WebSocket's client while it goes on sending; an answer or event is
smaller, and the next one waits for it.
"""
_NOT_HTTP = "what came is no HTTP request"
_NOT_WHOLE = "the request ended before all of it was sent"


class Stall:
    """Watches what waits to be sent while nothing is added to it: the transport has paused its
    writers, or closes.
    """

    def __init__(self, transport: asyncio.Transport, seconds: float) -> None:
        """Nothing is watched yet; needs a running loop."""
        self._transport, self._seconds = transport, seconds
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._waiting = 0

    def watch(self) -> None:
        """From now on; once nothing waits there is nothing to watch."""
        waiting = self._transport.get_write_buffer_size()
        if waiting and self._timer is None:
            self._waiting = waiting
            self._timer = self._loop.call_later(self._seconds, self._look)

    def stop(self) -> None:
        """More may be written, or nothing can be."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._transport.get_write_buffer_size() < self._waiting:
            self.watch()
        else:
            self._transport.abort()


class StallWatched(asyncio.Protocol):
    """Cuts off a client that reads nothing; a base before the protocol whose connection is
    watched.
    """

    stall_s: ClassVar[float] = STALL_S

    _stall: Stall

    def connection_made(self, transport: BaseTransport) -> None:
        """Nothing waits yet."""
        super().connection_made(transport)
        self._stall = Stall(cast("asyncio.Transport", transport), self.stall_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave nothing behind."""
        self._stall.stop()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not keep up."""
        super().pause_writing()
        self._stall.watch()

    def resume_writing(self) -> None:
        """It does again."""
        self._stall.stop()
        super().resume_writing()


class _AnswersOnly:
    """A connection as the answer to one request sees it, which uvicorn closes behind the last
    answer, be its request still on the way.

    Closed while its sender sends it is reset, and with it goes the answer. So our side ends alone,
    and the rest is thrown away as it comes.
    """

    __slots__ = ("_protocol",)

    def __init__(self, protocol: HttpProtocol) -> None:
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._protocol.transport, name)

    def close(self) -> None:
        self._protocol.end_answers()

    def write(self, data: bytes) -> None:
        self._protocol.write_answer(data)


class HttpProtocol(StallWatched, HttpToolsProtocol):
    """One connection."""

    head_s: ClassVar[float] = 20.0
    linger_s: ClassVar[float] = 5.0
    half_closed_s: ClassVar[float] = 600.0
    told_until: ClassVar[float] = 0.0
    """Until when the log need not be told again that connections are refused, by the loop's
    clock.
    """
    turned_away: ClassVar[dict[HttpProtocol, None]] = {}
    """Those that are told so, the first one first: of this process, as its descriptors are."""

    _timer: asyncio.TimerHandle | None = None
    _in_head = False
    _head_bytes = 0
    _came = b""
    _deaf = False
    _half_closed = False
    _answering: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] - as uvicorn's own
        """Wait for the first request, not for ever."""
        super().connection_made(transport)
        self.app_state = {
            **self.app_state,
            PEER: Peer(self.client, self.server, transport.is_closing),
        }  # in each request's scope, a handshake's too
        if self._is_beyond(transport) and not self._take_place():
            # told, while there is a descriptor to tell it with
            self._turn_away()
        else:
            self._wait(self.head_s)

    def _is_beyond(self, transport: asyncio.Transport) -> bool:
        descriptor = transport.get_extra_info("socket").fileno()
        return len(self.connections) - len(
            HttpProtocol.turned_away
        ) > most_connections() or is_among_last(descriptor)

    def _turn_away(self) -> None:
        self._tell_full()
        self._reject(
            503,
            "too_many_connections",
            "this server has as many connections as it can keep; come back later",
        )
        turned_away = HttpProtocol.turned_away
        turned_away[self] = None
        while len(turned_away) > last_descriptors() // 2:
            first = next(iter(turned_away))
            del turned_away[first]
            first.transport.close()

    def _take_place(self) -> bool:
        """Whether one that has ended its side, and so may have left, was given up for this one."""
        other = next(
            (one for one in self.connections if isinstance(one, HttpProtocol) and one.gives_way()),
            None,
        )
        if other is not None:
            other.transport.abort()
        return other is not None

    def gives_way(self) -> bool:
        """Whether the client has ended its side and is still answered. What it asked for goes on,
        and so must have been read.
        """
        answering = self._answering
        read = answering is not None and not answering.body and not self.pipeline
        return self._half_closed and read and not self.transport.is_closing()

    def _tell_full(self) -> None:
        now = asyncio.get_running_loop().time()
        if now >= HttpProtocol.told_until:
            HttpProtocol.told_until = now + TOLD_FOR_S
            LOG.warning(
                "connections are refused: %d is as many as this process may keep; raise its open "
                "files' limit",
                most_connections(),
            )

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave nothing behind. uvicorn tells only the newest request that nobody is there; the one
        that is being answered may be an older one.
        """
        HttpProtocol.turned_away.pop(self, None)
        self._stop_waiting()
        if self._answering is not None and not self._answering.response_complete:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head that does not end is refused."""
        if self._deaf:
            return
        self._came = data[:LINE_BYTES]
        super().data_received(data)
        if self._in_head and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._reject(
                    431, "headers_too_large", f"a request's head has at most {HEAD_BYTES} bytes"
                )
            elif self._timer is None:
                self._wait(self.head_s)

    def eof_received(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride] - what asyncio asks for; uvicorn always says no
        """Nothing more is asked, and what is not whole never will be; our side stays open until all
        is answered, the last of which says that the connection ends.
        """
        if self.pipeline and self.pipeline[0][0].more_body:
            # nor is it answered, unlike those before it
            self.pipeline.popleft()
            self.cycle = (
                self.pipeline[0][0]
                if self.pipeline
                else cast("RequestResponseCycle", self._answering)
            )
        last = self.cycle
        answered = not last or last.response_complete
        if not self._deaf and (self._in_head if answered else last.more_body):
            self._reject(400, "malformed_http", _NOT_WHOLE)
        if answered or last.more_body:
            return False
        last.keep_alive = self._in_head = False
        self._deaf = self._half_closed = True
        self._wait(self.half_closed_s)
        return True

    def on_message_begin(self) -> None:
        """A request begins."""
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; what comes after the head (trailers of a chunked body) is counted and not
        kept.
        """
        if self._in_head:
            super().on_header(name, value)
            return
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > HEAD_BYTES:
            raise ValueError("trailers too large")

    def on_headers_complete(self) -> None:
        """The head is there: the request is on its way."""
        self._in_head, self._head_bytes, before = False, 0, self.cycle
        take_host_of(self.url, self.headers)
        self._stop_waiting()
        super().on_headers_complete()
        if self.cycle is not before:  # a handshake has none
            self.cycle.transport = cast("asyncio.Transport", _AnswersOnly(self))
        if not self.pipeline:
            self._answering = self.cycle

    def on_message_complete(self) -> None:
        """The request is wholly there; one that was answered before is done with, and the next one
        is waited for.
        """
        super().on_message_complete()
        if self.cycle and self.cycle.response_complete and not self.transport.is_closing():
            self._wait(self.timeout_keep_alive)

    def on_response_complete(self) -> None:
        """The answer is sent; what still comes of its request is thrown away for a while."""
        following = self.pipeline[-1][0] if self.pipeline else None
        super().on_response_complete()
        if following is not None:
            self._answering = following
        if self.transport.is_closing():
            self._stall.watch()
        elif self.cycle.response_complete and self.cycle.more_body:
            self._wait(self.linger_s)

    def write_answer(self, data: bytes) -> None:
        """Send a part of an answer; where it cannot be sent, nobody is there any more."""
        self.transport.write(data)
        if self._half_closed and not self.transport.is_closing():
            self._wait(self.half_closed_s)

    def end_answers(self) -> None:
        """Nothing more is answered here; what still comes of the last request is thrown away for a
        while.
        """
        last = self._answering
        if last is not None and last.response_complete and last.more_body:
            self._deaf = True
            self.transport.write_eof()
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """What came cannot be parsed; or what was to be done with it failed for want of memory,
        which is nobody's mistake.
        """
        if out_of_resources(sys.exc_info()[1]):
            self._reject(503, USED_UP, NOTHING_LEFT)
        else:
            self._reject(400, "malformed_http", _NOT_HTTP)

    def _should_upgrade(self) -> bool:
        """Whatever else than a handshake says that it is one is a request like any other."""
        upgrades = self.scope["method"] == "GET" and super()._should_upgrade()
        return upgrades and opens_socket(self.headers)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._timer = self.loop.call_later(seconds, self._late)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        self._timer = None
        if self._in_head and not self._deaf and not self.transport.is_closing():
            self._reject(
                408, "request_timeout", f"a request's head comes within {self.head_s:g} seconds"
            )
        else:
            self.transport.close()
            self._stall.watch()

    def _refusal(self, status: int, code: str, detail: str) -> Response:
        """In the shape that clients of its address know, as far as that has come."""
        # a parser that knows no such method reads no further
        target = bytes(getattr(self, "url", b"")) or _target_in(self._came)
        path = unquote(target.partition(b"?")[0].decode("latin-1"))
        if not is_openai(path):
            return problem(status, code, detail)
        said = refusal_of({"status": status, "code": code, "detail": detail}, path)
        return Response(said.model_dump_json(), status, media_type="application/json")

    def _reject(self, status: int, code: str, detail: str) -> None:
        """Refuse what cannot become a request, and hear no more. A request before it is answered
        first, and nothing in its place.
        """
        self._deaf = True
        cycle = self.cycle
        if cycle and not cycle.response_complete:
            if not cycle.more_body:
                cycle.keep_alive = False
                return
            if cycle.response_started or self.pipeline:
                self.transport.close()
                return
            # its body is what is broken: whoever reads it is told that nobody is there
            cycle.disconnected = True
            cycle.message_event.set()
        refused = self._refusal(status, code, detail)
        head = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()]
        head += [name + b": " + value + b"\r\n" for name, value in (*refused.raw_headers, *APART)]
        self.transport.write(b"".join([*head, b"connection: close\r\n\r\n", bytes(refused.body)]))
        self._unset_keepalive_if_required()
        self.transport.write_eof()
        self._wait(self.linger_s)


def _target_in(data: bytes) -> bytes:
    """The second word of what came, where it is a request's line."""
    words = data.partition(b"\n")[0].split(b" ")
    return words[1] if len(words) > 2 else b""
