"""The planner prompt: what the planner model sees before each step (PLN-32, PLN-39, C2), put on
record and made from it again.

Everything is cut to a declared limit here, so that the size of the rendered prompt has an upper
bound before it is rendered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.catalog import Catalog
from ordain.contracts.planner import CONTENT_MAX, THOUGHT_MAX, PlannerRequest, ToolRef
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.steps.steps import Progress, left_answer, left_reason
from ordain.flows.steps.trace import NOTHING_LIVE, OfferedTool, filled_tools, shown_steps
from ordain.flows.transcript import Spoken
from ordain.flows.values import PromptInputs, Values, advice_bytes
from ordain.ports.model import ByCode
from ordain.rules.thoughts import withhold_thought

PURPOSE = "planner"
TEMPLATE = "planner_step"
TRACE_STEPS = 3
TRACE_CHARS = 1000
MESSAGE_CHARS = 14_000
FACTS_CHARS = 10_000
HISTORY_MESSAGES = 20
HISTORY_CHARS = 2000
GOAL_CHARS = 14_000
STATE_CHARS = 4000
TOOL_CHARS = 2000


class PlannerPrompt(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The template's input.

    ``reask`` is the reason code of the directive that was refused, if one was; ``message`` what a
    session's user said, for providers that are no language model.
    """

    goal_type: str
    goal: str
    user_message: str | None
    history: tuple[dict[str, str], ...]
    facts: dict[str, Any]
    state: dict[str, Any]
    tools: tuple[dict[str, Any], ...]
    trace: tuple[dict[str, Any], ...]
    steps_left: int
    reask: str | None
    style: str
    message: str | None = None
    answer_schema: dict[str, Any] | None = None


def with_progress(
    base: PlannerPrompt, trace: tuple[dict[str, Any], ...], steps_left: int, reask: str | None
) -> PlannerPrompt:
    """The request's part with what changes from step to step; ``trace`` holds the wire form of
    earlier steps, the last three are shown.
    """
    return msgspec.structs.replace(
        base, trace=trace[-TRACE_STEPS:], steps_left=steps_left, reask=reask
    )


def planner_base(request: PlannerRequest, tools: Sequence[ToolRef | OfferedTool]) -> PlannerPrompt:
    """The request's part of the prompt, cut and arranged: the same for every step of a run."""
    goal, context = request.goal, request.context
    history = context.conversation_history[-HISTORY_MESSAGES:]
    newest = len(history) - 1
    # of what a request leaves out, as most do, pydantic has nothing to say
    outside, known = context.external_facts, context.orion_state_snapshot
    facts = outside.model_dump(exclude_none=True) if outside.model_fields_set else {}
    state = known.model_dump(exclude_defaults=True) if known.model_fields_set else {}
    if isinstance(facts.get("text"), str):
        facts["text_cut"] = len(facts["text"]) > FACTS_CHARS
        facts["text"] = facts["text"][:FACTS_CHARS]
    if not facts.get("text_cut"):
        facts.pop("text_cut", None)
    return PlannerPrompt(
        goal_type=goal.type,
        goal=_cut(goal.description, GOAL_CHARS),
        user_message=None
        if goal.metadata.user_message is None
        else _cut(goal.metadata.user_message, MESSAGE_CHARS),
        history=tuple(
            {
                "role": m.role,
                "content": _cut(m.content, MESSAGE_CHARS if i == newest else HISTORY_CHARS),
            }
            for i, m in enumerate(history)
        ),
        facts=_bounded(facts, FACTS_CHARS + STATE_CHARS),
        state=_bounded(state, STATE_CHARS),
        tools=tuple(
            {
                "tool_id": tool.tool_id,
                "description": _cut(tool.description or "", TOOL_CHARS),
                "input_schema": tool.input_schema or {},
                "output_schema": tool.output_schema or {},
            }
            for tool in tools
        ),
        trace=(),
        steps_left=0,
        reask=None,
        style=request.preferences.style,
        answer_schema=request.answer_schema,
    )


