"""Flow ``question``: asked, answered as wanted, and every way in which it is not."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.verbs import Trust
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.question.kind import QUESTION
from ordain.journal.records import Status
from ordain.testing import Played, Standing, answered, expired, interrupt
from tests.unit.flows.house import play

IN_SESSION = Standing(session="s1", child=True, depth=1)


def ask(*script: Any, **args: Any) -> Played[VerbPlanOutput]:
    given = VerbPlanInput(verb="ask_user", args={"question": "Which one?", "key": "which", **args})
    return play(QUESTION, given, *script, standing=IN_SESSION)


def out(played: Played[VerbPlanOutput]) -> VerbPlanOutput:
    assert played.output is not None
    return played.output


@pytest.mark.parametrize(
    ("expects", "text", "value"),
    [("freeform", "the red one", "the red one"), ("yes_no", "yes", True), ("yes_no", "no", False)],
)
def test_an_answer_that_fits_is_given_back(expects: str, text: str, value: Any) -> None:
    """What was said, and the value it comes to, both the user's own."""
    played = ask(answered({"text": text}), expected_type=expects)
    assert out(played) == VerbPlanOutput(
        ok=True,
        output={"answer": text, "value": out(played).output["value"]},
        trust={"answer": Trust.OWN, "value": Trust.OWN},  # type: ignore[index]
    )
    assert (played.waits[0].about, played.status) == ("Which one?", Status.COMPLETED)
    assert played.waits[0].question is not None
    assert played.waits[0].question.key == "which"


def test_an_operators_answer_may_be_any_json() -> None:
    """What is no text is given back as JSON."""
    assert out(ask(answered([1, 2]))).output == {"answer": "[1,2]", "value": "[1,2]"}


def test_an_unfit_answer_is_a_typed_failure() -> None:
    """An answer of another kind than the one wanted."""
    played = ask(answered({"text": "a green one, please"}), expected_type="yes_no")
    assert (out(played).error, played.status) == ("answer_unfit", Status.FAILED)


def test_nobody_answers() -> None:
    """The question is open as long as policy says, and the run is timed out then."""
    played = ask(expired())
    assert (out(played).error, played.status) == ("question_expired", Status.TIMED_OUT)
    assert played.stored.records[-1].at == played.waits[0].deadline


def test_a_withdrawn_question_asks_nobody() -> None:
    """Where the verb was switched off, that is the reason."""
    played = ask(expired("withdrawn: it is switched off"))
    assert (out(played).error, out(played).message) == (
        "withdrawn",
        "withdrawn: it is switched off",
    )


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_ends_it(in_flight: bool) -> None:
    """The flow has nothing to clean up: the run is cancelled."""
    played = ask(interrupt("override", in_flight=in_flight))
    assert (played.status, played.output) == (Status.CANCELLED, None)


def test_what_leans_goes_back_once_and_then_is_whole() -> None:
    """The same question again, with A for yes and B for no; a letter is an answer."""
    played = ask(
        answered({"text": "sure I'll check with my boss first"}),
        answered({"text": "A"}),
        expected_type="yes_no",
    )
    assert [wait.about for wait in played.waits] == ["Which one?", "Which one? A: yes B: no"]
    assert [wait.question.takes for wait in played.waits if wait.question] == [
        "unclear",
        "condition",
    ]
    assert [made.reason for made in played.decided("answer")] == ["answer.unclear", "answer.fits"]
    assert out(played).output == {"answer": "A", "value": True}


def test_it_does_not_go_back_twice() -> None:
    """Whoever hands over an unclear answer to what was asked again has given none."""
    unclear = answered({"text": "sure I'll check with my boss first"})
    assert out(ask(unclear, unclear, expected_type="yes_no")).error == "answer_unfit"


@pytest.mark.parametrize(
    "given",
    [{"text": "yes but only to the German ones"}, {"text": "let us see", "sorted": "condition"}],
)
def test_a_condition_is_told_without_a_value(given: dict[str, str]) -> None:
    """Read out of the wording, or sorted by a model: no value is made of it."""
    assert out(ask(answered(given), expected_type="yes_no")).output == {
        "answer": given["text"],
        "value": None,
    }


@pytest.mark.parametrize("sorted_as", ["yes", True, 1, "CONDITION", ["condition"], "condition"])
def test_nothing_sorts_a_message_into_consent(sorted_as: Any) -> None:
    """Whatever the message that brings an answer says it was taken for."""
    played = ask(
        answered({"text": "let us see how that goes", "sorted": sorted_as}), expected_type="yes_no"
    )
    assert out(played).output in (None, {"answer": "let us see how that goes", "value": None})


def test_an_option_is_the_value() -> None:
    """By its name, and shown with its letter."""
    played = ask(
        answered({"text": "the alpha one"}),
        expected_type="option",
        options=["alpha report", "beta report"],
    )
    assert out(played).output == {"answer": "the alpha one", "value": "alpha report"}
    assert played.waits[0].question is not None
    assert played.waits[0].question.options == ("alpha report", "beta report")
