"""The council: its seats, what they are asked, and what comes back (C4, CNC-01..CNC-04)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from ordain.contracts.planner import Strict

SeatName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]
UniverseName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]


class Seat(Strict):
    """One seat: as whom a model is asked, and at which temperature."""

    name: SeatName
    role_description: str = Field(default="", max_length=2000)
    temperature: float = Field(default=0.5, ge=0, le=2)
    weight: float = Field(default=1.0, ge=0, le=100)
    universe: UniverseName = "core"
    tags: list[str] = Field(default=[], max_length=50)
    use_phi: bool = False
