"""Operations inside the write transaction, by name: hold runs, account for resumes, begin an erasure, tokens, catalogs."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.records import RecordKind, Status
from ordain.ports.store import Outcome
from ordain.rules.recover import RECOVER
from ordain.store.access_operations import ACCESS_OPERATIONS
from ordain.store.catalog_units import drop_catalog, keep_catalog
from ordain.store.erasure import begin_erasure
from ordain.store.lease import LEASE_OPERATIONS
from ordain.store.run_records import asking, read_back
from ordain.store.schema import UNSETTLED


def hold(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """An engine takes hold of every run that has not settled: whoever held it before writes no more of it.

    What had mail waits no longer: builds before this one left that to whoever drove it.
    """
    db.execute(
        f"UPDATE runs SET status = '{Status.READY}' WHERE status = '{Status.WAITING}'"
        " AND EXISTS (SELECT 1 FROM mailbox m WHERE m.run = runs.no AND m.taken IS NULL)"
    )
    return Outcome(count=db.execute(f"UPDATE runs SET epoch = epoch + 1 WHERE {UNSETTLED} OR status = '{Status.QUEUED}'").rowcount)


def resumed(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """A start found these runs unfinished: count it, anew where the run has made progress since the last count.

    That a call which was cut off is made again is no progress: a verb may kill the process each time.
    """
    for run in args["runs"]:
        row = db.execute("SELECT no, head_seq FROM runs WHERE id = ?", (run,)).fetchone()
        if row is not None:
            reached = _progress(db, *row)
            db.execute(
                "UPDATE runs SET resumes = CASE WHEN resumes_at = ?1 THEN resumes + 1 ELSE 1 END, resumes_at = ?1 WHERE no = ?2",
                (reached, row[0]),
            )
    return Outcome(count=len(args["runs"]))


def _progress(db: sqlite3.Connection, run: int, head: int) -> int:
    """The last record that says how far a run came; of one that cannot be read its head."""
    try:
        return next(
            (
                record.seq
                for record in read_back(asking(db), run)
                if not (record.kind is RecordKind.DECISION and record.name == RECOVER.name)
            ),
            head,
        )
    except JournalCorrupt:
        return head


OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "hold": hold,
    "resumed": resumed,
    "erase": begin_erasure,
    **ACCESS_OPERATIONS,
    **LEASE_OPERATIONS,
    "keep_catalog": keep_catalog,
    "drop_catalog": drop_catalog,
}
