"""``/grants``: what somebody has said yes to beforehand (C5): looked at, given and taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.approvals import WHY_CHARS, Grant, PrincipalName
from ordain.contracts.conversation import Camel, VerbName
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.moments import moment
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.runtime.door import Runtime
from ordain.runtime.grant_words import grant_words
from ordain.runtime.grants import CAPABILITIES_MAX, PAGE_MAX, TTL_S_MAX, TTL_S_MIN, GrantOffer
from ordain.server.approval_shapes import USES_MAX
from ordain.server.bodies import read
from ordain.server.documents import documented, shown
from ordain.server.face import Face, Json
from ordain.server.parameters import from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import IdPart
from ordain.server.shapes import CamelView, Moment
from ordain.server.workspaces import Workspace

LISTED = 200
GrantTarget = Annotated[str, Field(min_length=1, max_length=500)]


class GrantScopeView(CamelView, frozen=True):
    """What a grant is for: verb ids and globs, the only recipients, targets and addresses (null:
    any), bounds by verb id or glob.

    It is for no call that leaves open what one of these is about.
    """

    capabilities: Sequence[str]
    targets: Sequence[str] | None
    constraints: Mapping[str, Constraint]


class GrantAuditView(CamelView, frozen=True):
    """Who gave it and when, with which approval, who took it back, and why."""

    by: str
    at: Moment
    approval_id: str | None
    revoked_by: str | None
    revoked_at: Moment | None
    revoked_why: str | None


class GrantView(CamelView, frozen=True):
    """A yes beforehand (C5): whose runs it lets call what, until when and how often (``usesLeft``
    null: until it expires).

    ``words`` say it in words of code, and what it is not for. ``callsLeft`` is what is left of each
    ``maxCalls``, over all runs.
    """

    grant_id: str
    principal: str
    scope: GrantScopeView
    risk_level: RiskLevel
    ttl_seconds: int
    expires_at: Moment
    uses_left: int | None
    calls_left: Mapping[str, int]
    reason: str
    words: str
    stands: bool
    audit: GrantAuditView


class GrantPage(CamelView, frozen=True):
    """Grants, the latest first; ``next`` is what ``before`` asks the next page with, null where
    there is none.
    """

    grants: Sequence[GrantView]
    next: str | None


class BoundsGiven(Camel):
    """Bounds of the calls of one verb, or of all that a glob names; what is absent bounds nothing.
    A call that leaves open what one is about is not granted.
    """

    domains_allowlist: list[GrantTarget] | None = Field(default=None, max_length=LISTED)
    paths: list[GrantTarget] | None = Field(default=None, max_length=LISTED)
    max_amount: int | None = Field(default=None, ge=0, le=2**53)
    max_calls: int | None = Field(
        default=None, ge=1, le=2**53, description="So many calls in all, over all runs."
    )

    def bounds(self) -> Constraint:
        """As the door holds calls to them."""
        return Constraint(
            domains_allowlist=None
            if self.domains_allowlist is None
            else tuple(self.domains_allowlist),
            paths=None if self.paths is None else tuple(self.paths),
            max_amount=self.max_amount,
            max_calls=self.max_calls,
        )


class ScopeGiven(Camel):
    """What a grant is to be for."""

    capabilities: list[VerbName] = Field(
        min_length=1, max_length=CAPABILITIES_MAX, description="Verb ids and globs."
    )
    targets: list[GrantTarget] | None = Field(
        default=None,
        min_length=1,
        max_length=LISTED,
        description="The only recipients, targets and addresses; null: any.",
    )
    constraints: dict[VerbName, BoundsGiven] = Field(default={}, max_length=CAPABILITIES_MAX)


class GrantGiven(Camel):
    """A grant to be given (C5). ``riskLevel`` is the gravest that it lets through; what is
    destructive is approved each time.
    """

    principal: PrincipalName = Field(description="Whose runs: `token:NAME`, `local:UID`.")
    scope: ScopeGiven
    risk_level: Literal["read", "write"] = Field(
        default="write", description="`read`: egress alone; `write`: sends and changes too."
    )
    ttl_seconds: int = Field(ge=TTL_S_MIN, le=TTL_S_MAX)
    uses: int | None = Field(
        default=None, ge=1, le=USES_MAX, description="For so many calls; null: until it expires."
    )
    reason: str = Field(default="", max_length=WHY_CHARS)


class GrantTakenBack(Camel):
    """A grant to be taken back."""

    why: str = Field(
        default="", max_length=WHY_CHARS, description="Why; it stands in the grant's audit."
    )


SHAPES = (GrantView, GrantPage, GrantGiven, GrantTakenBack)
_AT = "2026-01-05T08:00:00.000000+00:00"
_SCOPE: dict[str, Any] = {
    "capabilities": ["mail.send"],
    "targets": ["ada@example.org"],
    "constraints": {},
}
_GIVEN = {
    "principal": "token:web",
    "scope": _SCOPE,
    "riskLevel": "write",
    "ttlSeconds": 3600,
    "uses": 5,
    "reason": "the weekly report",
}
_WORDS = (
    "Runs of token:web may make these calls without being asked: mail.send.\n"
    'Only where every recipient, target and address is one of: "ada@example.org".'
)
_VIEW: dict[str, Any] = {
    "grantId": "3f" * 16,
    "principal": "token:web",
    "scope": _SCOPE,
    "riskLevel": "write",
    "ttlSeconds": 3600,
    "expiresAt": "2026-01-05T09:00:00.000000+00:00",
    "usesLeft": 5,
    "callsLeft": {},
    "reason": "the weekly report",
    "words": _WORDS,
    "stands": True,
    "audit": {
        "by": "token:ops",
        "at": _AT,
        "approvalId": None,
        "revokedBy": None,
        "revokedAt": None,
        "revokedWhy": None,
    },
}
_TAKEN = {
    **_VIEW,
    "stands": False,
    "audit": {
        **_VIEW["audit"],
        "revokedBy": "token:ops",
        "revokedAt": _AT,
        "revokedWhy": "it was sent",
    },
}
GIVE = documented(GrantGiven, GrantView, example=_GIVEN, answer=_VIEW)
TAKE = documented(GrantTakenBack, GrantView, example={"why": "it was sent"}, answer=_TAKEN)


def grant_view(grant: Grant, runtime: Runtime) -> GrantView:
    """A grant as people see it."""
    now = runtime.services.clock.now()
    audit = grant.audit
    return GrantView(
        grant_id=grant.grant_id,
        principal=grant.principal,
        scope=GrantScopeView(
            capabilities=grant.scope.capabilities,
            targets=grant.scope.targets,
            constraints=grant.scope.constraints,
        ),
        risk_level=grant.risk_level,
        ttl_seconds=grant.ttl_seconds,
        expires_at=moment(grant.expires_at),
        uses_left=grant.uses_left,
        calls_left=grant.calls_left,
        reason=grant.reason,
        words=grant_words(grant, runtime.catalog),
        stands=grant.stands(now),
        audit=GrantAuditView(
            by=audit.by,
            at=moment(audit.at),
            approval_id=audit.approval or None,
            revoked_by=audit.revoked_by or None,
            revoked_at=moment(audit.revoked_at) if audit.revoked_at else None,
            revoked_why=audit.revoked_why or None,
        ),
    )


def grants_router(face: Face) -> Resource:
    """The grants' routes."""
    router = resource("approvals", prefix="/grants")
    runtime = face.runtime

    @router.get(
        "", **refusing(shown(GrantPage, example={"grants": [_VIEW], "next": None}), "unknown_page")
    )
    async def list_grants(
        every: Annotated[
            bool,
            from_query(alias="all", description="Also those that are spent, over or taken back."),
        ] = False,
        limit: Annotated[int, from_query(ge=1, le=PAGE_MAX)] = 50,
        before: Annotated[
            str | None,
            from_query(
                max_length=64, description="The page after this one: `next` of the page before."
            ),
        ] = None,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Grants, the latest first: those that stand, or all."""
        found = await runtime.grants.listed(
            workspace, standing=not every, limit=limit, before=before, named=named
        )
        views = [grant_view(grant, runtime) for grant in found]
        return Json(
            GrantPage(grants=views, next=found[-1].grant_id if len(found) == limit else None)
        )

    @router.post(
        "",
        **refusing(
            GIVE,
            "not_an_approver",
            "own_request",
            "approver_unknown",
            "invalid_grant",
            "not_grantable",
            "unknown_verb",
        ),
    )
    async def give_grant(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Say yes beforehand to calls by somebody's runs; whoever may approve such calls may."""
        given = await read(request, GrantGiven, face.body)
        offer = GrantOffer(
            principal=given.principal,
            capabilities=tuple(given.scope.capabilities),
            targets=None if given.scope.targets is None else tuple(given.scope.targets),
            constraints={name: one.bounds() for name, one in given.scope.constraints.items()},
            risk_level=RiskLevel(given.risk_level),
            ttl_s=given.ttl_seconds,
            uses=given.uses,
            reason=given.reason,
        )
        return Json(
            grant_view(await runtime.grants.give(workspace, offer, face.decides(request)), runtime)
        )

    @router.post("/{grant}/revoke", **refusing(TAKE, "grant_not_found", "not_an_approver"))
    async def revoke_grant(
        grant: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Take a grant back: no call is let through by it any more. Who did, and why, stands in its
        audit.
        """
        given = await read(request, GrantTakenBack, face.body)
        return Json(
            grant_view(
                await runtime.grants.revoke(workspace, grant, face.decides(request), given.why),
                runtime,
            )
        )

    return router
