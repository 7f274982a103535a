"""Rule ``hedge``: is a second model asked too, should the first be slow? Asked only in lanes where
policy names a delay.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Lane, Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class HedgeReason(Reason):
    """Why a second model is asked too, or is not."""

    SECOND = "hedge.second", "Policy lets a second model be asked too if the first is slow."
    ALONE = (
        "hedge.alone",
        "No second model is asked: none is left, or the budget or the time does not cover it.",
    )


class AskSecond(Struct, frozen=True, tag="second"):
    """The lane's next profile is asked as well if there is no answer after ``after_ms``; the first
    answer counts.
    """

    after_ms: int


class AskAlone(Struct, frozen=True, tag="alone"):
    """Only one model is asked."""


class HedgeFacts(Struct, frozen=True, kw_only=True):
    """The lane, how many of its profiles come after this one, whether the budget covers both calls,
    and the time left.
    """

    lane: Lane
    profiles_left: int
    covered: bool
    left_ms: int


def decide_hedge(facts: HedgeFacts, inputs: None, policy: Policy) -> Decision[AskSecond | AskAlone]:
    """Where there is a second model, money for both and time for it."""
    after_ms = policy.fallback.hedge_ms.get(facts.lane, 0)
    if after_ms and facts.profiles_left and facts.covered and facts.left_ms > after_ms:
        return Decision(outcome=AskSecond(after_ms), reason=HedgeReason.SECOND)
    return Decision(outcome=AskAlone(), reason=HedgeReason.ALONE)


HEDGE: Rule[HedgeFacts, None, Any] = Rule(
    name="hedge", outcome=AskSecond | AskAlone, apply=decide_hedge, reasons=(HedgeReason,)
)
