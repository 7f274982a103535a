"""Flow ``council``: a council that is called by itself, outside any conversation (CNC-04)."""

from __future__ import annotations

from ordain.contracts.council import CouncilDirective, DeliberationRequest
from ordain.effects.calls import Call
from ordain.effects.results import VerbReturned
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.council.outcome import CouncilOutput
from ordain.flows.deliberation.deliberate import Deliberated, deliberate
from ordain.flows.observations import error_of
from ordain.ports.effects import Interrupted

CHAIN_VERB = "agent_chain"
"""What a council calls for that calls for work with tools."""


async def run_council(context: FlowContext, request: DeliberationRequest) -> CouncilOutput:
    """Hold a council, and carry out what it came to: its answer stands, or the agent chain works on the question."""
    try:
        if (short := await open_account(context, context.agent)) is not None:
            return CouncilOutput(ok=False, error="budget_exceeded", message=f"account {short.account} does not cover the run")
        came = await deliberate(context, request, recorded=True)
        if came.next is CouncilDirective.DELEGATE_CHAIN:
            return await _delegated(context, request, came)
    except Interrupted as interrupted:
        return CouncilOutput(ok=False, error="cancelled", message=f"{interrupted.what} by {interrupted.by}")
    return CouncilOutput(ok=came.ok, error=came.error, message=came.message, next=came.next, result=came.result)


async def _delegated(context: FlowContext, request: DeliberationRequest, came: Deliberated) -> CouncilOutput:
    if CHAIN_VERB not in context.scope.allowed:
        why = "the council calls for the agent chain, which this build lacks or this run may not use"
        return CouncilOutput(ok=False, error="path_unavailable", message=why, next=came.next, result=came.result)
    acted = await act(context, Call(verb=CHAIN_VERB, args={"text": request.prompt}), (0,))
    if isinstance(acted.result, VerbReturned):
        return CouncilOutput(ok=True, next=came.next, result=came.result, chain=acted.result.output)
    error = error_of(acted)
    return CouncilOutput(ok=False, error=error["code"], message=error["message"], next=came.next, result=came.result)
