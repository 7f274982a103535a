"""Flow ``question``: asked, answered as wanted, and every way in which it is not."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.verbs import Trust
from ordain.flows.act import VerbPlanInput, VerbPlanOutput
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
    assert (out(played).error, out(played).message) == ("withdrawn", "withdrawn: it is switched off")


@pytest.mark.parametrize("in_flight", [False, True])
def test_an_interrupt_ends_it(in_flight: bool) -> None:
    """The flow has nothing to clean up: the run is cancelled."""
    played = ask(interrupt("override", in_flight=in_flight))
    assert (played.status, played.output) == (Status.CANCELLED, None)
