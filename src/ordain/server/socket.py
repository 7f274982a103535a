"""``WS /ws``: one session per socket. Frames are the hub's payload; what comes back are
acknowledgements, refusals and the session's events.

Nothing is queued for anybody: a frame is read when the one before it was answered, an event when
the one before it was taken. uvicorn's own pings find clients that vanished.
"""

from __future__ import annotations

import asyncio
import logging
import re

import msgspec
from msgspec import Struct
from pydantic import TypeAdapter, ValidationError
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from ordain.contracts.conversation import WORKSPACE_ID, SessionId
from ordain.contracts.cortex import HubChat
from ordain.contracts.events import SessionErasedEvent
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.sizes import said_bytes
from ordain.errors import (
    CallerError,
    Conflict,
    InvalidRequest,
    OrdainError,
    Refused,
    Unauthenticated,
)
from ordain.server.bodies import validated_apart
from ordain.server.face import CALLER, Face
from ordain.server.feed import Feed
from ordain.server.gateway import FRESH_HUB, fresh_session, received
from ordain.server.guard import chosen_subprotocol
from ordain.server.problems import problem, problem_body
from ordain.server.resource import Resource, resource
from ordain.server.sent_json import spelled
from ordain.server.shapes import SocketAccepted, SocketRefused
from ordain.server.translation import HUB_WS, canonical, chat_of_hub, client_request
from ordain.server.workspaces import WORKSPACE_HEADER

LOG = logging.getLogger("ordain.http")
MALFORMED_MAX = 16
"""How many malformed frames in a row close the socket."""


NAMED = 65_536
"""Characters of a frame in which the message's id is looked for where nothing else is."""
ENDED, GOING_AWAY, BROKEN, ENOUGH = 1000, 1012, 1011, 1008
_SESSION: TypeAdapter[str] = TypeAdapter(SessionId)
_SEQ = re.compile(r"[0-9]{1,15}")


def socket_router(face: Face) -> Resource:
    """The one address."""
    router = resource()

    @router.get("/ws", include_in_schema=False)
    async def without_upgrade() -> Response:
        """What speaks no WebSocket is told to."""
        return problem(
            426,
            "upgrade_required",
            "this address speaks WebSocket, version 13",
            headers={"Upgrade": "websocket"},
        )

    @router.websocket("/ws")
    async def speak(socket: WebSocket) -> None:
        try:
            place, subprotocol = _place(socket), chosen_subprotocol(socket.scope)
            if place[1] is not None:
                await face.runtime.check_after(place[0], place[1], place[2])
        except CallerError as error:
            refused = problem(error.status, error.code, error.message, more=error.details)
            await refused(socket.scope, socket.receive, socket.send)
            return
        await socket.accept(subprotocol)
        await _Socket(face, socket, *place).serve()

    return router


def _place(connection: HTTPConnection) -> tuple[str, str | None, int]:
    """Workspace, session and where to begin. The workspace is the one that the guard checked and
    put into the header, whoever named it.

    Raises:
        InvalidRequest: one of them does not fit.
    """
    query = connection.query_params
    workspace = connection.headers.get(WORKSPACE_HEADER, DEFAULT_WORKSPACE)
    session, after = query.get("session"), query.get("after", "0")
    if not re.fullmatch(WORKSPACE_ID.removesuffix("$"), workspace):
        raise _misfit("/query/workspace")
    if not _SEQ.fullmatch(after):
        raise _misfit("/query/after")
    try:
        return workspace, None if session is None else _SESSION.validate_python(session), int(after)
    except ValidationError:
        raise _misfit("/query/session") from None


def _misfit(place: str) -> InvalidRequest:
    found = [{"place": place, "code": "value_error", "message": "it does not fit"}]
    return InvalidRequest("a parameter does not fit", details={"errors": found})


