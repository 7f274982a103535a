"""Flow ``seat``: one question to a model, as one seat of a council (C4)."""

from __future__ import annotations

from collections.abc import Callable

from ordain.contracts.council import Opinion, read_proposal
from ordain.effects.results import ModelAnswer
from ordain.flows.ask import AskFailed, ask
from ordain.flows.context import FlowContext
from ordain.flows.deliberation.prompt import proposal_of as whole_proposal
from ordain.flows.deliberation.seat_run import INVALID, SeatInput, SeatOutput
from ordain.flows.seat.prompt import SEAT_PROMPT
from ordain.flows.steps.trace import proposal_of
from ordain.ports.effects import Interrupted
from ordain.rules.opinion import OPINION, Opined, OpinionFacts, OpinionInputs
from ordain.rules.proposals import Parsed, Unparsed


async def run_seat(context: FlowContext, given: SeatInput) -> SeatOutput:
    """Ask a model as the seat, and take its answer where it is an opinion, whole: nothing is taken
    out of prose.
    """
    return await _speak(context, given, whole_proposal)


async def run_seat_2(context: FlowContext, given: SeatInput) -> SeatOutput:
    """Version 2, for runs that began as such: an auditor's own answer that was to be revised was
    lost to the council it spoke in.
    """
    return await _speak(context, given, whole_proposal)


async def run_seat_1(context: FlowContext, given: SeatInput) -> SeatOutput:
    """Version 1, for runs that began as such: an opinion was taken out of the prose around it."""
    return await _speak(context, given, proposal_of)


async def _speak(
    context: FlowContext, given: SeatInput, read: Callable[[ModelAnswer], Parsed | Unparsed]
) -> SeatOutput:
    if given.seat not in context.catalog.data.seats:
        return SeatOutput(
            name=given.seat, error="unknown_seat", message="the catalog has no such seat"
        )
    try:
        answer = await ask(context, SEAT_PROMPT, given)
    except Interrupted as interrupted:
        return SeatOutput(
            name=given.seat, error="cancelled", message=f"{interrupted.what} by {interrupted.by}"
        )
    if isinstance(answer, AskFailed):
        return SeatOutput(name=given.seat, error=answer.code, message=answer.message)
    proposal = read(answer)
    facts = OpinionFacts(size_bytes=proposal.size_bytes)
    decision = context.fx.decide(OPINION, facts, OpinionInputs(proposal=proposal), (answer.seq,))
    opinion = read_proposal(proposal.value, Opinion) if isinstance(proposal, Parsed) else None
    if not isinstance(decision.outcome, Opined) or opinion is None:
        return SeatOutput(name=given.seat, error=INVALID, message=decision.reason.meaning)
    return SeatOutput(name=given.seat, text=opinion.text)