class PromptSize(Struct, frozen=True):
    """What the prompts of one run come to at the most, in bytes: of the template, how often
    the request has it at the most, and of its values as JSON.
    """

    template: int
    repeats: int
    values: int

    @classmethod
    def of(cls, base: PlannerPrompt, source: str, more: int = 0) -> PromptSize:
        """Of the request's part and the template's text; ``more`` is shown in every prompt."""
        return cls(
            template=len(source.encode()),
            repeats=1 + len(base.tools) + len(base.history),
            values=len(msgspec.json.encode(base)) + more,
        )

    def bound(
        self, shown: Sequence[int], left: int, reask: str | None, beside: Iterable[int] = ()
    ) -> int:
        """Upper bound of a rendered prompt: every value once as JSON, the template once per
        repeated part. ``shown`` is ``step_size`` of each step in it, ``beside`` what else it shows.
        """
        moving = len(str(left)) + len(reask or "") + 2 * sum(beside)
        return self.template * (self.repeats + len(shown)) + 2 * (sum(shown) + self.values + moving)


def step_size(wire: dict[str, Any]) -> int:
    """Bytes of a step as a prompt shows it, which is cut."""
    return min(len(msgspec.json.encode(wire)), 4 * (TRACE_CHARS + 1))


def _cut(text: str, bound: int) -> str:
    return text if len(text) <= bound else text[:bound] + "…"


def _bounded(value: dict[str, Any], bound: int) -> dict[str, Any]:
    encoded = msgspec.json.encode(value)
    return value if len(encoded) <= bound * 4 else {"cut": _cut(encoded.decode(), bound)}


# --- on record, and from it -----------------------------------------------------------------------


def ask_step(context: FlowContext, progress: Progress) -> ModelQuestion:
    """The question for the next directive: the last steps by reference, what is left, and why the
    last one was refused.
    """
    index = len(progress.steps)
    left = progress.limits.max_steps - index
    shown = progress.steps[-TRACE_STEPS:]
    size: PromptSize | None = progress.size
    if size is None:
        base = planner_base(progress.request, progress.tools)
        more = 0 if progress.history is None else 2 * progress.history.size_bytes
        source = context.catalog.data.prompts[TEMPLATE]
        size = progress.size = PromptSize.of(base, source, more)
    sizes = progress.sizes
    sizes += [step_size(step.wire) for step in progress.steps[len(sizes) :]]
    first = index - len(shown)
    args: dict[str, Any] = {"left": left}
    if first:
        args["first"] = first
    if denied := {str(at): step.denied for at, step in enumerate(shown) if step.denied}:
        args["denied"] = denied
    if progress.reask is not None:
        args["reask"] = progress.reask
    refs = [0]
    for step in shown:
        refs += (step.answer, step.acted or NOTHING_LIVE)
    if progress.beside:
        args["beside"] = {name: seq for name, (seq, _) in progress.beside.items()}
        refs += [seq for seq, _ in progress.beside.values()]
    beside = [length for _, length in progress.beside.values()]
    # each repeats its part of the template
    entries = 0 if progress.history is None else progress.history.entries + 1
    return ModelQuestion(
        refs=tuple(refs),
        args=args,
        prompt_tokens=size.bound(sizes[-TRACE_STEPS:], left, progress.reask, beside)
        + entries * size.template
        + advice_bytes(context.advice),
        max_tokens=max(1, left_reason(progress), left_answer(progress)),
        narrative=progress.narrative,
        role=progress.role,
    )


ANSWER_WORDS = ("final_answer.content",)
"""Where a directive holds words for people."""
Builder = Callable[[Catalog, ModelCall, Values], PromptInputs]
GivenReader = Callable[[Values], tuple[PlannerRequest, Spoken | None]]
"""The planning request behind a run, and what was said before in its conversation; None outside of
any.
"""
BesideReader = Callable[[ModelCall, Values], dict[str, Any]]
"""Facts of the records that a call names beside its steps."""


