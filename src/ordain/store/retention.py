"""What policy keeps no longer, inside the write transaction, slice by slice, each found by an index
and bounded in rows, bytes and time.

Runs are passed in the order in which they ended, and ``sweeps`` holds how far each class got: where
nothing has become old since, nothing is looked at. With a run's records goes what its mailbox and
its outbox hold of them. Entries and threads that still hold something stand in indices of their
own, which what was swept leaves.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

import msgspec

from ordain.journal.ledger_items import swept_item
from ordain.journal.records import RecordKind
from ordain.ports.upkeep import EndedPeriods, OldContent, Reached, Slice
from ordain.store.contents import exchange, pieces, read_content
from ordain.store.erasure import On
from ordain.store.ledger import LedgerDraft
from ordain.store.slices import SLICE_ROWS, Allowance

PAGES = 256
"""Pages that one slice gives back to the file system."""

RUNS_AT_ONCE = 64
_NEXT = (
    "SELECT no, ended_at FROM runs WHERE ended_at IS NOT NULL AND ended_at >= ?1 AND ended_at < "
    "?2 AND (ended_at > ?1 OR no > ?3)"
    " ORDER BY ended_at, no LIMIT ?4"
)
_CALLS = {RecordKind.INTENT, RecordKind.OBSERVATION}
_IN_CLASS: dict[str, Callable[[str, str], bool]] = {
    "input": lambda kind, _: kind == RecordKind.STARTED,
    "result": lambda kind, _: kind in {RecordKind.CHILD_ENDED, RecordKind.ENDED},
    "model": lambda kind, name: kind in _CALLS and name.startswith("model"),
    "verb": lambda kind, name: kind in _CALLS and not name.startswith("model"),
}
_MAIL = (
    "SELECT id, length(body), taken IS NULL FROM mailbox WHERE run = ? AND (kind = 'child') = {0} "
    "AND body <> x'7b7d' LIMIT ?"
)
_MAIL_EMPTIED = "UPDATE mailbox SET body = x'7b7d' WHERE id = ?"
_BESIDE = {
    "input": ((_MAIL.format(0), _MAIL_EMPTIED),),
    "result": (
        (_MAIL.format(1), _MAIL_EMPTIED),
        (
            "SELECT id, length(text), 0 FROM outbox WHERE run = ? AND text <> '' LIMIT ?",
            "UPDATE outbox SET text = '' WHERE id = ?",
        ),
    ),
}
"""What stands beside a run's records in the same words: what people and others said to it, what its
children came to, and what it told.
"""
_PASS = {name: f"{name} and what stands beside it" for name in _BESIDE}
"""Under which name ``sweeps`` holds how far a class got: builds before left what stands beside, so
that what they have passed is passed once more.
"""
_ENTRIES = (
    "SELECT no, at, session, coalesce(length(body), 0) + coalesce(length(decision), 0) FROM "
    "transcript"
    " WHERE (kind = 'message') = ?1 AND body IS NOT NULL AND at >= ?2 AND at < ?3 AND (at > ?2 OR "
    "no > ?4) ORDER BY at, no LIMIT ?5"
)
_HELD = {
    "input": ("intent = '', slots = NULL", "intent <> '' OR slots IS NOT NULL"),
    "result": ("last_error = NULL", "last_error IS NOT NULL"),
}
"""What a thread holds of each class, and whether it holds any (the words of its index): what users
said, and what came of it.
"""
_THREADS = (
    "SELECT touched_at, session, id FROM threads WHERE ({0}) AND touched_at >= ?1 AND "
    "touched_at < ?2"
    " AND (touched_at > ?1 OR (session, id) > (?3, ?4)) ORDER BY touched_at, session, id LIMIT ?5"
)
_RUNS_STAGE, _ENTRIES_STAGE, _THREADS_STAGE = 0, 1, 2


def sweep_content(
    db: sqlite3.Connection, ledger: LedgerDraft, rule: OldContent, after: Reached | None
) -> Slice:
    """The next old content of a class: of runs, then of transcripts, then of threads. A slice that
    changes anything says so on the ledger.
    """
    before = db.total_changes
    made = _sweep_content(db, ledger, rule, after)
    if db.total_changes != before:
        ledger.item(swept_item(rule.content_class, rule.before))
    return made


def _sweep_content(
    db: sqlite3.Connection, ledger: LedgerDraft, rule: OldContent, after: Reached | None
) -> Slice:
    left = Allowance()
    stage, *place = (int(part) for part in after) if after is not None else (_RUNS_STAGE,)
    if stage == _RUNS_STAGE:
        if not _sweep_runs((db, ledger), rule, left):
            return Slice(rows=left.changed, after=(_RUNS_STAGE,))
        stage, place = _ENTRIES_STAGE, [0, 0]
    if rule.content_class not in _HELD:
        return Slice(rows=left.changed, after=None)
    if stage == _ENTRIES_STAGE:
        reached = _sweep_entries(db, rule, (place[0], place[1]), left)
        if reached is not None:
            return Slice(rows=left.changed, after=(_ENTRIES_STAGE, *reached))
        place = [0, 0, 0]
    last = _sweep_threads((db, ledger), rule, (place[0], place[1], place[2]), left)
    return Slice(rows=left.changed, after=None if last is None else (_THREADS_STAGE, *last))


def _sweep_runs(on: On, rule: OldContent, left: Allowance) -> bool:
    """Go on from where the class stands; whether no run is left."""
    (db, _), named = on, _PASS.get(rule.content_class, rule.content_class)
    row = db.execute("SELECT ended_at, run, seq FROM sweeps WHERE class = ?", (named,)).fetchone()
    begun: tuple[int, int, int] = row or (0, 0, -1)
    # time or policy went back: what was passed is looked at again
    ended_at, run, seq = begun if begun[0] < rule.before else (0, 0, -1)
    stood = (ended_at, run, seq)
    while not left.spent:
        if run and seq >= 0:
            seq = _sweep_run(on, rule, run, seq, left)
            if seq >= 0 or left.spent:
                break
        following = db.execute(_NEXT, (ended_at, rule.before, run, RUNS_AT_ONCE)).fetchall()
        for row in following:
            run, ended_at = row
            left.look()
            seq = _sweep_run(on, rule, run, -1, left)
            if seq >= 0 or left.spent:
                break
        if seq < 0 and len(following) < RUNS_AT_ONCE and not left.spent:
            break
    if (ended_at, run, seq) != stood:
        db.execute("INSERT OR REPLACE INTO sweeps VALUES (?,?,?,?)", (named, ended_at, run, seq))
    return not left.spent and seq < 0


def _sweep_run(on: On, rule: OldContent, run: int, seq: int, left: Allowance) -> int:
    """The number of the last record that was looked at where more may be left, else -1."""
    (db, _), in_class = on, _IN_CLASS[rule.content_class]
    for piece in pieces(db, run, seq):
        bodies = dict[int, bytes | None]()
        for content in piece.contents:
            left.look()
            seq = content.seq
            if content.size is not None and in_class(content.kind, content.name):
                ended = content.kind == RecordKind.ENDED
                left.take(content.size, counts=not ended)
                body = read_content(db, content) if ended else None
                bodies[seq] = None if body is None else _trimmed(body)
            if left.spent:
                break
        exchange(db, piece, bodies, rule.at)
        if left.spent:
            return seq
    return -1 if _sweep_beside(on, rule, run, left) else seq


def _sweep_beside(on: On, rule: OldContent, run: int, left: Allowance) -> bool:
    """Whether nothing is left beside the run's records. What nobody took is said anew."""
    db, ledger = on
    for held, emptied in _BESIDE.get(rule.content_class, ()):
        rows = db.execute(held, (run, most := max(left.rows, 1))).fetchall()
        for number, size, untaken in rows:
            if left.spent:
                return False
            db.execute(emptied, (number,))
            left.take(size, counts=False)
            if untaken:
                ledger.mail(number)
        if len(rows) == most:
            return False
    return True


