"""What SQLite alone promises of leases: its folder has one engine at a time, and what that leaves
behind is read as it was written by the one after it.

How every store's leases behave is said in ``ports/test_leases.py``, and what several engines
promise each other in ``holders``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ordain.errors import EngineLost
from ordain.journal.lost_time import Pause
from ordain.ports.leases import Beat, Lease
from ordain.store.leases import SqliteLeases
from ordain.store.sqlite import SqliteStore, StoreOptions


async def joined(store: SqliteStore) -> tuple[SqliteLeases, Lease]:
    leases = SqliteLeases(store, lambda: 0)
    return leases, await leases.join("test")


async def test_beats_and_pauses_outlive_their_engine(tmp_path: Path) -> None:
    """The last beat counts; pauses come in order, each once; what a clock that was set back makes
    unknown is gone.
    """
    said = (
        Beat(at=10),
        Beat(at=20, pauses=(Pause(20, 80), Pause(15, 70), Pause(60, 90))),
        Beat(at=20, pauses=(Pause(60, 90),)),  # told again: nobody knew that it was written
        Beat(at=60, clock_back=60),
        # nothing is unsettled that could ask for what was before
        Beat(at=1010, pauses=(Pause(1000, 1001),)),
    )
    found = [
        (None, ()),
        (10, ()),
        (20, (Pause(20, 80), Pause(15, 70), Pause(60, 90))),
        (20, (Pause(20, 80), Pause(15, 70), Pause(60, 90))),
        (60, (Pause(20, 60), Pause(15, 60))),
        (1010, (Pause(1000, 1001),)),
    ]
    for index, expected in enumerate(found):
        store = SqliteStore(tmp_path, StoreOptions(holder=str(index)))
        leases, lease = await joined(store)
        assert (lease.engine, lease.alone, lease.last_beat, lease.pauses) == (
            index + 1,
            True,
            *expected,
        )
        if index < len(said):
            await leases.beat(lease, said[index])
        store.close()


async def test_an_engine_that_lost_the_store_does_not_come_back(tmp_path: Path) -> None:
    """It writes nothing more, and gets no other number in the same process; nor does a guest get
    one.
    """
    first = SqliteStore(tmp_path, StoreOptions(holder="first", lock=False))
    leases, lease = await joined(first)
    second = SqliteStore(tmp_path, StoreOptions(holder="second", lock=False))
    with pytest.raises(EngineLost):
        await leases.beat(lease, Beat(at=1))
    with pytest.raises(EngineLost):
        await leases.join("test")
    guest = SqliteStore(tmp_path)
    with pytest.raises(EngineLost):
        await joined(guest)
    for store in (first, second, guest):
        store.close()
