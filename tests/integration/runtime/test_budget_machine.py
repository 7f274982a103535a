"""The state machine of budgets across parent and children: handoffs, a council's seats, a plan's
steps; never overspent, never lost.

Roots of every kind begin with much or next to nothing to spend, share accounts or not, are driven
run by run in any order, die at any commit and within any call, are stopped, and time passes.
Whatever happens, what the raw records say is held to what the world saw.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import structs

from ordain.journal.records import SETTLED, RecordKind, Status
from ordain.ports.store import StoredRun
from ordain.rules.spend import Spend
from ordain.runtime.authority import RUNS_MAX
from ordain.runtime.replay import replay
from tests.lanes import examples
from tests.shapes.budgets import ROOTS, BudgetHouse, Purse, purse_of

A_WHILE_S, LONG_S = 2, 120
STEPS_TO_END = 400
MUCH = Spend(tokens=400_000, usd_micros=10_000_000, model_calls=60, verb_calls=40)
allowances = st.one_of(
    st.just(MUCH),
    st.sampled_from(
        [
            {"tokens": 1},
            {"tokens": 20_000},
            {"tokens": 60_000},
            {"usd_micros": 0},
            {"usd_micros": 60_000},
        ]
    ).map(lambda less: structs.replace(MUCH, **less)),
    st.builds(
        Spend,
        tokens=st.just(90_000),
        usd_micros=st.just(10**6),
        model_calls=st.integers(1, 20),
        verb_calls=st.integers(1, 9),
    ),
)
shared = st.sampled_from(
    [{}, {"day_tokens": 500_000}, {"day_tokens": 30_000, "day_usd_micros": 40_000, "rest": True}]
)
moments = st.one_of(st.none(), st.integers(0, 12))
numbers = st.integers(0, 20)


class Budgets(RuleBasedStateMachine):
    """``house`` is begun anew with each machine; ``purses`` are what the invariants found last, by
    run.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.house: BudgetHouse

    def teardown(self) -> None:
        try:
            if hasattr(self, "house"):
                self._to_the_end()
        finally:
            if hasattr(self, "house"):
                self.house.store.close()
            self.loop.close()

    # --- what happens -----------------------------------------------------------------------------

    @initialize(
        shared=shared, root=st.sampled_from(sorted(ROOTS)), allowance=allowances, seed=numbers
    )
    def first(self, shared: dict[str, Any], root: str, allowance: Spend, seed: int) -> None:
        self.house = self.loop.run(_house(shared))
        self.begins(root, allowance, seed)

    @rule(root=st.sampled_from(sorted(ROOTS)), allowance=allowances, seed=numbers)
    def begins(self, root: str, allowance: Spend, seed: int) -> None:
        """A root begins with so much to spend."""
        if len(self.house.seeds) < 3:
            self.loop.run(self.house.begin(root, allowance, seed))

    @rule(
        number=numbers, dies_at=moments, stops_at=st.one_of(st.none(), st.none(), st.integers(0, 3))
    )
    def goes_on(self, number: int, dies_at: int | None, stops_at: int | None) -> None:
        """A run that can go on does so, until it rests, the process dies, or somebody breaks its
        model call off.
        """
        if able := self.house.able():
            self.loop.run(self.house.drive_until(able[number % len(able)], dies_at, stops_at))

    @rule(dies_at=moments)
    def all_go_on(self, dies_at: int | None) -> None:
        """Every run that can go on does so once, and may die on its way."""
        for run in self.house.able():
            self.loop.run(self.house.drive_until(run, dies_at))

    @rule(number=numbers)
    def is_stopped(self, number: int) -> None:
        """Somebody stops a run, root or not."""
        if able := self.house.pending():
            self.loop.run(self.house.interrupt(able[number % len(able)].id))

    @rule(seconds=st.sampled_from([A_WHILE_S, LONG_S]))
    def time_passes(self, seconds: int) -> None:
        self.house.clock.pass_s(seconds)

    def _to_the_end(self) -> None:
        """All of it settles, and the shared accounts hold what was spent and no more."""
        for _ in range(STEPS_TO_END):
            if not (able := self.house.able()):
                if not self.house.pending():
                    break
                self.house.to_next()
            for run in able:
                self.loop.run(self.house.drive_until(run, None))
        runs = self.house.runs()
        assert all(run.status in SETTLED for run in runs), [
            (run.flow, run.status, run.reason) for run in runs
        ]
        self.holds()
        for run in runs:
            catalog = self.loop.run(self.house.services.catalogs.pinned(run.catalog))
            assert replay(run, catalog, self.house.kinds).equal, (run.flow, run.reason)

    # --- what always holds ------------------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        """The laws, run by run, tree by tree, and of the shared accounts."""
        if not hasattr(self, "house"):
            return
        runs = self.house.runs()
        purses = {run.id: purse_of(run.records) for run in runs}
        for run in runs:
            assert run.status not in (Status.FAULTED, Status.DIVERGED, Status.FLOW_UNAVAILABLE), (
                run.flow,
                run.reason,
            )
            self._within(run, purses[run.id])
            self._by_the_world(run, purses[run.id])
            self._accounted_for(run, purses, {one.id: one for one in runs})
        self._shared(runs, purses)

    def _within(self, run: StoredRun, purse: Purse) -> None:
        """Never overspent: what a run and its children spent is within what it may, and what it
        lends within what it has left.
        """
        assert purse.may.covers(purse.spent), (run.flow, purse)
        for told, left in purse.asked:
            assert told == left, (run.flow, told, left)
        for lent in purse.lent:
            parts = Spend(verb_calls=lent.permits)
            for part in lent.parts:
                assert part.covers(Spend()), part
                parts = parts.plus(part)
            assert _or_nothing(lent.left).covers(parts), (run.flow, lent)

    def _by_the_world(self, run: StoredRun, purse: Purse) -> None:
        """Nothing was done that is not booked; and of a run that never died nothing is booked that
        was not done.
        """
        really, booked = self.house.really[run.id], purse.own
        # what was asked when the process died is booked when the run goes on
        ahead = 0 if run.status in SETTLED else 1
        if run.status in SETTLED:
            assert really.tokens <= booked.tokens, (run.flow, really, booked)
        assert really.attempts <= booked.model_calls + ahead, (run.flow, really, booked)
        repeats = sum(
            record.name == "recover" and b'"type":"repeat"' in (record.body or b"")
            for record in run.records
        )
        # a call that may be repeated is one call, however often it is
        assert really.verb_calls <= booked.verb_calls + repeats + ahead
        if run.id not in self.house.died and not really.hazy and not _was_broken_off(run):
            assert really.tokens == booked.tokens, (run.flow, really, booked)

    def _accounted_for(
        self, run: StoredRun, purses: dict[str, Purse], runs: dict[str, StoredRun]
    ) -> None:
        """Never lost: a child gives back all that it did not spend, which is what its own records
        say; and so of the runs below it.
        """
        purse, below = purses[run.id], [one for one in runs.values() if one.parent == run.id]
        for child, spent in purse.given_back.items():
            assert runs[child].status in SETTLED
            assert spent == purses[child].spent, (
                run.flow,
                runs[child].flow,
                spent,
                purses[child].spent,
            )
        if run.status in SETTLED:
            assert set(purse.given_back) == {child.id for child in below}
        for child in below:
            started = self.house.started(child.id)
            lent = [part for one in purse.lent for part in one.parts]
            assert started.allowance in lent
            assert (started.runs or 0) <= RUNS_MAX

    def _shared(self, runs: list[StoredRun], purses: dict[str, Purse]) -> None:
        """A shared account holds what settled roots spent and what others carved, to the token."""
        committed = self.house.shared()
        roots = [run for run in runs if run.parent is None and purses[run.id].carved]
        for unit, kind in (("tokens", "tokens"), ("money", "usd_micros")):
            held = sum(
                getattr(purses[run.id].spent if run.status in SETTLED else purses[run.id].may, kind)
                for run in roots
            )
            assert sum(value for name, value in committed.items() if name.endswith(unit)) == held, (
                committed,
                unit,
            )


