"""Rule ``rate``: may one more request come now.

A token bucket in whole numbers: each request takes ``COST * seconds`` out, each microsecond puts
``requests`` back, and what a full bucket holds are the requests of one period. So nothing is lost
to rounding, however often it is asked.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class RateReason(Reason):
    """Whether a token's bucket covers a request."""

    GRANTED = "rate.granted", "The bucket covers the request."
    SPENT = "rate.spent", "The bucket is empty: it fills with time."


COST = 1_000_000
"""What a request takes out, for each second of the period."""


class RateFacts(Struct, frozen=True, kw_only=True):
    """The rate, what the bucket held when it was last looked at, and how long ago that was in
    microseconds. ``level`` None is a full bucket.
    """

    requests: int
    seconds: int
    level: int | None = None
    elapsed_us: int = 0


class Granted(Struct, frozen=True, tag="granted"):
    """One more may come; ``level`` is what the bucket holds after it."""

    level: int


class Spent(Struct, frozen=True, tag="spent"):
    """None may come now; one may after ``retry_after_s`` seconds, rounded up."""

    level: int
    retry_after_s: int


def decide_rate(facts: RateFacts, inputs: None, policy: Policy) -> Decision[Granted | Spent]:
    """The bucket as it is now, and whether it covers a request. A clock that stepped back fills
    nothing.
    """
    cost = COST * max(1, facts.seconds)
    full = cost * max(0, facts.requests)
    level = (
        full
        if facts.level is None
        else min(full, max(0, facts.level) + max(0, facts.elapsed_us) * max(0, facts.requests))
    )
    if level >= cost:
        return Decision(outcome=Granted(level - cost), reason=RateReason.GRANTED)
    missing = -(-(cost - level) // max(1, facts.requests))  # in microseconds, rounded up
    return Decision(outcome=Spent(level, -(-missing // 1_000_000)), reason=RateReason.SPENT)


RATE: Rule[RateFacts, None, Any] = Rule(
    name="rate", outcome=Granted | Spent, apply=decide_rate, reasons=(RateReason,)
)
