"""Sessions: the one transcript of each, and its threads.

A transcript is a chain of entries with gapless numbers: what the user said, what was answered,
asked and summarised. An entry is digested with its session's key and linked to the one before, as
records are. Everything is bound to a workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

import msgspec
from msgspec import Struct, structs

from ordain.contracts.approvals import AwaitedApproval
from ordain.journal.digests import entry_cover

OUR_IDS = "ordain:"
"""What the ids of our own messages begin with; no sender may use it."""


def message_id(run: str, addr: object) -> str:
    """The id of what a run says: nobody else's ids look like it, and it is the same each time."""
    return f"{OUR_IDS}{run}:{addr}"


IMPORTED_IDS = f"{OUR_IDS}imported:"
"""What the id of a summary begins with that nobody here made: what a client showed of before."""
SENT_IDS = "ordain:sent:"
"""What the id of a message begins with that came with a whole conversation: the digest of that
follows, so that the next one finds its session.
"""


def sent_id(digest: str, unique: str) -> str:
    """The id of a message that came with all that was said before it, as ``digest``."""
    return f"{SENT_IDS}{digest}:{unique}"


def speaking_run(said: str) -> str:
    """The run that said the message of this id, without what of its words it is: a question that is
    put again is the same run's.
    """
    run, colon, _ = said.rpartition(":")
    return run if colon else said


class EntryKind(StrEnum):
    """What a transcript entry is."""

    MESSAGE = "message"
    REPLY = "reply"
    QUESTION = "question"
    APPROVAL = "approval"
    SAID = "said"
    SUMMARY = "summary"


class ThreadStatus(StrEnum):
    """Where a thread stands (C5)."""

    IN_PROGRESS = "in_progress"
    WAITING_FOR_USER = "waiting_for_user"
    BLOCKED = "blocked"
    WORKFLOW_PROPOSED = "workflow_proposed"
    DONE = "done"
    FAILED = "failed"


