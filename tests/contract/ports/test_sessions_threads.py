"""The threads of a session as its readers get them."""

from __future__ import annotations

import msgspec

from ordain.ports.sessions import EntryKind, NewEntry, Placed, ThreadChange
from ordain.ports.store import Append, JournalStore
from ordain.ports.writes import NewPlace
from tests.contract.ports.conftest import Ports
from tests.contract.writing import WORKSPACE, Run, message

MANY = 250


async def many_threads(store: JournalStore) -> None:
    """A session whose first thread has a live turn, and many threads that were touched since."""
    run = Run("turn")
    new = msgspec.structs.replace(
        run.new, started=msgspec.structs.replace(run.new.started, session="s1", thread=1)
    )
    opened = ThreadChange(id=1, session="s1", run="turn", intent="the first", at=1)
    placed = Placed(attached="new_request", reason="test", decision=b"{}", thread=1, serves="turn")
    said = NewEntry(kind=EntryKind.MESSAGE, body=b"{}", size=2, at=1, message_id="m1", session="s1")
    await store.submit(
        message(said, opened, new, NewPlace(run="turn", session="s1", thread=1), placed=placed)
    )
    later = tuple(
        ThreadChange(id=number, session="s1", run="turn", at=number) for number in range(2, MANY)
    )
    await store.submit(Append(run="turn", epoch=1, writes=later))


async def test_a_live_thread_is_listed_however_old_it_is(ports: Ports) -> None:
    """Live threads come first, also where more than are asked for were touched since; then the
    latest, in order.
    """
    await many_threads(ports.store)
    for limit in (1, 6, 200):
        found = await ports.sessions.threads(WORKSPACE, "s1", limit=limit)
        assert (found[0].id, found[0].turns, found[0].intent) == (1, ("turn",), "the first")
        assert [thread.id for thread in found[1:]] == list(range(MANY - 1, MANY - 1 - limit, -1))


async def test_a_session_that_is_not_there_has_no_threads(ports: Ports) -> None:
    """Nothing is found of an unknown session, nor of the same one in another workspace."""
    await many_threads(ports.store)
    assert list(await ports.sessions.threads(WORKSPACE, "s2", limit=6)) == []
    assert list(await ports.sessions.threads("another", "s1", limit=6)) == []
