"""Leases inside the write transaction: runs taken hold of and let go of, and the engine's heartbeat."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.ports.leases import Beat
from ordain.ports.store import Outcome
from ordain.store.schema import UNSETTLED

_PROGRESS = (
    "coalesce((SELECT r.seq FROM records r WHERE r.run = runs.no AND NOT (r.kind = 'decision' AND r.name = 'recover')"
    " AND NOT (r.kind = 'resumed' AND r.name = 'lost')"
    " ORDER BY r.seq DESC LIMIT 1), head_seq)"
)
"""The last record that says how far a run came."""
FREE = "(holder IS NULL OR holder <> :engine)"
"""Whether the engine does not hold a run; another one of this folder is none any more."""


def hold(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The engine takes hold of runs: whoever held one before writes no more of it.

    Where that was an engine that did not let go of it, it died with the run: that is counted, anew where the run has made progress since the last count.
    That a call which was cut off is made again is no progress, nor is what is said of lost time: a verb may kill the process each time.
    """
    died = f"resumes = CASE WHEN holder = 0 OR NOT {UNSETTLED} THEN resumes WHEN resumes_at = {_PROGRESS} THEN resumes + 1 ELSE 1 END,"
    since = f"resumes_at = CASE WHEN holder = 0 OR NOT {UNSETTLED} THEN resumes_at ELSE {_PROGRESS} END"
    taken = db.executemany(
        f"UPDATE runs SET epoch = epoch + 1, {died} {since}, holder = :engine WHERE id = :run AND {FREE}",  # noqa: S608 - constants
        [{"engine": args["engine"], "run": run} for run in args["runs"]],
    )
    return Outcome(count=taken.rowcount)


def release(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The engine lets go of runs; of those that nobody counts a death of, whoever holds them may stand there."""
    if args["runs"] is None:
        return Outcome(count=db.execute(f"UPDATE runs SET holder = 0 WHERE {UNSETTLED} AND holder = ?", (args["engine"],)).rowcount)  # noqa: S608 - a constant of the schema
    let_go = db.executemany("UPDATE runs SET holder = 0 WHERE id = ? AND holder = ?", [(run, args["engine"]) for run in args["runs"]])
    return Outcome(count=let_go.rowcount)


def beat(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """The engine is at work; pauses that no unsettled run has seen go. Where the clock was set back, what was said of moments to come is forgotten."""
    said: Beat = args["beat"]
    if (back := said.clock_back) is not None:
        db.execute("UPDATE pauses SET ended = ? WHERE ended > ?", (back, back))
        db.execute("DELETE FROM pauses WHERE began >= ended")
    for pause in said.pauses:
        oldest = f"SELECT coalesce(min(created_at), ?) FROM runs WHERE {UNSETTLED} OR status = 'queued'"  # noqa: S608 - a constant of the schema
        db.execute(f"DELETE FROM pauses WHERE ended < ({oldest})", (pause.began,))  # noqa: S608 - as above
        if not db.execute("SELECT 1 FROM pauses WHERE began = ? AND ended = ?", (pause.began, pause.ended)).fetchone():
            db.execute("INSERT INTO pauses(began, ended) VALUES (?, ?)", (pause.began, pause.ended))
    return Outcome(count=db.execute("INSERT OR REPLACE INTO beats VALUES (1, ?)", (said.at,)).rowcount)


LEASE_OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {"hold": hold, "release": release, "beat": beat}
