"""JournalStore: what writes under everything, and what it can be given.

A unit is applied whole or not at all, and those of one run in the order of submission. Across runs
only what was acknowledged comes before what is submitted after it. ``submit`` does not wait;
awaiting its future is the barrier. A unit whose condition does not hold is an answer
(``Outcome.refused``), not a failure.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from ordain.errors import JournalCorrupt, no_run
from ordain.journal.records import Record, Status
from ordain.ports.sessions import Entry
from ordain.ports.shared import Shared
from ordain.ports.writes import MailKind, NewRun, Write


class Mail(Struct, frozen=True, gc=False, kw_only=True):
    """A mailbox row that no record has taken yet."""

    id: int
    kind: MailKind
    key: str
    addr: int
    body: bytes
    at: int


class Operation(Struct, frozen=True, kw_only=True):
    """A maintenance step by name (erase, sweep, account for resumes), applied inside the write
    transaction.
    """

    name: str
    args: dict[str, Any]


class Append(Struct, frozen=True, gc=False, kw_only=True):
    """Continue a run: records, and everything that stands or falls with them.

    ``epoch`` is the one in which whoever writes holds the run: a unit of somebody who has lost it,
    or behind another head, is refused. ``status`` changes as ``journal.transitions`` says, or the
    unit is refused. ``suspend`` names the effect the run would wait at and makes the unit
    conditional: refused if there is mail for that effect, or an interrupt unless ``deaf`` (children
    of an interrupted run are being awaited), which no record has taken nor the unit takes. A run
    that ends waits at none (-1), and is refused for an interrupt alone. A run that settles, or a
    turn of which a run stops, gives its place in its thread to the next. ``operation`` is applied
    last.
    """

    run: str
    epoch: int
    records: tuple[Record, ...] = ()
    status: Status | None = None
    reason: str | None = None
    wake_at: int | None = None
    suspend: int | None = None
    deaf: bool = False
    writes: tuple[Write, ...] = ()
    operation: Operation | None = None


class ClaimUnit(Struct, frozen=True, kw_only=True):
    """A shared decision of a run: its own records, then what ``shared`` reads, decides and writes,
    and the record of it, in one commit.

    One that is durable already is refused with ``RunLost``, and decides nothing again: what was
    decided stands in the run's journal.
    """

    append: Append
    shared: Shared


class RequestKey(Struct, frozen=True, kw_only=True):
    """Once per request id (of a kind) of a workspace; ``digest`` is the content's: the same id with
    another one is refused (``request_id_reused``).
    """

    request_id: str
    digest: str


WITHOUT_PLACE = "without_place"


class MessageKey(Struct, frozen=True, kw_only=True):
    """Once per message id of a session's channel; with another ``body`` it is refused
    (``message_id_reused``).

    One that came before and found no place (``rules.attach.UNPLACED``) is refused as
    ``WITHOUT_PLACE``, with the run that says so: a unit that places it anew names that run in
    ``anew``, and is applied while that is so.
    """

    session: str
    channel: str
    message_id: str
    body: bytes
    anew: str = ""


OnceKey = RequestKey | MessageKey


class Arrive(Struct, frozen=True, kw_only=True):
    """A shared decision about what comes from outside: a request, a message, mail for a run; once
    by its key, which None has none.

    What came before has its earlier outcome, ``refused`` as ``same`` (a message without a place as
    ``MessageKey`` says).
    """

    workspace: str
    shared: Shared
    once: OnceKey | None = None


Unit = Append | ClaimUnit | Arrive | Operation


class Outcome(Struct, frozen=True, gc=False, kw_only=True):
    """What became of a unit. ``refused`` is a stable code, or "" when it was applied; ``run`` is
    what a decision names, or an earlier one did.

    ``seq`` is the message's number in its session's transcript; ``item`` an item of the library.
    """

    refused: str = ""
    run: str = ""
    count: int = 0
    seq: int = 0
    item: str = ""


class StoredRun(Struct, frozen=True, gc=False, kw_only=True):
    """A run as stored: its row, its subject's digest key (None once destroyed) and its records in
    order.

    ``nested`` is how many runs it is a child below: 0 of a root, whatever calls of verbs its depth
    counts. ``head`` is the number of its last record, as its row has it; None where nobody says.
    ``epoch`` counts who has held it, ``holder`` is the engine that does (0: none).
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
    epoch: int = 0
    holder: int = 0


