"""Cards to be handed work in tests, the verbs that they are for, and calls that hand them
something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.effects.calls import Call
from ordain.flows.shipped import SHIPPED
from ordain.testing import catalog_of

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ARGUMENTS = {"text": Argument(role=ArgumentRole.RECIPIENT)}


def leaf(name: str, effect: VerbEffect = VerbEffect.READ) -> VerbSpec:
    """A verb that takes a text and gives one."""
    return VerbSpec(
        name=name,
        description=name,
        effect=effect,
        arguments=ARGUMENTS,
        input_schema=TEXT,
        output_schema=TEXT,
    )


VERBS = (
    leaf("look"),
    leaf("look.far"),
    leaf("keep", VerbEffect.PRIVATE),
    leaf("tell", VerbEffect.SEND),
    leaf("rule", VerbEffect.ADMIN),
    leaf("drop", VerbEffect.SECRET),
    VerbSpec(name="score", description="score", effect=VerbEffect.READ, input_schema=TEXT),
)
CARDS: Mapping[str, AgentCard] = {
    card.name: card
    for card in (
        AgentCard(
            name="reader",
            description="Looks things up.",
            domain="reading",
            tool_preference=["look"],
        ),
        AgentCard(
            name="keeper",
            description="Keeps and tells.",
            domain="keeping",
            allow=["look*", "keep", "tell"],
            deny=["look.far"],
        ),
        AgentCard(
            name="ruler", description="Rules.", domain="ruling", allow=["rule", "look", "agent.*"]
        ),
        AgentCard(name="dropper", description="Knows secrets.", domain="secrets", allow=["drop"]),
        AgentCard(name="talker", description="Only talks.", domain="talk"),
    )
}
ALL = tuple(CARDS)
PROFILE: dict[str, Any] = {
    "allowed_handoff_targets": list(ALL),
    "allowed_handoff_modes": ["direct", "delegate", "fanout-fanin"],
    "max_fanout_agents": 8,
}


def house_of_cards(**policy: dict[str, Any]) -> Catalog:
    """A catalog of these cards and verbs, in which each card may be handed work; ``policy`` changes
    single values by table.
    """
    tables = {**policy, "profile": {**PROFILE, **policy.get("profile", {})}}
    return catalog_of(*SHIPPED, policy=tables, verbs=VERBS).changed(cards=dict(CARDS))


def given(**more: Any) -> dict[str, Any]:
    """What a card's verb is called with."""
    return {
        "task": "Find it.",
        "intent": "to know it",
        "reason": "domain",
        "payload": {"what": "it"},
        **more,
    }


def hand_to(card: str, **more: Any) -> Call:
    """A call that hands work to a card."""
    return Call(verb=f"agent.{card}", args=given(**more))
