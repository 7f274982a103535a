"""Laws of rule ``second_look``: experiments come after an accepted answer, and make none."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.journal.records import raw
from ordain.rules.decision import Recorded
from ordain.rules.second_look import SECOND_LOOK, AnswerLook, SecondLookFacts
from ordain.rules.second_look import SecondLookReason as R
from tests.unit.rules.given import POLICY, decided

facts = st.builds(
    SecondLookFacts,
    critique=st.booleans(),
    council=st.booleans(),
    critic=st.booleans(),
    steps_left=st.integers(-3, 50),
)


@given(facts)
def test_only_what_is_asked_for_is_done(one: SecondLookFacts) -> None:
    """A critique where it is asked for, can be had, and a step is left to meet it; then a council
    where that is asked for; else the answer stands.

    FUT-04 "Experiment flags under `preferences` (council, self-critique, …) on the same contract."
    """
    decision = decided(SECOND_LOOK, one, None, POLICY)
    look = decision.outcome.look
    assert (look is AnswerLook.CRITIQUE) == (one.critique and one.critic and one.steps_left > 0)
    if look is not AnswerLook.CRITIQUE:
        assert (look is AnswerLook.COUNCIL) == one.council


@given(facts)
def test_what_is_left_out_is_told(one: SecondLookFacts) -> None:
    """The header says what is looked at, and what was asked for and is not."""
    decision: Any = decided(SECOND_LOOK, one, None, POLICY)
    assert SECOND_LOOK.tells is not None
    told = SECOND_LOOK.tells(
        Recorded(outcome=raw(decision.outcome), reason=str(decision.reason), facts=raw(one))
    )
    assert bool(told.lines) == (one.critique or one.council)
    if decision.reason in (R.NO_CRITIC, R.NO_STEP):
        assert "not criticised" in told.lines[0].what
