"""Sessions inside the write transaction: reading what a message's decision needs, and writing what
follows. SQL and conditions only.

A thread's turns stand in ``turns`` in their order: one is ``live``, the rest are ``queued``, and
what has come to rest is ``over``. The run that rests lets the next one of its thread begin, in the
same commit.

SQLite uses a partial index only where a query repeats the index's own condition: hence ``state <>
'over'`` beside ``state = 'live'``, and ``edits <> ''`` or ``run <> ''`` beside a comparison.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from ordain.errors import FlowFault, JournalCorrupt
from ordain.journal.digests import GENESIS, digest, entry_cover, entry_link, entry_marks
from ordain.ports.sessions import (
    Entry,
    EntryKind,
    NewEntry,
    ThreadChange,
    ThreadStatus,
)
from ordain.ports.shared import LatestEntry, Place, SessionOpening, SessionRead, SessionState
from ordain.ports.store import WITHOUT_PLACE, MessageKey, Outcome
from ordain.ports.writes import EntryPlaced, NewPlace
from ordain.rules.attach import POSTPONED, UNPLACED
from ordain.store.configuration_rows import is_profiled
from ordain.store.erased_names import subject_name
from ordain.store.latest_entries import ENDING, asked_at, is_halted, spoken, versions
from ordain.store.open_questions import close_one, json_text, open_in
from ordain.store.statuses import MADE_NEXT
from ordain.store.thread_rows import more_threads, threads_of, unsettled_turns

_TO_PLACE = (*POSTPONED, UNPLACED)
_ENTRY_KINDS = frozenset(map(str, EntryKind))
_STANDS = (
    "SELECT s.no, u.key IS NULL, EXISTS (SELECT 1 FROM threads t WHERE t.session = s.no AND t.id "
    "= ?) FROM sessions s LEFT JOIN subjects u ON u.no = s.subject WHERE s.workspace = ? AND s.id "
    "= ?"
)
"""A session's number, whether it was erased, and whether it has that thread."""
_NEW_THREAD = "INSERT INTO threads VALUES (?,?,?,?,?,NULL,NULL,NULL,?)"
_MADE_ACTIVE = "UPDATE sessions SET active = ?1 WHERE no = ?2 AND active <> ?1"
"""A thread that was made a moment ago is it already."""
_INSERT = (
    "INSERT INTO transcript(session, seq, kind, at, thread, run, channel, message_id, edits, "
    "timestamp_ms, attached, reason, anchor,"
    " size, through, author, subject, digest, chain, body, decision, marks) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)


def read_state(db: sqlite3.Connection, workspace: str, read: SessionRead) -> SessionState:
    """The session as a message's decision sees it; made first where it does not exist and the
    message opens it.

    The message itself is left out where it stands in the transcript already.
    """
    row = _session(db, workspace, read.session)
    if read.opening is not None and (row is None or row[2] is None):
        _open_session(db, workspace, read, read.opening)
        row = _session(db, workspace, read.session)
    no, subject, key, head, threads, active, remembered = row
    replied = _place(db, no, read.channel, read.reply_to)
    edited = _place(db, no, read.channel, read.edits)
    anchor = edited or replied
    unsettled = unsettled_turns(db, no)
    named = (read.thread, 0 if anchor is None else anchor.thread)
    found = threads_of(db, no, unsettled, also=named)
    said: tuple[LatestEntry, ...] = ()
    if read.bare or any(thread.asked is not None for thread in found):
        said = spoken(db, no, head, read, found)
        found = more_threads(db, no, found, [one.thread for one in said])
    newer = db.execute(
        "SELECT coalesce(max(timestamp_ms), 0) FROM transcript WHERE session = ? AND channel = ? "
        "AND edits = ? AND edits <> ''"
        " AND message_id <> ? AND author = ?",
        (no, read.channel, read.edits or read.message_id, read.message_id, read.author),
    ).fetchone()
    return SessionState(
        workspace=workspace,
        session=read.session,
        subject=subject,
        key=key or b"",
        seq=read.seq or head + 1,
        next_thread=threads + 1,
        active=active,
        threads=tuple(asked_at(db, no, thread) for thread in found),
        at_work=tuple(dict.fromkeys(thread for thread, _, counts in unsettled if counts)),
        open=len(unsettled),
        replied=replied,
        edited=edited,
        newer_edit=newer[0],
        profiled=is_profiled(db, workspace, read.session),
        halted=is_halted(db, no, read),
        versions=versions(db, no, read),
        pinned=_pinned(db, [thread.asked.run for thread in found if thread.asked is not None]),
        spoken=said,
        remembers=bool(remembered),
    )


def _session(db: sqlite3.Connection, workspace: str, session: str) -> Any:
    """Number, subject, its key (None once erased), head, how many threads, active turns and, in its
    workspace, remembered passages; None where there is no such session.
    """
    return db.execute(
        "SELECT s.no, u.id, u.key, s.head, s.threads, s.active, (SELECT passages FROM library l "
        "WHERE l.workspace = s.workspace)"
        " FROM sessions s JOIN subjects u ON u.no = s.subject WHERE s.workspace = ? AND s.id = ?",
        (workspace, session),
    ).fetchone()


def _pinned(db: sqlite3.Connection, runs: Sequence[str]) -> dict[str, str]:
    """The digest of the catalog that each of these runs began under."""
    rows = (
        db.execute("SELECT id, catalog FROM runs WHERE id = ?", (run,)).fetchone() for run in runs
    )
    return dict(row for row in rows if row is not None)


def _place(db: sqlite3.Connection, session: int, channel: str, message_id: str) -> Place | None:
    """A message by its id: of its own channel, or one of ours, whose ids no channel gives."""
    if not message_id:
        return None
    row = db.execute(
        f"SELECT seq, thread, kind, run, message_id, author, attached, {ENDING} FROM "  # noqa: S608 - our own columns
        "transcript AS t"
        " WHERE session = ? AND channel IN (?, '') AND message_id = ?",
        (session, channel, message_id),
    ).fetchone()
    if row is None:
        return None
    if row[2] not in _ENTRY_KINDS:
        raise JournalCorrupt(
            f"entry {row[0]} of a transcript is of no known kind", details={"seq": row[0]}
        )
    return Place(
        seq=row[0],
        thread=row[1],
        kind=EntryKind(row[2]),
        run=row[3],
        message_id=row[4],
        author=row[5],
        attached=row[6],
        ending=row[7],
    )


def _open_session(
    db: sqlite3.Connection, workspace: str, read: SessionRead, opening: SessionOpening
) -> None:
    """Make the session that does not exist; one that was erased goes on under a new key."""
    row = db.execute(
        "SELECT no, generation FROM sessions WHERE workspace = ? AND id = ?",
        (workspace, read.session),
    ).fetchone()
    generation = 1 if row is None else row[1] + 1
    subject = db.execute(
        "INSERT INTO subjects(workspace, id, key) VALUES (?,?,?) RETURNING no",
        (workspace, subject_name(read.session, generation), opening.key),
    ).fetchone()[0]
    if row is not None:
        db.execute(
            "UPDATE sessions SET subject = ?, generation = ?, user = ? WHERE no = ?",
            (subject, generation, opening.user, row[0]),
        )
        return
    db.execute(
        "INSERT INTO sessions(workspace, id, subject, generation, head, chain, threads, active, "
        "channel, user, created_at, last_at)"
        " VALUES (?,?,?,?,0,?,0,0,?,?,?,?)",
        (
            workspace,
            read.session,
            subject,
            generation,
            GENESIS,
            read.channel,
            opening.user,
            opening.at,
            opening.at,
        ),
    )


def earlier(db: sqlite3.Connection, workspace: str, once: MessageKey) -> Outcome | None:
    """What became of an earlier delivery of the same message; one whose content is erased counts as
    the same.
    """
    row = db.execute(
        "SELECT t.seq, t.body, t.attached, t.run FROM transcript t JOIN sessions s ON s.no = "
        "t.session"
        " WHERE s.workspace = ? AND s.id = ? AND t.channel = ? AND t.message_id = ?",
        (workspace, once.session, once.channel, once.message_id),
    ).fetchone()
    if row is None:
        return None
    seq, body, attached, run = row
    if body != once.body:
        return Outcome(seq=seq, refused="same" if body is None else "message_id_reused")
    if attached != UNPLACED:
        return Outcome(seq=seq, refused="same")
    return None if run == once.anew else Outcome(seq=seq, run=run, refused=WITHOUT_PLACE)


def add_entry(db: sqlite3.Connection, workspace: str, entry: NewEntry) -> tuple[int, Entry]:
    """Append to a transcript; returns the number of the entry's row, and the entry as it is stored.
    What a stopped run says after its session was erased is not kept.
    """
    row = db.execute(
        "SELECT s.no, s.head, s.chain, s.subject, u.key FROM sessions s JOIN subjects u ON u.no = "
        "s.subject WHERE s.workspace = ? AND s.id = ?",
        (workspace, entry.session),
    ).fetchone()
    if row is None:
        raise JournalCorrupt(f"session {entry.session} does not exist")
    no, head, previous, subject, key = row
    seq, made, body = head + 1, digest(key or b"", entry.body), None if key is None else entry.body
    placed = entry.placed
    decision = None if placed is None else placed.decision
    thread, run = (entry.thread, entry.run) if placed is None else (placed.thread, placed.serves)
    taken = ("", "", "") if placed is None else (placed.attached, placed.reason, placed.anchor)
    marks = entry_marks(key or b"", entry.author, decision)
    where = (thread, run, entry.channel, entry.edits, entry.timestamp_ms)
    cover = entry_cover((*where, *taken, entry.size, entry.through))
    link = entry_link(
        previous,
        f"{workspace}/{entry.session}",
        seq,
        (entry.kind, entry.message_id, entry.at),
        (made, marks, cover),
    )
    said = (seq, entry.kind, entry.at, thread, run, entry.channel, entry.message_id)
    inserted = db.execute(
        _INSERT,
        (
            *(no, *said, entry.edits, entry.timestamp_ms, *taken),
            *(entry.size, entry.through, entry.author, subject, made, link, body, decision, marks),
        ),
    )
    db.execute(
        "UPDATE sessions SET head = ?, chain = ?, last_at = max(last_at, ?) WHERE no = ?",
        (seq, link, entry.at, no),
    )
    measured, kept = (entry.size, entry.through, entry.timestamp_ms), (made, link, body, decision)
    more = entry.edits, entry.author, marks, key is not None
    return inserted.lastrowid or 0, Entry(*said, *taken, *measured, *kept, *more)


def place_again(db: sqlite3.Connection, workspace: str, again: EntryPlaced) -> None:
    """A message whose class was postponed, or which found no place, has it now.

    Raises:
        FlowFault: that run does not keep the message, or has placed it.
    """
    no, placed, seq, instead_of = (
        session_number(db, workspace, again.session),
        again.placed,
        again.seq,
        again.instead_of,
    )
    kept = db.execute(
        "UPDATE transcript SET attached = ?, reason = ?, decision = ?, thread = ?, run = ?, "
        "anchor = ?"
        " WHERE session = ? AND seq = ? AND kind = 'message' AND run = ? AND run <> '' AND "
        "attached IN (?, ?, ?)",
        (
            placed.attached,
            placed.reason,
            placed.decision,
            placed.thread,
            placed.serves,
            placed.anchor,
            no,
            seq,
            instead_of,
            *_TO_PLACE,
        ),
    ).rowcount
    if not kept:
        raise FlowFault(
            f"run {instead_of} claims a place for message {seq}, which it does not keep or has "
            "placed"
        )
    db.execute(
        "UPDATE transcript SET run = ? WHERE session = ? AND run = ? AND run <> '' AND kind = "
        "'message'",
        (placed.serves, no, instead_of),
    )


def session_number(db: sqlite3.Connection, workspace: str, session: str) -> int:
    """The row number of a session that exists."""
    return db.execute(
        "SELECT no FROM sessions WHERE workspace = ? AND id = ?", (workspace, session)
    ).fetchone()[0]


def change_threads(db: sqlite3.Connection, workspace: str, changes: Sequence[ThreadChange]) -> None:
    """Apply changes; a thread that does not exist is made. Closing a question closes that one only.

    Of what a stopped run says after its session was erased no word is kept.
    """
    for said in changes:
        session, erased, there = db.execute(_STANDS, (said.id, workspace, said.session)).fetchone()
        change = (
            msgspec.structs.replace(said, intent="", asked=None, slot=None, last_error=None)
            if erased
            else said
        )
        if not there:
            said_first = (change.status or ThreadStatus.IN_PROGRESS, change.intent, change.run)
            db.execute(_NEW_THREAD, (session, change.id, *said_first, change.at))
            db.execute(
                "UPDATE sessions SET threads = max(threads, ?), active = ? WHERE no = ?",
                (change.id, change.id, session),
            )
        if change.answered is not None:
            closed, left = close_one(db, session, change.id, *change.answered, unasks=change.unasks)
            if not closed:
                # it was closed before, and what closed it has said where the thread stands
                continue
            change = (
                msgspec.structs.replace(change, status=ThreadStatus.WAITING_FOR_USER)
                if left
                else change
            )
        if change.asked is not None:
            change = msgspec.structs.replace(
                change, asked=change.asked.after(open_in(db, session, change.id))
            )
        asked, last_error = json_text(change.asked), json_text(change.last_error)
        if there or asked is not None or last_error is not None:
            # else its row says all that already
            db.execute(
                "UPDATE threads SET status = coalesce(?, status), run = CASE WHEN ? <> '' THEN ? "
                "ELSE run END, asked = coalesce(?, asked),"
                " last_error = coalesce(?, last_error), touched_at = max(touched_at, ?) WHERE "
                "session = ? AND id = ?",
                (
                    *(change.status, change.run, change.run, asked),
                    *(last_error, change.at, session, change.id),
                ),
            )
        if change.slot is not None:
            _fill(db, session, change.id, change.slot)


def _fill(db: sqlite3.Connection, session: int, thread: int, slot: tuple[str, Any]) -> None:
    (slots,) = db.execute(
        "SELECT slots FROM threads WHERE session = ? AND id = ?", (session, thread)
    ).fetchone()
    filled: dict[str, Any] = {} if slots is None else msgspec.json.decode(slots)
    filled[slot[0]] = slot[1]
    db.execute(
        "UPDATE threads SET slots = ? WHERE session = ? AND id = ?",
        (json_text(filled), session, thread),
    )


def take_place(db: sqlite3.Connection, workspace: str, number: int, place: NewPlace) -> None:
    """A turn with row number ``number`` takes its place in its thread."""
    state = "queued" if place.queued else "live"
    no = session_number(db, workspace, place.session)
    if place.thread:
        db.execute(_MADE_ACTIVE, (place.thread, no))
    db.execute(
        "INSERT INTO turns VALUES (?,?,?,?,?,?)",
        (number, place.run, no, place.thread, state, place.counts),
    )


def give_up_place(
    db: sqlite3.Connection, workspace: str, run: int, changes: Sequence[ThreadChange]
) -> tuple[str, ...] | None:
    """A run came to rest: what it says of its thread holds, and its place goes to the thread's next
    turn, whose id is returned where there is one.

    A run that held no place changes nothing, and is told by None.
    """
    row = db.execute(
        "SELECT session, thread, id, state FROM turns WHERE run = ?", (run,)
    ).fetchone()
    if row is None:
        return None
    session, thread, own, state = row
    others = (
        "SELECT 1 FROM turns WHERE session = ? AND thread = ? AND run <> ? AND state = 'live' AND "
        "state <> 'over'"
    )
    if state == "over" and db.execute(others, (session, thread, run)).fetchone() is not None:
        # it had stopped and given up its place before, and the thread is another turn's now
        return ()
    db.execute("UPDATE turns SET state = 'over' WHERE run = ?", (run,))
    change_threads(db, workspace, [change for change in changes if thread and change.id == thread])
    db.execute(
        "UPDATE threads SET asked = NULL WHERE session = ? AND id = ? AND asked IS NOT NULL AND "
        "json_extract(asked, '$.root') = ?",
        (session, thread, own),
    )
    number, following, at_work = db.execute(
        "SELECT min(run), id, sum(state = 'live') FROM turns WHERE session = ? AND thread = ? AND "
        "state IN ('live', 'queued') AND state <> 'over'",
        (session, thread),
    ).fetchone()  # beside one minimum SQLite gives the other columns of its row
    if number is None or at_work:
        return ()
    db.execute("UPDATE turns SET state = 'live' WHERE run = ?", (number,))
    db.execute(MADE_NEXT, (number,))
    db.execute(
        "UPDATE threads SET status = ?, run = ? WHERE session = ? AND id = ?",
        (ThreadStatus.IN_PROGRESS, following, session, thread),
    )
    return (following,)


def take_place_again(db: sqlite3.Connection, run: str) -> bool:
    """A stopped turn is to go on: it takes its place again; whether it may, for the place may be
    another turn's by now.
    """
    row = db.execute(
        "SELECT t.run, t.session, t.thread, t.state FROM turns t JOIN runs r ON r.no = t.run "
        "WHERE r.id = ?",
        (run,),
    ).fetchone()
    if row is None or row[3] != "over":
        return True
    number, session, thread, _ = row
    taken = (
        "SELECT 1 FROM turns WHERE session = ? AND thread = ? AND state = 'live' AND state <> "
        "'over'"
    )
    if thread and db.execute(taken, (session, thread)).fetchone() is not None:
        return False
    db.execute("UPDATE turns SET state = 'live' WHERE run = ?", (number,))
    db.execute(
        "UPDATE threads SET status = ?, run = ? WHERE session = ? AND id = ?",
        (ThreadStatus.IN_PROGRESS, run, session, thread),
    )
    return True
