"""RowTables that hold nothing but rows by key: made, read and written by what their definition
says, so that a new one brings no SQL of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ordain.errors import ConfigurationError
from ordain.ports.shared import RowRead
from ordain.ports.writes import RowTable, TableRow

RowTables = Mapping[str, RowTable]


def make_tables(db: sqlite3.Connection, tables: Sequence[RowTable]) -> RowTables:
    """Make those that are not there yet.

    Raises:
        ConfigurationError: two have one name, or one is there with other columns.
    """
    made: dict[str, RowTable] = {}
    for table in tables:
        columns = ["workspace", *table.key, *table.columns]
        if table.name in made:
            raise ConfigurationError(f"two tables are named {table.name}", code="invalid_table")
        stands = [row[1] for row in db.execute(f"PRAGMA table_info({table.stored})")]
        if not stands:
            given = ", ".join(
                f"{name} NOT NULL" if name in ("workspace", *table.key) else name
                for name in columns
            )
            key = ", ".join(("workspace", *table.key))
            db.execute(f"CREATE TABLE {table.stored}({given}, PRIMARY KEY ({key})) WITHOUT ROWID")
        elif stands != columns:
            raise ConfigurationError(
                f"table {table.name} has columns {', '.join(stands[1:])}, not those of this build",
                code="invalid_table",
            )
        made[table.name] = table
    return made


def read_row(
    db: sqlite3.Connection, workspace: str, table: RowTable, read: RowRead
) -> tuple[Any, ...] | None:
    """The values that stand by a key."""
    found = db.execute(
        f"SELECT {', '.join(table.columns)} FROM {table.stored} WHERE {_by_key(table)}",  # noqa: S608 - names that a ``RowTable`` may have
        (workspace, *read.key),
    ).fetchone()
    return None if found is None else tuple(found)


def put_rows(
    db: sqlite3.Connection, workspace: str, table: RowTable, rows: Sequence[TableRow]
) -> None:
    """Put each row by its key, instead of what stands there."""
    marks = ", ".join("?" * (1 + len(table.key) + len(table.columns)))
    db.executemany(
        f"INSERT OR REPLACE INTO {table.stored} VALUES ({marks})",  # noqa: S608 - as above
        [(workspace, *row.key, *row.values) for row in rows],
    )


def _by_key(table: RowTable) -> str:
    return " AND ".join(f"{name} = ?" for name in ("workspace", *table.key))
