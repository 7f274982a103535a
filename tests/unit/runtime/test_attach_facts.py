"""What rule ``attach`` is shown of a session: its threads in order of what matters, and where an
edit or an answer belongs.
"""

# ruff: noqa: RUF001 (a name in look-alikes)
from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.conversation import Message
from ordain.contracts.policy import Policy
from ordain.ports.sessions import EntryKind, OpenQuestion, Thread, ThreadStatus
from ordain.ports.shared import Place, SessionState
from ordain.rules.answer import ExpectedType, fits
from ordain.rules.attach import THREADS_MAX, Attached, Edit, MessageReading
from ordain.runtime.answer_reading import AnswerReading
from ordain.runtime.attach_facts import Placing, attach_facts
from ordain.runtime.message_entry import Received, message_of
from tests.unit.flows.house import shipped


def message(text: str = "hello", *, at: int = 10, **context: Any) -> Received:
    given = {
        "session_id": "s1",
        "user_id": "ada",
        "message": {"text": text},
        "timestamp_ms": at,
        "channel": "web",
        "context": context,
    }
    return message_of(Message.model_validate(given), "m9", "local:ada", shipped())


def thread(number: int, *turns: str, expects: str = "", asked_as: str = "") -> Thread:
    asked = (
        OpenQuestion(
            run="q", root="q", addr=1, key="k", expects=expects, until=99, message_id=asked_as
        )
        if expects
        else None
    )
    return Thread(id=number, status=ThreadStatus.IN_PROGRESS, turns=turns, asked=asked)


def place(in_thread: int, kind: EntryKind = EntryKind.MESSAGE, **more: Any) -> Place:
    given = {
        "seq": 1,
        "run": "r1",
        "message_id": "m1",
        "author": "ada",
        "attached": Attached.NEW_REQUEST,
        **more,
    }
    return Place(thread=in_thread, kind=kind, **given)


def state(*threads: Thread, at_work: tuple[int, ...] = (), **more: Any) -> SessionState:
    given = {
        "workspace": "w",
        "session": "s1",
        "subject": "s",
        "key": b"k",
        "seq": 2,
        "next_thread": 9,
        "active": 0,
        "open": 0,
        **more,
    }
    return SessionState(threads=threads, at_work=at_work, **given)


def seen(
    standing: SessionState,
    received: Received | None = None,
    suggested: Placing | None = None,
    policy: Policy | None = None,
) -> Any:
    said = received or message()
    return attach_facts(
        standing,
        said,
        AnswerReading(standing, said, {}.__getitem__),
        policy or shipped().policy,
        suggested,
    )


@given(st.integers(1, 20), st.data())
def test_what_is_referred_to_is_never_cut_off(count: int, data: st.DataObject) -> None:
    """The thread of the message replied to stands first, those that a repair offered next, then the
    others as they came.
    """
    numbers = st.integers(1, count)
    anchor, offered = data.draw(numbers), data.draw(st.lists(numbers, unique=True, max_size=2))
    given = Placing(
        options=tuple(MessageReading(attached=Attached.ANSWER, thread=one) for one in offered)
    )
    shown = [
        one.id
        for one in seen(
            state(*(thread(n) for n in range(1, count + 1)), replied=place(anchor)), suggested=given
        ).threads
    ]
    assert shown[0] == anchor
    assert {anchor, *offered} <= set(shown)
    assert len(shown) == min(count, THREADS_MAX)
    rest = [one for one in shown if one not in (anchor, *offered)]
    assert rest == sorted(rest)


@pytest.mark.parametrize("expects", list(ExpectedType))
@pytest.mark.parametrize("text", ["yes", "tomorrow at nine", "B", "find me a train"])
def test_a_thread_that_waits_says_whether_the_words_fit(expects: ExpectedType, text: str) -> None:
    """By the same table by which the answer is judged afterwards."""
    said = message(text)
    (one,) = seen(state(thread(1, "q", expects=expects)), said).threads
    assert (one.asks, one.fits) == (expects, fits(expects, said.found))


@pytest.mark.parametrize(
    ("asked_at", "barred", "fits_it"), [(0, "", True), (1, "", True), (3, "later", False)]
)
def test_a_question_asked_since_is_not_the_messages_to_answer(
    asked_at: int, barred: str, fits_it: bool
) -> None:
    """By the numbers of both entries; a message's own time says nothing."""
    asking = thread(1, "q", expects="yes_no")
    assert asking.asked is not None
    standing = state(
        msgspec.structs.replace(asking, asked=msgspec.structs.replace(asking.asked, seq=asked_at))
    )
    (one,) = seen(standing, message("yes", at=1)).threads
    assert (one.barred, one.fits) == (barred, fits_it)


