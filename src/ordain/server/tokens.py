"""``/tokens``: looking at the bearer tokens and the audit of their use. They are given and taken
where the data folder is, with ``ordain token``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.access import TOKEN_PRINCIPAL, TokenScope
from ordain.contracts.moments import moment, moment_if
from ordain.runtime.tokens import AuditEvent, AuditLine, Token
from ordain.server.documents import shown
from ordain.server.face import Face, Json
from ordain.server.parameters import from_query
from ordain.server.resource import Resource, resource
from ordain.server.segments import SEQ_MAX
from ordain.server.shapes import Moment, View

LIST_MAX = 500
_AT = "2026-01-05T08:00:00.000000+00:00"


class TokenView(View, frozen=True):
    """A token without its secret, which nothing keeps; ``rate`` null is the server's own."""

    name: str
    state: Literal["live", "expired", "revoked"]
    scopes: Sequence[TokenScope]
    workspaces: Sequence[str]
    rate: str | None
    created_at: Moment
    expires_at: Moment | None
    revoked_at: Moment | None
    last_used_at: Moment | None


class TokenList(View, frozen=True):
    """Every token there ever was, by name."""

    tokens: Sequence[TokenView]


class AuditEntry(View, frozen=True):
    """What happened: uses and refusals of one kind are one entry a day. ``by`` gave or took,
    ``address`` is where the last use came from.
    """

    no: int
    event: AuditEvent
    token: str | None
    asked: str | None
    reason: str | None
    by: str | None
    address: str | None
    first_at: Moment
    last_at: Moment
    count: int


class AuditPage(View, frozen=True):
    """The audit, newest first; ``next`` is what ``before`` asks the next page with, null where
    there is none.
    """

    audit: Sequence[AuditEntry]
    next: int | None


def token_view(token: Token, now: int) -> TokenView:
    """A token as people see it."""
    ended = token.expires_at is not None and token.expires_at <= now
    return TokenView(
        name=token.name,
        state="revoked" if token.revoked_at is not None else "expired" if ended else "live",
        scopes=token.scopes,
        workspaces=token.workspaces,
        rate=None if token.rate is None else str(token.rate),
        created_at=moment(token.created_at),
        expires_at=moment_if(token.expires_at),
        revoked_at=moment_if(token.revoked_at),
        last_used_at=moment_if(token.last_used_at),
    )


def audit_page(lines: Sequence[AuditLine], limit: int) -> AuditPage:
    """Lines of the audit as people see them."""
    entries = [
        AuditEntry(
            no=line.no,
            event=line.event,
            token=line.token or None,
            asked=line.asked or None,
            reason=line.reason or None,
            by=line.by or None,
            address=line.address or None,
            first_at=moment(line.first_at),
            last_at=moment(line.last_at),
            count=line.count,
        )
        for line in lines
    ]
    return AuditPage(audit=entries, next=lines[-1].no if len(lines) == limit else None)


_TOKEN = {
    "name": "ci",
    "state": "live",
    "scopes": ["runs:read", "plan"],
    "workspaces": ["default"],
    "rate": "120/min",
    "created_at": _AT,
}
_ENDS = {"expires_at": None, "revoked_at": None, "last_used_at": _AT}
_USED = {
    "no": 7,
    "event": "used",
    "token": "ci",
    "asked": "plan",
    "reason": "access.token",
    "by": None,
    "address": "192.0.2.7",
}
_TIMES = {"first_at": _AT, "last_at": _AT, "count": 12}


async def _seen(face: Face, request: Request) -> frozenset[str] | None:
    """The tokens that an admin may look at: of the owner every one (None), of a token those that
    belong to no workspace but its own.
    """
    tokens = {token.name: token for token in await face.runtime.services.tokens.tokens()}
    asking = (
        tokens.get(face.by(request).removeprefix(TOKEN_PRINCIPAL))
        if face.by(request).startswith(TOKEN_PRINCIPAL)
        else None
    )
    if asking is None:
        return None
    return frozenset(
        name for name, token in tokens.items() if set(token.workspaces) <= set(asking.workspaces)
    )


def tokens_router(face: Face) -> Resource:
    """Looking only: no token makes another."""
    router = resource("access", prefix="/tokens")

    @router.get("", **shown(TokenList, example={"tokens": [{**_TOKEN, **_ENDS}]}))
    async def list_tokens(request: Request) -> Response:
        """Every token there ever was, by name; to a token those of its own workspaces."""
        services, now = face.runtime.services, face.runtime.services.clock.now()
        seen = await _seen(face, request)
        return Json(
            TokenList(
                tokens=[
                    token_view(one, now)
                    for one in await services.tokens.tokens()
                    if seen is None or one.name in seen
                ]
            )
        )

    @router.get(
        "/audit", **shown(AuditPage, example={"audit": [{**_USED, **_TIMES}], "next": None})
    )
    async def show_audit(
        request: Request,
        limit: Annotated[int, from_query(ge=1, le=LIST_MAX)] = 100,
        before: Annotated[
            int | None, from_query(ge=1, le=SEQ_MAX, description="Only lines older than this one.")
        ] = None,
        name: Annotated[
            str | None, from_query(max_length=64, description="Only lines about this token.")
        ] = None,
    ) -> Response:
        """What was given, taken, used and refused, newest first; to a token what is about tokens of
        its own workspaces.
        """
        await face.runtime.access.flush()
        seen = await _seen(face, request)
        about = seen if name is None or seen is None else seen & {name}
        lines = await face.runtime.services.tokens.audit(
            limit=limit, before=before, token=name, among=about
        )
        return Json(audit_page(lines, limit))

    return router
