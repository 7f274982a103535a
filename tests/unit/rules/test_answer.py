"""Laws of rule ``answer``: total and deterministic, small facts without words, and decided by the
wording that it is given.
"""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.flows.answer_text import given_value
from ordain.rules.answer import (
    ANSWER,
    AnswerFacts,
    AnswerInputs,
    AnswerReason,
    AsSaid,
    Chosen,
    ExpectedType,
    Unfit,
    YesOrNo,
    fits,
)
from ordain.rules.decision import FACTS_BYTES, Decision
from ordain.wording.cues import Cues
from ordain.wording.table import Table
from ordain.wording.wording import Wording, compiled, first_wording
from tests.unit.rules.given import decided

POLICY = Policy(version=1)
kinds = st.sampled_from(ExpectedType)
texts = st.text(max_size=80) | st.sampled_from(
    ["yes", "no", "yes or no", "A", "the second one", "Berlin", "tomorrow at 5", "stop", ""]
)


def asked(
    expects: ExpectedType, text: str, wording: Wording | None = None, *, as_text: bool = True
) -> Decision[object]:
    """The rule about one answer."""
    facts = AnswerFacts(expects=expects, size=len(text), given_as_text=as_text)
    return decided(
        ANSWER, facts, AnswerInputs(text=text, wording=wording or first_wording()), POLICY
    )


@given(kinds, texts, st.booleans())
def test_any_answer_is_judged_the_same_each_time(
    expects: ExpectedType, text: str, as_text: bool
) -> None:
    """Any text to any question has an outcome with a reason, and the outcome comes back from its
    encoding.
    """
    decision = asked(expects, text, as_text=as_text)
    assert isinstance(decision.reason, AnswerReason)
    assert isinstance(decision.outcome, Unfit) == (
        decision.reason in (AnswerReason.UNFIT, AnswerReason.BOTH)
    )


@given(kinds, texts)
def test_it_judges_as_the_flows_did(expects: ExpectedType, text: str) -> None:
    """What flows of before took for an answer is one, with the same value; a question that takes
    anything takes anything.
    """
    found, outcome = first_wording().cues(text), asked(expects, text).outcome
    assert isinstance(outcome, Unfit) == (
        expects is not ExpectedType.FREEFORM and not fits(expects, found)
    )
    values = {ExpectedType.YES_NO: found.yes and not found.no, ExpectedType.CHOICE: found.choice}
    if not isinstance(outcome, Unfit):
        assert given_value(outcome, text) == values.get(expects, text.strip())


@given(kinds, texts)
def test_what_looks_like_an_answer_is_one(expects: ExpectedType, text: str) -> None:
    """What is taken for the answer to a question before its run has it, the run takes for one,
    where both read it with the same words.
    """
    if fits(expects, first_wording().cues(text)):
        assert not isinstance(asked(expects, text).outcome, Unfit)


@given(kinds, st.integers(0, 2**40))
def test_facts_are_small_and_hold_no_words(expects: ExpectedType, size: int) -> None:
    """At most a kilobyte, and nothing that another table could change."""
    facts = json.loads(msgspec.json.encode(AnswerFacts(expects=expects, size=size)))
    assert len(json.dumps(facts)) <= FACTS_BYTES
    assert facts.keys() == {"expects", "size", "given_as_text"}


@pytest.mark.parametrize(
    ("expects", "text", "outcome", "reason"),
    [
        (ExpectedType.YES_NO, "yes please", YesOrNo(yes=True), AnswerReason.FITS),
        (ExpectedType.YES_NO, "nein danke", YesOrNo(yes=False), AnswerReason.FITS),
        (ExpectedType.YES_NO, "yes or no", Unfit(), AnswerReason.BOTH),
        (ExpectedType.YES_NO, "find me a hotel", Unfit(), AnswerReason.UNFIT),
        (ExpectedType.CHOICE, "the second one", Chosen(option="B"), AnswerReason.FITS),
        (ExpectedType.LOCATION, "Berlin", AsSaid(kind=ExpectedType.LOCATION), AnswerReason.FITS),
        (
            ExpectedType.FREEFORM,
            "thanks!",
            AsSaid(kind=ExpectedType.FREEFORM),
            AnswerReason.FREEFORM,
        ),
    ],
)
def test_examples(expects: ExpectedType, text: str, outcome: object, reason: AnswerReason) -> None:
    """What some answers come to."""
    decision = asked(expects, text)
    assert (decision.outcome, decision.reason) == (outcome, reason)


def test_the_wording_that_is_given_decides() -> None:
    """Under a table that knows one word for yes, that word is yes and no other is."""
    sure = compiled(Table.of([("yes", ["knofi"])]))
    assert asked(ExpectedType.YES_NO, "knofi", sure).outcome == YesOrNo(yes=True)
    assert asked(ExpectedType.YES_NO, "yes", sure).outcome == Unfit()


@pytest.mark.parametrize(
    ("cues", "answers"),
    [
        (Cues(words=3), True),
        (Cues(words=3, filler=1), True),
        (Cues(words=3, filler=2), False),
        (Cues(words=3, filler=2, yes=True), True),
        (Cues(words=3, filler=2, no=True), True),
        (Cues(words=3, question=True), False),
        (Cues(words=3, order=True), False),
        (Cues(), False),
    ],
)
def test_which_wording_is_a_free_answer(cues: Cues, answers: bool) -> None:
    """What says something; not thanks alone, a question, a task of its own, or nothing."""
    assert fits(ExpectedType.FREEFORM, cues) == answers


def test_what_is_no_answer_has_no_value() -> None:
    """An unfit answer comes to nothing."""
    assert given_value(Unfit(), "anything") is None
