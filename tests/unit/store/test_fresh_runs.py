"""A run that was just opened is known as it was written, until anything has happened to it."""

from __future__ import annotations

import pytest

from ordain.journal.records import PAYLOAD_BYTES
from ordain.ports.leases import Lease
from ordain.ports.store import Append, Operation
from ordain.store.fresh_runs import KEPT
from ordain.store.leases import SqliteLeases
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import KEY, Run


def opened(holder: str | None = "test") -> SqliteStore:
    """A store in memory."""
    return SqliteStore(None, StoreOptions(holder=holder, lock=False))


async def test_it_is_what_is_read() -> None:
    """A root, and a child below it; each is asked for once, and what lies deeper is read."""
    store = opened()
    root = Run("root")
    child = Run("child", parent=root, addr=2, index=3)
    await store.submit(root.open())
    await store.submit(Append(run="root", records=(root.note(),), writes=(child.new,), epoch=1))
    assert store.fresh.taken(store.query, "root") is None  # it has gone on
    assert store.fresh.taken(store.query, "child") == store.stored("child")
    assert store.fresh.taken(store.query, "child") is None
    other = Run("other", given="x" * 2000)
    await store.submit(other.open())
    assert store.fresh.taken(store.query, "other") == store.stored("other")
    store.close()


async def test_an_engine_holds_it_without_reading_it() -> None:
    """With one statement, as it would have it by reading; another that lies there it reads."""
    store = opened()
    await store.submit(Run("one").open())
    await store.submit(Run("two").open())
    leases, lease = SqliteLeases(store, lambda: 1), Lease(engine=store.engine)
    asked: list[str] = []
    store.reading.set_trace_callback(asked.append)
    (held,) = await leases.hold(lease, limit=1, flows=None, only=("one",))
    store.reading.set_trace_callback(None)
    assert len(asked) == 1
    assert held.run == store.stored("one")
    await store.submit(Run("two").post())
    (held,) = await leases.hold(lease, limit=1, flows=None, only=("two",))
    assert held.run == store.stored("two")
    assert len(held.mail) == 1
    store.close()


TOUCHED = {
    "a step": "UPDATE runs SET head_seq = 1",
    "its status": "UPDATE runs SET status = 'waiting'",
    "its reason": "UPDATE runs SET reason = 'why'",
    "its session": "UPDATE runs SET session = 'erased'",
    "its holder": "UPDATE runs SET holder = 7, epoch = 2",
    "let go of": "UPDATE runs SET holder = 0",
    "a death": "UPDATE runs SET resumes = 1",
    "a time to wake": "UPDATE runs SET wake_at = 5",
    "its subject's key": "UPDATE subjects SET key = NULL",
    "another key": "UPDATE subjects SET key = x'0102'",
    "its record": "UPDATE sheets SET records = x'90'",
    "no record": "DELETE FROM sheets",
    "no row": "DELETE FROM runs",
}


@pytest.mark.parametrize("statement", TOUCHED.values(), ids=TOUCHED)
async def test_what_was_touched_is_read(statement: str) -> None:
    """Whoever did it, and whatever of it: the row says what holds."""
    store = opened()
    await store.submit(Run("one").open())
    store._db.execute("PRAGMA foreign_keys = OFF")
    store._db.execute(statement)
    assert store.fresh.taken(store.query, "one") is None
    store.close()


async def test_mail_and_erasure_are_read() -> None:
    """Mail that lies there is looked at, and nothing is kept of a person who is erased."""
    store = opened()
    await store.submit(Run("one").open())
    await store.submit(Run("one").post())
    assert store.fresh.taken(store.query, "one") is None
    await store.submit(Run("two").open())
    await store.submit(Operation(name="erase", args={"run": "two", "at": 1}))
    assert not store.fresh._runs
    store.close()


async def test_nothing_is_kept_that_has_to_be_read() -> None:
    """What lies apart, what a guest opens, and no more than so many runs."""
    store = opened()
    await store.submit(Run("large", given="x" * PAYLOAD_BYTES).open())
    assert store.fresh.taken(store.query, "large") is None
    for number in range(KEPT + 3):
        await store.submit(Run(f"run-{number}").open())
    kept = [store.fresh.taken(store.query, f"run-{number}") for number in range(KEPT + 3)]
    assert kept[:3] == [None] * 3
    assert all(kept[3:])
    assert {run.key for run in kept if run is not None} == {KEY}
    store.close()
    guest = opened(holder=None)
    await guest.submit(Run("one").open())
    assert guest.fresh.taken(guest.query, "one") is None
    guest.close()
