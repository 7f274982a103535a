"""Ledger over a shared memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ordain.journal.ledger import Discrepancy, LedgerRow
from ordain.journal.ledger_items import LedgerItem
from ordain.testing.memory.ledger_items import standing_items
from ordain.testing.memory.shared import SharedMemory


class MemoryLedger:
    """Implements ``Ledger``."""

    def __init__(self, shared: SharedMemory) -> None:
        """Reads only."""
        self._rows = shared.rows

    async def read(
        self, row: Callable[[LedgerRow], None], stands: Callable[[LedgerItem], None]
    ) -> None:
        """See ``Ledger.read``."""
        for one in self._rows.ledger.values():
            row(one)
        for item in standing_items(self._rows):
            stands(item)

    async def contradictions(self) -> Sequence[Discrepancy]:
        """See ``Ledger.contradictions``: no column repeats another here."""
        return ()
