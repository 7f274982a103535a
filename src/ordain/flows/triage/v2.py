"""Flow ``triage``, version 2, frozen: for runs that began as such. What an answer or a suggestion
comes to was found here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.effect import Claim, SharedState, UserQuestion, Wait, WaitFor
from ordain.effects.results import Answered, ModelAnswer
from ordain.flows.accounts import open_account
from ordain.flows.answer_text import said
from ordain.flows.ask import ask, lane_facts
from ordain.flows.context import FlowContext
from ordain.flows.kind import ModelQuestion
from ordain.flows.pricing import bound_of
from ordain.flows.recording_1 import spelled_out
from ordain.flows.steps.trace import proposal_of
from ordain.flows.triage.flat_input import FlatTriageInput
from ordain.flows.triage.prompt import MAX_TOKENS, TRIAGE_PROMPT, Unplaced
from ordain.flows.triage.request import AGENT, TriageOutput
from ordain.ports.effects import Interrupted
from ordain.rules.answer import ExpectedType
from ordain.rules.attachment import Filler, SessionBusy
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.proposals import Parsed
from ordain.rules.spend import Spend
from ordain.rules.suggestion import suggestion_of
from ordain.wording.wording import first_wording

ATTEMPTS = 2
"""For so many attempts at the bound, one beside or after the other, the shared accounts are
charged; what was not used goes back.
"""


@spelled_out(TRIAGE_PROMPT)
async def run_triage(context: FlowContext, given: FlatTriageInput) -> TriageOutput:
    """Version 2."""
    try:
        if given.options:
            return await _repair(context, given)
        return await _suggest(context, given)
    except Interrupted as interrupted:
        return _nothing("interrupted", f"stopped by {interrupted.by}")


async def _suggest(context: FlowContext, given: FlatTriageInput) -> TriageOutput:
    read = await context.fx.perform(context.read(SharedState.THREADS, {"session": given.session}))
    threads: list[dict[str, Any]] = getattr(read, "value", None) or []
    unplaced = Unplaced(given=given, read=read.seq, threads=tuple(threads))
    question = TRIAGE_PROMPT.ask(context, unplaced)
    covered = await open_account(context, AGENT, _most(context, question)) is None
    answer = await ask(context, TRIAGE_PROMPT, unplaced) if covered else None
    proposal = proposal_of(answer) if isinstance(answer, ModelAnswer) else None
    suggestion = suggestion_of(proposal.value) if isinstance(proposal, Parsed) else None
    suggests, thread, confidence = suggestion or ("none", 0, 0.0)
    return await _claim(
        context, given, {"suggests": suggests, "thread": thread, "confidence": confidence}
    )


def _most(context: FlowContext, question: ModelQuestion) -> Spend:
    """What is set aside for the question: so little that the turn which follows from it finds its
    own share of the accounts.
    """
    policy, data = context.catalog.policy, context.catalog.data
    lane = LANE.apply(
        lane_facts(context, TRIAGE_PROMPT.purpose),
        LaneInputs(by_purpose=TRIAGE_PROMPT.lane),
        policy,
    ).outcome
    profiles = (
        [data.profiles[name] for name in lane.profiles] if isinstance(lane, LaneChosen) else []
    )
    prompt = question.prompt_tokens
    money = max(
        (bound_of(profile, prompt, MAX_TOKENS).usd_micros for profile in profiles), default=0
    )
    return Spend(tokens=ATTEMPTS * (prompt + MAX_TOKENS), usd_micros=ATTEMPTS * money)


async def _repair(context: FlowContext, given: FlatTriageInput) -> TriageOutput:
    about = f"Which one do you mean? A: {given.labels[0]} B: {given.labels[1]}"
    deadline = min(
        context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000
    )
    question = UserQuestion(key="choice", expects=str(ExpectedType.CHOICE), options=given.labels)
    result = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about=about, deadline=deadline, question=question)
    )
    chosen = first_wording().cues(said(result.value)).choice if isinstance(result, Answered) else ""
    if chosen not in ("A", "B"):
        return _nothing(
            "repair_expired", "it stayed unclear which of the two was meant, so nothing was done"
        )
    options = [msgspec.to_builtins(option) for option in given.options]
    return await _claim(context, given, {"choice": chosen, "options": options})


async def _claim(
    context: FlowContext, given: FlatTriageInput, more: dict[str, Any]
) -> TriageOutput:
    place = {
        "session": given.session,
        "seq": given.seq,
        "channel": given.channel,
        "message_id": given.message_id,
        "reply_to": given.reply_to,
        "edits": given.edits,
        "author": given.author,
    }
    claim: Claim[Any] = Claim(name="attach", args={**place, **more})
    decision = await context.fx.claim(claim)
    if isinstance(decision.outcome, SessionBusy):
        return _nothing(
            "session_busy",
            "the session has as many turns going as it may; try again when one has ended",
        )
    if given.options and isinstance(decision.outcome, Filler):
        return _nothing("nothing_to_stop", "what was meant has ended by itself")
    return TriageOutput(reason=decision.reason)


def _nothing(code: str, message: str) -> TriageOutput:
    return TriageOutput(
        narrative=f"This was not done: {message} ({code}).",
        error={"code": code, "message": message},
    )
