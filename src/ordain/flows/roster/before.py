"""Flow ``roster`` as its versions before had it."""

from __future__ import annotations

from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.context import FlowContext
from ordain.flows.roster.flow import run_version


async def run_roster_5(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 5, where an agent's words could have a line like another agent's."""
    return await run_version(context, call, version=5)


async def run_roster_4(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 4, where all that was at work when the plan was stopped was told as cancelled."""
    return await run_version(context, call, version=4)


async def run_roster_3(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 3, where a failed handoff stayed one, whoever did its step afterwards."""
    return await run_version(context, call, version=3)


async def run_roster_2(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 2, whose time bounds no step that has begun and counts for nothing where it leaves
    one undone, and whose steps are planned until somebody has them.
    """
    return await run_version(context, call, version=2)


async def run_roster_1(context: FlowContext, call: VerbPlanInput) -> VerbPlanOutput:
    """Version 1, whose records of steps say nothing of gates, leave out what is as of most steps,
    and name who would have had a step that nobody was handed.
    """
    return await run_version(context, call, version=1)
