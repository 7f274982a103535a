"""Leases inside the write transaction: runs taken hold of and let go of, and the engine's
heartbeat.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.ledger_items import deaths_item, wake_item
from ordain.journal.records import RecordKind, Status
from ordain.ports.leases import Beat, deaths
from ordain.ports.store import Outcome
from ordain.rules.recover import RECOVER
from ordain.store.ledger import LedgerDraft
from ordain.store.run_records import asking, read_back
from ordain.store.schema import UNSETTLED

_NO_PROGRESS = {(RecordKind.DECISION, RECOVER.name), (RecordKind.RESUMED, "lost")}
FREE = "(holder IS NULL OR holder <> :engine)"
"""Whether the engine does not hold a run; another one of this folder is none any more."""


def hold(db: sqlite3.Connection, args: dict[str, Any], ledger: LedgerDraft) -> Outcome:
    """The engine takes hold of runs: whoever held one before writes no more of it.

    Where that was an engine that did not let go of it, it died with the run: that is counted, anew
    where the run has made progress since the last count. That a call which was cut off is made
    again is no progress, nor is what is said of lost time: a verb may kill the process each time.
    """
    for run in args["runs"]:
        row = db.execute(
            f"SELECT no, head_seq, holder, {UNSETTLED}, resumes, resumes_at, status FROM runs "  # noqa: S608 - constants
            f"WHERE id = :run AND {FREE}",
            {**args, "run": run},
        ).fetchone()
        if row is None:
            continue
        no, head, holder, unsettled, before, counted_at, status = row
        db.execute(
            "UPDATE runs SET epoch = epoch + 1, holder = ? WHERE no = ?", (args["engine"], no)
        )
        if holder != 0 and unsettled:
            reached = _progress(db, no, head)
            counted = deaths(before, moved=counted_at != reached, driven=status == Status.RUNNING)
            db.execute(
                "UPDATE runs SET resumes = ?, resumes_at = ? WHERE no = ?", (counted, reached, no)
            )
            ledger.item(deaths_item(run, counted, reached))
    return Outcome(count=len(args["runs"]))


def _progress(db: sqlite3.Connection, run: int, head: int) -> int:
    """The last record that says how far a run came; of one that cannot be read its head."""
    try:
        return next(
            (
                record.seq
                for record in read_back(asking(db), run)
                if (record.kind, record.name) not in _NO_PROGRESS
            ),
            head,
        )
    except JournalCorrupt:
        return head


def release(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The engine lets go of runs; of those that nobody counts a death of, whoever holds them may
    stand there.
    """
    if args["runs"] is None:
        return Outcome(
            count=db.execute(
                f"UPDATE runs SET holder = 0 WHERE {UNSETTLED} AND holder = ?",  # noqa: S608 - a constant of the schema
                (args["engine"],),
            ).rowcount
        )
    let_go = db.executemany(
        "UPDATE runs SET holder = 0 WHERE id = ? AND holder = ?",
        [(run, args["engine"]) for run in args["runs"]],
    )
    return Outcome(count=let_go.rowcount)


def beat(db: sqlite3.Connection, args: dict[str, Any], ledger: LedgerDraft) -> Outcome:
    """The engine is at work; pauses that no unsettled run has seen go. Where the clock was set
    back, what was said of moments to come is forgotten.
    """
    said: Beat = args["beat"]
    if (back := said.clock_back) is not None:
        db.execute("UPDATE pauses SET ended = ? WHERE ended > ?", (back, back))
        db.execute("DELETE FROM pauses WHERE began >= ended")
        moved = db.execute(
            "UPDATE runs SET wake_at = wake_at - ?1 WHERE status = 'waiting' AND wake_at >= ?2 + "
            "?1 RETURNING id, wake_at",
            (said.back_us, back),
        )  # others were written since
        for run, wake_at in moved.fetchall():
            ledger.item(wake_item(run, wake_at))
    for pause in said.pauses:
        oldest = (
            f"SELECT coalesce(min(created_at), ?) FROM runs WHERE {UNSETTLED} OR status = 'queued'"  # noqa: S608 - a constant of the schema
        )
        db.execute(f"DELETE FROM pauses WHERE ended < ({oldest})", (pause.began,))  # noqa: S608 - as above
        if not db.execute(
            "SELECT 1 FROM pauses WHERE began = ? AND ended = ?", (pause.began, pause.ended)
        ).fetchone():
            db.execute("INSERT INTO pauses(began, ended) VALUES (?, ?)", (pause.began, pause.ended))
    return Outcome(
        count=db.execute("INSERT OR REPLACE INTO beats VALUES (1, ?)", (said.at,)).rowcount
    )


LEASE_OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "release": release
}
