"""Laws of rule ``recourse``: a step that failed comes to an end, nobody has it twice in vain, and
what may have happened is not done again.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.journal.records import raw
from ordain.rules.decision import Recorded
from ordain.rules.recourse import (
    FINAL_CODES,
    RECOURSE,
    RULED_CODES,
    HandToFallback,
    RecourseFacts,
    RecourseReason,
    StepFails,
    TryStepAgain,
)
from tests.unit.rules.given import POLICY, decided

codes = st.sampled_from(
    [
        "timed_out",
        "overloaded",
        "bad_output",
        "max_steps_exhausted",
        "out_of_scope",
        *sorted(FINAL_CODES),
    ]
)


def after(code: str, agent: str = "finance_agent", attempt: int = 3, **more: Any) -> Any:
    facts = RecourseFacts(
        **{
            "step": 0,
            "agent": agent,
            "code": code,
            "attempt": attempt,
            "left_ms": 10**7,
            "fallback": "enterprise_agent",
            "general": True,
        }
        | more
    )
    return decided(RECOURSE, facts, None, POLICY)


@given(
    st.lists(codes, min_size=20, max_size=20),
    st.sampled_from(["", "enterprise_agent", "general_agent", "finance_agent"]),
    st.booleans(),
)
def test_whatever_it_fails_with_it_comes_to_an_end(
    said: list[str], fallback: str, general: bool
) -> None:
    """Each of three agents at most, each at most three times, nobody again once another one has it.

    B-16 "`fallback_agent` used once on agent failure/unavailability, visited-set + depth 1, then
    `general_agent`, then typed failure."
    """
    agent, attempt, tried = "finance_agent", 1, list[str]()
    had = [agent]
    for code in said:
        outcome = after(
            code, agent, attempt, tried=tuple(tried), fallback=fallback, general=general
        ).outcome
        if isinstance(outcome, StepFails):
            break
        if isinstance(outcome, TryStepAgain):
            attempt += 1
            assert attempt <= POLICY.roster.attempts
        else:
            assert outcome.agent not in had
            tried.append(agent)
            agent, attempt = outcome.agent, 1
            had.append(agent)
    else:
        raise AssertionError("it never ends")
    assert set(had) <= {"finance_agent", "enterprise_agent", "general_agent"}
    assert "enterprise_agent" not in had or fallback == "enterprise_agent"


@given(codes, st.integers(1, 3), st.booleans())
def test_what_may_have_happened_is_not_done_again(code: str, attempt: int, general: bool) -> None:
    """By nobody, whatever it failed with."""
    assert after(code, attempt=attempt, general=general, acted=True).reason is RecourseReason.ACTED


@pytest.mark.parametrize("code", sorted(RULED_CODES))
def test_what_a_rule_failed_is_no_agents_to_make_good(code: str) -> None:
    """C6: a violation fails the step; the header says that nobody else takes it, and why."""
    decision = after(code, attempt=1)
    assert (decision.outcome, decision.reason) == (StepFails(), RecourseReason.RULED)
    facts = RecourseFacts(step=0, agent="finance_agent", code=code, attempt=1, left_ms=1)
    (line,) = RECOURSE.tells(
        Recorded(outcome=raw(decision.outcome), reason=str(decision.reason), facts=raw(facts))
    ).lines
    assert (line.what, line.reason, line.excerpt) == (
        "plan step 1: nobody else takes it",
        "recourse.ruled",
        code,
    )


@pytest.mark.parametrize("code", sorted(FINAL_CODES))
def test_what_nobody_else_would_change_is_final(code: str) -> None:
    """A person's no, a bound of the run, what may not count."""
    assert after(code, attempt=1).reason is RecourseReason.FINAL


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("handoff_target_not_allowed", RecourseReason.FINAL),
        ("delegation_blocked", RecourseReason.FINAL),
        ("inactive", RecourseReason.FALLBACK_AGENT),
        ("not_configured", RecourseReason.FALLBACK_AGENT),
    ],
)
def test_what_is_denied_goes_to_another_only_where_the_agent_is_not_to_be_had(
    code: str, reason: RecourseReason
) -> None:
    """A handoff that may not be is not made under another name."""
    assert after(code, attempt=1, denied=True).reason is reason


def test_the_waits_double_up_to_their_bound() -> None:
    """Two seconds, then four; never past the plan's time."""
    waits = [after("overloaded", attempt=attempt).outcome for attempt in (1, 2)]
    assert waits == [TryStepAgain(2000), TryStepAgain(4000)]
    assert after("overloaded", attempt=1, left_ms=2000).outcome == HandToFallback(
        "enterprise_agent"
    )
    assert after("overloaded", attempt=1, left_ms=0).reason is RecourseReason.TIME


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({}, RecourseReason.FALLBACK_AGENT),
        ({"tried": ("finance_agent",), "agent": "enterprise_agent"}, RecourseReason.GENERAL_AGENT),
        (
            {"tried": ("finance_agent", "enterprise_agent"), "agent": "general_agent"},
            RecourseReason.NOBODY_LEFT,
        ),
        ({"fallback": ""}, RecourseReason.GENERAL_AGENT),
        ({"fallback": "", "general": False}, RecourseReason.NOBODY_LEFT),
        ({"fallback": "finance_agent"}, RecourseReason.GENERAL_AGENT),
    ],
)
def test_who_takes_it(more: dict[str, Any], reason: RecourseReason) -> None:
    """The card's own fallback once, then the general agent, then nobody."""
    assert after("bad_output", **{"agent": "finance_agent", **more}).reason is reason
