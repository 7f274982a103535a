"""Compacting: an old store becomes as small as what stands in it and gives room back from then on;
refused where it must not be done.
"""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import namedtuple
from contextlib import closing
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.journal.codec import verify
from ordain.ports.store import Append, Operation, Outcome
from ordain.ports.upkeep import OldContent
from ordain.store.compaction import Compacted, Need, compact
from ordain.store.folder import FILE, LOCK
from ordain.store.schema import make
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import SqliteUpkeep
from tests.contract.writing import Run
from tests.shapes.stored_journal import as_rows
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
        "import pathlib, sys\nfrom ordain.store.compaction import compact\n"
        "print('begun', flush=True)\n"
        "compact(pathlib.Path(sys.argv[1]), lambda _: None, lambda *_: None)\n"
    )
    with subprocess.Popen(
        (sys.executable, "-c", code, str(folder)), stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after_s)
        process.send_signal(signal.SIGKILL)


async def an_older(folder: Path, *, runs: int = 400, size: int = 5000) -> Run:
    """A folder as an older build left it, half of whose content is erased; with a run of its
    own.
    """
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


async def test_without_room_nothing_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        make(db, 6)
    with pytest.raises(ConfigurationError) as refused:
        compacted(tmp_path)
    assert refused.value.code == "older_schema"


@pytest.mark.parametrize("after_s", [0.02, 0.08, 0.2, 0.4])
async def test_a_kill_leaves_the_store_as_it_was(tmp_path: Path, after_s: float) -> None:
    """Whenever it comes: everything is there, the database is sound, and nothing of the copy is
    left in its way.
    """
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


def rows_and_sheets(folder: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(folder / FILE)) as db:
        return tuple(
            db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("records", "sheets")
        )  # type: ignore[return-value]


async def an_older_journal(folder: Path) -> list[Run]:
    """Runs that an earlier build stored a row for each record of: one settled, one that goes on,
    one whose result was swept, one that is erased.
    """
    store, made = SqliteStore(folder, ENGINE), [Run(name) for name in "abcd"]
    for run in made:
        await store.submit(run.open())
        call = (
            run.intent("model_call", "x"),
            run.observation("model_call", "y" * 5000),
            run.note(),
            run.intent("theirs"),
        )
        await store.submit(Append(run=run.id, epoch=1, records=call))
        if run.id != "b":
            await store.submit(run.end("z" * 5000))
    as_rows(store._db)
    await store.submit(Operation(name="erase", args={"run": "d", "at": 1}))
    upkeep = SqliteUpkeep(store)
    (subject,) = store.query("SELECT subject FROM runs WHERE id = 'd'")[0]
    await upkeep.erase(subject, None)
    store._db.execute("UPDATE runs SET ended_at = 1 WHERE id = 'c'")
    await upkeep.sweep(OldContent(content_class="result", before=2, at=3), None)
    store.close()
    return made


async def test_rows_of_earlier_builds_become_sheets(tmp_path: Path) -> None:
    """Every run is what it was: whole, going on, without its result, erased; and content that stood
    apart stands once, to be erased.
    """
    made = await an_older_journal(tmp_path)
    store = SqliteStore(tmp_path, ENGINE)
    before = {run.id: store.stored(run.id) for run in made}
    store.close()
    assert rows_and_sheets(tmp_path)[1] == 0
    compacted(tmp_path)
    assert rows_and_sheets(tmp_path)[0] == 0
    store = SqliteStore(tmp_path, ENGINE)
    for run in made:
        found, was = store.stored(run.id), before[run.id]
        assert found is not None
        assert was is not None
        assert found.records == was.records
        verify(run.id, found.key, found.records)
    assert before["c"].records[-1].body != made[2].records[-1].body  # type: ignore[union-attr]
    (_, going_on, _, _) = made
    assert await store.submit(going_on.end("done")) == Outcome(run="b")
    for run in made:
        begun = await store.submit(Operation(name="erase", args={"run": run.id, "at": 9}))
        await SqliteUpkeep(store).erase(begun.seq, None)
    assert "zzzz" not in str(store.query("SELECT bytes FROM payloads"))
    assert "yyyy" not in str(store.query("SELECT bytes FROM payloads"))
    store.close()


async def test_what_is_damaged_is_left_as_it_is(tmp_path: Path) -> None:
    """A run whose rows are none, do not follow one another or lack a payload stays as it was; the
    others are rewritten.
    """
    await an_older_journal(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
        db.execute(
            "UPDATE records SET kind = 'nonsense' WHERE seq = 1 AND run = (SELECT no FROM runs "
            "WHERE id = 'a')"
        )
        db.execute(
            "DELETE FROM records WHERE seq = 1 AND run = (SELECT no FROM runs WHERE id = 'b')"
        )
        db.execute(
            "UPDATE records SET payload = 999 WHERE payload IS NOT NULL AND run = (SELECT no FROM "
            "runs WHERE id = 'c')"
        )
        before = db.execute(
            "SELECT * FROM records WHERE run <> (SELECT no FROM runs WHERE id = 'd') ORDER BY pos"
        ).fetchall()
    compacted(tmp_path)
    with closing(sqlite3.connect(tmp_path / FILE)) as db:
        assert db.execute("SELECT * FROM records ORDER BY pos").fetchall() == before
        assert db.execute(
            "SELECT DISTINCT r.id FROM sheets s JOIN runs r ON r.no = s.run"
        ).fetchall() == [("d",)]
