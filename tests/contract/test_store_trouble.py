"""The journal store where the storage is full, locked, read-only, foreign, damaged or somebody
else's.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import (
    ConfigurationError,
    EngineLost,
    JournalCorrupt,
    OrdainError,
    RunLost,
    StorageUnavailable,
)
from ordain.journal.records import Record
from ordain.ports.store import Append, Change, Operation, Outcome, Unit
from ordain.store import writer
from ordain.store.checkpoints import CHECKPOINT_BATCHES
from ordain.store.folder import FILE
from ordain.store.schema import DDL, VERSION, make
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.contract.conftest import OpenStore
from tests.contract.writing import Run
from tests.shapes.stored_journal import as_rows, journal_of

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def beside(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """Another connection to the store's file, as another process has it."""
    assert store.folder is not None
    connection = sqlite3.connect(store.folder / FILE, isolation_level=None, check_same_thread=False)
    try:
        yield connection
    finally:
        connection.close()


async def opened(store: SqliteStore, run: str = "a") -> Run:
    made = Run(run)
    await store.submit(made.open())
    return made


def stored(store: SqliteStore, run: str = "a") -> int:
    found = store.stored(run)
    return 0 if found is None else len(found.records)


def stored_records(store: SqliteStore, run: str = "a") -> tuple[Record, ...]:
    found = store.stored(run)
    return () if found is None else found.records


# --- somebody else's ------------------------------------------------------------------------------


async def test_a_stale_engine_cannot_commit(file_mode: str, reopen: OpenStore) -> None:
    """After another engine took the lease, nothing of the first is committed, of whatever kind; the
    second goes on.
    """
    first = reopen(file_mode, holder="first")
    run = await opened(first)
    second = reopen(file_mode, holder="second")
    units = (
        run.step(),
        Run("b").open(),
        run.post(),
        Operation(name="release", args={"engine": 1, "runs": ["a"]}),
    )
    results = await asyncio.gather(*map(first.submit, units), return_exceptions=True)
    assert [type(result) for result in results] == [EngineLost] * 4
    assert (stored(second), second.stored("b"), second.untaken("a")) == (1, None, [])
    again = Run("a")
    assert await second.submit(again.step()) == Outcome(run="a")
    with pytest.raises(EngineLost):
        await first.submit(run.step())
    assert stored(first) == 2  # it may still read


async def test_a_guest_posts_mail_and_takes_no_lease(file_mode: str, reopen: OpenStore) -> None:
    """A store opened without a holder writes mail and leaves the engine's lease alone."""
    engine = reopen(file_mode)
    run = await opened(engine)
    guest = reopen(file_mode, holder=None)
    assert (await guest.submit(run.post())).refused == ""
    assert [mail.key for mail in engine.untaken("a")] == ["k"]
    assert await engine.submit(run.step()) == Outcome(run="a")


async def test_a_folder_has_one_engine(file_mode: str, reopen: OpenStore) -> None:
    """The folder's lock is held by one engine; a second is told so, and may open it once the first
    has closed.
    """
    first = reopen(file_mode, lock=True)
    with pytest.raises(StorageUnavailable) as refusal:
        reopen(file_mode, lock=True)
    assert refusal.value.code == "lock_held"
    run = await opened(first)
    first.close()
    second = reopen(file_mode, lock=True)
    assert stored(second) == 1
    assert await second.submit(run.step()) == Outcome(run="a")


async def test_another_process_is_heard(file_mode: str, reopen: OpenStore) -> None:
    """Mail that another process posts to a run, and a run that it opens, are announced to this
    one.
    """
    engine = reopen(file_mode, lock=True)
    await opened(engine, "known")
    heard: set[str] = set()
    both = asyncio.Event()

    def hear(change: Change) -> None:
        heard.update(change.runs)
        if heard == {"known", "guest"}:
            both.set()

    engine.listen(hear)
    watching = asyncio.create_task(engine.poll())
    try:
        await asyncio.sleep(0)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        }
        command = [
            sys.executable,
            str(ROOT / "tests" / "contract" / "guest.py"),
            str(engine.folder),
        ]
        process = await asyncio.create_subprocess_exec(
            *command, stdout=subprocess.PIPE, env=environment
        )
        out, _ = await process.communicate()
        assert out == b"done done"
        await both.wait()
    finally:
        watching.cancel()
    assert [mail.key for mail in engine.untaken("known")] == ["from outside"]


