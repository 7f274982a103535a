"""Rule ``plan_wave``: which steps of a plan run next, all at once, and when it is over (C6)?

A step is ready when all that it needs is done. Where the plan says nothing of needs its steps run
one after the other, or all that fit beside each other where it says so. What needs a step that
failed never runs; the plan goes on with the others and is partial.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.contracts.roster import HandoffStrategy
from ordain.rules.acts import Act, ActEnd
from ordain.rules.decision import (
    FACTS_BYTES,
    SILENT,
    Decision,
    HeaderShare,
    Recorded,
    Rule,
)
from ordain.rules.header import HeaderLine
from ordain.rules.reasons import Reason


class PlanWaveReason(Reason):
    """Which steps of a plan run next, or why it is over."""

    READY = "plan_wave.ready", "What these steps need is done: they run."
    COMPLETED = "plan_wave.completed", "Every step is done."
    PARTIAL = (
        "plan_wave.partial",
        "A step failed, and whatever does not need it was done; what does need it was not run.",
    )
    FAILED = "plan_wave.failed", "No step was done."
    TIME = "plan_wave.time", "The plan's time is over; what has not begun is not run."
    OUT_OF_TIME = (
        "plan_wave.out_of_time",
        "The plan's time is over; what has not begun is not run, and so not all of it was done.",
    )


class PlanStatus(StrEnum):
    """What a plan came to."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"


class Wave(Struct, frozen=True, tag="wave"):
    """These steps (from 0) run now, beside each other."""

    steps: tuple[int, ...]


class PlanOver(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="over"):
    """Nothing more runs; ``not_run`` are the steps that never did."""

    status: PlanStatus
    not_run: tuple[int, ...] = ()


class PlanWaveFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many steps there are, which are done and which failed, what is left of the plan's time,
    and how many may be handed on at once.

    ``verbs`` are what the steps would call, where one that time leaves undone counts as an act that
    was denied: plans of before have none. Of more than facts may hold only the ``first`` that is
    left is told.
    """

    steps: int
    left_ms: int
    width: int
    done: tuple[int, ...] = ()
    failed: tuple[int, ...] = ()
    verbs: tuple[str, ...] = ()
    first: str = ""

    def fitting(self) -> PlanWaveFacts:
        """The same, as facts may hold them."""
        if len(msgspec.json.encode(self)) <= FACTS_BYTES:
            return self
        ended = {*self.done, *self.failed}
        left = (verb for index, verb in enumerate(self.verbs) if index not in ended)
        return msgspec.structs.replace(self, verbs=(), first=next(left, ""))


class PlanWaveInputs(Struct, frozen=True, kw_only=True):
    """What each step needs, () where the plan says nothing of it, and how its steps follow each
    other then.
    """

    strategy: HandoffStrategy
    needs: Sequence[Sequence[int]] = ()


def decide_plan_wave(
    facts: PlanWaveFacts, inputs: PlanWaveInputs, policy: Policy
) -> Decision[Wave | PlanOver]:
    """Whatever is ready, in the plan's order, as many as policy has at work at once."""
    ended = {*facts.done, *facts.failed}
    left = [index for index in range(facts.steps) if index not in ended]
    ready = [
        index for index in left if all(before in facts.done for before in _needs(inputs, index))
    ]
    if ready and facts.left_ms > 0:
        at_once = (
            min(facts.width, policy.roster.max_concurrency)
            if inputs.needs or inputs.strategy is HandoffStrategy.PARALLEL
            else 1
        )
        return Decision(outcome=Wave(tuple(ready[: max(1, at_once)])), reason=PlanWaveReason.READY)
    reason = (
        PlanWaveReason.COMPLETED
        if len(facts.done) == facts.steps
        else PlanWaveReason.PARTIAL
        if facts.done
        else PlanWaveReason.FAILED
    )
    over = PlanOver(status=_STATUS[reason], not_run=tuple(left))
    told = facts.verbs or facts.first
    in_vain = PlanWaveReason.OUT_OF_TIME if told else PlanWaveReason.TIME
    return Decision(outcome=over, reason=in_vain if ready else reason)


def _needs(inputs: PlanWaveInputs, index: int) -> Sequence[int]:
    return inputs.needs[index] if index < len(inputs.needs) else ()


_STATUS = {
    PlanWaveReason.COMPLETED: PlanStatus.COMPLETED,
    PlanWaveReason.PARTIAL: PlanStatus.PARTIAL,
    PlanWaveReason.FAILED: PlanStatus.FAILED,
}
_FACTS = msgspec.json.Decoder(PlanWaveFacts)
_OUTCOME: msgspec.json.Decoder[Wave | PlanOver] = msgspec.json.Decoder(Wave | PlanOver)


def _tells(recorded: Recorded) -> HeaderShare:
    """Steps that are to run beside each other, and a plan of which not everything was done."""
    outcome = _OUTCOME.decode(recorded.outcome)
    if isinstance(outcome, Wave):
        if len(outcome.steps) == 1:
            return SILENT
        what = f"steps {_numbers(outcome.steps)} are to be done at once"
        return HeaderShare(lines=(HeaderLine(mark="info", what=what, reason=recorded.reason),))
    if outcome.status is PlanStatus.COMPLETED:
        return SILENT
    never = f"; not run: steps {_numbers(outcome.not_run)}" if outcome.not_run else ""
    return HeaderShare(
        lines=(
            HeaderLine(mark="fail", what=f"plan {outcome.status}{never}", reason=recorded.reason),
        ),
        act=_never_made(recorded, outcome),
    )


def _never_made(recorded: Recorded, over: PlanOver) -> Act | None:
    """The first of what time left undone, as the call that was denied by it: no later one makes it
    good.
    """
    if recorded.reason != PlanWaveReason.OUT_OF_TIME.value:
        return None
    first, facts = over.not_run[0], _FACTS.decode(recorded.facts)
    return Act(
        verb=facts.verbs[first] if facts.verbs else facts.first,
        call=f"plan step {first}",
        end=ActEnd.DENIED,
    )


def _numbers(steps: Sequence[int]) -> str:
    return ", ".join(str(step + 1) for step in steps)


PLAN_WAVE: Rule[PlanWaveFacts, PlanWaveInputs, Any] = Rule(
    name="plan_wave",
    outcome=Wave | PlanOver,
    apply=decide_plan_wave,
    reasons=(PlanWaveReason,),
    tells=_tells,
)
