"""What the memory holds: immutable rows in dictionaries, and a view of them that one unit changes
and that is kept or thrown away as a whole.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Any

from msgspec import Struct

from ordain.contracts.approvals import Grant
from ordain.journal.ledger import LedgerRow
from ordain.journal.lost_time import Pause
from ordain.journal.records import Status
from ordain.ports.approvals import ApprovalRow
from ordain.ports.configuration import ConfigKey, ConfigRecord
from ordain.ports.sessions import Entry, Thread
from ordain.ports.store import Mail, StoredRun
from ordain.runtime.streams import SessionKey


class KeptRun(Struct, frozen=True, kw_only=True):
    """A run. ``run`` is as it is loaded; ``no`` counts runs as they were opened; ``resumes_at`` is
    how far it had come when a death was counted last.
    """

    run: StoredRun
    no: int
    resumes_at: int = -1


class MailRow(Struct, frozen=True):
    """Mail, and the record that has taken it."""

    mail: Mail
    taken: int | None = None


class KeptPlace(Struct, frozen=True, kw_only=True):
    """A run's place in its thread: ``live``, ``queued`` or ``over``; ``no`` is its run's."""

    run: str
    no: int
    thread: int
    state: str
    counts: bool


class KeptSession(Struct, frozen=True, kw_only=True):
    """A session's row; ``subject`` is its content's."""

    no: int
    subject: str
    key: bytes
    head: int
    chain: bytes
    threads: int
    active: int
    channel: str
    user: str
    created_at: int
    last_at: int


class EntryRow(Struct, frozen=True, kw_only=True):
    """An entry, and what its readers are not given."""

    entry: Entry
    edits: str
    author: str


class EngineRow(Struct, frozen=True, kw_only=True):
    """An engine; ``gone``: it has left, or its lease was seen to have lapsed, which nothing takes
    back.
    """

    build: str
    last_beat: int
    gone: bool = False


class MemoryRows:
    """Every table. ``numbers`` are the counters, ``spans`` the pauses (by "")."""

    def __init__(self, below: MemoryRows | None = None) -> None:
        """Empty; over ``below``, all that is written there and what is put here since."""

        def table(name: str) -> Any:
            return {} if below is None else ChainMap({}, getattr(below, name))

        self.numbers: MutableMapping[str, int] = table("numbers")
        self.runs: MutableMapping[str, KeptRun] = table("runs")
        self.subjects: MutableMapping[tuple[str, str], bytes] = table("subjects")
        self.mailbox: MutableMapping[str, tuple[MailRow, ...]] = table("mailbox")
        self.requests: MutableMapping[tuple[str, str], tuple[str, str]] = table("requests")
        self.catalogs: MutableMapping[str, bytes] = table("catalogs")
        self.accounts: MutableMapping[tuple[str, str], tuple[int, int]] = table("accounts")
        self.outbox: MutableMapping[tuple[str, int], tuple[str, int]] = table("outbox")
        self.values: MutableMapping[tuple[object, ...], tuple[object, ...]] = table("values")
        self.configuration: MutableMapping[ConfigKey, tuple[ConfigRecord, ...]] = table(
            "configuration"
        )
        self.sessions: MutableMapping[SessionKey, KeptSession] = table("sessions")
        self.threads: MutableMapping[SessionKey, Mapping[int, Thread]] = table("threads")
        self.turns: MutableMapping[SessionKey, Mapping[str, KeptPlace]] = table("turns")
        self.turn_of: MutableMapping[str, SessionKey] = table("turn_of")
        self.transcript: MutableMapping[SessionKey, tuple[EntryRow, ...]] = table("transcript")
        self.engines: MutableMapping[int, EngineRow] = table("engines")
        self.ledger: MutableMapping[int, LedgerRow] = table("ledger")
        self.approvals: MutableMapping[str, ApprovalRow] = table("approvals")
        self.grants: MutableMapping[tuple[str, str], Grant] = table("grants")
        self.spans: MutableMapping[str, tuple[Pause, ...]] = table("spans")

    def number(self, of: str) -> int:
        """The next one of a counter, from 1."""
        self.numbers[of] = self.numbers.get(of, 0) + 1
        return self.numbers[of]

    def keep(self) -> None:
        """Put into the rows below what was put here."""
        for table in vars(self).values():
            changes, below = table.maps[0], table.maps[1]
            below.update(changes)
            changes.clear()


def going(status: Status) -> bool:
    """Whether somebody is to drive such a run, or it waits."""
    return status in (Status.READY, Status.RUNNING, Status.WAITING)
