"""Laws of rule ``plan_step``: one step's gate is its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.plan_step import (
    PLAN_STEP,
    PlanStepFacts,
    PlanStepReason,
    StepGiven,
    StepGivenToNobody,
)
from tests.unit.rules.given import POLICY, decided


def gate(agent: str, confidence: float, *, general: bool = True) -> Any:
    return decided(
        PLAN_STEP,
        PlanStepFacts(step=0, steps=2, agent=agent, confidence=confidence, general=general),
        None,
        POLICY,
    )


@given(st.sampled_from(["finance_agent", "general_agent"]), st.floats(0, 1), st.booleans())
def test_a_step_goes_to_whom_it_was_planned_for_or_to_the_general_agent(
    agent: str, confidence: float, general: bool
) -> None:
    """To nobody else, and never unsaid that it is another one."""
    outcome = gate(agent, confidence, general=general).outcome
    if isinstance(outcome, StepGiven):
        assert outcome.agent in (agent, "general_agent")
        assert outcome.instead == (outcome.agent != agent)
        assert (outcome.agent == agent) or confidence < POLICY.roster.threshold
    else:
        assert not general


@pytest.mark.parametrize(
    ("confidence", "agent"),
    [
        (0.4, "general_agent"),
        (0.6999, "general_agent"),
        (0.7, "finance_agent"),
        (1.0, "finance_agent"),
    ],
)
def test_the_steps_gate_is_strict(confidence: float, agent: str) -> None:
    """D14's step at 0.4 in a plan at 0.9 is handed to another; one at 0.7 is not.

    PLAN-14 "per-step confidence: <0.7 → `general_agent`"
    B-13 "`<0.7` is strict: 0.7 passes."
    B-16 "Low confidence → `general_agent` always."
    """
    assert gate("finance_agent", confidence).outcome.agent == agent


def test_without_a_general_agent_nobody_is_handed_it() -> None:
    """The step fails, and no other agent gets it."""
    decision = gate("finance_agent", 0.4, general=False)
    assert (decision.outcome, decision.reason) == (StepGivenToNobody(), PlanStepReason.NOBODY)
