"""The verdict that opens a header: what a run's work came to, by code (RTE-12, FAIL-04)."""

from __future__ import annotations

from collections.abc import Mapping
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


FAILED_BY: Mapping[RunVerdict, str] = {
    RunVerdict.UNKNOWN: "outcome_unknown",
    RunVerdict.PARTIAL: "partial",
    RunVerdict.NO_TOOL: "no_tool_succeeded",
    RunVerdict.NOTHING: "nothing_done",
}
"""The code with which work ends that tools were for, where the verdict is not ok."""
HeaderVerdict = Annotated[
    RunVerdict | None,
    Field(
        strict=False,
        description=(
            "What the work came to, by code; it opens the header. Null: not at rest, or recorded "
            "without one."
        ),
    ),
]
Remedy = Annotated[
    str | None,
    Field(
        exclude_if=lambda remedy: remedy is None,
        description=(
            "What people can do about it, where a model gave no answer, or a verb is off until it "
            "is confirmed."
        ),
    ),
]
"""The field of an error."""
Remedies = Annotated[
    list[str],
    Field(
        exclude_if=lambda remedies: not remedies,
        description=(
            "What people can do about each model that gave no answer, by its profile. Absent "
            "where there is nothing."
        ),
    ),
]
"""The field of an answer beside its header."""
