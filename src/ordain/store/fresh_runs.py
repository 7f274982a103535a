"""Runs that were opened a moment ago, as they were written: who drives one at once need not read
back a row of many tables and the record beside it, but only see that nothing has come since.
"""

from __future__ import annotations

from collections.abc import Sequence

from ordain.journal.records import PAYLOAD_BYTES
from ordain.ports.store import StoredRun, opened_run
from ordain.ports.writes import NewRun
from ordain.store.run_records import Statement

KEPT = 256
"""So many at the most: an engine takes up what it opens at once, or reads it when there is a place
for it.
"""
_UNTOUCHED = (
    "SELECT 1 FROM runs r JOIN subjects u ON u.no = r.subject JOIN sheets h ON h.run = r.no AND "
    "h.seq = 0 WHERE r.id = ? AND +r.status = ? AND r.reason = '' AND r.session IS ? AND "
    "r.epoch = ? AND r.holder = ? AND r.head_seq = 0 AND r.resumes = 0 AND r.wake_at IS NULL AND "
    "r.ended_at IS NULL AND u.key = ? AND h.records = ?"
    " AND NOT EXISTS (SELECT 1 FROM mailbox m WHERE m.run = r.no AND m.taken IS NULL)"
)
"""Whatever may change of a run's row, its subject's key and its first record; what else is in the
row was written when it was opened, and stays. ``+``: beside indexes of one status the plan would
depend on the status that is bound, and be made anew each time.
"""


class FreshRuns:
    """Of one connection that writes, which tells of what it opens before it commits."""

    def __init__(self) -> None:
        """Nothing was opened yet."""
        self._runs: dict[str, tuple[StoredRun, bytes]] = {}

    def opened(self, new: NewRun, below: bool, engine: int, sheet: bytes) -> None:
        """A run was opened, ``below`` another one or not, and is held by the engine; ``sheet`` is
        its first record as it lies in its row.
        """
        begun, body = new.started, new.record.body
        if (
            new.queued
            or not engine
            or below != (begun.parent is not None)
            or (below and begun.parent != new.root)  # it has yet to be read how deep that is
            or (body is not None and len(body) > PAYLOAD_BYTES)  # which lies apart
        ):
            return
        if len(self._runs) >= KEPT:
            for oldest in list(self._runs)[:1]:
                self._runs.pop(oldest, None)
        fresh = opened_run(new, parent=begun.parent, nested=int(below), key=new.key, engine=engine)
        self._runs[new.id] = fresh, sheet

    def drop(self, runs: Sequence[str]) -> None:
        """These are read."""
        for run in runs:
            self._runs.pop(run, None)

    def forget(self) -> None:
        """What was told of was rolled back, content is destroyed, or another process has written:
        it may have destroyed some.
        """
        self._runs.clear()

    def taken(self, query: Statement, run: str) -> StoredRun | None:
        """The run as it was opened, where that is how it stands and nobody has written to it; asked
        for once. Raises as ``query``.
        """
        if (found := self._runs.pop(run, None)) is None:
            return None
        fresh, sheet = found
        asked = (
            run,
            fresh.status,
            fresh.session or None,
            fresh.epoch,
            fresh.holder,
            fresh.key,
            sheet,
        )
        return fresh if query(_UNTOUCHED, asked) else None
