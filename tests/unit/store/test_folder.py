"""What the data folder's own files say: who holds it, that it was used, and that they are not the
files any more that were opened.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ordain.errors import StorageUnavailable
from ordain.store import folder_lock as lock_module
from ordain.store.compaction import compact
from ordain.store.folder import (
    FILE,
    LOCK,
    SERVER_FILE,
    WAL,
    FileWatch,
    connect,
    snapshot,
    why_not,
)
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.writing import Run

ENGINE = StoreOptions(holder="engine", threaded=False)


def refusal(folder: Path, options: StoreOptions = ENGINE) -> StorageUnavailable:
    with pytest.raises(StorageUnavailable) as refused:
        SqliteStore(folder, options)
    return refused.value


def test_a_held_lock_names_process_and_address(tmp_path: Path) -> None:
    """Whoever finds the folder held is told by whom, and where that listens, if it does; afterwards
    it is free.
    """
    store = SqliteStore(tmp_path, ENGINE)
    error = refusal(tmp_path)
    assert error.code == "lock_held"
    assert f"process {os.getpid()}" in error.message
    store.tell_address("http://127.0.0.1:8090")
    assert f"process {os.getpid()}, at http://127.0.0.1:8090" in refusal(tmp_path).message
    store.close()
    again = SqliteStore(tmp_path, ENGINE)
    assert "8090" not in refusal(tmp_path).message
    again.close()


@pytest.mark.parametrize("options", [ENGINE, StoreOptions()], ids=["engine", "guest"])
@pytest.mark.parametrize("gone", [False, True], ids=["empty", "gone"])
@pytest.mark.parametrize("mark", [LOCK, WAL, SERVER_FILE])
def test_a_database_that_was_lost_is_not_made_anew(
    tmp_path: Path, mark: str, gone: bool, options: StoreOptions
) -> None:
    """Beside what says that the folder was used, an empty database or none is refused, and nothing
    is changed.
    """
    (tmp_path / mark).write_bytes(b"process 1\n")
    if not gone:
        (tmp_path / FILE).touch()
    error = refusal(tmp_path, options)
    assert error.code == "storage_lost"
    assert str(tmp_path / FILE) in error.message
    assert str(tmp_path / mark) in error.message
    assert (
        [(tmp_path / name).read_bytes() for name in (FILE, mark) if (tmp_path / name).exists()]
        == [b"process 1\n"]
        if gone
        else [b"", b"process 1\n"]
    )


def test_a_first_start_that_was_cut_off_begins_again(tmp_path: Path) -> None:
    """An empty database beside an empty lock is one in which nothing ever was."""
    (tmp_path / FILE).touch()
    (tmp_path / LOCK).touch()
    SqliteStore(tmp_path, ENGINE).close()
    (tmp_path / FILE).write_bytes(b"")
    assert refusal(tmp_path).code == "storage_lost"


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """A folder that other users may enter."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o777)
        yield Path(made)


