"""Rule ``plan_step``: who is handed a step of a plan (PLAN-14, B-13, B-16)?

The plan's own gate came first (rule ``plan``). A step below policy's threshold goes to
``general_agent``, and no other step with it; one at the threshold goes to whom it was planned for.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.contracts.roster import GENERAL_AGENT
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class PlanStepReason(Reason):
    """Why a step is handed to whom it is (PLAN-14, B-16)."""

    PLANNED = (
        "plan_step.planned",
        "The step is confident enough: whom it was planned for is handed it.",
    )
    LOW_CONFIDENCE = (
        "plan_step.low_confidence",
        "The step's confidence is below policy's threshold: general_agent is handed it.",
    )
    NOBODY = (
        "plan_step.nobody",
        "The step's confidence is below policy's threshold, and there is no general_agent.",
    )


class StepGiven(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="given"):
    """Who is handed it; ``instead``: another than it was planned for."""

    agent: str
    instead: bool = False


class StepGivenToNobody(Struct, frozen=True, tag="nobody"):
    """The step fails before anybody is handed it."""


class PlanStepFacts(Struct, frozen=True, kw_only=True):
    """Which step (from 0) of how many, for whom it was planned and how confidently, and whether
    there is a ``general_agent``.
    """

    step: int
    steps: int
    agent: str
    confidence: float
    general: bool


def decide_plan_step(
    facts: PlanStepFacts, inputs: None, policy: Policy
) -> Decision[StepGiven | StepGivenToNobody]:
    """Below the threshold, strictly: somebody else."""
    if facts.confidence >= policy.roster.threshold:
        return Decision(outcome=StepGiven(agent=facts.agent), reason=PlanStepReason.PLANNED)
    if not facts.general:
        return Decision(outcome=StepGivenToNobody(), reason=PlanStepReason.NOBODY)
    instead = facts.agent != GENERAL_AGENT
    return Decision(
        outcome=StepGiven(agent=GENERAL_AGENT, instead=instead),
        reason=PlanStepReason.LOW_CONFIDENCE,
    )


_FACTS = msgspec.json.Decoder(PlanStepFacts)
_OUTCOME: msgspec.json.Decoder[StepGiven | StepGivenToNobody] = msgspec.json.Decoder(
    StepGiven | StepGivenToNobody
)


def _tells(recorded: Recorded) -> HeaderShare:
    """A step that is handed to another than it was planned for."""
    if recorded.reason == PlanStepReason.PLANNED.value:
        return SILENT
    facts, outcome = _FACTS.decode(recorded.facts), _OUTCOME.decode(recorded.outcome)
    to = (
        f"fallback applied: {outcome.agent} instead" if isinstance(outcome, StepGiven) else "nobody"
    )
    mark = "info" if isinstance(outcome, StepGiven) else "fail"
    what = f"plan step {facts.step + 1} of {facts.steps}, planned for {facts.agent}: {to}"
    return HeaderShare(lines=(HeaderLine(mark=mark, what=what, reason=recorded.reason),))


PLAN_STEP: Rule[PlanStepFacts, None, Any] = Rule(
    name="plan_step",
    outcome=StepGiven | StepGivenToNobody,
    apply=decide_plan_step,
    reasons=(PlanStepReason,),
    tells=_tells,
)
