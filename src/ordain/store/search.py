"""RunSearch over SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ordain.journal.records import STOPPED, Record
from ordain.ports.search import RunRow
from ordain.store.spending import SqliteSpending

_ROW = (
    "SELECT r.id, r.flow, r.status, r.reason, p.id, o.id, r.created_at, r.ended_at, r.head_seq, r.wake_at FROM runs r"
    " LEFT JOIN runs p ON p.no = r.parent JOIN runs o ON o.no = r.root"
)

_STOPPED_BELOW = (
    "WITH RECURSIVE below(no, status) AS (SELECT c.no, c.status FROM runs r JOIN runs c ON c.parent = r.no WHERE r.id = ?"
    " UNION ALL SELECT c.no, c.status FROM below JOIN runs c ON c.parent = below.no)"
    f" SELECT 1 FROM below WHERE status IN ({','.join('?' * len(STOPPED))}) LIMIT 1"
)


class SqliteSearch(SqliteSpending):
    """Implements ``Search`` on the store's reading connection."""

    def runs(self, *, statuses: Sequence[str], roots_only: bool, limit: int, before: str | None, workspace: str | None) -> Sequence[RunRow]:
        """See ``RunSearch.runs``."""
        where, parameters = ["1"], list[Any]()
        if statuses:
            where.append(f"r.status IN ({','.join('?' * len(statuses))})")
            parameters += statuses
        if workspace is not None:
            where.append("r.workspace = ?")
            parameters.append(workspace)
        if roots_only:
            where.append("r.parent IS NULL")
        if before is not None:
            where.append("r.no < (SELECT no FROM runs WHERE id = ?)")
            parameters.append(before)
        rows = self._store.query(f"{_ROW} WHERE {' AND '.join(where)} ORDER BY r.no DESC LIMIT ?", [*parameters, limit])
        return [
            RunRow(
                id=row[0],
                flow=row[1],
                status=row[2],
                reason=row[3],
                parent=row[4],
                root=row[5],
                created_at=row[6],
                ended_at=row[7],
                head_seq=row[8],
                wake_at=row[9],
            )
            for row in rows
        ]

    def counts(self) -> dict[str, int]:
        """See ``RunSearch.counts``."""
        return dict(self._store.query("SELECT status, count(*) FROM runs GROUP BY status"))

    def journal_bytes(self, run: str) -> tuple[int, int]:
        """See ``RunSearch.journal_bytes``."""
        rows = self._store.query(
            "SELECT coalesce(sum(length(r.body) + length(r.digest) + length(r.chain) + length(r.kind) + length(r.name) + 24), 0),"
            " coalesce(sum(length(p.bytes)), 0) FROM records r LEFT JOIN payloads p ON p.id = r.payload"
            " WHERE r.run = (SELECT no FROM runs WHERE id = ?)",
            (run,),
        )
        return rows[0][0], rows[0][1]

    def records(self, run: str, after: int) -> Sequence[Record]:
        """See ``RunSearch.records``."""
        return self._store.records_after(run, after)

    def status(self, run: str) -> str | None:
        """See ``RunSearch.status``."""
        rows = self._store.query("SELECT status FROM runs WHERE id = ?", (run,))
        return rows[0][0] if rows else None

    def stopped_below(self, run: str) -> bool:
        """See ``RunSearch.stopped_below``; only runs below the one are looked at, by their index."""
        return bool(self._store.query(_STOPPED_BELOW, (run, *sorted(STOPPED))))

    def workspace(self, run: str) -> str | None:
        """See ``RunSearch.workspace``."""
        rows = self._store.query("SELECT workspace FROM runs WHERE id = ?", (run,))
        return rows[0][0] if rows else None