class OpenQuestion(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An open question: the run and effect that wait, the turn (root run) it belongs to, what is
    expected, where it was asked.

    ``until`` in microseconds. ``seq`` is its entry's number, ``of`` who is asked: the sender of
    what the turn serves. Both as what a decision about a message reads has them. ``options`` are
    what was offered, ``takes`` what of an answer that is none whole the run takes
    (``rules.answer.Takes``). ``earlier`` is what the same turn had asked before, by another run
    below it, and is still open: it is asked again where this one is over.
    """

    run: str
    root: str
    addr: int
    key: str
    expects: str
    until: int
    text: str = ""
    seq: int = 0
    of: str = ""
    message_id: str = ""
    options: tuple[str, ...] = ()
    takes: str = ""
    earlier: OpenQuestion | None = None

    def after(self, open_before: OpenQuestion | None) -> OpenQuestion:
        """This question as it is asked where that one is open: of another turn's nothing is
        kept.
        """
        if open_before is None or open_before.root != self.root:
            return self
        return structs.replace(self, earlier=open_before.without(self.run, self.addr))

    def without(self, run: str, addr: int) -> OpenQuestion | None:
        """What is left of it, and of what stands behind it, once that question is over."""
        if (self.run, self.addr) == (run, addr):
            return self.earlier
        left = None if self.earlier is None else self.earlier.without(run, addr)
        return self if left is self.earlier else structs.replace(self, earlier=left)


class Thread(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A thread. ``turns`` are the ids of its unsettled turns in order; ``run`` is the latest turn.
    Times in microseconds.

    ``awaiting`` is the approval that was asked for last and is open, of whichever run of the
    thread.
    """

    id: int
    status: ThreadStatus
    intent: str = ""
    run: str = ""
    turns: tuple[str, ...] = ()
    asked: OpenQuestion | None = None
    slots: dict[str, Any] = {}
    last_error: dict[str, Any] | None = None
    touched_at: int = 0
    awaiting: AwaitedApproval | None = None


class ThreadChange(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """What becomes of a thread. ``asked`` opens a question; ``answered`` (run, effect) closes that
    one question and no other, but with ``unasks`` all that its turn asks.

    ``in_place``: it is said by a run at rest, and holds only if that run held the thread's place.
    """

    id: int
    session: str = ""
    status: ThreadStatus | None = None
    intent: str = ""
    run: str = ""
    asked: OpenQuestion | None = None
    answered: tuple[str, int] | None = None
    unasks: bool = False
    slot: tuple[str, Any] | None = None
    last_error: dict[str, Any] | None = None
    in_place: bool = False
    at: int = 0


class Placed(Struct, frozen=True, gc=False, kw_only=True):
    """What a message was decided to be: ``decision`` is that as JSON, ``serves`` the run whose
    reply or question answers the message.
    """

    attached: str
    reason: str
    decision: bytes
    thread: int = 0
    serves: str = ""
    anchor: str = ""


class NewEntry(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Something for a session's transcript: ``body`` is JSON with ``text``, ``size`` the bytes its
    text has as JSON.

    ``through`` is the last entry that a summary covers, ``author`` the user who said it. ``at`` in
    microseconds. ``session`` is the session's id. Of a message ``placed`` says what it was decided
    to be, and so its thread and the run that serves it.
    """

    kind: EntryKind
    body: bytes
    size: int
    at: int
    message_id: str
    session: str = ""
    thread: int = 0
    run: str = ""
    channel: str = ""
    edits: str = ""
    timestamp_ms: int = 0
    through: int = 0
    author: str = ""
    placed: Placed | None = None


class Entry(Struct, frozen=True, gc=False):
    """A transcript entry as stored, its fields in the order in which a storage reads them; ``body``
    is None once erased.

    ``marks`` are what its link covers of author and decision, None where that is of the first
    version (``digests.entry_link``). ``keyed``: its subject's key is there, so that a body that is
    not was swept.
    """

    seq: int
    kind: EntryKind
    at: int
    thread: int
    run: str
    channel: str
    message_id: str
    attached: str
    reason: str
    anchor: str
    size: int
    through: int
    timestamp_ms: int
    digest: bytes
    chain: bytes
    body: bytes | None
    decision: bytes | None
    edits: str = ""
    author: str = ""
    marks: bytes | None = None
    keyed: bool = True

    @property
    def cover(self) -> bytes:
        """What its link of the second version covers of its row beside heading and marks."""
        where, taken = (
            (self.thread, self.run, self.channel, self.edits, self.timestamp_ms),
            (self.attached, self.reason, self.anchor),
        )
        return entry_cover((*where, *taken, self.size, self.through))


class _NamesApproval(Struct, frozen=True, gc=False):
    approval: str = ""


def approval_named(entry: Entry) -> str:
    """The approval that an entry asks for; "" of one that asks for none, or whose content is
    gone.
    """
    return (
        "" if entry.body is None else msgspec.json.decode(entry.body, type=_NamesApproval).approval
    )


ERASED_SESSION = "erased:"
"""How the id of an erased session begins; what follows says nothing of the one that it had."""


class EntryText(Struct, frozen=True, gc=False):
    """What a prompt needs of an entry: a history is some forty of them, read for every turn.
    ``body`` is None once erased.
    """

    seq: int
    kind: EntryKind
    chain: bytes
    body: bytes | None


class SessionRow(Struct, frozen=True, kw_only=True):
    """One session. Times in microseconds; ``key`` digests its content, None once that was erased:
    then ``id`` is another one, that names nobody.

    ``erasing``: its rows are being destroyed, and its links are made anew under that id. ``first``
    is the body of the first message in it.
    """

    id: str
    workspace: str
    head: int
    open: int
    channel: str
    user: str
    created_at: int
    last_at: int
    active: int
    key: bytes | None
    no: int
    erasing: bool = False
    first: bytes | str | None = None

    @property
    def place(self) -> str:
        """Where it stands in the list of sessions, for the page after it: two that were used at the
        same time differ.
        """
        return f"{self.last_at}-{self.no}"


class Uncovered(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The entries of a history that no summary covers, oldest first, as (seq, bytes), and the
    latest summary as (seq, bytes).

    ``older`` counts uncovered entries that are not listed. ``head`` is the transcript's last entry
    and ``chain`` its link in hex, which fixes everything before it. ``imported``: the summary is
    what a client showed of before, and nobody here made it; builds before do not say so.
    """

    entries: tuple[tuple[int, int], ...]
    older: int
    summary: tuple[int, int] | None
    head: int = 0
    chain: str = ""
    imported: bool = False


class Sessions(Protocol):
    """Reading sessions as durable now. Errors: the storage's own, and ``JournalCorrupt`` for an
    entry that is none; what is not there is None or empty.
    """

    async def session(self, workspace: str, session: str) -> SessionRow | None:
        """One session."""
        ...

    async def sessions(
        self, workspace: str, *, limit: int, before: str | None, named: str = ""
    ) -> Sequence[SessionRow]:
        """Sessions, the most recently used first; ``before`` is a ``SessionRow.place``, ``named``
        what their id begins or ends with.
        """
        ...

    async def entries(
        self, workspace: str, session: str, *, after: int, limit: int
    ) -> Sequence[Entry]:
        """Entries with a number greater than ``after``, in order; ``after`` -1 gives the last
        ones.
        """
        ...

    async def texts(
        self, workspace: str, session: str, *, first: int, last: int
    ) -> Sequence[EntryText]:
        """The entries with numbers ``first`` to ``last``, as far as a prompt needs them, in
        order.
        """
        ...

    async def answer(
        self, workspace: str, session: str, seq: int
    ) -> tuple[Entry, Entry | None] | None:
        """The message with that number, and what the run that serves it has said since: its reply,
        else the latest question or approval that is open.
        """
        ...

    async def threads(self, workspace: str, session: str, *, limit: int) -> Sequence[Thread]:
        """Every live thread first, then the others; the ``limit`` that were touched last are among
        them.
        """
        ...

    async def uncovered(
        self, workspace: str, session: str, *, limit: int, oldest: bool
    ) -> Uncovered:
        """The history: at most ``limit`` entries by name, the newest or the ``oldest``; what was
        erased is no part of it.
        """
        ...
