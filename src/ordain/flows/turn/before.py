"""Flow ``turn`` as versions 7 to 9 had it; what is older stands in a module of its own."""

from __future__ import annotations

import msgspec

from ordain.flows.context import FlowContext
from ordain.flows.findings import listed
from ordain.flows.turn.carried import TurnTerms, why_not, why_not_7
from ordain.flows.turn.flow import run_on_terms
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.flows.turn.router import ROUTER_PROMPT_8


async def run_turn_7(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Until version 7 it was said of what nobody knows, too, that it was not done."""
    told = await run_turn_8(context, given)
    by_code = told.error is not None and told.narrative == why_not(**told.error)
    return (
        told
        if told.error is None or not by_code
        else msgspec.structs.replace(told, narrative=why_not_7(**told.error))
    )


async def run_turn_8(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Until version 8 the router was told of no budgets, and a chain's step was not bounded by its
    own time.
    """
    terms = TurnTerms(router=ROUTER_PROMPT_8, bounds_chain=False, by_code=listed)
    return await run_on_terms(context, given, terms)


async def run_turn_9(context: FlowContext, given: TurnInput) -> TurnOutput:
    """Until version 9 an agent's words could have a line like another agent's, where no model put
    them into words.
    """
    return await run_on_terms(context, given, TurnTerms(by_code=listed))
