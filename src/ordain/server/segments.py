"""Ids and numbers in addresses. A session id may hold slashes, so the routes below ``/sessions/``
match the path as it was sent, still percent-encoded.
"""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import unquote

from pydantic import Field
from starlette.types import ASGIApp, Receive, Scope, Send

from ordain.contracts.conversation import SESSION_ID
from ordain.errors import NotFound
from ordain.server.parameters import from_query

ENCODED = b"/sessions/"
_SLASH = re.compile(rb"%(2[fF])")
_SESSION = re.compile(SESSION_ID.removeprefix("^").removesuffix("$"))
SEQ_MAX = 2**53 - 1
"""The largest number that every JSON reader takes for itself; no transcript or journal comes near
it.
"""
Seq = Annotated[int, Field(le=SEQ_MAX)]
"""The number of an entry or a record, as a caller gives it."""
IdPart = Annotated[
    str, from_query(max_length=512, description="Only those whose id begins or ends with this.")
]
"""The beginning or the end of an id, as a caller gives it."""


class SegmentsAsSent:
    """A segment stays one: ``a%2Fb`` is one, ``a/b`` are two. The routes below ``/sessions/`` get
    the undecoded path, others one without ``%2F`` decoded.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand on."""
        raw: bytes = scope.get("raw_path") or b""
        if scope["type"] == "http" and raw.startswith(ENCODED):
            scope = {**scope, "path": raw.partition(b"?")[0].decode("latin-1")}
        elif scope["type"] == "http" and _SLASH.search(raw):
            scope = {
                **scope,
                "path": unquote(_SLASH.sub(rb"%25\1", raw.partition(b"?")[0]).decode("latin-1")),
            }
        await self._app(scope, receive, send)


def session_id(session: str) -> str:
    """A session's id from its segment, whether or not it has begun.

    Raises:
        NotFound: no session can have this id.
    """
    name = decoded(session)
    if not _SESSION.fullmatch(name):
        raise NotFound("there is no such session", code="session_not_found")
    return name


def decoded(session: str) -> str:
    """A session's id from its segment.

    Raises:
        NotFound: the segment is no UTF-8, so no session has this id.
    """
    try:
        return unquote(session, errors="strict")
    except UnicodeDecodeError:
        raise NotFound("there is no such session", code="session_not_found") from None
