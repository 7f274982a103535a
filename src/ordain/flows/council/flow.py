"""Flow ``council``: a council that is called by itself, outside any conversation (CNC-04)."""

from __future__ import annotations

from ordain.contracts.chain import CHAIN_VERB
from ordain.contracts.council import CouncilDirective, DeliberationRequest
from ordain.flows.accounts import open_account
from ordain.flows.carried import NO_TALK
from ordain.flows.context import FlowContext
from ordain.flows.council.outcome import CouncilOutput
from ordain.flows.deliberation.deliberate import Deliberated, deliberate
from ordain.flows.steps.chain import ChainAsked, enter_chain, pack_tools
from ordain.ports.effects import Interrupted


async def run_council(context: FlowContext, request: DeliberationRequest) -> CouncilOutput:
    """Hold a council, and carry out what it came to: its answer stands, or the agent chain works on
    the question.
    """
    try:
        if (short := await open_account(context, context.agent)) is not None:
            return CouncilOutput(
                ok=False,
                error="budget_exceeded",
                message=f"account {short.account} does not cover the run",
            )
        came = await deliberate(context, request, recorded=True)
        if came.next is CouncilDirective.DELEGATE_CHAIN:
            return await _delegated(context, came)
    except Interrupted as interrupted:
        return CouncilOutput(
            ok=False, error="cancelled", message=f"{interrupted.what} by {interrupted.by}"
        )
    return CouncilOutput(
        ok=came.ok, error=came.error, message=came.message, next=came.next, result=came.result
    )


async def _delegated(context: FlowContext, came: Deliberated) -> CouncilOutput:
    """What the chain answers is the council's answer, where a validated directive led there
    (EXE-07).
    """
    if CHAIN_VERB not in context.catalog.verbs or came.result is None:
        return CouncilOutput(
            ok=False, error="path_unavailable", message=NO_CHAIN, next=came.next, result=came.result
        )
    asked = ChainAsked(
        text=came.result.prompt,
        tools=tuple(filter(context.scope.permits, pack_tools(context.catalog))),
        mode="council",
    )
    chained = await enter_chain(context, asked, NO_TALK, (0,))
    return CouncilOutput(
        ok=chained.answer is not None,
        error=chained.error,
        message=chained.message,
        next=came.next,
        result=came.result,
        chain=chained.answer,
    )


NO_CHAIN = "the council calls for an agent chain, and the run's catalog has none"
