"""Ledger: the one chain over everything that a store holds, and what stands in it now, for whoever
holds the one against the other.

Every commit of the store that opens, ends or erases a run or changes where a session stands writes
at most one row for its whole batch, in the same transaction, whichever process makes it: so no
crash leaves a row without what it names, nor the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ordain.journal.ledger import Discrepancy, LedgerRow
from ordain.journal.ledger_items import LedgerItem


class Ledger(Protocol):
    """Reading the ledger. Errors: ``StorageUnavailable``."""

    async def read(
        self, row: Callable[[LedgerRow], None], stands: Callable[[LedgerItem], None]
    ) -> None:
        """Hand over every row in its order, then everything that stands, both as of one commit.
        Raises what they raise.
        """
        ...

    async def contradictions(self) -> Sequence[Discrepancy]:
        """Columns that repeat what others of this store say and say something else, each named."""
        ...
