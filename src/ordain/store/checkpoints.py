"""When the log goes into the database: after so many batches or rows, and at once where content was
destroyed, whose words stand in it still.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import suppress

from ordain.errors import OrdainError
from ordain.ports.store import Append, Operation, Outcome, Unit
from ordain.store.slices import SliceUnit

CHECKPOINT_BATCHES = 256
CHECKPOINT_CHANGES = 8192
"""After so many rows the log goes into the database, however few batches they came in: what one
checkpoint has to do is bounded.
"""
CHECKPOINT_SLICES = 4
TRUNCATE_BATCHES = 16
"""After so many batches a log that could not be emptied, because somebody was reading in it, is
tried again.
"""


class Checkpoints:
    """Of the connection that writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Nothing was committed yet."""
        self._db = connection
        self._batches = self._checkpointed = self._slices = 0
        self._log_holds = False

    def after(
        self, units: Sequence[Unit | SliceUnit], results: Sequence[Outcome | OrdainError]
    ) -> None:
        """These are committed: do what is due. One that fails loses nothing, and the next one tries
        again.
        """
        self._batches += 1
        destroyed = False
        for place, unit in enumerate(units):
            if type(unit) is Append and unit.operation is None:
                continue  # nearly every one there is
            self._slices += type(unit) is SliceUnit
            destroyed = destroyed or _destroys(unit, results[place])
        if destroyed or (self._log_holds and self._batches % TRUNCATE_BATCHES == 0):
            with suppress(sqlite3.Error):
                self._log_holds = True
                (busy, *_) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                self._log_holds = bool(busy)
        elif (
            self._batches % CHECKPOINT_BATCHES == 0
            or self._slices >= CHECKPOINT_SLICES
            or self._db.total_changes - self._checkpointed >= CHECKPOINT_CHANGES
        ):
            # before it makes that long work
            with suppress(sqlite3.Error):
                self._checkpointed, self._slices = self._db.total_changes, 0
                self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")

    def empty_log(self) -> bool:
        """Bring the whole log into the database; whether that could be done."""
        try:
            return not self._db.execute("PRAGMA wal_checkpoint(FULL)").fetchone()[0]
        except sqlite3.Error:
            return False


def _destroys(unit: Unit | SliceUnit, result: Outcome | OrdainError) -> bool:
    """Whether content was destroyed, whose words stand in the log still; of what comes in several
    units, whether its last one is done.
    """
    if isinstance(unit, SliceUnit):
        return unit.destroys and unit.last and isinstance(result, Outcome)
    operation = unit.operation if isinstance(unit, Append) else unit
    if not isinstance(operation, Operation) or not isinstance(result, Outcome) or result.refused:
        return False
    return operation.name == "erase" or (operation.name == "library_tidy" and not result.count)
