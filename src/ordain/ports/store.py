"""JournalStore: the one writer under everything, and what it can be given.

A unit is applied whole or not at all, in the order of submission across all runs, so that the durable journal is always a
prefix of what was submitted. ``submit`` does not wait; awaiting its future is the barrier. A unit whose condition does not
hold is an answer (``Outcome.refused``), not a failure.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, Protocol

from msgspec import Struct

from ordain.journal.records import Record, Started, Status
from ordain.ports.sessions import EntryKind, NewEntry, Thread, ThreadChange


class MailKind(StrEnum):
    """What a mailbox row brings to a run."""

    CHILD = "child"
    ANSWER = "answer"
    INTERRUPT = "interrupt"


class NewMail(Struct, frozen=True, gc=False, kw_only=True):
    """A row for another run's mailbox. ``key`` is unique per run: a duplicate is ignored, the first one counts."""

    run: str
    kind: MailKind
    key: str
    body: bytes
    at: int
    addr: int = -1


class Mail(Struct, frozen=True, gc=False, kw_only=True):
    """A mailbox row that no record has taken yet."""

    id: int
    kind: MailKind
    key: str
    addr: int
    body: bytes
    at: int


class NewRun(Struct, frozen=True, gc=False, kw_only=True):
    """A run to open: its first record as a value, from which the store has its columns, and as it is written (``record``).

    ``key`` is its subject's digest key; ``root`` is None where it is one.
    """

    id: str
    key: bytes
    started: Started
    record: Record
    root: str | None = None


class SayRow(Struct, frozen=True, kw_only=True):
    """Words for the outbox."""

    addr: int
    text: str
    at: int


class Refund(Struct, frozen=True, kw_only=True):
    """What a run gives back to a shared account at its end; negative where it overran."""

    account: str
    tokens: int
    usd_micros: int


class Operation(Struct, frozen=True, kw_only=True):
    """A maintenance step by name (erase, sweep, account for resumes), applied inside the write transaction."""

    name: str
    args: dict[str, Any]


class Append(Struct, frozen=True, gc=False, kw_only=True):
    """Continue a run: records, and everything that stands or falls with them.

    ``suspend`` names the effect the run would wait at and makes the unit conditional: refused if there is untaken mail for that
    effect, or an untaken interrupt unless ``deaf`` (children of an interrupted run are being awaited). ``take`` are
    (mail id, seq). A run that settles, or a turn of which a run stops, gives its place in its thread to the next. ``operation`` is applied last; if it refuses, nothing of the unit is applied.
    """

    run: str
    records: tuple[Record, ...]
    status: Status | None = None
    reason: str | None = None
    wake_at: int | None = None
    suspend: int | None = None
    deaf: bool = False
    take: tuple[tuple[int, int], ...] = ()
    children: tuple[NewRun, ...] = ()
    mail: tuple[NewMail, ...] = ()
    says: tuple[SayRow, ...] = ()
    refund: tuple[Refund, ...] = ()
    entries: tuple[NewEntry, ...] = ()
    threads: tuple[ThreadChange, ...] = ()
    operation: Operation | None = None


Stored = Sequence[tuple[str, bytes]]
"""Catalogs and their tables of phrases by digest; one that is stored already is left as it is."""


class OpenRun(Struct, frozen=True, kw_only=True):
    """Accept a request: one run, once per (workspace, request id) and body digest."""

    run: NewRun
    request_id: str | None
    request_digest: str
    catalogs: Stored
    max_accepted: int


class ClaimUnit(Struct, frozen=True, kw_only=True):
    """A shared decision in one commit: the run's own records, then facts read, rule applied, change and record written.

    ``decide`` gets what the store's claim ``name`` read and returns the claim's record and what to change (None: nothing), in the
    claim's own form. It may be called again if the commit has to be tried again.
    """

    append: Append
    name: str
    args: dict[str, Any]
    decide: Callable[[Any], tuple[Record, Any]]


class Place(Struct, frozen=True, kw_only=True):
    """Where a message stands that another one refers to, who said it and what it was taken for."""

    seq: int
    thread: int
    kind: EntryKind
    run: str
    message_id: str
    author: str
    attached: str


class SessionState(Struct, frozen=True, kw_only=True):
    """What a shared decision about a message reads, inside the write transaction. ``key`` digests the session's content.

    ``threads``: live ones first, then the most recently touched. ``at_work`` are the threads with an unsettled turn that counts as at
    work, ``open`` counts all unsettled turns. ``pinned`` is the digest of the catalog that each run pins whose question is open, by run.
    """

    workspace: str
    session: str
    subject: str
    key: bytes
    seq: int
    next_thread: int
    active: int
    threads: tuple[Thread, ...]
    at_work: tuple[int, ...]
    open: int
    replied: Place | None = None
    edited: Place | None = None
    newer_edit: int = 0
    pinned: dict[str, str] = {}


