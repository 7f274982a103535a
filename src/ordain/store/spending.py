"""SpendingSearch over SQLite: which runs asked models is read from an index, and only their records
are.
"""

from __future__ import annotations

import sqlite3

from ordain.errors import JournalCorrupt
from ordain.journal.records import Record
from ordain.journal.spending import SPENDING
from ordain.ports.spending import SpendingPage, SpendingRun
from ordain.store.run_records import asking, read_opening, read_records
from ordain.store.schema import SETTLING
from ordain.store.sqlite import SqliteStore

_RUNS = (
    "SELECT no, id, flow, session, created_at, root FROM runs WHERE workspace = ? AND no < ? "
    "ORDER BY no DESC LIMIT ?"
)
_ASKED = (
    f"SELECT run FROM records WHERE {SETTLING} AND run BETWEEN ?1 AND ?2"
    " UNION SELECT run FROM sheets WHERE settled = 1 AND run BETWEEN ?1 AND ?2"
)
_LAST = 2**63 - 1


class SqliteSpending:
    """Implements ``SpendingSearch`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store

    async def spending(self, *, workspace: str, before: int | None, limit: int) -> SpendingPage:
        """See ``SpendingSearch.spending``."""
        return await self._store.read_apart(lambda db: _page(db, workspace, before, limit))


def _page(db: sqlite3.Connection, workspace: str, before: int | None, limit: int) -> SpendingPage:
    rows = db.execute(_RUNS, (workspace, _LAST if before is None else before, limit)).fetchall()
    if not rows:
        return SpendingPage(runs=(), seen=0, oldest=0, next=None)
    first, last = rows[-1][0], rows[0][0]
    asked = {run for (run,) in db.execute(_ASKED, (first, last))}
    wanted = {row[0]: row for row in rows if row[0] in asked}
    runs, damaged, openings = list[SpendingRun](), 0, dict[int, Record | None]()
    query = asking(db)
    for no, row in wanted.items():
        try:
            if row[5] not in openings:
                openings[row[5]] = read_opening(query, row[5])
            records = read_records(query, no, names=SPENDING)
            runs.append(
                SpendingRun(
                    id=row[1],
                    flow=row[2],
                    session=row[3] or "",
                    records=records,
                    opening=openings[row[5]],
                )
            )
        except JournalCorrupt:
            damaged += 1
    following = first if len(rows) == limit else None
    return SpendingPage(
        runs=runs, seen=len(rows), oldest=rows[-1][4], next=following, damaged=damaged
    )
