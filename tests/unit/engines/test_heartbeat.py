"""The heartbeat: what it finds before any run is taken up, when it writes, and what it makes of
storage that is away or somebody else's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from ordain.engines.heartbeat import BEAT_US, IDLE_BEAT_US, Heartbeat
from ordain.errors import EngineLost, StorageUnavailable
from ordain.journal.lost_time import Pause
from ordain.ports.leases import Beat, Lease
from ordain.runtime.lost_time import SLACK_US, TICK_US, LostTime

BEGAN = 1_000_000_000_000
LONG = TICK_US + SLACK_US + 1


class Engine:
    """All that a heartbeat knows of one: a clock that is moved by hand, a store that keeps what it
    is told, and how many runs are driven.
    """

    def __init__(self, beaten: int | None = None, pauses: Sequence[Pause] = ()) -> None:
        self.at, self.driving, self.found = BEGAN, 0, 0
        self.lost, self.clock = LostTime(), self
        self.lease = Lease(engine=1, last_beat=beaten, pauses=tuple(pauses))
        self.written: list[Beat] = []
        self.back_us = 0
        self.refusal: Exception | None = None
        self.heart = Heartbeat(
            cast("Any", self), cast("Any", self), driving=lambda: self.driving, found=self._arm
        )

    def now(self) -> int:
        return self.at

    async def beat(self, lease: Lease, beat: Beat) -> None:
        assert lease is self.lease
        if self.refusal is not None:
            raise self.refusal
        self.written.append(beat)

    def _arm(self, back_us: int) -> None:
        self.found += 1
        self.back_us += back_us

    async def beat_after(self, passed_us: int, *, last: bool = False) -> list[Beat]:
        """What is written at a beat so long after the one before."""
        self.at += passed_us
        self.written.clear()
        await self.heart.beat(last=last)
        return list(self.written)

    async def beats_for(self, passed_us: int) -> int:
        """How many beats are written in that time, looked at as often as an engine looks."""
        return sum([len(await self.beat_after(TICK_US)) for _ in range(passed_us // TICK_US)])


async def begun(engine: Engine) -> Engine:
    await engine.heart.begin(engine.lease)
    return engine


async def test_the_first_engine_of_a_folder_has_lost_nothing() -> None:
    """Where nobody ever beat, nobody was away; that this one is there is written before any run is
    taken up.
    """
    engine = await begun(Engine())
    assert engine.written == [Beat(at=BEGAN)]
    assert list(engine.lost.since(0)) == []


async def test_what_was_away_is_found_before_any_run_is_taken_up() -> None:
    """From the last beat to the start nobody was at work: that is written with the first beat,
    beside the pauses that were known.
    """
    known = Pause(BEGAN - 9_000_000, BEGAN - 8_000_000)
    engine = await begun(Engine(beaten=BEGAN - 5_000_000, pauses=[known]))
    assert engine.written == [Beat(at=BEGAN, pauses=(Pause(BEGAN - 5_000_000, BEGAN),))]
    assert list(engine.lost.since(0)) == [known, Pause(BEGAN - 5_000_000, BEGAN)]
    assert engine.found == 0  # nothing is armed yet


async def test_a_clock_that_was_set_back_is_written_first() -> None:
    """A last beat in the future is no pause: what was said of moments that come again is taken
    back, on the store too.
    """
    engine = await begun(Engine(beaten=BEGAN + 60_000_000, pauses=[Pause(BEGAN + 1, BEGAN + 2)]))
    assert engine.written == [Beat(at=BEGAN, clock_back=BEGAN, back_us=60_000_000)]
    assert list(engine.lost.since(0)) == []


@pytest.mark.parametrize(("driving", "every"), [(3, BEAT_US), (0, IDLE_BEAT_US)])
async def test_it_beats_more_often_while_runs_are_driven(driving: int, every: int) -> None:
    """Once a second while runs are driven, every ten seconds otherwise; the last beat of an engine
    is written whenever it comes.
    """
    engine = await begun(Engine())
    engine.driving = driving
    assert await engine.beats_for(4 * IDLE_BEAT_US) == 4 * IDLE_BEAT_US // every
    assert await engine.beat_after(1, last=True) == [Beat(at=engine.at)]


async def test_a_pause_is_told_once_and_written_at_once() -> None:
    """Time that was lost is on the store with the beat that finds it, and timers are armed anew;
    the next beat says nothing of it.
    """
    engine = await begun(Engine())
    before = engine.at
    assert await engine.beat_after(LONG) == [
        Beat(at=engine.at, pauses=(Pause(before + TICK_US, engine.at),))
    ]
    assert engine.found == 1
    assert await engine.beat_after(TICK_US) == []
    assert engine.found == 1


async def test_whoever_looked_first_timers_are_armed() -> None:
    """A run that looked at the clock before the heartbeat did has found the pause: it is written
    and told of all the same.
    """
    engine = await begun(Engine())
    engine.at += LONG
    assert engine.lost.look()
    assert [len(beat.pauses) for beat in await engine.beat_after(0)] == [1]
    assert engine.found == 1


async def test_storage_that_is_away_is_told_later() -> None:
    """Nothing is forgotten of what could not be written, and nothing is written twice."""
    engine = await begun(Engine())
    engine.refusal = StorageUnavailable("full")
    for _ in range(2):
        assert await engine.beat_after(LONG) == []
    engine.refusal = None
    assert [len(beat.pauses) for beat in await engine.beat_after(TICK_US)] == [2]
    assert await engine.beat_after(IDLE_BEAT_US) == [
        Beat(at=engine.at, pauses=(Pause(engine.at - IDLE_BEAT_US + TICK_US, engine.at),))
    ]
    assert len(engine.lost.since(0)) == 3


async def test_a_lease_that_was_lost_ends_it() -> None:
    """Another engine holds the store: whoever keeps beating is told, and stops."""
    engine = await begun(Engine())
    engine.refusal = EngineLost("another engine holds it")
    with pytest.raises(EngineLost):
        await engine.beat_after(IDLE_BEAT_US)


async def test_a_clock_that_was_set_back_is_told_with_by_how_much() -> None:
    """Once, to the engine and to the store, whoever looked first; what could not be written is
    written later, and all of it.
    """
    engine = await begun(Engine())
    engine.at -= LONG
    assert not engine.lost.look()
    engine.refusal = StorageUnavailable("full")
    assert await engine.beat_after(0) == []
    assert (engine.found, engine.back_us) == (1, LONG)
    engine.refusal = None
    (beat,) = await engine.beat_after(TICK_US)
    assert (beat.clock_back, beat.back_us) == (BEGAN - LONG, LONG)
    assert await engine.beat_after(TICK_US) == []
    assert engine.back_us == LONG


async def test_a_run_that_was_refused_until_now_lost_that_time() -> None:
    """From the first refusal to when it was taken hold of; one that was not refused has lost
    nothing.
    """
    engine = await begun(Engine())
    engine.heart.refused("a")
    engine.at += TICK_US
    engine.heart.refused("a")
    engine.heart.went_on("b")
    assert engine.lost.since(0) == ()
    engine.at += TICK_US
    engine.heart.went_on("a")
    engine.heart.went_on("a")
    assert list(engine.lost.since(0)) == [Pause(BEGAN, BEGAN + 2 * TICK_US)] == engine.lost.unsaved
