"""The verb of a card: ``agent.<name>`` hands a task to the specialist. It is made where a catalog
is compiled, and stored nowhere.

What a caller says here is a wish: source, scope, budget and trace of the handoff are code's
(HND-01), and none of them is an argument.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from pydantic import JsonValue

from ordain.contracts.cards import AgentCard
from ordain.contracts.verbs import Category, VerbEffect, VerbSpec
from ordain.errors import ConfigurationError

HANDOFF = "handoff"
"""The kind of run that carries out a handoff."""
TASK_CHARS = 4000
INTENT_CHARS = 500
NAMED_VERBS = 50


class WhyHanded(StrEnum):
    """Why work is handed on: it is the other's domain, needs the other's tools, can go beside other
    work, takes another's place, checks, or somebody asked for it.
    """

    DOMAIN = "domain"
    TOOLS = "tools"
    PARALLEL = "parallel"
    FALLBACK = "fallback"
    REVIEW = "review"
    REQUESTED = "requested"


class HandoffPriority(StrEnum):
    """How urgent a handoff is; told, and it decides nothing."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


def _verbs(what: str) -> dict[str, JsonValue]:
    item: dict[str, JsonValue] = {"type": "string", "minLength": 1, "maxLength": 128}
    return {"type": "array", "maxItems": NAMED_VERBS, "items": item, "description": what}


HANDOFF_INPUT: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "task": {
            "type": "string",
            "minLength": 1,
            "maxLength": TASK_CHARS,
            "description": "What is to be done.",
        },
        "intent": {
            "type": "string",
            "minLength": 1,
            "maxLength": INTENT_CHARS,
            "description": "What it is for.",
        },
        "reason": {
            "enum": [reason.value for reason in WhyHanded],
            "description": "Why it is handed on.",
        },
        "payload": {
            "type": "object",
            "maxProperties": 100,
            "description": "What the task needs; material.",
        },
        "forward_skills": _verbs(
            "The verbs it is asked to be done with; what may not be passed on is taken out."
        ),
        "priority": {"enum": [priority.value for priority in HandoffPriority]},
        "return_expected": {
            "type": "boolean",
            "description": "Whether the result is wanted back; true where it is not said.",
        },
        "tools": _verbs("The verbs that the work is planned with."),
        "fallback_tools": _verbs("The verbs to try where those fail."),
    },
    "required": ["task", "intent", "reason", "payload"],
    "additionalProperties": False,
}
HANDOFF_OUTPUT: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "status": {"enum": ["completed", "failed"]},
        "mode": {
            "type": "string",
            "description": "How it was handed on: delegate, or fanout-fanin.",
        },
        "outputPayload": {
            "type": "object",
            "description": (
                "What the specialist gave: content and structured. Not there where it was not "
                "wanted back."
            ),
        },
        "failure": {
            "type": "object",
            "description": (
                "Of what failed: code, message, and traceId, the run that has the trace."
            ),
        },
    },
    "required": ["status", "mode"],
    "additionalProperties": False,
}


def agent_verb(card: AgentCard) -> VerbSpec:
    """The verb that hands work to a card. It reads by itself; each call that the specialist makes
    is decided by what that call does.
    """
    return VerbSpec(
        name=card.verb,
        label=card.name,
        description=card.description.strip() or f"Hands a task to {card.name}.",
        category=Category.EXECUTIVE_CONTROL,
        timeout_ms=300_000,
        flow=HANDOFF,
        session_only=False,
        effect=VerbEffect.READ,
        tags=["agent", card.domain],
        input_schema=dict(HANDOFF_INPUT),
        output_schema=dict(HANDOFF_OUTPUT),
    )


def with_agents(verbs: Mapping[str, VerbSpec], cards: Iterable[AgentCard]) -> dict[str, VerbSpec]:
    """The verbs, and those of the cards.

    Raises:
        ConfigurationError: a verb has the id of a card's.
    """
    made = {card.verb: agent_verb(card) for card in cards}
    if taken := sorted(made.keys() & verbs.keys()):
        raise ConfigurationError(
            f"verb {taken[0]} is the handoff to a card: give the verb another id",
            code="duplicate_verb",
        )
    return {**verbs, **made}
