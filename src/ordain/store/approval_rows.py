"""Approvals inside the write transaction: SQL and conditions, no decisions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from ordain.contracts.approvals import AwaitedApproval, Subject
from ordain.ports.approvals import ApprovalClaimed, ApprovalDecided, ApprovalRow, NewApproval
from ordain.ports.sessions import ThreadStatus, message_id

APPROVAL_ROW = (
    "SELECT a.id, a.workspace, coalesce(r.id, ''), coalesce(o.id, ''), a.addr, coalesce(s.id, "
    "''), a.thread, a.subject, a.tier, a.digest, a.workflow,"
    " a.asked_at, a.expires_at, a.state, a.decided_at, iif(u.key IS NULL, '', a.decided_by), "
    "a.granted,"
    " iif(u.key IS NULL, '', a.claimed_by), a.claimed_at, a.no FROM approvals a LEFT JOIN runs r "
    "ON r.no = a.run"
    " LEFT JOIN subjects u ON u.no = r.subject LEFT JOIN runs o ON o.no = a.root LEFT JOIN "
    "sessions s ON s.no = a.session"
)
"""Without the key of its run's subject an approval names nobody who decided or claimed it, whether
or not its row is emptied already.
"""
_WAITS = "a.state = 'open' AND a.session <> 0"
"""What the index of threads that wait holds; a query says it in the same words."""
ASKING = (ThreadStatus.WAITING_FOR_USER, ThreadStatus.WORKFLOW_PROPOSED)
"""Where a thread stands that waits for an approver."""


def read_approval(db: sqlite3.Connection, approval: str) -> ApprovalRow | None:
    """One approval."""
    row = db.execute(f"{APPROVAL_ROW} WHERE a.id = ?", (approval,)).fetchone()
    return None if row is None else approval_row(row)


def approval_row(row: tuple[Any, ...]) -> ApprovalRow:
    """What ``APPROVAL_ROW`` selects, as the port's value."""
    return ApprovalRow(**dict(zip(ApprovalRow.__struct_fields__, row, strict=True)))


def awaited(db: sqlite3.Connection, session: int) -> dict[int, AwaitedApproval]:
    """What each thread of a session waits for, where that is an approval; of several the latest.
    Sorted here: mostly there is none, and SQLite would make a table to sort them in.
    """
    rows = db.execute(
        "SELECT a.no, a.thread, a.id, r.id, a.addr, a.workflow FROM approvals a JOIN runs r ON "  # noqa: S608
        f"r.no = a.run WHERE {_WAITS} AND a.session = ?",
        (session,),
    )
    return {
        thread: AwaitedApproval(
            approval=approval, message_id=message_id(run, addr), workflow=workflow
        )
        for _, thread, approval, run, addr, workflow in sorted(rows)
    }


def put_approval(db: sqlite3.Connection, run: int, new: NewApproval) -> list[tuple[int, int]]:
    """A run asks for an approval; where it was withdrawn meanwhile it is open again. Gives the
    thread that waits now, as (session's number, thread).
    """
    made = db.execute(
        "INSERT INTO approvals(id, workspace, run, root, addr, session, thread, subject, tier, "
        "digest, workflow, asked_at, expires_at, state,"
        " decided_at, decided_by, granted)"
        " SELECT ?, r.workspace, r.no, r.root, ?, coalesce(s.no, 0), CAST(coalesce(r.thread, 0) "
        "AS INTEGER), ?, ?, ?, ?, ?, ?, 'open', 0, '', ''"
        " FROM runs r LEFT JOIN sessions s ON s.workspace = r.workspace AND s.id = r.session "
        "WHERE r.no = ?"
        " ON CONFLICT(id) DO UPDATE SET state = 'open', decided_at = 0, claimed_by = '', "
        "claimed_at = 0 WHERE state = 'withdrawn'"
        " RETURNING session, thread",
        (
            new.id,
            new.addr,
            new.subject,
            new.tier,
            new.digest,
            new.workflow,
            new.asked_at,
            new.expires_at,
            run,
        ),
    ).fetchall()
    status = (
        ThreadStatus.WORKFLOW_PROPOSED
        if new.subject is Subject.WORKFLOW
        else ThreadStatus.WAITING_FOR_USER
    )
    return [
        row
        for session, thread in made
        for row in db.execute(
            "UPDATE threads SET status = ?, touched_at = max(touched_at, ?) WHERE session = ? AND "
            "id = ? RETURNING session, id",
            (status, new.asked_at, session, thread),
        ).fetchall()
    ]


def decide_approvals(
    db: sqlite3.Connection, decided: Iterable[ApprovalDecided]
) -> list[tuple[int, int]]:
    """What was open is decided, or over; gives the threads that do not wait any more, as (session's
    number, thread).
    """
    left = list[tuple[int, int]]()
    for one in decided:
        rows = db.execute(
            "UPDATE approvals SET state = ?, decided_at = ?, decided_by = ?, granted = ? WHERE id "
            "= ? AND state = 'open' RETURNING session, thread",
            (one.state, one.at, one.by, one.grant, one.id),
        ).fetchall()
        left += _go_on(db, rows, one.at)
    return left


def claim_approvals(db: sqlite3.Connection, claimed: Iterable[ApprovalClaimed]) -> None:
    """Who looks at what is open; of whom nobody does any more nothing is left."""
    db.executemany(
        "UPDATE approvals SET claimed_by = ?, claimed_at = ? WHERE id = ? AND state = 'open'",
        [(one.by, one.at if one.by else 0, one.id) for one in claimed],
    )


def withdraw_approvals(
    db: sqlite3.Connection, run: int, at: int
) -> tuple[list[str], list[tuple[int, int]]]:
    """A run came to rest: nobody waits for what it asked. Gives the approvals, and the threads that
    do not wait any more.
    """
    if (
        db.execute("SELECT 1 FROM approvals WHERE run = ? AND state = 'open'", (run,)).fetchone()
        is None
    ):
        return [], []  # most runs ask for none, and each comes to rest
    rows = db.execute(
        "UPDATE approvals SET state = 'withdrawn', decided_at = ? WHERE run = ? AND state = "
        "'open' RETURNING id, session, thread",
        (at, run),
    ).fetchall()
    return [row[0] for row in rows], _go_on(db, [row[1:] for row in rows], at)


def _go_on(
    db: sqlite3.Connection, threads: Sequence[tuple[int, int]], at: int
) -> list[tuple[int, int]]:
    """Where a thread stands of which nothing is asked any more; what else has said since where it
    stands counts.
    """
    left = list[tuple[int, int]]()
    for session, thread in threads:
        left += db.execute(
            "UPDATE threads SET status = ?, touched_at = max(touched_at, ?) WHERE session = ? AND "  # noqa: S608 - a constant
            "id = ? AND status IN (?, ?) AND asked IS NULL"
            f" AND NOT EXISTS (SELECT 1 FROM approvals a WHERE {_WAITS} AND a.session = "
            "threads.session AND a.thread = threads.id)"
            " RETURNING session, id",
            (ThreadStatus.IN_PROGRESS, at, session, thread, *ASKING),
        ).fetchall()
    return left
