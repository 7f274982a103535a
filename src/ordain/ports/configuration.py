"""Configuration: the records of the control plane as durable now. Written by ``Arrive`` units
(``ports.writes.ConfigVersion``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class ConfigKey(Struct, frozen=True, kw_only=True):
    """Which record: where it belongs (a workspace, or ``contracts.pinned.EVERYWHERE``), of which
    type, by which id.
    """

    place: str
    resource: str
    id: str


class ConfigRecord(Struct, frozen=True, kw_only=True):
    """One version of a record, with who wrote it and when (microseconds since 1970). ``config`` is
    canonical JSON; None: it was removed then.
    """

    key: ConfigKey
    version: int
    config: bytes | None
    by: str
    at: int


class Configuration(Protocol):
    """Reading records and their history. Errors: none but the storage's own; what is not there is
    None or empty.
    """

    async def current(self, keys: Sequence[ConfigKey]) -> Sequence[ConfigRecord]:
        """The newest version of each that was ever written, removals among them, in the order of
        ``keys``; all as of one moment.
        """
        ...

    async def records(
        self, place: str, resource: str, *, limit: int, after: str
    ) -> Sequence[ConfigRecord]:
        """What stands of a type in a place, by id, behind id ``after``."""
        ...

    async def history(
        self, key: ConfigKey, *, limit: int, before: int | None
    ) -> Sequence[ConfigRecord]:
        """Versions of a record, the newest first, older than version ``before``."""
        ...
