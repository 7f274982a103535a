"""Laws of rule ``proceed``: a loop ends where a limit is reached, in a fixed order, and more room
never ends one that went on.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.decision import Decision
from ordain.rules.proceed import PROCEED, Bound, GoOn, ProceedFacts, ProceedReason, Stop
from tests.unit.rules.given import POLICY, decided

left = st.one_of(st.integers(-2, 2), st.integers(-(2**40), 2**40))
facts_of = st.builds(
    ProceedFacts, steps=left, ms=left, tokens=left, answer_tokens=st.one_of(st.none(), left)
)
ENDS = {
    Bound.TOKENS: ProceedReason.TOKENS,
    Bound.STEPS: ProceedReason.STEPS,
    Bound.TIME: ProceedReason.TIME,
}


def proceed(facts: ProceedFacts) -> Decision[GoOn | Stop]:
    return decided(PROCEED, facts, None, POLICY)


@given(facts_of)
def test_a_reason_says_what_was_decided(facts: ProceedFacts) -> None:
    """Each bound has its own reason; going on is told from an answer that stands."""
    decision = proceed(facts)
    if isinstance(decision.outcome, Stop):
        assert decision.reason is ENDS[decision.outcome.bound]
    else:
        assert decision.reason is (
            ProceedReason.GO_ON if facts.answer_tokens is None else ProceedReason.ANSWERED
        )


@given(facts_of)
def test_it_goes_on_exactly_while_everything_is_left(facts: ProceedFacts) -> None:
    """Without an answer steps and time have to be left and no token overdrawn; an answer only has
    to be within its tokens.
    """
    room = facts.tokens >= 0 and (
        facts.steps > 0 and facts.ms > 0
        if facts.answer_tokens is None
        else facts.answer_tokens >= 0
    )
    assert isinstance(proceed(facts).outcome, GoOn) == room


@given(facts_of, st.sampled_from(["steps", "ms", "tokens", "answer_tokens"]), st.integers(0, 2**40))
def test_more_room_never_ends_a_loop(facts: ProceedFacts, field: str, more: int) -> None:
    """With more of anything left a loop that went on goes on."""
    value = getattr(facts, field)
    wider = facts if value is None else msgspec.structs.replace(facts, **{field: value + more})
    if isinstance(proceed(facts).outcome, GoOn):
        assert isinstance(proceed(wider).outcome, GoOn)


@given(facts_of)
def test_time_and_steps_never_take_an_answer_away(facts: ProceedFacts) -> None:
    """Whether a final answer stands is a matter of tokens alone."""
    without = msgspec.structs.replace(facts, steps=0, ms=0)
    if facts.answer_tokens is not None:
        assert proceed(without).outcome == proceed(facts).outcome


@pytest.mark.parametrize(
    ("steps", "ms", "tokens", "bound"),
    [
        (0, 0, -1, Bound.TOKENS),
        (0, 0, 0, Bound.STEPS),
        (1, 0, 0, Bound.TIME),
        (0, 1, -1, Bound.TOKENS),
    ],
)
def test_of_several_bounds_the_first_is_named(
    steps: int, ms: int, tokens: int, bound: Bound
) -> None:
    """Tokens before steps before time."""
    assert proceed(ProceedFacts(steps=steps, ms=ms, tokens=tokens)).outcome == Stop(bound)
