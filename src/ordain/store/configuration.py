"""The configuration over SQLite, as durable now."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.store.configuration_rows import COLUMNS, record_of
from ordain.store.sqlite import SqliteStore

_CURRENT = (
    "SELECT c.place, c.resource, c.id, c.version, c.config, c.by, c.at FROM json_each(?) k JOIN "
    "configuration c"
    " ON c.place = json_extract(k.value, '$[0]') AND c.resource = json_extract(k.value, '$[1]') "
    "AND c.id = json_extract(k.value, '$[2]')"
    " WHERE c.version = (SELECT max(version) FROM configuration o WHERE o.place = c.place AND "
    "o.resource = c.resource AND o.id = c.id)"
    " ORDER BY k.key"
)
_RECORDS = (
    f"SELECT {COLUMNS} FROM configuration c WHERE place = ?1 AND resource = ?2 AND id > ?3 AND "  # noqa: S608 - constants
    "config IS NOT NULL"
    " AND version = (SELECT max(version) FROM configuration o WHERE o.place = ?1 AND o.resource = "
    "?2 AND o.id = c.id)"
    " ORDER BY id LIMIT ?4"
)
_HISTORY = (
    f"SELECT {COLUMNS} FROM configuration WHERE place = ? AND resource = ? AND "  # noqa: S608 - constants
    "id = ?"
    " AND (?4 IS NULL OR version < ?4) ORDER BY version DESC LIMIT ?5"
)


class SqliteConfiguration:
    """Implements ``Configuration`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store
        self._empty_at: int | None = None
        self._asked_in: asyncio.AbstractEventLoop | None = None

    async def current(self, keys: Sequence[ConfigKey]) -> Sequence[ConfigRecord]:
        """See ``Configuration.current``."""
        if self._is_empty():
            return []
        asked = json.dumps([[key.place, key.resource, key.id] for key in keys])
        return [record_of(row) for row in self._store.query(_CURRENT, (asked,))]

    def _is_empty(self) -> bool:
        """Whether nothing was ever configured, as in most folders; each call of each run asks.

        That it was so holds until somebody commits here, and for one turn of the loop: a commit of
        another process within it cannot be told from one that came a moment later.
        """
        commits, loop = self._store.writer.commits, self._asked_in
        if self._empty_at == commits and loop is not None and loop.is_running():
            return True
        if self._store.query("SELECT 1 FROM configuration LIMIT 1"):
            return False
        self._asked_in = loop = asyncio._get_running_loop()  # noqa: SLF001 - there need be none
        if loop is not None:
            self._empty_at = commits
            loop.call_soon(self._look_anew)
        return True

    def _look_anew(self) -> None:
        self._empty_at = None

    async def records(
        self, place: str, resource: str, *, limit: int, after: str
    ) -> Sequence[ConfigRecord]:
        """See ``Configuration.records``."""
        return [
            record_of(row) for row in self._store.query(_RECORDS, (place, resource, after, limit))
        ]

    async def history(
        self, key: ConfigKey, *, limit: int, before: int | None
    ) -> Sequence[ConfigRecord]:
        """See ``Configuration.history``."""
        return [
            record_of(row)
            for row in self._store.query(_HISTORY, (key.place, key.resource, key.id, before, limit))
        ]
