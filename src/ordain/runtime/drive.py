"""``drive``: execute one run until it settles, waits or stops. Every engine wakes runs through this, and nothing else runs a flow."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from typing import Any

import msgspec

from ordain.errors import Erased, FlowUnavailable, JournalCorrupt, JournalDiverged, LeaseLost, OrdainError
from ordain.flows.context import FlowContext, Settlement, flow_context
from ordain.journal.codec import verify
from ordain.journal.folds import Fold
from ordain.journal.records import ENCODER, NULL, SETTLED, STOPPED, EndedBody, FaultedBody, Kind, Raw, ResumedBody, Started, Status, raw
from ordain.ports.effects import AnyEnded, Cancelled, Completed, Failed, Interrupted, Suspended, TimedOut, Unknown
from ordain.ports.store import Append, MailKind, NewMail, Refund, StoredRun
from ordain.rules.header import render_header
from ordain.runtime.execution import Execution
from ordain.runtime.live import LiveRun
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.run")
_STARTED = msgspec.json.Decoder(Started)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """Where a drive left the run; ``wake_at`` in microseconds where a timer should wake it."""

    status: Status
    wake_at: int | None = None


class Drive:
    """One drive of one run. ``live`` exists once the run is loaded, so that an engine can pass on that mail arrived."""

    def __init__(self, services: Services, run: str, *, resumed_by: str | None = None) -> None:
        """``resumed_by`` names who restarts a run that had stopped; None is an ordinary wake."""
        self.services = services
        self.run = run
        self.live: LiveRun | None = None
        self._resumed_by = resumed_by

    def heard(self) -> None:
        """Mail arrived for this run."""
        if self.live is not None:
            self.live.heard()

    async def to_rest(self) -> Driven:
        """Drive until the run settles, waits or stops. Cancelling it evicts the run and journals nothing."""
        stored = self.services.store.load(self.run)
        if stored is None:
            raise JournalCorrupt(f"run {self.run} does not exist")
        if stored.status in SETTLED or (stored.status in STOPPED and self._resumed_by is None):
            return Driven(status=stored.status)
        try:
            return await self._execute(stored)
        except LeaseLost:
            raise
        except (JournalDiverged, JournalCorrupt, FlowUnavailable, Erased) as error:
            return await self._stop(stored, _STOPS.get(type(error), Status.DIVERGED), error)

    async def _execute(self, stored: StoredRun) -> Driven:
        verify(stored.id, stored.key, stored.records)
        if stored.key is None or stored.records[0].body is None:
            raise Erased(f"run {stored.id} was erased")
        started = _STARTED.decode(stored.records[0].body)
        flow = self.services.flows.get((started.flow, started.flow_version))
        if flow is None:
            raise FlowUnavailable(f"this build has no flow {started.flow}@{started.flow_version}")
        live, context = self._prepare(stored, started)
        live.execution.values[0] = given = flow.decode_input(started.input)
        try:
            output = await flow.run(context, given)
        except Suspended:
            return self._suspended(live)
        except Interrupted as interrupted:
            return await settle(live, Settlement(status=Status.CANCELLED, reason=interrupted.what), NULL, started)
        except (OrdainError, AssertionError, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, (JournalDiverged, JournalCorrupt, FlowUnavailable, Erased, LeaseLost)):
                raise
            return await self._fault(live, error)
        settlement = flow.settle(output)
        if live.execution.masked and settlement.status is not Status.CANCELLED:
            settlement = Settlement(status=Status.CANCELLED, reason=settlement.reason)
        return await settle(live, settlement, raw(output), started)

    def _prepare(self, stored: StoredRun, started: Started) -> tuple[LiveRun, FlowContext]:
        catalog = self.services.catalogs.pinned(started.catalog)
        live = LiveRun(self.services, stored, catalog)
        live.execution = Execution(stored.id, stored.records, live, catalog.policy)
        self.live = live
        live.look()
        if self._resumed_by is not None:
            live.write(Kind.RESUMED, "resumed", ResumedBody(by=self._resumed_by, why=stored.reason))
        return live, flow_context(live.execution, catalog, started)

    @staticmethod
    def _suspended(live: LiveRun) -> Driven:
        body: Any = msgspec.json.decode(live.records[-1].body or b"{}")
        return Driven(status=Status.WAITING, wake_at=body.get("wake_at"))

    async def _fault(self, live: LiveRun, error: Exception) -> Driven:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}"
        live.write(Kind.FAULTED, "fault", FaultedBody(error=type(error).__name__, where=where))
        await live.barrier(status=Status.FAULTED, reason="faulted")
        LOG.error("run=%s status=faulted error=%s at=%s", self.run, type(error).__name__, where)
        return Driven(status=Status.FAULTED)

    async def _stop(self, stored: StoredRun, status: Status, error: OrdainError) -> Driven:
        """The record itself is left as it is: only the run's row says that it stopped."""
        await self.services.store.submit(Append(run=stored.id, records=(), status=status, reason=error.code))
        LOG.error("run=%s status=%s reason=%s", self.run, status, error.message)
        return Driven(status=status)


_STOPS: dict[type[OrdainError], Status] = {FlowUnavailable: Status.FLOW_UNAVAILABLE}


async def settle(live: LiveRun, settlement: Settlement, output: Raw, started: Started) -> Driven:
    """End the run: its result and header, and its parent's mail, in one commit."""
    fold = Fold(live.id, live.records)
    header = fold.header(settlement.status, settlement.reason)
    ended = EndedBody(status=settlement.status, reason=settlement.reason, result=output, header=render_header(header))
    live.write(Kind.ENDED, settlement.status, ended)
    for account in fold.carved.accounts if fold.carved else ():
        tokens = fold.carved.tokens - fold.spent.tokens if fold.carved else 0
        money = fold.carved.usd_micros - fold.spent.usd_micros if fold.carved else 0
        live.refund(Refund(account=account, tokens=tokens, usd_micros=money))
    if started.parent is not None:
        end = _end(live.id, settlement, output, fold)
        mail = NewMail(
            run=started.parent,
            kind=MailKind.CHILD,
            key=f"child:{started.parent_addr}:{started.index}",
            body=ENCODER.encode(msgspec.structs.replace(end, spent=fold.spent, header=header)),
            at=live.scribe.at,
            addr=started.parent_addr or 0,
        )
        live.send(mail)
    await live.barrier(status=settlement.status, reason=settlement.reason)
    live.services.counters.runs_ended += 1
    LOG.info("run=%s flow=%s status=%s reason=%s ms=%d", live.id, fold.flow, settlement.status, settlement.reason, header.duration_ms)
    return Driven(status=settlement.status)


def _end(run: str, settlement: Settlement, output: Raw, fold: Fold) -> AnyEnded:
    if settlement.status is Status.COMPLETED:
        return Completed(child=run, value=output)
    if fold.unknown:
        return Unknown(child=run, reason=f"{len(fold.unknown)} effects with unknown outcome")
    if settlement.status is Status.TIMED_OUT:
        return TimedOut(child=run)
    if settlement.status is Status.CANCELLED:
        return Cancelled(child=run, reason=settlement.reason)
    return Failed(child=run, reason=settlement.reason, value=output)
