"""Rule ``grant`` (shared): is there a grant that covers exactly this call, and has it a use left? Its last use two runs cannot both take."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.approvals import Tier, covers_tier
from ordain.contracts.policy import Policy
from ordain.contracts.risk import RiskLevel
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class GrantReason(Reason):
    """Why a call is granted or is not."""

    TAKEN = "grant.taken", "A grant covers the call, and one use of it is taken."
    NONE = "grant.none", "No grant stands for whoever asked for the run."
    OUTSIDE = "grant.outside", "Grants stand, and none of them covers the call."


class GrantFact(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A grant as the transaction reads it: when it expires, the uses that are left (None: no bound), and why it is not for this call ("": it is)."""

    grant: str
    by: str
    level: RiskLevel
    expires_at: int
    uses_left: int | None = None
    outside: str = ""


class GrantFacts(Struct, frozen=True, kw_only=True):
    """The call by verb, digest and tier; the moment, in microseconds since 1970; the grants that stand for whoever asked for the run."""

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
    standing = [one for one in facts.grants if facts.at < one.expires_at and (one.uses_left is None or one.uses_left > 0)]
    for one in standing:
        if not one.outside and covers_tier(one.level, facts.tier):
            return Decision(outcome=GrantTaken(one.grant, one.by), reason=GrantReason.TAKEN)
    return Decision(outcome=NoGrant(), reason=GrantReason.OUTSIDE if standing else GrantReason.NONE)


GRANT: Rule[GrantFacts, None, Any] = Rule(name="grant", outcome=GrantOutcome, apply=decide_grant, reasons=(GrantReason,))
