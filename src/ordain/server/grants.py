"""``/grants``: what somebody has said yes to beforehand (C5): looked at, given and taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from ordain.contracts.approvals import WHY_CHARS, Grant, PrincipalName
from ordain.contracts.conversation import Camel, VerbName
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.moments import moment
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.runtime.grants import CAPABILITIES_MAX, PAGE_MAX, TTL_S_MAX, TTL_S_MIN, GrantOffer
from ordain.server.approvals import USES_MAX
from ordain.server.bodies import read
from ordain.server.documents import documented, shown
from ordain.server.face import Face, Json
from ordain.server.refusals import refusing
from ordain.server.shapes import CamelView, Moment
from ordain.server.workspaces import Workspace

LISTED = 200
GrantTarget = Annotated[str, Field(min_length=1, max_length=500)]


class GrantScopeView(CamelView, frozen=True):
    """What a grant is for: verb ids and globs, the only recipients and targets (null: any), bounds by verb id or glob."""

    capabilities: Sequence[str]
    targets: Sequence[str] | None
    constraints: Mapping[str, Constraint]


class GrantAuditView(CamelView, frozen=True):
    """Who gave it and when, with which approval, and who took it back."""

    by: str
    at: Moment
    approval_id: str | None
    revoked_by: str | None
    revoked_at: Moment | None


class GrantView(CamelView, frozen=True):
    """A yes beforehand (C5): whose runs it lets call what, until when and how often (``usesLeft`` null: until it expires)."""

    grant_id: str
    principal: str
    scope: GrantScopeView
    risk_level: RiskLevel
    ttl_seconds: int
    expires_at: Moment
    uses_left: int | None
    reason: str
    stands: bool
    audit: GrantAuditView


class GrantPage(CamelView, frozen=True):
    """Grants, the latest first; ``next`` is what ``before`` asks the next page with, null where there is none."""

    grants: Sequence[GrantView]
    next: str | None


class BoundsGiven(Camel):
    """Bounds of the calls of one verb, or of all that a glob names; what is absent bounds nothing."""

    domains_allowlist: list[GrantTarget] | None = Field(default=None, max_length=LISTED)
    paths: list[GrantTarget] | None = Field(default=None, max_length=LISTED)
    max_amount: int | None = Field(default=None, ge=0, le=2**53)
    max_calls: int | None = Field(default=None, ge=0, le=2**53)

    def bounds(self) -> Constraint:
        """As the door holds calls to them."""
        return Constraint(
            domains_allowlist=None if self.domains_allowlist is None else tuple(self.domains_allowlist),
            paths=None if self.paths is None else tuple(self.paths),
            max_amount=self.max_amount,
            max_calls=self.max_calls,
        )


class ScopeGiven(Camel):
    """What a grant is to be for."""

    capabilities: list[VerbName] = Field(min_length=1, max_length=CAPABILITIES_MAX, description="Verb ids and globs.")
    targets: list[GrantTarget] | None = Field(default=None, max_length=LISTED, description="The only recipients and targets; null: any.")
    constraints: dict[VerbName, BoundsGiven] = Field(default={}, max_length=CAPABILITIES_MAX)


class GrantGiven(Camel):
    """A grant to be given (C5). ``riskLevel`` is the gravest that it lets through; what is destructive is approved each time."""

    principal: PrincipalName = Field(description="Whose runs: `token:NAME`, `local:UID`.")
    scope: ScopeGiven
    risk_level: Literal["read", "write"] = Field(default="write", description="`read`: egress alone; `write`: sends and changes too.")
    ttl_seconds: int = Field(ge=TTL_S_MIN, le=TTL_S_MAX)
    uses: int | None = Field(default=None, ge=1, le=USES_MAX, description="For so many calls; null: until it expires.")
    reason: str = Field(default="", max_length=WHY_CHARS)


SHAPES = (GrantView, GrantPage, GrantGiven)
_AT = "2026-01-05T08:00:00.000000+00:00"
_SCOPE: dict[str, Any] = {"capabilities": ["mail.send"], "targets": ["ada@example.org"], "constraints": {}}
_GIVEN = {"principal": "token:web", "scope": _SCOPE, "riskLevel": "write", "ttlSeconds": 3600, "uses": 5, "reason": "the weekly report"}
_VIEW: dict[str, Any] = {
    "grantId": "3f" * 16,
    "principal": "token:web",
    "scope": _SCOPE,
    "riskLevel": "write",
    "ttlSeconds": 3600,
    "expiresAt": "2026-01-05T09:00:00.000000+00:00",
    "usesLeft": 5,
    "reason": "the weekly report",
    "stands": True,
    "audit": {"by": "token:ops", "at": _AT, "approvalId": None, "revokedBy": None, "revokedAt": None},
}
_TAKEN = {**_VIEW, "stands": False, "audit": {**_VIEW["audit"], "revokedBy": "token:ops", "revokedAt": _AT}}
GIVE = documented(GrantGiven, GrantView, example=_GIVEN, answer=_VIEW)


def grant_view(grant: Grant, now: int) -> GrantView:
    """A grant as people see it."""
    audit = grant.audit
    return GrantView(
        grant_id=grant.grant_id,
        principal=grant.principal,
        scope=GrantScopeView(capabilities=grant.scope.capabilities, targets=grant.scope.targets, constraints=grant.scope.constraints),
        risk_level=grant.risk_level,
        ttl_seconds=grant.ttl_seconds,
        expires_at=moment(grant.expires_at),
        uses_left=grant.uses_left,
        reason=grant.reason,
        stands=grant.stands(now),
        audit=GrantAuditView(
            by=audit.by,
            at=moment(audit.at),
            approval_id=audit.approval or None,
            revoked_by=audit.revoked_by or None,
            revoked_at=moment(audit.revoked_at) if audit.revoked_at else None,
        ),
    )


def grants_router(face: Face) -> APIRouter:
    """The grants' routes."""
    router = APIRouter(prefix="/grants", tags=["approvals"])
    runtime = face.runtime

    @router.get("", **shown(GrantPage, example={"grants": [_VIEW], "next": None}))
    async def list_grants(
        every: Annotated[bool, Query(alias="all", description="Also those that are spent, over or taken back.")] = False,
        limit: Annotated[int, Query(ge=1, le=PAGE_MAX)] = 50,
        before: Annotated[str | None, Query(max_length=64, description="The page after this one: `next` of the page before.")] = None,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Grants, the latest first: those that stand, or all."""
        found = await runtime.grants.listed(workspace, standing=not every, limit=limit, before=before)
        views = [grant_view(grant, runtime.services.clock.now()) for grant in found]
        return Json(GrantPage(grants=views, next=found[-1].grant_id if len(found) == limit else None))

    @router.post("", **refusing(GIVE, "not_an_approver", "own_request", "approver_unknown", "invalid_grant", "not_grantable"))
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
        return Json(grant_view(await runtime.grants.give(workspace, offer, face.decides(request)), runtime.services.clock.now()))

    @router.post("/{grant}/revoke", **refusing(shown(GrantView, example=_TAKEN), "grant_not_found", "not_an_approver"))
    async def revoke_grant(grant: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Take a grant back: no call is let through by it any more."""
        return Json(grant_view(await runtime.grants.revoke(workspace, grant, face.decides(request)), runtime.services.clock.now()))

    return router
