"""What SQLite alone promises of who is told that a transcript has grown: what other processes
commit to the file is noticed, and told once.
"""

from __future__ import annotations

import asyncio

from ordain.ports.sessions import EntryKind, NewEntry
from ordain.ports.store import Arrive
from ordain.store.elsewhere import POLL_S, Elsewhere
from tests.contract.conftest import OpenStore
from tests.contract.writing import message

PATIENCE_S = 10


def receive(message_id: str) -> Arrive:
    """A message from which nothing follows."""
    return message(
        NewEntry(
            kind=EntryKind.MESSAGE,
            body=b'{"text":"hi"}',
            size=4,
            at=1,
            message_id=message_id,
            session="s1",
        )
    )


async def test_the_first_entry_of_all_is_heard_from_another_process(
    file_mode: str, reopen: OpenStore
) -> None:
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
    """By its commit; a look at what other processes did tells of theirs alone, of the same session
    too.
    """
    engine = reopen(file_mode)
    heard: list[str] = []
    by_another = asyncio.Event()
    engine.listen(
        lambda change: (
            (heard.extend(session for _, session in change.sessions), by_another.set())
            if change.sessions
            else None
        )
    )
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


async def test_what_is_kept_of_own_entries_is_what_no_look_has_passed(
    file_mode: str, reopen: OpenStore
) -> None:
    """Each look empties it, also where no other process commits for days; an entry of one that does
    is told then, and no earlier one again.
    """
    engine = reopen(file_mode)
    engine.writer.own_entries = set()
    elsewhere = Elsewhere(engine.reading, engine.writer, engine.fresh.forget)
    elsewhere.look()
    for name in ("m1", "m2"):
        await engine.submit(receive(name))
        assert len(engine.writer.own_entries) == 1
        elsewhere.look()
        assert not engine.writer.own_entries
    heard: list[str] = []
    engine.listen(lambda change: heard.extend(session for _, session in change.sessions))
    other = NewEntry(
        kind=EntryKind.MESSAGE, body=b"{}", size=2, at=1, message_id="m3", session="s2"
    )
    await reopen(file_mode, holder=None).submit(message(other))
    elsewhere.look()
    assert heard == ["s2"]
