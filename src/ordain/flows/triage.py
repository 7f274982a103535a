"""Flow ``triage``: a message whose class is open. A model may suggest one (RTE-05), or the sender chooses between two readings.

Either way the same shared rule ``attach`` decides, inside the write transaction, and what follows is written there.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ordain.flows.ask import Question as ModelQuestion
from ordain.flows.ask import ask
from ordain.flows.context import Flow, FlowContext, settled_by_error
from ordain.flows.question import said
from ordain.flows.verb_plan import proposal_of
from ordain.ports.effects import Answered, Claim, Interrupted, ModelAnswer, Question, Wait, WaitFor
from ordain.prompts.triage_step import NAME, TriagePrompt, size_bound
from ordain.rules.attach import Filler, Reading, SessionBusy, suggestion_of
from ordain.rules.cues import ExpectedType, cues
from ordain.rules.proposals import Parsed

TRIAGE = "triage"
READ_THREADS = "threads"
TRIAGE_TOKENS = 200


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
    """Ask a model, or the sender, and claim the message's place."""
    try:
        if given.options:
            return await _repair(context, given)
        return await _suggest(context, given)
    except Interrupted as interrupted:
        return _nothing("interrupted", f"stopped by {interrupted.by}")


async def _suggest(context: FlowContext, given: TriageInput) -> TriageOutput:
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
    answer = await ask(context, question)
    proposal = proposal_of(answer) if isinstance(answer, ModelAnswer) else None
    suggestion = suggestion_of(proposal.value) if isinstance(proposal, Parsed) else None
    suggests, thread, confidence = suggestion or ("none", 0, 0.0)
    return await _claim(context, given, {"suggests": suggests, "thread": thread, "confidence": confidence})


async def _repair(context: FlowContext, given: TriageInput) -> TriageOutput:
    about = f"Which one do you mean? A: {given.labels[0]} B: {given.labels[1]}"
    deadline = min(context.hard, context.now() + context.catalog.policy.session.question_seconds * 1_000_000)
    question = Question(key="choice", expects=str(ExpectedType.CHOICE), options=given.labels)
    result = await context.fx.perform(Wait(what=WaitFor.ANSWER, about=about, deadline=deadline, question=question))
    chosen = cues(said(result.value)).choice if isinstance(result, Answered) else ""
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
    name=TRIAGE, version=1, run=run_triage, decode_input=msgspec.json.Decoder(TriageInput).decode, settle=settled_by_error, reply=_reply
)
