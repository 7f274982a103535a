"""How long a request may take to arrive, and what becomes of it when the server ends meanwhile."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.errors import InvalidRequest, Transient
from ordain.server.face import Face
from ordain.server.problems import unavailable

BYTES_PER_S = 16_384
"""At least this fast a larger body comes: each so many bytes give it one more second."""
LOOK_S = 0.5
"""How often a waiting reader looks whether the server stops."""
STOPPING = "the server stops; send the request again when it is back"


class InTime:
    """Gives up on bodies that do not come (408), and on all that still arrives when the server
    stops (503).
    """

    def __init__(self, app: ASGIApp, face: Face) -> None:
        """Guard ``app``."""
        self._app, self._face = app, face

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on; a request that is cut off by the server's end is told so."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, _Arriving(receive, self._face).receive, watched)
        except asyncio.CancelledError:
            if self._face.stopping.is_set() and not begun:
                await unavailable("stopping", STOPPING)(scope, receive, send)
            raise


class _Arriving:
    """One request's body."""

    def __init__(self, receive: Receive, face: Face) -> None:
        self._receive, self._stopping = receive, face.stopping
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + face.body_s
        self._whole = False

    async def receive(self) -> Message:
        """The next part; once all is there, whatever the server says next, however long it takes.

        Raises:
            InvalidRequest: 408 ``request_timeout``.
            Transient: ``stopping``.
        """
        while not self._whole:
            try:
                async with asyncio.timeout(LOOK_S):
                    message = await self._receive()
            except TimeoutError:
                if self._stopping.is_set():
                    raise Transient(STOPPING, code="stopping") from None
            else:
                self._due += len(message.get("body", b"")) / BYTES_PER_S
                self._whole = not message.get("more_body", False)
                if self._whole or self._loop.time() < self._due:
                    return message
            if self._loop.time() >= self._due:
                raise InvalidRequest(
                    "the body did not arrive in time", code="request_timeout", status=408
                )
        return await self._receive()


class HeadAsGet:
    """Answers HEAD wherever there is a GET: with its status and headers, and no body (RFC 9110,
    9.3.2).
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a GET answered as far as its headers; a stream is left as soon as it begins."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def headers_only(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                begun.set()

        answering = asyncio.ensure_future(
            self._app({**scope, "method": "GET"}, receive, headers_only)
        )
        enough = asyncio.ensure_future(begun.wait())
        try:
            await asyncio.wait({answering, enough}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
        finally:
            for task in (answering, enough):
                task.cancel()
            await asyncio.gather(answering, enough, return_exceptions=True)
