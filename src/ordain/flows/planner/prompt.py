"""The planner prompt of a planning request."""

from __future__ import annotations

from ordain.contracts.planner import PlannerRequest
from ordain.flows.steps.prompt import step_prompt
from ordain.flows.transcript import Spoken
from ordain.flows.values import Values


def _given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
    return values[0], None


PROMPT = step_prompt(_given)
