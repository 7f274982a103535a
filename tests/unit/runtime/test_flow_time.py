"""A run's own time: no pause changes what a run decides, only when; what a person takes to answer
is nobody's time; all of it replays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ordain import VerbContext, VerbError, verb
from ordain.contracts.verbs import ArgumentRole, Retry
from ordain.effects.calls import Call
from ordain.effects.children import Join, JoinMode, Spawn
from ordain.effects.effect import Wait, WaitFor
from ordain.effects.results import VerbReturned
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.journal.codec import decode
from ordain.journal.lost_time import Pause, losses, lost_in_all
from ordain.journal.records import (
    SETTLED,
    DecisionBody,
    EndedBody,
    ObservationBody,
    RecordKind,
    Status,
    raw,
)
from ordain.ports.leases import Beat, Lease
from ordain.runtime.drive import Drive
from ordain.runtime.flow_time import TIME_LOST, WAITED, lost_below
from ordain.runtime.lost_time import TICK_US, LostTime
from ordain.runtime.replay import replay
from ordain.store.leases import SqliteLeases
from ordain.testing import kind_of
from tests.unit.runtime.house import BEGAN, HOUR, SECOND, House

CALL_S, SPARE_S, PERSON_S, NAP_S = 8, 2, 100, 5
"""How long a call takes, by how much its time-out is longer, how long a person takes to answer, and
how long the flow rests.
"""
LASTS_S = 70
"""The run's deadline: its calls with two of them made again, and less than any pause besides."""
LONG_S = 120


@dataclass
class World:
    """Time passes in it; at each moment that is counted something may happen to the process."""

    house: House
    happens: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    moments: int = 0
    looked: int = 0
    beat: int = 0
    dies: asyncio.Event = field(default_factory=asyncio.Event)

    async def work(self, seconds: float) -> None:
        """So much time at work; before, within and after it something may happen."""
        await self.moment()
        self.ticks(seconds / 2)
        await self.moment()
        self.ticks(seconds / 2)
        await self.moment()

    async def work_until(self, at: int) -> None:
        """Time passes until a moment by the wall clock, for whoever looks at that again after all
        that happens.
        """
        await self.moment()
        self.ticks(max(0.5, (at - self.house.clock.at) / SECOND / 2))
        await self.moment()
        self.ticks(max(0.0, (at - self.house.clock.at) / SECOND))
        await self.moment()

    def ticks(self, seconds: float) -> None:
        """Time passes in which somebody looks at the clock."""
        for _ in range(ceil(seconds * SECOND / TICK_US)):
            self.house.clock.at += TICK_US
            self.house.services.lost.look()
        self.beat = self.house.clock.at

    async def moment(self) -> None:
        """What happens now, if anything does."""
        what, seconds = self.happens.get(self.moments, ("", 0))
        self.moments += 1
        if what == "down":
            self.dies.set()
            await asyncio.Event().wait()
        elif what:
            self.house.clock.pass_s(-seconds if what == "back" else seconds)
            self.house.services.lost.look()
            self.beat = self.house.clock.at

    def come_back(self, seconds: int) -> None:
        """Another process, so much later."""
        lost = self.house.services.lost
        known = [*lost.since(0)]
        self.house.clock.pass_s(seconds)
        self.house.services.lost = LostTime()
        self.house.services.lost.begin(self.house.clock.now, self.beat, known)
        self.dies.clear()


WORLD: list[World] = []


@verb(
    name="shelf.put",
    effect="private",
    arguments={"title": ArgumentRole.CONTENT},
    idempotent=True,
    timeout_ms=(CALL_S + SPARE_S) * 1000,
)
async def put(title: str, context: VerbContext) -> str:
    """Put a book on the shelf; it takes its time, and has to have it."""
    if context.left_s < CALL_S:
        raise VerbError("no_time_to_put", "there is not time enough")
    await WORLD[-1].work(CALL_S)
    return title


