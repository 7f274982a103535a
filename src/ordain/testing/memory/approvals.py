"""Approvals over a shared memory."""

from __future__ import annotations

from collections.abc import Sequence

from ordain.contracts.approvals import Grant
from ordain.ports.approvals import ApprovalRow
from ordain.testing.memory.shared import SharedMemory, is_named


class MemoryApprovals:
    """Implements ``ports.approvals.Approvals``."""

    def __init__(self, shared: SharedMemory) -> None:
        """Reads only."""
        self._rows = shared.rows

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
        found = [
            row
            for row in self._rows.approvals.values()
            if row.workspace == workspace and (not states or row.state in states)
        ]
        found = [
            row
            for row in found
            if session in ("", row.session) and (before is None or row.place < before)
        ]
        return sorted(
            (row for row in found if is_named(row.id, named)), key=lambda row: -row.place
        )[:limit]

    async def approval(self, approval: str) -> ApprovalRow | None:
        """See ``Approvals.approval``."""
        return self._rows.approvals.get(approval)

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
        found = [grant for (of, _), grant in self._rows.grants.items() if of == workspace]
        if before is not None and before in (ids := [grant.grant_id for grant in found]):
            found = found[: ids.index(before)]
        found = [grant for grant in found if is_named(grant.grant_id, named)]
        return [
            grant for grant in reversed(found) if standing_at is None or grant.stands(standing_at)
        ][:limit]

    async def grant(self, workspace: str, grant: str) -> Grant | None:
        """See ``Approvals.grant``."""
        return self._rows.grants.get((workspace, grant))
