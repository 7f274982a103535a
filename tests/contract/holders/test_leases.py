"""What two engines promise each other through their leases, by the ports alone: who holds what,
whose writes count, which deaths are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from ordain.errors import EngineLost, RunLost
from ordain.journal.lost_time import Pause
from ordain.journal.records import RecordKind, ResumedBody, Status
from ordain.ports.leases import Beat, Held, Lease
from ordain.ports.store import Append, StoredRun
from ordain.testing import MemoryStore, SharedMemory
from tests.contract.writing import Run

LAPSE = 100


class Two:
    """Two processes, and the store's clock."""

    def __init__(self) -> None:
        self.at = 1000
        self.shared = SharedMemory(now=lambda: self.at, lapse_us=LAPSE)
        self.stores = MemoryStore(self.shared), MemoryStore(self.shared)
        self.guest = MemoryStore(self.shared)
        self.leases: list[Lease] = []

    async def joined(self) -> Two:
        self.leases = [await store.join("test") for store in self.stores]
        return self

    async def lapses(self, by: int = 0) -> None:
        """So much time passes that the engine's lease is over; the other one beats."""
        for _ in range(3):
            self.at += LAPSE // 2
            await self.stores[1 - by].beat(self.leases[1 - by], Beat(at=self.at))

    async def hold(
        self, by: int, *only: str, flows: Sequence[tuple[str, int]] | None = None, limit: int = 9
    ) -> list[Held]:
        return list(
            await self.stores[by].hold(self.leases[by], limit=limit, flows=flows, only=only)
        )


def run_of(held: Held) -> StoredRun:
    assert isinstance(held.run, StoredRun)
    return held.run


async def test_no_two_engines_hold_a_run() -> None:
    """What a guest opened is whoever's asks first; by name it is not there for the other, until it
    is let go of.
    """
    two = await Two().joined()
    await two.guest.submit(Run("a").open())
    ((mine,), theirs) = await two.hold(0), await two.hold(1)
    assert (run_of(mine).holder, run_of(mine).epoch, theirs) == (1, 1, [])
    assert await two.hold(1, "a") == []
    await two.stores[0].release(two.leases[0], ["a"])
    assert [run_of(one).epoch for one in await two.hold(1, "a")] == [2]


async def test_orphans_come_before_fresh_work() -> None:
    """However old what nobody has held is: a lapsed engine's runs would starve else."""
    two = await Two().joined()
    await two.guest.submit(Run("fresh").open())
    await two.stores[0].submit(Run("orphan").open())
    await two.lapses()
    assert [held.id for held in await two.hold(1, limit=1)] == ["orphan"]
    assert [held.id for held in await two.hold(1)] == ["fresh"]


async def test_only_runs_of_its_flows_are_an_engines() -> None:
    """By name too; a run that has ended is shown to whoever asks."""
    two = await Two().joined()
    over = Run("over")
    for run in (Run("a"), over):
        await two.guest.submit(run.open())
    await two.guest.submit(
        Append(run="over", epoch=0, records=over.end().records, status=Status.COMPLETED)
    )
    assert await two.hold(0, flows=[("another", 1), ("planner", 2)]) == []
    assert [held.id for held in await two.hold(0, "a", "over", flows=[])] == ["over"]
    assert [held.id for held in await two.hold(0, flows=[("planner", 1)])] == ["a"]


async def test_a_zombie_writes_nothing_but_what_comes_from_outside() -> None:
    """Its engine is lost, and as another one it has lost the run; mail that it posts is taken as
    anybody's.
    """
    two = await Two().joined()
    run = Run("a")
    await two.stores[0].submit(run.open())
    await two.lapses()
    zombie, lease = two.stores[0], two.leases[0]
    for asked in (
        zombie.submit(run.step()),
        zombie.beat(lease, Beat(at=two.at)),
        zombie.hold(lease, limit=1, flows=None),
    ):
        with pytest.raises(EngineLost):
            await asked
    ((held,),) = (await two.hold(1),)
    two.leases[0] = await zombie.join("test")
    assert two.leases[0].engine == 3
    with pytest.raises(RunLost):
        await zombie.submit(run.step())
    assert (await zombie.submit(run.post())).refused == ""
    stored = run_of((await two.hold(1, "a"))[0])
    assert (stored.records, stored.epoch, stored.holder) == (run_of(held).records, 2, 2)


