"""What engines take up over a store that answers badly: nothing that one of them holds is left
lying, and none asks without rest for what it cannot have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from ordain.errors import EngineLost, StorageUnavailable
from ordain.journal.records import Status
from ordain.ports.leases import Beat, Held, Lease
from ordain.ports.store import Append, StoredRun, Unit
from ordain.testing import MemoryStore
from tests.contract.holders.several import KINDS, LAPSE_S, OTHER, WORKS, Holder, Several
from tests.contract.holders.virtual import virtually


async def dies_with(several: Several, times: int) -> None:
    """So many engines die with all that nobody holds, each before any of it got further."""
    for _ in range(times):
        dying = MemoryStore(several.shared)
        lease = await dying.join("dies")
        for held in await dying.hold(lease, limit=99, flows=None):
            assert isinstance(held.run, StoredRun)
            if held.run.status is Status.READY:
                await dying.submit(Append(run=held.id, epoch=held.run.epoch, status=Status.RUNNING))
        dying.close()


def _is_put_back(unit: Unit) -> bool:
    return isinstance(unit, Append) and unit.status is Status.READY


def test_a_run_that_is_due_elsewhere_is_asked_for_now_and_then() -> None:
    """It waited in an engine that has ended, and the one that is left has no such flow: that one
    looks once in a while, and is at rest in between.
    """

    async def work() -> int:
        async with Several((OTHER,), KINDS) as several:
            without, having = several.holders
            asked = [0]
            hold = without.heart.hold

            async def counted(lease: Lease, **asking: Any) -> Sequence[Held]:
                asked[0] += 1
                assert asked[0] < 1000
                return await hold(lease, **asking)

            run = await having.open(WORKS, [("wait", 20_000)])
            await asyncio.sleep(1)
            await having.engine.stop(grace_s=0.0)
            without.heart.hold = counted  # type: ignore[method-assign] - it counts
            await asyncio.sleep(60)
            assert (await several.stored(run)).status is Status.WAITING
            await having.engine.start()
            await several.settled(run)
            await several.check()
            return asked[0]

    assert virtually(work()) in range(40, 80)


def test_what_could_not_be_looked_at_is_looked_at_again() -> None:
    """Several runs that engines died with are taken up at once, and an acknowledgement is lost at
    the first: all of them are driven.
    """

    async def work() -> None:
        async with Several(KINDS) as several:
            (first,) = several.holders
            await first.engine.stop(grace_s=0.0)
            guest = Holder(several, KINDS)
            runs = [await guest.open(WORKS, [("put", 10)]) for _ in range(4)]
            await dies_with(several, 2)
            dying = MemoryStore(several.shared)
            await dying.hold(await dying.join("dies"), limit=9, flows=None)
            await first.engine.start()
            several.shared.lose_next(_is_put_back)
            await several.settled(*runs)
            assert [(await several.stored(run)).resumes for run in runs] == [3] * 4
            await several.check()

    virtually(work(), within_s=120)


def test_what_an_engine_was_not_told_that_it_holds_it_drives() -> None:
    """It took hold of what another had died with, and the connection was lost before that was said:
    no further death is counted.
    """

    async def work() -> None:
        async with Several(KINDS) as several:
            (first,) = several.holders
            await first.engine.stop(grace_s=0.0)
            guest = Holder(several, KINDS)
            runs = [await guest.open(WORKS, [("put", 10)]) for _ in range(3)]
            dying = MemoryStore(several.shared)
            await dying.hold(await dying.join("dies"), limit=9, flows=None)
            hold, lost = first.heart.hold, list[int]()

            async def loses(lease: Lease, **asking: Any) -> Sequence[Held]:
                held = await hold(lease, **asking)
                if held and not lost:
                    lost.append(len(held))
                    raise StorageUnavailable("the connection was lost")
                return held

            first.heart.hold = loses  # type: ignore[method-assign] - it loses an answer
            await first.engine.start()
            await several.settled(*runs)
            assert lost == [3]
            assert [(await several.stored(run)).resumes for run in runs] == [1] * 3
            await several.check()

    virtually(work(), within_s=120)


def test_what_is_opened_while_an_engine_comes_back_is_driven() -> None:
    """It is that engine's under its new number, which takes nothing up yet: nobody else is offered
    the run.
    """

    async def work() -> None:
        async with Several(KINDS) as several:
            (first,) = several.holders
            beat, runs = first.heart.beat, list[str]()

            async def opens(lease: Lease, told: Beat) -> None:
                if lease.engine != 1 and not runs:
                    runs.append(await first.open(WORKS, [("put", 10)]))
                    await asyncio.sleep(0.1)
                await beat(lease, told)

            first.heart.beat = opens  # type: ignore[method-assign] - it opens a run
            first.heart.stopped = True
            await asyncio.sleep(2 * LAPSE_S)
            first.heart.stopped = False
            await asyncio.sleep(3)
            await several.settled(*runs)
            assert [(await several.stored(run)).holder for run in runs] == [2]
            await several.check()

    virtually(work(), within_s=120)


@pytest.mark.parametrize("fails", ["join", "beat"])
def test_an_engine_comes_back_once_the_storage_does(fails: str) -> None:
    """A lease lapses where the storage was away, and it may be away again when the engine joins, or
    the new lease lapse as well before its first beat.
    """

    async def work() -> None:
        async with Several(KINDS) as several:
            (first,) = several.holders
            run, failed = await first.open(WORKS, [("wait", 60_000), ("put", 10)]), [0]
            joins, beats = first.heart.join, first.heart.beat

            async def join(build: str) -> Lease:
                if fails == "join" and failed[0] < 3:
                    failed[0] += 1
                    raise StorageUnavailable("it is away")
                return await joins(build)

            async def beat(lease: Lease, told: Beat) -> None:
                if fails == "beat" and lease.engine != 1 and failed[0] < 3:
                    failed[0] += 1
                    several.shared.leave(lease.engine)
                    raise EngineLost("it has lapsed")
                await beats(lease, told)

            first.heart.join, first.heart.beat = join, beat  # type: ignore[method-assign] - they fail
            several.shared.leave(1)
            await several.settled(run)
            assert failed == [3]
            assert not first.engine.lost.is_set()
            await several.check()

    virtually(work(), within_s=300)