@verb(
    name="shelf.find",
    effect="read",
    timeout_ms=(CALL_S + SPARE_S) * 1000,
    retry=Retry(max_attempts=2),
)
async def find(title: str, context: VerbContext) -> str:
    """Find a book where it was looked for before; attempts that are cut off say nothing, and have
    numbers too.
    """
    world = WORLD[-1]
    await world.work(1)
    world.looked += 1
    if world.looked == 1:
        raise VerbError("not_there", "it is not there yet", retryable=True, retry_after_s=NAP_S)
    return title


async def _asks(context: FlowContext, what: str) -> str:
    """Asks a person, and puts down what was said."""
    wait = Wait(what=WaitFor(what), about="which?", deadline=context.now() + HOUR)
    found = await context.fx.perform(wait)
    acted = await act(context, Call(verb="shelf.put", args={"title": "answer"}))
    return f"{type(found).__name__} {isinstance(acted.result, VerbReturned)}"


async def _works(context: FlowContext, _: Any) -> list[str]:
    """Tools, one that is tried again, a rest, and a child that asks a person."""
    done: list[str] = []
    for verb_id in ("shelf.put", "shelf.find"):
        acted = await act(context, Call(verb=verb_id, args={"title": "atlas"}))
        done.append(type(acted.result).__name__)
    await context.fx.perform(
        Wait(what=WaitFor.TIMER, about="rest", deadline=context.now() + NAP_S * SECOND)
    )
    spawn = Spawn[Any](
        flow="asks",
        input=raw("answer"),
        deadline=context.hard,
        allowance=context.share(1),
        scope=("shelf.find", "shelf.put"),
    )
    (ended,) = await context.fx.children((spawn,), Join(deadline=context.hard))
    done.append(type(ended).__name__)
    acted = await act(context, Call(verb="shelf.put", args={"title": "last"}))
    return [*done, type(acted.result).__name__, str(context.left_ms() > 0)]


VERBS = ("shelf.find", "shelf.put")
ASKS: Kind[Any, Any] = replace(kind_of(_asks, verbs=VERBS), name="asks")
WORKS: Kind[Any, Any] = replace(kind_of(_works, verbs=VERBS), name="works")


def a_house() -> House:
    return House(ASKS, WORKS, verbs=(put, find))


async def play(
    house: House, world: World, kind: Kind[Any, Any], given: Any = None, *, lasts_s: int = LASTS_S
) -> str:
    """A run to its end, with whatever happens meanwhile. A person answers after their time; nobody
    else is waited for longer than needed.
    """
    WORLD.append(world)
    house.services.lost.begin(house.clock.now, None, ())
    run = await house.open(kind, given, lasts=lasts_s * SECOND)
    for _ in range(200):
        if house.stored(run).status in SETTLED:
            return run
        now = house.clock.now()
        runs = [house.stored(one.id) for one in house.pending()]
        ready = [
            run.id
            for run in runs
            if run.status is not Status.WAITING or (run.wake_at or now + 1) <= now
        ]
        if ready:
            await _driven(house, world, ready[0])
        else:
            await _nobody_works(house, world)
    raise AssertionError("it does not come to an end")


async def _driven(house: House, world: World, run: str) -> None:
    drive = asyncio.ensure_future(Drive(house.services, house.held(run)).to_rest())
    dies = asyncio.ensure_future(world.dies.wait())
    await asyncio.wait({drive, dies}, return_when=asyncio.FIRST_COMPLETED)
    died = not drive.done()
    for task in (drive, dies):
        task.cancel()
    await asyncio.gather(drive, dies, return_exceptions=True)
    if died:
        world.come_back(world.happens[world.moments - 1][1])
    else:
        drive.result()


async def _nobody_works(house: House, world: World) -> None:
    """All wait: for a person, who answers, or for a moment, which comes."""
    for one in house.pending():
        last = house.stored(one.id).records[-1]
        if (body := decode(last)) and getattr(body, "waits_for", "") == "answer":
            await _alone(world, world.work(PERSON_S))
            await house.answer(one.id, getattr(body, "addr"), "atlas")  # noqa: B009 - of a SuspendedBody
            return
    moments = [at for one in house.pending() if (at := house.stored(one.id).wake_at) is not None]
    await _alone(world, world.work_until(min(moments)))


