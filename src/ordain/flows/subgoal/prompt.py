"""The planner's step of a subgoal: the same question and contract as any planner's, asked as
``subgoal``.
"""

from __future__ import annotations

from ordain.contracts.planner import PlannerRequest
from ordain.flows.steps.prompt import step_prompt
from ordain.flows.subgoal.request import planner_request
from ordain.flows.transcript import Spoken
from ordain.flows.values import Values


def _given(values: Values) -> tuple[PlannerRequest, Spoken | None]:
    return planner_request(values[0]), None


SUBGOAL_PROMPT = step_prompt(_given)
