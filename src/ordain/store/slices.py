"""A slice of upkeep as a unit of the one writer, and how much it may touch."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

from msgspec import Struct, field

from ordain.ports.upkeep import Slice
from ordain.store.ledger import LedgerDraft

SLICE_ROWS = 256
SLICE_BYTES = 1024 * 1024
SLICE_LOOKS = 4 * SLICE_ROWS
"""Rows that a slice looks at where it has nothing to do with them."""
SLICE_S = 0.02
"""A slice that has taken so long goes no further: rows that storage is slow to give, or a busy
machine, hold up nobody for longer.
"""


def _ends() -> float:
    return time.monotonic() + SLICE_S


class SliceUnit(Struct):
    """``work`` is done inside the write transaction and may be done again, and tells the ledger
    what it took away; ``made`` is what became of it. ``destroys`` content.
    """

    work: Callable[[sqlite3.Connection, LedgerDraft], Slice]
    destroys: bool
    made: Slice | None = None

    @property
    def last(self) -> bool:
        """Whether nothing is left to do."""
        return self.made is not None and self.made.after is None


class Allowance(Struct):
    """What is left of a slice. One row goes through however large it is and however long it takes;
    after it, the slice is over.
    """

    rows: int = SLICE_ROWS
    bytes: int = SLICE_BYTES
    looks: int = SLICE_LOOKS
    changed: int = 0
    begun: bool = False
    ends: float = field(default_factory=_ends)

    @property
    def spent(self) -> bool:
        """Whether the slice is over."""
        return (
            self.rows <= 0
            or self.bytes <= 0
            or self.looks <= 0
            or (self.begun and time.monotonic() >= self.ends)
        )

    @property
    def most(self) -> int:
        """How many rows may be looked at now."""
        return max(min(self.looks, self.rows * 4), 1)

    def look(self) -> None:
        """One row was looked at."""
        self.begun = True
        self.looks -= 1

    def take(self, size: int, *, counts: bool = True) -> None:
        """One row of so many bytes is changed; it ``counts`` where content goes with it."""
        self.begun = True
        self.rows -= 1
        self.bytes -= size
        self.changed += counts