async def _house(shared: dict[str, Any]) -> BudgetHouse:
    return BudgetHouse(shared)


def _or_nothing(left: Spend) -> Spend:
    """What can be lent of it."""
    return Spend(
        tokens=max(0, left.tokens),
        usd_micros=max(0, left.usd_micros),
        model_calls=max(0, left.model_calls),
        verb_calls=max(0, left.verb_calls),
    )


def _was_broken_off(run: StoredRun) -> bool:
    """Whether an interrupt reached it."""
    return any(record.kind is RecordKind.DELIVERED for record in run.records)


Budgets.TestCase.settings = settings(
    max_examples=examples(60, quick=5), stateful_step_count=20, deadline=None
)
# on a busy machine its few courses take minutes
Budgets.TestCase.pytestmark = [pytest.mark.timeout(600)]
test_budgets = Budgets.TestCase
"""Whatever parents, children, crashes and refusals do in whatever order, no budget is overspent and
nothing of one is lost.
"""


async def test_a_call_that_is_broken_off_is_booked() -> None:
    """Of a run that is stopped while its model works nobody knows what that will cost: its
    reservation is spent, and no more.
    """
    house = BudgetHouse()
    run = await house.begin("planner", MUCH, seed=0)
    await house.drive_until(run, None, stops_at=0)
    purse, stored = purse_of(house.stored(run).records), house.stored(run)
    assert (stored.status, house.really[run].attempts, purse.spent.model_calls) == (
        Status.CANCELLED,
        1,
        1,
    )
    assert 0 < purse.spent.tokens < MUCH.tokens
    house.store.close()
