"""Flow ``subgoal``: verb ``plan.subgoal``. A planner works on part of a goal, and only a validated final answer ends it well (FUT-02).

Its verbs are those that the call names and the caller may use; how deep it may be nested the verb's declaration says, and rule ``authorize`` holds it to that.
"""

from __future__ import annotations

from ordain.contracts.verbs import Trust
from ordain.flows.act import VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.steps.work import Working, work
from ordain.flows.subgoal.prompt import SUBGOAL_PROMPT
from ordain.flows.subgoal.request import planner_request

ROLE = "subgoal"
TRUST: dict[str, Trust] = dict.fromkeys(("content", "structured"), Trust.FOREIGN)


async def run_subgoal(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Work on it until there is a validated answer, or say exactly why there is none."""
    worked = await work(context.told(turn_kind(call)), planner_request(call), SUBGOAL_PROMPT, Working(role=ROLE))
    if not worked.ok:
        return VerbPlanOutput(ok=False, error=worked.error, message=worked.message, step_results=worked.steps)
    return VerbPlanOutput(ok=True, output=worked.output, trust=TRUST, step_results=worked.steps)