def opened_run(
    new: NewRun, *, parent: str | None, nested: int, key: bytes, engine: int
) -> StoredRun:
    """A run as it is stored the moment that it was opened. ``parent`` is the stored run that it is
    a child of, ``key`` its subject's as stored, ``engine`` the one that holds it (0: none).
    """
    begun = new.started
    return StoredRun(
        id=new.id,
        flow=begun.flow,
        flow_version=begun.flow_version,
        catalog=begun.catalog,
        workspace=begun.workspace,
        subject=begun.subject,
        key=key,
        status=Status.QUEUED if new.queued else Status.READY,
        reason="",
        parent=parent,
        parent_addr=-1 if begun.parent_addr is None else begun.parent_addr,
        index=begun.index,
        root=new.root or new.id,
        resumes=0,
        wake_at=None,
        created_at=new.record.at,
        ended_at=None,
        records=(new.record,),
        session=begun.session,
        thread=begun.thread,
        nested=nested,
        head=0,
        epoch=int(engine > 0),
        holder=engine,
    )


class Change(Struct, frozen=True, gc=False, kw_only=True):
    """A hint: these runs were opened or have mail (or have ended, where several engines are), the
    transcripts of these sessions, by (workspace, id), have grown or were erased.

    ``told`` has of some of these sessions all that happened to them, where that is entries which
    were put behind the others, whole and in order: a storage tells that at the commit itself, or
    not at all. Whoever needs to know more of a session of which nothing is told reads.
    """

    runs: tuple[str, ...] = ()
    sessions: tuple[tuple[str, str], ...] = ()
    told: Mapping[tuple[str, str], Sequence[Entry]] = {}


class JournalStore(Protocol):
    """Storage of runs. Adapters pass one contract suite (``tests/contract``).

    The same unit again has the same outcome, by its keys or by (run, seq, chain): whether a unit
    whose acknowledgement was lost is durable says the store, to whoever offers it again. Errors:
    ``StorageUnavailable`` (offer it again), ``RunLost`` (this run alone is somebody else's),
    ``EngineLost``.
    """

    def submit(self, unit: Unit) -> Future[Outcome]:
        """Queue a unit; the future ends when it is durable, or with the error."""
        ...

    async def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        """Runs as durable now, all that was acknowledged to this process before among it; what
        cannot be read as what is wrong with it.
        """
        ...

    async def mail(self, run: str) -> Sequence[Mail]:
        """Mail that no record has taken, in the order of its commits.

        Raises:
            JournalCorrupt: some of it nobody sent (``mail_not_sent``): a store that others can
                write to keeps a ledger of what was.
        """
        ...

    async def unknown_beside(self, run: str) -> Sequence[str]:
        """Other runs of its root and its session, and below those, whose journals may hold what
        went out and of whose end nobody knew, as durable now; those that are at work or have
        stopped among them, since a call of theirs may have been cut off.

        A hint, the latest first: whoever wants to know reads them.
        """
        ...

    async def catalog(self, digest: str) -> bytes | None:
        """A stored catalog."""
        ...

    def listen(self, heard: Callable[[Change], None]) -> None:
        """Have ``heard`` called on this event loop after commits, whoever made them: at least once,
        within the store's poll.

        A hint may come again, or late, or together with others: whoever hears it reads again, but
        for what is told at once.
        """
        ...

    def close(self) -> None:
        """Write what is queued and release the lease; idempotent."""
        ...


Loaded = Mapping[str, StoredRun | JournalCorrupt]
"""What ``JournalStore.load`` finds."""


def loaded_run(loaded: Loaded, run: str) -> StoredRun:
    """One run of those that were loaded.

    Raises:
        NotFound: it is none of them.
        JournalCorrupt: it cannot be read.
    """
    found = loaded.get(run)
    if found is None:
        raise no_run(run)
    if isinstance(found, JournalCorrupt):
        raise found
    return found


async def load_run(store: JournalStore, run: str) -> StoredRun | None:
    """One run as durable now; None where there is none.

    Raises:
        JournalCorrupt: it cannot be read.
    """
    loaded = await store.load((run,))
    return loaded_run(loaded, run) if run in loaded else None


async def existing_run(store: JournalStore, run: str) -> StoredRun:
    """One run as durable now. Raises as ``loaded_run``."""
    return loaded_run(await store.load((run,)), run)
