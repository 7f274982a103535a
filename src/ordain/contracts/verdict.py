"""The verdict that opens a header: what a run's work came to, by code (RTE-12, FAIL-04)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field


class RunVerdict(StrEnum):
    """What a run's work came to. The first that holds, in this order."""

    UNKNOWN = "unknown"
    PARTIAL = "partial"
    NO_TOOL = "no tool succeeded"
    NOTHING = "nothing done"
    OK = "ok"


HeaderVerdict = Annotated[
    RunVerdict | None,
    Field(strict=False, description="What the work came to, by code; it opens the header. Null: not at rest, or recorded without one."),
]
