"""The writing half of a driven run: records and what stands or falls with them, collected until the
next barrier, then one unit.

The unit is offered again while storage is unavailable, so an observation of a side effect is lost
only with the process. One unit of a run is in flight at a time.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import perf_counter_ns

import msgspec

from ordain.errors import LeaseLost, StorageUnavailable
from ordain.flows.kind import Settlement
from ordain.journal.codec import Scribe, decode
from ordain.journal.records import Body, Record, RecordKind, Status
from ordain.ports.store import Append, ClaimUnit, Mail, Outcome, StoredRun, Unit
from ordain.ports.writes import TakenMail, Write
from ordain.runtime.services import Services

STORAGE_RETRY_S = 0.25
KEPT_BODY_BYTES = 16_384
"""A larger body is read again from its record: a run that is handed much would hold it twice."""


async def offered(services: Services, unit: Unit) -> Outcome:
    """Submit a unit, however long storage stays away, which is time lost for all runs. Raises as
    ``JournalStore.submit`` otherwise.
    """
    try:
        return await services.store.submit(unit)
    except StorageUnavailable:
        refused_at = services.clock.now()
    services.lost.refusals.append(refused_at)
    try:
        while True:
            await asyncio.sleep(STORAGE_RETRY_S)
            with suppress(StorageUnavailable):
                outcome = await services.store.submit(unit)
                services.lost.refused(refused_at, services.clock.now())
                return outcome
    finally:
        services.lost.refusals.remove(refused_at)


class Pen:
    """Writes one run's journal; whoever drives the run holds it."""

    def __init__(self, services: Services, stored: StoredRun) -> None:
        """Continue after the stored records. The subject's key must still exist."""
        self.services = services
        self.id = stored.id
        self.stored = stored
        self.records: list[Record] = list(stored.records)
        self.scribe = Scribe(stored.id, stored.key or b"", stored.records[-1])
        self._unwritten: list[Record] = []
        self._bodies: dict[int, Body] = {}
        self._writes: list[Write] = []
        self.lost: LeaseLost | None = None
        self._status: Status | None = (
            Status.RUNNING if stored.status is not Status.RUNNING else None
        )

    def write(self, kind: RecordKind, name: str, body: Body, *, at: int | None = None) -> Record:
        """Append a record to what the next barrier makes durable."""
        began, counters = perf_counter_ns(), self.services.counters
        record = self.scribe.write(
            kind, name, body, self.services.clock.now() if at is None else at
        )
        self.records.append(record)
        self._unwritten.append(record)
        if record.body is not None and len(record.body) <= KEPT_BODY_BYTES:
            self._bodies[record.seq] = body
        counters.records += 1
        counters.encode_ns += perf_counter_ns() - began
        return record

    def take_back(self, mark: tuple[int, int, bytes]) -> None:
        """Forget the last records, which were refused; ``mark`` is where the chain stood before
        them.
        """
        self.scribe.back_to(mark)
        while self.records[-1].seq > mark[0]:
            self._bodies.pop(self.records.pop().seq, None)

    def read(self, record: Record) -> Body:
        """A record's body: what was written here need not be decoded again. Raises as
        ``decode``.
        """
        return self._bodies.get(record.seq) or decode(record)

    def settled(self, settlement: Settlement) -> StoredRun | None:
        """The run as it is stored once its last record is; None of one of which not every record
        could be read.
        """
        if len(self.records) <= self.records[-1].seq:
            return None
        return msgspec.structs.replace(
            self.stored,
            status=settlement.status,
            reason=settlement.reason,
            wake_at=None,
            ended_at=self.records[-1].at,
            records=tuple(self.records),
            head=self.records[-1].seq,
        )

    @property
    def unwritten(self) -> int:
        """How many records wait for the next barrier."""
        return len(self._unwritten)

    def beside(self, *writes: Write) -> None:
        """Write this in the same commit as the records around it."""
        self._writes += writes

    def take(self, mail: Mail, seq: int) -> None:
        """Mark a mailbox row as taken by a record."""
        self._writes.append(TakenMail(mail=mail.id, seq=seq))

    @property
    def writes_beside(self) -> bool:
        """Whether the next barrier writes more than records."""
        return bool(self._writes)

    async def barrier(self, *, status: Status | None = None, reason: str | None = None) -> None:
        """Make everything written so far durable; waits while storage is unavailable."""
        if not self._unwritten and status is None:
            return
        await self.offer(self.unit(status=status, reason=reason))

    def unit(
        self,
        *,
        status: Status | None = None,
        reason: str | None = None,
        wake_at: int | None = None,
        suspend: int | None = None,
        deaf: bool = False,
    ) -> Append:
        """Everything collected, as one unit; the next one begins empty."""
        records, writes = tuple(self._unwritten), tuple(self._writes)
        self._unwritten.clear()
        self._writes.clear()
        return Append(
            run=self.id,
            epoch=self.stored.epoch,
            records=records,
            status=status or self._status,
            reason=reason,
            wake_at=wake_at,
            suspend=suspend,
            deaf=deaf,
            writes=writes,
        )

    def give_back(self, unit: Append) -> None:
        """A unit that was refused for what stood beside it: what it holds waits for the next
        barrier again.
        """
        self._unwritten[:0] = unit.records
        self._writes[:0] = unit.writes

    async def refused(self, unit: Append | ClaimUnit) -> None:
        """Another engine holds the run now; what the unit says of calls that were made may have to
        be handed to it.
        """

    async def offer(self, unit: Append | ClaimUnit) -> bool:
        """Commit a unit, however long storage stays away; whether its condition held. That another
        engine holds the store is kept in ``lost``.
        """
        try:
            outcome = await offered(self.services, unit)
        except LeaseLost as error:
            self.lost = error
            await self.refused(unit)
            raise
        if not outcome.refused:
            self._status = None
        return not outcome.refused
