"""Rule ``step_event``: where is a step of a plan by now (C6)? One table: what happened to it, and
where it was before.

Each event is a decision on record, so whoever follows the run's events sees a step start and come
to its end when it does. That a step is done makes good whom it was handed to in vain before.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.cards import AGENT_VERB
from ordain.contracts.policy import Policy
from ordain.contracts.roster import StepEventName, StepStatus
from ordain.rules.acts import MadeGood
from ordain.rules.decision import SILENT, Decision, HeaderShare, Recorded, Rule
from ordain.rules.reasons import Reason


class StepEventReason(Reason):
    """What happened to a step of a plan (C6)."""

    ACCEPTED = (
        "step_event.accepted",
        (
            "The plan stands, and what it hands on was decided: the step has its turn when what it "
            "needs is done."
        ),
    )
    SCHEDULED = (
        "step_event.scheduled",
        "The step has its turn, or is to be tried again after a while.",
    )
    STARTED = "step_event.started", "Somebody was handed the step."
    COMPLETED = "step_event.completed", "The step is done."
    FAILED = "step_event.failed", "Who was handed the step did not do it."
    CANCELLED = "step_event.cancelled", "The plan was over before the step was done."
    OUT_OF_ORDER = (
        "step_event.out_of_order",
        "This does not happen to a step that is where it is; it stays there.",
    )


class StepAt(Struct, frozen=True, gc=False, kw_only=True, tag="step_at"):
    """Where the step is."""

    status: StepStatus


class StepEventFacts(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What happened to which step, where it was before, who had it, and for the how manieth time
    somebody was handed it.

    ``failed`` are the handoffs of a step that is done which came to nothing before, by digest.
    """

    step: int
    event: StepEventName
    before: StepStatus
    agent: str
    attempt: int
    failed: tuple[str, ...] = ()


_UNDONE = (StepStatus.QUEUED, StepStatus.PLANNED, StepStatus.SCHEDULED, StepStatus.IN_PROGRESS)
LIFECYCLE: Mapping[tuple[StepStatus, StepEventName], StepStatus] = MappingProxyType(
    {
        (StepStatus.QUEUED, StepEventName.ACCEPTED): StepStatus.PLANNED,
        (StepStatus.PLANNED, StepEventName.SCHEDULED): StepStatus.SCHEDULED,
        (StepStatus.SCHEDULED, StepEventName.STARTED): StepStatus.IN_PROGRESS,
        (StepStatus.SCHEDULED, StepEventName.FAILED): StepStatus.FAILED,
        (StepStatus.FAILED, StepEventName.SCHEDULED): StepStatus.SCHEDULED,
        **{(before, StepEventName.CANCELLED): StepStatus.CANCELLED for before in _UNDONE},
        (StepStatus.PLANNED, StepEventName.STARTED): StepStatus.IN_PROGRESS,
        (StepStatus.FAILED, StepEventName.STARTED): StepStatus.IN_PROGRESS,
        (StepStatus.IN_PROGRESS, StepEventName.COMPLETED): StepStatus.COMPLETED,
        (StepStatus.IN_PROGRESS, StepEventName.FAILED): StepStatus.FAILED,
    }
)
"""What follows; a failed step has its turn again where it is tried again or another takes it. Plans
of before had steps that began where they were planned.
"""
_REASONS = {name: StepEventReason(f"step_event.{name}") for name in StepEventName}


def decide_step_event(facts: StepEventFacts, inputs: None, policy: Policy) -> Decision[StepAt]:
    """By the table; what it does not have moves nothing."""
    follows = LIFECYCLE.get((facts.before, facts.event))
    reason = StepEventReason.OUT_OF_ORDER if follows is None else _REASONS[facts.event]
    return Decision(outcome=StepAt(status=follows or facts.before), reason=reason)


_FACTS = msgspec.json.Decoder(StepEventFacts)


def _tells(recorded: Recorded) -> HeaderShare:
    """No line: that handoffs which came to nothing were made good by who did the step (B-16)."""
    if recorded.reason != str(StepEventReason.COMPLETED):
        return SILENT
    facts = _FACTS.decode(recorded.facts)
    if not facts.failed:
        return SILENT
    return HeaderShare(made_good=MadeGood(calls=facts.failed, by=f"{AGENT_VERB}{facts.agent}"))


STEP_EVENT: Rule[StepEventFacts, None, Any] = Rule(
    name="step_event",
    outcome=StepAt,
    apply=decide_step_event,
    reasons=(StepEventReason,),
    tells=_tells,
)
