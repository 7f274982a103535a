"""What a unit writes beside a run's own records: one vocabulary, and one meaning of each word,
whoever decided it.

A store has one table from these types to what it does (in SQLite ``store.writes``). A unit's writes
are carried out in the order in which they stand; those of one kind that follow each other are one
set. What cannot be written refuses its whole unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.approvals import Grant
from ordain.journal.records import ENCODER, Record, Started
from ordain.ports.approvals import (
    ApprovalClaimed,
    ApprovalDecided,
    GrantRevoked,
    GrantUse,
    NewApproval,
)
from ordain.ports.configuration import ConfigRecord
from ordain.ports.sessions import NewEntry, Placed, ThreadChange


class MailKind(StrEnum):
    """What a mailbox row brings to a run."""

    CHILD = "child"
    ANSWER = "answer"
    INTERRUPT = "interrupt"
    APPROVAL = "approval"
    """An approver's word on what the run asks."""
    LATE = "late"
    """What became of a call, from an engine that does not hold its run any more."""


ERASED_MAIL = b"{}"
"""The body of mail whose content was erased: it tells nobody anything any more."""


PARENT_INTERRUPTED = "parent interrupted"


class NewMail(Struct, frozen=True, gc=False, kw_only=True):
    """A row for a run's mailbox, which makes a waiting run ready. ``key`` is unique per run: a
    duplicate is ignored, the first one counts.

    An interrupt is one for every run below that has not settled, in the same commit
    (``interrupt_of``): whoever was told that work is stopped sees nothing of it begin.
    """

    run: str
    kind: MailKind
    key: str
    body: bytes
    at: int
    addr: int = -1


def interrupt_of(
    parent: str, addr: int, child: str, at: int, why: str = PARENT_INTERRUPTED
) -> NewMail:
    """What a run is told that its parent's join, that of effect ``addr``, does not wait for any
    longer: once, however often and by whomever.
    """
    body = ENCODER.encode({"by": f"run:{parent}", "what": "cancel", "why": why})
    key = f"join:{parent}:{addr}"
    return NewMail(run=child, kind=MailKind.INTERRUPT, key=key, body=body, at=at)


class TakenMail(Struct, frozen=True, gc=False, kw_only=True):
    """A row of the unit's own run's mailbox is taken by its record ``seq``, once."""

    mail: int
    seq: int


class NewRun(Struct, frozen=True, gc=False, kw_only=True):
    """A run to open: its first record as a value, from which the store has its columns, and as it
    is written (``record``).

    ``key`` is its subject's digest key; ``root`` is None where it is one. ``queued``: behind the
    unsettled turns of its thread.
    """

    id: str
    key: bytes
    started: Started
    record: Record
    root: str | None = None
    queued: bool = False


class NewPlace(Struct, frozen=True, gc=False, kw_only=True):
    """A run that was just opened takes a place in its thread, which becomes the session's active
    one; thread 0 is none. ``counts``: as at work.
    """

    run: str
    session: str
    thread: int
    queued: bool = False
    counts: bool = True


class PlaceTakenBack(Struct, frozen=True, gc=False, kw_only=True):
    """A stopped turn is to go on and takes its place again, if it had one. Refused
    (``thread_taken``) where that is another turn's by now.
    """

    run: str


class EntryPlaced(Struct, frozen=True, gc=False, kw_only=True):
    """A message whose class was postponed, or which found no place, has it now; whoever waited for
    run ``instead_of`` waits for the run that serves it.
    """

    session: str
    seq: int
    instead_of: str
    placed: Placed


class ClosedQuestion(Struct, frozen=True, gc=False, kw_only=True):
    """The question that effect ``addr`` of a run asked its session was answered from elsewhere: no
    message is taken for its answer any more.
    """

    run: str
    addr: int


class OutboxRow(Struct, frozen=True, gc=False, kw_only=True):
    """Words of the unit's own run for the outbox."""

    addr: int
    text: str
    at: int


class AccountCharge(Struct, frozen=True, gc=False, kw_only=True):
    """Add to a shared account, which begins with it."""

    account: str
    tokens: int
    usd_micros: int


class Refund(Struct, frozen=True, gc=False, kw_only=True):
    """What a run gives back to a shared account at its end; negative where it overran. To an
    account that is over and was dropped, nothing.
    """

    account: str
    tokens: int
    usd_micros: int


Stored = Sequence[tuple[str, bytes]]
"""Catalogs and their tables of phrases by digest; one that is stored already is left as it is."""


class KeptCatalogs(Struct, frozen=True, gc=False, kw_only=True):
    """Catalogs that what follows begins under."""

    stored: Stored


_NAME = re.compile(r"[a-z][a-z_]{0,40}")


class RowTable(Struct, frozen=True, kw_only=True):
    """A table of rows by key, one of each in a workspace: what a shared decision keeps. Names are
    of lower-case letters and ``_``.
    """

    name: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        """Names go into statements.

        Raises:
            ValueError: one is no name, or stands twice.
        """
        names = ("workspace", *self.key, *self.columns)
        if (
            not self.key
            or not self.columns
            or len(set(names)) < len(names)
            or not all(map(_NAME.fullmatch, (self.name, *names)))
        ):
            raise ValueError(
                f"table {self.name!r} has a name, a key and columns, each named once, of letters "
                "a to z and _"
            )

    @property
    def stored(self) -> str:
        """Its name in a store, where it meets none of the store's own."""
        return f"shared_{self.name}"


class TableRow(Struct, frozen=True, gc=False, kw_only=True):
    """A row for a ``RowTable``, put there, or instead of the one that stands by its key."""

    table: str
    key: tuple[Any, ...]
    values: tuple[Any, ...]


class ConfigVersion(Struct, frozen=True, gc=False, kw_only=True):
    """The next version of a record of the configuration; those before it stay. Refused
    (``version_conflict``) where that version is there.
    """

    record: ConfigRecord


class AttachmentKept(Struct, frozen=True, gc=False, kw_only=True):
    """A document that was staged for a message of this session is kept with it, and erased with it.
    Refused (``attachment_gone``) where it is staged no more.
    """

    item: str
    session: str


Write = (
    KeptCatalogs
    | NewRun
    | NewPlace
    | PlaceTakenBack
    | NewEntry
    | EntryPlaced
    | AttachmentKept
    | ThreadChange
    | ClosedQuestion
    | NewMail
    | TakenMail
    | OutboxRow
    | AccountCharge
    | Refund
    | TableRow
    | ConfigVersion
    | NewApproval
    | ApprovalDecided
    | ApprovalClaimed
    | Grant
    | GrantUse
    | GrantRevoked
)