async def test_a_batch_is_applied_anew_where_one_of_it_is_undone(file_store: SqliteStore) -> None:
    """Units that nothing is wrong with need no savepoint. One that is refused takes no neighbour
    with it and is told so alone; the batch after it has savepoints at once, and the next one none.
    """
    runs = [await opened(file_store, name) for name in ("a", "b", "c")]
    said: list[str] = []
    file_store._db.set_trace_callback(said.append)

    async def written(*units: Unit) -> tuple[list[Any], int]:
        said.clear()
        results = await asyncio.gather(*map(file_store.submit, units), return_exceptions=True)
        return results, sum("SAVEPOINT" in statement for statement in said)

    good = [Outcome(run=run.id) for run in runs]
    assert await written(*(run.step() for run in runs)) == (good, 0)
    twin = Run("b", given="something else")
    twin.open()
    stale = twin.step()
    (first, refused, last), savepoints = await written(runs[0].step(), stale, runs[2].step())
    assert (first, type(refused), last) == (good[0], RunLost, good[2])
    assert savepoints == 3
    assert await written(*(run.step() for run in runs)) == (good, 3)
    assert await written(*(run.step() for run in runs)) == (good, 0)
    assert [stored(file_store, run.id) for run in runs] == [len(run.records) for run in runs]


# --- locked ---------------------------------------------------------------------------------------


async def test_a_lock_held_elsewhere_puts_the_batch_back(file_store: SqliteStore) -> None:
    """While another connection holds the write lock nothing is lost and the loop goes on;
    afterwards all is written, in order.
    """
    run = await opened(file_store)
    with beside(file_store) as other:
        other.execute("BEGIN IMMEDIATE")
        futures = [file_store.submit(run.step()) for _ in range(5)]
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert not any(future.done() for future in futures)
        assert stored(file_store) == 1  # reads go on
        futures += [file_store.submit(run.step()) for _ in range(5)]
        other.execute("ROLLBACK")
    assert await asyncio.gather(*futures) == [Outcome(run="a")] * 10
    found = file_store.stored("a")
    assert found is not None
    assert list(found.records) == run.records


async def test_a_lock_that_stays_is_unavailable_storage(file_store: SqliteStore) -> None:
    """A lock that outlasts every try is told to the callers; the same units are taken later."""
    run = await opened(file_store)
    unit = run.step()
    with beside(file_store) as other:
        other.execute("BEGIN IMMEDIATE")
        file_store.writer._busy_tries = writer.BUSY_TRIES
        with pytest.raises(StorageUnavailable):
            await file_store.submit(unit)
        other.execute("ROLLBACK")
    assert await file_store.submit(unit) == Outcome(run="a")


async def test_closing_writes_what_is_queued(file_mode: str, reopen: OpenStore) -> None:
    """What was submitted before the close is durable after it, without a turn of the loop in
    between.
    """
    store = reopen(file_mode)
    run = await opened(store)
    futures = [store.submit(run.step()) for _ in range(1200)]
    store.close()
    assert await asyncio.gather(*futures) == [Outcome(run="a")] * 1200
    assert stored(reopen(file_mode)) == 1201


async def test_closing_waits_for_a_lock_held_elsewhere(file_mode: str, reopen: OpenStore) -> None:
    """A batch that met a lock when the store closes is written once the lock is gone, before what
    was queued after it.
    """
    store = reopen(file_mode)
    run = await opened(store)
    with beside(store) as other:
        other.execute("BEGIN IMMEDIATE")
        first = store.submit(run.step())
        await asyncio.sleep(0)  # the batch is on its way
        second = store.submit(run.step())
        threading.Timer(0.15, other.execute, ["ROLLBACK"]).start()
        store.close()
    assert await asyncio.gather(first, second) == [Outcome(run="a")] * 2
    assert stored(reopen(file_mode)) == 3


