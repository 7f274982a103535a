"""One process's handle to a shared memory: its journal store and its leases."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from ordain.errors import EngineLost, JournalCorrupt, OrdainError, StorageUnavailable
from ordain.journal.records import SETTLED, UNKNOWN_ENDS, Status
from ordain.ports.leases import Beat, Held, Lease
from ordain.ports.store import Change, Mail, Outcome, StoredRun, Unit
from ordain.testing.memory import leases
from ordain.testing.memory.shared import SharedMemory


class MemoryStore:
    """Implements ``JournalStore`` and ``Leases`` for one process; everything is gone with the
    ``SharedMemory``.

    Before it joins it is a guest: what it opens nobody holds.
    """

    def __init__(self, shared: SharedMemory) -> None:
        """A further handle to what others may have handles to as well, of the same event loop."""
        self.shared = shared
        self.engine = 0
        self._queue: list[tuple[Unit, asyncio.Future[Outcome]]] = []
        self._scheduled = self._closed = False
        self._listeners: list[Callable[[Change], None]] = []

    # --- JournalStore -----------------------------------------------------------------------------

    def submit(self, unit: Unit) -> asyncio.Future[Outcome]:
        """See ``JournalStore.submit``."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        if self._closed:
            _fail(future, StorageUnavailable("the store is closed"))
            return future
        self._queue.append((unit, future))
        if not self._scheduled:
            self._scheduled = True
            loop.call_soon(self._flush)
        return future

    def _flush(self) -> None:
        self._scheduled = False
        queue, self._queue = self._queue, []
        for unit, future in queue:
            outcome = self.shared.commit(unit, self.engine)
            if future.done():
                continue
            if isinstance(outcome, OrdainError):
                _fail(future, outcome)
            elif self.shared.loses(unit):
                _fail(
                    future,
                    StorageUnavailable("the connection was lost before the storage answered"),
                )
            else:
                future.set_result(outcome)

    async def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        """See ``JournalStore.load``."""
        found = {run: self.shared.rows.runs.get(run) for run in runs}
        return {run: row.run for run, row in found.items() if row is not None}

    async def mail(self, run: str) -> Sequence[Mail]:
        """See ``JournalStore.mail``."""
        return leases.untaken(self.shared.rows, run)

    async def unknown_beside(self, run: str) -> Sequence[str]:
        """See ``JournalStore.unknown_beside``."""
        kept = self.shared.rows.runs
        if run not in kept:
            return []
        me = kept[run].run
        holding = [row.run for row in kept.values() if _is_beside(row.run, me)]
        near = {
            one for found in holding for one in (found.id, found.parent) if one not in (None, run)
        }
        return [
            row.run.id
            for row in sorted(kept.values(), key=lambda row: -row.no)
            if row.run.id in near
        ]

    async def catalog(self, digest: str) -> bytes | None:
        """See ``JournalStore.catalog``."""
        return self.shared.rows.catalogs.get(digest)

    def listen(self, heard: Callable[[Change], None]) -> None:
        """See ``JournalStore.listen``."""
        self._listeners.append(heard)
        self.shared.listen(heard)

    def close(self) -> None:
        """See ``JournalStore.close``."""
        if self._closed:
            return
        self._flush()
        self._closed = True
        for heard in self._listeners:
            self.shared.forget(heard)
        self.shared.leave(self.engine)

    # --- Leases -----------------------------------------------------------------------------------

    async def join(self, build: str) -> Lease:
        """See ``Leases.join``. Whatever it was before, it is not any more."""
        self._reach()
        self.shared.leave(self.engine)
        lease = leases.join(self.shared, build)
        self.engine = lease.engine
        return lease

    async def beat(self, lease: Lease, beat: Beat) -> None:
        """See ``Leases.beat``; the moment is the shared clock's."""
        self._lasts(lease)
        leases.beat(self.shared, lease, beat)

    async def hold(
        self,
        lease: Lease,
        *,
        limit: int,
        flows: Collection[tuple[str, int]] | None,
        only: Sequence[str] = (),
    ) -> Sequence[Held]:
        """See ``Leases.hold``."""
        self._lasts(lease)
        return leases.hold(
            self.shared, lease, leases.Wanted(limit=limit, flows=flows, only=tuple(only))
        )

    async def held(self, lease: Lease) -> Sequence[str]:
        """See ``Leases.held``."""
        self._lasts(lease)
        return leases.held(self.shared, lease)

    async def next_due(
        self, lease: Lease, *, flows: Collection[tuple[str, int]] | None
    ) -> int | None:
        """See ``Leases.next_due``."""
        self._lasts(lease)
        return leases.next_due(self.shared, flows)

    async def release(self, lease: Lease, runs: Sequence[str] | None = None) -> None:
        """See ``Leases.release``."""
        self._lasts(lease)
        leases.release(self.shared, lease, runs)

    def _reach(self) -> None:
        if self._closed:
            raise StorageUnavailable("the store is closed")

    def _lasts(self, lease: Lease) -> None:
        """As a writer of its handle: what was submitted before is written before.

        Raises:
            EngineLost: the lease is over, or not this handle's.
        """
        self._reach()
        self._flush()
        if lease.engine != self.engine or not self.shared.lives(lease.engine):
            raise EngineLost(f"the lease of engine {lease.engine} has lapsed")


def _is_beside(run: StoredRun, me: StoredRun) -> bool:
    talk = run.workspace == me.workspace and run.session == me.session != ""
    if not talk and run.root != me.root:
        return False
    at_work = run.status not in SETTLED and run.status is not Status.WAITING and run.id != me.id
    return at_work or any(
        end in (record.body or b"") for record in run.records for end in UNKNOWN_ENDS
    )


def _fail(future: asyncio.Future[Outcome], error: OrdainError) -> None:
    future.set_exception(error)
    future.exception()  # retrieved here: the caller may have gone
