"""A model's endpoint that has weather: it answers, refuses connections, fails, says that it is
busy, stalls, or breaks off; and it clears up again.

What it answers depends on the request alone, so that a run that is taken up gets what it would have
got.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from enum import StrEnum
from types import TracebackType
from typing import Any, Self

from tests.e2e.process import fixed_port
from tests.e2e.proposals import act, finish
from tests.loopback import QuietHandler, QuietServer

THINKING_S = 0.15
RETRY_AFTER_S = 1


class Sky(StrEnum):
    """What becomes of a request."""

    FAIR = "fair"
    REFUSED = "refused"
    FAILING = "failing"
    BUSY = "busy"
    STALLED = "stalled"
    CUT = "cut"


BAD = [sky for sky in Sky if sky is not Sky.FAIR]


def answer(asked: str, *, plans: bool) -> str:
    """What the model says: one entry and then the end of a plan, or a word."""
    (name,) = set(re.findall(r"case (\w+)\.", asked))
    if not plans:
        return f"Heard {name}."
    return json.dumps(
        finish(f"Entered {name}.") if "TRACE (" in asked else act("entry_put", text=name)
    )


class Skies:
    """The endpoint; ``seen`` has (name of the case, weather) of every request that reached it, in
    order. ``change`` makes the weather.
    """

    def __init__(self) -> None:
        """Fair, on a port that stays its own while nobody listens there."""
        self.port, self.sky = fixed_port(), Sky.FAIR
        self.seen: list[tuple[str, Sky]] = []
        self._changed = threading.Event()
        self._open: set[socket.socket] = set()
        self._server: QuietServer | None = None

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/v1"

    def change(self, sky: Sky) -> None:
        """From now on. What stalls ends unanswered; where connections are refused those that are
        open break.
        """
        self.sky = sky
        self._changed.set()
        self._changed = threading.Event()
        if sky is Sky.REFUSED:
            self._shut()
        elif self._server is None:
            self._listen()

    def _listen(self) -> None:
        self._server = QuietServer(("127.0.0.1", self.port), self._handler())
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def _shut(self) -> None:
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        for connection in list(self._open):
            _reset(connection)

    def _handler(self) -> type[QuietHandler]:
        skies = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                skies._open.add(self.connection)
                try:
                    super().handle()
                except OSError:
                    pass  # who asked was killed, or the weather broke the connection
                finally:
                    skies._open.discard(self.connection)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                asked = "\n".join(message["content"] for message in body["messages"])
                said = answer(asked, plans="response_format" in body)
                sky, changed = skies.sky, skies._changed
                skies.seen.append((re.findall(r"case (\w+)\.", asked)[0], sky))
                if sky in (Sky.STALLED, Sky.REFUSED):
                    # the latter came while the door was being shut
                    changed.wait(60)
                    self.close_connection = True
                elif sky is Sky.FAILING:
                    self.reply(500, {"error": {"message": "broken"}})
                elif sky is Sky.BUSY:
                    self.reply(
                        429,
                        {"error": {"message": "slow down"}},
                        {"retry-after": str(RETRY_AFTER_S)},
                    )
                else:
                    time.sleep(THINKING_S)
                    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                    choices = [{"message": {"content": said}, "finish_reason": "stop"}]
                    self.reply(
                        200,
                        {"model": "fake-1", "choices": choices, "usage": usage},
                        cut=sky is Sky.CUT,
                    )

            def reply(
                self,
                status: int,
                body: dict[str, Any],
                headers: dict[str, str] | None = None,
                *,
                cut: bool = False,
            ) -> None:
                encoded = json.dumps(body).encode()
                self.send_response(status)
                for name, value in {
                    "content-type": "application/json",
                    "content-length": str(len(encoded)),
                    **(headers or {}),
                }.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(encoded[: len(encoded) // 2] if cut else encoded)
                if cut:
                    self.close_connection = True
                    _reset(self.connection)

        return Handler

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._listen()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Shut, and let everybody go."""
        self.change(Sky.REFUSED)


def _reset(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # it is gone
