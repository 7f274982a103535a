"""Laws of rule ``workflow_step``: only what is done is followed, and only what happened is undone,
the latest first.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.workflow_step import (
    WORKFLOW_STEP,
    AllDone,
    Halt,
    StepEnd,
    StepFollows,
    Undo,
    WorkflowStepFacts,
)
from tests.unit.rules.given import POLICY, decided


@st.composite
def ends(draw: st.DrawFn) -> WorkflowStepFacts:
    steps = draw(st.integers(1, 20))
    step = draw(st.integers(0, steps - 1))
    undoable = tuple(sorted(draw(st.sets(st.integers(0, step - 1))))) if step else ()
    return WorkflowStepFacts(
        step=step, steps=steps, ended=draw(st.sampled_from(StepEnd)), undoable=undoable
    )


@given(ends())
def test_only_a_step_that_is_done_is_followed(facts: WorkflowStepFacts) -> None:
    """And the last one ends it."""
    outcome = decided(WORKFLOW_STEP, facts, None, POLICY).outcome
    assert isinstance(outcome, StepFollows | AllDone) == (facts.ended is StepEnd.DONE)
    if facts.ended is StepEnd.DONE:
        assert isinstance(outcome, AllDone) == (facts.step + 1 == facts.steps)


@given(ends())
def test_only_what_happened_is_undone_the_latest_first(facts: WorkflowStepFacts) -> None:
    """Never the step that failed, never one after it, and nothing where nobody knows what
    happened.
    """
    outcome = decided(WORKFLOW_STEP, facts, None, POLICY).outcome
    undone = outcome.steps if isinstance(outcome, Undo) else ()
    assert undone == (tuple(reversed(facts.undoable)) if facts.ended is StepEnd.FAILED else ())
    assert all(step < facts.step for step in undone)
    assert isinstance(outcome, Halt) == (facts.ended is not StepEnd.DONE and not undone)
