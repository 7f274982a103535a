"""Rows of ``threads`` as the port's values: those with unsettled turns, the most recently touched,
and those that are named besides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType
from typing import Any

import msgspec

from ordain.contracts.approvals import AwaitedApproval
from ordain.errors import JournalCorrupt
from ordain.ports.sessions import OpenQuestion, Thread, ThreadStatus
from ordain.store.approval_rows import awaited
from ordain.store.typed_rows import (
    RowColumns,
    check_row,
    is_moment,
    is_number,
    is_text,
    or_none,
    parsed,
)

RECENT_THREADS = 6
_THREAD_STATUSES = {str(status): status for status in ThreadStatus}
_THREAD_NAMES = "id, status, intent, run, asked, slots, last_error, touched_at"
_THREAD = f"SELECT {_THREAD_NAMES} FROM threads WHERE session = ?"  # noqa: S608 - our own columns
_NAMED = _THREAD + " AND id IN (SELECT value FROM json_each(?))"  # noqa: S608 - our own columns
_THREAD_COLUMNS: RowColumns = tuple(
    zip(
        _THREAD_NAMES.split(", "),
        (
            is_number,
            is_text,
            is_text,
            is_text,
            or_none(is_text),
            or_none(is_text),
            or_none(is_text),
            is_moment,
        ),
        strict=True,
    )
)
_PLAIN = frozenset(
    (int, str, str, str, asked, slots, error, int)
    for asked in (str, NoneType)
    for slots in (str, NoneType)
    for error in (str, NoneType)
)
"""The types of a row that holds what may stand there; any other is looked at column by column."""


def thread_of(
    row: tuple[Any, ...], turns: tuple[str, ...] = (), awaiting: AwaitedApproval | None = None
) -> Thread:
    """A row of ``threads`` as the port's value; ``awaiting`` stands in a table of its own."""
    number, status, intent, run, asked, slots, last_error, touched_at = row
    what = f"thread {number}"
    if tuple(map(type, row)) not in _PLAIN or not is_moment(touched_at):
        check_row(what, _THREAD_COLUMNS, row)
    known = _THREAD_STATUSES.get(status)
    if known is None:
        raise JournalCorrupt(f"thread {number} of a session has no known status")
    return Thread(
        id=number,
        status=known,
        intent=intent,
        run=run,
        turns=turns,
        asked=None if asked is None else parsed(what, "asked", asked, OpenQuestion),
        slots={} if slots is None else parsed(what, "slots", slots, dict[str, Any]),
        last_error=None
        if last_error is None
        else parsed(what, "last_error", last_error, dict[str, Any]),
        touched_at=touched_at,
        awaiting=awaiting,
    )


def read_threads(
    db: sqlite3.Connection, session: int, *, recent: int = RECENT_THREADS
) -> list[Thread]:
    """Threads with unsettled turns, latest first, then the most recently touched; without its
    session's key a thread has no words.
    """
    (keyed,) = db.execute(
        "SELECT u.key IS NOT NULL FROM sessions s LEFT JOIN subjects u ON u.no = s.subject WHERE "
        "s.no = ?",
        (session,),
    ).fetchone()
    found = threads_of(db, session, unsettled_turns(db, session), recent)
    return (
        found
        if keyed
        else [
            msgspec.structs.replace(thread, intent="", slots={}, last_error=None)
            for thread in found
        ]
    )


def unsettled_turns(db: sqlite3.Connection, session: int) -> list[tuple[int, str, int]]:
    """Thread (0: none), run and whether it counts as at work, of each unsettled turn, a thread's in
    their order.
    """
    return db.execute(
        "SELECT thread, id, counts FROM turns WHERE session = ? AND state <> 'over' ORDER BY "
        "thread, run",
        (session,),
    ).fetchall()


def threads_of(
    db: sqlite3.Connection,
    session: int,
    unsettled: Sequence[tuple[int, str, int]],
    recent: int = RECENT_THREADS,
    also: Sequence[int] = (),
) -> list[Thread]:
    """As ``read_threads``, with threads ``also``, where the unsettled turns are known."""
    turns: dict[int, list[str]] = {}
    for thread, run, _ in unsettled:
        if thread > 0:
            turns.setdefault(thread, []).append(run)
    rows = {
        row[0]: row
        for row in db.execute(
            f"{_THREAD} ORDER BY touched_at DESC, id DESC LIMIT ?",
            (session, recent),
        )
    }
    named = {number for number in (*turns, *also) if number and number not in rows}
    if named:
        rows |= _named(db, session, named)
    waits = awaited(db, session)
    if not turns and not named:  # as between two turns; their order is that of the rows
        return [thread_of(row, (), waits.get(number)) for number, row in rows.items()]
    return _in_order(
        thread_of(row, tuple(turns.get(number, ())), waits.get(number))
        for number, row in rows.items()
    )


def more_threads(
    db: sqlite3.Connection, session: int, known: list[Thread], also: Iterable[int]
) -> list[Thread]:
    """What ``threads_of`` gave, with threads ``also``: none of them has an unsettled turn, or it
    would be known.
    """
    missing = {number for number in also if number} - {thread.id for thread in known}
    rows = _named(db, session, missing)
    if not rows:
        return known
    waits = awaited(db, session)
    return _in_order(
        (*known, *(thread_of(row, (), waits.get(number)) for number, row in rows.items()))
    )


def _named(
    db: sqlite3.Connection, session: int, numbers: Iterable[int]
) -> Mapping[int, tuple[Any, ...]]:
    """The rows of these threads, as far as there are such: one question for all."""
    wanted = sorted(numbers)
    if not wanted:
        return {}
    found = db.execute(_NAMED, (session, msgspec.json.encode(wanted).decode()))
    return {row[0]: row for row in found}


def _in_order(threads: Iterable[Thread]) -> list[Thread]:
    return sorted(threads, key=lambda one: (not one.turns, -one.touched_at, -one.id))
