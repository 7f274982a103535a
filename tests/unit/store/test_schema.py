"""The schema and its versions: an older database is brought up to date with its runs intact, a
newer or foreign one is left alone.
"""

from __future__ import annotations

import os
import sqlite3
from enum import StrEnum
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import ConfigurationError
from ordain.journal.codec import verify
from ordain.store.folder import FILE
from ordain.store.schema import APPLICATION_ID, DDL, MIGRATIONS, VERSION, prepare
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.replay.golden_file import GOLDEN, read
from tests.shapes.session_laws import broken_now, rows_of, unequal
from tests.shapes.talk import House


def first_version(file: Path) -> sqlite3.Connection:
    """An empty database as the first version made it."""
    db = sqlite3.connect(file, isolation_level=None)
    db.executescript(f"{DDL}PRAGMA application_id = {APPLICATION_ID};PRAGMA user_version = 1;")
    return db


def put_golden(db: sqlite3.Connection, name: str) -> str:
    """Store a golden journal as the first version would have; gives the run."""
    golden = read(GOLDEN / "v1" / f"{name}.json")
    run = golden.run
    db.execute(
        "INSERT INTO subjects VALUES (1, ?, ?, ?, NULL)", (run.workspace, run.subject, run.key)
    )
    db.execute("INSERT INTO catalogs VALUES (?, ?)", (run.catalog, golden.catalog))
    db.execute(
        "INSERT INTO runs(no, id, parent, parent_addr, child, root, workspace, session, thread, "
        "subject, flow, flow_version, catalog, status,"
        " reason, epoch, head_seq, resumes, resumes_at, created_at, ended_at) VALUES "
        "(1,?,NULL,-1,0,1,?,NULL,NULL,1,?,?,?,?,?,1,?,0,-1,?,?)",
        (
            *(
                run.id,
                run.workspace,
                run.flow,
                run.flow_version,
                run.catalog,
                run.status,
                run.reason,
            ),
            *(run.records[-1].seq, run.created_at, run.ended_at),
        ),
    )
    db.executemany(
        "INSERT INTO records(run, seq, kind, name, v, at, digest, chain, body) VALUES "
        "(1,?,?,?,?,?,?,?,?)",
        [(r.seq, r.kind, r.name, r.v, r.at, r.digest, r.chain, r.body) for r in run.records],
    )
    return run.id


def shape(db: sqlite3.Connection) -> list[tuple[str, ...]]:
    """Every table and index with the words it was made by."""
    return db.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite%' ORDER BY "
        "type, name"
    ).fetchall()


def test_an_upgraded_database_is_a_new_one(tmp_path: Path) -> None:
    """A database of the first version that was brought up to date has the same tables and indexes
    as a new one.
    """
    old, new = (
        first_version(tmp_path / "old.db"),
        sqlite3.connect(tmp_path / "new.db", isolation_level=None),
    )
    prepare(old)
    prepare(new)
    assert shape(old) == shape(new)
    assert (
        old.execute("PRAGMA user_version").fetchone()
        == new.execute("PRAGMA user_version").fetchone()
        == (VERSION,)
    )
    prepare(old)
    assert shape(old) == shape(new)


def test_every_version_has_its_way_up() -> None:
    """No version of the schema is left without a migration to the next."""
    assert sorted(MIGRATIONS) == list(range(1, VERSION))


def test_a_failed_upgrade_changes_nothing(tmp_path: Path) -> None:
    """An upgrade is whole or not at all: where it fails, the database is as the older version left
    it.
    """
    old = first_version(tmp_path / "old.db")
    old.execute("CREATE TABLE sheets_run(x)")  # an index is to have this name
    before = shape(old)
    with pytest.raises(sqlite3.OperationalError):
        prepare(old)
    if old.in_transaction:
        old.execute("ROLLBACK")
    assert shape(old) == before
    assert old.execute("PRAGMA user_version").fetchone() == (1,)


@pytest.mark.parametrize("version", [VERSION + 1, 999])
def test_a_newer_database_is_refused(tmp_path: Path, version: int) -> None:
    """What a newer build wrote is left as it is."""
    db = first_version(tmp_path / "new.db")
    db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(ConfigurationError) as refused:
        prepare(db)
    assert refused.value.code == "newer_schema"


class Opener(StrEnum):
    """Who opens a data folder: the process that drives runs, one beside it, and one that may not
    write there.
    """

    ENGINE = "engine"
    GUEST = "guest"
    READER = "reader"


