"""The open write transaction: which row is which run, runs and records put into their tables, and
who is to hear of the commit.
"""

from __future__ import annotations

import sqlite3
from functools import partial
from sys import intern
from typing import NamedTuple

from ordain.errors import ConfigurationError, JournalCorrupt, RunLost
from ordain.journal.ledger_items import run_item
from ordain.journal.records import Record, Started, Status, content_class
from ordain.ports.sessions import Entry
from ordain.ports.writes import NewRun, RowTable
from ordain.store.fresh_runs import FreshRuns
from ordain.store.ledger import LedgerDraft
from ordain.store.run_records import asking, read_opening
from ordain.store.sheets import INSERT_SHEET, lay_out
from ordain.store.spoken_texts import SpokenTexts
from ordain.store.tables import RowTables

_SUBJECT = "SELECT no FROM subjects WHERE workspace = ? AND id = ?"
_OPEN = (
    "INSERT INTO runs(id, parent, parent_addr, child, root, workspace, session, thread, subject, "
    "flow, flow_version, catalog, status, reason, epoch, holder, head_seq, resumes, resumes_at, "
    "created_at) VALUES (?,?,?,?,coalesce(?, (SELECT coalesce(max(no), 0) + 1 FROM runs)),?,?,?,?,?,"
    "?,?,?,'',?,?,?,0,-1,?) ON CONFLICT(id) DO NOTHING"
)
"""A root's root is its own number: the one after the largest, since SQLite gives a row no other."""
NUMBERS_KEPT = 5_000
"""How many runs' row numbers are remembered, 300 bytes each; they are found again by id."""


class UnitRefused(Exception):
    """A condition of the unit does not hold: it is undone, and its outcome says so by ``code``."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class RunNumbers(NamedTuple):
    """Where a run stands: its row's number, its subject's, and its workspace. Of what comes from
    outside the first two are 0.
    """

    run: int
    subject: int
    workspace: str


class TouchedSession(NamedTuple):
    """A session of which something has changed: by an entry that was put behind the others, in the
    row of that number, or (0) otherwise.
    """

    workspace: str
    session: str
    row: int = 0
    entry: Entry | None = None

    @property
    def place(self) -> tuple[str, str]:
        """As a ``Change`` has it."""
        return self.workspace, self.session


class AcceptedCount(NamedTuple):
    """How many runs there were that count as accepted, and when that was: this connection's changes
    until then, and everybody else's version.
    """

    runs: int
    changes: int
    others: int


def payload_class(record: Record) -> str:
    """The retention class of a record's content: input, model, verb, result or note."""
    return content_class(record.kind, record.name)


