"""Agent cards: what a specialist is, what it may use, and who takes its place (META-01..META-07, HND-05).

A card is data: it grants nothing by itself. What a handoff to it may do is the intersection of the card, the profile that holds, policy and what the
one who hands on may do.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from ordain.contracts.pinned import VerbPattern
from ordain.contracts.planner import Strict

CARD_NAME = r"^[a-z][a-z0-9_]{0,63}$"
CardName = Annotated[str, StringConstraints(pattern=CARD_NAME)]
Domain = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_.-]{0,63}$")]
AGENT_VERB = "agent."
"""How the id of the verb begins that hands work to a card: ``agent.finance_agent``."""


class ToolFirst(StrEnum):
    """Whether what an agent says counts before a tool that was planned has succeeded (C6)."""

    ENFORCED = "enforced"
    OPTIONAL = "optional"


class AgentCard(Strict):
    """One specialist. ``allow`` and ``deny`` are globs over verb ids, deny wins; without ``allow`` it may use what it prefers, and nothing else."""

    name: CardName
    description: str = Field(default="", max_length=2000, description="What it is for, as the planner is told.")
    tool_preference: list[VerbPattern] = Field(default=[], max_length=50, description="The verbs that it works with.")
    fallback_agent: CardName | None = Field(default=None, description="Who takes its place once where it fails or is not to be had.")
    confidence_bias: float = Field(default=1.0, ge=0, le=1, description="Told to the planner and logged; it decides nothing (B-15).")
    domain: Domain = Field(description="What it owns; one card owns a domain (HND-05).")
    allow: list[VerbPattern] = Field(default=[], max_length=200)
    deny: list[VerbPattern] = Field(default=[], max_length=200)
    tool_first: ToolFirst = Field(default=ToolFirst.OPTIONAL, strict=False)

    @property
    def verb(self) -> str:
        """The id of the verb that hands work to it."""
        return f"{AGENT_VERB}{self.name}"


def get_agent_schema(cards: Iterable[AgentCard]) -> list[dict[str, Any]]:
    """What a planner is told of each (META-07)."""
    return [
        {
            "name": card.name,
            "description": card.description,
            "tools": list(card.tool_preference),
            "fallback_agent": card.fallback_agent,
            "confidence_bias": card.confidence_bias,
        }
        for card in cards
    ]
