"""Who is told that a transcript has grown: every commit that added to it, of this process or another, and nothing that was undone."""

from __future__ import annotations

import asyncio

import pytest

from ordain.errors import JournalCorrupt
from ordain.ports.sessions import EntryKind, NewEntry
from ordain.ports.store import Append, Arrive
from ordain.store.elsewhere import POLL_S
from ordain.store.sqlite import SqliteStore
from tests.contract.conftest import OpenStore
from tests.contract.writing import WORKSPACE, Run, message

PATIENCE_S = 10


def entry(message_id: str, session: str = "s1", kind: EntryKind = EntryKind.MESSAGE) -> NewEntry:
    return NewEntry(kind=kind, body=b'{"text":"hi"}', size=4, at=1, message_id=message_id, session=session)


def receive(message_id: str) -> Arrive:
    """A message from which nothing follows."""
    return message(entry(message_id))


async def test_what_was_rolled_back_is_announced_to_nobody(store: SqliteStore) -> None:
    """A unit that fails after it had added to a transcript leaves no word of it; what is added later is told."""
    run = Run("a")
    await store.submit(run.open())
    await store.submit(receive("m1"))
    heard: list[tuple[str, str]] = []
    store.listen(lambda change: heard.extend(change.sessions))
    said = entry("said", kind=EntryKind.SAID)
    with pytest.raises(JournalCorrupt):
        await store.submit(Append(run="a", epoch=1, writes=(said, entry("stray", session="nowhere"))))
    assert heard == []
    await store.submit(Append(run="a", epoch=1, writes=(said,)))
    assert heard == [(WORKSPACE, "s1")]


async def test_the_first_entry_of_all_is_heard_from_another_process(file_mode: str, reopen: OpenStore) -> None:
    """A guest's message is announced also where no transcript held anything before."""
    engine = reopen(file_mode)
    heard = asyncio.Event()
    engine.listen(lambda change: heard.set() if change.sessions else None)
    watching = asyncio.create_task(engine.poll())
    try:
        await asyncio.sleep(0)
        await reopen(file_mode, holder=None).submit(receive("m1"))
        await asyncio.wait_for(heard.wait(), PATIENCE_S)
    finally:
        watching.cancel()


async def test_what_was_committed_here_is_announced_once(file_mode: str, reopen: OpenStore) -> None:
    """By its commit; a look at what other processes did tells of theirs alone, of the same session too."""
    engine = reopen(file_mode)
    heard: list[str] = []
    by_another = asyncio.Event()
    engine.listen(lambda change: (heard.extend(session for _, session in change.sessions), by_another.set()) if change.sessions else None)
    watching = asyncio.create_task(engine.poll())
    try:
        await asyncio.sleep(0)
        for name in ("m1", "m2"):
            await engine.submit(receive(name))
        assert heard == ["s1", "s1"]
        by_another.clear()
        await asyncio.sleep(3 * POLL_S)
        assert heard == ["s1", "s1"]
        await reopen(file_mode, holder=None).submit(receive("m3"))
        await asyncio.wait_for(by_another.wait(), PATIENCE_S)
        assert heard == ["s1", "s1", "s1"]
    finally:
        watching.cancel()
