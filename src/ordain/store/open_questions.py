"""What threads ask of their users, inside the write transaction: of several runs below one turn
each may ask; what was asked last is answered first.
"""

from __future__ import annotations

import sqlite3

from ordain.journal.records import ENCODER
from ordain.ports.sessions import OpenQuestion, ThreadStatus
from ordain.store.typed_rows import parsed


def open_in(db: sqlite3.Connection, session: int, thread: int) -> OpenQuestion | None:
    """What a thread asks now; None where it asks nothing."""
    row = db.execute(
        "SELECT asked FROM threads WHERE session = ? AND id = ?", (session, thread)
    ).fetchone()
    return (
        None
        if row is None or row[0] is None
        else parsed(f"thread {thread}", "asked", row[0], OpenQuestion)
    )


def close_one(
    db: sqlite3.Connection, session: int, thread: int, run: str, addr: int, *, unasks: bool = False
) -> tuple[bool, bool]:
    """Close that question, and with ``unasks`` all that its turn asks: whether it was what the
    thread asks now, and whether the thread still asks something.
    """
    asked = open_in(db, session, thread)
    if asked is None:
        return False, False
    last = (asked.run, asked.addr) == (run, addr)
    left = None if last and unasks else asked.without(run, addr)
    if left is not asked:
        db.execute(
            "UPDATE threads SET asked = ? WHERE session = ? AND id = ?",
            (json_text(left), session, thread),
        )
    return last, left is not None


def close_question(db: sqlite3.Connection, run: str, addr: int) -> list[tuple[int, int]]:
    """A question of a session was answered from elsewhere: no message is taken for its answer any
    more. Gives the threads, as (session's number, thread).
    """
    found = db.execute(
        "SELECT s.no, CAST(r.thread AS INTEGER) FROM runs r JOIN sessions s ON s.workspace = "
        "r.workspace AND s.id = r.session WHERE r.id = ?",
        (run,),
    ).fetchone()
    if found is None:
        return []
    session, thread = found
    asked = open_in(db, session, thread)
    if asked is None or asked.without(run, addr) is asked:
        return []
    if not close_one(db, session, thread, run, addr)[1]:
        db.execute(
            "UPDATE threads SET status = ? WHERE session = ? AND id = ?",
            (ThreadStatus.IN_PROGRESS, session, thread),
        )
    return [(session, thread)]


def json_text(value: object) -> str | None:
    """JSON as text: in a blob SQLite would look for its own binary form."""
    return None if value is None else ENCODER.encode(value).decode()
