"""Catalogs in the storage: kept before they are used, and taken out again where no record was written while they were current."""

from __future__ import annotations

import sqlite3
from typing import Any

from ordain.ports.store import Outcome


def keep_catalog(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Store a catalog; ``known`` where it was stored before. ``count`` is how much had been written until now."""
    new = db.execute("INSERT OR IGNORE INTO catalogs VALUES (?,?)", (args["digest"], args["bytes"])).rowcount
    return Outcome(refused="" if new else "known", count=_written(db))


def drop_catalog(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Take a catalog out unless a run pins it or anything was written since ``written``: records and entries name what was current."""
    if _written(db) != args["written"] or db.execute("SELECT 1 FROM runs WHERE catalog = ? LIMIT 1", (args["digest"],)).fetchone():
        return Outcome(refused="in_use")
    return Outcome(count=db.execute("DELETE FROM catalogs WHERE digest = ?", (args["digest"],)).rowcount)


def _written(db: sqlite3.Connection) -> int:
    """Grows with every record and every entry: neither is ever deleted."""
    (count,) = db.execute("SELECT (SELECT coalesce(max(pos), 0) FROM records) + (SELECT coalesce(max(no), 0) FROM transcript)").fetchone()
    return int(count)
