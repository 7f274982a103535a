"""Flow ``supervisor``, version 5, frozen: for runs that began as such. An agent chain and a council
end as ``path_unavailable``.
"""

from __future__ import annotations

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.verbs import Trust
from ordain.effects.results import ModelAnswer, VerbReturned
from ordain.flows.ask import AskFailed, ask
from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.observations import error_of
from ordain.flows.steps.bounds import bound_met
from ordain.flows.steps.steps import (
    NextStep,
    Progress,
    ProposedCall,
    ProposedFinish,
    RefusedStep,
    add_step,
    begin,
    carry_out,
    next_step,
)
from ordain.flows.steps.trace import proposal_of
from ordain.flows.supervisor.prompt import MOVE_PROMPT, STEP_PROMPT, PendingStep
from ordain.flows.supervisor.request import arguments_of, request_of
from ordain.flows.transcript import HistoryRef
from ordain.journal.digests import call_digest
from ordain.ports.effects import Interrupted
from ordain.rules.proceed import Bound
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.supervise import (
    SUPERVISE,
    Move,
    Pending,
    SuperviseFacts,
    SuperviseFailed,
    SuperviseInputs,
    SuperviseReason,
)

UNPLANNED = frozenset({ModelErrorCode.MALFORMED, ModelErrorCode.TRUNCATED})
"""With these failed attempts end whose model answered, and with nothing whole."""
NO_PLAN = "the model could not plan"
INSTEAD = "Plain chat needs no plan; for an agent take a model that keeps to a schema"


async def run_supervisor(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 5."""
    context, progress, refused = begin(context.told(turn_kind(call)), request_of(call), STEP_PROMPT)
    if refused is not None:
        return VerbPlanOutput(ok=False, error=refused.code, message=f"tool {refused.verb}")
    progress.history = call.history or HistoryRef(session=context.session)
    progress.narrative = "final_answer.content" if call.narrate else ""
    done: list[StepResult] = []
    try:
        return await _loop(context, progress, done, arguments_of(call).step_timeout_ms)
    except Interrupted:
        return _failed(done, "cancelled", "interrupted")


async def _loop(
    context: FlowContext, progress: Progress, done: list[StepResult], step_ms: int
) -> VerbPlanOutput:
    while True:
        within = (
            context.until(min(context.deadline, context.now() + step_ms * 1000))
            if step_ms
            else context
        )
        step = await next_step(within, progress)
        move = await _supervise(context, progress, step)
        if isinstance(move, SuperviseFailed):
            return _failed(done, move.code, _why(progress, step))
        if move is Move.FINISH and isinstance(step, ProposedFinish):
            add_step(progress, step.thought, step.answer)
            return _finished(context, progress, done, step)
        if move is Move.EXECUTE_ACTION and isinstance(step, ProposedCall):
            context = await _execute(context, progress, step, done)
        elif move is Move.REQUEST_REPLAN and not isinstance(step, AskFailed):
            add_step(progress, step.thought, step.answer)
            progress.reasks += isinstance(step, RefusedStep)
            progress.reask = (
                str(step.reason) if isinstance(step, RefusedStep) else str(SuperviseReason.REPLAN)
            )
        else:
            return _failed(done, "path_unavailable", f"this build cannot carry out {move}")
        match bound_met(context, progress):
            case Bound.TIME:
                return _failed(done, "timed_out", "the turn's time is over")
            case Bound.STEPS:
                return _failed(
                    done,
                    "max_steps_exhausted",
                    f"no final answer within {progress.limits.max_steps} steps",
                )
            case Bound.TOKENS:
                return _failed(done, "token_limit", "the turn's tokens for reasoning are spent")
            case None:
                continue


async def _execute(
    context: FlowContext, progress: Progress, step: ProposedCall, done: list[StepResult]
) -> FlowContext:
    """One planned step; the time a person takes to answer is not the turn's."""
    progress.reask, before = None, context.now()
    acted = await carry_out(context, progress, step)
    ok = isinstance(acted.result, VerbReturned)
    error = acted.denied or error_of(acted).get("code", "")
    digest = call_digest(step.call)
    result = StepResult(
        step_name=step.call.verb,
        order=len(done),
        ok=ok,
        error=error,
        call=digest,
        skipped=bool(acted.denied),
    )
    done.append(result)
    waits = context.catalog.verbs[step.call.verb].spec.session_only
    return context.until(context.deadline + context.now() - before) if waits else context


async def _supervise(
    context: FlowContext, progress: Progress, step: NextStep
) -> Move | SuperviseFailed:
    policy = context.catalog.policy.supervisor
    pending, code = _pending(step)
    proposal: Parsed | Unparsed | None = None
    refs = () if isinstance(step, AskFailed) else (step.answer,)
    asks = policy.ask is not None and pending in (Pending.ACTION, Pending.FINAL)
    if asks and not isinstance(step, AskFailed):
        answer = await ask(
            context,
            MOVE_PROMPT,
            PendingStep(progress=progress, answer=step.answer, pending=pending),
        )
        if isinstance(answer, ModelAnswer):
            proposal, refs = proposal_of(answer), (*refs, answer.seq)
    facts = SuperviseFacts(
        step=len(progress.steps) + 1,
        max_steps=progress.limits.max_steps,
        pending=pending,
        code=code,
        replans=progress.reasks,
        asked=asks,
    )
    outcome = context.fx.decide(SUPERVISE, facts, SuperviseInputs(proposal=proposal), refs).outcome
    return outcome if isinstance(outcome, SuperviseFailed) else outcome.move


def _pending(step: NextStep) -> tuple[Pending, str]:
    match step:
        case ProposedCall():
            return Pending.ACTION, ""
        case ProposedFinish():
            return Pending.FINAL, ""
        case RefusedStep(reason=reason):
            return Pending.REFUSED, str(reason)
        case AskFailed(code=code):
            return Pending.FAILED, code


def _finished(
    context: FlowContext, progress: Progress, done: list[StepResult], step: ProposedFinish
) -> VerbPlanOutput:
    if bound_met(context, progress, answered=True) is not None:
        return _failed(done, "token_limit", "the answer exceeds the turn's tokens")
    return VerbPlanOutput(
        ok=True,
        output=step.final_answer,
        trust={"content": Trust.FOREIGN, "structured": Trust.FOREIGN},
        step_results=tuple(done),
    )


def _why(progress: Progress, step: NextStep) -> str:
    """What a person is told; of a model that gives no step, that it does not plan, and what does
    without.
    """
    match step:
        case AskFailed(code=code, message=message) if code in UNPLANNED:
            return f"{NO_PLAN}: it gave no whole step, {message}. {INSTEAD}"
        case AskFailed(message=message):
            return message
        case RefusedStep(reason=reason, detail=detail):
            last = f"{reason.meaning} {detail}".strip()
            many = progress.reasks + 1
            refused = f"{many} of its proposals were" if many > 1 else "its proposal was"
            return f"{NO_PLAN}: {refused} no step of a plan. {last} {INSTEAD}"
        case _:
            return "the supervisor's decision is not valid here"


def _failed(done: list[StepResult], code: str, message: str) -> VerbPlanOutput:
    return VerbPlanOutput(ok=False, error=code, message=message, step_results=tuple(done))
