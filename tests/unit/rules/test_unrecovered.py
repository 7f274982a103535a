"""Laws of rule ``unrecovered``: a failure is made good by a later success alone, and what may have
happened by nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.rules.unrecovered import (
    OUTCOME_UNKNOWN,
    UNRECOVERED,
    DoneStep,
    Recovered,
    Unrecovered,
    UnrecoveredFacts,
    UnrecoveredInputs,
    UnrecoveredReason,
)
from tests.unit.rules.given import OPEN, POLICY, catalog, decided

READS, SENDS, GONE = "read.it", "send.it", "gone.verb"


def verb(name: str, effect: VerbEffect) -> VerbSpec:
    return VerbSpec(name=name, description="d", effect=effect, arguments={}, input_schema=OPEN)


HOUSE = catalog({READS: verb(READS, VerbEffect.READ), SENDS: verb(SENDS, VerbEffect.PRIVATE)})
failures = st.builds(
    DoneStep,
    verb=st.sampled_from([READS, SENDS, GONE]),
    call=st.sampled_from("12"),
    ok=st.just(False),
    error=st.sampled_from(["", "timeout", OUTCOME_UNKNOWN]),
)
successes = st.builds(
    DoneStep,
    verb=st.sampled_from([READS, SENDS, GONE]),
    call=st.sampled_from("12"),
    ok=st.just(True),
)
steps_of = st.lists(st.one_of(failures, successes), max_size=6)


def unrecovered(steps: Sequence[DoneStep]) -> tuple[str, ...]:
    """The verbs that the rule names."""
    facts = UnrecoveredFacts(steps=len(steps), failed=sum(not step.ok for step in steps))
    decision = decided(UNRECOVERED, facts, UnrecoveredInputs(steps=steps, catalog=HOUSE), POLICY)
    assert decision.reason is (
        UnrecoveredReason.NONE
        if isinstance(decision.outcome, Recovered)
        else UnrecoveredReason.SOME
    )
    return decision.outcome.verbs if isinstance(decision.outcome, Unrecovered) else ()


@given(steps_of)
def test_only_verbs_that_failed_are_named(steps: list[DoneStep]) -> None:
    """Each verb that is named failed, each stands there once, in the order of its first failure
    that was not made good.
    """
    named = unrecovered(steps)
    failed = [step.verb for step in steps if not step.ok]
    assert set(named) <= set(failed)
    assert len(named) == len(set(named))


@given(steps_of, successes)
def test_a_success_at_the_end_never_makes_it_worse(
    steps: list[DoneStep], success: DoneStep
) -> None:
    """After one more success no verb is named that was not; after one more failure each that was
    named still is.
    """
    before = unrecovered(steps)
    assert set(unrecovered([*steps, success])) <= set(before)
    failure = msgspec.structs.replace(success, ok=False, error="timeout")
    assert set(unrecovered([*steps, failure])) == {*before, failure.verb}


@given(steps_of, steps_of)
def test_what_came_before_makes_nothing_good(
    earlier: list[DoneStep], steps: list[DoneStep]
) -> None:
    """A failure is made good by what follows it: whatever stood before, what was left is left."""
    assert set(unrecovered(steps)) <= set(unrecovered([*earlier, *steps]))


@given(st.sampled_from("12"), st.sampled_from("12"), st.sampled_from([READS, SENDS, GONE]))
def test_a_read_is_made_good_by_its_verb_anything_else_by_the_same_call(
    failed: str, again: str, name: str
) -> None:
    """Reading something else is as good; sending something else, or a verb that nobody declares any
    more, is another thing.
    """
    steps = [
        DoneStep(verb=name, call=failed, ok=False, error="timeout"),
        DoneStep(verb=name, call=again, ok=True),
    ]
    assert (unrecovered(steps) == ()) == (name == READS or failed == again)


@given(steps_of, st.sampled_from([READS, SENDS]), steps_of)
def test_what_may_have_happened_is_made_good_by_nothing(
    earlier: list[DoneStep], name: str, later: list[DoneStep]
) -> None:
    """A step whose outcome nobody knows is named whatever else was done."""
    unknown = DoneStep(verb=name, call="1", ok=False, error=OUTCOME_UNKNOWN)
    assert name in unrecovered([*earlier, unknown, *later])
