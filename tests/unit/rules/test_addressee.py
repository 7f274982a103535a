"""Laws of who a message is said to: never an older slot than what was asked last, never another
thread than a reply chooses; a no takes a yes back.
"""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from ordain.contracts.policy import Policy
from ordain.rules.answer import ExpectedType
from ordain.rules.attach import (
    ATTACH,
    AnswerPending,
    Attached,
    AttachOutcome,
    AttachReason,
    Barred,
    Edit,
    NewRequest,
    Override,
    Repair,
    ThreadFact,
)
from ordain.rules.attachment import AttachFacts
from ordain.wording.cues import Cues, Partly
from tests.unit.rules.given import decided
from tests.unit.rules.test_attach import states

POLICY = Policy(version=1)
BARE = st.sampled_from(
    [Cues(words=1, whole=True, filler=2, yes=True), Cues(words=1, whole=True, filler=2, no=True)]
)


@st.composite
def addressed(draw: st.DrawFn) -> AttachFacts:
    """A bare yes or no in any session, as it is told what was asked last; what takes a yes or no is
    fitted by it.
    """
    facts = draw(states(plain=True))
    threads = tuple(
        replace(
            one,
            fits=not one.barred and one.asks in (ExpectedType.YES_NO, ExpectedType.FREEFORM),
            status=one.status,
        )
        for one in facts.threads
    )
    ids = [thread.id for thread in threads]
    anchor = draw(st.sampled_from([0, *ids]))
    return replace(
        facts,
        cues=draw(BARE),
        threads=threads,
        anchor=anchor,
        asked=False,
        closed=False,
        addressed=True,
        last=draw(st.sampled_from([0, *ids])),
        aside=anchor != 0 and draw(st.booleans()),
        told=anchor != 0 and draw(st.booleans()),
        astray=not anchor and draw(st.booleans()),
        answered=draw(st.sampled_from([0, *ids])),
        refused=draw(st.booleans()),
        revises=draw(st.booleans()),
        at_work=0,
        open=0,
    )


def attach(facts: AttachFacts) -> tuple[AttachOutcome, object]:
    """The rule applied, and held to what every rule owes."""
    decision = decided(ATTACH, facts, None, POLICY)
    return decision.outcome, decision.reason


def asked_last(facts: AttachFacts) -> ThreadFact | None:
    """The thread whose question was put last."""
    return next((thread for thread in facts.threads if thread.id == facts.last), None)


@given(addressed())
def test_a_yes_never_fills_an_older_slot(facts: AttachFacts) -> None:
    """Where what was asked last is something else, a yes or no answers that, or is asked back; it
    closes no older question.
    """
    outcome, _ = attach(replace(facts, anchor=0, aside=False, told=False))
    if isinstance(outcome, AnswerPending) and (last := asked_last(facts)) is not None:
        assert outcome.thread == last.id


@given(addressed(), st.sampled_from(["", "stop", "hold", "steer"]))
def test_a_reply_never_reaches_another_thread(facts: AttachFacts, order: str) -> None:
    """What replies to a message answers, stops and changes its own thread alone, or its sender is
    asked; a request of its own begins at most.
    """
    assume(facts.anchor)
    if order:
        facts = replace(
            facts,
            cues=Cues(words=3, whole=True, **({"hold": True} if order == "hold" else {order: 2})),
        )
    outcome, _ = attach(facts)
    choosing = any(
        one.id == facts.anchor and one.asks == ExpectedType.CHOICE for one in facts.threads
    )
    if (
        isinstance(outcome, AnswerPending | Override)
        and not (choosing and order)
        and not facts.revises
    ):
        assert outcome.thread == facts.anchor
    if isinstance(outcome, NewRequest):
        assert outcome.thread in (0, facts.anchor)


@given(addressed(), st.integers(0, 9))
def test_what_replies_to_older_words_fills_nothing(facts: AttachFacts, which: int) -> None:
    """A reply to what Ordain said before its thread asked is no answer to that."""
    assume(facts.threads)
    replied = facts.threads[which % len(facts.threads)].id
    facts = replace(facts, anchor=replied, aside=True, astray=False)
    assert not isinstance(attach(facts)[0], AnswerPending)


@given(addressed())
def test_what_replies_to_nothing_known_is_no_consent_among_several(facts: AttachFacts) -> None:
    """With more than one thread a yes with an unknown reference consents to nothing."""
    outcome, _ = attach(replace(facts, anchor=0, aside=False, told=False, astray=True, wary=True))
    assert not isinstance(outcome, AnswerPending) or len(facts.threads) == 1


@given(addressed())
def test_a_no_after_an_answer_is_never_dropped(facts: AttachFacts) -> None:
    """While the work runs that the sender's yes let go on, and nothing else is asked, a no stops
    it.
    """
    assume(facts.threads)
    working = replace(facts.threads[0], live=True, asks="", fits=False, barred=Barred.NO)
    facts = replace(facts, threads=(working, *facts.threads[1:]), approvals=(), answered=working.id)
    quiet = replace(
        facts,
        cues=Cues(words=1, whole=True, filler=2, no=True),
        anchor=0,
        last=0,
        explicit=False,
        edit=Edit.NONE,
    )
    assert attach(quiet) == (Override(thread=facts.answered, stop=True), AttachReason.TAKEN_BACK)


@given(addressed())
def test_an_edit_of_an_answer_answers_nothing(facts: AttachFacts) -> None:
    """Whatever else is asked: the edit is about what was answered."""
    assert not isinstance(attach(replace(facts, revises=True))[0], AnswerPending)


@given(addressed(), st.sampled_from([Partly.LEANS, Partly.CONDITION]))
def test_half_an_answer_reaches_nothing_that_is_older(facts: AttachFacts, partly: Partly) -> None:
    """What leans or names a condition goes to the question that was put last, or is asked back."""
    threads = tuple(
        replace(one, fits=False, takes="unclear", partly=partly)
        if one.asks == ExpectedType.YES_NO and not one.barred
        else one
        for one in facts.threads
    )
    outcome, _ = attach(
        replace(
            facts,
            cues=Cues(words=5, whole=True, partly=partly),
            threads=threads,
            anchor=0,
            aside=False,
        )
    )
    if isinstance(outcome, AnswerPending) and asked_last(facts) is not None and outcome.partly:
        assert outcome.thread == facts.last
    if isinstance(outcome, Repair):
        assert Attached.ANSWER in (outcome.a.attached, outcome.b.attached)
