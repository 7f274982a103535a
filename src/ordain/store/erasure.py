"""Erasing a subject, inside the write transaction: its key at once, with which nothing of it is
read any more; its rows in slices.

Between the two the reads give none of its content (``store.sqlite``, ``store.sessions``), and
``erasures`` says that there is work left. A session gets another id with the key
(``store.erased_names``); its runs, and the links of its transcript, which cover the id, follow in
the slices.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

import msgspec

from ordain.journal.records import ENCODER, NULL, EndedBody, Record, RecordKind
from ordain.ports.store import Outcome
from ordain.ports.upkeep import Reached, Slice
from ordain.rules.header import without_words
from ordain.store.contents import exchange, pieces, read_content
from ordain.store.erased_names import (
    ENTRIES,
    ErasedSession,
    link_again,
    link_before,
    link_of,
    rename_run,
    rename_session,
    session_of,
)
from ordain.store.grant_rows import forget_grants
from ordain.store.ledger import LedgerDraft
from ordain.store.library_units import erase_subject
from ordain.store.schema import UNSETTLED
from ordain.store.slices import Allowance

_AT_WORK = (
    f"SELECT 1 FROM runs INDEXED BY runs_unsettled WHERE {UNSETTLED} AND "  # noqa: S608 - a constant of the schema
    "subject = ?1"
    " UNION ALL SELECT 1 FROM sessions s JOIN turns t ON t.session = s.no JOIN runs r ON r.no "
    "= t.run"
    " WHERE s.subject = ?1 AND t.state <> 'over' AND r.status = 'queued' LIMIT 1"
)
"""By the indices of what is unsettled: a subject may have many runs, and few of all are at work."""
_BESIDE = (
    "UPDATE mailbox SET body = x'7b7d' WHERE run = ? AND body <> x'7b7d'",
    "UPDATE outbox SET text = '' WHERE run = ? AND text <> ''",
    (
        "UPDATE approvals SET decided_by = '', claimed_by = '' WHERE run = ? AND (decided_by <> "
        "'' OR "
        "claimed_by <> '')"
    ),
)
_THREADS = (
    "SELECT id, length(intent) + coalesce(length(slots), 0) + coalesce(length(last_error), 0) "
    "FROM threads"
    " WHERE session = ? AND id > ? ORDER BY id LIMIT ?"
)
_EMPTIED = (
    "UPDATE threads SET intent = '', asked = NULL, slots = NULL, last_error = NULL WHERE session "
    "= ? AND id = ?"
)
_RUNS_STAGE, _THREADS_STAGE, _ENTRIES_STAGE = 0, 1, 2
On = tuple[sqlite3.Connection, LedgerDraft]
"""The open transaction, and what it says on the ledger."""


def _named(db: sqlite3.Connection, args: dict[str, Any]) -> int | None:
    if "session" in args:
        named = (
            "SELECT subject FROM sessions WHERE workspace = ? AND id = ?",
            (args["workspace"], args["session"]),
        )
    else:
        named = "SELECT subject FROM runs WHERE id = ?", (args["run"],)
    row = db.execute(*named).fetchone()
    return None if row is None else row[0]


def erased_places(db: sqlite3.Connection, args: dict[str, Any]) -> Sequence[tuple[str, str]]:
    """The session, by workspace and id, that an erasure takes its id from, for whoever reads along
    there; none where it takes none.
    """
    return db.execute(
        "SELECT workspace, id FROM sessions WHERE subject = ?", (_named(db, args),)
    ).fetchall()


def begin_erasure(db: sqlite3.Connection, args: dict[str, Any], ledger: LedgerDraft) -> Outcome:
    """Destroy a subject's digest key, of the run or of the session that is named, and what would
    still be found without it.

    ``seq`` is the subject's number, for the slices that destroy its rows; ``count`` is what was
    remembered of it and is kept no longer.
    """
    subject = _named(db, args)
    if subject is None:
        return Outcome(refused="not_found")
    if db.execute(_AT_WORK, (subject,)).fetchone():
        return Outcome(refused="not_at_rest")
    at = args["at"]
    rename_session(db, ledger, subject)
    db.execute(
        "UPDATE subjects SET key = NULL, erased_at = ? WHERE no = ? AND key IS NOT NULL",
        (at, subject),
    )
    db.execute("INSERT OR IGNORE INTO erasures VALUES (?, ?)", (subject, at))
    db.execute("UPDATE sessions SET user = '' WHERE subject = ?", (subject,))
    db.execute(  # now and not in slices: how many are asked counts
        "UPDATE threads SET asked = NULL WHERE asked IS NOT NULL AND session IN (SELECT no FROM "
        "sessions WHERE subject = ?)",
        (subject,),
    )
    forget_grants(db, subject)
    ledger.subject(subject)
    return Outcome(seq=subject, count=erase_subject(db, ledger, subject, at))


def erase_slice(on: On, subject: int, after: Reached | None) -> Slice:
    """Destroy some rows of a subject that has no key any more; ``ended`` keeps the header, without
    what that quotes.
    """
    db, ledger = on
    begun = db.execute(
        "SELECT e.at FROM erasures e JOIN subjects s ON s.no = e.subject WHERE e.subject = ? AND "
        "s.key IS NULL",
        (subject,),
    )
    row = begun.fetchone()
    if row is None:
        return Slice(rows=0, after=None)
    stage, first, second = (int(part) for part in after or (_RUNS_STAGE, 0, -1))
    left, session = Allowance(), session_of(db, subject)
    if stage == _RUNS_STAGE:
        place = _erase_runs(on, (subject, session), (first, second), left, row[0])
        if place is not None:
            return Slice(rows=left.changed, after=(_RUNS_STAGE, *place))
        stage, first = _THREADS_STAGE, 0
    if session is not None:
        if stage == _THREADS_STAGE:
            thread = _erase_threads(db, session, first, left)
            if thread is not None:
                return Slice(rows=left.changed, after=(_THREADS_STAGE, thread, -1))
            first = 0
        last = _erase_entries(db, session, first, left)
        if last is not None:
            return Slice(rows=left.changed, after=(_ENTRIES_STAGE, last, -1))
        link_again(db, ledger, session)
    db.execute("DELETE FROM erasures WHERE subject = ?", (subject,))
    return Slice(rows=left.changed, after=None)


def erase_begun(on: On, after: Reached | None) -> Slice:
    """A slice of the erasure that was begun first; ``after`` names it, so that another one begins
    at its own beginning.
    """
    db, _ = on
    row = db.execute("SELECT subject FROM erasures ORDER BY at, subject LIMIT 1").fetchone()
    if row is None:
        return Slice(rows=0, after=None)
    subject = int(row[0])
    begun = after[1:] if after and after[0] == subject else None
    made = erase_slice(on, subject, begun or None)
    if made.after is None:
        return Slice(
            rows=made.rows, after=(0,) if db.execute("SELECT 1 FROM erasures").fetchone() else None
        )
    return Slice(rows=made.rows, after=(subject, *made.after))


def _erase_runs(
    on: On, of: tuple[int, ErasedSession | None], place: tuple[int, int], left: Allowance, at: int
) -> tuple[int, int] | None:
    """Of its runs, beginning within the one at ``place`` (run, seq); where it ended, None after the
    last.
    """
    (db, ledger), (subject, session), (run, seq) = on, of, place
    while True:
        if run:
            ended = _erase_run(db, run, seq, left, at)
            if ended is not None:
                return run, ended
            left.rows -= rename_run(db, ledger, run, session)
        row = db.execute(
            "SELECT no FROM runs WHERE subject = ? AND no > ? ORDER BY no LIMIT 1", (subject, run)
        ).fetchone()
        if row is None:
            return None
        run, seq = row[0], -1
        if left.spent:
            return run, seq


def _erase_run(db: sqlite3.Connection, run: int, seq: int, left: Allowance, at: int) -> int | None:
    for piece in pieces(db, run, seq):
        bodies = dict[int, bytes | None]()
        for content in piece.contents:
            left.look()
            seq = content.seq
            if content.kind != RecordKind.NOTE and content.size is not None:
                ended = content.kind == RecordKind.ENDED
                left.take(content.size, counts=not ended)
                bodies[seq] = bare(read_content(db, content) or b"") if ended else None
            if left.spent:
                break
        exchange(db, piece, bodies, at)
        if left.spent:
            return seq
    for statement in _BESIDE:
        left.rows -= db.execute(statement, (run,)).rowcount
    left.looks -= 1
    return None


def _erase_threads(
    db: sqlite3.Connection, session: ErasedSession, after: int, left: Allowance
) -> int | None:
    """What threads of a session hold; the number of the last one where more are left. Their words
    count for no content: the entries that they come from do.
    """
    rows = db.execute(_THREADS, (session.no, after, most := left.most)).fetchall()
    emptied = list[tuple[int, int]]()
    for number, size in rows:
        after = number
        left.look()
        if size:
            emptied.append((session.no, number))
            left.take(size, counts=False)
        if left.spent:
            break
    db.executemany(_EMPTIED, emptied)
    return after if left.spent or (rows and len(rows) == most) else None


def _erase_entries(
    db: sqlite3.Connection, session: ErasedSession, after: int, left: Allowance
) -> int | None:
    """What was said, and who said it, of a session from entry to entry; the number of the last one
    where more are left. What came since is only linked.
    """
    rows = db.execute(ENTRIES, (session.no, after, most := max(left.rows, 1))).fetchall()
    link, done, seq = link_before(db, session, after), list[tuple[bytes, int, int]](), after
    for no, size, holds, erased, seq, *linked in rows:
        link = link_of(session, link, seq, linked)
        left.take(size, counts=bool(holds and erased))
        done.append((link, erased, no))
        if left.spent:
            break
    db.executemany(
        "UPDATE transcript SET chain = ?1, body = iif(?2, NULL, body), decision = iif(?2, NULL, "
        "decision), author = iif(?2, '', author) WHERE no = ?3",
        done,
    )
    return seq if done and (len(done) < len(rows) or len(rows) == most) else None


def bare(body: bytes) -> bytes | None:
    """An ``ended`` body of erased content: no result, no word in the header; one that cannot be
    read goes whole.
    """
    try:
        ended = msgspec.json.decode(body, type=EndedBody)
    except msgspec.MsgspecError:
        return None
    return ENCODER.encode(
        msgspec.structs.replace(ended, header=without_words(ended.header), result=NULL)
    )


def unread(records: Sequence[Record]) -> tuple[Record, ...]:
    """Records of a subject without a key as anybody may see them, whether or not their rows are
    destroyed already.
    """
    return tuple(_unread(record) for record in records)


def _unread(record: Record) -> Record:
    if record.body is None or record.kind is RecordKind.NOTE:
        return record
    return msgspec.structs.replace(
        record, body=bare(record.body) if record.kind is RecordKind.ENDED else None
    )