def _trimmed(body: bytes) -> bytes | None:
    """An ``ended`` body without its result; one that cannot be read goes whole."""
    try:
        said = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return None
    return body if said.pop("result", None) is None else msgspec.json.encode(said)


def _sweep_entries(
    db: sqlite3.Connection, rule: OldContent, place: tuple[int, int], left: Allowance
) -> tuple[int, int] | None:
    """What was said in sessions where nothing is open: an open turn may still refer to it."""
    at, no = place
    rows = db.execute(
        _ENTRIES, (rule.content_class == "input", at, rule.before, no, most := left.most)
    ).fetchall()
    going_on, emptied, seen = dict[int, bool](), list[tuple[int]](), 0
    for row in rows:
        no, at, session, size = row
        left.look()
        seen += 1
        if session not in going_on:
            going_on[session] = _goes_on(db, session)
        if not going_on[session]:
            emptied.append((no,))
            left.take(size)
        if left.spent:
            break
    db.executemany("UPDATE transcript SET body = NULL, decision = NULL WHERE no = ?", emptied)
    return (at, no) if rows and (seen < len(rows) or len(rows) == most) else None


def _sweep_threads(
    on: On,
    rule: OldContent,
    place: tuple[int, int, int],
    left: Allowance,
) -> tuple[int, int, int] | None:
    (db, ledger), (emptied, held) = on, _HELD[rule.content_class]
    touched_at, session, number = place
    rows = db.execute(
        _THREADS.format(held), (touched_at, rule.before, session, number, most := max(left.rows, 1))
    ).fetchall()
    for row in rows:
        touched_at, session, number = row
        if not _goes_on(db, session):
            db.execute(
                f"UPDATE threads SET {emptied} WHERE session = ? AND id = ?",  # noqa: S608 - constants
                (session, number),
            )
            ledger.thread_number(session, number)
    left.rows -= len(rows)
    return (touched_at, session, number) if len(rows) == most else None


