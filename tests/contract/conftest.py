"""Every adapter and mode of the journal store, opened for one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ordain.store.sqlite import SqliteStore, StoreOptions

OpenStore = Callable[..., SqliteStore]


@pytest.fixture(params=["file", "threaded", "memory"])
def mode(request: pytest.FixtureRequest) -> str:
    """SQLite in a file, written on the loop or in a thread, and in memory."""
    return request.param


@pytest.fixture(params=["file", "threaded"])
def file_mode(request: pytest.FixtureRequest) -> str:
    """The two modes with a file."""
    return request.param


@pytest.fixture
def reopen(tmp_path: Path) -> Iterator[OpenStore]:
    """Open the data folder in a mode; whatever is open at the end is closed."""
    opened: list[SqliteStore] = []

    def opening(mode: str, **options: object) -> SqliteStore:
        given = {"holder": "test", "lock": False, **options}
        folder = None if mode == "memory" else tmp_path / "data"
        opened.append(SqliteStore(folder, StoreOptions(threaded=mode == "threaded", **given)))  # type: ignore[arg-type]
        return opened[-1]

    yield opening
    for store in opened:
        store.close()


@pytest.fixture
def store(mode: str, reopen: OpenStore) -> SqliteStore:
    return reopen(mode)


@pytest.fixture
def file_store(file_mode: str, reopen: OpenStore) -> SqliteStore:
    return reopen(file_mode)
