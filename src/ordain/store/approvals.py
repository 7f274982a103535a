"""Approvals over SQLite: reads."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.approvals import Grant
from ordain.ports.approvals import ApprovalRow
from ordain.rules.approve import ApprovalState
from ordain.store.approval_rows import APPROVAL_ROW, approval_row, read_approval
from ordain.store.grant_rows import GRANT_ROW, grant_row, read_grant
from ordain.store.id_parts import named_by
from ordain.store.sqlite import SqliteStore


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
        wanted = [str(state) for state in (states or ApprovalState)]
        marks = ",".join("?" * len(wanted))
        within, whose = (" AND s.id = ?", (session,)) if session else ("", ())
        condition, parts = named_by(named, "a.id")
        rows = self._store.query(
            f"{APPROVAL_ROW} WHERE a.workspace = ? AND a.state IN ({marks}) AND a.no < ?{within} "
            f"AND {condition} ORDER BY a.no DESC LIMIT ?",
            (workspace, *wanted, 2**62 if before is None else before, *whose, *parts, limit),
        )
        return [approval_row(row) for row in rows]

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