def _goes_on(db: sqlite3.Connection, session: int) -> bool:
    return (
        db.execute(
            "SELECT 1 FROM turns WHERE session = ? AND state <> 'over' LIMIT 1", (session,)
        ).fetchone()
        is not None
    )


def drop_periods(
    db: sqlite3.Connection, ledger: LedgerDraft, rule: EndedPeriods, after: Reached | None
) -> Slice:
    """The next accounts in their order; those of periods that are over go."""
    workspace, name = after or ("", "")
    rows = db.execute(
        "SELECT workspace, name FROM accounts WHERE (workspace, name) > (?, ?) ORDER BY "
        "workspace, name LIMIT ?",
        (workspace, name, SLICE_ROWS),
    ).fetchall()
    shapes = [
        (re.compile(rf"(?:{'|'.join(map(re.escape, rule.kinds))}):(?:.*:)?({_digits(last)})"), last)
        for last in rule.before
    ]
    over = [
        row
        for row in rows
        if rule.kinds
        and any((found := shape.fullmatch(row[1])) and found[1] < last for shape, last in shapes)
    ]
    db.executemany("DELETE FROM accounts WHERE workspace = ? AND name = ?", over)
    for account in over:
        ledger.account(*account)
    return Slice(rows=len(over), after=rows[-1] if len(rows) == SLICE_ROWS else None)


def _digits(period: str) -> str:
    return re.sub(r"\\?\d", "[0-9]", re.escape(period))


def give_back(db: sqlite3.Connection) -> Slice:
    """Give pages that hold nothing back to the file system, where the file was made so that it can
    (``store.compaction``).
    """
    (before,) = db.execute("PRAGMA freelist_count").fetchone()
    if not before or db.execute("PRAGMA auto_vacuum").fetchone()[0] != 2:
        return Slice(rows=0, after=None)
    db.execute(f"PRAGMA incremental_vacuum({PAGES})").fetchall()
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    return Slice(rows=before - free, after=(free,) if 0 < free < before else None)
