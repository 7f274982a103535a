"""Laws of rule ``plan_wave``: every plan comes to an end, nothing runs before what it needs, and
what needs what failed never runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.roster import HandoffStrategy
from ordain.journal.records import ENCODER, raw
from ordain.rules.decision import FACTS_BYTES, Recorded
from ordain.rules.plan_wave import (
    PLAN_WAVE,
    PlanOver,
    PlanStatus,
    PlanWaveFacts,
    PlanWaveInputs,
    PlanWaveReason,
    Wave,
)
from tests.unit.rules.given import POLICY, decided

Needs = Sequence[Sequence[int]]
WIDTH = 8


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Needs]:
    """Steps and what each needs; needs lead to any other step as long as there is no cycle."""
    steps = draw(st.integers(1, 10))
    order = draw(st.permutations(range(steps)))
    needs: list[tuple[int, ...]] = [()] * steps
    for place, index in enumerate(order):
        if place:
            needs[index] = tuple(sorted(draw(st.sets(st.sampled_from(order[:place]), max_size=3))))
    return steps, draw(st.sampled_from([tuple(needs), ()]))


def wave(
    steps: int,
    needs: Needs,
    strategy: HandoffStrategy,
    done: Sequence[int],
    failed: Sequence[int],
    left_ms: int = 1000,
) -> Any:
    facts = PlanWaveFacts(
        steps=steps, left_ms=left_ms, width=WIDTH, done=tuple(done), failed=tuple(failed)
    )
    return decided(PLAN_WAVE, facts, PlanWaveInputs(strategy=strategy, needs=needs), POLICY)


@given(graphs(), st.sampled_from(HandoffStrategy), st.sets(st.integers(0, 9)))
def test_every_plan_ends_and_nothing_runs_before_what_it_needs(
    graph: tuple[int, Needs], strategy: HandoffStrategy, failing: set[int]
) -> None:
    """Each step once, at most three at once, and never one that needs what failed."""
    steps, needs = graph
    done: list[int] = []
    failed: list[int] = []
    for _ in range(steps + 1):
        decision = wave(steps, needs, strategy, done, failed)
        if isinstance(decision.outcome, PlanOver):
            break
        ran = decision.outcome.steps
        assert isinstance(decision.outcome, Wave)
        assert 1 <= len(ran) <= POLICY.roster.max_concurrency
        assert len(ran) == 1 or needs or strategy is HandoffStrategy.PARALLEL
        for index in ran:
            assert index not in done + failed
            assert all(before in done for before in (needs[index] if needs else ()))
            (failed if index in failing else done).append(index)
    over = decision.outcome
    assert isinstance(over, PlanOver)
    assert sorted([*done, *failed, *over.not_run]) == list(range(steps))
    assert all(
        any(before in failed or before in over.not_run for before in needs[index])
        for index in over.not_run
    )
    assert over.status is (
        PlanStatus.COMPLETED
        if len(done) == steps
        else PlanStatus.PARTIAL
        if done
        else PlanStatus.FAILED
    )


@pytest.mark.parametrize(("done", "status"), [((), PlanStatus.FAILED), ((0,), PlanStatus.PARTIAL)])
def test_when_its_time_is_over_nothing_more_begins(
    done: tuple[int, ...], status: PlanStatus
) -> None:
    """What had not begun is not run, and the plan is not whole."""
    decision = wave(3, (), HandoffStrategy.PARALLEL, done, (), left_ms=0)
    assert (decision.reason, decision.outcome.status) == (PlanWaveReason.TIME, status)
    assert decision.outcome.not_run == tuple(index for index in range(3) if index not in done)
    facts = PlanWaveFacts(
        steps=3, left_ms=0, width=WIDTH, done=done, verbs=("agent.a", "agent.b", "agent.c")
    )
    told = decided(PLAN_WAVE, facts, PlanWaveInputs(strategy=HandoffStrategy.PARALLEL), POLICY)
    assert (told.reason, told.outcome) == (PlanWaveReason.OUT_OF_TIME, decision.outcome)


def test_no_more_are_at_work_than_may_be_handed_on() -> None:
    """Where the profile lets fewer be handed on at once than policy, and at least one."""
    for width, ran in ((0, 1), (1, 1), (2, 2), (8, 3)):
        facts = PlanWaveFacts(steps=5, left_ms=1000, width=width)
        outcome = decided(
            PLAN_WAVE, facts, PlanWaveInputs(strategy=HandoffStrategy.PARALLEL), POLICY
        ).outcome
        assert len(outcome.steps) == ran


def test_facts_of_the_longest_plan_fit() -> None:
    """Fifty steps, whatever became of them, and whoever they are for."""
    facts = PlanWaveFacts(
        steps=50,
        left_ms=10**9,
        width=3,
        done=tuple(range(25)),
        failed=tuple(range(25, 50)),
        verbs=("agent." + 64 * "a",) * 50,
    ).fitting()
    assert len(ENCODER.encode(facts)) <= FACTS_BYTES
    assert (
        decided(
            PLAN_WAVE, facts, PlanWaveInputs(strategy=HandoffStrategy.SEQUENTIAL), POLICY
        ).outcome.status
        is PlanStatus.PARTIAL
    )


@pytest.mark.parametrize("steps", [3, 50])
def test_what_time_leaves_undone_counts_by_the_first_that_is_left(steps: int) -> None:
    """Of few steps facts name all verbs, of many the one that counts: the act is the same."""
    facts = PlanWaveFacts(
        steps=steps,
        left_ms=0,
        width=WIDTH,
        done=(0,),
        verbs=tuple(f"agent.finance_agent_{index}" for index in range(steps)),
    ).fitting()
    assert (facts.verbs == (), facts.first) == (
        (False, "") if steps == 3 else (True, "agent.finance_agent_1")
    )
    told = decided(PLAN_WAVE, facts, PlanWaveInputs(strategy=HandoffStrategy.PARALLEL), POLICY)
    assert told.reason == PlanWaveReason.OUT_OF_TIME
    assert PLAN_WAVE.tells is not None
    share = PLAN_WAVE.tells(
        Recorded(
            outcome=raw(told.outcome),
            reason=told.reason,
            facts=raw(facts),
            steps=0,
            judged=True,
        )
    )
    assert share.act is not None
    assert (share.act.verb, share.act.call) == ("agent.finance_agent_1", "plan step 1")
