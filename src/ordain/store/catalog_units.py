"""Catalogs in the storage: kept before they are used, and taken out again where no record was
written while they were current.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from ordain.ports.store import Outcome
from ordain.ports.writes import Stored


def keep(db: sqlite3.Connection, stored: Stored) -> None:
    """Store what is not there yet: catalogs, and the tables of phrases that they name."""
    for row in stored:
        db.execute("INSERT OR IGNORE INTO catalogs VALUES (?,?)", row)


def keep_catalog(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Store a catalog and what belongs to it; ``known`` where it was stored before. ``count`` is
    how much had been written until now.
    """
    known = db.execute("SELECT 1 FROM catalogs WHERE digest = ?", (args["digest"],)).fetchone()
    keep(db, args["stored"])
    return Outcome(refused="known" if known else "", count=_written(db))


def drop_catalog(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Take a catalog out unless a run pins it or anything was written since ``written``: records
    and entries name what was current.

    Its table of phrases goes with it unless another stored catalog names that.
    """
    if (
        _written(db) != args["written"]
        or db.execute("SELECT 1 FROM runs WHERE catalog = ? LIMIT 1", (args["digest"],)).fetchone()
    ):
        return Outcome(refused="in_use")
    dropped = db.execute("DELETE FROM catalogs WHERE digest = ?", (args["digest"],)).rowcount
    table = args["table"]
    if (
        dropped
        and table
        and not db.execute(
            "SELECT 1 FROM catalogs WHERE instr(bytes, CAST(? AS BLOB)) LIMIT 1", (table,)
        ).fetchone()
    ):
        db.execute("DELETE FROM catalogs WHERE digest = ?", (table,))
    return Outcome(count=dropped)


def _written(db: sqlite3.Connection) -> int:
    """Grows with every record and every entry that is written: neither is ever deleted while an
    engine runs.
    """
    (count,) = db.execute(
        "SELECT (SELECT coalesce(max(pos), 0) FROM sheets) + (SELECT coalesce(max(no), 0) FROM "
        "transcript)"
    ).fetchone()
    return int(count)
