"""Approvals and grants: what a person is asked before a call is made, who may say yes, and what was
said yes to beforehand (C5).

Validation and the tables over a verb's effect; rule ``authorize`` decides what needs one, rule
``approve`` who may give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Annotated

from msgspec import Struct
from pydantic import Field, StringConstraints

from ordain.contracts.planner import Strict
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import CapabilityScope, Constraint
from ordain.contracts.verbs import VerbEffect

EXPIRES_S_MAX = 7_776_000
WHY_CHARS = 1000
"""Longest reason that somebody gives with a decision or a grant, in characters."""
PrincipalName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f\x7f]+$")]
"""A principal as policy names it: on one line."""
RoleName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,47}$")]


class Subject(StrEnum):
    """What an approval is of."""

    CALL = "call"
    PLAN = "plan"
    WORKFLOW = "workflow"
    EXPANSION = "expansion"
    REVIEW = "review"


class Tier(StrEnum):
    """What a person is asked about; the later, the graver (B-27)."""

    EGRESS = "egress"
    WRITE = "write"
    DESTRUCTIVE = "destructive"
    DELEGATION = "delegation"


TIERS: Mapping[VerbEffect, Tier] = MappingProxyType(
    {
        VerbEffect.EGRESS: Tier.EGRESS,
        VerbEffect.SEND: Tier.WRITE,
        VerbEffect.ADMIN: Tier.WRITE,
        VerbEffect.PAY: Tier.DESTRUCTIVE,
        VerbEffect.DELETE: Tier.DESTRUCTIVE,
        VerbEffect.SECRET: Tier.DESTRUCTIVE,
    }
)
"""The tier of a call that needs somebody's yes, by its verb's effect; what is not here needs
none.
"""
GRANTABLE: Mapping[Tier, RiskLevel] = MappingProxyType(
    {Tier.EGRESS: RiskLevel.READ, Tier.WRITE: RiskLevel.WRITE, Tier.DELEGATION: RiskLevel.WRITE}
)
"""The tiers that may be said yes to beforehand, each with the least risk level of such a grant;
what is destructive is approved each time.

A grant is for handing work to a card only where it names that card's verb: no glob does.
"""


class MayAsk(StrEnum):
    """Whom a run may ask for what it may not do by itself: grants that were given, or people too,
    for whom it waits.
    """

    GRANTS = "grants"
    PEOPLE = "people"


class Delegation(StrEnum):
    """When handing work to a card needs somebody's yes: always, where the specialist may do more
    than read, or never.
    """

    ALWAYS = "always"
    BEYOND_READ = "beyond_read"
    NEVER = "never"


class Consent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody's yes that a call rests on: an approval's id, or (``grant``) a grant's, and whose it
    is.

    ``told``: where what it is to may have happened already, as whoever said it was told; None of a
    yes that a build before took.
    """

    id: str
    by: str
    grant: bool = False
    told: tuple[str, ...] | None = None


