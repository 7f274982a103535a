"""The features that rule ``attach`` sees, from the session as read in the write transaction and the
message's wording.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.ports.further_back import REQUESTS
from ordain.ports.sessions import EntryKind, Thread, speaking_run
from ordain.ports.shared import SessionState
from ordain.rules.answer import Takes
from ordain.rules.attach import THREADS_MAX, Attached, MessageReading
from ordain.rules.attachment import AttachFacts, Barred, Edit, ThreadFact
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.held_requests import held_request, held_thread
from ordain.runtime.last_word import (
    LastWord,
    LatestAnswer,
    answer_edited,
    last_word,
    latest_answer,
    thread_named,
)
from ordain.runtime.message_entry import Received
from ordain.wording.asking import ends_asking

_NOT_BARRED: Final = Barred.NO


class Placing(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a run that places a message (``Serves.PLACING``) brings to its claim: a model's
    suggestion, or the sender's choice. Field names are the claim's.
    """

    suggests: str = ""
    thread: int = 0
    confidence: float = 0.0
    choice: str = ""
    options: tuple[MessageReading, ...] = ()


def attach_facts(
    state: SessionState,
    message: Received,
    answer: AnswerReading,
    policy: Policy,
    suggested: Placing | None = None,
) -> AttachFacts:
    """The features that rule ``attach`` sees, from the session as read in the transaction and the
    message's wording.

    ``answer`` is the same message, read against the open questions.
    """
    found, said = message.found, message.facts
    given, edit = suggested or Placing(), _edit(state, message)
    barred = {thread.id: _barred(state, message, thread) for thread in state.threads}
    last = _last(state, barred)
    answered = (
        latest_answer(state, message, last)
        if found.yes or found.no or found.hold
        else LatestAnswer()
    )
    paused, unbegun = _held(state, message, last)
    place = state.edited if edit else state.replied
    named = (
        thread_named(state, message) if place is None and message.thread_ref and state.spoken else 0
    )
    anchor = named if place is None else place.thread
    threads = _told_of(
        state,
        {anchor},
        {option.thread for option in given.options},
        {last.thread, answered.thread, paused},
    )
    facts = AttachFacts(
        cues=found,
        threads=tuple(_thread_fact(thread, barred[thread.id], answer, state) for thread in threads),
        approvals=tuple(
            place for place, thread in enumerate(threads) if thread.awaiting is not None
        ),
        active=state.active,
        anchor=anchor,
        asked=_replies(state, message) is True,
        closed=_replies(state, message) is False,
        explicit=bool(said.workflow or said.delegates or said.attachments),
        at_work=len(state.at_work),
        open=state.open,
        edit=edit,
        may_ask=policy.attach.lane is not None and suggested is None,
        suggests=given.suggests,
        suggested_thread=given.thread,
        confidence=given.confidence,
        options=given.options,
        choice=given.choice,
        asks_back=True,
    )
    if given.choice:
        return facts  # it says which; whom the message was said to is decided
    astray = not anchor and not edit and bool(message.ids.reply_to or message.thread_ref)
    return msgspec.structs.replace(
        facts,
        addressed=True,
        last=last.thread,
        aside=_is_aside(state, anchor),
        told=place is not None
        and place.kind in (EntryKind.REPLY, EntryKind.SAID)
        and ends_asking(place.ending),
        astray=astray,
        wary=astray,
        answered=answered.thread,
        refused=answered.refused,
        revises=bool(answer_edited(state, message)),
        paused=paused,
        unbegun=unbegun,
        halted=state.halted,
        newest=True,
        outspoken=True,
    )


def _told_of(state: SessionState, *referred: set[int]) -> list[Thread]:
    """As many threads as the facts hold; those that are referred to are never cut off."""
    return sorted(state.threads, key=lambda thread: [thread.id not in ids for ids in referred])[
        :THREADS_MAX
    ]


def _held(state: SessionState, message: Received, last: LastWord) -> tuple[int, bool]:
    """The thread of the work that was held, and whether something was held after it that had not
    begun, for a message that orders to go on.
    """
    found, user = message.found, message.facts.user
    if not found.go_on or found.yes or found.no or found.hold:
        return 0, False
    held = held_request(state, user, after=last.seq)
    return held_thread(state, user, after=last.seq), held is not None and held.unbegun


