"""Flow ``triage``: a message whose class is open. A model may suggest one (RTE-05), or the sender
chooses between two readings.

Either way the same shared rule ``attach`` decides, inside the write transaction, and what follows
is written there.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.effect import Claim, SharedState, UserQuestion, Wait, WaitFor
from ordain.effects.results import Answered, ModelAnswer
from ordain.flows.accounts import open_account
from ordain.flows.answer_text import said
from ordain.flows.ask import AskFailed, ask, lane_of
from ordain.flows.context import FlowContext
from ordain.flows.pricing import bound_of
from ordain.flows.steps.trace import proposal_of
from ordain.flows.triage.prompt import MAX_TOKENS, TRIAGE_PROMPT, Unplaced
from ordain.flows.triage.request import TriageInput, TriageOutput
from ordain.ports.effects import Interrupted
from ordain.rules.answer import ANSWER, AnswerFacts, AnswerInputs, Chosen, ExpectedType
from ordain.rules.attach import ATTACH
from ordain.rules.attachment import AttachReason, Filler, SessionBusy
from ordain.rules.lane import LaneChosen
from ordain.rules.spend import Spend
from ordain.rules.suggestion import SUGGESTION, Suggested, SuggestionFacts, SuggestionInputs
from ordain.wording.wording import wording_of

ATTEMPTS = 2
"""For so many attempts at the bound, one beside or after the other, the shared accounts are
charged; what was not used goes back.
"""


async def run_triage(context: FlowContext, given: TriageInput) -> TriageOutput:
    """Ask a model, or the sender, and claim the message's place; a model only where the shared
    accounts cover the question.
    """
    try:
        if given.options:
            return await _repair(context, given)
        return await _suggest(context, given)
    except Interrupted as interrupted:
        return _nothing("interrupted", f"stopped by {interrupted.by}")


async def _suggest(context: FlowContext, given: TriageInput) -> TriageOutput:
    read = await context.fx.perform(context.read(SharedState.THREADS, {"session": context.session}))
    threads: list[dict[str, Any]] = getattr(read, "value", None) or []
    answer = await _answer(context, Unplaced(given=given, read=read.seq, threads=tuple(threads)))
    proposal, refs = (None, ()) if answer is None else (proposal_of(answer), (answer.seq,))
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


async def _answer(context: FlowContext, unplaced: Unplaced) -> ModelAnswer | None:
    """What a model says of the message within policy's time; nothing is set aside, and nothing
    asked, where no model stands behind the lane.
    """
    context = context.until(
        context.now() + round(context.catalog.policy.attach.timeout_seconds * 1_000_000)
    )
    lane = lane_of(context, TRIAGE_PROMPT)
    if isinstance(lane, AskFailed):
        return None
    most = _most(context, lane, TRIAGE_PROMPT.ask(context, unplaced).prompt_tokens)
    if await open_account(context, context.agent, most) is not None:
        return None
    answer = await ask(context, TRIAGE_PROMPT, unplaced)
    return answer if isinstance(answer, ModelAnswer) else None


def _most(context: FlowContext, lane: LaneChosen, prompt: int) -> Spend:
    """What is set aside for the question: so little that the turn which follows from it finds its
    own share of the accounts.
    """
    profiles = [context.catalog.data.profiles[name] for name in lane.profiles]
    money = max(bound_of(profile, prompt, MAX_TOKENS).usd_micros for profile in profiles)
    return Spend(tokens=ATTEMPTS * (prompt + MAX_TOKENS), usd_micros=ATTEMPTS * money)


async def _repair(context: FlowContext, given: TriageInput) -> TriageOutput:
    about = f"Which one do you mean? A: {given.labels[0]} B: {given.labels[1]}"
    deadline = min(
        context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000
    )
    question = UserQuestion(key="choice", expects=str(ExpectedType.CHOICE), options=given.labels)
    result = await context.fx.perform(
        Wait(what=WaitFor.ANSWER, about=about, deadline=deadline, question=question)
    )
    if not isinstance(result, Answered):
        return _nothing(
            "repair_expired", "it stayed unclear which of the two was meant, so nothing was done"
        )
    chosen = _chosen(context, result, given.labels)
    if chosen is None:
        return _nothing("answer_unfit", "the answer names neither of the two, so nothing was done")
    options = [msgspec.to_builtins(option) for option in given.options]
    return await _claim(context, given, {"choice": chosen.option, "options": options})


def _chosen(context: FlowContext, answered: Answered, labels: tuple[str, ...]) -> Chosen | None:
    text = said(answered.value)
    facts = AnswerFacts(
        expects=ExpectedType.CHOICE,
        size=len(text),
        given_as_text=isinstance(answered.value, dict),
        options=len(labels),
    )
    inputs = AnswerInputs(text=text, wording=wording_of(context.catalog), options=labels)
    outcome = context.fx.decide(ANSWER, facts, inputs, (answered.seq,)).outcome
    return outcome if isinstance(outcome, Chosen) else None


async def _claim(context: FlowContext, given: TriageInput, more: dict[str, Any]) -> TriageOutput:
    message = given.message
    place = {
        "session": context.session,
        "seq": given.seq,
        "channel": message.channel,
        "author": message.user,
    }
    claim: Claim[Any] = Claim(
        name=ATTACH.name, args={**place, **msgspec.structs.asdict(given.ids), **more}
    )
    decision = await context.fx.claim(claim)
    if isinstance(decision.outcome, SessionBusy):
        return _nothing(
            "session_busy",
            "the session has as many turns going as it may; try again when one has ended",
        )
    if decision.reason == str(AttachReason.HALTED):
        return _nothing(
            "interrupted",
            "an order to stop came before it had begun; say it again if it is still wanted",
        )
    if given.options and isinstance(decision.outcome, Filler):
        return _nothing("nothing_to_stop", "what was meant has ended by itself")
    return TriageOutput(reason=decision.reason)


def _nothing(code: str, message: str) -> TriageOutput:
    return TriageOutput(
        narrative=f"This was not done: {message} ({code}).",
        error={"code": code, "message": message},
    )
