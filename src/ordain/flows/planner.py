"""Flow ``planner``: the ReAct loop of ``POST /plan/react`` (PLN-01, PLN-32).

``next_step`` is the one step function: it asks the model for a directive and lets rule ``step`` judge it. This loop calls
it, and so may any other driver (B-02). The chain of tools is in no request; it emerges from toolset, trace and proposals
(PLN-35).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec import Raw

from ordain.contracts.catalog import Catalog, Schema
from ordain.contracts.planner import CONTENT_MAX, PlannerRequest, ToolRef
from ordain.effects.calls import Call
from ordain.effects.results import ModelAnswer
from ordain.flows.act import Acted, HistoryRef, act
from ordain.flows.ask import AskFailed, Question, ask
from ordain.flows.context import Flow, FlowContext, Settlement, open_account
from ordain.flows.observations import observation
from ordain.flows.verb_plan import proposal_of
from ordain.journal.digests import content_digest
from ordain.journal.records import Status
from ordain.ports.effects import Interrupted
from ordain.prompts.planner_step import NAME, TRACE_STEPS, PlannerPrompt, fixed_size, planner_base, size_bound, with_progress
from ordain.rules.limits import LIMITS, LimitsFacts, LimitsSet
from ordain.rules.proposals import Parsed
from ordain.rules.reasons import Reason
from ordain.rules.scope import SCOPE, ScopeFacts, ScopeInputs, ScopeRefused
from ordain.rules.step import REASK, STEP, CallTool, Finish, Invalid, Reask, ReaskFacts, StepFacts, StepInputs

PLANNER = "planner"
CONTRACT = "planner_step"


StepRefs = tuple[int, int | None, str]
"""A step's records: seq of the model's answer, seq of what its call gave (None: nothing went live), reason of a refused call."""


class PlannerOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The source's response (PLN-18) but for what the runtime adds: ``run_id``, ``header`` and the trace.

    ``steps`` are the trace by reference (``StepRefs``): what a model or a verb said stands in the journal once.
    """

    request_id: str
    status: str
    error: dict[str, str] | None
    final_answer: dict[str, Any] | None
    steps: tuple[StepRefs, ...]
    usage: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One past step: its wire form, and the seqs of the records it came from."""

    wire: dict[str, Any]
    answer: int
    acted: int | None = None
    denied: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedCall:
    """A directive that rule ``step`` found executable."""

    call: Call
    thought: str | None
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedFinish:
    """A final answer that rule ``step`` accepted."""

    final_answer: dict[str, Any]
    thought: str | None
    answer: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A directive that is not executable: the reason, and the place in it."""

    reason: Reason
    detail: str
    thought: str | None
    answer: int


@dataclass(slots=True, kw_only=True)
class Progress:
    """Where a planning run stands: what was asked, what holds, what was done. Driven by one loop, rebuilt by re-execution."""

    request: PlannerRequest
    limits: LimitsSet
    tools: tuple[ToolRef, ...]
    schemas: Mapping[str, tuple[Schema, ...]]
    toolset: str
    began: int
    base: tuple[PlannerPrompt, int] | None = None
    history: HistoryRef | None = None
    narrative: str = ""
    steps: list[Step] = field(default_factory=list[Step])
    tools_called: list[str] = field(default_factory=list[str])
    tokens_reason: int = 0
    tokens_answer: int = 0
    estimated: bool = False
    reasks: int = 0
    reask: str | None = None
    first_refusal: Refused | None = None


NextStep = ProposedCall | ProposedFinish | Refused | AskFailed


