"""The grants' side of the door: a yes beforehand, given by somebody who may, looked at and taken back. Runs take their uses by a claim of their own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.access import Principal, principal_of
from ordain.contracts.approvals import GRANTABLE, ApprovalRule, Grant, GrantAudit, GrantScope, Tier, covers_tier
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import GLOB_SIGNS, Constraint
from ordain.errors import InvalidRequest, NotFound
from ordain.journal.digests import derived_id
from ordain.ports.approvals import Approvals, GrantRevoked
from ordain.ports.shared import GrantRead, Ruling, Shared, SharedRead
from ordain.ports.store import Arrive
from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, ApproveReason, MayDecide
from ordain.runtime.approvers import approver_facts, check_why, may_approve, refusal
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.approvals")
TTL_S_MIN, TTL_S_MAX = 10, 7_776_000
CAPABILITIES_MAX = 50
PAGE_MAX = 200


class GrantOffer(Struct, frozen=True, kw_only=True):
    """A grant to be given: to whose runs, for what, of which risk level, how long and how often (None: until it expires)."""

    principal: str
    capabilities: tuple[str, ...]
    ttl_s: int
    risk_level: RiskLevel = RiskLevel.WRITE
    uses: int | None = None
    targets: tuple[str, ...] | None = None
    constraints: Mapping[str, Constraint] = {}
    reason: str = ""


class GrantDesk:
    """What an approver may do with grants. Every method is bound to a workspace."""

    def __init__(self, services: Services, rows: Approvals) -> None:
        """Reads rows through their port, and writes units."""
        self._services, self._rows = services, rows

    async def listed(self, workspace: str, *, standing: bool = True, limit: int = 50, before: str | None = None) -> Sequence[Grant]:
        """Grants, the latest first: those that stand, or all; ``before`` is a grant's id."""
        at = self._services.clock.now() if standing else None
        return await self._rows.grants(workspace, standing_at=at, limit=min(limit, PAGE_MAX), before=before)

    async def give(self, workspace: str, offer: GrantOffer, principal: Principal | str) -> Grant:
        """Give a grant; it holds for runs of that principal in this workspace from now on.

        Raises:
            Refused: ``not_an_approver``, ``own_request``, ``approver_unknown``, by the rows of policy about whatever it may be used for.
            InvalidRequest: it is none that may be given (``invalid_grant``, ``not_grantable``).
        """
        who, policy = principal_of(principal), self._services.catalogs.current.policy
        grant = new_grant(self._services, offer, who)
        rows = [row for row in policy.approvals.rules if _may_concern(row, offer)]
        facts = ApproveFacts(
            state=ApprovalState.OPEN,
            to=ApprovalState.APPROVED,
            at=0,
            expires_at=1,
            same=True,
            **approver_facts(who, rows, policy.approvals, offer.principal),
        )
        made = APPROVE.apply(facts, None, policy)
        if not isinstance(made.outcome, MayDecide):
            LOG.warning("grant for=%r by=%r refused=%s", offer.principal, who.name, made.reason)
            raise refusal(str(made.reason))
        await self._submit(workspace, (), lambda: Ruling(writes=(grant,)))
        LOG.info("grant=%s for=%r by=%r", grant.grant_id, grant.principal, who.name)
        return grant

    async def revoke(self, workspace: str, grant: str, principal: Principal | str) -> Grant:
        """Take a grant back: no call is granted by it any more.

        Raises:
            NotFound: ``grant_not_found``.
            Refused: ``not_an_approver``.
        """
        who, at = principal_of(principal), self._services.clock.now()
        if not may_approve(who):
            raise refusal(ApproveReason.NOT_AN_APPROVER.value)

        def decide(found: Grant | None) -> Ruling:
            return Ruling(refused="grant_not_found") if found is None else Ruling(writes=(GrantRevoked(grant=grant, by=who.name, at=at),))

        refused = await self._submit(workspace, (GrantRead(grant=grant),), decide)
        found = None if refused else await self._rows.grant(workspace, grant)
        if found is None:
            raise NotFound(f"there is no grant {grant[:64]}", code="grant_not_found")
        LOG.info("grant=%s revoked by=%r", grant, who.name)
        return found

    async def _submit(self, workspace: str, reads: tuple[SharedRead, ...], decide: Callable[..., Any]) -> str:
        return (await self._services.store.submit(Arrive(workspace=workspace, shared=Shared(reads=reads, decide=decide)))).refused


def new_grant(services: Services, offer: GrantOffer, who: Principal, approval: str = "") -> Grant:
    """The grant that is offered, with the id and the moment that it gets; ``approval`` is the one that it comes with.

    Raises:
        InvalidRequest: it is none that may be given.
    """
    check_why(offer.reason)
    if not TTL_S_MIN <= offer.ttl_s <= TTL_S_MAX:
        raise InvalidRequest(f"a grant lasts {TTL_S_MIN} to {TTL_S_MAX} seconds", code="invalid_grant")
    if offer.uses is not None and not 1 <= offer.uses < 2**53:
        raise InvalidRequest("a grant is for one call at least", code="invalid_grant")
    if not offer.principal or not 1 <= len(offer.capabilities) <= CAPABILITIES_MAX or not all(offer.capabilities):
        raise InvalidRequest(f"a grant names a principal and 1 to {CAPABILITIES_MAX} verbs", code="invalid_grant")
    if offer.risk_level not in GRANTABLE.values():
        raise InvalidRequest("what is destructive is approved each time, and never granted", code="not_grantable")
    at = services.clock.now()
    return Grant(
        grant_id=derived_id(services.clock.new_run_id(), "grant"),
        principal=offer.principal,
        scope=GrantScope(capabilities=offer.capabilities, targets=offer.targets, constraints=dict(offer.constraints)),
        risk_level=offer.risk_level,
        ttl_seconds=offer.ttl_s,
        expires_at=at + offer.ttl_s * 1_000_000,
        reason=offer.reason,
        audit=GrantAudit(by=who.name, at=at, approval=approval),
        uses_left=offer.uses,
    )


def _may_concern(row: ApprovalRule, offer: GrantOffer) -> bool:
    """Whether a row of policy may be about something that is offered; of two globs nobody looks how far they meet."""
    tiers = [tier for tier in Tier if row.tier in (None, tier) and covers_tier(offer.risk_level, tier)]
    return bool(tiers) and any(_is_glob(one) or row.fits(tiers[0], one) for one in offer.capabilities)


def _is_glob(name: str) -> bool:
    return not GLOB_SIGNS.isdisjoint(name)
