"""The ledger over SQLite: what stands, as items, and what the open transaction has changed of it,
as the one row of its batch (``journal.ledger``).

An item that is asked for at the end of a batch and one that is made from all that stands come from
the same statements, so that they cannot differ.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.digests import MARKS_BYTES, digest, entry_cover
from ordain.journal.ledger import LedgerRow, in_rows, next_row
from ordain.journal.ledger_items import (
    AT_REST,
    COVERS,
    COVERS_LIBRARY,
    COVERS_WORDS,
    LedgerItem,
    account_item,
    approval_item,
    config_item,
    deaths_item,
    erased_item,
    grant_item,
    placed_item,
    renamed_item,
    rest_item,
    run_item,
    session_item,
    swept_item,
    thread_item,
)
from ordain.store import sheets
from ordain.store.grant_rows import ITS_SUBJECT
from ordain.store.ledger_library import (
    begin_library,
    remembered_now,
    remembered_of,
    standing_library,
)
from ordain.store.ledger_words import begin_words, kept_now, request_now, standing_words
from ordain.store.posted_mail import begin_covering, covers, mail_now, untaken_mail
from ordain.store.run_records import asking, read_opening

LEDGER_TABLES = """
CREATE TABLE ledger(no INTEGER PRIMARY KEY, items BLOB NOT NULL, chain BLOB NOT NULL);
ALTER TABLE transcript ADD COLUMN marks BLOB;
"""
"""``marks`` of an entry are what its link of the second version covers of author and decision; NULL
where it is of the first.
"""

_BEING_ERASED = "r.subject IN (SELECT subject FROM erasures) AND u.key IS NULL"
_RUNS = (
    "SELECT r.id, p.id, r.parent_addr, r.child, o.id, r.workspace, coalesce(r.session, ''), "
    "CAST(coalesce(r.thread, 0) AS INTEGER), u.id,"
    " r.flow, r.flow_version, r.catalog, r.created_at, r.status, r.reason, r.ended_at, "
    "r.head_seq, r.no,"
    f" {_BEING_ERASED}, r.resumes, r.resumes_at FROM runs r"
    " LEFT JOIN runs p ON p.no = r.parent LEFT JOIN runs o ON o.no = r.root LEFT JOIN subjects u "
    "ON u.no = r.subject"
)
_REST = "SELECT id, status, reason, ended_at, head_seq, no FROM runs WHERE no = ?"
_SESSIONS = (
    "SELECT s.workspace, s.id, s.generation, u.id, s.head, s.chain, s.threads, s.active, "
    "s.channel, s.created_at, s.last_at, s.user, u.key"
    " FROM sessions s LEFT JOIN subjects u ON u.no = s.subject"
)
_THREADS = (
    "SELECT s.workspace, s.id, t.id, t.status, t.run, t.touched_at, t.intent, t.asked, t.slots, "
    "t.last_error, u.key"
    " FROM threads t JOIN sessions s ON s.no = t.session LEFT JOIN subjects u ON u.no = s.subject"
)
_SESSION = f"{_SESSIONS} WHERE s.workspace = ? AND s.id = ?"
_THREAD = f"{_THREADS} WHERE s.workspace = ? AND s.id = ? AND t.id = ?"
_THREAD_BY_NUMBER = f"{_THREADS} WHERE t.session = ? AND t.id = ?"
_THREAD_OF_TURN = (
    f"{_THREADS} WHERE (t.session, t.id) = (SELECT w.session, w.thread FROM turns w WHERE "
    "w.run = ?)"
)
_LAST = "SELECT no, chain FROM ledger ORDER BY no DESC LIMIT 1"
_ACCOUNTS = "SELECT workspace, name, tokens, usd_micros FROM accounts"
_CONFIG = "SELECT place, resource, id, version, config, by, at FROM configuration"
_ERASED = "SELECT workspace, id, erased_at FROM subjects WHERE key IS NULL"
_LAST_SHEET = "SELECT seq, records FROM sheets WHERE run = ? ORDER BY seq DESC LIMIT 1"
_LAST_RECORD = "SELECT chain FROM records WHERE run = ? ORDER BY seq DESC LIMIT 1"
_COVERED = (
    "SELECT seq, thread, run, channel, edits, timestamp_ms, attached, reason, anchor, size, "
    "through FROM transcript"
)
_APPROVALS = (
    "SELECT a.id, a.workspace, r.id, o.id, a.addr, coalesce(s.id, ''), a.thread, a.subject, "
    "a.tier, a.digest, a.workflow, a.asked_at, a.expires_at,"
    f" a.state, a.decided_at, a.granted, a.decided_by, u.key, {_BEING_ERASED}, a.claimed_by, "
    "a.claimed_at FROM approvals a"
    " LEFT JOIN runs r ON r.no = a.run LEFT JOIN runs o ON o.no = a.root LEFT JOIN sessions s ON "
    "s.no = a.session LEFT JOIN subjects u ON u.no = r.subject"
)
_GRANTS = (
    "SELECT grants.id, grants.workspace, principal, expires_at, uses_left, revoked_at, body, "
    "content, u.key,"
    f" subject IS NULL OR subject IS {ITS_SUBJECT} FROM grants LEFT JOIN subjects u ON u.no = "
    "grants.subject"
)
_LINK = 5
"""Where a laid record has its link."""
MAIL_KEPT = 4_096
"""So much mail that nobody has taken yet is remembered, the latest; of the rest the ledger is
asked.
"""


def last_link(db: sqlite3.Connection, run: int) -> bytes:
    """The link of the last record of run number ``run``; empty where that cannot be read, or there
    is none.
    """
    row = db.execute(_LAST_SHEET, (run,)).fetchone()
    if row is None:
        row = db.execute(_LAST_RECORD, (run,)).fetchone()
        return row[0] if row is not None and isinstance(row[0], bytes) else b""
    try:
        return sheets.decode(*row)[-1][_LINK]
    except (JournalCorrupt, IndexError):
        return b""


def _first_link(db: sqlite3.Connection, run: int) -> bytes:
    try:
        opening = read_opening(asking(db), run)
    except JournalCorrupt:
        return b""
    return b"" if opening is None else opening.chain


def _rest(db: sqlite3.Connection, row: tuple[Any, ...]) -> LedgerItem:
    run, status, reason, ended_at, head, no = row
    return rest_item(
        run, status, reason, (ended_at, head, last_link(db, no) if status in AT_REST else b"")
    )


def _run(db: sqlite3.Connection, row: tuple[Any, ...]) -> LedgerItem:
    return run_item(row[0], row[1:13], b"" if row[13] in AT_REST else _first_link(db, row[17]))


def _session(row: tuple[Any, ...]) -> LedgerItem:
    return session_item(row[0], row[1], row[2:11], row[11], row[12])


def _thread(row: tuple[Any, ...]) -> LedgerItem:
    return thread_item(row[:3], row[3:6], row[6:10], row[10])


def _approval(row: tuple[Any, ...]) -> LedgerItem:
    return approval_item(row[0], row[1:16], row[16], row[19:21], row[17])


def _grant(row: tuple[Any, ...]) -> LedgerItem:
    return grant_item(row[0], row[1:7], row[7], row[8] if row[9] else None, misplaced=not row[9])


def _grant_laid(row: tuple[Any, ...]) -> LedgerItem:
    """As nothing stands that counts for nothing: what somebody put there is named however often the
    grant is written afterwards.
    """
    counts = isinstance(row[8], bytes) and row[9]
    return grant_item(row[0], row[1:7], row[7] if counts else None, row[8])


def standing_items(db: sqlite3.Connection, *, begins: bool = False) -> Iterator[LedgerItem]:
    """Everything that stands; ``placed`` and ``swept`` are said when they happen, and stand
    nowhere. ``begins``: for a ledger that has no row yet.
    """
    for row in db.execute(f"{_RUNS} ORDER BY r.no"):
        yield _run(db, row).or_under_way(row[18])
        yield _rest(db, (row[0], *row[13:18]))
        yield deaths_item(row[0], *row[19:21])
    yield from untaken_mail(db)
    yield from map(_session, db.execute(f"{_SESSIONS} ORDER BY s.no"))
    yield from map(_thread, db.execute(_THREADS))
    yield from standing_words(db, named=not (begins or covers(db, COVERS_WORDS)))
    yield from (
        account_item(workspace, name, (tokens, usd))
        for workspace, name, tokens, usd in db.execute(_ACCOUNTS)
    )
    yield from (config_item(row[:4], row[4], row[5:]) for row in db.execute(_CONFIG))
    yield from (erased_item(*row) for row in db.execute(_ERASED))
    yield from (
        _approval(row).or_under_way(row[18]) for row in db.execute(f"{_APPROVALS} ORDER BY a.no")
    )
    yield from map(_grant, db.execute(f"{_GRANTS} ORDER BY grants.no"))
    yield from begin_library(db) if begins else standing_library(db)


def begin_ledger(db: sqlite3.Connection, at: int) -> None:
    """The first rows of a database that has none: the heads that exist, and which classes of
    content were swept before ``at``, within a transaction.
    """
    swept = [
        swept_item(name, at) for (name,) in db.execute("SELECT class FROM sweeps ORDER BY class")
    ]
    begun = chain(swept, [COVERS_WORDS], begin_covering(db), standing_items(db, begins=True))
    for items in in_rows(item for item in begun if item.value):
        _add(db, items)


def cover_all(db: sqlite3.Connection) -> None:
    """The rows of a ledger that says nothing of mail, of words, or of what is remembered, yet and
    says it from now on, in one transaction; of any other one none.
    """
    said = (
        (COVERS, begin_covering),
        (COVERS_WORDS, begin_words),
        (COVERS_LIBRARY, begin_library),
    )
    unsaid = [begin for item, begin in said if not covers(db, item)]
    if not unsaid:
        return
    db.execute("BEGIN IMMEDIATE")
    begun = chain.from_iterable(begin(db) for begin in unsaid)
    for items in in_rows(begun):
        _add(db, items)
    db.execute("COMMIT")


def _add(db: sqlite3.Connection, items: list[LedgerItem]) -> None:
    row = next_row(db.execute(_LAST).fetchone(), items)
    db.execute("INSERT INTO ledger VALUES (?,?,?)", (row.no, row.items, row.chain))


def ledger_rows(db: sqlite3.Connection) -> Iterator[LedgerRow]:
    """Every row, in order."""
    for row in db.execute("SELECT no, items, chain FROM ledger ORDER BY no"):
        yield LedgerRow(*row)


class LedgerDraft:
    """What the open transaction has changed of what the ledger covers: made into one row where it
    commits, and of nothing into none.

    What is known whole is an item at once; of the rest the name is kept, and the item made from how
    it stands at the end of the batch.
    """

    def __init__(self) -> None:
        """Nothing yet."""
        self._items: list[LedgerItem] = []
        self._touched: list[tuple[Any, ...]] = []
        self._mail: dict[int, LedgerItem] = {}
        self.put: dict[int, LedgerItem] = {}
        """The mail that stands by what was written and committed here, by number, as far as it is
        remembered (``MAIL_KEPT``).
        """

    def mark(self) -> tuple[int, int]:
        """How much there is, to go back to if what follows is rolled back."""
        return len(self._items), len(self._touched)

    def back_to(self, mark: tuple[int, int]) -> None:
        """What came since ``mark`` was rolled back."""
        del self._items[mark[0] :], self._touched[mark[1] :]
        self._mail.clear()

    def item(self, item: LedgerItem) -> None:
        """This is so now."""
        self._items.append(item)

    def run(self, number: int) -> None:
        """A run is of a session or subject by another name."""
        self._touched.append(("run", number))

    def rest(self, number: int) -> None:
        """A run came to rest, left it, or has a note behind its end."""
        self._touched.append(("rest", number))

    def ended(self, number: int) -> None:
        """A run has ended; of one that was erased before, it says what it still says."""
        self._touched.append(("kept", number))

    def mail(self, number: int) -> None:
        """Mail has come, or was taken."""
        self._touched.append(("mail", number))

    def session(self, workspace: str, session: str) -> None:
        """A session's row has changed."""
        self._touched.append(("session", workspace, session))

    def thread(self, workspace: str, session: str, thread: int) -> None:
        """A thread has changed, and perhaps its session with it."""
        self._touched += (("session", workspace, session), ("thread", workspace, session, thread))

    def thread_number(self, session: int, thread: int) -> None:
        """The same of a session by its row's number, which itself has not changed."""
        self._touched.append(("thread_number", session, thread))

    def turn(self, number: int) -> None:
        """A turn has taken or given up its place: its thread has changed."""
        self._touched.append(("place", number))

    def request(self, workspace: str, request: str) -> None:
        """A request id was taken."""
        self._touched.append(("request", workspace, request))

    def account(self, workspace: str, name: str) -> None:
        """An account was charged, given back to or dropped."""
        self._touched.append(("account", workspace, name))

    def session_renamed(self, workspace: str, was: str, name: str, number: int) -> None:
        """A session that is erased has another name: its threads and placed messages with it,
        however many there are. ``number`` is its row's.
        """
        self._items.append(renamed_item(workspace, was, name))
        for at, touched in enumerate(self._touched):
            # in the same batch, under the name that it had
            if touched[:3] == ("thread", workspace, was):
                self._touched[at] = ("thread_number", number, touched[3])

    def subject(self, number: int) -> None:
        """A subject's key was destroyed, and with it what its session says of its user. What else
        was sealed with it the slices say again, or a renaming.
        """
        self._touched.append(("subject", number))

    def approval(self, approval: str) -> None:
        """An approval was asked for, decided, or is over."""
        self._touched.append(("approval", approval))

    def grant(self, grant: str) -> None:
        """A grant was given, used or taken back."""
        self._touched.append(("grant", grant))

    def remembered(self, number: int) -> None:
        """A note or document is kept, or no longer."""
        self._touched.append(("remembered", number))

    def remembered_of(self, subject: int) -> None:
        """What is remembered of a subject is so no longer."""
        self._touched.append(("remembered_of", subject))

    def write(self, db: sqlite3.Connection) -> None:
        """The row of the batch, before it commits."""
        if not self._items and not self._touched:
            return
        items = self._items
        for what, *name in dict.fromkeys(self._touched):
            made = _RESOLVED[what](db, tuple(name))
            items += made
            if what == "mail":
                self._mail.update(dict.fromkeys(name, made[0]) if made else {})
        if items:
            _add(db, items)
        self._items, self._touched = [], []

    def committed(self) -> None:
        """What was written last stands."""
        for number, item in self._mail.items():
            if item.value:
                self.put[number] = item
            else:
                self.put.pop(number, None)
        self._mail.clear()
        while len(self.put) > MAIL_KEPT:
            del self.put[next(iter(self.put))]


