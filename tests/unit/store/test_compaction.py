"""Compacting: an old store becomes as small as what stands in it and gives room back from then on; refused where it must not be done."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.store.compaction import Compacted, Need, compact
from ordain.store.folder import FILE, LOCK
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run
from tests.unit.store.many import filled

ENGINE = StoreOptions(holder="engine", threaded=False)


def compacted(folder: Path) -> tuple[Compacted, list[Need]]:
    told = list[Need]()
    return compact(folder, told.append, lambda *_: None), told


def left(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir()}


def killed(folder: Path, after_s: float) -> None:
    """Compact in another process, and kill that so long after it began."""
    code = (
        "import pathlib, sys\nfrom ordain.store.compaction import compact\nprint('begun', flush=True)\n"
        "compact(pathlib.Path(sys.argv[1]), lambda _: None, lambda *_: None)\n"
    )
    with subprocess.Popen((sys.executable, "-c", code, str(folder)), stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)


async def an_older(folder: Path, *, runs: int = 400, size: int = 5000) -> Run:
    """A folder as an older build left it, half of whose content is erased; with a run of its own."""
    store = SqliteStore(folder, ENGINE)
    run = Run("a")
    await store.submit(run.open())
    store.close()
    with sqlite3.connect(folder / FILE, isolation_level=None) as db:
        filled(db, runs=runs, records=1, size=size, first=1000, subject=77)
        db.execute("PRAGMA journal_mode=DELETE")
        db.execute("PRAGMA auto_vacuum=NONE")
        db.execute("VACUUM")
        db.execute("UPDATE payloads SET bytes = NULL WHERE id % 2")
        assert db.execute("PRAGMA auto_vacuum").fetchone() == (0,)
    db.close()
    return run


async def test_an_old_store_becomes_small_and_stays_what_it_was(tmp_path: Path) -> None:
    """Half of it goes; its runs are as they were, and from now on it gives room back."""
    run = await an_older(tmp_path)
    made, (need,) = compacted(tmp_path)
    assert made.before == need.size
    assert made.after < 0.7 * made.before
    assert need.used < need.size < need.room
    assert left(tmp_path) == {FILE, LOCK}
    store = SqliteStore(tmp_path, ENGINE)
    stored = store.stored("a")
    assert stored is not None
    assert list(stored.records) == run.records
    assert store.query("PRAGMA auto_vacuum") == [(2,)]
    assert store.query("PRAGMA integrity_check") == [("ok",)]
    store.close()


async def test_a_new_store_gives_room_back_by_itself(tmp_path: Path) -> None:
    """It is made so; an old one is not changed by being opened."""
    SqliteStore(tmp_path / "new", ENGINE).close()
    await an_older(tmp_path / "old")
    for name, mode in (("new", 2), ("old", 0)):
        store = SqliteStore(tmp_path / name, ENGINE)
        assert store.query("PRAGMA auto_vacuum") == [(mode,)]
        store.close()


async def test_nobody_compacts_what_an_engine_serves(tmp_path: Path) -> None:
    """The folder is held; the refusal says by whom."""
    store = SqliteStore(tmp_path, ENGINE)
    with pytest.raises(StorageUnavailable) as refused:
        compacted(tmp_path)
    assert refused.value.code == "lock_held"
    store.close()


async def test_without_room_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is asked first; what it takes was told by then."""
    await an_older(tmp_path)
    before = (tmp_path / FILE).stat().st_size
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, 1000))
    with pytest.raises(StorageUnavailable) as refused:
        compacted(tmp_path)
    assert refused.value.code == "no_room"
    assert (tmp_path / FILE).stat().st_size == before


async def test_an_older_schema_is_not_compacted(tmp_path: Path) -> None:
    """It is brought on first, by being opened."""
    SqliteStore(tmp_path, ENGINE).close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("PRAGMA user_version = 6")
    db.close()
    with pytest.raises(ConfigurationError) as refused:
        compacted(tmp_path)
    assert refused.value.code == "older_schema"


@pytest.mark.parametrize("after_s", [0.02, 0.08, 0.2, 0.4])
async def test_a_kill_leaves_the_store_as_it_was(tmp_path: Path, after_s: float) -> None:
    """Whenever it comes: everything is there, the database is sound, and nothing of the copy is left in its way."""
    run = await an_older(tmp_path, runs=4000)
    killed(tmp_path, after_s)
    store = SqliteStore(tmp_path, ENGINE)
    stored = store.stored("a")
    assert stored is not None
    assert list(stored.records) == run.records
    assert store.query("SELECT count(*) FROM runs") == [(4001,)]
    assert store.query("PRAGMA integrity_check") == [("ok",)]
    store.close()
    made, _ = compacted(tmp_path)
    assert made.after < made.before * 1.01
