"""Shared decisions: what is read of what many share, and what is written, in one transaction. A
rule decides in between, and nothing else.

A ``Shared`` names what it reads, and so the rows that stand still until it is decided. A store
locks them in one order, whoever asks: sessions, with their threads; rows of tables; records of the
configuration; accounts; grants; approvals; runs. A new shared decision needs a rule, its facts and
what it reads and writes, and no code of any store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from ordain.journal.records import Record, Status
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.sessions import EntryKind, Thread
from ordain.ports.writes import Write


class SessionOpening(Struct, frozen=True, kw_only=True):
    """A session that is made where it does not exist; ``key`` is its subject's, if the session is
    new or was erased.
    """

    user: str
    key: bytes
    at: int


class SessionRead(Struct, frozen=True, kw_only=True):
    """A session as one message sees it, which is left out where it stands in the transcript already
    (``seq``). Gives a ``SessionState``.

    ``thread`` is one that the message names itself. ``bare``: it may be an answer to whatever was
    said last, so that is read though no question is open.
    """

    session: str
    channel: str
    message_id: str
    author: str
    reply_to: str = ""
    edits: str = ""
    seq: int = 0
    thread: int = 0
    bare: bool = False
    opening: SessionOpening | None = None


class RowRead(Struct, frozen=True, kw_only=True):
    """A row of a ``RowTable`` by its key. Gives its values, or None."""

    table: str
    key: tuple[Any, ...]


class SharedName(Struct, frozen=True, kw_only=True):
    """Where new names go that are too many: to account ``to``, where ``most`` accounts ``like`` (a
    glob) ``name`` are there already.
    """

    name: str
    to: str
    like: str
    most: int


class AccountsRead(Struct, frozen=True, kw_only=True):
    """Accounts as they stand, by name, each asked for with what the reader says of it. Gives that,
    with ``tokens`` and ``usd_micros`` committed.
    """

    accounts: tuple[dict[str, Any], ...]
    sharing: SharedName | None = None


class GrantsRead(Struct, frozen=True, kw_only=True):
    """The grants of a principal that were not taken back, are not used up and expire after ``at``,
    ``most`` at most, those that expire first. Gives ``Grant`` values.
    """

    principal: str
    at: int
    most: int = 20


class GrantRead(Struct, frozen=True, kw_only=True):
    """A grant by its id. Gives a ``Grant``, or None."""

    grant: str


class ApprovalRead(Struct, frozen=True, kw_only=True):
    """An approval by its id. Gives an ``ApprovalRow``, or None."""

    approval: str


class RunRead(Struct, frozen=True, kw_only=True):
    """A run, and whether it still waits at effect ``addr`` for the mail ``key``. Gives a
    ``RunFound``, or None where there is no such run.
    """

    run: str
    addr: int = -1
    key: str = ""


class ConfigRead(Struct, frozen=True, kw_only=True):
    """A record of the configuration. Gives a ``ConfigFound``."""

    key: ConfigKey


SharedRead = (
    SessionRead
    | RowRead
    | ConfigRead
    | AccountsRead
    | GrantsRead
    | GrantRead
    | ApprovalRead
    | RunRead
)
_LOCKS = {
    SessionRead: 0,
    RowRead: 1,
    ConfigRead: 2,
    AccountsRead: 3,
    GrantsRead: 4,
    GrantRead: 4,
    ApprovalRead: 5,
    RunRead: 6,
}
"""The one order in which rows are locked; of one kind they are locked by their names."""


SPOKEN_MAX: Final = 24
"""So many of the latest entries a decision looks back over, whatever they are; behind them it finds
what may still be answered.
"""
ENDING_CHARS: Final = 400
"""So much of the end of what Ordain said is read."""


class Place(Struct, frozen=True, kw_only=True):
    """Where a message stands that another one refers to, who said it and what it was taken for;
    ``ending`` is how the text of one of ours ends.
    """

    seq: int
    thread: int
    kind: EntryKind
    run: str
    message_id: str
    author: str
    attached: str
    ending: str = ""


class LatestEntry(Struct, frozen=True, gc=False, kw_only=True):
    """One of the latest entries, as far as a bare answer may be about it.

    Of what Ordain said ``ending`` is how its text ends. Of a message ``attached`` is what it was
    taken for, ``stops`` whether it ordered nothing new, ``resumes`` whether it ordered to go on
    with what was held, ``anew`` if that had never begun, ``halts`` whether it halted whatever was
    said before it, ``unbegun`` whether it is still being placed, or was halted while it was,
    ``status`` where the run that serves it stands, and ``body`` its own where it is a request or
    unbegun. ``key`` is the slot that a question fills.
    """

    seq: int
    at: int = 0
    thread: int
    kind: EntryKind
    run: str = ""
    channel: str = ""
    author: str = ""
    attached: str = ""
    stops: bool = False
    resumes: bool = False
    anew: bool = False
    halts: bool = False
    unbegun: bool = False
    status: str = ""
    ending: str = ""
    key: str = ""
    body: bytes | None = None


class SessionState(Struct, frozen=True, kw_only=True):
    """What a shared decision about a message reads, inside the write transaction. ``key`` digests
    the session's content.

    ``threads``: live ones first, then the most recently touched. ``at_work`` are the threads with
    an unsettled turn that counts as at work, ``open`` counts all unsettled turns. ``pinned`` is the
    digest of the catalog that each run pins whose question is open, by run. ``profiled``: a pinned
    profile concerns the session (PRF-05). ``halted``: the sender of the message has ordered a halt
    since, as far as it stands in the transcript already. ``versions`` are the runs that serve the
    other edits of the message that is edited. ``spoken`` are the latest entries before the message,
    the newest first, ``SPOKEN_MAX`` at most, then what of work that goes on stands behind them and
    what was asked last: none where no question is open and the message is not ``bare``. Their
    threads are among ``threads``. ``remembers``: anything is remembered in the workspace.
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
    profiled: bool = False
    halted: bool = False
    versions: tuple[str, ...] = ()
    spoken: tuple[LatestEntry, ...] = ()
    remembers: bool = False


class RunFound(Struct, frozen=True, kw_only=True):
    """A run as somebody outside finds it. ``mailed``: mail of that key has come; ``over``: the wait
    at that effect is; ``interrupted``: it is being stopped, and has not been told so yet.
    """

    status: Status
    mailed: bool = False
    over: bool = False
    interrupted: bool = False


class ConfigFound(Struct, frozen=True, kw_only=True):
    """The newest version of a record (None: it was never written), and how many records there are
    in its place.
    """

    newest: ConfigRecord | None
    records: int


class Ruling(Struct, frozen=True, kw_only=True):
    """What was decided: ``refused`` (a stable code) undoes the whole unit, else ``writes`` are
    carried out in their order.

    ``record`` is a claim's own, behind the run's others. ``run`` is what the outcome names.
    ``accepted``: refused (``busy``) where so many runs are accepted already.
    """

    refused: str = ""
    writes: tuple[Write, ...] = ()
    record: Record | None = None
    run: str = ""
    accepted: int | None = None


class Shared(Struct, frozen=True, kw_only=True):
    """A shared decision: ``decide`` gets what each of ``reads`` gave, in their order. It may be
    called again if the commit has to be tried again.
    """

    reads: tuple[SharedRead, ...]
    decide: Callable[..., Ruling]

    def __post_init__(self) -> None:
        """Reads stand in the order in which rows are locked.

        Raises:
            ValueError: they do not.
        """
        order = [_LOCKS[type(read)] for read in self.reads]
        if order != sorted(order):
            raise ValueError(
                "the reads of a shared decision stand in the order in which rows are locked"
            )
