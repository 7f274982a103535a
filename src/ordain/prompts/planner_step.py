"""The planner prompt: what the planner model sees before each step (PLN-32, PLN-39, C2).

Everything is cut to a declared limit here, so that the size of the rendered prompt has an upper bound before it is rendered.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.planner import PlannerRequest, ToolRef

NAME = "planner_step"
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

    ``reask`` is the reason code of the directive that was refused, if one was; ``message`` what a session's user said, for providers
    that are no language model.
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


def with_progress(base: PlannerPrompt, trace: tuple[dict[str, Any], ...], steps_left: int, reask: str | None) -> PlannerPrompt:
    """The request's part with what changes from step to step; ``trace`` holds the wire form of earlier steps, the last three are shown."""
    return msgspec.structs.replace(base, trace=trace[-TRACE_STEPS:], steps_left=steps_left, reask=reask)


def planner_base(request: PlannerRequest, tools: tuple[ToolRef, ...]) -> PlannerPrompt:
    """The request's part of the prompt, cut and arranged: the same for every step of a run."""
    goal, context = request.goal, request.context
    history = context.conversation_history[-HISTORY_MESSAGES:]
    newest = len(history) - 1
    facts = context.external_facts.model_dump(exclude_none=True)
    if isinstance(facts.get("text"), str):
        facts["text_cut"] = len(facts["text"]) > FACTS_CHARS
        facts["text"] = facts["text"][:FACTS_CHARS]
    if not facts.get("text_cut"):
        facts.pop("text_cut", None)
    return PlannerPrompt(
        goal_type=goal.type,
        goal=_cut(goal.description, GOAL_CHARS),
        user_message=None if goal.metadata.user_message is None else _cut(goal.metadata.user_message, MESSAGE_CHARS),
        history=tuple(
            {"role": m.role, "content": _cut(m.content, MESSAGE_CHARS if i == newest else HISTORY_CHARS)} for i, m in enumerate(history)
        ),
        facts=_bounded(facts, FACTS_CHARS + STATE_CHARS),
        state=_bounded(context.orion_state_snapshot.model_dump(exclude_defaults=True), STATE_CHARS),
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
    )


def fixed_size(base: PlannerPrompt) -> int:
    """Bytes of the request's part as JSON."""
    return len(msgspec.json.encode(msgspec.structs.replace(base, trace=(), steps_left=0, reask=None)))


def size_bound(source: str, prompt: PlannerPrompt, fixed: int | None = None) -> int:
    """Upper bound of the rendered prompt in bytes: every value once as JSON, the template once per repeated part.

    ``fixed`` is ``fixed_size`` of the same request, where it is known already.
    """
    repeats = 1 + len(prompt.tools) + len(prompt.history) + len(prompt.trace)
    shown = sum(min(len(msgspec.json.encode(step)), 4 * (TRACE_CHARS + 1)) for step in prompt.trace)
    moving = len(str(prompt.steps_left)) + len(prompt.reask or "")
    return len(source.encode()) * repeats + 2 * (shown + moving + (fixed_size(prompt) if fixed is None else fixed))


def _cut(text: str, bound: int) -> str:
    return text if len(text) <= bound else text[:bound] + "…"


def _bounded(value: dict[str, Any], bound: int) -> dict[str, Any]:
    encoded = msgspec.json.encode(value)
    return value if len(encoded) <= bound * 4 else {"cut": _cut(encoded.decode(), bound)}