async def test_closing_on_a_lock_that_stays_says_so(
    file_mode: str, reopen: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Units that could not be written by the close fail with a typed error; none is left without an
    answer.
    """
    monkeypatch.setattr(writer, "BUSY_TRIES", 3)
    store = reopen(file_mode)
    run = await opened(store)
    with beside(store) as other:
        other.execute("BEGIN IMMEDIATE")
        futures = [store.submit(run.step())]
        await asyncio.sleep(0)
        futures.append(store.submit(run.step()))
        store.close()
        results = await asyncio.wait_for(asyncio.gather(*futures, return_exceptions=True), 20)
        other.execute("ROLLBACK")
    assert [type(result) for result in results] == [StorageUnavailable] * 2


async def test_closing_goes_on_where_a_lock_cut_a_batch_short(
    file_mode: str, reopen: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that fails as a whole is written unit by unit; where a lock comes in between, the
    rest is written after it, and all is closed.
    """
    store = reopen(file_mode)
    run = await opened(store)
    transaction, tried = store.writer._in_one, list[int]()

    def failing(units: list[Unit]) -> list[Outcome | OrdainError]:
        tried.append(len(units))
        if len(tried) == 1:
            raise sqlite3.OperationalError("disk I/O error")
        if len(tried) == 3:
            raise writer._Busy
        return transaction(units)

    monkeypatch.setattr(store.writer, "_in_one", failing)
    futures = [store.submit(run.step()) for _ in range(3)]
    store.close()
    assert tried == [3, 1, 1, 2]
    assert [future.result() for future in futures] == [Outcome(run="a")] * 3
    assert stored(reopen(file_mode)) == 4


async def test_a_writer_without_a_thread_is_unavailable_storage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no more threads the store does not open, rather than take what it never
    writes; later it does.
    """

    def none_left(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    options = StoreOptions(holder="a", threaded=True)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", none_left)
        with pytest.raises(StorageUnavailable, match="no thread"):
            SqliteStore(tmp_path, options)
    store = SqliteStore(tmp_path, options)
    assert await store.submit(Run("a").open()) == Outcome(run="a")
    store.close()


# --- full and read-only ---------------------------------------------------------------------------


async def test_full_storage_refuses_writes_and_loses_nothing(store: SqliteStore) -> None:
    """On a full disk units fail as ``storage_unavailable``, reads go on, small units still fit, and
    later all are taken.
    """
    run = await opened(store)
    other = await opened(store, "b")
    (pages,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count={pages}")
    large = Append(run="a", epoch=1, records=(run.note("x" * 2_000_000),))
    failed, small = await asyncio.gather(
        store.submit(large), store.submit(other.step()), return_exceptions=True
    )
    assert isinstance(failed, StorageUnavailable)
    assert isinstance(small, (Outcome, StorageUnavailable))
    assert stored(store) == 1
    store._db.execute(f"PRAGMA max_page_count={2**30}")
    assert await store.submit(large) == Outcome(run="a")
    assert stored(store) == 2


async def test_read_only_storage_refuses_writes_and_goes_on_reading(store: SqliteStore) -> None:
    """A database that turns read-only refuses every unit as ``storage_unavailable``; when it is
    writable again they are taken.
    """
    run = await opened(store)
    unit = run.step()
    store._db.execute("PRAGMA query_only=1")
    results = await asyncio.gather(
        store.submit(unit), store.submit(Run("b").open()), return_exceptions=True
    )
    assert [type(result) for result in results] == [StorageUnavailable] * 2
    assert (stored(store), stored(store, "b")) == (1, 0)
    store._db.execute("PRAGMA query_only=0")
    assert await store.submit(unit) == Outcome(run="a")


async def test_a_checkpoint_that_fails_costs_nothing(file_store: SqliteStore) -> None:
    """Where the checkpoint after a batch is refused by the storage, the batch is durable and its
    callers are told so.
    """
    run = await opened(file_store)
    file_store.writer._checkpoints._batches = CHECKPOINT_BATCHES - 1
    refused: list[str | None] = []

    def watch(action: int, name: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_PRAGMA and name == "wal_checkpoint":
            refused.append(name)
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    file_store._db.set_authorizer(watch)
    assert await asyncio.wait_for(file_store.submit(run.step()), 20) == Outcome(run="a")
    assert refused == ["wal_checkpoint"]
    file_store._db.set_authorizer(None)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """A data folder below a file is unavailable storage, whoever opens it."""
    (tmp_path / "file").touch()
    for holder in (None, "engine"):
        with pytest.raises(StorageUnavailable):
            SqliteStore(tmp_path / "file" / "data", StoreOptions(holder=holder))


# --- newer, foreign, damaged ----------------------------------------------------------------------


def refusal(folder: Path) -> str:
    with pytest.raises((ConfigurationError, StorageUnavailable)) as refused:
        SqliteStore(folder, StoreOptions(holder="engine"))
    return refused.value.code


def foreign(folder: Path, *statements: str) -> bytes:
    with sqlite3.connect(folder / FILE) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return (folder / FILE).read_bytes()


async def test_a_newer_schema_is_refused(file_mode: str, reopen: OpenStore, tmp_path: Path) -> None:
    """A database of a later build is refused as it is, and its lock is free again."""
    store = reopen(file_mode)
    run = await opened(store)
    store.close()
    foreign(tmp_path / "data", "PRAGMA user_version = 99")
    for _ in range(2):
        assert refusal(tmp_path / "data") == "newer_schema"
    foreign(tmp_path / "data", f"PRAGMA user_version = {VERSION}")
    assert await reopen(file_mode).submit(run.step()) == Outcome(run="a")


def tables(folder: Path) -> dict[str, str]:
    """What the database's tables and indices are made by."""
    with sqlite3.connect(folder / FILE) as connection:
        found = dict(
            connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
            ).fetchall()
        )
    connection.close()
    return found


