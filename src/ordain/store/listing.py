"""What a database still says of which runs and sessions there are, where some page of it is damaged.

A list that cannot be read to its end is read from its end, too, and by its index, which has its
names again: what one of them lacks another may have.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from msgspec import Struct

_RUNS = (
    "SELECT id FROM runs NOT INDEXED ORDER BY no",
    "SELECT id FROM runs NOT INDEXED ORDER BY no DESC",
    "SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY id",
    "SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY id DESC",
)
_SESSIONS = (
    "SELECT workspace, id FROM sessions NOT INDEXED ORDER BY no",
    "SELECT workspace, id FROM sessions NOT INDEXED ORDER BY no DESC",
    (
        "SELECT workspace, id FROM sessions INDEXED BY sqlite_autoindex_sessions_1"
        " ORDER BY workspace, id"
    ),
    (
        "SELECT workspace, id FROM sessions INDEXED BY sqlite_autoindex_sessions_1"
        " ORDER BY workspace DESC, id DESC"
    ),
)


class ReadableNames(Struct, frozen=True, kw_only=True):
    """Runs, and sessions by workspace and id, oldest first as far as that can be told. ``lacks``
    names the lists that could be read to their end in no way.
    """

    runs: tuple[str, ...]
    sessions: tuple[tuple[str, str], ...]
    lacks: tuple[str, ...]


def list_readable(db: sqlite3.Connection) -> ReadableNames:
    """All that can be read of both lists."""
    runs, every_run = _read(db, _RUNS)
    sessions, every_session = _read(db, _SESSIONS)
    return ReadableNames(
        runs=tuple(run for (run,) in runs),
        sessions=tuple((workspace, session) for workspace, session in sessions),
        lacks=tuple(
            name for name, whole in (("runs", every_run), ("sessions", every_session)) if not whole
        ),
    )


def _read(
    db: sqlite3.Connection, ways: tuple[str, ...]
) -> tuple[dict[tuple[Any, ...], None], bool]:
    """Rows by whatever way, each once; and whether one of the ways came to its end."""
    found = dict[tuple[Any, ...], None]()
    for way in ways:
        try:
            for row in db.execute(way):
                found[row] = None
        except sqlite3.DatabaseError:
            continue
        return found, True
    return found, False
