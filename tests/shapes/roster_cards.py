"""Agent cards for tests: five specialists that are called as the shipped ones are, with what each
prefers and who takes its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ordain.contracts.cards import AgentCard, ToolFirst


def card(name: str, *tools: str, fallback: str | None = "general_agent", **more: Any) -> AgentCard:
    """A card with a domain of its own."""
    return AgentCard(
        name=name,
        description=f"What {name} is for.",
        tool_preference=list(tools),
        fallback_agent=fallback,
        domain=f"of.{name}",
        **more,
    )


CARDS: Mapping[str, AgentCard] = {
    one.name: one
    for one in (
        card("creative_agent", "creative.tonecheck", confidence_bias=0.8),
        card(
            "research_agent",
            *("research.search", "research.summarizer"),
            fallback="enterprise_agent",
            confidence_bias=0.9,
            tool_first=ToolFirst.ENFORCED,
        ),
        card(
            "finance_agent",
            "finance.snapshot",
            fallback="enterprise_agent",
            confidence_bias=0.9,
            tool_first=ToolFirst.ENFORCED,
        ),
        card(
            "enterprise_agent",
            "enterprise.playbook",
            fallback="research_agent",
            confidence_bias=0.85,
            tool_first=ToolFirst.ENFORCED,
        ),
        card("general_agent", fallback=None, confidence_bias=0.6),
    )
}
