"""The guard before every route: who asks, may they, how often. Stands where the path is as the
routes see it.

A token comes in ``Authorization: Bearer``; a WebSocket, which browsers give no headers, may bring
it as subprotocol ``ordain.bearer.TOKEN``. One in an address is refused: addresses end in logs and
histories.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.contracts.access import holds_token, resembles_token
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import InvalidRequest, OrdainError, Refused, Transient, Unauthenticated
from ordain.runtime.access import NOBODY, AccessRequest, Caller, Exposure
from ordain.server.doors import door_of
from ordain.server.face import CALLER, Face
from ordain.server.openai.wire import is_openai
from ordain.server.peers import address_of, of_another_user, passed_on
from ordain.server.problems import RETRY_S, problem
from ordain.server.socket_owners import SocketOwners
from ordain.server.workspaces import WORKSPACE_HEADER

SUBPROTOCOL, BEARER_SUBPROTOCOL = "ordain", "ordain.bearer."
SECRET_KEYS = frozenset(
    {"token", "access_token", "auth", "authorization", "bearer", "api_key", "apikey", "key"}
)
CHECK_US = 1_000_000
"""How often the token of a socket or a stream is looked at again."""
NO_LONGER = 1008


class Guard:
    """Admits or refuses each request, and ends streams whose token has ended."""

    def __init__(self, app: ASGIApp, face: Face) -> None:
        """Guard ``app`` as the face's exposure says."""
        self._app, self._face, self._owners = app, face, SocketOwners()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        try:
            asked = await asked_of(scope, self._face.exposure, self._owners)
            caller = await self._face.runtime.access.admit(asked, self._face.exposure)
        except OrdainError as error:
            await refusal(error, scope)(scope, receive, send)
            return
        checked = caller.workspace or asked.workspace
        if checked:
            scope = {**scope, "headers": _placed(scope["headers"], checked)}
        if caller is not NOBODY:
            scope[CALLER] = RequestSpending(self._face, caller, asked)
            watch = _Watch(self._face, asked, scope["type"] == "websocket")
            receive, send = watch.receive(receive), watch.send(send)
        await self._app(scope, receive, send)


class RequestSpending(Struct, frozen=True):
    """Who was let in, and one more request of theirs on the same connection: a frame of a
    WebSocket.
    """

    face: Face
    caller: Caller
    asked: AccessRequest

    async def again(self) -> None:
        """Count one more.

        Raises:
            Unauthenticated, Refused: as for the first one.
        """
        await self.face.runtime.access.admit(self.asked, self.face.exposure)


class _Watch:
    """Ends a socket or a stream whose token was revoked or has expired, within a second of its next
    sign of life.

    A stream is an answer that does not say how long it is. One that does comes whole: it was let
    in, and what it asked for was done.
    """

    def __init__(self, face: Face, asked: AccessRequest, socket: bool) -> None:
        self._face, self._asked, self._socket = face, asked, socket
        self._looked_at = face.runtime.services.clock.now()
        self._over = False

    async def _ended(self) -> bool:
        now = self._face.runtime.services.clock.now()
        if not self._over and not 0 <= now - self._looked_at < CHECK_US:
            self._looked_at = now
            self._over = not await self._face.runtime.access.still(self._asked, self._face.exposure)
        return self._over

    def send(self, send: Send) -> Send:
        """Send as before, until it has ended; then say so once."""
        told, streams = False, self._socket

        async def sending(message: Message) -> None:
            nonlocal told, streams
            if told:
                return
            if message["type"] == "http.response.start":
                streams = all(
                    name.lower() != b"content-length" for name, _ in message.get("headers", ())
                )
            else:
                told = streams and await self._ended()
            if not told:
                await send(message)
            elif self._socket:
                await send(
                    {"type": "websocket.close", "code": NO_LONGER, "reason": "unauthenticated"}
                )
            else:
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        return sending

    def receive(self, receive: Receive) -> Receive:
        """Receive as before; nothing more once it has ended."""

        async def receiving() -> Message:
            message = await receive()
            if self._socket and self._over:
                return {"type": "websocket.disconnect", "code": NO_LONGER}
            return message

        return receiving


