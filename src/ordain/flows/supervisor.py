"""Flow ``supervisor``: verb ``agent_runtime``. The planner proposes one step at a time, rule ``supervise`` says what is done with it (C2).

The second driver of ``planner.next_step`` (B-02): same validator, other loop. Nothing slides: no directive is a failure (EXE-06), an
escalation that this build lacks is ``path_unavailable``, and the loop is bounded by its step cap (EXE-16) and its time.
"""

from __future__ import annotations

from dataclasses import replace

import msgspec
from msgspec import Struct

from ordain.contracts.planner import ExternalFacts, Goal, GoalMetadata, Limits, PlannerContext, PlannerRequest, ToolRef
from ordain.contracts.verbs import Trust
from ordain.effects.results import ModelAnswer, VerbReturned
from ordain.flows.act import HistoryRef, StepResult, VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.ask import AskFailed, Question, ask
from ordain.flows.context import Flow, FlowContext, settled_by_error
from ordain.flows.observations import error_of
from ordain.flows.planner import (
    NextStep,
    Progress,
    ProposedCall,
    ProposedFinish,
    Refused,
    add_step,
    begin,
    carry_out,
    left_answer,
    left_reason,
    next_step,
)
from ordain.flows.verb_plan import proposal_of
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER
from ordain.ports.effects import Interrupted
from ordain.prompts.supervisor_step import NAME as SUPERVISOR_PROMPT
from ordain.prompts.supervisor_step import SupervisorPrompt, size_bound
from ordain.rules.proposals import Parsed, Unparsed
from ordain.rules.supervise import SUPERVISE, Move, Pending, SuperviseFacts, SuperviseFailed, SuperviseInputs, SuperviseReason

SUPERVISOR_TOKENS = 100
SHOWN_STEPS = 3


class SupervisorArgs(Struct, frozen=True, kw_only=True):
    """The arguments of ``agent_runtime``: what the user said, the tools and the caps, as the turn's rules decided them.

    ``before``: what an interrupted run had done that this one takes the place of. ``recalled``: fragments of memory, a JSON object a line.
    """

    text: str
    tools: tuple[str, ...]
    max_steps: int
    max_tokens_reason: int
    max_tokens_answer: int
    timeout_ms: int
    before: str = ""
    recalled: str = ""

    @property
    def known(self) -> str:
        """What the planner is told beside the request; "" where there is nothing."""
        done = f"Already done before this request:\n{self.before}" if self.before else ""
        return "\n\n".join(filter(None, (done, self.recalled)))


def request_of(call: VerbPlanInput) -> PlannerRequest:
    """The planner's request behind a supervised turn; its history is by reference and stands in the prompt alone."""
    args = msgspec.convert(call.args, SupervisorArgs)
    return PlannerRequest(
        caller="hub",
        goal=Goal(type="chat", description=args.text, metadata=GoalMetadata(mode="agent")),
        context=PlannerContext(external_facts=ExternalFacts(text=args.known)) if args.known else PlannerContext(),
        toolset=[ToolRef(tool_id=tool) for tool in args.tools],
        limits=Limits(
            max_steps=args.max_steps,
            max_tokens_reason=args.max_tokens_reason,
            max_tokens_answer=args.max_tokens_answer,
            timeout_seconds=args.timeout_ms / 1000,
        ),
    )


