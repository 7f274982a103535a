"""What a start takes up: everything that has something to do, counted, and ever more carefully what
the process dies on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.effects.effect import Wait, WaitFor
from ordain.flows.context import FlowContext
from ordain.journal.records import Status
from ordain.ports.leases import QUARANTINE, SUSPECT, Lease
from ordain.ports.store import Append
from ordain.runtime.recovery import TakenUp, taken_up
from ordain.store.leases import SqliteLeases
from ordain.testing import kind_of
from tests.lanes import examples
from tests.unit.runtime.house import BEGAN, SECOND, House


async def _waiting(context: FlowContext, seconds: int) -> str:
    await context.fx.perform(
        Wait(
            what=WaitFor.ANSWER if seconds else WaitFor.TIMER,
            about="x",
            deadline=context.now() + (seconds or 60) * SECOND,
        )
    )
    return "over"


KIND = kind_of(_waiting)


@dataclass
class Plan:
    """What an engine took up that came after one that had died: driven, driven alone, set aside."""

    driven: list[str] = field(default_factory=list[str])
    alone: list[str] = field(default_factory=list[str])
    aside: list[str] = field(default_factory=list[str])
    next_due: int | None = None


NUMBERS = count(2)


async def plan(house: House) -> Plan:
    """Another engine takes up what is there."""
    found, leases, lease = (
        Plan(),
        SqliteLeases(house.store, house.clock.now),
        Lease(engine=next(NUMBERS)),
    )
    for held in await leases.hold(lease, limit=99, flows=None):
        match await taken_up(house.services, held):
            case TakenUp.DRIVEN:
                found.driven.append(held.id)
            case TakenUp.ALONE:
                found.alone.append(held.id)
            case TakenUp.SET_ASIDE:
                found.aside.append(held.id)
    found.next_due = await leases.next_due(lease, flows=None)
    return found


async def put(house: House, run: str, status: Status) -> None:
    """As a drive that the process died in has left it."""
    stored = house.stored(run)
    if stored.status is not status:
        await house.store.submit(Append(run=run, epoch=stored.epoch, status=status))


async def test_what_is_ready_is_taken_up_and_what_waits_is_not() -> None:
    """A timer ahead is set; one that is due, and mail, are something to do."""
    with House(KIND) as house:
        ready = await house.open(KIND, 0)
        waiting, due, mailed = [await house.open(KIND, seconds) for seconds in (60, 5, 60)]
        for run in (waiting, due, mailed):
            assert (await house.drive(run)).status is Status.WAITING
        house.clock.pass_s(10)
        await house.answer(mailed, 0, 1)
        found = await plan(house)
        assert found == Plan(driven=[ready, due, mailed], next_due=BEGAN + 60 * SECOND)
        assert house.stored(waiting).epoch == 1


async def test_what_the_process_dies_on_is_driven_alone_and_then_set_aside() -> None:
    """Alone from the second start that finds it at the same record, aside when it was driven alone
    twice; who says so can be asked.
    """
    with House(KIND) as house:
        run = await house.open(KIND, 0)
        seen: list[tuple[str, Status]] = []
        for _ in range(QUARANTINE):
            await put(house, run, Status.RUNNING)  # so the process died
            found = await plan(house)
            seen.append(
                (
                    "driven" if run in found.driven else "alone" if run in found.alone else "",
                    house.stored(run).status,
                )
            )
        alone = ("alone", Status.READY)
        assert seen == [("driven", Status.RUNNING), alone, alone, ("", Status.QUARANTINED)]
        assert house.stored(run).reason == "quarantined"
        assert await plan(house) == Plan()


@pytest.mark.parametrize("starts", [SUSPECT, QUARANTINE, QUARANTINE + 2])
async def test_what_waits_for_its_turn_pays_for_nobody(starts: int) -> None:
    """However often the process dies: a run that was never driven is never set aside."""
    with House(KIND) as house:
        run = await house.open(KIND, 0)
        for _ in range(starts):
            found = await plan(house)
        assert (found.alone, house.stored(run).status) == ([run], Status.READY)


async def test_kills_from_outside_are_no_proof_against_those_who_wait() -> None:
    """Two runs are at work at each of two kills, and then one alone at each further one: what
    waited beside it begins where it stood.
    """
    with House(KIND) as house:
        first, second = [await house.open(KIND, 0) for _ in range(2)]
        for _ in range(SUSPECT):
            for run in (first, second):
                await put(house, run, Status.RUNNING)
            found = await plan(house)
        assert found.alone == [first, second]
        for _ in range(QUARANTINE - SUSPECT):
            await put(house, first, Status.RUNNING)
            found = await plan(house)
        assert (found.aside, found.alone) == ([first], [second])
        for _ in range(QUARANTINE - SUSPECT - 1):
            await put(house, second, Status.RUNNING)
            assert (await plan(house)).alone == [second]


async def test_a_run_that_moves_is_counted_anew() -> None:
    """What it died on before is behind it."""
    with House(KIND) as house:
        run = await house.open(KIND, 60)
        for _ in range(QUARANTINE - 1):
            await put(house, run, Status.RUNNING)
            await plan(house)
        assert (await house.drive(run)).status is Status.WAITING
        await house.answer(run, 0, 1)
        assert (await plan(house)).driven == [run]


@settings(max_examples=examples(20))
@given(
    st.lists(st.sampled_from(["ready", "running", "waiting", "due", "mailed"]), max_size=6),
    st.integers(1, QUARANTINE + 1),
)
async def test_every_unsettled_run_is_in_one_place(standing: list[str], starts: int) -> None:
    """Woken, driven alone, set aside, or with its timer: none is forgotten and none is in two
    places.
    """
    with House(KIND) as house:
        runs: list[str] = []
        for what in standing:
            run = await house.open(KIND, 5 if what == "due" else 60)
            runs.append(run)
            if what in ("waiting", "due", "mailed"):
                await house.drive(run)
            if what == "mailed":
                await house.answer(run, 0, 1)
        house.clock.pass_s(10)
        for _ in range(starts):
            for what, run in zip(standing, runs, strict=True):
                if what == "running" and house.stored(run).status is not Status.QUARANTINED:
                    await put(house, run, Status.RUNNING)
            found = await plan(house)
        aside = [run for run in runs if house.stored(run).status is Status.QUARANTINED]
        waiting = [
            run
            for run in runs
            if house.stored(run).status is Status.WAITING and run not in found.driven + found.alone
        ]
        assert sorted([*found.driven, *found.alone, *aside, *waiting]) == sorted(runs)
        assert waiting == [
            run for what, run in zip(standing, runs, strict=True) if what == "waiting"
        ]
        assert aside == [
            run
            for what, run in zip(standing, runs, strict=True)
            if what == "running" and starts >= QUARANTINE
        ]
