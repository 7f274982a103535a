"""The call of ``plan.subgoal``, and the planner's request behind it."""

from __future__ import annotations

import msgspec

from ordain.contracts.planner import (
    ExternalFacts,
    Goal,
    Limits,
    PlannerContext,
    PlannerRequest,
    ToolRef,
)
from ordain.contracts.subgoal import SUBGOAL_SECONDS, SubgoalRequest
from ordain.flows.carried import VerbPlanInput
from ordain.flows.steps.bounds import lowered


def planner_request(call: VerbPlanInput) -> PlannerRequest:
    """The call's arguments, which its schema has accepted, as a plan of its own; nothing of the
    caller's goal or trace goes with it.
    """
    asked = SubgoalRequest.model_validate_json(msgspec.json.encode(call.args))
    return PlannerRequest(
        caller="other",
        goal=Goal(type="planning", description=asked.goal),
        context=PlannerContext(external_facts=ExternalFacts(text=asked.facts))
        if asked.facts
        else PlannerContext(),
        toolset=[ToolRef(tool_id=tool) for tool in dict.fromkeys(asked.tools)],
        limits=lowered(
            Limits(max_steps=asked.max_steps, timeout_seconds=SUBGOAL_SECONDS), call.bounds
        ),
    )
