"""Ledger over SQLite, as it is read; and the columns that repeat what other
columns say, held to them.

Such a column is there so that rows are found by an index, or without a journal being read; what it
says is decided elsewhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import TypeVar

from ordain.errors import JournalCorrupt
from ordain.journal.ledger import Discrepancy, LedgerRow
from ordain.journal.ledger_items import AT_REST, LedgerItem
from ordain.journal.records import RecordKind, content_class
from ordain.ports.writes import MailKind
from ordain.rules.budget import SETTLE
from ordain.store import sheets
from ordain.store.folder import snapshot
from ordain.store.ledger import ledger_rows, standing_items
from ordain.store.schema import WITH_LEDGER
from ordain.store.sqlite import SqliteStore

T = TypeVar("T")
_REST = "(" + ", ".join(f"'{status}'" for status in sorted(AT_REST)) + ")"
_STOPPED_BELOW = (
    "SELECT 1 FROM runs b WHERE b.root = r.no AND b.parent IS NOT NULL AND b.status IN"
    " ('faulted', 'diverged', 'quarantined', 'flow_unavailable', 'cancelled')"
)
"""A turn of which a run stopped has given up its place, and goes on without it where that is
cancelled.
"""
_CLASSES = "('input', 'model', 'verb', 'result', 'note')"
_BEING_ERASED = "r.subject IN (SELECT subject FROM erasures)"
"""Such a run's row names its session as it was before, or as it is named since; in its last slice
every one has the name of now.
"""
_ENTRY_SUBJECTS = (
    "SELECT *, max(number) OVER (PARTITION BY session ORDER BY seq ROWS BETWEEN UNBOUNDED "
    "PRECEDING AND 1 PRECEDING) AS before FROM ("
    "SELECT s.id, t.session, t.seq, s.workspace, u.workspace AS of, u.id AS named, 'session:' || "
    "s.id || '#' AS begins, s.generation,"
    " CAST(substr(u.id, length('session:' || s.id || '#') + 1) AS INTEGER) AS number"
    " FROM transcript t JOIN sessions s ON s.no = t.session LEFT JOIN subjects u ON u.no = "
    "t.subject)"
)
"""Whose each entry is: its session's, of the generation in which it was written, which is none
before that of the entry before it.
"""
_COLUMNS: Sequence[tuple[str, str, str]] = (
    (
        "turn of run {0}",
        "id, session or thread",
        (
            "SELECT r.id FROM turns t JOIN runs r ON r.no = t.run LEFT JOIN sessions s ON s.no = "
            "t.session"
            f" WHERE t.id <> r.id OR (s.id IS NOT r.session AND NOT {_BEING_ERASED}) OR "
            "s.workspace IS NOT r.workspace OR (t.thread <> 0 AND t.thread IS NOT CAST(r.thread "
            "AS INTEGER))"
        ),
    ),
    (
        "turn of run {0}",
        "state",
        (
            "SELECT r.id FROM turns t JOIN runs r ON r.no = t.run WHERE t.state NOT IN ('live', "
            "'queued', 'over')"
            " OR (t.state = 'queued') <> (r.status = 'queued') OR (t.state <> 'over' AND "
            f"r.status IN {_REST})"
            f" OR (t.state = 'over' AND r.status NOT IN {_REST} AND NOT EXISTS ({_STOPPED_BELOW}))"
        ),
    ),
    (
        "run {0}",
        "no turn",
        (
            "SELECT id FROM runs WHERE parent IS NULL AND session IS NOT NULL AND no NOT IN "
            "(SELECT "
            "run FROM turns)"
        ),
    ),
    ("turn {0}", "no run", "SELECT id FROM turns WHERE run NOT IN (SELECT no FROM runs)"),
    (
        "thread {0}",
        "no session",
        "SELECT id FROM threads WHERE session NOT IN (SELECT no FROM sessions)",
    ),
    (
        "entry {0}",
        "no session",
        "SELECT seq FROM transcript WHERE session NOT IN (SELECT no FROM sessions)",
    ),
    (
        "run number {0}",
        "records, and no run",
        (
            "SELECT run FROM (SELECT run FROM sheets UNION SELECT run FROM records) WHERE run "
            "NOT IN "
            "(SELECT no FROM runs)"
        ),
    ),
    (
        "subject {0}",
        "workspace or time of erasure",
        (
            "SELECT u.id FROM subjects u WHERE (u.key IS NOT NULL AND u.erased_at IS NOT NULL)"
            " OR EXISTS (SELECT 1 FROM runs r WHERE r.subject = u.no AND r.workspace <> "
            "u.workspace)"
            " OR EXISTS (SELECT 1 FROM sessions s WHERE s.subject = u.no AND s.workspace <> "
            "u.workspace)"
        ),
    ),
    (
        "session {0}",
        "a user, and its subject was erased",
        (
            "SELECT s.id FROM sessions s JOIN subjects u ON u.no = s.subject WHERE u.key IS "
            "NULL AND "
            "s.user <> ''"
        ),
    ),
    (
        "thread {1} of session {0}",
        "words, and their subject was erased",
        (
            "SELECT s.id, t.id FROM threads t JOIN sessions s ON s.no = t.session JOIN subjects u "
            "ON u.no = s.subject WHERE u.key IS NULL"
            " AND s.subject NOT IN (SELECT subject FROM erasures)"
            " AND (t.intent <> '' OR t.asked IS NOT NULL OR t.slots IS NOT NULL OR (t.last_error "
            "IS NOT NULL AND t.touched_at < u.erased_at))"
        ),
    ),
    (
        "request {0}",
        "content, and its run was erased",
        "SELECT request_id FROM requests WHERE request_id = 'erased:' || run AND digest <> ''",
    ),
    (
        "run {0}",
        "no parent",
        "SELECT id FROM runs WHERE parent IS NOT NULL AND parent NOT IN (SELECT no FROM runs)",
    ),
    ("run {0}", "no subject", "SELECT id FROM runs WHERE subject NOT IN (SELECT no FROM subjects)"),
    (
        "session {0}",
        "no subject",
        "SELECT id FROM sessions WHERE subject NOT IN (SELECT no FROM subjects)",
    ),
    (
        "entry {1} of session {0}",
        "subject",
        (
            f"SELECT id, seq FROM ({_ENTRY_SUBJECTS}) WHERE workspace IS NOT of OR named IS NOT "
            "begins || number"
            " OR number NOT BETWEEN coalesce(before, 1) AND generation"
        ),
    ),
    (
        "entry {1} of session {0}",
        "its content stands under a key that is destroyed",
        (
            "SELECT s.id, t.seq FROM transcript t JOIN sessions s ON s.no = t.session JOIN "
            "subjects u ON u.no = t.subject"
            " WHERE u.key IS NULL AND (t.body IS NOT NULL OR t.decision IS NOT NULL OR t.author "
            "<> '') AND t.marks IS NOT NULL"
            " AND t.subject NOT IN (SELECT subject FROM erasures)"
        ),
    ),
    (
        "entry {0}",
        "no subject",
        "SELECT seq FROM transcript WHERE subject NOT IN (SELECT no FROM subjects)",
    ),
    (
        "record {1} of run {0}",
        "reason",
        (
            "SELECT r.id, q.seq FROM records q JOIN runs r ON r.no = q.run WHERE (q.reason IS NOT "
            "NULL AND q.kind NOT IN ('decision', 'claim'))"
            " OR (q.reason IS NOT NULL AND q.body IS NOT NULL AND q.reason IS NOT"
            " CASE WHEN json_valid(CAST(q.body AS TEXT)) THEN json_extract(CAST(q.body AS TEXT), "
            "'$.reason') ELSE q.reason END)"
        ),
    ),
    (
        "record {1} of run {0}",
        "payload",
        (
            "SELECT r.id, q.seq FROM records q JOIN runs r ON r.no = q.run JOIN payloads p ON "
            "p.id = q.payload"
            " WHERE p.digest <> q.digest OR p.subject <> r.subject OR p.workspace <> r.workspace"
        ),
    ),
    ("payload {0}", "class", f"SELECT id FROM payloads WHERE class NOT IN {_CLASSES}"),
    (
        "approval {0}",
        "number, which gives its place in the list",
        "SELECT id FROM approvals WHERE no NOT BETWEEN 1 AND (SELECT count(*) FROM approvals)",
    ),
    (
        "grant {0}",
        "number, which gives its place in the list",
        "SELECT id FROM grants WHERE no NOT BETWEEN 1 AND (SELECT count(*) FROM grants)",
    ),
    (
        "what is remembered in {0}",
        "how many passages count",
        (
            "SELECT workspace FROM library l WHERE passages IS NOT"
            " (SELECT coalesce(sum(i.passages), 0) FROM items i WHERE i.workspace = l.workspace "
            "AND i.state = 'kept')"
        ),
    ),
    (
        "passage {0}",
        "nothing that it is of",
        "SELECT no FROM passages WHERE item NOT IN (SELECT no FROM items WHERE state <> 'gone')",
    ),
    ("mail {0}", "no run", "SELECT id FROM mailbox WHERE run NOT IN (SELECT no FROM runs)"),
    (
        "mail {0}",
        "kind",
        (
            "SELECT id FROM mailbox WHERE kind NOT IN "
            f"({', '.join(repr(str(kind)) for kind in MailKind)})"
        ),
    ),
    (
        "mail {0}",
        "taken by a record that its run does not have",
        (
            "SELECT m.id FROM mailbox m JOIN runs r ON r.no = m.run WHERE m.taken IS NOT NULL AND "
            "(m.taken < 1 OR m.taken > r.head_seq)"
        ),
    ),
)
"""What is named, what is wrong with it, and how it is found."""
_SHEETS = (
    "SELECT s.seq, s.records, s.settled, r.id, r.subject, r.workspace FROM sheets s JOIN runs r "
    "ON r.no = s.run WHERE typeof(s.records) = 'blob'"
)
_PAYLOAD = "SELECT digest, subject, workspace, class FROM payloads WHERE id = ?"
_DIGEST = 4
"""Where a laid record has its digest."""


class SqliteLedger:
    """Implements ``Ledger``."""

    def __init__(self, store: SqliteStore, on: sqlite3.Connection | None = None) -> None:
        """Reads only, ``on`` this connection of the store's, or in its own thread with another."""
        self._store, self._on = store, on

    async def read(
        self, row: Callable[[LedgerRow], None], stands: Callable[[LedgerItem], None]
    ) -> None:
        """See ``Ledger.read``."""

        def read(db: sqlite3.Connection) -> None:
            if db.execute("PRAGMA user_version").fetchone()[0] < WITH_LEDGER:
                # of a build before, where nothing may be written
                return
            with snapshot(db):
                for one in ledger_rows(db):
                    row(one)
                for item in standing_items(db):
                    stands(item)

        await self._read(read)

    async def contradictions(self) -> Sequence[Discrepancy]:
        """See ``Ledger.contradictions``."""

        def read(db: sqlite3.Connection) -> list[Discrepancy]:
            with snapshot(db):
                return [*_in_columns(db), *_in_sheets(db)]

        return await self._read(read)

    async def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        if self._on is None:
            return await self._store.read_apart(read)
        try:
            return read(self._on)
        except sqlite3.Error as error:
            raise self._store.unread(error) from error


