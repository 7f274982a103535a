"""Flow ``supervisor``: verbs ``agent_runtime`` and ``council_runtime``. The planner proposes one
step at a time, rule ``supervise`` says what is done with it (C2).

The second loop over the planner's step (B-02): same validator, other loop. Nothing slides: no
directive is a failure (EXE-06), an escalation ends the turn by what it comes to, and the loop is
bounded by its step cap (EXE-16) and its time. In mode council the first move is a checkpoint
(EXE-02).
"""

from __future__ import annotations

from ordain.contracts.conversation import ENTRY_OF, ExecMode
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
from ordain.flows.supervisor.escalation import Escalated, Escalation, consult, escalate
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
    """Work on what the user said until there is a validated answer, or say exactly why there is
    none.
    """
    return await _run(context, call)


async def run_supervisor_8(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 8, where a chain that it escalated to had all that was left of the turn's time."""
    return await _run(context, call, bounds=False)


async def run_supervisor_7(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 7, where a directive that was refused for its shape was no proposed call."""
    return await _run(context, call, bounds=False, counts=False)


async def run_supervisor_6(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 6, which says nothing of what a council proposed that came to no end."""
    return await _run(context, call, bounds=False, attaches=False, counts=False)


async def _run(
    context: FlowContext,
    call: VerbPlanInput,
    *,
    bounds: bool = True,
    attaches: bool = True,
    counts: bool = True,
) -> VerbPlanOutput:
    whole = context.told(turn_kind(call))
    context, progress, refused = begin(whole, request_of(call), STEP_PROMPT, counts=counts)
    if refused is not None:
        return VerbPlanOutput(ok=False, error=refused.code, message=f"tool {refused.verb}")
    progress.history = call.history or HistoryRef(session=context.session)
    progress.narrative = "final_answer.content" if call.narrate else ""
    done: list[StepResult] = []
    escalation = Escalation(
        context=whole, call=call, progress=progress, done=done, attaches=attaches, bounds=bounds
    )
    supervised = _Supervised(context, progress, done, escalation)
    try:
        return (
            await supervised.council()
            if call.verb == ENTRY_OF[ExecMode.COUNCIL]
            else await supervised.run()
        )
    except Interrupted:
        return _failed(done, "cancelled", "interrupted")


class _Supervised:
    """A supervised turn on its way. Rebuilt by re-execution."""

    def __init__(
        self,
        context: FlowContext,
        progress: Progress,
        done: list[StepResult],
        escalation: Escalation,
    ) -> None:
        self._context, self._progress, self._done, self._escalation = (
            context,
            progress,
            done,
            escalation,
        )
        self._step_ms = arguments_of(escalation.call).step_timeout_ms

    async def council(self) -> VerbPlanOutput:
        """The turn of mode council: its first move is its last."""
        facts = SuperviseFacts(
            step=1, max_steps=self._progress.limits.max_steps, pending=Pending.COUNCIL
        )
        outcome = self._context.fx.decide(
            SUPERVISE, facts, SuperviseInputs(proposal=None), (0,)
        ).outcome
        if isinstance(outcome, SuperviseFailed):
            return _failed(self._done, outcome.code, "the supervisor's decision is not valid here")
        return self._ended(await consult(self._escalation, (0,)))

    async def run(self) -> VerbPlanOutput:
        """Step after step."""
        progress, done = self._progress, self._done
        while True:
            context, ms = self._context, self._step_ms
            within = (
                context.until(min(context.deadline, context.now() + ms * 1000)) if ms else context
            )
            step = await next_step(within, progress)
            move = await self._supervise(step)
            if isinstance(move, SuperviseFailed):
                return _failed(done, move.code, _why(progress, step, stops=self._escalation.bounds))
            ended = None if isinstance(step, AskFailed) else await self._carry_out(move, step)
            if (ended := ended or self._bounded()) is not None:
                return ended

    async def _carry_out(
        self, move: Move, step: ProposedCall | ProposedFinish | RefusedStep
    ) -> VerbPlanOutput | None:
        """One move; what it ends the turn with, None where the loop goes on."""
        progress = self._progress
        if move is Move.EXECUTE_ACTION and isinstance(step, ProposedCall):
            await self._execute(step)
            return None
        add_step(progress, step.thought, step.answer)
        if move is Move.REQUEST_REPLAN:
            progress.reasks += isinstance(step, RefusedStep)
            progress.reask = (
                str(step.reason) if isinstance(step, RefusedStep) else str(SuperviseReason.REPLAN)
            )
            return None
        if move is Move.ESCALATE_AGENT_CHAIN:
            return self._ended(await escalate(self._escalation, (step.answer,)))
        if move is Move.CHECKPOINT_COUNCIL:
            return self._ended(await consult(self._escalation, (step.answer,)))
        if move is Move.FINISH and isinstance(step, ProposedFinish):
            return self._finished(step)
        raise AssertionError(
            "rule supervise lets nothing finish without an answer and nothing be executed without "
            "an action"
        )

    def _ended(self, came: Escalated) -> VerbPlanOutput:
        if came.answer is None:
            return _failed(self._done, came.error, came.message)
        return _answered(self._done, came.answer)

    def _bounded(self) -> VerbPlanOutput | None:
        progress, done = self._progress, self._done
        match bound_met(self._context, progress):
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
                return None

    async def _execute(self, step: ProposedCall) -> None:
        """One planned step; the time a person takes to answer is not the turn's."""
        context, progress, done = self._context, self._progress, self._done
        progress.reask, before = None, context.now()
        acted = await carry_out(context, progress, step)
        ok = isinstance(acted.result, VerbReturned)
        error = acted.denied or error_of(acted).get("code", "")
        digest = call_digest(step.call)
        done.append(
            StepResult(
                step_name=step.call.verb,
                order=len(done),
                ok=ok,
                error=error,
                call=digest,
                skipped=bool(acted.denied),
            )
        )
        if context.catalog.verbs[step.call.verb].spec.session_only:
            self._context = context.until(context.deadline + context.now() - before)

    def _finished(self, step: ProposedFinish) -> VerbPlanOutput:
        if bound_met(self._context, self._progress, answered=True) is not None:
            return _failed(self._done, "token_limit", "the answer exceeds the turn's tokens")
        return _answered(self._done, step.final_answer)

    async def _supervise(self, step: NextStep) -> Move | SuperviseFailed:
        context, progress = self._context, self._progress
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
        outcome = context.fx.decide(
            SUPERVISE, facts, SuperviseInputs(proposal=proposal), refs
        ).outcome
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


def _why(progress: Progress, step: NextStep, *, stops: bool) -> str:
    """What a person is told; of a model that gives no step, that it does not plan, and what does
    without. ``stops``: what was wrong ends as a sentence, which it did not before version 9.
    """
    match step:
        case AskFailed(code=code, message=message) if code in UNPLANNED:
            return f"{NO_PLAN}: it gave no whole step, {message}. {INSTEAD}"
        case AskFailed(message=message):
            return message
        case RefusedStep(reason=reason, detail=detail):
            last = f"{reason.meaning} {detail}".strip()
            last = f"{last.rstrip('.')}." if stops else last
            many = progress.reasks + 1
            refused = f"{many} of its proposals were" if many > 1 else "its proposal was"
            return f"{NO_PLAN}: {refused} no step of a plan. {last} {INSTEAD}"
        case _:
            return "the supervisor's decision is not valid here"


def _answered(done: list[StepResult], answer: dict[str, object]) -> VerbPlanOutput:
    return VerbPlanOutput(
        ok=True,
        output=answer,
        trust={"content": Trust.FOREIGN, "structured": Trust.FOREIGN},
        step_results=tuple(done),
    )


def _failed(done: list[StepResult], code: str, message: str) -> VerbPlanOutput:
    return VerbPlanOutput(ok=False, error=code, message=message, step_results=tuple(done))
