"""SpendingSearch over SQLite: which runs asked models is read from an index, and only their records are."""

from __future__ import annotations

import sqlite3
from itertools import groupby
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.spending import SPENDING
from ordain.ports.spending import SpendingPage, SpendingRun
from ordain.store.schema import SETTLING
from ordain.store.sqlite import SqliteStore, stored_record

_RUNS = "SELECT no, id, flow, session, created_at, root FROM runs WHERE workspace = ? AND no < ? ORDER BY no DESC LIMIT ?"
_ASKED = f"SELECT DISTINCT run FROM records WHERE {SETTLING} AND run BETWEEN ? AND ?"
_WHOLE = (
    "SELECT r.run, r.seq, r.kind, r.name, r.v, r.at, r.digest, r.chain, coalesce(r.body, p.bytes)"
    " FROM records r LEFT JOIN payloads p ON p.id = r.payload WHERE r.run IN ({runs})"
)
_RECORDS = _WHOLE + " AND r.name IN ({names}) ORDER BY r.run, r.seq"
_OPENINGS = _WHOLE + " AND r.seq = 0"
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
    found = _records(db, list(wanted)) if wanted else {}
    opened = _openings(db, sorted({row[5] for row in wanted.values()}))
    runs, damaged = list[SpendingRun](), 0
    for no, row in wanted.items():
        try:
            records = [stored_record(one[1:]) for one in found.get(no, ())]
            opening = stored_record(opened[row[5]][1:]) if row[5] in opened else None
            runs.append(SpendingRun(id=row[1], flow=row[2], session=row[3] or "", records=records, opening=opening))
        except JournalCorrupt:
            damaged += 1
    following = first if len(rows) == limit else None
    return SpendingPage(runs=runs, seen=len(rows), oldest=rows[-1][4], next=following, damaged=damaged)


def _openings(db: sqlite3.Connection, roots: list[int]) -> dict[int, tuple[Any, ...]]:
    sql = _OPENINGS.format(runs=",".join("?" * len(roots)))
    return {row[0]: row for row in db.execute(sql, roots)} if roots else {}


def _records(db: sqlite3.Connection, runs: list[int]) -> dict[int, list[tuple[Any, ...]]]:
    sql = _RECORDS.format(runs=",".join("?" * len(runs)), names=",".join("?" * len(SPENDING)))
    rows = db.execute(sql, [*runs, *SPENDING]).fetchall()
    return {run: list(group) for run, group in groupby(rows, key=lambda row: row[0])}