async def test_an_engine_is_told_when_what_it_has_the_flow_of_is_due() -> None:
    """``hold`` would give it nothing else, however long that is due."""
    two = await Two().joined()
    run = Run("a")
    await two.guest.submit(run.open())
    await two.hold(0, "a")
    await two.stores[0].submit(run.suspend(0, wake_at=1001))
    asking = two.stores[1], two.leases[1]
    assert await asking[0].next_due(asking[1], flows=None) is None
    await two.lapses()
    assert await asking[0].next_due(asking[1], flows=[("planner", 1)]) == 1001
    assert await asking[0].next_due(asking[1], flows=[("other", 1)]) is None
    assert await two.hold(1, flows=[("other", 1)]) == []
    assert await asking[0].held(asking[1]) == []


async def test_a_lapsed_lease_is_never_renewed() -> None:
    """Nor where the clock is set back so that it would last still."""
    two = await Two().joined()
    await two.lapses()
    with pytest.raises(EngineLost):
        await two.stores[0].beat(two.leases[0], Beat(at=two.at))
    two.at = 1001
    with pytest.raises(EngineLost):
        await two.stores[0].beat(two.leases[0], Beat(at=two.at))


async def test_a_zombies_new_runs_are_nobodys() -> None:
    """What it opens after its lease has lapsed whoever looks may take, and no death is counted."""
    two = await Two().joined()
    await two.lapses()
    assert (await two.stores[0].submit(Run("a").open())).run == "a"
    ((held,),) = (await two.hold(1),)
    assert (run_of(held).epoch, run_of(held).resumes) == (1, 0)


async def test_deaths_are_counted_per_run_and_anew_after_progress() -> None:
    """Of each run that a lapsed engine held; that a call is made again or time was lost is no
    progress.
    """
    two = await Two().joined()
    run = Run("a")
    await two.stores[0].submit(run.open())
    counted: list[int] = []
    for by, writes in ((0, ""), (1, ""), (0, "note"), (1, ""), (0, "lost")):
        epoch, records = len(counted) + 1, ()
        if writes == "note":
            records = (run.note(),)
        elif writes == "lost":
            records = (
                run.write(RecordKind.RESUMED, "lost", ResumedBody(by="", why="x", lost_us=1)),
            )
        await two.stores[by].submit(
            Append(
                run="a", epoch=epoch, records=records, status=Status.RUNNING if epoch == 1 else None
            )
        )
        await two.lapses(by)
        ((held,),) = (await two.hold(1 - by),)
        counted.append(run_of(held).resumes)
        two.leases[by] = await two.stores[by].join("test")
    assert counted == [1, 2, 1, 2, 3]


async def test_time_without_a_living_engine_is_the_runs_loss() -> None:
    """From the last beat of the one that held it until it is taken; of one that waits, or that was
    let go of, none.
    """
    two = await Two().joined()
    runs = [Run("running"), Run("waiting"), Run("free")]
    for run in runs:
        await two.stores[0].submit(run.open())
    await two.stores[0].submit(runs[0].step(status=Status.RUNNING))
    await two.stores[0].submit(runs[1].suspend(0, wake_at=1))
    await two.stores[0].release(two.leases[0], ["free"])
    two.at += 10
    await two.stores[0].beat(two.leases[0], Beat(at=two.at))
    await two.lapses()
    found = {held.id: held.lost for held in await two.hold(1)}
    assert found == {"running": (Pause(1010, two.at),), "waiting": (), "free": ()}


async def test_a_pause_of_one_engine_is_none_while_another_is_at_work() -> None:
    """Where nobody was, it is told to whoever joins later; and so is since when nobody has been at
    work.
    """
    two = await Two().joined()
    assert [(lease.last_beat, lease.alone) for lease in two.leases] == [
        (None, False),
        (None, False),
    ]
    await two.guest.submit(Run("a").open())
    two.at += 50
    for by in (1, 0):
        await two.stores[by].beat(
            two.leases[by], Beat(at=two.at, pauses=(Pause(two.at - 50 + by, two.at),))
        )
    assert (await two.guest.join("test")).pauses == (Pause(1001, 1050),)
    for store in (*two.stores, two.guest):
        store.close()
    two.at += 7
    assert (await MemoryStore(two.shared).join("test")).last_beat == 1050


async def test_an_engine_that_closes_is_none_any_more() -> None:
    """Its runs need not wait until its lease lapses; each number is given once."""
    two = await Two().joined()
    await two.stores[0].submit(Run("a").open())
    two.stores[0].close()
    assert [held.id for held in await two.hold(1)] == ["a"]
    numbers = [
        two.leases[1].engine,
        *[(await MemoryStore(two.shared).join("test")).engine for _ in range(3)],
    ]
    assert all(one < other for one, other in pairwise(numbers))
