"""What a seat's run is given and what it returns."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ordain.flows.deliberation.question import CouncilQuestion

SEAT_KIND = "seat"
"""The kind of run in which one seat speaks."""
INVALID = "opinion_invalid"
"""How one ends whose answer is no opinion."""


class SeatInput(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A seat of the catalog, what it is asked, and what verdicts of earlier rounds hold the answer
    to.
    """

    seat: str
    question: CouncilQuestion
    constraints: tuple[dict[str, Any], ...] = ()


class SeatOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the seat said, or why it said nothing."""

    name: str
    text: str = ""
    error: str = ""
    message: str = ""