def _in_columns(db: sqlite3.Connection) -> Iterator[Discrepancy]:
    for named, columns, statement in _COLUMNS:
        for row in db.execute(statement):
            yield Discrepancy(named.format(*row), "as other columns say", columns)
    for digest, stored in db.execute("SELECT digest, bytes FROM catalogs"):
        if not isinstance(stored, bytes) or sha256(stored).hexdigest() != digest:
            yield Discrepancy(f"catalog {digest}", "the digest of its bytes", "another")


def _in_sheets(db: sqlite3.Connection) -> Iterator[Discrepancy]:
    """Of a sheet that cannot be read its run's replay tells."""
    for seq, records, settled, run, *of in db.execute(_SHEETS):
        try:
            laid = sheets.decode(seq, records)
        except JournalCorrupt:
            continue
        kinds = [(sheets.kind_of(each), sheets.name_of(each)) for each in laid]
        if settled != ((RecordKind.DECISION, SETTLE.name) in kinds):
            yield Discrepancy(
                f"records {seq}-{seq + len(laid) - 1} of run {run}", "as its records say", "settled"
            )
        for number, (each, (kind, name)) in enumerate(zip(laid, kinds, strict=True), seq):
            if isinstance(payload := each[sheets.BODY], int) and kind is not None:
                row = db.execute(_PAYLOAD, (payload,)).fetchone()
                if row != (each[_DIGEST], *of, content_class(kind, name or "")):
                    yield Discrepancy(
                        f"record {number} of run {run}", "as its heading says", "payload"
                    )
