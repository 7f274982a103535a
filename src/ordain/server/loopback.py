"""Who may talk to a server without authentication: processes of this machine, and no web page of another site.

The Host header must be a loopback name (a page that rebinds its DNS name to 127.0.0.1 sends its own name), and an unsafe method or a
WebSocket handshake with an Origin must come from this very server: browsers let any page open a WebSocket to anywhere, and send Origin.

Where a token is demanded neither protects anything, because no browser sends a token by itself: the names are then those of the settings, or any.
"""

from __future__ import annotations

import ipaddress
import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ordain.runtime.access import Exposure
from ordain.server.problems import problem

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
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


HEADER_BYTES = 65_536


class HostGuard:
    """Refuses oversized headers (431), foreign hosts (421 ``foreign_host``) and foreign origins (403 ``foreign_origin``).

    Origins are looked at on unsafe methods and WebSocket handshakes; a handshake is refused before it is accepted, with the same problem.
    """

    def __init__(self, app: ASGIApp, exposure: Exposure) -> None:
        """Guard ``app``."""
        self._app, self._exposure = app, exposure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let through or refuse."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADER_BYTES:
            refused = problem(431, "headers_too_large", f"a request's headers have at most {HEADER_BYTES} bytes")
            await refused(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._own_host(hosts[0]):
            refused = problem(
                421, "foreign_host", "this server answers to its own names only: localhost, 127.0.0.1, [::1], and allowed_hosts"
            )
            await refused(scope, receive, send)
            return
        unsafe = scope["type"] == "websocket" or scope["method"] not in SAFE
        if unsafe and not self._exposure.demanded and "authorization" not in headers and not self._own_origin(headers, hosts[0]):
            refused = problem(403, "foreign_origin", "a page of another origin may not do this")
            await refused(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _own_host(self, host: str) -> bool:
        if is_loopback_host(host) or not self._exposure.demanded:
            return is_loopback_host(host)
        match = _HOST.fullmatch(host)
        return match is not None and (not self._exposure.hosts or match["name"].lower().strip("[]") in self._exposure.hosts)

    @staticmethod
    def _own_origin(headers: Headers, host: str) -> bool:
        if headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
            return False
        return all(origin.lower() == f"http://{host.lower()}" for origin in headers.getlist("origin"))