async def _alone(world: World, work: Coroutine[Any, Any, None]) -> None:
    working = asyncio.ensure_future(work)
    dies = asyncio.ensure_future(world.dies.wait())
    await asyncio.wait({working, dies}, return_when=asyncio.FIRST_COMPLETED)
    died = not working.done()
    for task in (working, dies):
        task.cancel()
    await asyncio.gather(working, dies, return_exceptions=True)
    if died:
        world.come_back(world.happens[world.moments - 1][1])


def decided(house: House, run: str) -> list[Any]:
    """What it decided, saw and came to, without the times."""
    told: list[Any] = []
    for record in house.stored(run).records:
        match body := decode(record):
            case DecisionBody() if record.name != "recover":
                # of a call that was cut off, as it is in no undisturbed run
                told.append((record.name, bytes(body.outcome), body.reason))
            case ObservationBody():
                told.append((record.name, msgspec.json.decode(body.result)))
            case EndedBody():
                told.append((body.status, body.reason, bytes(body.result)))
            case _:
                pass
    return told


async def played(happens: dict[int, tuple[str, int]]) -> tuple[list[list[Any]], int, int]:
    """What all runs decided, in how many moments, and what was lost of the root's time; everything
    replays equal.
    """
    with a_house() as house:
        world = World(house, happens)
        run = await play(house, world, WORKS)
        runs = [
            run,
            *(
                row[0]
                for row in house.store.query(
                    "SELECT id FROM runs WHERE parent IS NOT NULL ORDER BY no"
                )
            ),
        ]
        for one in runs:
            found = replay(house.stored(one), house.catalog, house.kinds)
            assert found.equal, found.differences
        return (
            [decided(house, one) for one in runs],
            world.moments,
            lost_in_all(house.stored(run).records),
        )


UNDISTURBED: list[Any] = []


def undisturbed() -> tuple[list[list[Any]], int, int]:
    if not UNDISTURBED:
        UNDISTURBED.append(asyncio.run(played({})))
    return UNDISTURBED[0]


def test_the_undisturbed_run_does_its_work() -> None:
    """All of it within its time; what the person took is lost for whoever asked and for its parent,
    and nothing else.
    """
    told, _, lost = undisturbed()
    assert told[0][-1] == (
        Status.COMPLETED,
        "ok",
        b'["VerbReturned","VerbReturned","Completed","VerbReturned","True"]',
    )
    assert PERSON_S * SECOND <= lost < (PERSON_S + 1) * SECOND


HAPPENINGS = st.tuples(st.sampled_from(["stopped", "ahead", "back"]), st.integers(3, LONG_S))
DEATHS = st.dictionaries(
    st.integers(0, 40), st.tuples(st.just("down"), st.integers(0, LONG_S)), max_size=2
)


