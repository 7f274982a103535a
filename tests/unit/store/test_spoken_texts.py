"""What prompts were made of last is given again as it stands, and as long as it stands."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from ordain.ports.sessions import EntryText
from ordain.ports.store import Operation
from ordain.store.folder import FILE
from ordain.store.sessions import SqliteSessions
from ordain.store.slices import Slice, SliceUnit
from ordain.store.spoken_texts import KEPT_BYTES, KEPT_SESSIONS
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.ports.test_sessions import entry
from tests.contract.writing import WORKSPACE, message

SWEPT = "UPDATE transcript SET body = NULL WHERE seq = 5"


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    """A store in a folder, whose writing connection reads."""
    return SqliteStore(tmp_path, StoreOptions(holder="test", threaded=False))


async def says(store: SqliteStore, *numbers: int, session: str = "s1", size: int = 0) -> None:
    """Messages with these numbers."""
    for number in numbers:
        said = entry(f"m{number}", session)
        body = b'{"text":"%d%s"}' % (number, b"x" * size)
        await store.submit(message(msgspec.structs.replace(said, body=body)))


async def texts(
    store: SqliteStore, first: int, last: int, session: str = "s1"
) -> Sequence[EntryText]:
    """As a prompt reads them, and surely as they stand."""
    found = await SqliteSessions(store).texts(WORKSPACE, session, first=first, last=last)
    spoken, store.spoken = store.spoken, None
    assert found == await SqliteSessions(store).texts(WORKSPACE, session, first=first, last=last)
    store.spoken = spoken
    return found


def kept(store: SqliteStore) -> dict[tuple[str, str], Sequence[EntryText]]:
    """All that is remembered."""
    assert store.spoken is not None
    return store.spoken._read


async def test_only_what_came_since_is_read_again(store: SqliteStore) -> None:
    """Of a window that moves on; one that begins before it, or ends before its end, is read whole."""
    await says(store, *range(1, 21))
    asked: list[str] = []
    for first, last in ((1, 12), (3, 14), (5, 20), (2, 20), (4, 9), (9, 16), (16, 30)):
        await texts(store, first, last)
    store.reading.set_trace_callback(asked.append)
    await SqliteSessions(store).texts(WORKSPACE, "s1", first=9, last=20)
    store.reading.set_trace_callback(None)
    assert any("BETWEEN 16 AND 20" in one for one in asked)
    assert not any("BETWEEN 9" in one for one in asked)
    store.close()


async def test_nothing_of_it_outlives_what_it_says(store: SqliteStore, tmp_path: Path) -> None:
    """Not an erasure, nor a slice that destroys content, nor what another process does to the file;
    a session that begins under the same id is another.
    """
    await says(store, *range(1, 13))
    held = await texts(store, 1, 12)

    def sweep(db: sqlite3.Connection, _: object) -> Slice:
        db.execute(SWEPT)
        return Slice(rows=1, after=None)

    await store.submit(SliceUnit(sweep, destroys=True))  # type: ignore[arg-type] - as upkeep submits it
    assert not kept(store)
    assert (await texts(store, 1, 12))[4].body is None
    with closing(sqlite3.connect(tmp_path / FILE)) as other:
        other.execute(SWEPT.replace("5", "6"))
        other.commit()
    assert (await texts(store, 1, 12))[5].body is None
    erase = Operation(name="erase", args={"workspace": WORKSPACE, "session": "s1", "at": 1})
    await store.submit(erase)
    assert not kept(store)
    assert not [one for one in await texts(store, 1, 12) if one.body is not None]
    await says(store, *range(21, 33))
    again = await texts(store, 1, 32)
    assert not {one.body for one in held} & {one.body for one in again if one.body is not None}
    store.close()


async def test_what_is_gone_in_the_midst_is_no_error(store: SqliteStore) -> None:
    """Another process takes the session away between a look at the file's version and the reading:
    there is nothing then. And whoever reads may do what they like with the list.
    """
    await says(store, *range(1, 13))
    found = await SqliteSessions(store).texts(WORKSPACE, "s1", first=1, last=12)
    assert store.spoken is not None
    assert isinstance(found, list)
    found.clear()
    place = (WORKSPACE, "s1")
    assert len(kept(store)[place]) == 12
    with store.reads() as db:
        assert not store.spoken.of(db, place, (3, 14), lambda _first, _last: [])
    assert place not in kept(store)
    store.close()


async def test_what_is_kept_is_bounded(store: SqliteStore) -> None:
    """In sessions and in bytes of each: what is longer is read anew each time."""
    for number in range(KEPT_SESSIONS + 3):
        await says(store, *range(1, 9), session=f"s{number}")
        await texts(store, 1, 8, f"s{number}")
    assert len(kept(store)) == KEPT_SESSIONS
    assert (WORKSPACE, "s2") not in kept(store)
    await says(store, *range(1, 11), session="long", size=KEPT_BYTES // 10)
    await texts(store, 1, 10, "long")
    assert (WORKSPACE, "long") not in kept(store)
    store.close()


async def test_who_reads_apart_from_the_writer_keeps_nothing(tmp_path: Path) -> None:
    """Its connection cannot tell its own writer from others."""
    store = SqliteStore(tmp_path, StoreOptions(holder="test", threaded=True))
    assert store.spoken is None
    store.close()
