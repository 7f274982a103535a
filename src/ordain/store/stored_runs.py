"""Reading runs whole, several at a time: a run's row and its records are as of one commit, since
the one counts the others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from ordain.errors import JournalCorrupt, StorageUnavailable
from ordain.journal.records import Record, Status
from ordain.ports.store import StoredRun
from ordain.store.erasure import unread
from ordain.store.folder import snapshot
from ordain.store.run_records import SheetRow, Statement, place_of, read_records, read_sheets

TOGETHER = 64
"""So many are read by one statement: what is read at once is held at once."""

_STATUSES = {str(status): status for status in Status}
_RUNS = (
    "SELECT r.id, r.flow, r.flow_version, r.catalog, r.workspace, s.id, s.key, r.status, "
    "r.reason, p.id, r.parent_addr, r.child,"
    " o.id, r.resumes, r.wake_at, r.created_at, r.ended_at, r.no, r.session, r.thread, "
    "r.head_seq, r.epoch,"
    " coalesce(r.holder, -1) FROM runs r JOIN subjects s ON s.no = r.subject"
    " LEFT JOIN runs p ON p.no = r.parent JOIN runs o ON o.no = r.root WHERE r.id "
)
_RUN = _RUNS + "= ?"
_SEVERAL = _RUNS + "IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own columns
_ERASED = (
    "SELECT r.no, s.key IS NULL FROM runs r JOIN subjects s ON s.no = r.subject WHERE r.id = ?"
)
_NESTED = (
    "WITH RECURSIVE up(no) AS (SELECT parent FROM runs WHERE no = ? UNION SELECT r.parent FROM "
    "runs r JOIN up ON up.no = r.no)"
    " SELECT count(no) FROM up"
)
_BELOW = (
    "WITH RECURSIVE t(no) AS (SELECT no FROM runs WHERE id IN (SELECT value FROM json_each(?1)) "
    "UNION SELECT r.no FROM runs r JOIN t ON r.parent = t.no)"
    " SELECT r.id, r.head_seq FROM runs r JOIN t ON t.no = r.no ORDER BY r.no LIMIT ?2"
)


class StoredRuns:
    """The runs of a store, read on its reading connection; ``query`` is the store's own, which says
    what an error means.
    """

    def __init__(self, query: Statement, reading: sqlite3.Connection) -> None:
        self._query, self._reading = query, reading

    def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        """See ``JournalStore.load``. Raises as ``query``."""
        found, left = dict[str, StoredRun | JournalCorrupt](), iter(runs)
        while several := list(islice(left, TOGETHER)):
            found.update(self._one(*several) if len(several) == 1 else self._several(several))
        return found

    def stored(self, run: str) -> StoredRun | None:
        """One run. Raises as ``query``.

        Raises:
            JournalCorrupt: it cannot be read.
        """
        stored = self._read(run)
        if stored is None or stored.head == len(stored.records) - 1:
            return stored
        with snapshot(self._reading):
            # a commit came between the two reads, or there is something missing
            return self._read(run)

    def records_after(self, run: str, after: int) -> Sequence[Record]:
        """The records of a run with seq greater than ``after``. Raises as ``stored``."""
        for no, erased in self._query(_ERASED, (run,)):
            records = tuple(read_records(self._query, no, after))
            return unread(records) if erased else records
        return ()

    def below(self, runs: Sequence[str], records: int) -> Sequence[str]:
        """These and what descends from them, the oldest first, as many as have not more than so
        many records together. Raises as ``query``.
        """
        found = self._query(_BELOW, (_listed(runs), records))
        held, named = 0, list[str]()
        for run, head in found:
            held += head + 1 if type(head) is int else records
            if held > records:
                break
            named.append(run)
        return named

    def _one(self, run: str) -> Mapping[str, StoredRun | JournalCorrupt]:
        try:
            stored = self.stored(run)
        except JournalCorrupt as error:
            return {run: error}
        return {} if stored is None else {run: stored}

    def _several(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        try:
            with snapshot(self._reading):
                rows = {row[0]: row for row in self._query(_SEVERAL, (_listed(runs),))}
                sheets = read_sheets(self._query, [row[17] for row in rows.values()])
                return {
                    run: self._whole(run, rows[run], sheets.get(rows[run][17], ()))
                    for run in runs
                    if run in rows
                }
        except (JournalCorrupt, StorageUnavailable):
            # one of them cannot be read: which, and what is wrong with it, is found one by one
            found = dict[str, StoredRun | JournalCorrupt]()
            for run in runs:
                found.update(self._one(run))
            return found

    def _read(self, run: str) -> StoredRun | None:
        for row in self._query(_RUN, (run,)):
            return self._whole(run, row, None)
        return None

    def _whole(
        self, run: str, row: tuple[Any, ...], sheets: Sequence[SheetRow] | None
    ) -> StoredRun:
        """A row as the run that it is; ``sheets`` are its own where they were read before."""
        place = place_of(run, row)
        if row[7] not in _STATUSES:
            raise JournalCorrupt(f"run {run} has no known status", place=place)
        try:
            records: tuple[Record, ...] = tuple(read_records(self._query, row[17], laid=sheets))
        except JournalCorrupt as error:
            raise JournalCorrupt(error.message, details=error.details, place=place) from None
        if row[6] is None:  # its rows may still be there: erasure destroys the key first
            records = unread(records)
        return StoredRun(
            id=row[0],
            flow=row[1],
            flow_version=row[2],
            catalog=row[3],
            workspace=row[4],
            subject=row[5],
            key=row[6],
            status=_STATUSES[row[7]],
            reason=row[8],
            parent=row[9],
            parent_addr=row[10],
            index=row[11],
            root=row[12],
            resumes=row[13],
            wake_at=row[14],
            created_at=row[15],
            ended_at=row[16],
            records=records,
            session=place.session,
            thread=place.thread,
            head=row[20],
            epoch=row[21],
            holder=row[22],
            nested=0
            if row[9] is None
            else 1
            if row[9] == row[12]
            else self._query(_NESTED, (row[17],))[0][0],
        )


def _listed(runs: Sequence[str]) -> str:
    return msgspec.json.encode(runs).decode()
