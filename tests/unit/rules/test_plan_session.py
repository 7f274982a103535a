"""Laws of rule ``plan_session``: a request goes on from the latest of its session, and never from
itself.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.plan_session import PLAN_SESSION, SESSION_RUNS, PlanSessionFacts
from ordain.rules.plan_session import PlanSessionReason as R
from tests.unit.rules.given import POLICY, decided

runs = st.lists(st.sampled_from("abcdefgh"), max_size=8, unique=True).map(tuple)


@given(st.sampled_from("abcdefgh"), runs)
def test_it_is_bounded_and_in_order(run: str, before: tuple[str, ...]) -> None:
    """The latest few in their order, then itself; the same again where its claim is made again.

    FUT-01 "Multi-turn planner sessions: `/plan/react` keeps session IDs for incremental planning."
    """
    decision = decided(
        PLAN_SESSION, PlanSessionFacts(session="s", run=run, before=before), None, POLICY
    )
    outcome = decision.outcome
    assert outcome.before == tuple(one for one in before if one != run)[-SESSION_RUNS:]
    assert outcome.latest[-1] == run
    assert len(outcome.latest) <= SESSION_RUNS
    assert decision.reason is (R.GOES_ON if outcome.before else R.BEGUN)
    again = decided(
        PLAN_SESSION, PlanSessionFacts(session="s", run=run, before=outcome.latest), None, POLICY
    ).outcome
    assert again.latest == outcome.latest