@settings(max_examples=40)
@given(st.dictionaries(st.integers(0, 40), HAPPENINGS, max_size=6), DEATHS)
@example({4: ("stopped", LONG_S)}, {})
@example({1: ("ahead", 86_400 // 30)}, {})
@example({}, {1: ("down", LONG_S)})
@example({7: ("back", 60)}, {8: ("down", LONG_S)})
@example({12: ("stopped", 3), 13: ("stopped", 32), 15: ("back", 35), 17: ("stopped", 34)}, {})
def test_no_pause_changes_what_a_run_decides(
    happens: dict[int, tuple[str, int]], deaths: dict[int, tuple[str, int]]
) -> None:
    """Down, stopped, asleep, a clock set forward or back, anywhere: rules, outcomes, reasons,
    results and ends are those of the run that nothing happened to.

    B-23 "the clock less what was lost (process down, stopped, asleep, clock set forward) and less
    what a person takes to answer;"
    """
    told, _, _ = asyncio.run(played(happens | deaths))
    assert told == undisturbed()[0]


@pytest.mark.parametrize("what", ["stopped", "ahead", "down"])
def test_every_moment_of_a_run_bears_a_long_pause(what: str) -> None:
    """Longer than the run has time, at each moment in turn."""
    told, moments, _ = undisturbed()
    for moment in range(moments):
        assert asyncio.run(played({moment: (what, LONG_S)}))[0] == told, moment


# --- what is on record ----------------------------------------------------------------------------


async def test_what_was_lost_is_on_record_before_what_gives_the_time() -> None:
    """As one record, in the unit of the observation; the recorded moments stay, and the next
    effect's lie later by it.
    """
    with a_house() as house:
        run = await play(house, World(house, {1: ("stopped", LONG_S)}), WORKS)
        records = house.stored(run).records
        (lost, *_) = losses(records)
        assert [records[lost.seq - 1].kind, records[lost.seq + 1].kind] == [
            RecordKind.INTENT,
            RecordKind.OBSERVATION,
        ]
        resumed = decode(records[lost.seq])
        assert (getattr(resumed, "by", None), getattr(resumed, "why", None)) == ("", TIME_LOST)
        assert LONG_S * SECOND - TICK_US <= lost.lost_us <= LONG_S * SECOND


async def test_a_lost_time_is_no_progress() -> None:
    """A start that dies before it observes anything has moved no record: it is counted as a death
    at the same place.
    """
    with a_house() as house:
        world = World(house, {1: ("down", LONG_S), 3: ("down", LONG_S)})
        WORLD.append(world)
        house.services.lost.begin(house.clock.now, None, ())
        run = await house.open(WORKS, None, lasts=LASTS_S * SECOND)
        leases, deaths = SqliteLeases(house.store, house.clock.now), list[int]()
        for engine in (2, 3):
            await _driven(house, world, run)
            before = len(house.stored(run).records)
            await leases.hold(Lease(engine=engine), limit=1, flows=None, only=(run,))
            deaths.append(house.stored(run).resumes)
        assert deaths == [1, 2]
        assert {record.name for record in house.stored(run).records[before - 2 :]} == {
            "lost",
            "recover",
        }


async def test_a_persons_own_time_runs_by_the_wall_clock() -> None:
    """A question expires when it said it would, whoever was down meanwhile; its run has lost all of
    it and nothing more.
    """
    with a_house() as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(ASKS, "answer", lasts=LASTS_S * SECOND)
        assert (await house.drive(run)).wake_at == BEGAN + HOUR
        house.clock.pass_s(1800)
        house.services.lost.look()
        assert (await house.drive(run)).wake_at == BEGAN + HOUR
        house.clock.pass_s(1800)
        assert (await house.drive(run)).status is Status.COMPLETED
        (lost,) = losses(house.stored(run).records)
        assert (lost.at, lost.lost_us) == (BEGAN + HOUR, HOUR)
        assert getattr(decode(house.stored(run).records[lost.seq]), "why", "") == WAITED
        assert decided(house, run)[-1][2] == b'"Expired True"'


async def test_an_answer_that_is_there_at_once_stops_no_time() -> None:
    """Nobody was waited for: what passes after it is the run's own."""
    with a_house() as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(ASKS, "answer", lasts=LASTS_S * SECOND)
        await house.answer(run, 0, "atlas")
        assert (await house.drive(run)).status is Status.COMPLETED
        assert losses(house.stored(run).records) == []


async def test_a_rest_is_a_runs_own_time() -> None:
    """What was lost of it comes after it: it wakes when it was to, and goes on waiting; its moment
    on record stays.
    """
    with a_house() as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(ASKS, "timer", lasts=2 * HOUR)
        assert (await house.drive(run)).wake_at == BEGAN + HOUR
        house.clock.pass_s(3600)
        house.services.lost.look()
        assert (await house.drive(run)).wake_at == BEGAN + 2 * HOUR - TICK_US
        WORLD[-1].ticks(3600)
        assert (await house.drive(run)).status is Status.COMPLETED
        moments = [body.wake_at for body in house.bodies(run, RecordKind.SUSPENDED)]
        assert moments == [BEGAN + HOUR, BEGAN + 2 * HOUR - TICK_US]


@pytest.mark.parametrize("begun", ["before", "after"])
async def test_a_clock_that_is_put_right_holds_no_wait_up(begun: str) -> None:
    """A rest takes as long as it was to, also where the run's records lie an hour ahead of the
    clock; and so does the next one.
    """
    with a_house() as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(ASKS, "timer", lasts=3 * HOUR)
        if begun == "before":
            wakes = (await house.drive(run)).wake_at
            assert wakes == BEGAN + HOUR
        house.clock.pass_s(-7200)
        house.services.lost.look()
        if begun == "before":
            lease = Lease(engine=house.store.engine)
            await SqliteLeases(house.store, house.clock.now).beat(
                lease, Beat(at=house.clock.at, clock_back=house.clock.at, back_us=7200 * SECOND)
            )
        driven = await house.drive(run)
        assert (driven.status, driven.wake_at) == (Status.WAITING, BEGAN - HOUR)
        WORLD[-1].ticks(3599)
        assert (await house.drive(run)).status is Status.WAITING
        WORLD[-1].ticks(1)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert decided(house, run)


async def test_storage_that_takes_nothing_costs_a_run_no_time() -> None:
    """It is on record as lost before what gives the flow its time."""
    with a_house() as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(ASKS, "timer", lasts=2 * HOUR)
        await house.drive(run)
        WORLD[-1].ticks(10)
        house.services.lost.refused(house.clock.at - 5 * SECOND, house.clock.at)
        assert (await house.drive(run)).wake_at == BEGAN + HOUR + 5 * SECOND
        assert [loss.lost_us for loss in losses(house.stored(run).records)] == [5 * SECOND]


# --- below ----------------------------------------------------------------------------------------


async def _both(context: FlowContext, seconds: int) -> str:
    """Two children, of which one asks a person and the other rests, joined for so long."""
    spawns = tuple(
        Spawn[Any](
            flow="asks",
            input=raw(what),
            deadline=context.hard,
            allowance=context.share(2),
            scope=VERBS,
        )
        for what in ("answer", "timer")
    )
    ended = await context.fx.children(
        spawns, Join(mode=JoinMode.ALL, deadline=context.now() + seconds * SECOND)
    )
    return " ".join(type(one).__name__ for one in ended)


BOTH: Kind[Any, Any] = replace(kind_of(_both, verbs=VERBS), name="both")


async def test_a_join_stands_still_while_a_child_waits_for_a_person() -> None:
    """Its deadline does not come, and it looks again when the person's time is over; once answered
    the rest of its time runs.
    """
    with House(ASKS, BOTH, verbs=(put, find)) as house:
        house.services.lost.begin(house.clock.now, None, ())
        WORLD.append(World(house))
        run = await house.open(BOTH, 60, lasts=3 * HOUR)
        await house.drive(run)
        asking, _ = children = [
            row[0]
            for row in house.store.query("SELECT id FROM runs WHERE parent IS NOT NULL ORDER BY no")
        ]
        for child in children:
            await house.drive(child)
        WORLD[-1].ticks(90)
        assert await lost_below(house.store, asking, house.clock.at) == (
            [Pause(BEGAN, house.clock.at)],
            BEGAN + HOUR,
        )
        assert (await house.drive(run)).wake_at == BEGAN + HOUR
        await house.answer(asking, 0, "atlas")
        await house.drive(asking)
        assert house.stored(asking).status is Status.COMPLETED
        again = await house.drive(run)
        assert again.wake_at == BEGAN + (90 + 60) * SECOND
        assert lost_in_all(house.stored(run).records) == 90 * SECOND
        WORLD[-1].ticks(60)
        assert (await house.drive(run)).status is Status.WAITING
        await house.drive(children[1])
        assert (await house.drive(run)).status is Status.COMPLETED
        joined = msgspec.json.decode(house.bodies(run, RecordKind.OBSERVATION)[-1].result)
        assert joined == {"result": "joined", "counted": [0], "why": "join deadline"}
        assert replay(house.stored(run), house.catalog, house.kinds).equal


async def test_a_child_that_is_not_there_has_lost_nothing() -> None:
    """Nobody is held up by what cannot be read."""
    with a_house() as house:
        assert await lost_below(house.store, "nobody", house.clock.at) == ([], None)
