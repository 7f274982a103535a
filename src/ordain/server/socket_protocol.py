"""WebSocket as the server speaks it: uvicorn's protocol, with bounds on what it waits for."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ordain.server.bodies import BODY_BYTES, SHIPPED, BodyBounds, of_messages
from ordain.server.protocol import UNREAD_BYTES, StallWatched

NO_TEXT = 1007
"""What closes a socket whose client sends as text what is none (RFC 6455, 7.4.1)."""


class SocketProtocol(StallWatched, WebSocketsSansIOProtocol):
    """One WebSocket: uvicorn's protocol, which waits for ever for a client that reads nothing, and
    for its pong no longer than it says.
    """

    def data_received(self, data: bytes) -> None:
        """Read on; who sends ping after ping and takes no answer is cut off, since each is answered
        whatever waits already.
        """
        super().data_received(data)
        if self.transport.get_write_buffer_size() > UNREAD_BYTES:
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        """Hand on a whole message. Text that is none ends the socket (1007), which is the client's
        doing and no error here.
        """
        if self.curr_msg_data_type == "text" and not _is_utf8(b"".join(self.frames)):
            self.frames = []
            if not self.close_sent:
                self.conn.send_close(NO_TEXT)
                self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        """The client is silent: closed, as soon as it has taken what waits for it."""
        super().keepalive_timeout()
        self._stall.watch()

    async def run_asgi(self) -> None:
        """A handshake that is refused is answered: that it was not completed is no error."""
        app = self.app

        async def answered(
            scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable
        ) -> None:
            await app(scope, receive, send)
            self.handshake_complete = self.handshake_complete or self.initial_response is not None

        self.app = answered
        await super().run_asgi()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Nobody speaks here any more."""
        super().on_task_complete(task)
        if self.transport.is_closing():
            self._stall.watch()


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def socket_options(body: BodyBounds = SHIPPED) -> dict[str, Any]:
    """How uvicorn is to speak WebSocket: a frame is as large as a message may be; one that is
    larger is refused, and one far larger ends the socket.

    No compression: on loopback it costs memory for each idle socket and saves nothing.
    """
    return {
        "ws": SocketProtocol,
        "ws_max_size": of_messages(body).bytes + BODY_BYTES,
        "ws_per_message_deflate": False,
    }
