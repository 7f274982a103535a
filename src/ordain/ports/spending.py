"""SpendingSearch: the records of model calls, run by run, for accounts of what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ordain.journal.records import Record


class SpendingRun(Struct, frozen=True, kw_only=True):
    """A run that asked models, and those of its records that say what that came to
    (``journal.spending``), in order.

    ``opening`` is the ``started`` record of the run at its root, which says whom the work was for.
    """

    id: str
    flow: str
    session: str
    records: Sequence[Record]
    opening: Record | None = None


class SpendingPage(Struct, frozen=True, kw_only=True):
    """Runs, newest first.

    ``seen`` is how many were looked at, those that asked no model included; ``oldest`` is when the
    oldest of them began, in microseconds; ``next`` is where the page after this one begins, None
    after the last. ``damaged`` runs have rows that are no records.
    """

    runs: Sequence[SpendingRun]
    seen: int
    oldest: int
    next: int | None
    damaged: int = 0


class SpendingSearch(Protocol):
    """Reads only; a page is quick, however large the journal."""

    async def spending(self, *, workspace: str, before: int | None, limit: int) -> SpendingPage:
        """The newest ``limit`` runs of a workspace, or those after page ``before``."""
        ...
