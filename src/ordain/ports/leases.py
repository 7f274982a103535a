"""Leases: who drives which run. An engine is a row with a heartbeat on the store's clock, and holds
runs while its lease lasts.

A run is held in an epoch, which counts who has held it: what somebody writes of it in an earlier
one is refused. What an engine opens it holds. Where its lease lapses, what it held is anybody's,
and whoever takes it counts one death of that run where it was being driven. All times are
microseconds since 1970 by the wall clock.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec import Struct

from ordain.errors import JournalCorrupt
from ordain.journal.lost_time import Pause
from ordain.ports.store import Mail, StoredRun

SUSPECT = 2
QUARANTINE = 4
"""After so many deaths at one record a run is driven alone, and set aside."""


def deaths(before: int, *, moved: bool, driven: bool) -> int:
    """How many deaths speak against a run after one more of its engine's, ``before`` at the same
    record unless it has ``moved`` since. Pure.

    At first all that the engine held are counted: a run may kill the process before its first
    commit. Of suspects only the one that was being driven is: the others waited for their turn.
    """
    if moved:
        return 1
    return before + 1 if driven or before < SUSPECT else before


class Lease(Struct, frozen=True, kw_only=True):
    """An engine, by its number, which no other one has had; ``alone``: while it lasts, nobody else
    drives what is in the store.

    ``last_beat`` is when an engine was at work before it, where the time since then was lost for
    all that is in the store; None where that is not so, or unknown. ``pauses`` are when nobody
    could work, in order, as far back as an unsettled run may ask.
    """

    engine: int
    alone: bool = True
    last_beat: int | None = None
    pauses: tuple[Pause, ...] = ()


class Beat(Struct, frozen=True, kw_only=True):
    """The engine is at work.

    ``pauses`` are what it has found since it said so last; ``clock_back``: the clock was set back
    to then, and nothing is known of what comes after. ``back_us`` is by how much: moments that runs
    wait for, and that lay ahead of the clock as it was, come so much earlier.
    """

    at: int
    pauses: tuple[Pause, ...] = ()
    clock_back: int | None = None
    back_us: int = 0


class Held(Struct, frozen=True, kw_only=True):
    """A run that the engine may drive, as durable now, with its untaken mail. ``run`` is what is
    wrong with one that cannot be read.

    ``refused`` is what is wrong with mail that lies there and that nobody sent: it is none of
    ``mail``. ``lost`` is when nobody could work on it, beyond the pauses of the lease.
    """

    id: str
    run: StoredRun | JournalCorrupt
    mail: tuple[Mail, ...] = ()
    refused: JournalCorrupt | None = None
    lost: tuple[Pause, ...] = ()

    @property
    def epoch(self) -> int:
        """The one in which the engine holds the run, and so that of all it writes of it, whoever
        holds the run by then.

        Raises:
            JournalCorrupt: not even the run's row can be read.
        """
        if isinstance(self.run, StoredRun):
            return self.run.epoch
        if self.run.place is None:
            raise self.run
        return self.run.place.epoch


class Leases(Protocol):
    """Errors: ``EngineLost`` where the lease has lapsed or another engine took the store,
    ``StorageUnavailable``.
    """

    async def join(self, build: str) -> Lease:
        """A new engine of this build; one whose lease has lapsed comes back as another one."""
        ...

    async def beat(self, lease: Lease, beat: Beat) -> None:
        """Keep the lease; one that has lapsed is never renewed. Idempotent for each pause."""
        ...

    async def hold(
        self,
        lease: Lease,
        *,
        limit: int,
        flows: Collection[tuple[str, int]] | None,
        only: Sequence[str] = (),
    ) -> Sequence[Held]:
        """Runs that are now the engine's: at most ``limit`` that nobody holds and that are ready,
        were being driven or are due, orphans first.

        ``flows`` are those that the engine has; None: any. With ``only`` those runs, whatever their
        status, those that it holds already among them; one that another engine holds, whose flow is
        none of ``flows``, or that does not exist, is left out.
        """
        ...

    async def held(self, lease: Lease) -> Sequence[str]:
        """Runs that the engine holds and that are ready, were being driven or are due: ``hold``
        offers none of them again, and whoever was not told of one asks here.
        """
        ...

    async def next_due(
        self, lease: Lease, *, flows: Collection[tuple[str, int]] | None
    ) -> int | None:
        """When the first run is due that waits, that no engine holds any more and that ``hold``
        would give for these ``flows``; None where there is none.
        """
        ...

    async def release(self, lease: Lease, runs: Sequence[str] | None = None) -> None:
        """Let go of runs that are not driven any more, or of all that it holds: whoever takes them
        next counts no death.
        """
        ...