async def next_step(context: FlowContext, progress: Progress) -> NextStep:
    """Ask for one directive, judge it, execute nothing (EXE-13, B-02)."""
    index = len(progress.steps)
    left = progress.limits.max_steps - index
    shown = progress.steps[-TRACE_STEPS:]
    if progress.base is None:
        base = planner_base(progress.request, progress.tools)
        more = 0 if progress.history is None else 2 * progress.history.size_bytes
        progress.base = base, fixed_size(base) + more
    base, fixed = progress.base
    prompt = with_progress(base, tuple(step.wire for step in shown), left, progress.reask)
    args: dict[str, Any] = {"first": index - len(shown), "steps": [[step.answer, step.acted, step.denied] for step in shown], "left": left}
    if progress.reask is not None:
        args["reask"] = progress.reask
    answer = await ask(
        context,
        Question(
            purpose=PLANNER,
            prompt=NAME,
            contract=CONTRACT,
            refs=(0, *(seq for step in shown for seq in (step.answer, step.acted) if seq is not None)),
            args=args,
            prompt_tokens=_bound(context, progress, prompt, fixed),
            max_tokens=max(1, left_reason(progress), left_answer(progress)),
            narrative=progress.narrative,
        ),
    )
    if isinstance(answer, AskFailed):
        return answer
    return _judge(context, progress, answer)


def _bound(context: FlowContext, progress: Progress, prompt: PlannerPrompt, fixed: int) -> int:
    """The prompt's upper bound; the entries of a session's history repeat their part of the template."""
    source = context.catalog.data.prompts[NAME]
    entries = 0 if progress.history is None else progress.history.entries + 1
    return size_bound(source, prompt, fixed) + entries * len(source.encode())


def _judge(context: FlowContext, progress: Progress, answer: ModelAnswer) -> NextStep:
    proposal = proposal_of(answer)
    facts = StepFacts(step_index=len(progress.steps), size_bytes=proposal.size_bytes, tools=len(progress.tools), toolset=progress.toolset)
    inputs = StepInputs(proposal=proposal, tools=progress.schemas, registered=context.catalog.verbs.keys())
    decision = context.fx.decide(STEP, facts, inputs, (answer.seq,))
    value = proposal.value if isinstance(proposal, Parsed) else {}
    thought = value.get("thought")
    thought = thought if isinstance(thought, str) else None
    match decision.outcome:
        case Finish():
            _book(progress, answer, finishing=True)
            final = {"content": value["final_answer"]["content"], "structured": value["final_answer"].get("structured", {})}
            return ProposedFinish(final_answer=final, thought=thought, answer=answer.seq)
        case CallTool():
            _book(progress, answer, finishing=False)
            action = value["action"]
            return ProposedCall(call=Call(verb=action["tool_id"], args=action["input"]), thought=thought, answer=answer.seq)
        case Invalid(detail=detail):
            _book(progress, answer, finishing=False)
            return Refused(reason=decision.reason, detail=detail, thought=thought, answer=answer.seq)
        case _:
            raise AssertionError("rule step has three outcomes")


def _book(progress: Progress, answer: ModelAnswer, *, finishing: bool) -> None:
    """Completion tokens of a finishing call are answer tokens, all others reason tokens (B-42)."""
    if finishing:
        progress.tokens_answer += answer.output_tokens
    else:
        progress.tokens_reason += answer.output_tokens
    progress.estimated = progress.estimated or answer.estimated


def left_reason(progress: Progress) -> int:
    """Tokens that steps before the last may still have; less than nothing when overdrawn (B-42)."""
    return progress.limits.max_tokens_reason - progress.tokens_reason


def left_answer(progress: Progress) -> int:
    """Tokens that the finishing step may still have (B-42)."""
    return progress.limits.max_tokens_answer - progress.tokens_answer


def begin(context: FlowContext, request: PlannerRequest) -> tuple[Progress, ScopeRefused | None]:
    """Settle limits, deadline and scope of a planning run; any driver of ``next_step`` begins with this (B-02)."""
    limits = _limits(context, request)
    context.deadline = min(context.deadline, context.now() + limits.timeout_ms * 1000)
    progress = Progress(request=request, limits=limits, tools=(), schemas={}, toolset="", began=context.now())
    return progress, _scope(context, progress)


