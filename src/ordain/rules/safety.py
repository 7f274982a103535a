"""Rule ``safety``: may a worker go on (C6, PLAN-20)? Beside the limits of its request it has so
many tool calls, plans below its own, and so much time.

It is asked before each call, with that call counted, and where a model gave no step. What is beyond
one of them is not done.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class SafetyReason(Reason):
    """Why a worker goes on or ends (C6)."""

    WITHIN = "safety.within", "Within the worker's tool calls, plans and time."
    TOOL_CALLS = "safety.tool_call_limit", "The worker has made as many tool calls as it may."
    RECURSION = (
        "safety.planner_recursion_limit",
        "The worker has had as many plans made below its own as it may.",
    )
    TIME = "safety.run_time_limit", "The worker's time is over."


class SafetyLimit(StrEnum):
    """What was reached, in the source's words (C6)."""

    TOOL_CALLS = "tool_call_limit"
    RECURSION = "planner_recursion_limit"
    TIME = "run_time_limit"


class SafetyLimits(Struct, frozen=True, gc=False, kw_only=True):
    """What one worker may use: tool calls, those among them by which a planner plans anew, and
    milliseconds of its run's own time.
    """

    tool_calls: int = 12
    planner_invocations: int = 3
    ms: int = 120_000


class Safe(Struct, frozen=True, gc=False, tag="safe"):
    """It may go on."""


class LimitExceeded(Struct, frozen=True, gc=False, tag="safety_limit_exceeded"):
    """It ends here."""

    limit: SafetyLimit


class SafetyFacts(Struct, frozen=True, gc=False, kw_only=True):
    """What the worker has used, the call that is pending included, and its limits."""

    tool_calls: int
    planner_invocations: int
    ms: int
    limits: SafetyLimits


def decide_safety(
    facts: SafetyFacts, inputs: None, policy: Policy
) -> Decision[Safe | LimitExceeded]:
    """Tool calls first, then plans below, then time."""
    if facts.tool_calls > facts.limits.tool_calls:
        return _exceeded(SafetyLimit.TOOL_CALLS)
    if facts.planner_invocations > facts.limits.planner_invocations:
        return _exceeded(SafetyLimit.RECURSION)
    return (
        _exceeded(SafetyLimit.TIME)
        if facts.ms >= facts.limits.ms
        else Decision(outcome=Safe(), reason=SafetyReason.WITHIN)
    )


def _exceeded(limit: SafetyLimit) -> Decision[Safe | LimitExceeded]:
    return Decision(outcome=LimitExceeded(limit), reason=_REASONS[limit])


_REASONS = {
    SafetyLimit.TOOL_CALLS: SafetyReason.TOOL_CALLS,
    SafetyLimit.RECURSION: SafetyReason.RECURSION,
    SafetyLimit.TIME: SafetyReason.TIME,
}
_OUTCOME = msgspec.json.Decoder(Safe | LimitExceeded)


def _tells(recorded: Recorded) -> HeaderShare:
    """What ended a worker."""
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, Safe):
        return SILENT
    return HeaderShare(
        lines=(
            HeaderLine(mark="fail", what=f"safety limit: {outcome.limit}", reason=recorded.reason),
        )
    )


SAFETY: Rule[SafetyFacts, None, Any] = Rule(
    name="safety",
    outcome=Safe | LimitExceeded,
    apply=decide_safety,
    reasons=(SafetyReason,),
    tells=_tells,
)