class Transaction:
    """What stays the same from unit to unit of one connection; remembers run numbers, which never
    change.
    """

    def __init__(self, connection: sqlite3.Connection, epoch: int, tables: RowTables) -> None:
        """``epoch`` is that of the engine that writes; 0 is a guest, whose runs nobody holds
        yet.
        """
        self.db = connection
        self._tables = tables
        self.engine = epoch
        self._numbers: dict[str, RunNumbers] = {}
        self.ledger = LedgerDraft()
        self.fresh, self.spoken = FreshRuns(), SpokenTexts()
        self.touched: list[str] = []
        self.touched_sessions: list[TouchedSession] = []
        self.accepted: AcceptedCount | None = None
        self.entered = 0
        """The number of the first entry that the unit has written."""

    def mark(self) -> tuple[int, int, int, int]:
        """What has been touched so far, to go back to if what follows is rolled back."""
        return len(self.touched), len(self.touched_sessions), *self.ledger.mark()

    def back_to(self, mark: tuple[int, int, int, int]) -> None:
        """What was applied since ``mark`` was rolled back: nobody hears of it, and its runs'
        numbers will be given to others.
        """
        del self.touched[mark[0] :], self.touched_sessions[mark[1] :]
        self.ledger.back_to(mark[2:])
        self._numbers.clear()
        self.fresh.forget()
        self.accepted = None

    def forget(self) -> None:
        """Content is destroyed, or another process has written, which may have destroyed some:
        nothing is remembered that holds any.
        """
        self.fresh.forget()
        self.spoken.forget()

    def table(self, name: str) -> RowTable:
        """A table of rows by key.

        Raises:
            ConfigurationError: there is none of that name.
        """
        table = self._tables.get(name)
        if table is None:
            raise ConfigurationError(f"the store has no table {name}", code="invalid_table")
        return table

    def numbers(self, run: str) -> RunNumbers:
        """Where a run stands.

        Raises:
            JournalCorrupt: there is no such run.
        """
        known = self._numbers.get(run)
        if known is None:
            row = self.db.execute(
                "SELECT no, subject, workspace FROM runs WHERE id = ?", (run,)
            ).fetchone()
            if row is None:
                raise JournalCorrupt(f"run {run} does not exist")
            known = self._remembered(run, RunNumbers(*row))
        return known

    def records(self, of: RunNumbers, records: tuple[Record, ...]) -> bytes:
        """Add records to a run's journal; gives what lies in the last row."""
        laid = b""
        for first, settled, laid in lay_out(records, partial(self._put_apart, of)):
            self.db.execute(INSERT_SHEET, (of.run, first, settled, laid))
        return laid

    def _put_apart(self, of: RunNumbers, record: Record) -> int:
        cursor = self.db.execute(
            "INSERT INTO payloads(workspace, subject, class, digest, bytes) VALUES (?,?,?,?,?)",
            (of.workspace, of.subject, payload_class(record), record.digest, record.body),
        )
        return cursor.lastrowid or 0

    def open(self, new: NewRun, parent: int | None) -> None:
        """Open a run, once. What an engine opens it holds, in its first epoch; ``parent`` is the
        number of the run that it is a child of.

        Raises:
            RunLost: there is another run of that id.
        """
        begun = new.started
        subject = self._subject(begun, new.key)
        root = None if new.root is None else self.numbers(new.root).run
        addr = -1 if begun.parent_addr is None else begun.parent_addr
        status = Status.QUEUED if new.queued else Status.READY
        cursor = self.db.execute(
            _OPEN,
            (
                *(
                    new.id,
                    parent,
                    addr,
                    begun.index,
                    root,
                    begun.workspace,
                    begun.session or None,
                    begun.thread or None,
                    subject,
                ),
                *(
                    begun.flow,
                    begun.flow_version,
                    begun.catalog,
                    status,
                    int(self.engine > 0),
                    self.engine,
                    0,
                    new.record.at,
                ),
            ),
        )
        if not cursor.rowcount:
            self._check_same(new)
            return
        number = cursor.lastrowid or 0
        made = self._remembered(new.id, RunNumbers(number, subject, begun.workspace))
        self.fresh.opened(new, parent is not None, self.engine, self.records(made, (new.record,)))
        self.touched.append(new.id)
        identity = (
            *(
                begun.parent if parent is not None else None,
                addr,
                begun.index,
                new.root or new.id,
                begun.workspace,
                begun.session,
            ),
            *(
                begun.thread,
                begun.subject,
                begun.flow,
                begun.flow_version,
                begun.catalog,
                new.record.at,
            ),
        )
        self.ledger.item(run_item(new.id, identity, new.record.chain))

    def _check_same(self, new: NewRun) -> None:
        opening = read_opening(asking(self.db), self.numbers(new.id).run)
        if opening is None or opening.chain != new.record.chain:
            raise RunLost(f"there is another run {new.id}")

    def _remembered(self, run: str, numbers: RunNumbers) -> RunNumbers:
        if len(self._numbers) >= NUMBERS_KEPT:
            self._numbers.clear()
        known = self._numbers[run] = numbers._replace(workspace=intern(numbers.workspace))
        return known

    def _subject(self, begun: Started, key: bytes) -> int:
        """The number of a run's subject; that of a session and of a parent is there already."""
        named = begun.workspace, begun.subject
        if begun.session or begun.parent:
            known = self.db.execute(_SUBJECT, named).fetchone()
            if known is not None:
                return known[0]
        added = self.db.execute(
            "INSERT OR IGNORE INTO subjects(workspace, id, key) VALUES (?,?,?)", (*named, key)
        )
        if added.rowcount and added.lastrowid:
            return added.lastrowid
        return self.db.execute(_SUBJECT, named).fetchone()[0]


def check_moved(moved: sqlite3.Cursor, run: str, rows: int = 1) -> None:
    """As many rows were changed as were to be.

    Raises:
        RunLost: they were not: the run has moved on.
    """
    if moved.rowcount != rows:
        raise RunLost(f"run {run} has moved on without this engine")
