"""Lint of agents' cards as they are written: every problem of a file with its line, and what of its lists comes to nothing here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase

from ordain.contracts.cards import AgentCard, ToolFirst
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.template_lint import ERROR, WARNING
from ordain.verbs.yaml_lint import ToSay


def lint_card(card: AgentCard, verbs: Set[str], beside: Mapping[str, AgentCard]) -> Iterator[ToSay]:
    """What a card leaves to be said that can be loaded by itself; ``verbs`` are the ids of those of this house, ``beside`` the other cards."""
    others = {name: one for name, one in beside.items() if name != card.name}
    for name, (place, what) in CARDS.together({**others, card.name: card}):
        if name == card.name:
            yield ERROR, place, what, f"known are {', '.join(sorted(others))}" if place == ("fallback_agent",) else "give it another domain"
    if not card.description.strip():
        yield WARNING, ("description",), "it says nothing of itself", "a planner chooses by the description: say what it is for"
    for field in ("tool_preference", "allow", "deny"):
        for number, pattern in enumerate(getattr(card, field)):
            if not any(fnmatchcase(verb, pattern) for verb in verbs):
                yield WARNING, (field, number), f"{pattern} names no verb of this house", "write the verb, or take it out"
            elif field == "tool_preference" and not any(fnmatchcase(verb, pattern) and card.permits(verb) for verb in verbs):
                yield WARNING, (field, number), f"it prefers {pattern}, which its own lists do not let it use", "allow it, or take it out"
    if card.tool_first is ToolFirst.ENFORCED and not card.patterns:
        yield WARNING, ("tool_first",), "tools come first, and it has none: nothing that it says counts", "name its tools"
