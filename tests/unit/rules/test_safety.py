"""Laws of rule ``safety``: a worker ends at the first limit that it is beyond, and less use or
wider limits never end one that went on.
"""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.decision import Decision
from ordain.rules.safety import (
    SAFETY,
    LimitExceeded,
    Safe,
    SafetyFacts,
    SafetyLimit,
    SafetyLimits,
    SafetyReason,
)
from tests.unit.rules.given import POLICY, counts, decided

FIELDS = ("tool_calls", "planner_invocations", "ms")
limits_of = st.builds(SafetyLimits, tool_calls=counts, planner_invocations=counts, ms=counts)
near = st.one_of(st.integers(0, 20), counts)
facts_of = st.builds(
    SafetyFacts,
    tool_calls=near,
    planner_invocations=near,
    ms=near,
    limits=st.one_of(st.just(SafetyLimits()), limits_of),
)


def safety(facts: SafetyFacts) -> Decision[Safe | LimitExceeded]:
    return decided(SAFETY, facts, None, POLICY)


@given(facts_of)
def test_it_goes_on_exactly_within_every_limit(facts: SafetyFacts) -> None:
    """So many calls and plans are permitted, and time has to be left."""
    limits = facts.limits
    within = (
        facts.tool_calls <= limits.tool_calls
        and facts.planner_invocations <= limits.planner_invocations
        and facts.ms < limits.ms
    )
    assert isinstance(safety(facts).outcome, Safe) == within


@given(facts_of, st.sampled_from(FIELDS), st.integers(0, 2**40))
def test_less_use_and_wider_limits_never_end_it(facts: SafetyFacts, field: str, by: int) -> None:
    """A worker that may go on may go on with less used, or with more permitted."""
    less = msgspec.structs.replace(facts, **{field: max(0, getattr(facts, field) - by)})
    wider = msgspec.structs.replace(
        facts,
        limits=msgspec.structs.replace(facts.limits, **{field: getattr(facts.limits, field) + by}),
    )
    if isinstance(safety(facts).outcome, Safe):
        assert isinstance(safety(less).outcome, Safe)
        assert isinstance(safety(wider).outcome, Safe)


@pytest.mark.parametrize(
    ("used", "limit", "reason"),
    [
        ((13, 0, 0), SafetyLimit.TOOL_CALLS, SafetyReason.TOOL_CALLS),
        ((12, 4, 0), SafetyLimit.RECURSION, SafetyReason.RECURSION),
        ((12, 3, 120_000), SafetyLimit.TIME, SafetyReason.TIME),
        ((13, 4, 120_000), SafetyLimit.TOOL_CALLS, SafetyReason.TOOL_CALLS),
    ],
)
def test_the_sources_limits_hold_where_nobody_says_another(
    used: tuple[int, int, int], limit: SafetyLimit, reason: SafetyReason
) -> None:
    """Twelve tool calls, three plans and 120 seconds, each with the source's own word."""
    facts = SafetyFacts(
        tool_calls=used[0], planner_invocations=used[1], ms=used[2], limits=SafetyLimits()
    )
    decision = safety(facts)
    assert (decision.outcome, decision.reason) == (LimitExceeded(limit), reason)
    assert isinstance(
        safety(
            SafetyFacts(tool_calls=12, planner_invocations=3, ms=119_999, limits=SafetyLimits())
        ).outcome,
        Safe,
    )
