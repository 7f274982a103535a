"""The grants' side of the door: a yes beforehand, given by somebody who may, looked at and taken
back. Runs take their uses by a claim of their own.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.access import Principal, principal_of
from ordain.contracts.approvals import (
    GRANTABLE,
    TIERS,
    ApprovalRule,
    Grant,
    GrantAudit,
    GrantScope,
    Tier,
    covers_tier,
)
from ordain.contracts.catalog import Catalog
from ordain.contracts.nearest import as_given, did_you_mean
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import GLOB_SIGNS, Constraint
from ordain.effects.calls import Call
from ordain.errors import InvalidRequest, NotFound, unknown_page
from ordain.journal.digests import derived_id
from ordain.ports.approvals import GrantRevoked
from ordain.ports.shared import GrantRead, Ruling, Shared, SharedRead
from ordain.ports.store import Arrive
from ordain.rules.approve import APPROVE, ApproveReason, MayDecide
from ordain.rules.bounds import designated, named_bounds
from ordain.rules.grant import reach_of
from ordain.runtime.approvers import check_why, giving, may_approve, refusal
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.approvals")
TTL_S_MIN, TTL_S_MAX = 10, 7_776_000
CAPABILITIES_MAX = 50
TARGETS_MAX, TARGET_CHARS = 200, 500
PAGE_MAX = 200


class GrantOffer(Struct, frozen=True, kw_only=True):
    """A grant to be given: to whose runs, for what, of which risk level, how long and how often
    (None: until it expires).
    """

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

    def __init__(self, services: Services) -> None:
        """Reads rows through their port, and writes units."""
        self._services, self._rows = services, services.approvals

    async def listed(
        self,
        workspace: str,
        *,
        standing: bool = True,
        limit: int = 50,
        before: str | None = None,
        named: str = "",
    ) -> Sequence[Grant]:
        """Grants, the latest first: those that stand, or all; ``before`` is a grant's id, ``named``
        what an id begins or ends with.

        Raises:
            InvalidRequest: there is no grant ``before`` (``unknown_page``).
        """
        if before is not None and await self._rows.grant(workspace, before) is None:
            raise unknown_page("grant", before)
        at = self._services.clock.now() if standing else None
        return await self._rows.grants(
            workspace, standing_at=at, limit=min(limit, PAGE_MAX), before=before, named=named
        )

    async def give(self, workspace: str, offer: GrantOffer, principal: Principal | str) -> Grant:
        """Give a grant; it holds for runs of that principal in this workspace from now on.

        Raises:
            Refused: ``not_an_approver``, ``own_request``, ``approver_unknown``, by the rows of
                policy about whatever it may be used for.
            InvalidRequest: it is none that may be given (``invalid_grant``, ``not_grantable``).
            NotFound: it names a verb that there is not (``unknown_verb``).
        """
        who, policy = principal_of(principal), self._services.catalogs.current.policy
        grant = new_grant(self._services, offer, who)
        rows = [row for row in policy.approvals.rules if _may_concern(row, offer)]
        made = APPROVE.apply(
            giving(
                who, rows, policy.approvals, offer.principal, apart=policy.profile.wants_another
            ),
            None,
            policy,
        )
        if not isinstance(made.outcome, MayDecide):
            LOG.warning("grant for=%r by=%r refused=%s", offer.principal, who.name, made.reason)
            raise refusal(str(made.reason))
        await self._submit(workspace, (), lambda: Ruling(writes=(grant,)))
        LOG.info("grant=%s for=%r by=%r", grant.grant_id, grant.principal, who.name)
        return grant

    async def revoke(
        self, workspace: str, grant: str, principal: Principal | str, why: str = ""
    ) -> Grant:
        """Take a grant back, and keep who did and why: no call is granted by it any more.

        Raises:
            NotFound: ``grant_not_found``.
            Refused: ``not_an_approver``.
            InvalidRequest: ``why_too_long``.
        """
        check_why(why)
        who, at = principal_of(principal), self._services.clock.now()
        if not may_approve(who):
            raise refusal(ApproveReason.NOT_AN_APPROVER.value)

        def decide(found: Grant | None) -> Ruling:
            return (
                Ruling(refused="grant_not_found")
                if found is None
                else Ruling(writes=(GrantRevoked(grant=grant, by=who.name, at=at, why=why),))
            )

        refused = await self._submit(workspace, (GrantRead(grant=grant),), decide)
        found = None if refused else await self._rows.grant(workspace, grant)
        if found is None:
            raise NotFound(f"there is no grant {as_given(grant, 64)}", code="grant_not_found")
        LOG.info("grant=%s revoked by=%r", grant, who.name)
        return found

    async def _submit(
        self, workspace: str, reads: tuple[SharedRead, ...], decide: Callable[..., Any]
    ) -> str:
        return (
            await self._services.store.submit(
                Arrive(workspace=workspace, shared=Shared(reads=reads, decide=decide))
            )
        ).refused


def new_grant(services: Services, offer: GrantOffer, who: Principal, approval: str = "") -> Grant:
    """The grant that is offered, with the id and the moment that it gets; ``approval`` is the one
    that it comes with.

    Raises:
        InvalidRequest: it is none that may be given, or would be for nothing.
        NotFound: it names a verb that there is not.
    """
    check_why(offer.reason)
    if not TTL_S_MIN <= offer.ttl_s <= TTL_S_MAX:
        raise InvalidRequest(
            f"a grant lasts {TTL_S_MIN} to {TTL_S_MAX} seconds", code="invalid_grant"
        )
    if offer.uses is not None and not 1 <= offer.uses < 2**53:
        raise InvalidRequest("a grant is for one call at least", code="invalid_grant")
    if not 1 <= len(offer.capabilities) <= CAPABILITIES_MAX or not all(offer.capabilities):
        raise InvalidRequest(f"a grant names 1 to {CAPABILITIES_MAX} verbs", code="invalid_grant")
    if offer.risk_level not in GRANTABLE.values():
        raise InvalidRequest(DESTRUCTIVE, code="not_grantable")
    _check_whom(offer)
    catalog = services.catalogs.current
    covered = _checked_reach(offer, catalog)
    at = services.clock.now()
    return Grant(
        grant_id=derived_id(services.clock.new_run_id(), "grant"),
        principal=offer.principal,
        scope=GrantScope(
            capabilities=offer.capabilities,
            targets=offer.targets,
            constraints=dict(offer.constraints),
        ),
        risk_level=offer.risk_level,
        ttl_seconds=offer.ttl_s,
        expires_at=at + offer.ttl_s * 1_000_000,
        reason=offer.reason,
        audit=GrantAudit(by=who.name, at=at, approval=approval),
        uses_left=offer.uses,
        declared={verb: catalog.declared(verb) for verb in covered},
    )


DESTRUCTIVE = "what is destructive is approved each time, and never granted"


def _check_whom(offer: GrantOffer) -> None:
    """It is for one principal's runs, and where it says about whom, for somebody."""
    principal, targets = offer.principal, offer.targets
    if (
        principal != principal.strip()
        or not principal.isprintable()
        or not GLOB_SIGNS.isdisjoint(principal)
    ):
        raise InvalidRequest(
            "a grant is for the runs of one principal by its name, and for nobody else's",
            code="invalid_grant",
        )
    if not principal:
        raise InvalidRequest("a grant names whose runs it is for", code="invalid_grant")
    if targets is not None and not (
        1 <= len(targets) <= TARGETS_MAX and all(1 <= len(one) <= TARGET_CHARS for one in targets)
    ):
        raise InvalidRequest(
            f"targets are 1 to {TARGETS_MAX}, each of 1 to {TARGET_CHARS} characters",
            code="invalid_grant",
        )


