"""What a database's own schema holds, table by table and column by column, held against one that
this build has made: a version number alone is anybody's word.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby

from msgspec import Struct

Column = tuple[str, str, int, int, int]
"""Name, declared type, whether NULL is excluded, place in the key, and whether it is hidden or
generated.
"""
SHARED = "shared_"
"""Before the name of a table of a kind's shared decisions."""
WORD_INDEX = re.compile(r"passages_text(_\d+)?(_(data|idx|content|docsize|config))?")
"""The text indices: one for each workspace, under SQLite's own names."""
SHOWN_CHARS = 80
_COLUMNS = """
    SELECT m.name, x.name, x.type, x."notnull", x.pk, x.hidden
    FROM main.sqlite_master AS m JOIN pragma_table_xinfo(m.name, 'main') AS x
    WHERE m.type = 'table' ORDER BY m.name, x.cid
"""
_INDICES = """
    SELECT m.name, m.tbl_name, l."unique", l.partial, x.name
    FROM main.sqlite_master AS m
    JOIN pragma_index_list(m.tbl_name, 'main') AS l ON l.name = m.name
    JOIN pragma_index_xinfo(m.name, 'main') AS x
    WHERE m.type = 'index' AND m.sql IS NOT NULL AND x.key ORDER BY m.name, x.seqno
"""


class Shape(Struct, frozen=True, kw_only=True):
    """The columns of each table, and of each index by what it is found and what it excludes."""

    tables: dict[str, list[Column]]
    indices: dict[str, list[tuple[object, ...]]]

    @property
    def digest(self) -> str:
        """Of all of it."""
        parts = (sorted(self.tables.items()), sorted(self.indices.items()))
        return sha256(repr(parts).encode()).hexdigest()[:32]


def shown(name: object) -> str:
    """A name that stands in somebody's file, as it may stand in a message."""
    return ascii(name)[:SHOWN_CHARS]


def columns_of(db: sqlite3.Connection, table: str) -> list[Column]:
    """The columns of one table, in their order."""
    return [
        (name, kind, notnull, key, hidden)
        for _, name, kind, notnull, _, key, hidden in db.execute(
            f'PRAGMA main.table_xinfo("{table}")'
        )
    ]


def shape_of(db: sqlite3.Connection) -> Shape:
    """What it holds, but for what SQLite itself makes, the text indices and what a kind's shared
    decisions keep.
    """
    return Shape(
        tables={
            name: [tuple(row[1:]) for row in rows]
            for name, rows in groupby(db.execute(_COLUMNS), key=lambda row: row[0])
            if not _apart(name)
        },
        indices={
            name: [tuple(row[1:]) for row in rows]
            for name, rows in groupby(db.execute(_INDICES), key=lambda row: row[0])
            if not _apart(name)
        },
    )


def _apart(name: object) -> bool:
    return str(name).startswith(("sqlite_", SHARED)) or bool(WORD_INDEX.fullmatch(str(name)))


def difference(found: Shape, ours: Shape, known: Shape) -> str:
    """The first thing in which a database is not what it should be, in words; "" where there is
    none. Tables and indices that no version has (``known``) are not ours to judge: whoever copies
    the file away may have some of his own.
    """
    for what, held, wanted, names in (
        ("table", found.tables, ours.tables, known.tables),
        ("index", found.indices, ours.indices, known.indices),
    ):
        for name in sorted(wanted.keys() - held.keys()):
            return f"no {what} {name}"
        for name in sorted(held.keys() & names.keys() - wanted.keys()):
            return f"{what} {name}, which that version does not have"
    for name, wanted in ours.tables.items():
        if told := column_difference(name, found.tables[name], wanted):
            return told
    for name, wanted in ours.indices.items():
        if found.indices[name] != wanted:
            return f"index {name} over other columns than Ordain makes"
    return ""


def column_difference(table: str, found: Sequence[Column], ours: Sequence[Column]) -> str:
    """The first thing in which a table's columns are not what they should be; "" where there is
    none.
    """
    if list(found) == list(ours):
        return ""
    known = {one[0]: one for one in ours}
    for name, kind, *_, hidden in found:
        if hidden:
            return f"table {table} with generated column {shown(name)}"
        if name not in known:
            return f"table {table} with column {shown(name)}, which it does not have"
        if kind != known[name][1]:
            return (
                f"table {table} whose column {name} is of type {shown(kind)}, and not "
                f"{known[name][1]}"
            )
    return f"table {table} with other columns, keys or order than Ordain makes"
