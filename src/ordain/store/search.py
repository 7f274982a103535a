"""RunSearch over SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.records import STOPPED, Record, Status
from ordain.ports.search import RunBeginning, RunRow
from ordain.ports.sessions import sent_id
from ordain.store.id_parts import named_by
from ordain.store.run_records import Statement, asking, read_opening, stored_bytes
from ordain.store.schema import RESTED, SENT, UNSETTLED
from ordain.store.spending import SqliteSpending
from ordain.store.typed_rows import RowColumns, check_row, is_moment, is_number, is_text, or_none

_ROW = (
    "SELECT r.id, r.flow, r.status, r.reason, p.id, o.id, r.created_at, r.ended_at, r.head_seq, "
    "r.wake_at, r.no,"
    " EXISTS (SELECT 1 FROM subjects s WHERE s.no = r.subject AND s.key IS NOT NULL) FROM runs r"
    " LEFT JOIN runs p ON p.no = r.parent JOIN runs o ON o.no = r.root"
)

_BEGAN_AS = (
    "SELECT r.no, r.flow, r.flow_version, EXISTS (SELECT 1 FROM subjects s WHERE s.no = r.subject "
    "AND s.key IS NOT NULL) FROM runs r WHERE r.id = ?"
)
_STOPPED_BELOW = (
    "WITH RECURSIVE below(no, status) AS (SELECT c.no, c.status FROM runs r JOIN runs c ON "
    "c.parent = r.no WHERE r.id = ?"
    " UNION ALL SELECT c.no, c.status FROM below JOIN runs c ON c.parent = below.no)"
    f" SELECT 1 FROM below WHERE status IN ({','.join('?' * len(STOPPED))}) LIMIT 1"
)

_TREE = (
    "WITH RECURSIVE t(no) AS (SELECT no FROM runs WHERE id = ? UNION SELECT r.no FROM runs r JOIN "
    "t ON r.parent = t.no)"
    " SELECT r.id FROM runs r JOIN t ON t.no = r.no ORDER BY r.no"
)

_SENT = (
    # SQLite takes a cross join from left to right: by itself it goes through all sessions first
    f"SELECT s.id, t.seq FROM transcript t CROSS JOIN sessions s ON s.no = t.session WHERE {SENT} "
    "AND t.message_id BETWEEN ?1 AND ?2"
    " AND s.workspace = ?3 AND (?4 = '' OR s.id = ?4) AND (?6 = '' OR substr(t.run, -length(?6)) "
    "= ?6) AND t.body IS NOT NULL AND EXISTS (SELECT 1 FROM subjects u WHERE u.no = t.subject AND "
    "u.key IS NOT NULL)"
    " ORDER BY t.message_id DESC LIMIT ?5"
)

_UNSETTLED = (Status.READY, Status.RUNNING, Status.WAITING)


def _of_status(status: str, of: str = "r.") -> str:
    """The condition, with that of the index that holds such runs. ``status`` is one of the known
    ones: it stands in the statement, as in the index.
    """
    condition = (UNSETTLED if status in _UNSETTLED else RESTED).replace("status", f"{of}status")
    return f"{of}status = '{Status(status)}' AND {condition}"


_RUN_COLUMNS: RowColumns = (
    *(
        ("id", is_text),
        ("flow", is_text),
        ("status", is_text),
        ("reason", is_text),
        ("parent", or_none(is_text)),
        ("root", is_text),
    ),
    *(
        ("created_at", is_moment),
        ("ended_at", or_none(is_moment)),
        ("head_seq", is_number),
        ("wake_at", or_none(is_moment)),
    ),
)


def _run_row(row: tuple[Any, ...], query: Statement) -> RunRow:
    check_row(f"run number {row[10]}", _RUN_COLUMNS, row)
    return RunRow(
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
        opening=_opening(query, row[10]) if row[11] else None,
    )


def _opening(query: Statement, run: int) -> Record | None:
    try:
        return read_opening(query, run)
    except JournalCorrupt:  # a list shows such a run, too
        return None


class SqliteSearch(SqliteSpending):
    """Implements ``Search`` on the store's reading connection."""

    async def runs(
        self,
        *,
        statuses: Sequence[str],
        roots_only: bool,
        limit: int,
        before: str | None,
        workspace: str | None,
        named: str = "",
    ) -> Sequence[RunRow]:
        """See ``RunSearch.runs``. Of each status by its index, newest first; of all, by number."""
        roots = "r.parent IS NULL" if roots_only else "1"
        where, parameters = list[str](), list[Any]()
        here, whose = ("", ()) if workspace is None else (" AND workspace = ?", (workspace,))
        if workspace is not None:
            where.append("r.workspace = ?")
            parameters.append(workspace)
        if before is not None:
            # of another workspace's run it would tell that it is there, and when it began
            where.append(f"r.no < (SELECT no FROM runs WHERE id = ?{here})")
            parameters += (before, *whose)
        if named:
            condition, parts = named_by(named)
            where.append(f"r.no IN (SELECT no FROM runs WHERE {condition})")
            parameters += parts
        asked = [
            _of_status(one) if one in STOPPED else f"{_of_status(one)} AND {roots}"
            for one in dict.fromkeys(statuses)
        ] or [roots]

        def read(db: sqlite3.Connection) -> list[RunRow]:
            rows = list[tuple[Any, ...]]()
            for one in asked:
                sql = f"{_ROW} WHERE {' AND '.join((one, *where))} ORDER BY r.no DESC LIMIT ?"
                rows += db.execute(sql, [*parameters, limit]).fetchall()
            return [
                _run_row(row, asking(db)) for row in sorted(rows, key=lambda row: -row[10])[:limit]
            ]

        return await self._store.read_apart(read)

    async def counts(self) -> dict[str, int]:
        """See ``RunSearch.counts``; from the indices by status."""

        def read(db: sqlite3.Connection) -> dict[str, int]:
            found = {
                status: db.execute(
                    f"SELECT count(*) FROM runs WHERE {_of_status(status, '')}"
                ).fetchone()[0]
                for status in Status
            }
            return {str(status): count for status, count in found.items() if count}

        return await self._store.read_apart(read)

    async def journal_bytes(self, run: str) -> tuple[int, int]:
        """See ``RunSearch.journal_bytes``."""
        for (no,) in self._store.query("SELECT no FROM runs WHERE id = ?", (run,)):
            return stored_bytes(self._store.query, no)
        return 0, 0

    async def records(self, run: str, after: int) -> Sequence[Record]:
        """See ``RunSearch.records``."""
        return self._store.records_after(run, after)

    async def beginning(self, run: str) -> RunBeginning | None:
        """See ``BeginningSearch.beginning``."""
        for no, flow, version, readable in self._store.query(_BEGAN_AS, (run,)):
            opening = _opening(self._store.query, no) if readable else None
            return RunBeginning(flow=flow, version=version, opening=opening)
        return None

    async def status(self, run: str) -> str | None:
        """See ``RunSearch.status``."""
        rows = self._store.query("SELECT status FROM runs WHERE id = ?", (run,))
        return rows[0][0] if rows else None

    async def stopped_below(self, run: str) -> bool:
        """See ``RunSearch.stopped_below``; only runs below the one are looked at, by their
        index.
        """
        return bool(self._store.query(_STOPPED_BELOW, (run, *sorted(STOPPED))))

    async def sent(
        self, workspace: str, digest: str, *, session: str = "", run: str = "", limit: int
    ) -> Sequence[tuple[str, int]]:
        """See ``SentSearch.sent``; by an index of such messages alone, which is in order: an id
        ends with the time.
        """
        first, last = sent_id(digest, ""), sent_id(digest, "\x7f")
        return self._store.query(_SENT, (first, last, workspace, session, limit, run))  # pyright: ignore[reportReturnType] - rows of these two columns

    async def workspace(self, run: str) -> str | None:
        """See ``RunSearch.workspace``."""
        rows = self._store.query("SELECT workspace FROM runs WHERE id = ?", (run,))
        return rows[0][0] if rows else None

    async def tree(self, run: str) -> Sequence[str]:
        """See ``WholeSearch.tree``."""
        return [found for (found,) in self._store.query(_TREE, (run,))]

    async def every_run(
        self, *, roots_only: bool, since: int | None = None, until: int | None = None
    ) -> Sequence[str]:
        """See ``WholeSearch.every_run``."""
        query = (
            "SELECT id FROM runs r WHERE (parent IS NULL OR NOT ?1 OR NOT EXISTS (SELECT 1 FROM "
            "runs p WHERE p.no = r.parent))"
            " AND (?2 IS NULL OR created_at >= ?2) AND (?3 IS NULL OR created_at < ?3) ORDER BY no"
        )
        return [found for (found,) in self._store.query(query, (roots_only, since, until))]

    async def every_session(self) -> Sequence[tuple[str, str]]:
        """See ``WholeSearch.every_session``."""
        return [
            (workspace, session)
            for workspace, session in self._store.query(
                "SELECT workspace, id FROM sessions ORDER BY no"
            )
        ]