def build_step(given: GivenReader, beside: BesideReader | None = None) -> Builder:
    """How the prompt is made again from a recorded call, where ``given`` finds the request; what
    ``beside`` reads stands among its facts.
    """

    def build(catalog: Catalog, call: ModelCall, values: Values) -> PromptInputs:
        known = values.memo.get(PURPOSE)
        if known is None:
            request, spoken = given(values)
            tools = filled_tools(catalog, request)
            base = planner_base(request, tools)
            if spoken is not None:
                base = _in_session(base, request.goal.description, spoken)
            known = values.memo[PURPOSE] = (base, planner_step_schema(tools, request.answer_schema))
        base, schema = known
        prompt = with_progress(
            base, shown_steps(call, values), call.args["left"], call.args.get("reask")
        )
        if beside is not None and (found := beside(call, values)):
            prompt = msgspec.structs.replace(prompt, facts={**prompt.facts, **found})
        return PromptInputs(
            inputs=msgspec.structs.asdict(prompt),
            schema=schema,
            advised=True,
            words_at=ANSWER_WORDS,
        )

    return build


def _in_session(base: PlannerPrompt, message: str, spoken: Spoken) -> PlannerPrompt:
    """The planner's prompt in a conversation: its history stands whole, as rule ``history`` chose
    it.
    """
    before = (
        ()
        if spoken.summary is None
        else ({"role": "system", "content": f"What was said before, summed up: {spoken.summary}"},)
    )
    return msgspec.structs.replace(base, history=(*before, *spoken.history), message=message)


def _lane(policy: Policy) -> Lane:
    return policy.lanes.planner


def step_prompt(given: GivenReader) -> PromptKind[Progress]:
    """The prompt kind of a loop whose request ``given`` finds."""
    return built_prompt(build_step(given))


def built_prompt(build: Builder) -> PromptKind[Progress]:
    """The prompt kind of a loop whose prompt ``build`` makes."""
    return PromptKind(
        purpose=PURPOSE,
        template=TEMPLATE,
        package="ordain.flows.steps",
        contract="planner_step",
        lane=_lane,
        ask=ask_step,
        build=build,
        withhold=withhold_thought,
        by_code=ByCode.STEP,
    )


def planner_step_schema(
    tools: Sequence[ToolRef | OfferedTool], answer: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The directive's JSON Schema for this toolset: ``oneOf`` on ``finish``, every string bounded,
    each tool with its own input.

    A tool schema with references of its own is shown as a plain object; rule ``step`` judges the
    input either way.
    """
    offered = msgspec.json.encode(
        [(tool.tool_id, tool.input_schema) for tool in tools], order="deterministic"
    )
    return _step_schema(offered, msgspec.json.encode(answer, order="deterministic"))


@lru_cache(maxsize=32)
def _step_schema(tools: bytes, answer: bytes) -> dict[str, Any]:
    thought = {"type": "string", "maxLength": THOUGHT_MAX}
    null = {"type": "null"}
    structured = msgspec.json.decode(answer) or {"type": "object"}
    finish = _object(
        thought=thought,
        finish={"const": True},
        action=null,
        final_answer=_object(
            content={"type": "string", "minLength": 1, "maxLength": CONTENT_MAX},
            structured=structured,
        ),
    )
    actions = [
        _object(
            tool_id={"const": tool_id},
            input={"type": "object"} if "$ref" in json.dumps(schema) else schema,
        )
        for tool_id, schema in msgspec.json.decode(tools)
    ]
    if not actions:
        return finish
    act = _object(
        thought=thought,
        finish={"const": False},
        action=actions[0] if len(actions) == 1 else {"oneOf": actions},
        final_answer=null,
    )
    return {"oneOf": [act, finish]}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
