"""What was said last in a session: by Ordain, by its sender."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.ports.sessions import EntryKind, OpenQuestion, Thread, ThreadStatus
from ordain.ports.shared import LatestEntry, SessionState
from ordain.runtime.last_word import LastWord, LatestAnswer, last_word, latest_answer, thread_named
from tests.unit.runtime.test_attach_facts import message


def thread(number: int, *turns: str, asked_at: int = 0, **more: Any) -> Thread:
    asked = (
        OpenQuestion(run="q", root="q", addr=1, key="k", expects="yes_no", until=99, seq=asked_at)
        if asked_at
        else None
    )
    return Thread(id=number, status=ThreadStatus.DONE, turns=turns, asked=asked, **more)


def said(seq: int, in_thread: int, kind: EntryKind = EntryKind.MESSAGE, **more: Any) -> LatestEntry:
    return LatestEntry(
        seq=seq,
        thread=in_thread,
        kind=kind,
        author="ada" if kind is EntryKind.MESSAGE else "",
        **more,
    )


def state(threads: tuple[Thread, ...], *spoken: LatestEntry) -> SessionState:
    return SessionState(
        workspace="w",
        session="s1",
        subject="s",
        key=b"k",
        seq=99,
        next_thread=9,
        active=0,
        at_work=(),
        open=0,
        threads=threads,
        spoken=spoken[::-1],
    )


@given(st.lists(st.tuples(st.integers(1, 3), st.booleans()), max_size=8), st.integers(0, 9))
def test_the_youngest_question_is_the_last_word(
    replies: list[tuple[int, bool]], asked_at: int
) -> None:
    """Whatever else was replied: the latest reply that asks, or the open question if that is
    younger.
    """
    spoken = [
        said(at, where, EntryKind.REPLY, ending="Well?" if asks else "Well.")
        for at, (where, asks) in enumerate(replies, 1)
    ]
    standing = state((thread(1), thread(2), thread(3), thread(4, "r", asked_at=asked_at)), *spoken)
    asking = [(one.seq, one.thread) for one in spoken if one.ending == "Well?"] + (
        [(asked_at, 4)] if asked_at else []
    )
    seq, number = max(asking, default=(0, 0))
    assert last_word(standing, frozenset()).seq == seq
    if [one for one in asking if one[0] == seq] == [(seq, number)]:
        assert last_word(standing, frozenset()) == LastWord(thread=number, seq=seq)


def test_what_was_taken_up_asks_no_more() -> None:
    """A request in its thread, a question that is put to somebody else."""
    asks = said(1, 1, EntryKind.REPLY, ending="Shall I?")
    assert (
        last_word(state((thread(1),), asks, said(2, 1, attached="new_request")), frozenset()).thread
        == 0
    )
    assert (
        last_word(
            state((thread(1),), asks, said(2, 1, attached="status_nudge")), frozenset()
        ).thread
        == 1
    )
    assert last_word(state((thread(1, "r", asked_at=1),)), frozenset({1})).thread == 0


def test_an_answer_counts_while_its_work_goes_on() -> None:
    """Or as the sender's very latest message; what was asked since is what is answered now."""
    answer = said(3, 1, attached="answer_to_pending")
    going, ended = (thread(1, "r", slots={"k": True}),), (thread(1, slots={"k": False}),)
    assert latest_answer(
        state(going, answer, said(4, 0, attached="filler")), message("no"), LastWord()
    ) == LatestAnswer(thread=1)
    assert latest_answer(state(ended, answer), message("yes"), LastWord()) == LatestAnswer(
        thread=1, refused=True
    )
    assert (
        latest_answer(
            state(ended, answer, said(4, 0, attached="filler")), message("no"), LastWord()
        )
        == LatestAnswer()
    )
    assert (
        latest_answer(state(going, answer), message("no"), LastWord(thread=2, seq=9))
        == LatestAnswer()
    )


def test_a_word_for_a_thread_means_one_or_none() -> None:
    """Its number, or the thread of all requests that came under it."""
    body = b'{"text":"a","user":"ada","context":{"thread_ref":"t:1"}}'
    one, two = (
        said(1, 1, attached="new_request", body=body),
        said(2, 2, attached="new_request", body=body),
    )
    both = (thread(1), thread(2))
    assert thread_named(state(both), message("yes", thread_ref="2")) == 2
    assert thread_named(state(both), message("yes", thread_ref="7")) == 0
    assert thread_named(state(both, one), message("yes", thread_ref="t:1")) == 1
    assert thread_named(state(both, one, two), message("yes", thread_ref="t:1")) == 0
