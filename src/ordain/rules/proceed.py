"""Rule ``proceed``: does a loop of steps go on (PLN-15, PLN-33, EXE-16, B-42)? Planner, supervisor
and whatever loops after them ask it after each step.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class ProceedReason(Reason):
    """Why a loop goes on or ends."""

    GO_ON = "proceed.go_on", "Steps, tokens and time are left."
    ANSWERED = "proceed.answered", "The answer is within its tokens."
    TOKENS = "proceed.tokens", "More tokens were used than the limits allow."
    STEPS = "proceed.steps", "Every permitted step was taken."
    TIME = "proceed.time", "The time is over."


class Bound(StrEnum):
    """What ends a loop that has no answer yet."""

    TOKENS = "tokens"
    STEPS = "steps"
    TIME = "time"


class GoOn(Struct, frozen=True, gc=False, tag="go_on"):
    """Another step may be taken; after a final answer: it stands."""


class Stop(Struct, frozen=True, gc=False, tag="stop"):
    """The loop ends here."""

    bound: Bound


class ProceedFacts(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What the limits leave after a step: steps, milliseconds, tokens for reasoning;
    ``answer_tokens`` is told after a final answer.

    Less than nothing is left of tokens that were overdrawn.
    """

    steps: int
    ms: int
    tokens: int
    answer_tokens: int | None = None


def decide_proceed(facts: ProceedFacts, inputs: None, policy: Policy) -> Decision[GoOn | Stop]:
    """Tokens first, then steps, then time; a final answer only has to be within its tokens."""
    if facts.answer_tokens is not None:
        if facts.answer_tokens < 0 or facts.tokens < 0:
            return Decision(outcome=Stop(Bound.TOKENS), reason=ProceedReason.TOKENS)
        return _ANSWERED
    if facts.tokens < 0:
        return Decision(outcome=Stop(Bound.TOKENS), reason=ProceedReason.TOKENS)
    if facts.steps <= 0:
        return Decision(outcome=Stop(Bound.STEPS), reason=ProceedReason.STEPS)
    if facts.ms <= 0:
        return Decision(outcome=Stop(Bound.TIME), reason=ProceedReason.TIME)
    return _GO_ON


_ANSWERED: Decision[GoOn | Stop] = Decision(outcome=GoOn(), reason=ProceedReason.ANSWERED)
_GO_ON: Decision[GoOn | Stop] = Decision(outcome=GoOn(), reason=ProceedReason.GO_ON)
"""What most steps are told, which holds nothing of the step."""


PROCEED: Rule[ProceedFacts, None, Any] = Rule(
    name="proceed", outcome=GoOn | Stop, apply=decide_proceed, reasons=(ProceedReason,)
)