def _checked_reach(offer: GrantOffer, catalog: Catalog) -> tuple[str, ...]:
    """The verbs that it is for. Everything that it names is something that it can be for: a grant
    that covers nothing would be taken for one that does.
    """
    reach = reach_of(offer.capabilities, offer.risk_level, catalog)
    if reach.unknown:
        meant = did_you_mean(reach.unknown[0], catalog.verbs) if len(reach.unknown) == 1 else ""
        raise NotFound(
            f"there is no verb {', '.join(map(as_given, reach.unknown))[:200]}{meant}",
            code="unknown_verb",
        )
    if reach.idle:
        idle = ", ".join(reach.idle)[:200]
        if any(catalog.named_by(one).intersection(reach.each_time) for one in reach.idle):
            raise InvalidRequest(f"{idle}: {DESTRUCTIVE}", code="not_grantable")
        if any(catalog.hands_on(verb) for one in reach.idle for verb in catalog.named_by(one)):
            raise InvalidRequest(
                f"{idle}: handing work to an agent is granted by its name, and by no glob",
                code="not_grantable",
            )
        raise InvalidRequest(
            f"{idle}: it needs nobody's yes, or a grant of a higher risk level",
            code="not_grantable",
        )
    for name, bound in offer.constraints.items():
        if not any(named_bounds({name: bound}, verb) for verb in reach.covered):
            raise InvalidRequest(
                f"constraints: {name[:128]} is none of the verbs that the grant is for",
                code="invalid_grant",
            )
        if bound.max_calls is not None and bound.max_calls < 1:
            raise InvalidRequest(
                f"constraints: maxCalls of {name[:128]} is 1 at least", code="invalid_grant"
            )
        if bound.max_amount is not None and bound.max_amount < 0:
            raise InvalidRequest(
                f"constraints: maxAmount of {name[:128]} is 0 at least", code="invalid_grant"
            )
    return reach.covered


