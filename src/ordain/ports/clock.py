"""Clock and chance: the only sources of time and of fresh ids."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Wall time in microseconds since 1970 UTC; may step back, the journal does not
    (``journal.codec.Scribe``).
    """

    def now(self) -> int:
        """Now."""
        ...

    def new_key(self) -> bytes:
        """A fresh digest key for a subject."""
        ...

    def new_run_id(self) -> str:
        """128 fresh bits as 32 hex characters, ordered by time."""
        ...
