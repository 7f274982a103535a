"""Ids and numbers in addresses. A session id may hold slashes, so the routes below ``/sessions/`` match the path as it was sent, still percent-encoded."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import unquote

from pydantic import Field
from starlette.types import ASGIApp, Receive, Scope, Send

from ordain.errors import NotFound

ENCODED = b"/sessions/"
SEQ_MAX = 2**53 - 1
"""The largest number that every JSON reader takes for itself; no transcript or journal comes near it."""
Seq = Annotated[int, Field(le=SEQ_MAX)]
"""The number of an entry or a record, as a caller gives it."""


class SegmentsAsSent:
    """Gives the routes below ``/sessions/`` the undecoded path: ``a%2Fevents`` is one segment, ``a/events`` are two."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on."""
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and raw.startswith(ENCODED):
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}
        await self._app(scope, receive, send)


def decoded(session: str) -> str:
    """A session's id from its segment.

    Raises:
        NotFound: the segment is no UTF-8, so no session has this id.
    """
    try:
        return unquote(session, errors="strict")
    except UnicodeDecodeError:
        raise NotFound("there is no such session", code="session_not_found") from None
