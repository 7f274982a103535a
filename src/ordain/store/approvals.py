"""Approvals over SQLite: reads."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from ordain.contracts.approvals import Grant
from ordain.ports.approvals import ApprovalRow
from ordain.rules.approve import ApprovalState
from ordain.store.approval_rows import APPROVAL_ROW, approval_row, read_approval
from ordain.store.grant_rows import GRANT_ROW, grant_row, read_grant
from ordain.store.id_parts import named_by
from ordain.store.sqlite import SqliteStore

_SESSION = "SELECT no FROM sessions WHERE workspace = ? AND id = ?"


class SqliteApprovals:
    """Implements ``ports.approvals.Approvals`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store

    async def approvals(
        self,
        workspace: str,
        *,
        states: Sequence[str],
        session: str,
        limit: int,
        before: int | None,
        named: str = "",
    ) -> Sequence[ApprovalRow]:
        """See ``Approvals.approvals``."""
        condition, parts = named_by(named, "a.id")
        within, whose = "", ()
        if session:
            found = self._store.query(_SESSION, (workspace, session))
            within, whose = " AND a.session = ? AND a.session <> 0", found[0] if found else (-1,)
        given = (workspace, 2**62 if before is None else before, *whose, *parts, limit)

        def read(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
            # of each state by its index: of several at once SQLite would sort all that there are
            rows = list[tuple[Any, ...]]()
            for state in dict.fromkeys(map(ApprovalState, states or ApprovalState)):
                sql = (
                    f"a.workspace = ? AND a.state = '{state}' AND a.no < ?{within} AND {condition}"
                )
                rows += db.execute(
                    f"{APPROVAL_ROW} WHERE {sql} ORDER BY a.no DESC LIMIT ?", given
                ).fetchall()
            return sorted(rows, key=itemgetter(-1), reverse=True)[:limit]

        if not (named or within):
            with self._store.reads() as db:
                return list(map(approval_row, read(db)))
        # however many are looked through, nobody is held up
        return list(map(approval_row, await self._store.read_apart(read)))

    async def approval(self, approval: str) -> ApprovalRow | None:
        """See ``Approvals.approval``."""
        with self._store.reads() as db:
            return read_approval(db, approval)

    async def grants(
        self,
        workspace: str,
        *,
        standing_at: int | None,
        limit: int,
        before: str | None,
        named: str = "",
    ) -> Sequence[Grant]:
        """See ``Approvals.grants``."""
        stands, moment = "", ()
        condition, parts = named_by(named)
        if standing_at is not None:
            stands, moment = (
                " AND revoked_at = 0 AND expires_at > ? AND (uses_left IS NULL OR uses_left > 0)",
                (standing_at,),
            )
        rows = self._store.query(
            f"{GRANT_ROW} WHERE workspace = ?{stands} AND no < coalesce((SELECT no FROM grants "  # noqa: S608 - constants
            f"WHERE id = ?), {2**62}) AND {condition} ORDER BY no DESC "
            "LIMIT ?",
            (workspace, *moment, before, *parts, limit),
        )
        return [grant_row(row) for row in rows]

    async def grant(self, workspace: str, grant: str) -> Grant | None:
        """See ``Approvals.grant``."""
        with self._store.reads() as db:
            return read_grant(db, workspace, grant)