class NewTurn(Struct, frozen=True, kw_only=True):
    """A session run to open; ``queued`` behind the thread's unsettled turns, ``holds`` a place in its thread, ``counts`` as at work."""

    run: NewRun
    thread: int
    queued: bool = False
    holds: bool = True
    counts: bool = True


class Consequence(Struct, frozen=True, kw_only=True):
    """Exactly what follows from one message; ``refused`` means that it is not accepted and nothing is written.

    ``catalog`` is the digest and bytes of what the turn begins under, where it may not be stored yet.

    ``decision`` is the attach decision as JSON; ``serves`` the run whose reply or question answers the message.
    """

    attached: str
    reason: str
    decision: bytes
    thread: int = 0
    serves: str = ""
    anchor: str = ""
    turn: NewTurn | None = None
    mail: tuple[NewMail, ...] = ()
    threads: tuple[ThreadChange, ...] = ()
    refused: str = ""
    catalogs: Stored = ()


class Receive(Struct, frozen=True, kw_only=True):
    """A unit: accept one message. De-duplicate, number, read the session, decide, write message, decision and consequence.

    ``decide`` may be called again if
    the commit has to be tried again. ``new_key`` is the subject key if the session is new or was erased.
    """

    workspace: str
    session: str
    user: str
    entry: NewEntry
    reply_to: str
    new_key: bytes
    catalogs: Stored
    max_accepted: int
    decide: Callable[[SessionState], Consequence]


class Post(Struct, frozen=True, kw_only=True):
    """Write to a run's mailbox; refused where the run does not exist or has settled."""

    mail: NewMail


Unit = Append | OpenRun | Receive | Post | ClaimUnit | Operation


class Outcome(Struct, frozen=True, gc=False, kw_only=True):
    """What became of a unit. ``refused`` is a stable code, or "" when it was applied; ``run`` is what ``OpenRun`` found or made.

    ``seq`` is the message's number in its session's transcript; ``item`` an item of the library.
    """

    refused: str = ""
    run: str = ""
    count: int = 0
    seq: int = 0
    item: str = ""


class StoredRun(Struct, frozen=True, gc=False, kw_only=True):
    """A run as stored: its row, its subject's digest key (None once destroyed) and its records in order.

    ``nested`` is how many runs it is a child below: 0 of a root, whatever calls of verbs its depth counts. ``head`` is the number of
    its last record, as its row has it; None where nobody says.
    """

    id: str
    flow: str
    flow_version: int
    catalog: str
    workspace: str
    subject: str
    key: bytes | None
    status: Status
    reason: str
    parent: str | None
    parent_addr: int
    index: int
    root: str
    resumes: int
    wake_at: int | None
    created_at: int
    ended_at: int | None
    records: tuple[Record, ...]
    session: str = ""
    thread: int = 0
    nested: int = 0
    head: int | None = None


class UnsettledRun(Struct, frozen=True, kw_only=True):
    """A run that is not settled, as recovery sees it; ``resumes`` counts starts that died at the record where it stands."""

    id: str
    status: Status
    wake_at: int | None
    mail: bool
    resumes: int


class JournalStore(Protocol):
    """Storage of runs. Adapters pass one contract suite (``tests/contract``).

    Errors: ``StorageUnavailable`` where nothing can be written (reads go on), ``LeaseLost`` where another engine took over.
    """

    def submit(self, unit: Unit) -> Future[Outcome]:
        """Queue a unit; the future ends when it is durable, or with the error."""
        ...

    def load(self, run: str) -> StoredRun | None:
        """A run as durable now."""
        ...

    def mail(self, run: str) -> Sequence[Mail]:
        """Mail that no record has taken, oldest first."""
        ...

    def pending(self) -> Sequence[UnsettledRun]:
        """Every run that is ready, running or waiting, oldest first."""
        ...

    def catalog(self, digest: str) -> bytes | None:
        """A stored catalog."""
        ...

    def listen(self, heard: Callable[[str], None]) -> None:
        """Call ``heard(run id)`` whenever a committed unit, of this process or another, put mail into a run's mailbox."""
        ...

    def close(self) -> None:
        """Write what is queued and release the lease; idempotent."""
        ...
