"""What a model sees that may suggest a workflow, or agents: the message, the templates that could
be carried out and who is there, and nothing else (RTE-06).

It names a template and arguments, or agents. Steps it is never shown, nor asked for; what its
suggestion comes to rules say.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.cards import get_agent_schema
from ordain.contracts.catalog import Catalog
from ordain.contracts.policy import Lane, Policy
from ordain.effects.effect import ModelCall
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion, PromptKind
from ordain.flows.turn.request import TurnInput
from ordain.flows.values import PromptInputs, Values
from ordain.rules.workflow import DELEGATES_KEY, DELEGATES_MOST

TEMPLATE = "workflow_suggestion"
MAX_TOKENS = 1000


class SuggestionPrompt(Struct, frozen=True, kw_only=True):
    """The template's input."""

    workflows: list[dict[str, Any]]
    message: str


def offered(catalog: Catalog) -> list[dict[str, Any]]:
    """The templates whose verbs are all there, by name: what could not be carried out is not
    offered.
    """
    return [
        {
            "template": name,
            "description": workflow.template.description,
            "args": workflow.template.input_schema,
        }
        for name, workflow in sorted(catalog.workflows.items())
        if not catalog.missing_of(name)
    ]


def _schema(catalog: Catalog) -> dict[str, Any]:
    """The contract of the answer; whether the arguments are the template's rule ``workflow``
    says.
    """
    names = [workflow["template"] for workflow in offered(catalog)]
    return {
        "type": "object",
        "properties": {"template": {"enum": [*names, None]}, "args": {"type": "object"}},
        "required": ["template", "args"],
        "additionalProperties": False,
    }


def _prompt(catalog: Catalog, given: TurnInput) -> SuggestionPrompt:
    return SuggestionPrompt(workflows=offered(catalog), message=given.message.words)


def _ask(context: FlowContext, given: TurnInput) -> ModelQuestion:
    prompt = _prompt(context.catalog, given)
    bound = len(context.catalog.data.prompts[TEMPLATE].encode()) + 4 * len(
        msgspec.json.encode(prompt)
    )
    return ModelQuestion(refs=(0,), args={}, prompt_tokens=bound, max_tokens=MAX_TOKENS)


def _build(catalog: Catalog, _: ModelCall, values: Values) -> PromptInputs:
    return PromptInputs(
        inputs=msgspec.structs.asdict(_prompt(catalog, values[0])), schema=_schema(catalog)
    )


def _lane(policy: Policy) -> Lane:
    return policy.outcome.ask or policy.lanes.planner


WORKFLOW_PROMPT: PromptKind[TurnInput] = PromptKind(
    purpose="workflow",
    template=TEMPLATE,
    package="ordain.flows.turn",
    contract="workflow_suggestion",
    lane=_lane,
    ask=_ask,
    build=_build,
)


# --- since turn@7: agents too ---------------------------------------------------------------------

TURN_TEMPLATE = "turn_suggestion"


class TurnSuggestionPrompt(Struct, frozen=True, kw_only=True):
    """The template's input."""

    workflows: list[dict[str, Any]]
    agents: list[dict[str, Any]]
    message: str


def agents_offered(catalog: Catalog) -> list[dict[str, Any]]:
    """Who is there to be handed work, by name. Who may be rule ``outcome`` says."""
    return get_agent_schema(card for _, card in sorted(catalog.data.cards.items()))


def _turn_prompt(catalog: Catalog, given: TurnInput) -> TurnSuggestionPrompt:
    return TurnSuggestionPrompt(
        workflows=offered(catalog), agents=agents_offered(catalog), message=given.message.words
    )


def _turn_schema(catalog: Catalog) -> dict[str, Any]:
    schema = _schema(catalog)
    names = {
        "type": "array",
        "items": {"enum": sorted(catalog.data.cards)},
        "maxItems": DELEGATES_MOST,
    }
    return {**schema, "properties": {**schema["properties"], DELEGATES_KEY: names}}


def _turn_ask(context: FlowContext, given: TurnInput) -> ModelQuestion:
    prompt = _turn_prompt(context.catalog, given)
    bound = len(context.catalog.data.prompts[TURN_TEMPLATE].encode()) + 4 * len(
        msgspec.json.encode(prompt)
    )
    return ModelQuestion(refs=(0,), args={}, prompt_tokens=bound, max_tokens=MAX_TOKENS)


def _turn_build(catalog: Catalog, _: ModelCall, values: Values) -> PromptInputs:
    return PromptInputs(
        inputs=msgspec.structs.asdict(_turn_prompt(catalog, values[0])),
        schema=_turn_schema(catalog),
    )


SUGGESTION_PROMPT: PromptKind[TurnInput] = replace(
    WORKFLOW_PROMPT, template=TURN_TEMPLATE, ask=_turn_ask, build=_turn_build
)
"""The same question as before, with agents among the answers; its purpose is the same."""