async def asked_of(scope: Scope, exposure: Exposure, owners: SocketOwners) -> AccessRequest:
    """What a request asks for, from address and headers, and whose process asks, where that is what
    counts.

    Raises:
        Transient: 503 ``out_of_resources``: that cannot be found out now.
        InvalidRequest: 400 ``token_in_query`` or ``repeated_header``; 422 where the workspace is
            empty.
    """
    connection = HTTPConnection(scope)
    if scope["query_string"]:
        _check_query(scope["query_string"].decode("latin-1"))
    door = door_of(scope.get("method", "GET"), scope["path"])
    named = connection.headers.getlist(WORKSPACE_HEADER)
    if len(named) > 1:
        raise InvalidRequest(f"{WORKSPACE_HEADER} is sent once", code="repeated_header", status=400)
    workspace = named[0] if named else None
    if workspace == "":  # before anything else may name one: empty is not absent
        raise InvalidRequest(f"{WORKSPACE_HEADER} names no workspace")
    if scope["type"] == "websocket" and workspace is None:
        workspace = connection.query_params.get("workspace") or None
    credential = _credential(connection.headers, scope)
    page = "origin" in connection.headers
    if (
        credential
        and not (exposure.demanded or page or resembles_token(credential))
        and is_openai(scope["path"])
    ):
        # OpenAI's clients send some key, whether one is asked for or not; what resembles a token,
        # or a web page sends, is judged as one
        credential = None
    return AccessRequest(
        credential=credential,
        scopes=door.scopes,
        in_workspace=door.in_workspace,
        workspace=workspace,
        default_workspace=DEFAULT_WORKSPACE,
        address=address_of(scope, exposure.proxies),
        public=door.public,
        stranger=not (door.public or exposure.demanded)
        and credential is None
        and (passed_on(scope) or await of_another_user(scope, owners)),
    )


def _placed(headers: Iterable[tuple[bytes, bytes]], workspace: str) -> list[tuple[bytes, bytes]]:
    """The headers with the workspace that was checked as the only one that they name: routes read
    this, and nothing else.
    """
    name = WORKSPACE_HEADER.lower().encode()
    return [
        *(one for one in headers if one[0].lower() != name),
        (name, workspace.encode("utf-8", "replace")),
    ]


def _check_query(query: str) -> None:
    """Refuse what looks like a token in an address, before anybody could take it for one."""
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise InvalidRequest(
            "the address has too many parameters", code="too_many_parameters", status=400
        ) from None
    if any(
        name.lower() in SECRET_KEYS or holds_token(name) or holds_token(value)
        for name, value in pairs
    ):
        raise InvalidRequest(
            "a token in an address ends in logs: send Authorization: Bearer",
            code="token_in_query",
            status=400,
        )


def _credential(headers: Headers, scope: Scope) -> str | None:
    """What stands in the one place for it; "" for what is there and is no bearer token."""
    given = headers.getlist("authorization")
    if scope["type"] == "websocket":
        given += [
            f"Bearer {one.removeprefix(BEARER_SUBPROTOCOL)}"
            for one in scope["subprotocols"]
            if one.startswith(BEARER_SUBPROTOCOL)
        ]
    if not given:
        return None
    kind, _, credential = given[0].partition(" ")
    return credential.strip() if len(given) == 1 and kind.lower() == "bearer" else ""


def chosen_subprotocol(scope: Scope) -> str | None:
    """What a handshake that offers subprotocols is answered with: a browser ends one that is not.
    ``ordain``, so that no token is sent back.

    Raises:
        InvalidRequest: a token is offered without ``ordain`` beside it.
    """
    offered: list[str] = scope["subprotocols"]
    if SUBPROTOCOL in offered:
        return SUBPROTOCOL
    if any(one.startswith(BEARER_SUBPROTOCOL) for one in offered):
        raise InvalidRequest(
            f"offer subprotocol {SUBPROTOCOL} beside the one with the token: a token is not "
            "sent back"
        )
    return None


def refusal(error: OrdainError, scope: Scope) -> Response:
    """A refusal of the guard, with what RFC 6750 says beside it."""
    headers: dict[str, str] = {}
    if isinstance(error, Unauthenticated):
        sent = any(name == b"authorization" for name, _ in scope["headers"])
        headers["WWW-Authenticate"] = 'Bearer realm="ordain"' + (
            ', error="invalid_token"' if sent else ""
        )
    elif isinstance(error, Refused) and error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    elif isinstance(error, Refused):
        headers["WWW-Authenticate"] = 'Bearer realm="ordain", error="insufficient_scope"'
    elif isinstance(error, Transient):
        headers["Retry-After"] = RETRY_S
    return problem(error.status, error.code, error.message, more=error.details, headers=headers)
