"""Flow ``triage``: a message whose class is open. A model may suggest one (RTE-05), or the sender chooses between two readings.

Either way the same shared rule ``attach`` decides, inside the write transaction, and what follows is written there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec import Struct

from ordain.effects.effect import Claim, Question, Wait, WaitFor
from ordain.effects.results import Answered, ModelAnswer
from ordain.flows.ask import Question as ModelQuestion
from ordain.flows.ask import ask, lane_facts
from ordain.flows.context import Flow, FlowContext, open_account, settled_by_error
from ordain.flows.pricing import bound_of
from ordain.flows.question import said
from ordain.flows.verb_plan import proposal_of
from ordain.ports.effects import Interrupted
from ordain.prompts.triage_step import NAME, TriagePrompt, size_bound
from ordain.rules.answer import ExpectedType
from ordain.rules.attach import Filler, Reading, SessionBusy
from ordain.rules.lane import LaneChosen, decide_lane
from ordain.rules.proposals import Parsed
from ordain.rules.spend import Spend
from ordain.rules.suggestion import suggestion_of
from ordain.wording.wording import first_wording

TRIAGE = "triage"
READ_THREADS = "threads"
TRIAGE_TOKENS = 200
ATTEMPTS = 2
"""For so many attempts at the bound, one beside or after the other, the shared accounts are charged; what was not used goes back."""


class TriageInput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message, and how the claim finds what it refers to; with ``options`` the sender chooses, labelled by ``labels``."""

    session: str
    seq: int
    text: str
    channel: str
    message_id: str
    reply_to: str = ""
    edits: str = ""
    author: str = ""
    options: tuple[Reading, ...] = ()
    labels: tuple[str, ...] = ()


class TriageOutput(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why the message stands where it does; ``narrative`` only where it stands nowhere, because nobody chose."""

    reason: str = ""
    narrative: str = ""
    error: dict[str, str] | None = None


async def run_triage(context: FlowContext, given: TriageInput) -> TriageOutput:
    """Ask a model, or the sender, and claim the message's place; a model only where the shared accounts cover the question."""
    return await _placed(context, given, charged=True)


async def run_uncharged(context: FlowContext, given: TriageInput) -> TriageOutput:
    """Version 1, for runs that began as such: a model was asked whatever the shared accounts had left."""
    return await _placed(context, given, charged=False)


async def _placed(context: FlowContext, given: TriageInput, *, charged: bool) -> TriageOutput:
    try:
        if given.options:
            return await _repair(context, given)
        return await _suggest(context, given, charged=charged)
    except Interrupted as interrupted:
        return _nothing("interrupted", f"stopped by {interrupted.by}")


async def _suggest(context: FlowContext, given: TriageInput, *, charged: bool) -> TriageOutput:
    read = await context.fx.perform(context.read(READ_THREADS, {"session": given.session}))
    threads: list[dict[str, Any]] = getattr(read, "value", None) or []
    prompt = TriagePrompt(message=given.text, threads=tuple(threads))
    question = ModelQuestion(
        purpose=TRIAGE,
        prompt=NAME,
        contract="triage_step",
        refs=(0, read.seq),
        args={},
        prompt_tokens=size_bound(context.catalog.data.prompts[NAME], prompt),
        max_tokens=TRIAGE_TOKENS,
    )
    covered = not charged or await open_account(context, TRIAGE, _most(context, question)) is None
    answer = await ask(context, question) if covered else None
    proposal = proposal_of(answer) if isinstance(answer, ModelAnswer) else None
    suggestion = suggestion_of(proposal.value) if isinstance(proposal, Parsed) else None
    suggests, thread, confidence = suggestion or ("none", 0, 0.0)
    return await _claim(context, given, {"suggests": suggests, "thread": thread, "confidence": confidence})


def _most(context: FlowContext, question: ModelQuestion) -> Spend:
    """What is set aside for the question: so little that the turn which follows from it finds its own share of the accounts."""
    policy, data = context.catalog.policy, context.catalog.data
    lane = decide_lane(lane_facts(context, TRIAGE), None, policy).outcome
    profiles = [data.profiles[name] for name in lane.profiles] if isinstance(lane, LaneChosen) else []
    prompt = question.prompt_tokens
    money = max((bound_of(profile, prompt, TRIAGE_TOKENS).usd_micros for profile in profiles), default=0)
    return Spend(tokens=ATTEMPTS * (prompt + TRIAGE_TOKENS), usd_micros=ATTEMPTS * money)


async def _repair(context: FlowContext, given: TriageInput) -> TriageOutput:
    about = f"Which one do you mean? A: {given.labels[0]} B: {given.labels[1]}"
    deadline = min(context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000)
    question = Question(key="choice", expects=str(ExpectedType.CHOICE), options=given.labels)
    result = await context.fx.perform(Wait(what=WaitFor.ANSWER, about=about, deadline=deadline, question=question))
    chosen = first_wording().cues(said(result.value)).choice if isinstance(result, Answered) else ""
    if chosen not in ("A", "B"):
        return _nothing("repair_expired", "it stayed unclear which of the two was meant, so nothing was done")
    options = [msgspec.to_builtins(option) for option in given.options]
    return await _claim(context, given, {"choice": chosen, "options": options})


async def _claim(context: FlowContext, given: TriageInput, more: dict[str, Any]) -> TriageOutput:
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
        return _nothing("session_busy", "the session has as many turns going as it may; try again when one has ended")
    if given.options and isinstance(decision.outcome, Filler):
        return _nothing("nothing_to_stop", "what was meant has ended by itself")
    return TriageOutput(reason=decision.reason)


def _nothing(code: str, message: str) -> TriageOutput:
    return TriageOutput(narrative=f"This was not done: {message} ({code}).", error={"code": code, "message": message})


def _reply(output: TriageOutput) -> str | None:
    return output.narrative or None


TRIAGE_FLOW: Flow[TriageInput, TriageOutput] = Flow(
    name=TRIAGE, version=2, run=run_triage, decode_input=msgspec.json.Decoder(TriageInput).decode, settle=settled_by_error, reply=_reply
)
UNCHARGED_FLOW = replace(TRIAGE_FLOW, version=1, run=run_uncharged)
"""The version before, for what was begun under it."""