@pytest.mark.parametrize(
    ("of", "barred", "fits_it"),
    [("", "", True), ("ada", "", True), ("bob", "other", False), ("аda", "other", False)],
)
def test_a_question_is_answered_by_who_is_asked(of: str, barred: str, fits_it: bool) -> None:
    """By the very same name, also in reply to the question itself; a reply to somebody else's
    answers no other.
    """
    asking = thread(1, "q", expects="yes_no", asked_as="q1")
    assert asking.asked is not None
    standing = state(
        msgspec.structs.replace(asking, asked=msgspec.structs.replace(asking.asked, of=of)),
        replied=place(1, EntryKind.QUESTION, message_id="q1"),
    )
    facts = seen(standing, message("yes"))
    assert (facts.threads[0].barred, facts.threads[0].fits) == (barred, fits_it)
    assert (facts.asked, facts.closed) == (fits_it, not fits_it)


def test_a_turn_that_does_not_count_as_work_is_idle() -> None:
    """There is one, and it can be stopped; nobody asks after it."""
    facts = seen(state(thread(1, "a"), thread(2, "b"), thread(3), at_work=(2,)))
    assert [(one.id, one.live, one.idle) for one in facts.threads] == [
        (1, True, True),
        (2, True, False),
        (3, False, False),
    ]
    assert facts.at_work == 1


@pytest.mark.parametrize(
    ("replied", "asked", "closed"),
    [
        (place(1, EntryKind.QUESTION, message_id="q1"), True, False),
        (place(1, EntryKind.QUESTION, message_id="q0"), False, True),
        (place(1, EntryKind.REPLY, message_id="q1"), False, False),
        (None, False, False),
    ],
)
def test_a_reply_to_a_question_is_to_an_open_one_or_to_one_that_is_over(
    replied: Place | None, asked: bool, closed: bool
) -> None:
    """By the question's own id; a reply to anything else is neither."""
    facts = seen(state(thread(1, "q", expects="freeform", asked_as="q1"), replied=replied))
    assert (facts.asked, facts.closed) == (asked, closed)


@pytest.mark.parametrize(
    ("edits", "newer", "edited", "what"),
    [
        (False, 0, None, Edit.NONE),
        (False, 11, None, Edit.SUPERSEDED),
        (False, 10, None, Edit.NONE),
        (True, 11, place(1), Edit.STALE),
        (True, 0, None, Edit.NONE),
        (True, 0, place(1, author="eve"), Edit.NONE),
        (True, 0, place(1, attached=Attached.ANSWER), Edit.NONE),
        (True, 0, place(1, attached=Attached.OVERRIDE), Edit.LIVE),
        (True, 0, place(1), Edit.LIVE),
        (True, 0, place(1, run="r0"), Edit.OVER),
        (True, 0, place(2), Edit.OVER),
    ],
)
def test_only_a_senders_own_request_is_replaced(
    edits: bool, newer: int, edited: Place | None, what: Edit
) -> None:
    """While its turn is going on, or after it; a later edit that came before makes this one
    stale.
    """
    context = {"edits": "m1"} if edits else {}
    assert (
        seen(
            state(thread(1, "r1"), thread(2), newer_edit=newer, edited=edited), message(**context)
        ).edit
        is what
    )


def test_an_edit_that_replaces_belongs_where_the_edited_one_stands() -> None:
    """Else where the message replied to stands."""
    standing = state(thread(1, "r1"), thread(2), edited=place(1), replied=place(2))
    assert seen(standing, message(edits="m1")).anchor == 1
    assert seen(standing).anchor == 2
    assert seen(state(thread(1))).anchor == 0


def test_a_model_is_asked_once() -> None:
    """Where policy lets one be asked at all; what a model or the sender brought stands in the
    facts.
    """
    brought = Placing(suggests="status_nudge", thread=1, confidence=0.9, choice="A")
    facts = seen(state(thread(1)), suggested=brought)
    assert (
        facts.may_ask,
        facts.suggests,
        facts.suggested_thread,
        facts.confidence,
        facts.choice,
    ) == (False, "status_nudge", 1, 0.9, "A")
    for ask in (None, shipped().policy.attach.ask):
        policy = shipped().policy.model_copy(
            update={"attach": shipped().policy.attach.model_copy(update={"ask": ask})}
        )
        assert seen(state(thread(1)), policy=policy).may_ask == (ask is not None)


@pytest.mark.parametrize(
    ("context", "explicit"),
    [
        ({}, False),
        ({"routing_hints": {"workflow": {"template": "trip"}}}, True),
        ({"routing_hints": {"delegates": ["a"]}}, True),
        ({"routing_hints": {"mode": "agent"}}, False),
    ],
)
def test_who_suggests_work_means_it(context: dict[str, Any], explicit: bool) -> None:
    """A workflow or delegates; a mode says only how."""
    assert seen(state(), message(**context)).explicit == explicit