def _run_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_run(db, row) for row in db.execute(f"{_RUNS} WHERE r.no = ?", name)]


def _rest_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [*(_rest(db, row) for row in db.execute(_REST, name)), *kept_now(db, name)]


def _session_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_session(row) for row in db.execute(_SESSION, name)]


def _thread_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_thread(row) for row in db.execute(_THREAD, name)]


def _thread_by_number(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_thread(row) for row in db.execute(_THREAD_BY_NUMBER, name)]


def _turn_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_thread(row) for row in db.execute(_THREAD_OF_TURN, name)]


def _account_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    row = db.execute(f"{_ACCOUNTS} WHERE workspace = ? AND name = ?", name).fetchone()
    return [account_item(name[0], name[1], None if row is None else row[2:])]


def _approval_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_approval(row) for row in db.execute(f"{_APPROVALS} WHERE a.id = ?", name)]


def _grant_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [_grant_laid(row) for row in db.execute(f"{_GRANTS} WHERE grants.id = ?", name)]


def _subject_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    return [
        *(erased_item(*row) for row in db.execute(f"{_ERASED} AND no = ?", name)),
        *(_session(row) for row in db.execute(f"{_SESSIONS} WHERE s.subject = ?", name)),
        *(_grant_laid(row) for row in db.execute(f"{_GRANTS} WHERE grants.subject = ?", name)),
    ]