async def test_an_older_schema_is_brought_on(
    file_mode: str, reopen: OpenStore, tmp_path: Path
) -> None:
    """A database of version 1 gets the tables that came later, those a new database has, and its
    runs go on as they were.
    """
    folder = tmp_path / "data"
    store = reopen(file_mode)
    run = await opened(store)
    as_rows(store._db)
    store.close()
    fresh = tables(folder)
    later = [
        name
        for name in fresh
        if name not in set(re.findall(r"CREATE (?:TABLE|(?:UNIQUE )?INDEX) (\w+)", DDL))
    ]
    assert {"sessions", "threads", "turns", "transcript", "items", "word_indexes"} < set(later)
    virtual = tuple(f"{name}_" for name in later if fresh[name].startswith("CREATE VIRTUAL TABLE"))
    # the rest goes with what it belongs to
    droppable = [name for name in later if not name.startswith((*virtual, "sqlite_"))]
    drops = [
        f"DROP {'INDEX' if ' INDEX ' in fresh[name] else 'TABLE'} {name}" for name in droppable
    ]
    gone = [
        made
        for made, name in re.findall(r"(CREATE (?:UNIQUE )?INDEX (\w+)[^;]+);", DDL)
        if fresh.get(name) != made
    ]  # a later version dropped them, or made them otherwise
    drops += [f"DROP INDEX {name}" for name in fresh if any(f" {name} " in made for made in gone)]
    # indices first
    foreign(
        folder,
        *sorted(drops),
        *gone,
        "ALTER TABLE runs DROP COLUMN holder",
        "PRAGMA user_version = 1",
    )
    again = reopen(file_mode)
    assert list(stored_records(again)) == run.records
    assert await again.submit(run.step()) == Outcome(run="a")
    again.close()
    assert tables(folder) == fresh
    assert list(stored_records(reopen(file_mode))) == run.records


def test_a_migration_is_whole_or_not_at_all(
    file_mode: str, reopen: OpenStore, tmp_path: Path
) -> None:
    """A migration that fails on the way leaves the older database as it was."""
    folder = tmp_path / "data"
    reopen(file_mode).close()
    (folder / FILE).unlink()
    with closing(sqlite3.connect(folder / FILE)) as older:
        make(older, 1)
    foreign(folder, "CREATE TABLE sheets_run(x)")  # an index is to have this name
    before = tables(folder)
    assert refusal(folder) == "storage_unavailable"
    assert tables(folder) == before
    with sqlite3.connect(folder / FILE) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
    connection.close()


@pytest.mark.parametrize("version", [0, 1, 99])
def test_a_foreign_database_is_refused_and_left_alone(tmp_path: Path, version: int) -> None:
    """Somebody else's database is refused whatever version it carries, and not one byte of it
    changes.
    """
    before = foreign(
        tmp_path,
        "CREATE TABLE theirs(x)",
        "INSERT INTO theirs VALUES (1)",
        f"PRAGMA user_version = {version}",
    )
    assert refusal(tmp_path) == "foreign_database"
    assert (tmp_path / FILE).read_bytes() == before


def test_a_file_that_is_no_database_is_damaged_storage(tmp_path: Path) -> None:
    """Bytes that are no database are refused and kept."""
    (tmp_path / FILE).write_bytes(b"not a database" * 1000)
    assert refusal(tmp_path) == "storage_damaged"
    assert (tmp_path / FILE).read_bytes() == b"not a database" * 1000


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE journal SET kind = 'nonsense' WHERE seq = 1",
        "UPDATE journal SET body = 'text' WHERE seq = 1",
        "UPDATE journal SET at = 'yesterday' WHERE seq = 1",
        "UPDATE journal SET chain = 7 WHERE seq = 1",
        "UPDATE runs SET status = 'dancing' WHERE id = 'a'",
    ],
)
async def test_a_damaged_row_is_a_corrupt_journal(store: SqliteStore, damage: str) -> None:
    """A row that no build wrote is ``journal_corrupt`` where it is read; other runs are not touched
    by it.
    """
    run, other = await opened(store), await opened(store, "b")
    await store.submit(run.step())
    journal_of(store._db).execute(damage)
    with pytest.raises(JournalCorrupt):
        store.stored("a")
    assert stored(store, "b") == len(other.records)


@pytest.mark.parametrize("epoch", ["'one'", "1.5", "x'31'"])
def test_an_engines_row_that_is_none_is_named(tmp_path: Path, epoch: str) -> None:
    """What it says of the engine before cannot be; the folder is let go again, and opens once that
    is mended.
    """
    options = StoreOptions(holder="one")
    SqliteStore(tmp_path, options).close()
    for laid in (epoch, "7"):
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as db:
            db.execute(f"UPDATE engine SET epoch = {laid}")
        if laid == epoch:
            with pytest.raises(JournalCorrupt, match="the row of the engine: column epoch"):
                SqliteStore(tmp_path, options)
    opened = SqliteStore(tmp_path, options)
    assert opened.engine == 8
    opened.close()
