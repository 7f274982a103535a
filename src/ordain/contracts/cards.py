"""Agent cards: what a specialist is, what it may use, and who takes its place (META-01..META-07,
HND-05).

A card is data: it grants nothing by itself. What a handoff to it may do is the intersection of the
card, the profile that holds, policy and what the one who hands on may do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from ordain.contracts.faults import Fault
from ordain.contracts.pinned import VerbPattern
from ordain.contracts.planner import Strict

CARD_NAME = r"^[a-z][a-z0-9_]{0,63}$"
CardName = Annotated[str, StringConstraints(pattern=CARD_NAME)]
DOMAIN = r"^[a-z][a-z0-9_.-]{0,63}$"
Domain = Annotated[str, StringConstraints(pattern=DOMAIN)]
DESCRIPTION_CHARS = 2000
CardWords = Annotated[
    str,
    StringConstraints(
        max_length=DESCRIPTION_CHARS, pattern="^[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]*$"
    ),
]
"""Words of several lines, without what commands a terminal or passes for another line's end."""
AGENT_VERB = "agent."
"""How the id of the verb begins that hands work to a card: ``agent.finance_agent``."""
PRIMARY = "primary"
"""The id of the source where no card hands on but the run that answers, the primary orchestrator;
no card's name.
"""
_SECOND = re.compile(r"(.+)_(?:[2-9]|[1-9][0-9]+)")


class ToolFirst(StrEnum):
    """Whether what an agent says counts before a tool that was planned has succeeded (C6)."""

    ENFORCED = "enforced"
    OPTIONAL = "optional"


class AgentCard(Strict):
    """One specialist. ``allow`` and ``deny`` are globs over verb ids, deny wins; without ``allow``
    it may use what it prefers, and nothing else.
    """

    name: CardName
    description: CardWords = Field(
        default="", description="What it is for, as the planner is told."
    )
    tool_preference: list[VerbPattern] = Field(
        default=[], max_length=50, description="The verbs that it works with."
    )
    fallback_agent: CardName | None = Field(
        default=None, description="Who takes its place once where it fails or is not to be had."
    )
    confidence_bias: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="Told to the planner and logged; it decides nothing (B-15).",
    )
    domain: Domain = Field(description="What it owns; one card owns a domain (HND-05).")
    allow: list[VerbPattern] = Field(default=[], max_length=200)
    deny: list[VerbPattern] = Field(default=[], max_length=200)
    tool_first: ToolFirst = Field(default=ToolFirst.OPTIONAL, strict=False)

    @property
    def verb(self) -> str:
        """The id of the verb that hands work to it."""
        return f"{AGENT_VERB}{self.name}"

    @property
    def patterns(self) -> list[str]:
        """What names the verbs of its domain: ``allow``, or without it what it prefers."""
        return list(self.allow or self.tool_preference)

    def permits(self, verb_id: str) -> bool:
        """Whether a verb is of its domain: named, and not denied."""
        return any(fnmatchcase(verb_id, pattern) for pattern in self.patterns) and not self.denies(
            verb_id
        )

    def denies(self, verb_id: str) -> bool:
        """Whether it may never use a verb."""
        return any(fnmatchcase(verb_id, pattern) for pattern in self.deny)


Agent = AgentCard
"""The same as whoever embeds writes it: ``Ordain(agents=[Agent(...)])``."""


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


def agent_rows(cards: Iterable[AgentCard]) -> str:
    """The section of a planner's prompt that lists them (META-08): a line of JSON for each, by
    name, so that no description ends a line or begins another section.
    """
    rows = get_agent_schema(sorted(cards, key=lambda card: card.name))
    return "\n".join(f"- {json.dumps(row, ensure_ascii=False)}" for row in rows)


def card_faults(cards: Mapping[str, AgentCard]) -> Iterator[tuple[str, Fault]]:
    """What is wrong with cards together, each with the card's name and the place in it: a domain
    has one owner, the first (HND-05), and whoever takes a place is there, and another.

    Two that take each other's place are none: a place is taken once (B-16). Names that code makes
    are no card's (HND-06).
    """
    owners: dict[str, str] = {}
    for name, card in cards.items():
        if name == PRIMARY:
            yield name, (("name",), f"{PRIMARY} is who hands work on first: give it another name")
        elif (second := _SECOND.fullmatch(name)) is not None and second[1] in cards:
            yield (
                name,
                (
                    ("name",),
                    (
                        f"{name} is what {second[1]} is called where it is at work more than once: "
                        "give it another name"
                    ),
                ),
            )
        if (owner := owners.setdefault(card.domain, name)) != name:
            yield name, (("domain",), f"{card.domain} belongs to {owner}: one card owns a domain")
        if card.fallback_agent == name:
            yield name, (("fallback_agent",), f"{name} cannot take its own place")
        elif card.fallback_agent is not None and card.fallback_agent not in cards:
            yield name, (("fallback_agent",), f"there is no card {card.fallback_agent}")
