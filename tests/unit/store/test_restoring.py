"""A file from outside gives its rows and nothing else: not its schema, not its tokens, and no row
at all where it is not what a build wrote.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError, JournalCorrupt, OrdainError
from ordain.ports.writes import RowTable
from ordain.store.folder import FILE
from ordain.store.restoring import Restored, restore
from ordain.store.schema import APPLICATION_ID, VERSION, make
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.word_index import add_words, count_words
from tests.unit.store.test_schema import first_version, put_golden, shape

AT = 1_800_000_000_000_000
KEPT = RowTable(name="stock", key=("article",), columns=("number", "note"))
PLANT = "INSERT INTO token_secrets VALUES ('planted', 1, x'00', 1, NULL)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A small database as this build leaves it: a token, an account, something remembered, an
    embedder's row.
    """
    home = tmp_path / "home"
    SqliteStore(home, StoreOptions(holder="test", tables=(KEPT,))).close()
    with closing(sqlite3.connect(home / FILE)) as db, db:
        db.execute(
            "INSERT INTO tokens VALUES (1, 'ci', 'plan', 'default', NULL, 1, NULL, NULL, NULL), "
            "(2, 'old', 'plan', 'default', NULL, 1, NULL, 2, 3)"
        )
        db.execute(
            "INSERT INTO token_secrets VALUES ('good', 1, x'01', 1, NULL), ('nobodys', 3, x'02', "
            "1, NULL)"
        )
        db.execute("INSERT INTO accounts VALUES ('default', 'day', 5, 6)")
        db.execute(
            "INSERT INTO items VALUES (7, 'default', 'i', 'note', 'kept', '', '', '', '', '', "
            "'own', '', '', '', '', 1, '', '', 3, 1, 1, 1, NULL, NULL, NULL, NULL)"
        )
        db.execute("INSERT INTO passages VALUES (4, 7, 0, 1, 0, 3, '', 'zebra finch')")
        add_words(db, "default", [(4, "", "zebra finch")])
        db.execute("UPDATE sqlite_sequence SET seq = 40 WHERE name = 'items'")
        db.execute("INSERT INTO shared_stock VALUES ('default', 'pear', 3, 'ripe')")
    with closing(sqlite3.connect(home / FILE)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return home / FILE


def restored(file: Path, made: Path, *, keep_tokens: bool = False) -> Restored:
    """Restore and leave the bytes of the file as they were."""
    before = file.read_bytes()
    try:
        return restore(file, made, keep_tokens=keep_tokens, by="local:test", at=AT)
    finally:
        assert file.read_bytes() == before
        assert {one.name for one in file.parent.iterdir()} <= {FILE, "ordain.lock", made.name}


def changed(file: Path, *statements: str) -> None:
    """Have the file's writer change it, whatever SQLite would say to that."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        db.execute("PRAGMA writable_schema=ON")
        for statement in statements:
            db.execute(statement)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def query(file: Path, sql: str) -> list[tuple[object, ...]]:
    """Rows of a database."""
    with closing(sqlite3.connect(file)) as db:
        return db.execute(sql).fetchall()


def test_rows_come_into_tables_made_here(file: Path, tmp_path: Path) -> None:
    """Rows, numbers given and an embedder's table are the file's, the words are found again, and
    the schema is the one of a new folder.
    """
    done = restored(file, tmp_path / "made")
    assert (done.version, done.left_out, done.unsettled) == (VERSION, (), 0)
    for table in ("accounts", "items", "passages", "shared_stock", "sqlite_sequence", "engine"):
        assert query(tmp_path / "made", f"SELECT * FROM {table}") == query(
            file, f"SELECT * FROM {table}"
        )
    with (
        closing(sqlite3.connect(tmp_path / "made")) as made,
        closing(sqlite3.connect(file)) as given,
    ):
        assert shape(made) == shape(given)
        assert count_words(made, "default", ["zebra"], 9) == [1]
        assert made.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_tokens_are_revoked(file: Path, tmp_path: Path) -> None:
    """No token of the file is good: each is revoked, with a line in the audit, and no secret is
    left that a later token could come to have.
    """
    done = restored(file, tmp_path / "made")
    assert (done.revoked, done.kept) == (("ci",), 0)
    assert query(tmp_path / "made", "SELECT name, revoked_at FROM tokens") == [
        ("ci", AT),
        ("old", 2),
    ]
    assert query(tmp_path / "made", "SELECT * FROM token_secrets") == []
    assert query(tmp_path / "made", "SELECT event, token, by, first_at FROM token_audit") == [
        ("revoked", "ci", "local:test", AT)
    ]


def test_tokens_are_kept_where_that_is_asked_for(file: Path, tmp_path: Path) -> None:
    """With ``keep_tokens`` they are as they were, but for secrets of no token: the next one to be
    made would have them.
    """
    done = restored(file, tmp_path / "made", keep_tokens=True)
    assert (done.revoked, done.kept) == ((), 1)
    assert query(tmp_path / "made", "SELECT * FROM tokens") == query(file, "SELECT * FROM tokens")
    assert query(tmp_path / "made", "SELECT id FROM token_secrets") == [("good",)]


def test_triggers_views_and_indices_are_left_out(file: Path, tmp_path: Path) -> None:
    """What holds no rows is not taken over, and named; nothing of it has worked meanwhile."""
    changed(
        file,
        f"CREATE TRIGGER planted AFTER UPDATE ON engine BEGIN {PLANT}; END",
        f"CREATE TRIGGER other AFTER INSERT ON accounts BEGIN {PLANT}; END",
        "CREATE VIEW seen AS SELECT * FROM tokens",
        "CREATE INDEX quick ON accounts(abs(tokens)) WHERE tokens = 0",
    )
    done = restored(file, tmp_path / "made", keep_tokens=True)
    assert set(done.left_out) == {
        "trigger 'planted'",
        "trigger 'other'",
        "view 'seen'",
        "index 'quick'",
    }
    assert query(tmp_path / "made", "SELECT id FROM token_secrets") == [("good",)]
    assert (
        query(
            tmp_path / "made",
            "SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view') OR name = 'quick'",
        )
        == []
    )
    assert query(tmp_path / "made", "SELECT tokens FROM accounts") == [(5,)]
    (tmp_path / "made").rename(tmp_path / FILE)
    SqliteStore(tmp_path, StoreOptions(holder="test", tables=(KEPT,))).close()


def _typed(db: str, old: str, new: str) -> tuple[str, ...]:
    return (f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{db}'",)


HOSTILE: dict[str, tuple[tuple[str, ...], str, str]] = {
    "unknown table": (("CREATE TABLE mine(x)",), "foreign_schema", "table 'mine'"),
    "virtual table": (
        ("CREATE VIRTUAL TABLE mine USING fts5(x)",),
        "foreign_schema",
        "table 'mine",
    ),
    "a name that speaks to the terminal": (
        ('CREATE TABLE "\x1b[2J"(x)',),
        "foreign_schema",
        r"table '\x1b[2J'",
    ),
    "shared table of another form": (
        ("CREATE TABLE shared_mine(a INTEGER PRIMARY KEY, b)",),
        "foreign_schema",
        "shared_mine",
    ),
    "shared virtual table": (
        ("CREATE VIRTUAL TABLE shared_mine USING fts5(workspace)",),
        "foreign_schema",
        "shared_mine",
    ),
    "missing table": (("DROP TABLE outbox",), "foreign_schema", "no table outbox"),
    "a view in a table's place": (
        (
            "DROP TABLE accounts",
            (
                "CREATE VIEW accounts AS SELECT 'default' workspace, 'day' name, 1 tokens, 1 "
                "usd_micros"
            ),
        ),
        "foreign_schema",
        "view 'accounts' in place of the table",
    ),
    "a virtual table in a table's place": (
        (
            "DROP TABLE accounts",
            "CREATE VIRTUAL TABLE accounts USING fts5(workspace, name, tokens, usd_micros)",
        ),
        "foreign_schema",
        "accounts",
    ),
    "a virtual table that says it has pages": (
        (
            "DROP TABLE accounts",
            "CREATE VIRTUAL TABLE accounts USING fts5(workspace, name, tokens, usd_micros)",
            "UPDATE sqlite_master SET rootpage = 2 WHERE name = 'accounts'",
        ),
        "foreign_schema",
        "accounts",
    ),
    "an index with a table's name": (
        ("DROP TABLE outbox", "CREATE INDEX outbox ON runs(flow)"),
        "foreign_schema",
        "index 'outbox' in place of the table",
    ),
    "column of another type": (
        _typed("accounts", "tokens INTEGER", "tokens TEXT"),
        "foreign_schema",
        "column tokens is of type 'TEXT'",
    ),
    "generated column": (
        ("ALTER TABLE tokens ADD COLUMN more AS (abs(no)) VIRTUAL",),
        "foreign_schema",
        "generated column 'more'",
    ),
    "a known column, generated": (
        (
            "DROP TABLE beats",
            "CREATE TABLE beats(one INTEGER PRIMARY KEY, at INTEGER NOT NULL AS (7) STORED)",
        ),
        "foreign_schema",
        "generated column 'at'",
    ),
    "further column": (("ALTER TABLE tokens ADD COLUMN more",), "foreign_schema", "column 'more'"),
    "column gone": (("ALTER TABLE tokens DROP COLUMN rate",), "foreign_schema", "table tokens"),
    "a text where a number belongs": (
        ("UPDATE tokens SET created_at = 'soon'",),
        "foreign_value",
        "created_at",
    ),
    "a number where bytes belong": (
        ("UPDATE token_secrets SET digest = 5",),
        "foreign_value",
        "digest",
    ),
    "a fraction where a number belongs": (
        ("UPDATE accounts SET tokens = 0.5",),
        "foreign_value",
        "tokens",
    ),
    "no value where one belongs": (
        (
            "DROP TABLE pauses",
            "CREATE TABLE pauses(no INTEGER PRIMARY KEY, began INTEGER, ended INTEGER)",
            "INSERT INTO pauses VALUES (1, NULL, 2)",
        ),
        "foreign_schema",
        "table pauses",
    ),
    "two rows where one may be": (
        (
            "DROP TABLE probes",
            "CREATE TABLE probes(one INTEGER PRIMARY KEY, at INTEGER NOT NULL)",
            "INSERT INTO probes VALUES (2, 1)",
        ),
        "foreign_value",
        "cannot stand",
    ),
    "a huge value": (
        ("UPDATE items SET title = zeroblob(65 * 1024 * 1024)",),
        "foreign_value",
        "exceeds",
    ),
    "a text that is none": (
        ("UPDATE items SET title = CAST(x'ff' AS TEXT)",),
        "foreign_value",
        "UTF-8",
    ),
    "a number that was never given": (
        ("UPDATE sqlite_sequence SET seq = 'many'",),
        "foreign_value",
        "sqlite_sequence",
    ),
    "another application": (("PRAGMA application_id = 7",), "foreign_database", "0x7"),
    "a newer schema": (
        (f"PRAGMA user_version = {VERSION + 1}",),
        "newer_schema",
        f"schema version {VERSION + 1}",
    ),
    "a schema before the first": (("PRAGMA user_version = -1",), "foreign_schema", "version -1"),
    "an older version than its tables": (
        ("PRAGMA user_version = 1",),
        "foreign_schema",
        "table 'sessions'",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_what_no_build_wrote_is_refused(file: Path, tmp_path: Path, case: str) -> None:
    """The refusal has a code and names what was found."""
    statements, code, named = HOSTILE[case]
    changed(file, *statements)
    with pytest.raises(ConfigurationError) as refused:
        restored(file, tmp_path / "made")
    assert refused.value.code == code
    assert named in refused.value.message


def overwritten(file: Path, at: int) -> None:
    """Zeros over one page."""
    data = bytearray(file.read_bytes())
    data[at : at + 4096] = bytes(4096)
    file.write_bytes(data)


def _page_of(table: str) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        ((page,),) = query(file, f"SELECT rootpage FROM sqlite_master WHERE name = '{table}'")
        assert isinstance(page, int)
        overwritten(file, (page - 1) * 4096)

    return damage


def _disguised(file: Path) -> None:
    """A view whose row says that it is a table."""
    view = "CREATE VIEW accounts AS SELECT 'default' workspace, 'day' name, 1 tokens, 1 usd_micros"
    changed(
        file,
        "DROP TABLE accounts",
        view,
        "UPDATE sqlite_master SET type = 'table', rootpage = 2 WHERE name = 'accounts'",
    )


@pytest.mark.parametrize(
    "damage",
    [
        _disguised,
        _page_of("tokens"),
        _page_of("items"),
        lambda file: file.write_bytes(b"no database" * 99),
        lambda file: file.write_bytes(file.read_bytes()[:9000]),
    ],
    ids=["disguised", "tokens", "items", "text", "cut"],
)
def test_a_damaged_file_is_refused(
    file: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    """Whatever is broken in it, the refusal is one of ours."""
    damage(file)
    with pytest.raises((ConfigurationError, JournalCorrupt)):
        restored(file, tmp_path / "made")


def test_an_empty_file_is_no_backup(tmp_path: Path) -> None:
    """A file without a byte, and a database without a table, hold nothing to restore."""
    (tmp_path / FILE).touch()
    with pytest.raises(ConfigurationError) as refused:
        restored(tmp_path / FILE, tmp_path / "made")
    assert refused.value.code == "no_backup"


def test_pages_that_are_said_to_be_several_things_are_refused(file: Path, tmp_path: Path) -> None:
    """A table whose root is another's does not fill the disk with the same values again and
    again.
    """
    changed(
        file,
        (
            "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = "
            "'items') WHERE name = 'passages'"
        ),
    )
    with pytest.raises(OrdainError):
        restored(file, tmp_path / "made")


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_every_older_version_is_brought_on(tmp_path: Path, version: int) -> None:
    """Rows of any version of the schema come into one of this build, as those of a folder that is
    opened do.
    """
    db = first_version(tmp_path / FILE)
    put_golden(db, "three_tools")
    rows = {
        table: db.execute(f"SELECT * FROM {table}").fetchall()
        for table in ("runs", "records", "subjects", "catalogs")
    }
    db.close()
    with closing(sqlite3.connect(tmp_path / "stepped", isolation_level=None)) as stepped:
        make(stepped, version)
        columns = {
            table: len(stepped.execute(f"PRAGMA table_info({table})").fetchall()) for table in rows
        }
        for table, kept in rows.items():
            stepped.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * columns[table])})",
                [(*row, *[None] * (columns[table] - len(row))) for row in kept],
            )
        if version > 1:
            stepped.execute(
                "INSERT INTO sessions VALUES (1, 'default', 's', 1, 0, 0, x'00', 0, 0, 'cli', "
                "'ada', 1, 1)"
            )
    (tmp_path / FILE).unlink()
    (tmp_path / "stepped").rename(tmp_path / FILE)
    done = restored(tmp_path / FILE, tmp_path / "made")
    assert (done.version, done.rows) == (version, sum(map(len, rows.values())) + (version > 1))
    assert query(tmp_path / "made", "SELECT * FROM records") == rows["records"]
    assert query(tmp_path / "made", "PRAGMA user_version") == [(VERSION,)]
    assert query(tmp_path / "made", "PRAGMA application_id") == [(APPLICATION_ID,)]


@pytest.mark.parametrize(
    "planted",
    [
        f"CREATE TRIGGER planted AFTER UPDATE ON engine BEGIN {PLANT}; END",
        "CREATE VIEW planted AS SELECT 1",
    ],
)
@pytest.mark.parametrize("holder", ["test", None], ids=["engine", "guest"])
def test_a_folder_with_a_trigger_is_not_opened(
    file: Path, planted: str, holder: str | None
) -> None:
    """A data folder from outside is opened by nobody while something in it would write, or answer,
    in our place.
    """
    changed(file, planted)
    with pytest.raises(ConfigurationError) as refused:
        SqliteStore(file.parent, StoreOptions(holder=holder))
    assert refused.value.code == "foreign_schema"
    assert "'planted'" in refused.value.message
    assert query(file, "SELECT id FROM token_secrets ORDER BY id") == [("good",), ("nobodys",)]


def test_no_schema_is_trusted(file: Path) -> None:
    """What stands in a file's schema calls no function of SQLite's that could do harm, on whichever
    of our connections.
    """
    store = SqliteStore(file.parent, StoreOptions(holder="test", tables=(KEPT,)))
    apart = store.reader()
    assert apart is not None
    for connection in (store.writer._db, store.reading, apart):
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)
    apart.close()
    store.close()
