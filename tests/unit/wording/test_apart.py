"""Engine 7: what has a matter of its own is a request beside what is open, whatever it begins with;
nothing becomes an answer by that, and none is lost.
"""

# ruff: noqa: RUF001 (what people say in other scripts)
from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.rules.answer import ExpectedType
from ordain.rules.attach import AttachOutcome, ThreadFact, decide_attach, possible
from ordain.rules.attachment import (
    AnswerPending,
    Attached,
    AttachReason,
    Filler,
    NewRequest,
    Override,
    StatusNudge,
)
from ordain.wording.cues import Partly
from ordain.wording.languages import shipped_table
from ordain.wording.wording import compiled
from tests.labelled.beside import FILE, OPEN_THREAD, Open, became, facts_of
from tests.labelled.judging import POLICY, Row, rows

WORDING, SEVENTH, SIXTH = (
    compiled(shipped_table()),
    compiled(shipped_table(), 7),
    compiled(shipped_table(), 6),
)
ROWS = rows(FILE)


def labelled(*labels: str) -> list[Row]:
    """The messages with these labels."""
    return [row for row in ROWS if row["label"] in labels]


def outcomes(some: Iterable[Row], state: Open) -> list[tuple[str, AttachOutcome]]:
    """What each of them becomes."""
    return [(row["text"], became(row["text"], state, WORDING)[0]) for row in some]


@pytest.mark.parametrize("state", Open)
def test_a_new_request_is_worked_on_whatever_is_open(state: Open) -> None:
    """Every one of 62, and all 12 that begin with a yes: none is taken for a status question, an
    answer or nothing.
    """
    assert [
        text
        for text, outcome in outcomes(labelled("request", "yes_and"), state)
        if not isinstance(outcome, NewRequest)
    ] == []


@pytest.mark.parametrize("state", Open)
@pytest.mark.parametrize(
    "text",
    [
        *(
            "thanks. Dijkstra",
            "hmm, Dijkstra",
            "2+2",
            "sure thing, what's 2+2",
            "yes, but first tell me a joke",
            "yes but also tell me a joke",
        ),
        *(
            "never mind, what time is it in Oslo?",
            "leave it, and list my files",
            "👍 what is a lighthouse?",
            "yes\nwhat is a lighthouse?",
        ),
        *(
            "oui, et quelle est la capitale de la France ?",
            "sí, y ¿cuál es la capital de Francia?",
            "да, а какая столица Франции?",
        ),
    ],
)
def test_what_was_tried_later_is_worked_on_too(text: str, state: Open) -> None:
    """Thanks, hesitation, a calculation, what is wanted first, other languages."""
    assert isinstance(became(text, state, WORDING)[0], NewRequest)


@pytest.mark.parametrize("state", Open)
def test_what_follows_a_no_is_worked_on(state: Open) -> None:
    """As a request, or in the place of what the no was said to; one of seven, which prefers
    (*rather*), may go back to a question.
    """
    lost = [
        text
        for text, outcome in outcomes(labelled("no_and"), state)
        if not isinstance(outcome, NewRequest | Override)
    ]
    assert lost == (["nope, rather write a haiku"] if state is Open.QUESTION else [])


@pytest.mark.parametrize("state", Open)
def test_nothing_but_a_whole_yes_or_no_is_one(state: Open) -> None:
    """No approval takes any; a question takes none from a message that says more, whatever that
    begins with.
    """
    for row in ROWS:
        outcome, _, found = became(row["text"], state, WORDING)
        granted = isinstance(outcome, AnswerPending) and outcome.partly is Partly.NO
        assert not granted or state is Open.QUESTION
        if granted and row["text"] != "leave it":
            assert row["label"] == ("consent" if found.yes else "refusal"), row["text"]


@pytest.mark.parametrize("state", Open)
def test_what_answers_asks_or_stops_is_as_it_was(state: Open) -> None:
    """Of 114 answers, hedges, status questions, orders and courtesies none is a request that engine
    6 did not make one.
    """
    others = labelled("consent", "refusal", "hedge", "status", "stop", "correct", "chatter")
    for row in others:
        now, before = became(row["text"], state, WORDING)[0], became(row["text"], state, SIXTH)[0]
        assert not isinstance(now, NewRequest) or isinstance(before, NewRequest), row["text"]


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("Yes, and what is the capital of France?", "yes"),
        ("ok and remind me to call mum", "yes"),
        ("no, what is a lighthouse?", "no"),
        ("Wait, what is a lighthouse?", ""),
        ("Dijkstra", ""),
        ("thanks! what is the tallest mountain?", ""),
    ],
)
def test_what_a_request_begins_with_is_told(text: str, lead: str) -> None:
    """With the thread that it is no answer to; where nothing is said to it there is nothing to
    tell.
    """
    for state in Open:
        outcome, reason, found = became(text, state, WORDING)
        assert isinstance(outcome, NewRequest)
        assert found.lead == lead
        assert (
            (outcome.untaken, reason) == (OPEN_THREAD, AttachReason.BESIDE)
            if lead
            else reason is AttachReason.NEW_REQUEST
        )
        assert outcome.thread == 0


