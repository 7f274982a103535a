"""Old record bodies, brought to the current version as they are read. Stored records are never
rewritten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from ordain.errors import JournalCorrupt
from ordain.journal.records import CURRENT_VERSION, RecordKind


def suspended_1(body: bytes) -> bytes:
    """Version 2 says what the run waits for; version 1 did not record it."""
    return msgspec.json.encode({**msgspec.json.decode(body), "waits_for": "unknown"})


UPCASTERS: Mapping[tuple[RecordKind, int], Callable[[bytes], bytes]] = {
    (RecordKind.SUSPENDED, 1): suspended_1
}
"""(kind, version) -> the body one version later."""


def upcast(kind: RecordKind, version: int, body: bytes) -> bytes:
    """The body in the current version of its kind.

    Raises:
        JournalCorrupt: the version is newer than this build or was never written.
    """
    if version == CURRENT_VERSION[kind]:
        return body
    while version < CURRENT_VERSION[kind]:
        step = UPCASTERS.get((kind, version))
        if step is None:
            raise JournalCorrupt(f"{kind} version {version} was never written")
        body, version = step(body), version + 1
    if version > CURRENT_VERSION[kind]:
        raise JournalCorrupt(f"{kind} version {version} is newer than this build")
    return body