def narrowed(
    calls: Sequence[Call], level: RiskLevel, catalog: Catalog, *, anybody: bool
) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """The verbs and targets of a grant for more calls like these: exactly those that they name; for
    ``anybody`` where somebody says so.

    Raises:
        InvalidRequest: they name nobody, or each somebody else, which one grant cannot say.
    """
    asking = [
        call
        for call in calls
        if call.verb in catalog.verbs and catalog.verbs[call.verb].spec.effect in TIERS
    ] or calls
    covered = reach_of([call.verb for call in asking], level, catalog).covered
    if anybody or (covered and all(catalog.card_of(verb) is not None for verb in covered)):
        return covered, None
    named = {verb: _named(verb, asking, catalog) for verb in covered}
    targets = next(iter(named.values()), ())
    if not targets:
        raise InvalidRequest(
            "the call names no recipient or target: only a grant for any can come with it "
            "(anyTarget)",
            code="invalid_grant",
        )
    if any(set(one) != set(targets) for one in named.values()):
        raise InvalidRequest(
            "the calls name different recipients or targets: give a grant for each by itself",
            code="invalid_grant",
        )
    return covered, targets


def _named(verb: str, calls: Iterable[Call], catalog: Catalog) -> tuple[str, ...]:
    """Whom and what calls of a verb name, each once.

    Raises:
        InvalidRequest: one of them is nothing that a grant can name.
    """
    found: list[str] = []
    for call in calls:
        for value in designated(catalog.verbs[verb].spec, call.args) if call.verb == verb else ():
            if not isinstance(value, str) or not 1 <= len(value) <= TARGET_CHARS:
                raise InvalidRequest(
                    "the call names what a grant cannot: a recipient or target that is no "
                    "short text",
                    code="invalid_grant",
                )
            found.append(value)
    return tuple(dict.fromkeys(found))


def _may_concern(row: ApprovalRule, offer: GrantOffer) -> bool:
    """Whether a row of policy may be about something that is offered; of two globs nobody looks how
    far they meet.
    """
    tiers = [
        tier for tier in Tier if row.tier in (None, tier) and covers_tier(offer.risk_level, tier)
    ]
    return bool(tiers) and any(
        _is_glob(one) or row.fits(tiers[0], one) for one in offer.capabilities
    )


def _is_glob(name: str) -> bool:
    return not GLOB_SIGNS.isdisjoint(name)
