"""What a database holds is held to its version: a number alone is anybody's word."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordain.errors import ConfigurationError
from ordain.store import schema
from ordain.store.schema_shape import difference, shape_of

ALIKE = {one: pair - {one} for pair in ({5, 6}, {11, 12}, {13, 14}) for one in pair}
"""Versions between which only the meaning of values changed, or what an index leaves out."""


@pytest.fixture
def database() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.prepare(connection)
    yield connection
    connection.close()


def refused(connection: sqlite3.Connection) -> tuple[str, str]:
    """Code and sentence of what is said of it."""
    with pytest.raises(ConfigurationError) as refusal:
        schema.check(connection)
    return refusal.value.code, refusal.value.message


def test_what_this_build_makes_is_known_by_its_digest(database: sqlite3.Connection) -> None:
    """So that an opening need not make it anew; what a kind's shared decisions keep, and tables of
    whoever copies the file away, change nothing.
    """
    assert shape_of(database).digest == schema.SHAPE
    database.execute("CREATE TABLE shared_hits (workspace, n)")
    assert shape_of(database).digest == schema.SHAPE
    database.execute("CREATE TABLE _copied_away (at)")
    assert schema.check(database) == schema.VERSION


def test_a_database_in_memory_is_as_one_in_a_file(
    database: sqlite3.Connection, tmp_path: Path
) -> None:
    """It is copied and not made; what it holds and what stands in it is the same."""
    connection = sqlite3.connect(tmp_path / "made.db", isolation_level=None)
    schema.prepare(connection)
    for told in (
        "PRAGMA auto_vacuum",
        "PRAGMA page_size",
        "PRAGMA application_id",
        "PRAGMA user_version",
        "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name",
        "SELECT count(*) FROM ledger",
    ):
        assert database.execute(told).fetchall() == connection.execute(told).fetchall(), told
    assert not database.in_transaction
    connection.close()


@pytest.mark.parametrize("version", range(1, schema.VERSION + 1))
def test_every_version_is_told_from_every_other(version: int) -> None:
    """What a version makes is what it has to hold; under each other number it is refused, in words
    that name both numbers, and nothing is written.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.make(connection, version)
    assert schema.check(connection) == version
    for other in {-3, 0, version - 1, version + 1, schema.VERSION} - {version}:
        connection.execute(f"PRAGMA user_version = {other}")
        if other in ALIKE.get(version, ()):
            assert schema.check(connection) == other
            continue
        code, told = refused(connection)
        assert code == ("newer_schema" if other > schema.VERSION else "foreign_schema")
        assert re.search(rf"schema version {other}\b", told)
        assert f"has to say {max({version} | ALIKE.get(version, set()))} again" in told
        assert connection.execute("PRAGMA user_version").fetchone() == (other,)
    connection.close()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ("DROP TABLE ledger", "no table ledger"),
        ("DROP INDEX transcript_sent", "no index transcript_sent"),
        ("ALTER TABLE runs RENAME COLUMN flow TO flew", "column 'flew'"),
        ("ALTER TABLE runs ADD COLUMN more DEFAULT 5", "column 'more'"),
        ("ALTER TABLE tokens DROP COLUMN rate", "table tokens with other columns"),
        (
            "ALTER TABLE runs ADD COLUMN made GENERATED ALWAYS AS (1) VIRTUAL",
            "generated column 'made'",
        ),
        (
            "DROP INDEX transcript_sent; CREATE INDEX transcript_sent ON transcript(seq)",
            "index transcript_sent over other columns",
        ),
    ],
)
def test_changed_tables_are_named(database: sqlite3.Connection, changed: str, named: str) -> None:
    """At the opening, before anything is read from them, and not as a storage that cannot be read
    just now.
    """
    database.executescript(changed)
    code, told = refused(database)
    assert code == "foreign_schema"
    assert named in told
    assert "ordain restore" in told


def test_a_difference_is_none_of_tables_that_are_not_ours(database: sqlite3.Connection) -> None:
    """What no version has is left alone, in either."""
    ours = shape_of(database)
    database.execute("CREATE TABLE theirs (x)")
    assert difference(shape_of(database), ours, ours) == ""
    database.execute("DROP TABLE outbox")
    assert difference(shape_of(database), ours, ours) == "no table outbox"
