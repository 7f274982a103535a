"""Who may talk to a server without authentication: processes of this machine, and no web page of
another site.

The Host header must be a loopback name (a page that rebinds its DNS name to 127.0.0.1 sends its own
name), and what a browser asks for on behalf of a page, by its ``Origin`` or ``Sec-Fetch-Site``,
must be asked for by a page of this very server: any page may post a form to anywhere, open a
WebSocket, and load an address as its picture, script or frame. Only a link to a page that somebody
follows (``navigate``, ``document``) may stand anywhere.

Where a token is demanded neither protects anything, because no browser sends a token by itself: the
names are then those of the settings, or any.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ordain.runtime.access import Exposure
from ordain.runtime.own_requests import is_own
from ordain.server.problems import problem

SAFE = frozenset({"GET", "HEAD"})
APART = ((b"x-content-type-options", b"nosniff"), (b"cross-origin-resource-policy", b"same-origin"))
"""With every answer: it is what its type says, and nothing of a page of another origin."""
_STARTS = frozenset({"http.response.start", "websocket.http.response.start"})
_ABSOLUTE = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*+://([^/?#]*+)")
_HOST = re.compile(r"(?P<name>\[[0-9a-fA-F:.]+\]|[^:\[\]/@\s]+)(:(?P<port>\d{1,5}))?")


def is_loopback_name(name: str) -> bool:
    """Whether a name without port is ``localhost`` or an address of 127.0.0.0/8 or ::1."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def is_loopback_host(host: str) -> bool:
    """Whether a Host header names this machine."""
    match = _HOST.fullmatch(host)
    return match is not None and is_loopback_name(match["name"])


def take_host_of(address: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """A request that names its host in its address asks that one, whatever ``Host`` says (RFC 9112,
    3.2.2), and is judged by it.
    """
    if named := _ABSOLUTE.match(address):
        headers[:] = [(name, named[1] if name == b"host" else value) for name, value in headers]


HEADER_BYTES = 65_536


class HostGuard:
    """Refuses oversized headers (431), foreign hosts (421 ``foreign_host``), verbs of its own (403
    ``own_request``) and pages of foreign origins (403 ``foreign_origin``).

    A WebSocket handshake is refused before it is accepted, with the same problem.
    """

    def __init__(self, app: ASGIApp, exposure: Exposure) -> None:
        """Guard ``app``."""
        self._app, self._exposure = app, exposure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        send = _apart(send)
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADER_BYTES:
            refused = problem(
                431, "headers_too_large", f"a request's headers have at most {HEADER_BYTES} bytes"
            )
            await refused(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._own_host(hosts[0]):
            refused = problem(
                421,
                "foreign_host",
                (
                    "this server answers to its own names only: localhost, 127.0.0.1, [::1], and "
                    "allowed_hosts"
                ),
            )
            await refused(scope, receive, send)
            return
        if is_own(scope["headers"]):
            refused = problem(
                403, "own_request", "a verb of this server asks it for something, and no verb may"
            )
            await refused(scope, receive, send)
            return
        followed = scope.get("method") in SAFE and (
            headers.get("sec-fetch-mode"),
            headers.get("sec-fetch-dest"),
        ) == (
            "navigate",
            "document",
        )
        known = self._exposure.demanded or "authorization" in headers
        if scope["type"] == "websocket":
            known = known and self._may_listen(headers, hosts[0])
        if not (known or followed or self._own_origin(headers, hosts[0])):
            refused = problem(403, "foreign_origin", "a page of another origin may not do this")
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _own_host(self, host: str) -> bool:
        if is_loopback_host(host) or not self._exposure.demanded:
            return is_loopback_host(host)
        match = _HOST.fullmatch(host)
        return match is not None and (
            not self._exposure.hosts or match["name"].lower().strip("[]") in self._exposure.hosts
        )

    def _may_listen(self, headers: Headers, host: str) -> bool:
        """Whether a page, if one asks, is this server's own or one that settings name: no browser
        keeps from a page what comes over a WebSocket, as it keeps answers.
        """
        own = (f"http://{host.lower()}", f"https://{host.lower()}")
        return all(
            origin.lower() in own or origin in self._exposure.origins
            for origin in headers.getlist("origin")
        )

    @staticmethod
    def _own_origin(headers: Headers, host: str) -> bool:
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return False
        return all(
            origin.lower() == f"http://{host.lower()}" for origin in headers.getlist("origin")
        )


def _apart(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] in _STARTS:
            message["headers"] = [*message.get("headers", ()), *APART]
        await send(message)

    return sent
