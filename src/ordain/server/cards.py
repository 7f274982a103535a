"""``/cards``: the agents that work may be handed to, and what each may use here (META-07,
HND-05).
"""

from __future__ import annotations

from typing import Any

from pydantic import Field
from starlette.responses import Response

from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.nearest import no_such
from ordain.contracts.planner import Strict
from ordain.errors import NotFound
from ordain.server.documents import shown
from ordain.server.face import Face, Json
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource


class CardView(AgentCard):
    """An agent's card; the verb that hands work to it; what of its domain is here, and what it
    names that is not.
    """

    verb_id: str = Field(description="The verb that hands work to it.")
    active: bool
    inactive: str | None = Field(description="Why nothing can be handed to it here now.")
    uses: list[str] = Field(
        description="The active verbs that its lists name. What a handoff may do is at most this."
    )
    missing: list[str] = Field(description="What its lists name and is not here, or switched off.")


class CardList(Strict):
    """Every card, by name."""

    cards: list[CardView]


def card_view(catalog: Catalog, name: str) -> dict[str, Any]:
    """A card as people see it.

    Raises:
        NotFound: there is none of this name.
    """
    card = catalog.data.cards.get(name)
    if card is None:
        raise NotFound(no_such("agent", name, catalog.data.cards), code="unknown_agent")
    policy = catalog.policy.verbs
    active = {verb for verb in catalog.verbs if catalog.inactive_reason(verb, policy) is None}
    inactive = catalog.inactive_reason(card.verb, policy)
    return {
        **card.model_dump(mode="json"),
        "verb_id": card.verb,
        "active": inactive is None,
        "inactive": inactive,
        "uses": sorted(catalog.domain_of(card) & active),
        "missing": [
            pattern
            for pattern in dict.fromkeys(card.patterns)
            if not catalog.named_by(pattern) & active
        ],
    }


def card_views(catalog: Catalog) -> dict[str, Any]:
    """Every card, by name."""
    return {"cards": [card_view(catalog, name) for name in sorted(catalog.data.cards)]}


def cards_router(face: Face) -> Resource:
    """The cards' routes."""
    router = resource("cards")

    @router.get("/cards", **shown(CardList))
    async def list_cards() -> Response:
        """Every agent that work may be handed to. Files that are not in use are told by `GET
        /verbs`.
        """
        return Json(card_views(face.runtime.catalog))

    @router.get("/cards/{name}", **refusing(shown(CardView), "unknown_agent"))
    async def show_card(name: str) -> Response:
        """One agent."""
        return Json(card_view(face.runtime.catalog, name))

    return router
