"""Flow ``workflow``: the fixed steps of a template, each authorised when it runs (WFL-02, RTE-09,
C5).

Rule ``workflow`` expands the template once more, under the catalog that the run pins. Where a step
needs a yes the exact steps are proposed first and nothing runs before it is given. Each step is
then a call through ``act`` like any other, in a scope that holds nothing but the template's verbs;
rule ``workflow_step`` says what follows it. An interrupt is met between steps: what runs is
awaited, the next one never begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from ordain.contracts.approvals import Subject, Tier
from ordain.contracts.workflow import FixedCall, FixedStep
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked
from ordain.effects.results import Approved, Expired, NotApproved, VerbReturned, VerbUnknown
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.approval import ask_approval
from ordain.flows.carried import StepResult
from ordain.flows.context import FlowContext
from ordain.flows.kind import FailedStep
from ordain.flows.observations import error_of
from ordain.flows.workflow_run import CANCELLED, WorkflowInput, WorkflowOutput
from ordain.ports.effects import Interrupted
from ordain.rules.workflow import (
    WORKFLOW,
    Expanded,
    SuggestedBy,
    SuggestionRefused,
    WorkflowFacts,
    WorkflowInputs,
    WorkflowOutcome,
)
from ordain.rules.workflow_step import (
    WORKFLOW_STEP,
    AllDone,
    Halt,
    StepEnd,
    StepFollows,
    Undo,
    WorkflowStepFacts,
    WorkflowStepOutcome,
)

INTERRUPTED = "interrupted"
"""The error of a step that had begun when an interrupt came, and of whose end nothing was handed
over.
"""
OUTPUT_CHARS = 300
"""Most of what a failed step said that is kept (C5)."""


async def run_workflow(context: FlowContext, given: WorkflowInput) -> WorkflowOutput:
    """Carry out the steps, or say exactly which were and which were not."""
    outcome = _expanded(context, given)
    if not isinstance(outcome, Expanded):
        refused = (
            outcome
            if isinstance(outcome, SuggestionRefused)
            else SuggestionRefused(code="unknown_template")
        )
        return WorkflowOutput(
            ok=False,
            template=given.template,
            error=refused.code,
            message=refused.detail or refused.code,
        )
    steps = context.catalog.workflows[given.template].steps_of(given.args)
    told = WorkflowOutput(
        ok=False,
        template=outcome.template,
        version=outcome.version,
        steps=tuple(_skipped(number, step.call) for number, step in enumerate(steps, 1)),
    )
    asked = _proposal(outcome, steps) if outcome.proposed else None
    return await _Workflow(
        context.narrowed(context.catalog.reach_of(outcome.template)), steps, told
    ).run(asked)


def _expanded(context: FlowContext, given: WorkflowInput) -> WorkflowOutcome:
    facts = WorkflowFacts(
        by=SuggestedBy.RUN,
        template=given.template,
        given=len(given.args),
        may_ask=context.may_ask,
        safety=context.safety,
    )
    inputs = WorkflowInputs(
        catalog=context.catalog, scope=context.scope, template=given.template, args=given.args
    )
    return context.fx.decide(WORKFLOW, facts, inputs, (0,)).outcome


def _proposal(outcome: Expanded, steps: Sequence[FixedStep]) -> ApprovalAsked:
    """The exact steps, and what would undo them: an approver's yes is to each of these calls, once,
    in this run.
    """
    calls: list[Call] = []
    undo: list[int] = []
    for step in steps:
        calls.append(_call(step.call))
        if step.compensate is not None:
            undo.append(len(calls))
            calls.append(_call(step.compensate))
    detail: dict[str, Any] = {
        "template": outcome.template,
        "version": outcome.version,
        "steps": outcome.digest,
    }
    if undo:
        detail["undo"] = undo
    return ApprovalAsked(
        subject=Subject.WORKFLOW, calls=tuple(calls), tier=Tier(outcome.tier), detail=detail
    )


def _call(call: FixedCall) -> Call:
    return Call(verb=call.verb, args=call.args)


class _Workflow:
    """A workflow on its way: what was done so far is always in ``told``."""

    def __init__(
        self, context: FlowContext, steps: Sequence[FixedStep], told: WorkflowOutput
    ) -> None:
        self._context, self._steps, self._told = context, steps, told
        self._calls = 0

    async def run(self, asked: ApprovalAsked | None) -> WorkflowOutput:
        """To its end, or to where it is stopped; with ``asked`` not before an approver said yes to
        that.
        """
        try:
            return await self._run() if asked is None else await self._approved(asked)
        except Interrupted as interrupted:
            self._cut_off()
            stopped = (
                f"stopped by {interrupted.by}"
                if interrupted.what == "cancel"
                else "a later message interrupted it"
            )
            return self._ended(CANCELLED, stopped)

    async def _approved(self, asked: ApprovalAsked) -> WorkflowOutput:
        """Propose it; whatever comes back but a yes ends it before anything has run."""
        result = await ask_approval(self._context, asked)
        match result:
            case Approved():
                return await self._run()
            case NotApproved(by=by):
                return self._ended("approval_denied", f"{by} said no to it")
            case Expired(why=why) if why:
                return self._ended("withdrawn", why)
            case _:
                return self._ended("approval_expired", "nobody approved it in time")

    async def _run(self) -> WorkflowOutput:
        for number, step in enumerate(self._steps):
            self._calls = self._context.account.spent.verb_calls
            acted = await self._act(step.call, step)
            self._took(number, acted)
            outcome = self._after(number, acted)
            match outcome:
                case StepFollows():
                    continue
                case AllDone():
                    output = acted.result.output if isinstance(acted.result, VerbReturned) else {}
                    return msgspec.structs.replace(self._told, ok=True, output=output)
                case Undo(steps=undone):
                    self._failed(acted)
                    await self._undo(undone)
                    break
                case Halt():
                    self._failed(acted)
                    break
                case _:
                    assert_never(outcome)
        return self._told

    async def _act(self, call: FixedCall, step: FixedStep) -> Acted:
        """One call, within the template's own time and attempts, which only lower the verb's."""
        context = self._context
        if step.timeout_ms:
            context = context.until(min(context.deadline, context.now() + step.timeout_ms * 1000))
        return await act(context, _call(call), (0,), attempts=step.attempts)

    def _after(self, number: int, acted: Acted) -> WorkflowStepOutcome:
        """What follows the step."""
        undoable = tuple(
            index for index in range(number) if self._steps[index].compensate is not None
        )
        facts = WorkflowStepFacts(
            step=number, steps=len(self._steps), ended=_end_of(acted), undoable=undoable
        )
        refs = (acted.seq,) if acted.seq >= 0 else ()
        return self._context.fx.decide(WORKFLOW_STEP, facts, None, refs).outcome

    async def _undo(self, steps: Sequence[int]) -> None:
        """Undo what happened, each as far as it can be: that one cannot be undone keeps none of the
        others from it.
        """
        for number in steps:
            step = self._steps[number]
            if step.compensate is not None:
                acted = await self._act(
                    step.compensate, msgspec.structs.replace(step, timeout_ms=0, attempts=0)
                )
                undone = (*self._told.undone, _result(number + 1, acted))
                self._told = msgspec.structs.replace(self._told, undone=undone)

    def _ended(self, code: str, message: str) -> WorkflowOutput:
        return msgspec.structs.replace(self._told, error=code, message=message)

    def _cut_off(self) -> None:
        """The step at which an interrupt came has run, where its call had been made by then."""
        number = sum(not step.skipped for step in self._told.steps)
        if (
            number < len(self._steps)
            and self._context.account.spent.verb_calls > self._calls
            and not self._told.failed
        ):
            step = msgspec.structs.replace(
                self._told.steps[number], skipped=False, error=INTERRUPTED
            )
            self._put(number, step)

    def _took(self, number: int, acted: Acted) -> None:
        self._put(number, _result(number + 1, acted))

    def _put(self, number: int, step: StepResult) -> None:
        steps = list(self._told.steps)
        steps[number] = step
        self._told = msgspec.structs.replace(self._told, steps=tuple(steps))

    def _failed(self, acted: Acted) -> None:
        error = error_of(acted)
        failed = FailedStep(verb=acted.verb, output=error["message"][:OUTPUT_CHARS])
        self._told = msgspec.structs.replace(
            self._told, failed=failed, error=error["code"], message=f"{acted.verb}: {failed.output}"
        )


def _skipped(number: int, call: FixedCall) -> StepResult:
    return StepResult(step_name=call.verb, order=number, ok=False, skipped=True)


def _result(number: int, acted: Acted) -> StepResult:
    """What a call came to; one that was denied never ran."""
    code = error_of(acted).get("code", "")
    return StepResult(
        step_name=acted.verb,
        order=number,
        ok=not code,
        error=code,
        call=acted.asked,
        skipped=bool(acted.denied),
    )


def _end_of(acted: Acted) -> StepEnd:
    if isinstance(acted.result, VerbReturned):
        return StepEnd.DONE
    return StepEnd.UNKNOWN if isinstance(acted.result, VerbUnknown) else StepEnd.FAILED
