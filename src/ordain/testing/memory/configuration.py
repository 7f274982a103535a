"""The configuration over a shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.testing.memory.shared import SharedMemory


class MemoryConfiguration:
    """Implements ``Configuration``."""

    def __init__(self, shared: SharedMemory) -> None:
        """Reads only."""
        self._rows = shared.rows

    async def current(self, keys: Sequence[ConfigKey]) -> Sequence[ConfigRecord]:
        """See ``Configuration.current``."""
        return [versions[-1] for key in keys if (versions := self._rows.configuration.get(key))]

    async def records(
        self, place: str, resource: str, *, limit: int, after: str
    ) -> Sequence[ConfigRecord]:
        """See ``Configuration.records``."""
        newest = (
            versions[-1]
            for key, versions in self._rows.configuration.items()
            if (key.place, key.resource) == (place, resource)
        )
        found = sorted(
            (one for one in newest if one.config is not None and one.key.id > after),
            key=lambda one: one.key.id,
        )
        return found[:limit]

    async def history(
        self, key: ConfigKey, *, limit: int, before: int | None
    ) -> Sequence[ConfigRecord]:
        """See ``Configuration.history``."""
        versions = reversed(self._rows.configuration.get(key, ()))
        return [one for one in versions if before is None or one.version < before][:limit]
