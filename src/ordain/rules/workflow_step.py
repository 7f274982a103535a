"""Rule ``workflow_step``: what follows a workflow's step (RTE-09, WFL-03).

A step that happened is followed by the next one. One that failed ends the workflow: later steps do
not run, and what happened is undone where the template says how, the latest first. Where nobody
knows whether a step happened nothing is guessed: nothing more is done, undoing included.
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


class WorkflowStepReason(Reason):
    """What follows a workflow's step."""

    NEXT = "workflow_step.next", "The step is done; the next one runs."
    DONE = "workflow_step.done", "Every step is done."
    FAILED = (
        "workflow_step.failed",
        (
            "A step failed; the later ones do not run, and nothing that happened has a declared "
            "way back."
        ),
    )
    UNDONE = (
        "workflow_step.undone",
        "A step failed; the later ones do not run, and what happened is undone, the latest first.",
    )
    UNKNOWN = (
        "workflow_step.unknown",
        "Nobody knows whether the step happened: nothing more runs, and nothing is undone.",
    )


class StepEnd(StrEnum):
    """How a step's call ended; ``failed``: it is known not to have had its effect."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN = "unknown"


class StepFollows(Struct, frozen=True, tag="next"):
    """The workflow goes on."""


class AllDone(Struct, frozen=True, tag="done"):
    """It is over, and all of it was done."""


class Undo(Struct, frozen=True, tag="undo"):
    """It is over, and these steps (from 0) are undone, in this order."""

    steps: tuple[int, ...]


class Halt(Struct, frozen=True, tag="halt"):
    """It is over, and stays as it is."""


WorkflowStepOutcome = StepFollows | AllDone | Undo | Halt


class WorkflowStepFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which step (from 0) of how many ended, how, and which of those before it can be undone."""

    step: int
    steps: int
    ended: StepEnd
    undoable: tuple[int, ...] = ()


def decide_step_end(
    facts: WorkflowStepFacts, inputs: None, policy: Policy
) -> Decision[WorkflowStepOutcome]:
    """Done: on; unknown: nothing; failed: undo what can be undone."""
    if facts.ended is StepEnd.DONE:
        if facts.step + 1 < facts.steps:
            return Decision(outcome=StepFollows(), reason=WorkflowStepReason.NEXT)
        return Decision(outcome=AllDone(), reason=WorkflowStepReason.DONE)
    if facts.ended is StepEnd.UNKNOWN:
        return Decision(outcome=Halt(), reason=WorkflowStepReason.UNKNOWN)
    if facts.undoable:
        return Decision(
            outcome=Undo(tuple(sorted(facts.undoable, reverse=True))),
            reason=WorkflowStepReason.UNDONE,
        )
    return Decision(outcome=Halt(), reason=WorkflowStepReason.FAILED)


_FACTS = msgspec.json.Decoder(WorkflowStepFacts)
_SPEAKING = frozenset(
    map(str, (WorkflowStepReason.FAILED, WorkflowStepReason.UNDONE, WorkflowStepReason.UNKNOWN))
)


def _tells(recorded: Recorded) -> HeaderShare:
    """What ended a workflow before its last step was done."""
    if recorded.reason not in _SPEAKING:
        return SILENT
    facts = _FACTS.decode(recorded.facts)
    what = (
        f"workflow step {facts.step + 1} of {facts.steps} "
        f"{'failed' if facts.ended is StepEnd.FAILED else facts.ended}"
    )
    return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))


WORKFLOW_STEP: Rule[WorkflowStepFacts, None, Any] = Rule(
    name="workflow_step",
    outcome=WorkflowStepOutcome,
    apply=decide_step_end,
    reasons=(WorkflowStepReason,),
    tells=_tells,
)
