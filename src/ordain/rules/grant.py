"""Rule ``grant`` (shared): is there a grant that covers exactly this call, and has it a use left?
Its last use two runs cannot both take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ordain.contracts.approvals import GRANTABLE, TIERS, Tier, covers_tier
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Policy
from ordain.contracts.risk import RiskLevel
from ordain.contracts.tiers import GUARDED
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class GrantReason(Reason):
    """Why a call is granted or is not."""

    TAKEN = "grant.taken", "A grant covers the call, and one use of it is taken."
    NONE = "grant.none", "No grant stands for whoever asked for the run."
    OUTSIDE = "grant.outside", "Grants stand, and none of them covers the call."


class GrantFact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A grant as the transaction reads it: when it expires, the uses that are left (None: no
    bound), and why it is not for this call ("": it is).
    """

    grant: str
    by: str
    level: RiskLevel
    expires_at: int
    uses_left: int | None = None
    outside: str = ""


class GrantFacts(Struct, frozen=True, kw_only=True):
    """The call by verb, digest and tier; the moment, in microseconds since 1970; the grants that
    stand for whoever asked for the run.
    """

    verb: str
    call: str
    tier: Tier
    at: int
    grants: tuple[GrantFact, ...] = ()


class GrantTaken(Struct, frozen=True, tag="taken"):
    """One use of this grant is the call's."""

    grant: str
    by: str


class NoGrant(Struct, frozen=True, tag="none"):
    """Nothing is taken."""


GrantOutcome = GrantTaken | NoGrant


def decide_grant(facts: GrantFacts, inputs: None, policy: Policy) -> Decision[GrantOutcome]:
    """The first grant that stands and covers the call."""
    standing = [
        one
        for one in facts.grants
        if facts.at < one.expires_at and (one.uses_left is None or one.uses_left > 0)
    ]
    for one in standing:
        if not one.outside and covers_tier(one.level, facts.tier):
            return Decision(outcome=GrantTaken(one.grant, one.by), reason=GrantReason.TAKEN)
    return Decision(outcome=NoGrant(), reason=GrantReason.OUTSIDE if standing else GrantReason.NONE)


GRANT: Rule[GrantFacts, None, Any] = Rule(
    name="grant", outcome=GrantOutcome, apply=decide_grant, reasons=(GrantReason,)
)


# --- what a grant can be for ----------------------------------------------------------------------


class GrantReach(Struct, frozen=True, kw_only=True):
    """What names and globs come to among the verbs that there are. Reads need no yes, and are none
    of these.

    ``covered`` are verbs that a grant is for, ``each_time`` those that are approved each time,
    ``graver`` those that need a higher risk level. Of the names and globs ``unknown`` ones name no
    verb, and ``idle`` ones none that it could be for.
    """

    covered: tuple[str, ...]
    each_time: tuple[str, ...]
    graver: tuple[str, ...]
    unknown: tuple[str, ...]
    idle: tuple[str, ...]


def reach_of(capabilities: Sequence[str], level: RiskLevel, catalog: Catalog) -> GrantReach:
    """What a grant of such a risk level would be for."""
    named = {capability: sorted(catalog.named_by(capability)) for capability in capabilities}
    tiers = {
        verb: _tier(verb, catalog, capabilities)
        for verb in sorted({verb for found in named.values() for verb in found})
    }
    covered = tuple(
        verb for verb, tier in tiers.items() if tier is not None and covers_tier(level, tier)
    )
    return GrantReach(
        covered=covered,
        each_time=tuple(
            verb for verb, tier in tiers.items() if tier is not None and tier not in GRANTABLE
        ),
        graver=tuple(
            verb for verb, tier in tiers.items() if tier in GRANTABLE and verb not in covered
        ),
        unknown=tuple(capability for capability, found in named.items() if not found),
        idle=tuple(
            capability
            for capability, found in named.items()
            if found and not set(found).intersection(covered)
        ),
    )


def _tier(verb: str, catalog: Catalog, capabilities: Sequence[str]) -> Tier | None:
    """What a call of a verb may need a yes for, in a guarded conversation too. Handing work to a
    card is granted by name, and by no glob.
    """
    if catalog.card_of(verb) is not None:
        return Tier.DELEGATION if verb in capabilities else None
    effect = catalog.verbs[verb].spec.effect
    return TIERS.get(effect) or GUARDED.get(effect)