@pytest.mark.parametrize("opener", Opener)
def test_a_newer_folder_is_refused_to_whoever_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opener: Opener
) -> None:
    """An engine, a guest and a guest that can only read refuse a newer database alike, leave its
    bytes as they are, and hold no lock after.
    """
    SqliteStore(tmp_path, StoreOptions(holder="test")).close()
    file = tmp_path / FILE
    db = sqlite3.connect(file, isolation_level=None)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    before = file.read_bytes()
    with monkeypatch.context() as unwritable:
        if opener is Opener.READER:
            file.chmod(0o400)
            # root may write whatever the mode says
            unwritable.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
        with pytest.raises(ConfigurationError) as refused:
            SqliteStore(tmp_path, StoreOptions(holder="test" if opener is Opener.ENGINE else None))
    assert refused.value.code == "newer_schema"
    assert file.read_bytes() == before
    file.chmod(0o600)
    db = sqlite3.connect(file, isolation_level=None)
    db.execute(f"PRAGMA user_version = {VERSION}")
    db.close()
    SqliteStore(tmp_path, StoreOptions(holder="test")).close()


async def test_a_guest_that_can_only_read_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the file may not be written a guest looks at an older database as it is, and brings
    nothing up to date.
    """
    db = first_version(tmp_path / FILE)
    run = put_golden(db, "three_tools")
    db.close()
    before = (tmp_path / FILE).read_bytes()
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    store = SqliteStore(tmp_path)
    assert store.query("SELECT id FROM runs") == [(run,)]
    found = store.stored(run)
    assert found is not None
    verify(run, found.key, found.records)
    assert list(store.records_after(run, 0)) == list(found.records[1:])
    page = await SqliteSearch(store).spending(workspace=found.workspace, before=None, limit=9)
    assert page.seen == 1
    store.close()
    assert (tmp_path / FILE).read_bytes() == before


def test_a_foreign_database_is_refused(tmp_path: Path) -> None:
    """Somebody else's tables are not touched."""
    db = sqlite3.connect(tmp_path / "theirs.db", isolation_level=None)
    db.execute("CREATE TABLE notes(x)")
    with pytest.raises(ConfigurationError) as refused:
        prepare(db)
    assert refused.value.code == "foreign_database"
    assert [name for _, name, _ in shape(db)] == ["notes"]


def test_an_upgrade_overwrites_what_it_drops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where SQLite was built to leave deleted content in the file: of the older text index no
    word is left.
    """
    db = first_version(tmp_path / FILE)
    db.executescript(f"{MIGRATIONS[1]}{MIGRATIONS[2]}PRAGMA user_version = 3;")
    db.execute(
        "CREATE VIRTUAL TABLE passages_text USING fts5(heading, text, content='passages', "
        "content_rowid='no')"
    )
    db.execute("INSERT INTO passages_text(rowid, heading, text) VALUES (1, '', 'zebrafink')")
    db.close()
    assert b"zebrafink" in (tmp_path / FILE).read_bytes()
    connect = sqlite3.connect

    def built_without(*given: Any, **options: Any) -> sqlite3.Connection:
        connection = connect(*given, **options)
        connection.execute("PRAGMA secure_delete=OFF")
        return connection

    monkeypatch.setattr(sqlite3, "connect", built_without)
    SqliteStore(tmp_path, StoreOptions(holder="test")).close()
    assert b"zebrafink" not in b"".join(file.read_bytes() for file in tmp_path.glob(f"{FILE}*"))


async def test_a_step_of_a_run_fills_no_table() -> None:
    """SQLite makes a table for each list of three that an index's condition has, whenever it writes
    a row: no condition of the runs has one.
    """
    async with House() as house:
        await house.say("hello")
        statements: list[str] = []
        house.ordain.store.writer._db.set_trace_callback(statements.append)
        await house.say("tell me about cats")
        house.ordain.store.writer._db.set_trace_callback(None)
        writes = [one for one in statements if one.startswith(("UPDATE runs", "INSERT INTO runs"))]
        assert len(writes) >= 4
        assert [
            one
            for one in writes
            for step in house.query(f"EXPLAIN {one}")
            if step[1] == "OpenEphemeral"
        ] == []


async def test_a_home_of_the_first_version_goes_on(tmp_path: Path) -> None:
    """Ordain opens a home that the first version left: its runs are intact and replay, and a
    conversation begins beside them.
    """
    home = tmp_path / "home"
    home.mkdir()
    db = first_version(home / "ordain.db")
    run = put_golden(db, "three_tools")
    before = db.execute("SELECT * FROM records ORDER BY pos").fetchall()
    db.close()
    async with House(home) as house:
        assert house.query("PRAGMA user_version") == [(VERSION,)]
        assert house.query("SELECT * FROM records WHERE run = 1 ORDER BY pos") == before
        view = await house.ordain.runtime.view(run)
        assert view.header
        assert unequal(house.ordain) == []
        answer = await house.say("tell me about cats")
        assert answer.reply is not None
        assert answer.reply.ok
        assert unequal(house.ordain) == []
        assert not broken_now(rows_of(house.ordain), max_active=4)
