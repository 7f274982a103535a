"""The behaviour of ``Leases``, the same for every adapter: which runs an engine gets, what it lets
go of, and who may write a run.
"""

from __future__ import annotations

import pytest

from ordain.errors import RunLost
from ordain.journal.records import Status
from ordain.ports.leases import Beat
from ordain.ports.store import Append, StoredRun
from tests.contract.ports.conftest import Ports
from tests.contract.writing import Run

LATER = 1_000_000


async def opened(ports: Ports, *runs: str) -> list[Run]:
    made = [Run(run) for run in runs]
    for run in made:
        await ports.store.submit(run.open())
    return made


async def held(ports: Ports, *only: str, limit: int = 99) -> dict[str, StoredRun]:
    found = await ports.leases.hold(ports.lease, limit=limit, flows=None, only=only)
    assert all(isinstance(one.run, StoredRun) for one in found)
    return {one.id: one.run for one in found if isinstance(one.run, StoredRun)}


async def test_what_an_engine_opens_it_holds(ports: Ports) -> None:
    """In its first epoch, and it is not offered to it again; asked for by name it is there as it
    stands.
    """
    await opened(ports, "a")
    assert await held(ports) == {}
    run = (await held(ports, "a"))["a"]
    assert (run.epoch, run.holder, run.resumes) == (1, ports.lease.engine, 0)


async def test_what_was_let_go_of_is_taken_again_in_the_next_epoch(ports: Ports) -> None:
    """No death is counted, and who held it before writes no more of it."""
    (run,) = await opened(ports, "a")
    await ports.store.submit(run.step(status=Status.RUNNING))
    await ports.leases.release(ports.lease, ["a"])
    taken = (await held(ports))["a"]
    assert (taken.epoch, taken.holder, taken.resumes, taken.status) == (
        2,
        ports.lease.engine,
        0,
        Status.RUNNING,
    )
    with pytest.raises(RunLost):
        await ports.store.submit(run.step())
    await ports.store.submit(Append(run="a", epoch=2, status=Status.READY))


async def test_all_that_an_engine_holds_is_let_go_of(ports: Ports) -> None:
    """What waits too: whoever takes it when it is due counts no death."""
    waiting, running = await opened(ports, "waiting", "running")
    await ports.store.submit(waiting.suspend(0, wake_at=ports.clock.at))
    await ports.store.submit(running.step(status=Status.RUNNING))
    await ports.leases.release(ports.lease)
    assert {run: (one.epoch, one.resumes) for run, one in (await held(ports)).items()} == {
        "waiting": (2, 0),
        "running": (2, 0),
    }


async def test_an_engine_gets_what_has_something_to_do(ports: Ports) -> None:
    """Ready, in the midst of work, or due: no more of them than there are places for. What waits,
    has stopped or has ended is left.
    """
    runs = await opened(ports, "ready", "running", "due", "waiting", "mailed", "stopped", "ended")
    by_id = {run.id: run for run in runs}
    await ports.store.submit(by_id["running"].step(status=Status.RUNNING))
    await ports.store.submit(by_id["due"].suspend(0, wake_at=ports.clock.at - 1))
    await ports.store.submit(by_id["waiting"].suspend(0, wake_at=ports.clock.at + LATER))
    await ports.store.submit(by_id["mailed"].suspend(0, wake_at=ports.clock.at + LATER))
    await ports.store.submit(by_id["mailed"].post(addr=0))
    await ports.store.submit(by_id["stopped"].step(status=Status.FAULTED))
    await ports.store.submit(by_id["ended"].end())
    await ports.leases.release(ports.lease, list(by_id))
    assert await ports.leases.next_due(ports.lease, flows=None) == ports.clock.at - 1
    first = await held(ports, limit=2)
    rest = await held(ports)
    assert len(first) == 2
    assert {*first, *rest} == {"ready", "running", "due", "mailed"}
    assert await ports.leases.next_due(ports.lease, flows=None) == ports.clock.at + LATER
    ports.clock.at += LATER
    assert set(await held(ports)) == {"waiting"}
    assert await ports.leases.next_due(ports.lease, flows=None) is None


async def test_an_engine_is_told_what_it_holds(ports: Ports) -> None:
    """Of what has something to do: whoever was not told that he took hold of it is offered it by
    nobody.
    """
    ready, due, waiting, free = await opened(ports, "ready", "due", "waiting", "free")
    await ports.store.submit(due.suspend(0, wake_at=ports.clock.at - 1))
    await ports.store.submit(waiting.suspend(0, wake_at=ports.clock.at + LATER))
    await ports.leases.release(ports.lease, [ready.id, free.id])
    assert set(await ports.leases.held(ports.lease)) == {"due"}
    await held(ports, "ready", "due")
    assert set(await ports.leases.held(ports.lease)) == {"ready", "due"}
    ports.clock.at += LATER
    assert set(await ports.leases.held(ports.lease)) == {"ready", "due", "waiting"}
    assert set(await held(ports)) == {"free"}


async def test_a_clock_that_was_set_back_brings_moments_nearer(ports: Ports) -> None:
    """By as much as it was set back, those that lay ahead of the clock as it was; what was written
    since stands, and so does what is not waiting.
    """
    before, since = await opened(ports, "before", "since")
    hour, now = 3_600_000_000, ports.clock.at - 3_600_000_000
    await ports.store.submit(before.suspend(0, wake_at=ports.clock.at + 5))
    await ports.store.submit(since.suspend(0, wake_at=now + 7))
    await ports.leases.beat(ports.lease, Beat(at=now, clock_back=now, back_us=hour))
    found = await ports.store.load(["before", "since"])
    assert [one.wake_at for one in found.values() if isinstance(one, StoredRun)] == [
        now + 5,
        now + 7,
    ]


async def test_mail_comes_with_the_run(ports: Ports) -> None:
    """What no record has taken, as it stands when the run is held."""
    (run,) = await opened(ports, "a")
    await ports.store.submit(run.post("one"))
    await ports.store.submit(run.post("two"))
    (one,) = await ports.leases.hold(ports.lease, limit=1, flows=None, only=("a",))
    assert [mail.key for mail in one.mail] == ["one", "two"]


async def test_by_name_a_run_is_shown_however_it_stands(ports: Ports) -> None:
    """One that has ended is in nobody's hands, one that does not exist is left out."""
    over, stopped = await opened(ports, "over", "stopped")
    await ports.store.submit(over.end())
    await ports.store.submit(stopped.step(status=Status.FAULTED))
    await ports.leases.release(ports.lease, ["over", "stopped"])
    found = await held(ports, "over", "stopped", "none")
    assert {run: (one.status, one.epoch) for run, one in found.items()} == {
        "over": (Status.COMPLETED, 1),
        "stopped": (Status.FAULTED, 2),
    }


async def test_a_beat_may_be_told_twice(ports: Ports) -> None:
    """Nobody knows whether one was written whose answer was lost."""
    for _ in range(2):
        await ports.leases.beat(ports.lease, Beat(at=ports.clock.at))