def _last(state: SessionState, barred: dict[int, Barred]) -> LastWord:
    return last_word(state, {number for number, why in barred.items() if why})


def slot_taken_back(state: SessionState, message: Received, thread: Thread) -> str:
    """The slot of a thread that holds the sender's yes, where the message says no to that; "" where
    there is none.
    """
    if not message.found.no:
        return ""
    barred = {one.id: _barred(state, message, one) for one in state.threads}
    answered = latest_answer(state, message, _last(state, barred))
    return (
        answered.key
        if answered.thread == thread.id and thread.slots.get(answered.key) is True
        else ""
    )


def _thread_fact(
    thread: Thread, barred: Barred, answer: AnswerReading, state: SessionState
) -> ThreadFact:
    live = bool(thread.turns)
    fact = ThreadFact(
        id=thread.id,
        status=str(thread.status),
        live=live,
        idle=live and thread.id not in state.at_work,
        barred=barred,
    )
    if thread.asked is None:
        return fact
    asks = thread.asked.expects
    if barred:
        return msgspec.structs.replace(fact, asks=asks)
    return msgspec.structs.replace(
        fact,
        asks=asks,
        fits=answer.fits(thread.asked),
        takes=Takes(thread.asked.takes),
        partly=answer.partly(thread.asked),
    )


def _is_aside(state: SessionState, anchor: int) -> bool:
    """Whether what is replied to was said by Ordain before its thread asked what is open now."""
    replied = state.replied
    if replied is None or replied.kind in (EntryKind.MESSAGE, EntryKind.QUESTION):
        return False
    return any(
        thread.id == anchor and thread.asked is not None and thread.asked.seq > replied.seq
        for thread in state.threads
    )


def _barred(state: SessionState, message: Received, thread: Thread) -> Barred:
    """Whether what the thread asks is not the message's to answer. Entries' numbers say what came
    first; a sender's clock does not.

    Who asked for the work is who is asked about it: nobody else in a channel of many agrees for
    them. Of what was erased nobody knows who that was.
    """
    asked = thread.asked
    if asked is None:
        return _NOT_BARRED
    if asked.seq > _speaks_at(state, message):
        return Barred.LATER
    return Barred.OTHER if asked.of not in ("", message.facts.user) else _NOT_BARRED


def _speaks_at(state: SessionState, message: Received) -> int:
    """The number of the entry at whose time a message speaks: its own; of an edit that of what it
    edits, and of a reply to what a user said that of this.

    A reply to a request names its thread, and speaks of it as it is now.
    """
    if message.ids.edits:
        return state.seq if state.edited is None else state.edited.seq
    replied = state.replied
    if replied is None or replied.kind is not EntryKind.MESSAGE or replied.attached in REQUESTS:
        return state.seq
    return replied.seq


def _replies(state: SessionState, message: Received) -> bool | None:
    """Whether the question that the message replies to is open, and its to answer; None where it
    replies to no question.

    One that went back as A and B is the same question, whichever of its ways to ask is replied to.
    """
    replied = state.replied
    if replied is None or replied.kind is not EntryKind.QUESTION:
        return None
    by = speaking_run(replied.message_id)
    asking = [
        thread
        for thread in state.threads
        if thread.asked is not None and speaking_run(thread.asked.message_id) == by
    ]
    return any(not _barred(state, message, thread) for thread in asking)


def _edit(state: SessionState, message: Received) -> Edit:
    """What an edit is to the session. Only a sender's own request is replaced; anything else that
    is edited is read anew by its wording.
    """
    if not message.ids.edits:
        return Edit.SUPERSEDED if state.newer_edit > message.timestamp_ms else Edit.NONE
    if state.newer_edit > message.timestamp_ms:
        return Edit.STALE
    edited = state.edited
    if (
        edited is None
        or edited.author != message.facts.user
        or edited.attached not in (Attached.NEW_REQUEST, Attached.OVERRIDE)
    ):
        return Edit.NONE
    versions = {edited.run, *state.versions}  # of several edits each takes the place of all before
    live = any(
        versions.intersection(thread.turns)
        for thread in state.threads
        if thread.id == edited.thread
    )
    return Edit.LIVE if live else Edit.OVER
