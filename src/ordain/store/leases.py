"""Leases over SQLite: the one engine of a folder, whose lease is the folder's lock and the epoch of
its store; its last beat, its pauses, and what it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from ordain.errors import EngineLost, JournalCorrupt
from ordain.journal.lost_time import Pause
from ordain.journal.records import SETTLED
from ordain.ports.leases import Beat, Held, Lease
from ordain.ports.store import Operation, StoredRun
from ordain.store.lease_operations import FREE
from ordain.store.schema import UNSETTLED
from ordain.store.sqlite import SqliteStore

_WORK = (
    f"SELECT no, id, holder FROM runs WHERE status = 'running' AND {UNSETTLED} AND %s"  # noqa: S608 - constants of the schema
    f" UNION ALL SELECT no, id, holder FROM runs WHERE status = 'ready' AND {UNSETTLED} AND %s"
    " UNION ALL SELECT no, id, holder FROM runs WHERE status = 'waiting' AND wake_at <= :now AND %s"
)
"""What has something to do, and stands as three conditions say."""
_ORPHANS = f"SELECT id FROM ({_WORK % (FREE, FREE, FREE)}) ORDER BY holder = 0, no LIMIT :most"  # noqa: S608 - as above
_OWN = "holder = :engine"
_HELD = f"SELECT id FROM ({_WORK % (_OWN, _OWN, _OWN)}) ORDER BY no"  # noqa: S608 - as above
_DUE = (
    f"SELECT wake_at FROM runs WHERE status = 'waiting' AND wake_at IS NOT NULL AND {FREE} ORDER "  # noqa: S608 - as above
    "BY wake_at LIMIT 1"
)


class SqliteLeases:
    """Implements ``Leases``."""

    def __init__(self, store: SqliteStore, now: Callable[[], int]) -> None:
        """``now`` is the wall clock, in microseconds: the store's, since this is its one engine."""
        self._store, self._now, self._engine = store, now, 0

    async def join(self, build: str) -> Lease:
        """See ``Leases.join``. The lock is the store's own: an engine that lost it does not come
        back in this process.

        Raises:
            EngineLost: it was lost, or the store was opened as a guest.
        """
        if self._engine or not self._store.engine:
            raise EngineLost("this process holds no lease on the store")
        self._engine = self._store.engine
        beats = self._store.query("SELECT at FROM beats")
        pauses = self._store.query("SELECT began, ended FROM pauses ORDER BY no")
        return Lease(
            engine=self._engine,
            last_beat=beats[0][0] if beats else None,
            pauses=tuple(Pause(began, ended) for began, ended in pauses),
        )

    async def beat(self, lease: Lease, beat: Beat) -> None:
        """See ``Leases.beat``; the lease itself is kept by the lock."""
        await self._store.submit(Operation(name="beat", args={"beat": beat}))

    async def hold(
        self,
        lease: Lease,
        *,
        limit: int,
        flows: Collection[tuple[str, int]] | None,
        only: Sequence[str] = (),
    ) -> Sequence[Held]:
        """See ``Leases.hold``. There is no other engine: what has a flow that this one has not is
        its to stop.
        """
        if len(only) == 1:
            fresh = self._store.fresh.taken(self._store.query, only[0])
            if fresh is not None and _holds(lease, fresh):
                return [Held(id=fresh.id, run=fresh)]
        runs = only or [
            run
            for (run,) in self._store.query(
                _ORPHANS, {"engine": lease.engine, "now": self._now(), "most": limit}
            )
        ]
        self._store.fresh.drop(runs)
        found = await self._store.load(runs)
        others = [run for run, stored in found.items() if not _holds(lease, stored)]
        if others:
            await self._store.submit(
                Operation(name="hold", args={"engine": lease.engine, "runs": others})
            )
            found = {**found, **await self._store.load(others)}
        mail = {run: self._store.sent(run) for run in found}
        return [
            Held(id=run, run=stored, mail=tuple(mail[run][0]), refused=mail[run][1])
            for run, stored in found.items()
        ]

    async def held(self, lease: Lease) -> Sequence[str]:
        """See ``Leases.held``."""
        asked = {"engine": lease.engine, "now": self._now()}
        return [run for (run,) in self._store.query(_HELD, asked)]

    async def next_due(
        self, lease: Lease, *, flows: Collection[tuple[str, int]] | None
    ) -> int | None:
        """See ``Leases.next_due``; whatever its flow, as ``hold`` has it."""
        rows = self._store.query(_DUE, {"engine": lease.engine})
        return rows[0][0] if rows else None

    async def release(self, lease: Lease, runs: Sequence[str] | None = None) -> None:
        """See ``Leases.release``."""
        await self._store.submit(
            Operation(
                name="release",
                args={"engine": lease.engine, "runs": None if runs is None else list(runs)},
            )
        )


def _holds(lease: Lease, stored: StoredRun | JournalCorrupt) -> bool:
    """Whether the engine holds the run, or nobody is to."""
    if isinstance(stored, JournalCorrupt):
        return stored.place is None or stored.place.holder == lease.engine
    return stored.holder == lease.engine or stored.status in SETTLED
