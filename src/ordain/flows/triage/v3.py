"""Flow ``triage``, version 3, frozen: for runs that began as such. The lane of the question was
found off the record, then decided.
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
from ordain.flows.steps.trace import proposal_of
from ordain.flows.triage.flat_input import FlatTriageInput
from ordain.flows.triage.prompt import MAX_TOKENS, TRIAGE_PROMPT, Unplaced
from ordain.flows.triage.request import AGENT, TriageOutput
from ordain.ports.effects import Interrupted
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, Chosen, ExpectedType
from ordain.rules.attachment import Filler, SessionBusy
from ordain.rules.lane import LANE, LaneChosen, LaneInputs
from ordain.rules.spend import Spend
from ordain.rules.suggestion import SUGGESTION, Suggested, SuggestionFacts, SuggestionInputs
from ordain.wording.wording import wording_of

ATTEMPTS = 2
"""For so many attempts at the bound, one beside or after the other, the shared accounts are
charged; what was not used goes back.
"""


async def run_triage(context: FlowContext, given: FlatTriageInput) -> TriageOutput:
    """Version 3."""
    return await _placed(context, given)


async def _placed(context: FlowContext, given: FlatTriageInput) -> TriageOutput:
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
    proposal, refs = (
        (proposal_of(answer), (answer.seq,)) if isinstance(answer, ModelAnswer) else (None, ())
    )
    facts = SuggestionFacts(
        answered=proposal is not None, size_bytes=0 if proposal is None else proposal.size_bytes
    )
    outcome = context.fx.decide(
        SUGGESTION, facts, SuggestionInputs(proposal=proposal), refs
    ).outcome
    if not isinstance(outcome, Suggested):
        return await _claim(context, given, {"suggests": "none", "thread": 0, "confidence": 0.0})
    return await _claim(
        context,
        given,
        {"suggests": outcome.attached, "thread": outcome.thread, "confidence": outcome.confidence},
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
    chosen = _chosen(context, result) if isinstance(result, Answered) else None
    if chosen is None:
        return _nothing(
            "repair_expired", "it stayed unclear which of the two was meant, so nothing was done"
        )
    options = [msgspec.to_builtins(option) for option in given.options]
    return await _claim(context, given, {"choice": chosen.option, "options": options})


def _chosen(context: FlowContext, answered: Answered) -> Chosen | None:
    text = said(answered.value)
    facts = AnswerFacts(
        expects=ExpectedType.CHOICE, size=len(text), given_as_text=isinstance(answered.value, dict)
    )
    inputs = AnswerInputs(text=text, wording=wording_of(context.catalog))
    outcome = context.fx.decide(ANSWER, facts, inputs, (answered.seq,)).outcome
    return outcome if isinstance(outcome, Chosen) else None


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