class _Socket:
    """One open socket: frames are answered in order, events go out beside them."""

    def __init__(
        self, face: Face, socket: WebSocket, workspace: str, session: str | None, after: int
    ) -> None:
        self._face, self._socket, self._workspace, self._session, self._after = (
            face,
            socket,
            workspace,
            session,
            after,
        )
        self._begun = asyncio.Event()
        self._malformed = 0
        if session is not None:
            self._begun.set()

    async def serve(self) -> None:
        """Until the client leaves, the server stops, the session is erased, or too many frames in a
        row are malformed.
        """
        ways = {asyncio.ensure_future(self._hear()), asyncio.ensure_future(self._tell())}
        try:
            done, _ = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            code = next((task.result() for task in done), None)
        except (WebSocketDisconnect, OSError):
            code = None
        except Exception:
            # the socket's boundary: a bug ends this socket, with a word to the log and none to the
            # wire
            LOG.exception("internal error on a socket")
            code = BROKEN
        finally:
            for task in ways:
                task.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        if code is not None:
            await self._close(code)

    async def _close(self, code: int) -> None:
        try:
            await self._socket.close(code)
        except (WebSocketDisconnect, RuntimeError, OSError):
            LOG.debug("a socket was gone before it was closed")

    async def _hear(self) -> int:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message["code"])
            ended = False
            try:
                await self._count(message.get("text"))
                told: SocketAccepted | SocketRefused = await self._frame(message.get("text"))
                self._malformed = 0
            except OrdainError as error:
                self._malformed += isinstance(error, InvalidRequest)
                told, ended = _refused(error), isinstance(error, Unauthenticated)
            await self._send(told)
            if ended or self._malformed >= MALFORMED_MAX:
                return ENOUGH

    async def _count(self, text: str | None) -> None:
        """A frame is a request of its caller's like any other; refused, it is named."""
        spending = self._socket.scope.get(CALLER)
        if spending is not None:
            try:
                await spending.again()
            except OrdainError as error:
                raise _about(error, _named(text or "")) from None

    async def _frame(self, text: str | None) -> SocketAccepted:
        """Accept one frame; the acknowledgement is true when this returns."""
        if text is None:
            raise InvalidRequest(
                "a frame is text, not bytes", code="unsupported_media_type", status=415
            )
        body = text.encode("utf-8", "surrogatepass")
        bounds = self._face.message
        if len(body) > bounds.bytes:
            raise InvalidRequest(
                f"a frame is larger than {said_bytes(bounds.bytes)}", code="too_large", status=413
            )
        hub = await validated_apart(HubChat, body, bounds)
        session = self._session or hub.session_id or fresh_session(self._face, FRESH_HUB)
        try:
            if hub.session_id not in (None, session):
                raise Conflict(f"this socket speaks with session {session}", code="other_session")
            client = client_request(chat_of_hub(hub, HUB_WS))
            message = canonical(client, session, message_id=hub.message_id, reply_to=hub.reply_to)
            sent = await received(self._face, self._socket, self._workspace, client, message)
        except OrdainError as error:
            raise _about(error, hub.message_id) from None
        if self._session is None:
            self._session = session
            self._begun.set()
        return SocketAccepted(
            session_id=session, seq=sent.seq, message_id=sent.message_id, duplicate=sent.duplicate
        )

    async def _tell(self) -> int:
        stopping = asyncio.ensure_future(self._face.stopping.wait())
        begun = asyncio.ensure_future(self._begun.wait())
        try:
            await asyncio.wait({stopping, begun}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            begun.cancel()
        if self._session is None:
            return GOING_AWAY
        feed = Feed(self._face, self._workspace, self._session, self._after)
        try:
            code = GOING_AWAY
            while not feed.over:
                event = await feed.next()
                if event is not None:
                    code = ENDED if isinstance(event, SessionErasedEvent) else code
                    await self._socket.send_text(spelled(event).decode())
            return code
        finally:
            feed.close()

    async def _send(self, told: SocketAccepted | SocketRefused) -> None:
        await self._socket.send_text(spelled(told).decode())


class _Named(Struct):
    """What of a frame says which message it is."""

    message_id: str | None = None


def _named(frame: str) -> str | None:
    """The id of the message in a frame that is not read for anything else; None where that would
    take long, or there is none.
    """
    try:
        return msgspec.json.decode(frame, type=_Named).message_id if len(frame) <= NAMED else None
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return None


def _about(error: OrdainError, message_id: str | None) -> OrdainError:
    """The same refusal, naming the message that it is about."""
    error.details = {**error.details, "message_id": message_id}
    return error


def _refused(error: OrdainError) -> SocketRefused:
    more = dict(error.details)
    about = more.pop("message_id", None)
    if isinstance(error, Refused) and error.retry_after_s is not None:
        more["retry_after_s"] = error.retry_after_s
    if error.status >= 500:
        LOG.error("refused code=%s %s", error.code, error.message)
    message_id = about if isinstance(about, str) else None
    return SocketRefused(
        message_id=message_id, problem=problem_body(error.status, error.code, error.message, more)
    )
