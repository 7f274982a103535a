"""Cues: what the wording of a message says, as features. Every engine comes to them; recorded facts hold them."""

from __future__ import annotations

from msgspec import Struct


class Cues(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Features of a message's wording; the graded ones are 0 (no), 1 (it could mean that) or 2 (it means that)."""

    words: int = 0
    question: bool = False
    stop: int = 0
    steer: int = 0
    nudge: int = 0
    trouble: int = 0
    filler: int = 0
    yes: bool = False
    no: bool = False
    date_time: bool = False
    location: bool = False
    choice: str = ""
    order: bool = False
    """It begins with the verb of a task of its own (*find*, *book*, *translate*)."""
