"""What an approver is told of work that is handed on: to whom and with which verbs, what of it lies outside that one's domain, and what the guardrails found. Made by code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from ordain.contracts.approvals import Subject
from ordain.contracts.cards import AgentCard
from ordain.contracts.legible_text import name_text
from ordain.effects.effect import ApprovalAsked

VERBS_TOLD = 20
LEADS: Mapping[Subject, str] = {
    Subject.PLAN: "Several calls at once; the yes is to each of them, once:",
    Subject.EXPANSION: "Beyond somebody's domain:",
    Subject.REVIEW: "To be looked at before it is done:",
}
"""What stands above the calls, by what is asked for."""


def lead(asked: ApprovalAsked) -> list[str]:
    """The line above the calls; none where one call is asked for, and of a workflow, which has its own."""
    return [LEADS[asked.subject]] if asked.subject in LEADS else []


def handed(asked: ApprovalAsked, card: AgentCard, place: int) -> Iterator[str]:
    """The first lines of a call that hands work to a card, by its place among the calls."""
    scope, beyond = (_of(asked, part, place) for part in ("scopes", "beyond"))
    yield f"hands work to {card.name}, which may use: {_named(scope)}."
    if beyond:
        yield f"  outside the domain {card.domain}: {_named(beyond)}"
    found = asked.detail.get("reviews", {}).get(str(place))
    if isinstance(found, dict):
        review = cast("dict[str, Any]", found)
        what = "escalated" if review.get("escalated") else "to be reviewed"
        yield f"  {what}: risk {review['risk']:.2f}, by {', '.join(review['sources'])}"


def _of(asked: ApprovalAsked, part: str, place: int) -> Sequence[str]:
    return asked.detail.get(part, {}).get(str(place), ())


def _named(verbs: Sequence[str]) -> str:
    more = f" and {len(verbs) - VERBS_TOLD} more" if len(verbs) > VERBS_TOLD else ""
    return f"{', '.join(map(name_text, verbs[:VERBS_TOLD])) or 'no verb'}{more}"
