"""Lint of agents' cards as they are written: every problem of a file with its line, and what of its
lists comes to nothing here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from fnmatch import fnmatchcase

from ordain.contracts.cards import AgentCard, ToolFirst
from ordain.contracts.faults import FieldPath
from ordain.verbs.cards.folder import CARDS
from ordain.verbs.template_lint import ERROR, WARNING
from ordain.verbs.yaml_lint import ToSay


def lint_card(card: AgentCard, verbs: Set[str], beside: Mapping[str, AgentCard]) -> Iterator[ToSay]:
    """What a card leaves to be said that can be loaded by itself; ``verbs`` are the ids of those of
    this house, ``beside`` the other cards.
    """
    others = {name: one for name, one in beside.items() if name != card.name}
    for name, (place, what) in CARDS.together({**others, card.name: card}):
        if name == card.name:
            yield ERROR, place, what, _remedy(card, place, others)
    if not card.description.strip():
        yield (
            WARNING,
            ("description",),
            "it says nothing of itself",
            "a planner chooses by the description: say what it is for",
        )
    for field in ("tool_preference", "allow", "deny"):
        for number, pattern in enumerate(getattr(card, field)):
            if not any(fnmatchcase(verb, pattern) for verb in verbs):
                yield (
                    WARNING,
                    (field, number),
                    f"{pattern} names no verb of this house",
                    "write the verb, or take it out",
                )
            elif field == "tool_preference" and not any(
                fnmatchcase(verb, pattern) and card.permits(verb) for verb in verbs
            ):
                yield (
                    WARNING,
                    (field, number),
                    f"it prefers {pattern}, which its own lists do not let it use",
                    "allow it, or take it out",
                )
    if card.patterns and any(map(card.denies, verbs)) and not any(map(card.permits, verbs)):
        yield (
            WARNING,
            ("deny",),
            "it denies all that it is for: nothing is left that it may use",
            "deny less, or allow other verbs",
        )
    if card.tool_first is ToolFirst.ENFORCED and not card.patterns:
        yield (
            WARNING,
            ("tool_first",),
            "tools come first, and it has none: nothing that it says counts",
            "name its tools",
        )


def _remedy(card: AgentCard, place: FieldPath, others: Iterable[str]) -> str:
    """What to do about a card that does not go together with the others."""
    if place == ("fallback_agent",):
        known = f"known are {', '.join(sorted(others))}"
        return (
            f"name another, or take it out; {known}" if card.fallback_agent == card.name else known
        )
    return "give it another name, and its file" if place == ("name",) else "give it another domain"
