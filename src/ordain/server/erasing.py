"""What erasing a session answers."""

from __future__ import annotations

from pydantic import Field

from ordain.contracts.planner import Strict


class Erased(Strict):
    """What came of it."""

    session_id: str
    outcome: str = Field(description="erased, or already_erased.")
    records: int = Field(default=0, description="How many records and transcript entries were emptied.")
