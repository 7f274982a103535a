"""Laws of rule ``step_event``: the lifecycle of a plan's step is one table."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.contracts.roster import StepEventName, StepStatus
from ordain.journal.records import raw
from ordain.rules.acts import MadeGood
from ordain.rules.decision import SILENT, HeaderShare, Recorded
from ordain.rules.step_event import LIFECYCLE, STEP_EVENT, StepEventFacts
from ordain.rules.step_event import StepEventReason as R
from tests.unit.rules.given import POLICY, decided

OVER = {StepStatus.COMPLETED, StepStatus.CANCELLED}
DIGEST = "3f" * 16
facts = st.builds(
    StepEventFacts,
    step=st.integers(0, 49),
    event=st.sampled_from(StepEventName),
    before=st.sampled_from(StepStatus),
    agent=st.just("a"),
    attempt=st.integers(1, 9),
)


@given(facts)
def test_a_step_moves_by_the_table_alone(one: StepEventFacts) -> None:
    """What the table does not have moves nothing, and is told apart; a step that is over stays
    so.
    """
    decision = decided(STEP_EVENT, one, None, POLICY)
    follows = LIFECYCLE.get((one.before, one.event))
    assert decision.outcome.status is (follows or one.before)
    assert (decision.reason is R.OUT_OF_ORDER) == (follows is None)
    if one.before in OVER:
        assert decision.outcome.status is one.before


@given(st.lists(st.sampled_from(StepEventName), max_size=12))
def test_a_step_that_never_started_is_never_done(events: list[StepEventName]) -> None:
    """However events come: it is completed only after somebody was handed it, fails only once it
    had its turn, and is over once it is cancelled.
    """
    status, started, had_turn = StepStatus.QUEUED, False, False
    for event in events:
        given_ = StepEventFacts(step=0, event=event, before=status, agent="a", attempt=1)
        before, status = status, decided(STEP_EVENT, given_, None, POLICY).outcome.status
        started = started or status is StepStatus.IN_PROGRESS
        had_turn = had_turn or status is StepStatus.SCHEDULED
        assert started or status is not StepStatus.COMPLETED
        assert started or had_turn or status is not StepStatus.FAILED
        assert before is not StepStatus.CANCELLED or status is StepStatus.CANCELLED


def test_each_word_of_the_lifecycle_is_reached() -> None:
    """From queued, by what happens; and nothing else is a word of it (C6)."""
    reached = {StepStatus.QUEUED}
    while (
        more := {after for (before, _), after in LIFECYCLE.items() if before in reached} - reached
    ):
        reached |= more
    assert reached == set(StepStatus)


@given(facts, st.lists(st.just(DIGEST), max_size=3))
def test_only_a_step_that_is_done_makes_good_whom_it_was_handed_to(
    one: StepEventFacts, failed: list[str]
) -> None:
    """It says so of the handoffs that came to nothing, by who did the step; where none did, or the
    step is anywhere else, nothing is told.
    """
    given_ = structs.replace(one, failed=tuple(failed))
    decision = decided(STEP_EVENT, given_, None, POLICY)
    tells = STEP_EVENT.tells
    assert tells is not None
    told = tells(
        Recorded(
            outcome=raw(decision.outcome), reason=str(decision.reason), facts=raw(given_), steps=0
        )
    )
    done = decision.reason is R.COMPLETED and failed
    good = MadeGood(calls=tuple(failed), by="agent.a")
    assert told == (HeaderShare(made_good=good) if done else SILENT)
