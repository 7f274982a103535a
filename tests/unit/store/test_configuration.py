"""That nothing is configured is asked of the storage once in a turn of the loop, and no longer."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Arrive
from ordain.ports.writes import ConfigVersion
from ordain.store.configuration import SqliteConfiguration
from ordain.store.sqlite import SqliteStore, StoreOptions

KEY = ConfigKey(place="w", resource="policy", id="profile-pin:workspace:w")
RECORD = ConfigRecord(key=KEY, version=1, config=b"{}", by="test", at=1)
WRITTEN = Arrive(
    workspace="w",
    shared=Shared(reads=(), decide=lambda: Ruling(writes=(ConfigVersion(record=RECORD),))),
)


@pytest.mark.parametrize("threaded", [False, True])
def test_what_is_written_holds_at_once(tmp_path: Path, threaded: bool) -> None:
    """By whomever: what this process commits from the commit on, what another one does from the
    next turn on.
    """

    async def configured(written: SqliteStore, store: SqliteStore) -> None:
        records = SqliteConfiguration(store)
        for _ in range(3):
            assert await records.current((KEY,)) == []
        await written.submit(WRITTEN)
        assert await records.current((KEY,)) == [RECORD]

    store = SqliteStore(tmp_path / "own", StoreOptions(holder="test", threaded=threaded))
    asyncio.run(configured(store, store))
    store.close()
    store = SqliteStore(tmp_path / "other", StoreOptions(holder="test", threaded=threaded))
    guest = SqliteStore(tmp_path / "other")
    asyncio.run(configured(guest, store))
    guest.close()
    store.close()


def test_one_turn_asks_once(tmp_path: Path) -> None:
    """However many calls there are in it."""
    store = SqliteStore(tmp_path, StoreOptions(holder="test"))
    records, asked = SqliteConfiguration(store), list[str]()
    store.reading.set_trace_callback(asked.append)

    async def calls() -> None:
        for _ in range(20):
            assert await records.current((KEY,)) == []
        assert len(asked) == 1
        await asyncio.sleep(0)
        await records.current((KEY,))
        assert len(asked) == 2

    asyncio.run(calls())
    store.close()


def test_a_loop_that_was_broken_off_leaves_nothing_known(tmp_path: Path) -> None:
    """What it asked is asked again, and without any loop each time."""
    store = SqliteStore(tmp_path, StoreOptions(holder="test"))
    guest, records = SqliteStore(tmp_path), SqliteConfiguration(store)

    async def broken() -> None:
        assert await records.current((KEY,)) == []
        raise KeyboardInterrupt

    loop = asyncio.new_event_loop()
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(broken())
    loop.close()
    with pytest.raises(StopIteration) as asked:
        records.current((KEY,)).send(None)
    assert asked.value.value == []

    async def written() -> None:
        await guest.submit(WRITTEN)

    asyncio.run(written())
    with pytest.raises(StopIteration) as asked:
        records.current((KEY,)).send(None)
    assert asked.value.value == [RECORD]
    guest.close()
    store.close()
