"""Flow ``subgoal``: verb ``plan.subgoal``. A planner works on part of a goal, and only a validated
final answer ends it well (FUT-02).

Its verbs are those that the call names and the caller may use; how deep it may be nested the verb's
declaration says, and rule ``authorize`` holds it to that.
"""

from __future__ import annotations

from ordain.contracts.verbs import Trust
from ordain.contracts.verdict import FAILED_BY
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput, turn_kind
from ordain.flows.context import FlowContext
from ordain.flows.steps.work import Worked, Working, work
from ordain.flows.subgoal.prompt import SUBGOAL_PROMPT
from ordain.flows.subgoal.request import planner_request
from ordain.rules.verdict import VERDICT, VerdictFacts, VerdictInputs

ROLE = "subgoal"
TRUST: dict[str, Trust] = dict.fromkeys(("content", "structured"), Trust.FOREIGN)


async def run_subgoal(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Work on it until there is a validated answer, or say exactly why there is none. An answer
    behind calls of which none was made is none.
    """
    worked = await _worked(context, call, counts=True)
    return _answered(context, worked, worked.apart)


async def run_subgoal_2(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 2, where a call that the door refused was one that was made."""
    worked = await _worked(context, call, counts=True)
    return _answered(context, worked, worked)


def _answered(context: FlowContext, worked: Worked, made: Worked) -> VerbPlanOutput:
    if worked.ok and made.refused and not made.steps:
        facts = VerdictFacts(proposed=made.refused, acts=0, answered=True)
        verdict = context.fx.decide(
            VERDICT, facts, VerdictInputs(acts=()), (worked.planner_raw["answer"],)
        )
        worked = Worked(
            ok=False,
            error=FAILED_BY[verdict.outcome.verdict],
            message=verdict.reason.meaning,
            steps=worked.steps,
        )
    return _output(worked)


async def run_subgoal_1(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 1, where a directive that was refused for its shape was no proposed call, and an
    answer behind refused calls was one.
    """
    return _output(await _worked(context, call, counts=False))


async def _worked(context: FlowContext, call: VerbPlanInput, *, counts: bool) -> Worked:
    return await work(
        context.told(turn_kind(call)),
        planner_request(call),
        SUBGOAL_PROMPT,
        Working(role=ROLE, counts=counts),
    )


def _output(worked: Worked) -> VerbPlanOutput:
    if not worked.ok:
        return VerbPlanOutput(
            ok=False, error=worked.error, message=worked.message, step_results=worked.steps
        )
    return VerbPlanOutput(ok=True, output=worked.output, trust=TRUST, step_results=worked.steps)