async def run_supervisor(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Work on what the user said until there is a validated answer, or say exactly why there is none."""
    granted, context.turn = context.scope, turn_kind(call)
    progress, refused = begin(context, request_of(call))
    context.scope &= granted  # what the turn's rules gave is never widened by the call's arguments
    if refused is not None:
        return VerbPlanOutput(ok=False, error=refused.code, message=f"tool {refused.verb}")
    progress.history = call.history or HistoryRef(session=context.session)
    progress.narrative = "final_answer.content" if call.narrate else ""
    done: list[StepResult] = []
    try:
        return await _loop(context, progress, done)
    except Interrupted:
        return _failed(done, "cancelled", "interrupted")


async def _loop(context: FlowContext, progress: Progress, done: list[StepResult]) -> VerbPlanOutput:
    while True:
        if context.now() >= context.deadline:
            return _failed(done, "timed_out", "the turn's time is over")
        if len(progress.steps) >= progress.limits.max_steps:
            return _failed(done, "max_steps_exhausted", f"no final answer within {progress.limits.max_steps} steps")
        if left_reason(progress) < 0:
            return _failed(done, "token_limit", "the turn's tokens for reasoning are spent")
        step = await next_step(context, progress)
        move = await _supervise(context, progress, step)
        if isinstance(move, SuperviseFailed):
            return _failed(done, move.code, step.message if isinstance(step, AskFailed) else _why(step))
        if move is Move.FINISH and isinstance(step, ProposedFinish):
            add_step(progress, step.thought, step.answer)
            return _finished(progress, done, step)
        if move is Move.EXECUTE_ACTION and isinstance(step, ProposedCall):
            await _execute(context, progress, step, done)
        elif move is Move.REQUEST_REPLAN and not isinstance(step, AskFailed):
            add_step(progress, step.thought, step.answer)
            progress.reasks += isinstance(step, Refused)
            progress.reask = str(step.reason) if isinstance(step, Refused) else str(SuperviseReason.REPLAN)
        else:
            return _failed(done, "path_unavailable", f"this build cannot carry out {move}")


async def _execute(context: FlowContext, progress: Progress, step: ProposedCall, done: list[StepResult]) -> None:
    """One planned step; the time a person takes to answer is not the turn's."""
    progress.reask, before = None, context.now()
    acted = await carry_out(context, progress, step)
    if context.catalog.verbs[step.call.verb].spec.flow is not None:
        context.deadline = min(context.hard, context.deadline + context.now() - before)
    ok = isinstance(acted.result, VerbReturned)
    error = acted.denied or error_of(acted).get("code", "")
    digest = content_digest(ENCODER.encode(step.call))
    done.append(StepResult(step_name=step.call.verb, order=len(done), ok=ok, error=error, call=digest))


async def _supervise(context: FlowContext, progress: Progress, step: NextStep) -> Move | SuperviseFailed:
    policy = context.catalog.policy.supervisor
    pending, code = _pending(step)
    proposal: Parsed | Unparsed | None = None
    refs = () if isinstance(step, AskFailed) else (step.answer,)
    asks = policy.ask is not None and pending in (Pending.ACTION, Pending.FINAL)
    if asks and not isinstance(step, AskFailed):
        answer = await ask(context, _question(context, progress, step.answer, pending))
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
        case Refused(reason=reason):
            return Pending.REFUSED, str(reason)
        case AskFailed(code=code):
            return Pending.FAILED, code


def _question(context: FlowContext, progress: Progress, answer: int, pending: Pending) -> Question:
    shown = progress.steps[-SHOWN_STEPS:]
    left = progress.limits.max_steps - len(progress.steps)
    prompt = SupervisorPrompt(trace=tuple(step.wire for step in shown), pending=str(pending), proposal={}, steps_left=left)
    return Question(
        purpose="supervisor",
        prompt=SUPERVISOR_PROMPT,
        contract="supervisor_step",
        refs=(0, answer, *(seq for step in shown for seq in (step.answer, step.acted) if seq is not None)),
        args={
            "answer": answer,
            "first": len(progress.steps) - len(shown),
            "steps": [[step.answer, step.acted, step.denied] for step in shown],
            "pending": str(pending),
            "left": left,
        },
        prompt_tokens=size_bound(context.catalog.data.prompts[SUPERVISOR_PROMPT], prompt, context.catalog.policy.step.max_bytes),
        max_tokens=SUPERVISOR_TOKENS,
    )


def _finished(progress: Progress, done: list[StepResult], step: ProposedFinish) -> VerbPlanOutput:
    if left_answer(progress) < 0 or left_reason(progress) < 0:
        return _failed(done, "token_limit", "the answer exceeds the turn's tokens")
    return VerbPlanOutput(
        ok=True, output=step.final_answer, trust={"content": Trust.FOREIGN, "structured": Trust.FOREIGN}, step_results=tuple(done)
    )


def _why(step: NextStep) -> str:
    return f"{step.reason.meaning} {step.detail}".strip() if isinstance(step, Refused) else "the supervisor's decision is not valid here"


def _failed(done: list[StepResult], code: str, message: str) -> VerbPlanOutput:
    return VerbPlanOutput(ok=False, error=code, message=message, step_results=tuple(done))


async def run_untold(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 1, for runs that began as such: its tools were not told what the turn is like."""
    context.tells_turn = False
    return await run_supervisor(context, call)


SUPERVISOR_FLOW: Flow[VerbPlanInput, VerbPlanOutput] = Flow(
    name="supervisor", version=2, run=run_supervisor, decode_input=msgspec.json.Decoder(VerbPlanInput).decode, settle=settled_by_error
)
UNTOLD_SUPERVISOR = replace(SUPERVISOR_FLOW, version=1, run=run_untold)
"""The version before, for what was begun under it."""
