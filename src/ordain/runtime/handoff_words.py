"""What an approver is told of work that is handed on: to whom and with which verbs, what of it lies
outside that one's domain, and what the guardrails found. Made by code.

Of the verbs each that does more than read is named, by what it does and the gravest first; of those
that only read the first few, and how many more there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from ordain.contracts.approvals import Subject
from ordain.contracts.cards import AGENT_VERB, AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.floor import STRICTNESS
from ordain.contracts.legible_text import name_text
from ordain.contracts.verbs import VerbEffect
from ordain.effects.effect import ApprovalAsked
from ordain.rules.guardrail import UNSCORED

VERBS_TOLD = 20
"""Most verbs that are named of those that only read."""
UNKNOWN = "of which nothing is known"
HANDS_ON = "to hand work on"
READS = "to read"
LEADS: Mapping[Subject, str] = {
    Subject.PLAN: "Several calls at once; the yes is to each of them, once:",
    Subject.EXPANSION: "Beyond somebody's domain:",
    Subject.REVIEW: "To be looked at before it is done:",
}
"""What stands above the calls, by what is asked for."""


def lead(asked: ApprovalAsked) -> list[str]:
    """The line above the calls; none where one call is asked for, and of a workflow, which has its
    own.
    """
    return [LEADS[asked.subject]] if asked.subject in LEADS else []


def handed(asked: ApprovalAsked, card: AgentCard, place: int, catalog: Catalog) -> Iterator[str]:
    """The first lines of a call that hands work to a card, by its place among the calls."""
    scope, beyond = (_of(asked, part, place) for part in ("scopes", "beyond"))
    yield f"hands work to {card.name}, which may use: {by_effect(scope, catalog)}."
    if beyond:
        yield f"  outside the domain {card.domain}: {by_effect(beyond, catalog)}"
    found = asked.detail.get("reviews", {}).get(str(place))
    if isinstance(found, dict):
        review = cast("dict[str, Any]", found)
        what = "escalated" if review.get("escalated") else "to be reviewed"
        unscored = UNSCORED if review.get("unscored") else ""
        yield f"  {what}: risk {review['risk']:.2f}{unscored}, by {', '.join(review['sources'])}"


def _of(asked: ApprovalAsked, part: str, place: int) -> Sequence[str]:
    return asked.detail.get(part, {}).get(str(place), ())


def further(asked: ApprovalAsked, places: Iterable[int], catalog: Catalog) -> Iterator[str]:
    """What the calls at these places, of which only the verbs are told, may use beyond reading."""
    scopes = sorted({verb for place in places for verb in _of(asked, "scopes", place)})
    if graver := [part for part in _grouped(scopes, catalog) if not part.endswith(f"({READS})")]:
        yield f"  with which may be used: {'; '.join(graver)}"


def by_effect(verbs: Sequence[str], catalog: Catalog) -> str:
    """Verbs by what they do, the gravest first, each that does more than read by its name."""
    parts = _grouped(verbs, catalog)
    if len(parts) == 1 and parts[0].endswith(f"({READS})"):
        return parts[0].removesuffix(f" ({READS})")
    return "; ".join(parts) or "no verb"


def _grouped(verbs: Sequence[str], catalog: Catalog) -> list[str]:
    """The verbs by what they do, the gravest first; only of those that read some may be counted and
    not named.
    """
    known = [verb for verb in verbs if verb in catalog.verbs]
    agents = [verb for verb in known if verb.startswith(AGENT_VERB)]
    groups = [(UNKNOWN, [verb for verb in verbs if verb not in catalog.verbs])]
    for effect in sorted(VerbEffect, key=lambda effect: (-STRICTNESS[effect], effect)):
        found = [
            verb
            for verb in known
            if verb not in agents and catalog.verbs[verb].spec.effect is effect
        ]
        groups += (
            [(HANDS_ON, agents), (READS, found)]
            if effect is VerbEffect.READ
            else [(effect.value, found)]
        )
    return [
        f"{_listed(found, VERBS_TOLD if what == READS else len(found))} ({what})"
        for what, found in groups
        if found
    ]


def _listed(verbs: Sequence[str], most: int) -> str:
    more = f" and {len(verbs) - most} more" if len(verbs) > most else ""
    return f"{', '.join(map(name_text, verbs[:most]))}{more}"
