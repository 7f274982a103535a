"""Rule ``limits``: what a request may use (PLN-15, PLN-25, B-44). A server cap lowers, nothing
raises.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Raw, Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule, tells_of
from ordain.rules.reasons import Reason


class LimitsReason(Reason):
    """Whether a server cap lowered a limit (PLN-15, B-42, B-44)."""

    AS_ASKED = "limits.as_asked", "The request's limits hold."
    CLAMPED = "limits.clamped", "A server cap lowered at least one limit."


class LimitsFacts(Struct, frozen=True, kw_only=True):
    """What the request asks for."""

    max_steps: int
    max_tokens_reason: int
    max_tokens_answer: int
    timeout_ms: int


class LimitsSet(Struct, frozen=True, kw_only=True, tag="limits"):
    """What holds; ``clamped`` names the fields that a cap lowered."""

    max_steps: int
    max_tokens_reason: int
    max_tokens_answer: int
    timeout_ms: int
    clamped: tuple[str, ...] = ()


def decide_limits(facts: LimitsFacts, inputs: None, policy: Policy) -> Decision[LimitsSet]:
    """The lower of request and cap, field by field."""
    caps = policy.limits
    asked = {
        "max_steps": (facts.max_steps, caps.max_steps),
        "max_tokens_reason": (facts.max_tokens_reason, caps.max_tokens_reason),
        "max_tokens_answer": (facts.max_tokens_answer, caps.max_tokens_answer),
        "timeout_ms": (facts.timeout_ms, round(caps.timeout_seconds * 1000)),
    }
    held = {name: min(pair) for name, pair in asked.items()}
    clamped = tuple(name for name, (want, cap) in asked.items() if want > cap)
    reason = LimitsReason.CLAMPED if clamped else LimitsReason.AS_ASKED
    return Decision(outcome=LimitsSet(clamped=clamped, **held), reason=reason)


_LIMITS = msgspec.json.Decoder(LimitsSet)


def _clamped(outcome: Raw) -> str:
    return ", ".join(_LIMITS.decode(outcome).clamped)


LIMITS: Rule[LimitsFacts, None, Any] = Rule(
    name="limits",
    outcome=LimitsSet,
    apply=decide_limits,
    reasons=(LimitsReason,),
    tells=tells_of("limits", (LimitsReason.CLAMPED,), _clamped),
)