_RESOLVED: Mapping[str, Callable[[sqlite3.Connection, tuple[Any, ...]], list[LedgerItem]]] = {
    "run": _run_now,
    "rest": _rest_now,
    "kept": kept_now,
    "mail": mail_now,
    "session": _session_now,
    "thread": _thread_now,
    "thread_number": _thread_by_number,
    "place": _turn_now,
    "request": request_now,
    "account": _account_now,
    "approval": _approval_now,
    "grant": _grant_now,
    "subject": _subject_now,
    "remembered": remembered_now,
    "remembered_of": remembered_of,
}


def kept_messages(db: sqlite3.Connection, session: int, run: str) -> dict[int, bytes]:
    """The messages that a run keeps, by number, each with what its row says (its cover)."""
    rows = db.execute(
        f"{_COVERED} WHERE session = ? AND run = ? AND run <> '' AND kind = 'message'",
        (session, run),
    )
    return {seq: entry_cover(tuple(columns)) for seq, *columns in rows.fetchall()}


def placed_items(
    db: sqlite3.Connection, name: tuple[str, str, int], before: Mapping[int, bytes]
) -> Iterator[LedgerItem]:
    """Messages that were placed anew, as they stand now; behind the marks of each goes what its
    link covers. ``name``: workspace, id, row of the session.
    """
    workspace, session, no = name
    for seq, linked in before.items():
        columns = db.execute(f"{_COVERED} WHERE session = ? AND seq = ?", (no, seq)).fetchone()
        marks, decision, key = db.execute(
            "SELECT t.marks, t.decision, u.key FROM transcript t JOIN subjects u ON u.no = "
            "t.subject WHERE t.session = ? AND t.seq = ?",
            (no, seq),
        ).fetchone()
        if marks is not None and len(marks) == MARKS_BYTES:
            db.execute(
                "UPDATE transcript SET marks = ? WHERE session = ? AND seq = ?",
                (marks + linked, no, seq),
            )
        yield placed_item(
            (workspace, session, seq), entry_cover(columns[1:]), digest(key or b"", decision or b"")
        )
