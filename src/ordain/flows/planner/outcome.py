"""What a planning run returns, and how that settles it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ordain.flows.kind import Settlement
from ordain.flows.steps.trace import StepRefs
from ordain.journal.records import Status


class PlannerOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The source's response (PLN-18) but for what the runtime adds: ``run_id``, ``header`` and the
    trace.

    ``steps`` are the trace by reference (``StepRefs``): what a model or a verb said stands in the
    journal once.
    """

    request_id: str
    status: str
    error: dict[str, str] | None
    final_answer: dict[str, Any] | None
    steps: tuple[StepRefs, ...]
    usage: dict[str, Any]


def settle_plan(outcome: PlannerOutcome) -> Settlement:
    """By its error: a run without one has completed."""
    if outcome.error is None:
        return Settlement(status=Status.COMPLETED, reason="ok")
    code = outcome.error["code"]
    statuses = {"timeout": Status.TIMED_OUT, "cancelled": Status.CANCELLED}
    return Settlement(status=statuses.get(code, Status.FAILED), reason=code)


def salvaged(answer: Mapping[str, Any], stop_reason: str) -> dict[str, Any]:
    """An answer that is marked as none (B-01)."""
    return {
        "content": answer["content"],
        "structured": {**answer["structured"], "salvaged": True, "stop_reason": stop_reason},
    }
