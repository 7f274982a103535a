"""The house's rules by who asks them: what reads recorded decisions back finds here what they mean.
A value that is passed in.

The house has what the port, the doors and the steps that kinds share ask; every other rule is
brought by the kinds that ask it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from ordain.rules.access import ACCESS
from ordain.rules.approve import APPROVE
from ordain.rules.attach import ATTACH
from ordain.rules.authorize import AUTHORIZE
from ordain.rules.budget import CARVE, RESERVE, SETTLE
from ordain.rules.chain_end import CHAIN_END
from ordain.rules.claim_approval import CLAIM_APPROVAL
from ordain.rules.configure import CONFIGURE
from ordain.rules.continuation import CONTINUATION
from ordain.rules.council import COUNCIL
from ordain.rules.decision import Rule
from ordain.rules.fallback import FALLBACK
from ordain.rules.grant import GRANT
from ordain.rules.guardrail import GUARDRAIL
from ordain.rules.handoff import HANDOFF
from ordain.rules.hedge import HEDGE
from ordain.rules.history import HISTORY
from ordain.rules.lane import LANE
from ordain.rules.limits import LIMITS
from ordain.rules.proceed import PROCEED
from ordain.rules.profile import PROFILE
from ordain.rules.profile_choice import PROFILE_CHOICE
from ordain.rules.quorum import QUORUM
from ordain.rules.rate import RATE
from ordain.rules.reasons import Reason
from ordain.rules.recover import RECOVER
from ordain.rules.retry import RETRY
from ordain.rules.safety import SAFETY
from ordain.rules.scope import SCOPE
from ordain.rules.step import REASK, STEP

Rulebook = Mapping[str, Rule[Any, Any, Any]]

ASKED_IN_STEPS: tuple[Rule[Any, Any, Any], ...] = (
    *(STEP, REASK, PROCEED, SAFETY, CHAIN_END, LIMITS, SCOPE),
    *(LANE, FALLBACK, HEDGE, RETRY, HISTORY, PROFILE, HANDOFF, GUARDRAIL),
    *(QUORUM, COUNCIL),
)
"""What the steps that kinds share ask, so that every flow may."""
ASKED_BY_PORT: tuple[Rule[Any, Any, Any], ...] = (RESERVE, SETTLE, AUTHORIZE, RECOVER)
"""What the port asks alone: what they grant a flow cannot give itself."""
ASKED_BY_CLAIM: tuple[Rule[Any, Any, Any], ...] = (CARVE, ATTACH, GRANT)
"""The shared rules: their facts are read inside the write transaction (``rules.shared``)."""
ASKED_AT_DOOR: tuple[Rule[Any, Any, Any], ...] = (
    ACCESS,
    RATE,
    APPROVE,
    CLAIM_APPROVAL,
    CONFIGURE,
    CONTINUATION,
    PROFILE_CHOICE,
)
"""What is asked of somebody from outside: no run's record holds the decision."""
NO_FLOW_ASKS = frozenset(rule.name for rule in (*ASKED_BY_PORT, *ASKED_BY_CLAIM, *ASKED_AT_DOOR))


def rulebook(more: Iterable[Rule[Any, Any, Any]] = ()) -> Rulebook:
    """The house's rules and ``more``, by name.

    Raises:
        ValueError: two rules have one name, or one code means two things.
    """
    book: dict[str, Rule[Any, Any, Any]] = {}
    meanings: dict[str, object] = {}
    for rule in (*ASKED_IN_STEPS, *ASKED_BY_PORT, *ASKED_BY_CLAIM, *ASKED_AT_DOOR, *more):
        if book.setdefault(rule.name, rule) is not rule:
            raise ValueError(f"there are two rules {rule.name}")
        for code, reason in _codes(rule.reasons):
            if meanings.setdefault(code, reason) is not reason:
                raise ValueError(f"reason {code} of rule {rule.name} is another rule's")
    return book


@lru_cache(maxsize=256)
def _codes(reasons: tuple[type[Reason], ...]) -> tuple[tuple[str, Reason], ...]:
    return tuple((reason.value, reason) for one in reasons for reason in one)
