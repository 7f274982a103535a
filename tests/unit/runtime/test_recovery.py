"""What a start takes up: everything that has something to do, counted, and ever more carefully what
the process dies on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Wait, WaitFor
from ordain.flows.context import FlowContext
from ordain.journal.digests import derived_id
from ordain.journal.records import RecordKind, Status, raw
from ordain.ports.effects import Interrupted
from ordain.ports.leases import QUARANTINE, SUSPECT, Lease
from ordain.ports.store import Append
from ordain.ports.writes import MailKind
from ordain.runtime.drive import Drive
from ordain.runtime.recovery import TakenUp, interrupted_above, taken_up
from ordain.runtime.replay import replay
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


# --- a stop that was acknowledged before the process ended ----------------------------------------


async def _nested(context: FlowContext, depth: int) -> list[str]:
    """A run with one below it, and so on; the lowest begins one wait after another."""
    if not depth:
        for _ in range(3):
            await context.fx.perform(
                Wait(what=WaitFor.TIMER, about="x", deadline=context.now() + SECOND)
            )
        return ["worked"]
    spawn: Spawn[Any] = Spawn(
        flow="nested", input=raw(depth - 1), deadline=context.hard, allowance=context.share(1)
    )
    try:
        (end,) = await context.fx.children((spawn,), Join(deadline=context.hard))
    except Interrupted as interrupted:
        return ["interrupted", *(type(one).__name__ for one in interrupted.ended)]
    return [type(end).__name__]


NESTED = replace(kind_of(_nested, charged=False), name="nested")


async def at_depth(house: House, depth: int) -> list[str]:
    """So many runs below one another, the lowest at its first wait; root first."""
    runs = [await house.open(NESTED, depth)]
    for _ in range(depth):
        await house.drive(runs[-1])
        runs.append(derived_id(runs[-1], 0, 0))
    await house.drive(runs[-1])
    return runs


@pytest.mark.parametrize("stopped", [0, 1, 2])
async def test_what_is_being_stopped_begins_nothing_more_after_a_crash(stopped: int) -> None:
    """Whichever run above was told to stop by a build that told one run after the other: what is
    taken up below it is told before it goes on; the runs above it are not.
    """
    with House(NESTED) as house:
        runs = await at_depth(house, 3)
        await house.interrupt(runs[stopped])
        house.store._db.execute("DELETE FROM mailbox WHERE key LIKE 'join:%'")
        house.clock.pass_s(5)  # the lowest has something to do
        for run in reversed(runs):
            held = await interrupted_above(house.services, house.held(run))
            told = [one.kind for one in held.mail] == [MailKind.INTERRUPT]
            assert told == (runs.index(run) >= stopped)
        lowest = runs[-1]
        before = len(house.bodies(lowest, RecordKind.INTENT))
        driven = await Drive(house.services, house.held(lowest)).to_rest()
        assert driven.status is Status.CANCELLED
        assert len(house.bodies(lowest, RecordKind.INTENT)) == before
        for run in reversed(runs[:-1]):
            await house.drive(run)
        (ended,) = house.bodies(runs[stopped], RecordKind.ENDED)
        assert msgspec.json.decode(ended.result) == ["interrupted", "Cancelled"]
        for run in runs:
            assert replay(house.stored(run), house.catalog, house.kinds).equal


async def test_a_stop_is_told_to_all_below_in_one_commit() -> None:
    """Whoever was told that it was taken sees nothing begin that had not: each run finds it in its
    own mailbox, as its parent would have sent it.
    """
    with House(NESTED) as house:
        runs, other = await at_depth(house, 3), await at_depth(house, 1)
        house.clock.pass_s(5)
        await house.interrupt(runs[1])
        told = {run: [(one.kind, one.key) for one in house.store.untaken(run)] for run in runs}
        assert told == {
            runs[0]: [],
            runs[1]: [(MailKind.INTERRUPT, "cancel:user:ada")],
            **{run: [(MailKind.INTERRUPT, f"join:{above}:0")] for above, run in pairwise(runs[1:])},
        }
        assert [house.store.untaken(run) for run in other] == [[], []]
        for run in reversed(runs):  # whoever comes first
            await house.drive(run)
        assert {house.stored(run).status for run in runs[1:]} == {Status.CANCELLED}
        assert len(house.bodies(runs[-1], RecordKind.INTENT)) == 1


async def test_nobody_is_stopped_for_what_was_told_or_cannot_be_read() -> None:
    """A run whose flow has been told of its interrupt may have children; and of one that is damaged
    nobody knows.
    """
    with House(NESTED) as house:
        runs = await at_depth(house, 2)
        house.clock.pass_s(5)
        unharmed = house.held(runs[-1])
        assert await interrupted_above(house.services, unharmed) == unharmed
        await house.interrupt(runs[0])
        house.store._db.execute("DELETE FROM mailbox WHERE key LIKE 'join:%'")
        house.store._db.execute("UPDATE runs SET status = 'asleep' WHERE parent IS NULL")
        assert await interrupted_above(house.services, unharmed) == unharmed
