"""The features that rule ``attach`` sees, from the session as read in the write transaction and the message's wording."""

from __future__ import annotations

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.ports.sessions import EntryKind, Thread
from ordain.ports.shared import SessionState
from ordain.rules.answer import Takes
from ordain.rules.attach import THREADS_MAX, Attached, MessageReading
from ordain.rules.attachment import AttachFacts, Barred, Edit, ThreadFact
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.message_entry import Received
from ordain.wording.cues import Partly


class Placing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run that places a message (``Serves.PLACING``) brings to its claim: a model's suggestion, or the sender's choice. Field names are the claim's."""

    suggests: str = ""
    thread: int = 0
    confidence: float = 0.0
    choice: str = ""
    options: tuple[MessageReading, ...] = ()


def attach_facts(
    state: SessionState, message: Received, answer: AnswerReading, policy: Policy, suggested: Placing | None = None
) -> AttachFacts:
    """The features that rule ``attach`` sees, from the session as read in the transaction and the message's wording.

    ``answer`` is the same message, read against the open questions.
    """
    found, said = message.found, message.facts
    place = state.edited if _edit(state, message) is not Edit.NONE else state.replied
    anchor = 0 if place is None else place.thread
    given = suggested or Placing()
    offered = {option.thread for option in given.options}
    threads = sorted(state.threads, key=lambda thread: (thread.id != anchor, thread.id not in offered))  # these are never cut off
    return AttachFacts(
        cues=found,
        threads=tuple(
            ThreadFact(
                id=thread.id,
                status=str(thread.status),
                live=bool(thread.turns),
                idle=bool(thread.turns) and thread.id not in state.at_work,
                asks="" if thread.asked is None else thread.asked.expects,
                fits=thread.asked is not None and not barred and answer.fits(thread.asked),
                barred=barred,
                takes=Takes.NOTHING if thread.asked is None or barred else Takes(thread.asked.takes),
                partly=Partly.NO if thread.asked is None or barred else answer.partly(thread.asked),
            )
            for thread, barred in ((thread, _barred(state, message, thread)) for thread in threads[:THREADS_MAX])
        ),
        approvals=tuple(place for place, thread in enumerate(threads[:THREADS_MAX]) if thread.awaiting is not None),
        active=state.active,
        anchor=anchor,
        asked=_replies(state, message) is True,
        closed=_replies(state, message) is False,
        explicit=bool(said.workflow or said.delegates or said.attachments),
        at_work=len(state.at_work),
        open=state.open,
        edit=_edit(state, message),
        may_ask=policy.attach.lane is not None and suggested is None,
        suggests=given.suggests,
        suggested_thread=given.thread,
        confidence=given.confidence,
        options=given.options,
        choice=given.choice,
        asks_back=True,
    )


def _barred(state: SessionState, message: Received, thread: Thread) -> Barred:
    """Whether what the thread asks is not the message's to answer. Entries' numbers say what came first; a sender's clock does not.

    Who asked for the work is who is asked about it: nobody else in a channel of many agrees for them. Of what was erased nobody knows who that was.
    """
    asked = thread.asked
    if asked is None:
        return Barred.NO
    if asked.seq > state.seq:
        return Barred.LATER
    return Barred.OTHER if asked.of not in ("", message.facts.user) else Barred.NO


def _replies(state: SessionState, message: Received) -> bool | None:
    """Whether the question that the message replies to is open, and its to answer; None where it replies to no question."""
    replied = state.replied
    if replied is None or replied.kind is not EntryKind.QUESTION:
        return None
    asking = [thread for thread in state.threads if thread.asked is not None and thread.asked.message_id == replied.message_id]
    return any(not _barred(state, message, thread) for thread in asking)


def _edit(state: SessionState, message: Received) -> Edit:
    """What an edit is to the session. Only a sender's own request is replaced; anything else that is edited is read anew by its wording."""
    if not message.ids.edits:
        return Edit.SUPERSEDED if state.newer_edit > message.timestamp_ms else Edit.NONE
    if state.newer_edit > message.timestamp_ms:
        return Edit.STALE
    edited = state.edited
    if edited is None or edited.author != message.facts.user or edited.attached not in (Attached.NEW_REQUEST, Attached.OVERRIDE):
        return Edit.NONE
    live = any(edited.run in thread.turns for thread in state.threads if thread.id == edited.thread)
    return Edit.LIVE if live else Edit.OVER
