"""The rows of the configuration: every version of every record, none rewritten; what a decision
reads and writes of them inside the write transaction.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from ordain.contracts.pinned import PinScope, ResourceType, pins_of
from ordain.journal.ledger_items import LedgerItem, config_item
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.shared import ConfigFound, ConfigRead

CONFIGURATION_TABLES = """
CREATE TABLE configuration(
  place TEXT NOT NULL, resource TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, config BLOB, by TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (place, resource, id, version)) WITHOUT ROWID;
"""
"""``config`` is NULL where the record was removed."""
COLUMNS = "place, resource, id, version, config, by, at"
_NEWEST = (
    f"SELECT {COLUMNS} FROM configuration WHERE place = ? AND resource = ? AND id = ? ORDER BY "  # noqa: S608 - constants
    "version DESC LIMIT 1"
)
_COUNTED = "SELECT count(*) FROM configuration WHERE place = ? AND version = 1"
_STANDS = (
    "coalesce((SELECT config IS NOT NULL FROM configuration WHERE place = ? AND resource = ? AND "
    "id = ? ORDER BY version DESC LIMIT 1), 0)"
)
_ANY_STANDS = tuple(f"SELECT {' OR '.join([_STANDS] * pins)}" for pins in range(len(PinScope) + 1))
"""By how many records are asked for: whether the newest version of one of them stands."""


def record_of(row: tuple[Any, ...]) -> ConfigRecord:
    """A row of ``COLUMNS`` as a record."""
    place, resource, name, version, config, by, at = row
    return ConfigRecord(
        key=ConfigKey(place=place, resource=resource, id=name),
        version=version,
        config=config,
        by=by,
        at=at,
    )


def read_config(db: sqlite3.Connection, what: ConfigRead) -> ConfigFound:
    """A record as it stands, and how many its place has."""
    key = what.key
    row = db.execute(_NEWEST, (key.place, key.resource, key.id)).fetchone()
    (records,) = db.execute(_COUNTED, (key.place,)).fetchone()
    return ConfigFound(newest=None if row is None else record_of(row), records=records)


def put_config(db: sqlite3.Connection, record: ConfigRecord) -> bool:
    """Add a version; whether it was not there yet."""
    key = record.key
    row = (key.place, key.resource, key.id, record.version, record.config, record.by, record.at)
    return (
        db.execute("INSERT OR IGNORE INTO configuration VALUES (?,?,?,?,?,?,?)", row).rowcount == 1
    )


def drop_pin(db: sqlite3.Connection, workspace: str, session: str) -> list[LedgerItem]:
    """The pin of a session goes with its name, every version of it; what stood until now. No other
    session under that name is pinned by it.
    """
    place, pin = pins_of(workspace, session)[PinScope.SESSION]
    key = (place, ResourceType.POLICY, pin)
    gone = db.execute(
        "DELETE FROM configuration WHERE place = ? AND resource = ? AND id = ? RETURNING "  # noqa: S608 - constants
        f"{COLUMNS}",
        key,
    )
    return [config_item(row[:4], row[4], row[5:]) for row in gone.fetchall()]


def is_profiled(db: sqlite3.Connection, workspace: str, session: str) -> bool:
    """Whether a pin that stands concerns a session: its own, its workspace's or the global one. In
    most folders nothing was ever configured, and each message asks.
    """
    if db.execute("SELECT 1 FROM configuration LIMIT 1").fetchone() is None:
        return False
    pins = pins_of(workspace, session).values()
    asked = [part for place, pin in pins for part in (place, ResourceType.POLICY, pin)]
    return bool(db.execute(_ANY_STANDS[len(pins)], asked).fetchone()[0])