@pytest.mark.parametrize("text", ["yse", "yess", "nope?", "okey doke", "shure", "nien"])
def test_a_mistyped_answer_is_no_request(text: str) -> None:
    """It goes back to a question, and beside an approval it is told how a yes is given."""
    outcome, _, _ = became(text, Open.QUESTION, WORDING)
    assert isinstance(outcome, AnswerPending | StatusNudge | Filler), text
    assert not isinstance(became(text, Open.APPROVAL, WORDING)[0], NewRequest)


@pytest.mark.parametrize(
    "text",
    [
        "probably",
        "it depends",
        "maybe later",
        "no idea",
        "yes and no",
        "mal sehen",
        "yes, send it",
        "ok then send it",
        "yes, when Bob is back",
        "ja, sobald Bob da ist",
    ],
)
def test_what_is_undecided_or_speaks_of_the_matter_goes_back(text: str) -> None:
    """It is about the question, and a request of its own would leave its sender without an
    answer.
    """
    outcome, _, found = became(text, Open.QUESTION, WORDING)
    assert isinstance(outcome, AnswerPending)
    assert outcome.partly is Partly.LEANS
    assert not found.apart


@pytest.mark.parametrize(
    ("text", "state", "suggested"),
    [
        ("Yes, and what is the capital of France?", Open.APPROVAL, Attached.STATUS_NUDGE),
        ("Yes, and what is the capital of France?", Open.QUESTION, Attached.FILLER),
        ("Wait, what is a lighthouse?", Open.QUESTION, Attached.STATUS_NUDGE),
        ("Wait, what is a lighthouse?", Open.QUESTION, Attached.FILLER),
        ("yes. What is a lighthouse?", Open.APPROVAL, Attached.STATUS_NUDGE),
        ("Dijkstra", Open.APPROVAL, Attached.FILLER),
        ("sqrt of 144", Open.APPROVAL, Attached.FILLER),
    ],
)
def test_no_model_loses_what_has_a_matter_of_its_own(
    text: str, state: Open, suggested: Attached
) -> None:
    """It may find it to be an order or an answer, which its sender is then asked about, and not a
    question after work, nor nothing.
    """
    facts, _ = facts_of(text, state, WORDING)
    assert suggested not in possible(facts)
    said = structs.replace(
        facts, suggests=str(suggested), suggested_thread=OPEN_THREAD, confidence=1.0
    )
    assert isinstance(decide_attach(said, None, POLICY).outcome, NewRequest)


@pytest.mark.parametrize("asks", ["", ExpectedType.YES_NO])
def test_a_request_that_replies_to_what_waits_does_not_wait_with_it(asks: str) -> None:
    """In a thread of its own it is worked on beside; decisions from before were behind an
    approval.
    """
    facts, _ = facts_of("what is a lighthouse?", Open.QUESTION if asks else Open.APPROVAL, WORDING)
    anchored = structs.replace(facts, anchor=OPEN_THREAD)
    assert decide_attach(anchored, None, POLICY).outcome == NewRequest()
    before = decide_attach(structs.replace(anchored, outspoken=False), None, POLICY).outcome
    assert before == (NewRequest() if asks else NewRequest(thread=OPEN_THREAD))


def test_what_is_asked_of_somebody_else_is_not_told() -> None:
    """Their question is none of the sender's, so neither is what they say to it."""
    facts, _ = facts_of("Yes, and what is the capital of France?", Open.QUESTION, WORDING)
    thread: ThreadFact = facts.threads[0]
    others = structs.replace(facts, threads=(structs.replace(thread, barred="other"),))
    decision = decide_attach(others, None, POLICY)
    assert (decision.outcome, decision.reason) == (NewRequest(), AttachReason.NEW_REQUEST)


@given(
    st.sampled_from([row["text"] for row in ROWS]) | st.text(max_size=80),
    st.sampled_from(["", "yes, and ", "no. ", "wait, "]),
)
def test_engine_7_grants_and_orders_what_engine_6_does(text: str, before: str) -> None:
    """Whatever is said: only what is partly an answer may be a matter of its own."""
    now, then = SEVENTH.cues(before + text), SIXTH.cues(before + text)
    assert structs.replace(now, partly=then.partly, apart=False, lead="") == then
    assert now.partly is then.partly or (
        then.partly in (Partly.LEANS, Partly.CONDITION) and now.partly is Partly.MAYBE
    )
