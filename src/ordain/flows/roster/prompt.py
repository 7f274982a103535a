"""The roster's prompt: what a planner sees that proposes who does what (PLAN-09, META-08), put on
record and made from it again.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.cards import agent_rows
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.roster import HandoffStrategy
from ordain.effects.effect import ModelCall
from ordain.flows.carried import VerbPlanInput
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.roster.request import arguments_of
from ordain.flows.values import PromptInputs, Values

TEMPLATE = "roster_plan"
MAX_TOKENS = 4000


class RosterPrompt(Struct, frozen=True, kw_only=True):
    """The template's input: the agents as a planner is told of them, the request, and what bears on
    it.
    """

    agents: str
    request: str
    known: str
    most: int
    threshold: float


def roster_prompt(catalog: Catalog, call: VerbPlanInput) -> RosterPrompt:
    """What the planner sees."""
    args, policy = arguments_of(call), catalog.policy.roster
    agents = agent_rows(catalog.data.cards.values())
    return RosterPrompt(
        agents=agents,
        request=args.text,
        known=args.known,
        most=policy.max_steps,
        threshold=policy.threshold,
    )


def plan_schema(catalog: Catalog) -> dict[str, Any]:
    """The contract of the answer; whether it is a plan that may be followed rule ``plan`` says."""
    names, number = (
        {"type": "array", "items": {"type": "string"}},
        {"type": "number", "minimum": 0, "maximum": 1},
    )
    step = {
        "type": "object",
        "properties": {
            "agent": {"enum": sorted(catalog.data.cards)},
            "reason": {"type": "string"},
            "tools": names,
            "fallback_tools": names,
            "confidence": number,
        },
        "required": ["agent", "reason", "tools", "fallback_tools", "confidence"],
        "additionalProperties": False,
    }
    metadata = {
        "type": "object",
        "properties": {
            "handoff_strategy": {"enum": [str(one) for one in HandoffStrategy]},
            "depends_on": {"type": "object"},
        },
    }
    return {
        "type": "object",
        "properties": {
            "steps": {"type": "array", "items": step},
            "metadata": metadata,
            "confidence": number,
        },
        "required": ["steps", "confidence"],
        "additionalProperties": False,
    }


def _ask(context: FlowContext, call: VerbPlanInput) -> ModelQuestion:
    prompt = roster_prompt(context.catalog, call)
    bound = len(context.catalog.data.prompts[TEMPLATE].encode()) + 4 * len(
        msgspec.json.encode(prompt)
    )
    return ModelQuestion(refs=(0,), args={}, prompt_tokens=bound, max_tokens=MAX_TOKENS)


def _build(catalog: Catalog, _: ModelCall, values: Values) -> PromptInputs:
    return PromptInputs(
        inputs=msgspec.structs.asdict(roster_prompt(catalog, values[0])),
        schema=plan_schema(catalog),
        words_at=("steps.*.reason",),
    )


def _lane(policy: Policy) -> Lane:
    return policy.lanes.planner


ROSTER_PROMPT: PromptKind[VerbPlanInput] = PromptKind(
    purpose="roster",
    template=TEMPLATE,
    package="ordain.flows.roster",
    contract="roster_plan",
    lane=_lane,
    ask=_ask,
    build=_build,
)
