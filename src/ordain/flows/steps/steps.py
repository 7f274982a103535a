"""The planner's step: what any loop that is driven by a planner model shares (B-02, PLN-32,
PLN-35).

``next_step`` asks the model for a directive and lets rule ``step`` judge it; it executes nothing.
``carry_out`` executes what was found executable. Which of them comes next is the loop's business,
and rules decide it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import PlannerRequest, ToolRef
from ordain.contracts.schema import Schema
from ordain.effects.calls import Call
from ordain.effects.results import ModelAnswer
from ordain.flows.act import act
from ordain.flows.acted import Acted
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.kind import PromptKind
from ordain.flows.observations import observation
from ordain.flows.steps.trace import OfferedTool, filled_tools, proposal_of, step_wire
from ordain.flows.transcript import HistoryRef
from ordain.journal.digests import content_digest
from ordain.rules.limits import LIMITS, LimitsFacts, LimitsSet
from ordain.rules.proposals import Parsed
from ordain.rules.reasons import Reason
from ordain.rules.scope import SCOPE, ScopeFacts, ScopeInputs, ScopeRefused
from ordain.rules.step import OF_A_CALL, STEP, CallTool, Finish, Invalid, StepFacts, StepInputs


class Step(Struct, frozen=True, kw_only=True):
    """One past step: its wire form, and the seqs of the records it came from."""

    wire: dict[str, Any]
    answer: int
    acted: int | None = None
    denied: str = ""


class ProposedCall(Struct, frozen=True, kw_only=True):
    """A directive that rule ``step`` found executable."""

    call: Call
    thought: str | None
    answer: int


class ProposedFinish(Struct, frozen=True, kw_only=True):
    """A final answer that rule ``step`` accepted."""

    final_answer: dict[str, Any]
    thought: str | None
    answer: int


class RefusedStep(Struct, frozen=True, kw_only=True):
    """A directive that is not executable: the reason, the place in it, and whether it proposed a
    call all the same.
    """

    reason: Reason
    detail: str
    calls: bool
    thought: str | None
    answer: int


class Progress(Struct, kw_only=True):
    """Where a planning run stands: what was asked, what holds, what was done. Driven by one loop,
    rebuilt by re-execution.

    ``beside`` are records that prompts show beside the steps, each with its size in bytes;
    ``sizes`` those of the steps' wire form, of as many as a prompt was asked for with. With
    ``counts`` a refused directive that means a call counts as a proposed one.
    """

    request: PlannerRequest
    limits: LimitsSet
    prompt: PromptKind[Progress]
    began: int
    tools: tuple[OfferedTool, ...] = ()
    schemas: Mapping[str, tuple[Schema, ...]] = {}
    answer_schema: Schema | None = None
    counts: bool = False
    size: Any = None
    history: HistoryRef | None = None
    narrative: str = ""
    role: str = ""
    steps: list[Step] = []
    sizes: list[int] = []
    tools_called: list[str] = []
    tokens_reason: int = 0
    tokens_answer: int = 0
    estimated: bool = False
    reasks: int = 0
    reask: str | None = None
    first_refusal: RefusedStep | None = None
    beside: dict[str, tuple[int, int]] = {}


NextStep = ProposedCall | ProposedFinish | RefusedStep | AskFailed


async def next_step(context: FlowContext, progress: Progress) -> NextStep:
    """Ask for one directive, judge it, execute nothing (EXE-13, B-02)."""
    answer = await ask(context, progress.prompt, progress)
    if isinstance(answer, AskFailed):
        return answer
    return _judge(context, progress, answer)


def _judge(context: FlowContext, progress: Progress, answer: ModelAnswer) -> NextStep:
    proposal = proposal_of(answer)
    facts = StepFacts(
        step_index=len(progress.steps),
        size_bytes=proposal.size_bytes,
        tools=len(progress.tools),
        counts=progress.counts or UNSET,
        weighs=context.catalog.data.strict_verdicts or UNSET,
        meant=context.catalog.data.meant_verdicts or UNSET,
    )
    inputs = StepInputs(
        proposal=proposal,
        tools=progress.schemas,
        registered=context.catalog.verbs.keys(),
        answer=progress.answer_schema,
        text=answer.content or "",
    )
    decision = context.fx.decide(STEP, facts, inputs, (answer.seq,))
    value = proposal.value if isinstance(proposal, Parsed) else {}
    thought = value.get("thought")
    thought = thought if isinstance(thought, str) else None
    match decision.outcome:
        case Finish():
            _book(progress, answer, finishing=True)
            final = {
                "content": value["final_answer"]["content"],
                "structured": value["final_answer"].get("structured", {}),
            }
            return ProposedFinish(final_answer=final, thought=thought, answer=answer.seq)
        case CallTool():
            _book(progress, answer, finishing=False)
            action = value["action"]
            return ProposedCall(
                call=Call(verb=action["tool_id"], args=action["input"]),
                thought=thought,
                answer=answer.seq,
            )
        case Invalid(detail=detail, calls=meant):
            _book(progress, answer, finishing=False)
            calls = meant is True or decision.reason in OF_A_CALL
            return RefusedStep(
                reason=decision.reason,
                detail=detail,
                calls=calls,
                thought=thought,
                answer=answer.seq,
            )
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


def begin(
    context: FlowContext,
    request: PlannerRequest,
    prompt: PromptKind[Progress],
    *,
    counts: bool = False,
) -> tuple[FlowContext, Progress, ScopeRefused | None]:
    """Settle limits, deadline and scope; whatever drives ``next_step`` begins with this (B-02). The
    context is what the loop works in.

    Without ``counts`` a directive that is refused for its shape is no proposed call, as versions
    have it that began before that was counted.
    """
    limits = _limits(context, request)
    began = context.now()
    context = context.until(min(context.deadline, began + limits.timeout_ms * 1000))
    progress = Progress(request=request, limits=limits, prompt=prompt, began=began, counts=counts)
    asked = tuple(tool.tool_id for tool in request.toolset)
    digest = content_digest("\n".join(asked).encode())
    inputs = ScopeInputs(asked=asked, catalog=context.catalog)
    outcome = context.fx.decide(
        SCOPE, ScopeFacts(asked=len(asked), digest=digest), inputs, (0,)
    ).outcome
    if isinstance(outcome, ScopeRefused):
        return context, progress, outcome
    by_id = {tool.tool_id: tool for tool in request.toolset}
    progress.tools = filled_tools(context.catalog, request)
    progress.answer_schema = (
        None if request.answer_schema is None else context.catalog.schema(request.answer_schema)
    )
    progress.schemas = {verb: _schemas(context.catalog, by_id[verb]) for verb in outcome.verbs}
    return context.narrowed(outcome.verbs), progress, None


async def carry_out(context: FlowContext, progress: Progress, step: ProposedCall) -> Acted:
    """Execute a proposed call and add the step."""
    acted: Acted = await act(context, step.call, (step.answer,))
    if not acted.denied:
        progress.tools_called.append(step.call.verb)
    action = {"tool_id": step.call.verb, "input": step.call.args}
    add_step(progress, step.thought, step.answer, action=action, acted=acted)
    return acted


def add_step(
    progress: Progress,
    thought: str | None,
    answer: int,
    *,
    action: dict[str, Any] | None = None,
    acted: Acted | None = None,
) -> None:
    """Add what one directive came to."""
    wire = step_wire(
        len(progress.steps), thought, action, None if acted is None else observation(acted)
    )
    if acted is None:
        progress.steps.append(Step(wire=wire, answer=answer))
    elif acted.seq >= 0:
        progress.steps.append(Step(wire=wire, answer=answer, acted=acted.seq))
    else:
        progress.steps.append(Step(wire=wire, answer=answer, denied=acted.denied))


def _limits(context: FlowContext, request: PlannerRequest) -> LimitsSet:
    asked = request.limits
    facts = LimitsFacts(
        max_steps=asked.max_steps,
        max_tokens_reason=asked.max_tokens_reason,
        max_tokens_answer=asked.max_tokens_answer,
        timeout_ms=round(asked.timeout_seconds * 1000),
    )
    return context.fx.decide(LIMITS, facts, None, (0,)).outcome


def _schemas(catalog: Catalog, tool: ToolRef) -> tuple[Schema, ...]:
    """What an input must fit: the registry's schema, and the request's where it gives a different
    one. A request only narrows.
    """
    own = catalog.verbs[tool.tool_id].input
    if not tool.input_schema or tool.input_schema == own.source:
        return (own,)
    return own, catalog.schema(tool.input_schema)
