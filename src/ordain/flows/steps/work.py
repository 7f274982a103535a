"""``work``: the whole loop of a worker, for the kinds that have one and no supervisor above each
step (B-02): ask, judge, act, until an answer or a bound.

What is accepted as an answer rule ``step`` has found to be one; its directive stands in
``planner_raw``, so that whoever takes the answer can see what led there. Nothing else ends it well.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ordain.contracts.planner import PlannerRequest
from ordain.effects.results import VerbReturned
from ordain.flows.acted import Acted
from ordain.flows.ask import AskFailed
from ordain.flows.carried import StepResult, carrying_of
from ordain.flows.context import FlowContext
from ordain.flows.kind import PromptKind
from ordain.flows.observations import error_of
from ordain.flows.steps.bounds import bound_met
from ordain.flows.steps.steps import (
    Progress,
    ProposedCall,
    ProposedFinish,
    RefusedStep,
    add_step,
    begin,
    carry_out,
    next_step,
)
from ordain.flows.transcript import HistoryRef
from ordain.journal.digests import call_digest
from ordain.ports.effects import Interrupted
from ordain.rules.proceed import Bound
from ordain.rules.safety import SAFETY, LimitExceeded, SafetyFacts, SafetyLimits
from ordain.rules.step import REASK, Reask, ReaskFacts

SAFETY_CODE = "safety_limit_exceeded"


class Working(Struct, frozen=True, kw_only=True):
    """How a worker works: as whom its model is asked, with which history, and within which limits
    beside those of its request (None: no others).

    ``narrative`` is the part of an answer that may be shown while it is written. ``step_ms`` bounds
    one call of the model, 0 leaves it. Without ``counts`` a directive that is refused for its shape
    is no proposed call, as versions have it that began before that was counted.
    """

    role: str = ""
    history: HistoryRef | None = None
    narrative: str = ""
    step_ms: int = 0
    limits: SafetyLimits | None = None
    counts: bool = True


class Worked(Struct, frozen=True, kw_only=True):
    """What came of it: the accepted answer as ``{content, structured}`` in ``output``, or the code
    and the words for why there is none.

    ``steps`` are the calls in order, ``refused`` counts those that were proposed and that code did
    not let be made. ``planner_raw`` is the directive that finished the work and what rule ``step``
    said of it; ``{}`` where none did.
    """

    ok: bool
    error: str = ""
    message: str = ""
    output: dict[str, Any] | None = None
    steps: tuple[StepResult, ...] = ()
    refused: int = 0
    planner_raw: dict[str, Any] = {}

    @property
    def apart(self) -> Worked:
        """The same, calls that the door refused among those that code did not let be made."""
        made = tuple(step for step in self.steps if not step.skipped)
        refused = self.refused + len(self.steps) - len(made)
        return replace(self, steps=made, refused=refused)


async def work(
    context: FlowContext,
    request: PlannerRequest,
    prompt: PromptKind[Progress],
    how: Working | None = None,
) -> Worked:
    """Work on one goal within the request's limits, until there is a validated answer, or say
    exactly why there is none. Interrupted, it says so.
    """
    how = how or Working()
    context, progress, refused = begin(context, request, prompt, counts=how.counts)
    if refused is not None:
        return Worked(ok=False, error=refused.code, message=f"tool {refused.verb}")
    progress.history, progress.narrative, progress.role = how.history, how.narrative, how.role
    worker = _Worker(context, progress, how)
    try:
        return await worker.run()
    except Interrupted as interrupted:
        return worker.failed("cancelled", f"{interrupted.what} by {interrupted.by}")


class _Worker:
    """One worker at work. Rebuilt by re-execution."""

    def __init__(self, context: FlowContext, progress: Progress, how: Working) -> None:
        self._context, self._progress, self._how = context, progress, how
        self._done: list[StepResult] = []
        self._calls = self._plans = self._kept_back = 0

    async def run(self) -> Worked:
        """The loop."""
        progress = self._progress
        while True:
            step = await next_step(self._asking(), progress)
            ended: Worked | None = None
            match step:
                case ProposedFinish():
                    add_step(progress, step.thought, step.answer)
                    return self._finished(step)
                case RefusedStep():
                    ended = self._refused(step)
                case ProposedCall():
                    ended = await self._call(step)
                case AskFailed():
                    return self._unasked(step)
            if (ended := ended or self._bounded()) is not None:
                return ended

    def failed(self, code: str, message: str) -> Worked:
        """No answer; what was done is told all the same."""
        return Worked(ok=False, error=code, message=message, steps=tuple(self._done))

    def _asking(self) -> FlowContext:
        """A model's call ends with its own time, or with the worker's."""
        context, limits = self._context, self._how.limits
        ends = [context.deadline]
        if self._how.step_ms:
            ends.append(context.now() + self._how.step_ms * 1000)
        if limits is not None:
            ends.append(self._progress.began + limits.ms * 1000)
        return context.until(min(ends))

    def _finished(self, step: ProposedFinish) -> Worked:
        if bound_met(self._context, self._progress, answered=True) is not None:
            return self.failed("token_limit", "the answer exceeds its tokens")
        directive = {
            "thought": None,
            "finish": True,
            "action": None,
            "final_answer": step.final_answer,
        }
        raw = {"directive": directive, "answer": step.answer}
        return Worked(
            ok=True,
            output=step.final_answer,
            steps=tuple(self._done),
            refused=self._kept_back,
            planner_raw=raw,
        )

    def _refused(self, step: RefusedStep) -> Worked | None:
        progress = self._progress
        add_step(progress, step.thought, step.answer)
        self._kept_back += step.calls
        first = progress.first_refusal = progress.first_refusal or step
        facts = ReaskFacts(used=progress.reasks, reason=step.reason)
        if not isinstance(
            self._context.fx.decide(REASK, facts, None, (step.answer,)).outcome, Reask
        ):
            return self.failed(first.reason, f"{first.reason.meaning} {first.detail}".strip())
        progress.reasks, progress.reask = progress.reasks + 1, step.reason
        return None

    async def _call(self, step: ProposedCall) -> Worked | None:
        """One call, within the worker's limits."""
        self._progress.reask = None
        self._calls += 1
        self._plans += carrying_of(self._context, step.call.verb).inherits
        if (exceeded := self._exceeded((step.answer,))) is not None:
            add_step(self._progress, step.thought, step.answer)
            return exceeded
        acted = await carry_out(self._context, self._progress, step)
        self._done.append(_result(step, acted, len(self._done)))
        return None

    def _unasked(self, failed: AskFailed) -> Worked:
        if (exceeded := self._exceeded(())) is not None:
            return exceeded
        if bound_met(self._context, self._progress) is Bound.TIME:
            return self.failed("timed_out", "the time is over")
        return self.failed(failed.code, failed.message)

    def _exceeded(self, refs: tuple[int, ...]) -> Worked | None:
        limits = self._how.limits
        if limits is None:
            return None
        ms = (self._context.now() - self._progress.began) // 1000
        facts = SafetyFacts(
            tool_calls=self._calls, planner_invocations=self._plans, ms=ms, limits=limits
        )
        outcome = self._context.fx.decide(SAFETY, facts, None, refs).outcome
        return (
            self.failed(SAFETY_CODE, str(outcome.limit))
            if isinstance(outcome, LimitExceeded)
            else None
        )

    def _bounded(self) -> Worked | None:
        match bound_met(self._context, self._progress):
            case Bound.TIME:
                return self.failed("timed_out", "the time is over")
            case Bound.STEPS:
                return self.failed(
                    "max_steps_exhausted",
                    f"no final answer within {self._progress.limits.max_steps} steps",
                )
            case Bound.TOKENS:
                return self.failed("token_limit", "the tokens for reasoning are spent")
            case None:
                return None


def _result(step: ProposedCall, acted: Acted, order: int) -> StepResult:
    return StepResult(
        step_name=step.call.verb,
        order=order,
        ok=isinstance(acted.result, VerbReturned),
        error=acted.denied or error_of(acted).get("code", ""),
        call=call_digest(step.call),
        skipped=bool(acted.denied),
    )