class AwaitedApproval(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a thread waits for (C5's ``awaitingApproval``): the approval, the workflow that proposes
    it ("": none), and the entry that asks.
    """

    approval: str
    message_id: str
    workflow: str = ""


# --- policy ---------------------------------------------------------------------------------------


class ApprovalRule(Strict):
    """Who may approve what the row names. The first row that fits wins."""

    tier: Tier | None = Field(default=None, strict=False, description="Only what is of this tier.")
    verb: str | None = Field(
        default=None,
        min_length=1,
        max_length=128,
        description="Only calls of verbs that this glob names.",
    )
    role: RoleName | None = Field(
        default=None, description="Who approves is one of this role's principals."
    )
    not_requester: bool = Field(
        default=False, description="Who asked for the run does not approve what it does."
    )
    expires_s: int | None = Field(
        default=None,
        ge=10,
        le=EXPIRES_S_MAX,
        description="How long it stays open; absent: as the section says.",
    )

    def fits(self, tier: Tier, verb: str) -> bool:
        """Whether the row is about calls of this verb, of this tier."""
        return self.tier in (None, tier) and (self.verb is None or fnmatchcase(verb, self.verb))


ANYBODY = ApprovalRule()
"""Where no row fits: any principal with the scope ``approvals``."""


class ApprovalsPolicy(Strict):
    """Who may approve what, and how long it may take."""

    roles: dict[RoleName, list[PrincipalName]] = Field(
        default={},
        max_length=100,
        description="Principals by the name of a role: token:NAME, local:UID.",
    )
    rules: list[ApprovalRule] = Field(
        default=[],
        max_length=200,
        description="Who approves what: the first row that fits a call holds.",
    )
    expires_s: int = Field(
        default=86_400, ge=10, le=EXPIRES_S_MAX, description="How long an approval stays open."
    )
    delegation: Delegation = Field(
        default=Delegation.ALWAYS,
        strict=False,
        description=(
            "When handing work to a card needs somebody's yes: always, beyond_read (where it is "
            "handed more than reads), or never."
        ),
    )

    def rule(self, tier: Tier, verb: str) -> ApprovalRule:
        """The row about a call."""
        return next((row for row in self.rules if row.fits(tier, verb)), ANYBODY)

    def open_s(self, tier: Tier, verb: str) -> int:
        """How long an approval of a call stays open."""
        return self.rule(tier, verb).expires_s or self.expires_s

    def held_by(self, principal: str) -> frozenset[str]:
        """The roles that a principal has."""
        return frozenset(role for role, principals in self.roles.items() if principal in principals)


# --- grants ---------------------------------------------------------------------------------------


class GrantScope(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """What a grant is for: verb ids and globs, the only recipients, targets and addresses (None:
    any), bounds by verb id or glob.

    It is for no call that leaves open what one of these is about. ``max_calls`` of a bound counts
    over all runs.
    """

    capabilities: tuple[str, ...]
    targets: tuple[str, ...] | None = None
    constraints: dict[str, Constraint] = {}

    def permits(self, verb: str) -> bool:
        """Whether it is for calls of this verb."""
        return CapabilityScope(allowed=self.capabilities).permits(verb)


class GrantAudit(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """Who gave a grant and when, with which approval ("": by itself), who took it back, and why;
    times in microseconds since 1970, 0: not.
    """

    by: str
    at: int
    approval: str = ""
    revoked_by: str = ""
    revoked_at: int = 0
    revoked_why: str = ""


class Grant(Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A yes beforehand (C5): whose runs it lets call what, until when and how often (``uses_left``
    None: until it expires).

    ``calls`` are those that it let through, by the names of those of its bounds that say how many
    there may be. ``declared`` are the verbs that it is for, each with the digest of what it
    declared when the grant was given (``Catalog.declared``): what it declares otherwise by now
    nobody has said yes to.
    """

    grant_id: str
    principal: str
    scope: GrantScope
    risk_level: RiskLevel
    ttl_seconds: int
    expires_at: int
    reason: str
    audit: GrantAudit
    uses_left: int | None = None
    calls: dict[str, int] = {}
    declared: dict[str, str] = {}

    def is_for(self, verb: str, declared: str) -> bool:
        """Whether a verb that declares this is one that it was given for."""
        return self.declared.get(verb) == declared != ""

    @property
    def calls_left(self) -> dict[str, int]:
        """How many calls each of its bounds still has that says how many there may be."""
        bounds = self.scope.constraints.items()
        return {
            name: max(0, bound.max_calls - self.calls.get(name, 0))
            for name, bound in bounds
            if bound.max_calls is not None
        }

    def counted(self, bounds: Iterable[str]) -> dict[str, int]:
        """Its ``calls`` after one more that these bounds count."""
        return {**self.calls, **{name: self.calls.get(name, 0) + 1 for name in bounds}}

    def stands(self, now: int) -> bool:
        """Whether it still holds, by microseconds since 1970."""
        return (
            not self.audit.revoked_at
            and now < self.expires_at
            and (self.uses_left is None or self.uses_left > 0)
        )


RISK_ORDER: Mapping[RiskLevel, int] = MappingProxyType(
    {level: place for place, level in enumerate(RiskLevel)}
)


def covers_tier(level: RiskLevel, tier: Tier) -> bool:
    """Whether a grant of a risk level is for calls of a tier."""
    needed = GRANTABLE.get(tier)
    return needed is not None and RISK_ORDER[level] >= RISK_ORDER[needed]