async def run_planner(context: FlowContext, request: PlannerRequest) -> PlannerOutcome:
    """Work on one goal until there is an answer, or say exactly why there is none."""
    progress, refused = begin(context, request)
    if refused is not None:
        return _end(context, progress, "error", _error(refused.code, f"toolset: {refused.verb}"))
    try:
        if (short := await open_account(context, request.caller)) is not None:
            return _end(context, progress, "error", _error("budget_exceeded", f"account {short.account} does not cover the run"))
        return await _loop(context, progress)
    except Interrupted as interrupted:
        return _end(context, progress, "error", _error("cancelled", f"{interrupted.what} by {interrupted.by}"))


async def _loop(context: FlowContext, progress: Progress) -> PlannerOutcome:
    while len(progress.steps) < progress.limits.max_steps:
        if context.now() >= context.deadline:
            return _timeout(context, progress)
        step = await next_step(context, progress)
        match step:
            case ProposedFinish():
                add_step(progress, step.thought, step.answer)
                return _finish(context, progress, step)
            case Refused():
                add_step(progress, step.thought, step.answer)
                first = progress.first_refusal = progress.first_refusal or step
                facts = ReaskFacts(used=progress.reasks, reason=step.reason)
                if not isinstance(context.fx.decide(REASK, facts, None, (step.answer,)).outcome, Reask):
                    return _end(context, progress, "error", _error(first.reason, f"{first.reason.meaning} {first.detail}".strip()))
                progress.reasks, progress.reask = progress.reasks + 1, step.reason
            case ProposedCall():
                progress.reask = None
                await carry_out(context, progress, step)
            case AskFailed():
                if context.now() >= context.deadline:
                    return _timeout(context, progress)
                return _end(context, progress, "error", _error(step.code, step.message))
        if left_reason(progress) < 0:
            return _end(context, progress, "error", _error("token_limit", "max_tokens_reason is spent"), _salvage(progress, "token_limit"))
    return _end(
        context,
        progress,
        "error",
        _error("max_steps_exhausted", f"no final answer within {progress.limits.max_steps} steps"),
        _salvage(progress, "max_steps_exhausted"),
    )


async def carry_out(context: FlowContext, progress: Progress, step: ProposedCall) -> Acted:
    """Execute a proposed call and add the step."""
    acted: Acted = await act(context, step.call, (step.answer,))
    if not acted.denied:
        progress.tools_called.append(step.call.verb)
    action = {"tool_id": step.call.verb, "input": step.call.args}
    add_step(progress, step.thought, step.answer, action=action, acted=acted)
    return acted


def add_step(
    progress: Progress, thought: str | None, answer: int, *, action: dict[str, Any] | None = None, acted: Acted | None = None
) -> None:
    """Add what one directive came to."""
    wire = step_wire(len(progress.steps), thought, action, None if acted is None else observation(acted))
    if acted is None:
        progress.steps.append(Step(wire=wire, answer=answer))
    elif acted.seq >= 0:
        progress.steps.append(Step(wire=wire, answer=answer, acted=acted.seq))
    else:
        progress.steps.append(Step(wire=wire, answer=answer, denied=acted.denied))


def step_wire(index: int, thought: str | None, action: dict[str, Any] | None, observed: dict[str, Any] | None) -> dict[str, Any]:
    """One trace step (PLN-20)."""
    return {"step_index": index, "thought": thought, "action": action, "observation": observed}


def _finish(context: FlowContext, progress: Progress, step: ProposedFinish) -> PlannerOutcome:
    if left_answer(progress) < 0 or left_reason(progress) < 0:
        salvaged = {
            "content": step.final_answer["content"],
            "structured": {**step.final_answer["structured"], "salvaged": True, "stop_reason": "token_limit"},
        }
        return _end(context, progress, "error", _error("token_limit", "the answer exceeds max_tokens_answer"), salvaged)
    return _end(context, progress, "ok", None, step.final_answer)


def _timeout(context: FlowContext, progress: Progress) -> PlannerOutcome:
    return _end(context, progress, "timeout", _error("timeout", "timeout_seconds is over"), _salvage(progress, "timeout"))


def _salvage(progress: Progress, stop_reason: str) -> dict[str, Any] | None:
    """What the last step's tool gave, marked as no answer (B-01); a thought is never made an answer (B-26)."""
    observed = progress.steps[-1].wire["observation"] if progress.steps else None
    if not observed or not observed["llm_output"]:
        return None
    return {"content": observed["llm_output"][:CONTENT_MAX], "structured": {"salvaged": True, "stop_reason": stop_reason}}


