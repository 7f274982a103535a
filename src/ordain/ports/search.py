"""RunSearch: reading across runs, for people and faces. Never used by a flow or a rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from ordain.journal.records import Record
from ordain.ports.spending import SpendingSearch


class RunRow(Struct, frozen=True, kw_only=True):
    """One run in a list. Times in microseconds since 1970 UTC. ``opening`` is the record that it
    begins with, None where that is erased or damaged.
    """

    id: str
    flow: str
    status: str
    reason: str
    parent: str | None
    root: str
    created_at: int
    ended_at: int | None
    head_seq: int
    wake_at: int | None
    opening: Record | None = None


class RunBeginning(Struct, frozen=True, kw_only=True):
    """The flow of a run, and the record that it begins with, None where that is erased or
    damaged.
    """

    flow: str
    version: int
    opening: Record | None


class RunSearch(Protocol):
    """Lists and counts; newest first. Errors: ``StorageUnavailable``. What is awaited may look at
    many runs, and holds nobody else up.
    """

    async def runs(
        self,
        *,
        statuses: Sequence[str],
        roots_only: bool,
        limit: int,
        before: str | None,
        workspace: str | None,
        named: str = "",
    ) -> Sequence[RunRow]:
        """Runs, optionally of some statuses, older than run ``before``, of one workspace or (None)
        of all; ``named``: whose id begins or ends so. No row where ``before`` is not among
        those.

        ``roots_only`` leaves child runs out, but not where a status is asked for that a run has
        stopped with: what stopped is found wherever it is.
        """
        ...

    async def counts(self) -> dict[str, int]:
        """Runs by status."""
        ...

    async def journal_bytes(self, run: str) -> tuple[int, int]:
        """(bytes of records, bytes of payloads) of a run."""
        ...

    async def records(self, run: str, after: int) -> Sequence[Record]:
        """A run's records with seq greater than ``after``, in order."""
        ...

    async def status(self, run: str) -> str | None:
        """A run's status, or None where there is none."""
        ...

    async def stopped_below(self, run: str) -> bool:
        """Whether a run that it waits for, directly or not, has stopped and cannot go on by
        itself.
        """
        ...

    async def workspace(self, run: str) -> str | None:
        """The workspace that a run belongs to, or None where there is no such run; its records need
        not be readable.
        """
        ...


class BeginningSearch(Protocol):
    """What one run began as."""

    async def beginning(self, run: str) -> RunBeginning | None:
        """None where there is no such run; nothing else of it is read."""
        ...


class WholeSearch(Protocol):
    """Everything that is stored, by name, oldest first: for whoever goes through all of it."""

    async def tree(self, run: str) -> Sequence[str]:
        """A run and everything that descends from it; empty where there is none."""
        ...

    async def every_run(
        self, *, roots_only: bool, since: int | None = None, until: int | None = None
    ) -> Sequence[str]:
        """Every run, or every run without a parent that is there, that began at ``since`` or later
        and before ``until``, in microseconds since 1970.
        """
        ...

    async def every_session(self) -> Sequence[tuple[str, str]]:
        """Every session, as (workspace, id)."""
        ...


class SentSearch(Protocol):
    """Messages that came with a whole conversation, by what they came with."""

    async def sent(
        self, workspace: str, digest: str, *, session: str = "", run: str = "", limit: int
    ) -> Sequence[tuple[str, int]]:
        """(session, number) of messages of the workspace, or of a session of it, whose id has this
        digest (``sent_id``), the latest first; an erased one is not found. ``run``: that a run
        serves whose id ends so.
        """
        ...


class Search(RunSearch, BeginningSearch, SpendingSearch, WholeSearch, SentSearch, Protocol):
    """Everything that is searched in the journal."""