@pytest.mark.parametrize("name", [FILE, WAL, LOCK])
def test_a_file_that_may_not_be_read_is_named(open_to_all: Path, name: str) -> None:
    """The error says which of the folder's files it is."""
    folder = open_to_all / "data"
    store = SqliteStore(folder, ENGINE)
    folder.chmod(0o777)
    for file in folder.iterdir():
        file.chmod(0o666)
    (folder / name).chmod(0)
    code = (
        "import os, sys, pathlib\n"
        "from ordain.errors import StorageUnavailable\n"
        "from ordain.store.sqlite import SqliteStore, StoreOptions\n"
        "if os.getuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "try: SqliteStore(pathlib.Path(sys.argv[1]), StoreOptions(holder='other', "
        "lock=sys.argv[2] == 'ordain.lock'))\n"
        "except StorageUnavailable as error: print(error.message)\n"
    )
    ended = subprocess.run(
        (sys.executable, "-c", code, str(folder), name), capture_output=True, text=True, check=False
    )
    store.close()
    if "PermissionError" in ended.stderr or "No module" in ended.stderr:
        pytest.skip("another user may not run this interpreter here")
    assert str(folder / name) in ended.stdout, ended


async def test_a_log_that_is_taken_away_is_noticed_and_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What was acknowledged is saved into the database, it is said once and aloud, and every later
    write is refused.
    """
    store = SqliteStore(tmp_path, ENGINE)
    run = Run("a")
    await store.submit(run.open())
    (tmp_path / WAL).unlink()
    await store.submit(run.step())
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="taken away"):
            store.check_files()
    assert len([record for record in caplog.records if "was saved" in record.message]) == 1
    kept = len(run.records)
    with pytest.raises(StorageUnavailable, match="taken away"):
        await store.submit(run.step())
    store.close()
    again = SqliteStore(tmp_path, ENGINE)
    stored = again.stored("a")
    assert stored is not None
    assert len(stored.records) == kept
    again.close()


@pytest.mark.parametrize("replaced", [False, True])
async def test_a_database_that_is_taken_away_is_noticed(tmp_path: Path, replaced: bool) -> None:
    """Gone or another file of the same name: nothing is written any more, and no write is
    acknowledged.
    """
    store = SqliteStore(tmp_path, ENGINE)
    run = Run("a")
    await store.submit(run.open())
    (tmp_path / FILE).rename(tmp_path / "moved")
    if replaced:
        (tmp_path / FILE).write_bytes((tmp_path / "moved").read_bytes())
    with pytest.raises(StorageUnavailable, match="taken away"):
        store.check_files()
    with pytest.raises(StorageUnavailable):
        await store.submit(run.step())
    store.close()


def test_a_folder_in_use_is_what_it_was(tmp_path: Path) -> None:
    """Files that nobody touched are never taken for others, and the lock is plain text."""
    store = SqliteStore(tmp_path, ENGINE)
    for _ in range(3):
        store.check_files()
    assert (tmp_path / LOCK).read_text() == f"process {os.getpid()}\n\nopen\n"
    store.close()


def killed(folder: Path) -> None:
    """An engine that makes a run durable and ends without closing anything."""
    code = (
        "import asyncio, os, sys; from pathlib import Path; from tests.contract.writing "
        "import Run\n"
        "from ordain.store.sqlite import SqliteStore, StoreOptions\n"
        "store = SqliteStore(Path(sys.argv[1]), StoreOptions(holder='engine', threaded=False))\n"
        "async def main(): await store.submit(Run('r1').open())\n"
        "asyncio.run(main()); os._exit(9)"
    )
    ended = subprocess.run(
        (sys.executable, "-c", code, str(folder)),
        cwd=Path(__file__).parents[3],
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 9, ended.stderr.decode()


def said(caplog: pytest.LogCaptureFixture) -> bool:
    """Whether the log told since the last look that what was acknowledged may be missing."""
    told = any("may be missing" in record.getMessage() for record in caplog.records)
    caplog.clear()
    return told


@pytest.mark.parametrize("options", [ENGINE, StoreOptions()], ids=["engine", "guest"])
def test_a_log_that_went_after_a_kill_is_told(
    tmp_path: Path, options: StoreOptions, caplog: pytest.LogCaptureFixture
) -> None:
    """Whoever opens the folder says that the log of a killed engine is gone, once in a process; a
    start says it again after a guest, and once only.
    """
    killed(tmp_path)
    (tmp_path / WAL).unlink()
    if options is not ENGINE:
        # nor does it make a start silent that somebody has compacted the folder
        compact(tmp_path, lambda _: None, lambda *_: None)
    SqliteStore(tmp_path, options).close()
    assert said(caplog)
    SqliteStore(tmp_path, options).close()
    assert not said(caplog)
    SqliteStore(tmp_path, ENGINE).close()
    assert said(caplog) == (options is not ENGINE)
    SqliteStore(tmp_path, ENGINE).close()
    assert not said(caplog)


@pytest.mark.parametrize("first", ["engine", "guest", "compact"])
def test_a_log_that_was_brought_in_is_not_missing(
    tmp_path: Path, first: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After a kill, whoever opens and closes the folder brings the log in: an engine, a guest,
    compaction; nothing is told then or later.
    """
    killed(tmp_path)
    if first == "compact":
        compact(tmp_path, lambda _: None, lambda *_: None)
    else:
        SqliteStore(tmp_path, ENGINE if first == "engine" else StoreOptions()).close()
    assert not (tmp_path / WAL).exists()
    again = SqliteStore(tmp_path, ENGINE)
    assert again.query("SELECT id FROM runs") == [("r1",)]
    again.close()
    assert not said(caplog)


def test_a_folder_of_a_build_that_did_not_say_is_not_accused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Builds before named the holder and never said that they closed the folder."""
    SqliteStore(tmp_path, ENGINE).close()
    (tmp_path / LOCK).write_bytes(b"process 1\n\n")
    SqliteStore(tmp_path, ENGINE).close()
    assert not said(caplog)


async def test_a_log_that_is_cut_in_use_is_noticed(tmp_path: Path) -> None:
    """A log that is cut ends all writing; one that this engine, or whoever else has the database
    open, brings in and empties does not.
    """
    store, guest = SqliteStore(tmp_path, ENGINE), SqliteStore(tmp_path)
    for number, emptying in enumerate((store, guest)):
        await store.submit(Run(f"r{number}").open())
        store.check_files()
        assert store._watch is not None
        assert store._watch.log_bytes > 0
        emptying._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.check_files()
        assert store._watch.log_bytes == 0
    await store.submit(Run("r2").open())
    store.check_files()
    os.truncate(tmp_path / WAL, 0)
    with pytest.raises(StorageUnavailable, match="cut while it was in use"):
        store.check_files()
    with pytest.raises(StorageUnavailable):
        await store.submit(Run("r3").open())
    guest.close()
    store.close()


async def test_a_log_that_is_cut_by_one_page_is_noticed(tmp_path: Path) -> None:
    """As of a disk that lost its last blocks: what was acknowledged last is missing."""
    store = SqliteStore(tmp_path, ENGINE)
    await store.submit(Run("r0").open())
    store.check_files()
    os.truncate(tmp_path / WAL, (tmp_path / WAL).stat().st_size - 4096)
    with pytest.raises(StorageUnavailable, match="cut while it was in use"):
        store.check_files()
    store.close()


@pytest.mark.parametrize(
    ("needed", "cut"),
    [((4, 0), ""), ((-1,), ""), ((0, 0), ""), ((3, 4), ""), ((4, 4), WAL), ((2**60, 2**60), WAL)],
)
def test_a_log_that_is_emptied_while_it_is_looked_at_is_not_cut(
    tmp_path: Path, needed: tuple[int, ...], cut: str
) -> None:
    """Whoever empties it does so at any moment of a look: what it must hold changes meanwhile then,
    and the next look sees more.
    """
    (tmp_path / WAL).write_bytes(b"a log")
    watch = FileWatch.of(tmp_path)
    assert (watch.lost(lambda: pytest.fail("it is as long as it was")), watch.log_bytes) == ("", 5)
    os.truncate(tmp_path / WAL, 3)
    asked = iter(needed)
    assert watch.lost(lambda: next(asked)) == cut
    assert watch.lost(lambda: 3) == ""
    assert watch.log_bytes == 3


def test_a_closing_engine_leaves_the_lock_to_nobody_before_it_has_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says that it closed the folder while it still holds the lock: whoever starts at once finds
    it free, and not held for another moment.
    """
    store = SqliteStore(tmp_path, ENGINE)
    monkeypatch.setattr(lock_module, "_held", lambda _: pytest.fail("the lock was taken once more"))
    store.close()
    assert (tmp_path / LOCK).read_text().endswith("closed\n")


def test_guests_that_come_and_go_do_not_turn_each_other_away(tmp_path: Path) -> None:
    """Whoever closes a folder last has it to itself for a moment; who opens it then waits."""
    SqliteStore(tmp_path, ENGINE).close()

    def look(_: int) -> int:
        store = SqliteStore(tmp_path)
        try:
            return len(store.query("SELECT 1"))
        finally:
            store.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(look, range(200))) == [1] * 200


def test_a_full_disk_is_said_with_folder_and_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite tells of an I/O error only; where there is room its own words are all there is to
    say.
    """
    error, usage = sqlite3.OperationalError("disk I/O error"), shutil.disk_usage(tmp_path)
    assert "the disk is full" not in why_not(tmp_path, error)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=4096))
    for why in (error, OSError(errno.ENOSPC, "No space left on device")):
        assert f"the disk is full, 4096 bytes are free in {tmp_path}" in why_not(tmp_path, why)


def test_a_process_without_descriptors_is_told_so(tmp_path: Path) -> None:
    """SQLite tells only that it cannot open its file; the store's error says why, and how many are
    permitted.
    """
    store = SqliteStore(tmp_path, StoreOptions(holder="test"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open(tmp_path, os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(
            StorageUnavailable, match=f"as many files open as it may, {lowest}: raise that"
        ):
            store.reader()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    store.close()


def test_a_snapshot_ends_where_what_it_read_was_damaged(tmp_path: Path) -> None:
    """SQLite refuses to commit then: what is told is what was read and how it failed, and whoever
    passes over that goes on with the next one.
    """
    with closing(connect(tmp_path)) as db:
        db.execute("CREATE TABLE t(x)")
        db.executemany("INSERT INTO t VALUES (?)", [(b"x" * 900,)] * 50)
        db.commit()
    with (tmp_path / FILE).open("r+b") as file:
        file.seek(4096)
        file.write(bytes(4096 * 8))
    with closing(connect(tmp_path)) as db:
        with pytest.raises(sqlite3.DatabaseError, match="malformed"), snapshot(db):
            db.execute("SELECT sum(length(x)) FROM t").fetchall()
        for _ in range(2):
            with snapshot(db), suppress(sqlite3.DatabaseError):
                db.execute("SELECT sum(length(x)) FROM t").fetchall()
            assert not db.in_transaction
