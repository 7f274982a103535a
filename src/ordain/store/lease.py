"""Lease over SQLite: the engine's last beat and its pauses, and the operations that write them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ordain.journal.lost_time import Pause
from ordain.ports.store import Outcome
from ordain.store.schema import UNSETTLED


class Queries(Protocol):
    """What answers queries of what is committed."""

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows."""
        ...


class SqliteLease:
    """Implements ``Lease``."""

    def __init__(self, store: Queries) -> None:
        """Reads what the store has committed."""
        self._store = store

    def last_beat(self) -> int | None:
        """See ``Lease.last_beat``."""
        rows = self._store.query("SELECT at FROM beats")
        return rows[0][0] if rows else None

    def pauses(self) -> Sequence[Pause]:
        """See ``Lease.pauses``."""
        return [Pause(began, ended) for began, ended in self._store.query("SELECT began, ended FROM pauses ORDER BY no")]


def beat(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The engine is at work."""
    return Outcome(count=db.execute("INSERT OR REPLACE INTO beats VALUES (1, ?)", (args["at"],)).rowcount)


def pause(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Nobody could work; pauses that no unsettled run has seen go."""
    oldest = f"SELECT coalesce(min(created_at), ?) FROM runs WHERE {UNSETTLED} OR status = 'queued'"  # noqa: S608 - a constant of the schema
    db.execute(f"DELETE FROM pauses WHERE ended < ({oldest})", (args["began"],))  # noqa: S608 - as above
    return Outcome(count=db.execute("INSERT INTO pauses(began, ended) VALUES (?, ?)", (args["began"], args["ended"])).rowcount)


def clock_back(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The clock was set back: what was said of moments to come is forgotten."""
    db.execute("UPDATE beats SET at = ? WHERE at > ?", (args["at"], args["at"]))
    db.execute("UPDATE pauses SET ended = ? WHERE ended > ?", (args["at"], args["at"]))
    return Outcome(count=db.execute("DELETE FROM pauses WHERE began >= ended").rowcount)


LEASE_OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "beat": beat,
    "pause": pause,
    "clock_back": clock_back,
}