def _error(code: str, message: str) -> dict[str, str]:
    return {"code": code, "message": message}


def _limits(context: FlowContext, request: PlannerRequest) -> LimitsSet:
    asked = request.limits
    facts = LimitsFacts(
        max_steps=asked.max_steps,
        max_tokens_reason=asked.max_tokens_reason,
        max_tokens_answer=asked.max_tokens_answer,
        timeout_ms=round(asked.timeout_seconds * 1000),
    )
    return context.fx.decide(LIMITS, facts, None, (0,)).outcome


def _scope(context: FlowContext, progress: Progress) -> ScopeRefused | None:
    asked = tuple(tool.tool_id for tool in progress.request.toolset)
    digest = content_digest("\n".join(asked).encode())
    decision = context.fx.decide(
        SCOPE, ScopeFacts(asked=len(asked), digest=digest), ScopeInputs(asked=asked, catalog=context.catalog), (0,)
    )
    if isinstance(decision.outcome, ScopeRefused):
        return decision.outcome
    by_id = {tool.tool_id: tool for tool in progress.request.toolset}
    progress.tools = filled_tools(context.catalog, progress.request)
    progress.schemas = {verb: _schemas(context.catalog, by_id[verb]) for verb in decision.outcome.verbs}
    progress.toolset = digest
    context.scope = frozenset(decision.outcome.verbs)
    return None


def filled_tools(catalog: Catalog, request: PlannerRequest) -> tuple[ToolRef, ...]:
    """The request's tools without repeats; the registry fills what the request leaves out (PLN-17)."""
    by_id = {tool.tool_id: tool for tool in request.toolset}
    return tuple(_filled(catalog, tool) for tool in by_id.values())


def _filled(catalog: Catalog, tool: ToolRef) -> ToolRef:
    spec = catalog.verbs[tool.tool_id].spec
    return ToolRef.model_construct(
        tool_id=tool.tool_id,
        description=tool.description if tool.description is not None else spec.description,
        input_schema=tool.input_schema if tool.input_schema is not None else spec.input_schema,
        output_schema=tool.output_schema if tool.output_schema is not None else spec.output_schema,
    )


def _schemas(catalog: Catalog, tool: ToolRef) -> tuple[Schema, ...]:
    """What an input must fit: the registry's schema, and the request's where it gives a different one. A request only narrows."""
    own = catalog.verbs[tool.tool_id].input
    if not tool.input_schema or tool.input_schema == own.source:
        return (own,)
    return own, catalog.schema(tool.input_schema)


def _end(
    context: FlowContext, progress: Progress, status: str, error: dict[str, str] | None, answer: dict[str, Any] | None = None
) -> PlannerOutcome:
    return PlannerOutcome(
        request_id=progress.request.request_id or "",
        status=status,
        error=error,
        final_answer=answer,
        steps=tuple((step.answer, step.acted, step.denied) for step in progress.steps),
        usage={
            "steps": len(progress.steps),
            "tokens_reason": progress.tokens_reason,
            "tokens_answer": progress.tokens_answer,
            "tools_called": progress.tools_called,
            "duration_ms": (context.now() - progress.began) // 1000,
            "estimated": progress.estimated,
        },
    )


def _settle(outcome: PlannerOutcome) -> Settlement:
    if outcome.error is None:
        return Settlement(status=Status.COMPLETED, reason="ok")
    code = outcome.error["code"]
    statuses = {"timeout": Status.TIMED_OUT, "cancelled": Status.CANCELLED}
    return Settlement(status=statuses.get(code, Status.FAILED), reason=code)


def _decode(data: Raw) -> PlannerRequest:
    return PlannerRequest.model_validate_json(bytes(data))


PLANNER_FLOW: Flow[PlannerRequest, PlannerOutcome] = Flow(name=PLANNER, version=1, run=run_planner, decode_input=_decode, settle=_settle)
