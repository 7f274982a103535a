"""Every store there is, by its ports alone: journal store, leases and sessions over one storage,
under an engine that has joined it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from ordain.ports.configuration import Configuration
from ordain.ports.leases import Lease, Leases
from ordain.ports.sessions import Sessions
from ordain.ports.store import JournalStore
from ordain.ports.writes import RowTable
from ordain.store.configuration import SqliteConfiguration
from ordain.store.leases import SqliteLeases
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.testing import MemoryConfiguration, MemorySessions, MemoryStore, SharedMemory
from tests.at_once import at_once

ADAPTERS = ["file", "threaded", "in-memory", "memory"]
"""SQLite in a file, written on the loop or in a thread, and in memory; and the memory that ships
with the doubles.
"""
IN_MEMORY = ["in-memory", "memory"]


class Clock:
    """The store's, set by hand."""

    at = 10**15

    def now(self) -> int:
        return self.at


@dataclass(frozen=True)
class Ports:
    """What stands on one storage."""

    store: JournalStore
    leases: Leases
    sessions: Sessions
    configuration: Configuration
    lease: Lease
    clock: Clock


BOOKS = RowTable(name="books", key=("shelf", "title"), columns=("copies", "place"))
OpenPorts = Callable[[], AbstractContextManager[Ports]]


@contextmanager
def opened(adapter: str, folder: Path | None = None) -> Generator[Ports]:
    """One store of this sort, closed at the end; those in a file need a folder."""
    clock = Clock()
    if adapter == "memory":
        shared = SharedMemory(now=clock.now, tables=(BOOKS,))
        store = MemoryStore(shared)
        leases, sessions, configuration = store, MemorySessions(shared), MemoryConfiguration(shared)
    else:
        options = StoreOptions(
            holder="test", lock=False, threaded=adapter == "threaded", tables=(BOOKS,)
        )
        store = SqliteStore(None if adapter == "in-memory" else folder, options)
        leases, sessions, configuration = (
            SqliteLeases(store, clock.now),
            SqliteSessions(store),
            SqliteConfiguration(store),
        )
    try:
        yield Ports(store, leases, sessions, configuration, at_once(leases.join("test")), clock)
    finally:
        store.close()


@pytest.fixture(params=ADAPTERS)
def ports(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ports]:
    with opened(request.param, tmp_path / "data") as made:
        yield made


@pytest.fixture
def store(ports: Ports) -> JournalStore:
    return ports.store


@pytest.fixture(params=IN_MEMORY)
def in_memory(request: pytest.FixtureRequest) -> OpenPorts:
    """For properties, which open one for each example: SQLite in memory, and the memory."""
    return lambda: opened(request.param)
