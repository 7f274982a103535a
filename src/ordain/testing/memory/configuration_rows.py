"""The rows of the configuration in a shared memory, as a unit reads and writes them."""

from __future__ import annotations

from ordain.contracts.pinned import ResourceType, pins_of
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.shared import ConfigFound, ConfigRead
from ordain.testing.memory.rows import MemoryRows


def read_config(rows: MemoryRows, what: ConfigRead) -> ConfigFound:
    """A record as it stands, and how many its place has."""
    versions = rows.configuration.get(what.key, ())
    records = sum(key.place == what.key.place for key in rows.configuration)
    return ConfigFound(newest=versions[-1] if versions else None, records=records)


def put_config(rows: MemoryRows, record: ConfigRecord) -> bool:
    """Add a version; whether it was not there yet."""
    versions = rows.configuration.get(record.key, ())
    if any(one.version == record.version for one in versions):
        return False
    rows.configuration[record.key] = (*versions, record)
    return True


def is_profiled(rows: MemoryRows, workspace: str, session: str) -> bool:
    """Whether a pin that stands concerns a session."""
    for place, pin in pins_of(workspace, session).values():
        versions = rows.configuration.get(
            ConfigKey(place=place, resource=ResourceType.POLICY, id=pin), ()
        )
        if versions and versions[-1].config is not None:
            return True
    return False
