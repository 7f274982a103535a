"""What was said last in a session, as far as a message may be about it: what Ordain asked, what its
sender answered.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec import Struct

from ordain.ports.further_back import OURS, REQUESTS, TAKEN
from ordain.ports.sessions import EntryKind, Thread
from ordain.ports.shared import LatestEntry, SessionState
from ordain.rules.attach import Attached
from ordain.runtime.message_entry import Received, thread_ref_of
from ordain.wording.asking import ends_asking


class LastWord(Struct, frozen=True, kw_only=True):
    """The thread whose question was put last, and the number of its entry; 0: nothing is asked, as
    far as the entries that are looked at tell.
    """

    thread: int = 0
    seq: int = 0


class LatestAnswer(Struct, frozen=True, kw_only=True):
    """The thread whose question the sender's latest answer closed (0: none that matters any more),
    whether that was a no, and the slot that it was to fill, where that is known.
    """

    thread: int = 0
    refused: bool = False
    key: str = ""


def last_word(state: SessionState, barred: Set[int]) -> LastWord:
    """What was asked last and is open. What is put to somebody else (threads ``barred``) does not
    count.
    """
    known = {thread.id: thread for thread in state.threads}
    asked = [
        (one.asked.seq, one.id)
        for one in state.threads
        if one.asked is not None and one.id not in barred
    ]
    seq, thread = max(asked, default=(0, 0))
    taken: set[int] = set()
    for one in state.spoken:
        if one.seq <= seq:
            break
        if one.kind is EntryKind.MESSAGE and one.attached in TAKEN:
            taken.add(one.thread)
        if (
            one.thread in known
            and one.thread not in barred
            and _asks(one, known[one.thread], taken)
        ):
            return LastWord(thread=one.thread, seq=one.seq)
    return LastWord(thread=thread, seq=seq)


def _asks(one: LatestEntry, thread: Thread, taken: Set[int]) -> bool:
    if one.kind is EntryKind.APPROVAL:
        return thread.awaiting is not None
    return one.kind in OURS and one.thread not in taken and ends_asking(one.ending)


def latest_answer(state: SessionState, message: Received, last: LastWord) -> LatestAnswer:
    """The sender's own: of a thread that still works on it, or their latest message of all. What
    was asked since is what is answered now.
    """
    known, begun, before, expected = (
        {thread.id: thread for thread in state.threads},
        set[int](),
        False,
        0,
    )
    if (edited := answer_edited(state, message)) and edited in known and state.edited is not None:
        return _answer(state, known[edited], state.edited.seq)
    for one in state.spoken:
        before = before or one.seq < expected  # what stands between is not looked at
        expected = one.seq - 1
        if one.seq <= last.seq and last.thread == one.thread:
            break
        if one.kind is not EntryKind.MESSAGE:
            continue
        if one.attached in REQUESTS:
            begun.add(one.thread)
        if one.author != message.facts.user:
            continue
        thread = known.get(one.thread)
        if (
            one.attached == Attached.ANSWER
            and thread is not None
            and one.thread not in begun
            and (thread.turns or not before)
        ):
            return LatestAnswer() if last.seq > one.seq else _answer(state, thread, one.seq)
        before = True
    return LatestAnswer()


def answer_edited(state: SessionState, message: Received) -> int:
    """The thread of the sender's own answer that the message is an edit of; 0: of none."""
    edited = state.edited
    mine = edited is not None and message.ids.edits and edited.author == message.facts.user
    return (
        edited.thread if edited is not None and mine and edited.attached == Attached.ANSWER else 0
    )


def _answer(state: SessionState, thread: Thread, seq: int) -> LatestAnswer:
    """The answer that is entry ``seq``: it was to the youngest question of its thread before it."""
    key = next(
        (
            one.key
            for one in state.spoken
            if one.kind is EntryKind.QUESTION and one.thread == thread.id and one.seq < seq
        ),
        "",
    )
    refused = any(value is False for name, value in thread.slots.items() if key in ("", name))
    return LatestAnswer(thread=thread.id, refused=refused, key=key)


def thread_named(state: SessionState, message: Received) -> int:
    """The thread that the sender's word for one means: by its number, or by the requests that came
    under it; 0 where it could be none or several.
    """
    if message.thread:
        return message.thread if any(thread.id == message.thread for thread in state.threads) else 0
    under = {
        one.thread
        for one in state.spoken
        if one.body is not None and thread_ref_of(one) == message.thread_ref
    }
    return under.pop() if len(under) == 1 else 0
