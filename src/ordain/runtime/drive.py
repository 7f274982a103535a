"""``drive``: execute one run until it settles, waits or stops. Every engine wakes runs through
this, and nothing else runs a flow.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec
from msgspec import Struct, structs

from ordain.errors import (
    Erased,
    FlowFault,
    FlowUnavailable,
    JournalCorrupt,
    JournalDiverged,
    LeaseLost,
    OrdainError,
)
from ordain.flows.kind import Kind, Settlement
from ordain.journal.records import (
    ENCODER,
    SETTLED,
    STOPPED,
    FaultedBody,
    NoteBody,
    RecordKind,
    ResumedBody,
    Started,
    Status,
    raw,
)
from ordain.ports.effects import Suspended
from ordain.ports.leases import Held
from ordain.ports.store import Append, StoredRun, load_run
from ordain.ports.writes import ERASED_MAIL, MailKind, NewMail
from ordain.rules.header import HeaderFacts, HeaderLine, with_verdict
from ordain.runtime.cut_off_calls import book_cut_off, working
from ordain.runtime.entries import stop_entry, stopped_text, unreadable_entry
from ordain.runtime.execution import Execution
from ordain.runtime.flow_end import FlowEnd, flow_end
from ordain.runtime.foreign_code import class_of, place_of, said_by, sent_by_signal
from ordain.runtime.headers import loaded, readable
from ordain.runtime.joined_runs import joined_runs
from ordain.runtime.joins import book_ends
from ordain.runtime.live import LiveRun, Park
from ordain.runtime.mail import InterruptBody
from ordain.runtime.pen import Pen
from ordain.runtime.services import Services
from ordain.runtime.settling import settle, settle_driven
from ordain.runtime.setup import RunSetup
from ordain.runtime.whole_journal import check_whole

LOG = logging.getLogger("ordain.run")
_STARTED = msgspec.json.Decoder(Started)


class Driven(Struct, frozen=True, kw_only=True):
    """Where a drive left the run; ``wake_at`` in microseconds where a timer should wake it.

    ``root`` is the run at whose root one has stopped: whoever waits for that would wait for ever.
    ``settled`` is a run that has come to its end, as it is stored now: whoever waits for it need
    not load it again.
    """

    status: Status
    wake_at: int | None = None
    root: str = ""
    settled: StoredRun | None = None


class Drive:
    """One drive of one run. ``live`` exists once the run is loaded, so that an engine can pass on
    that mail arrived.
    """

    def __init__(
        self,
        services: Services,
        held: Held,
        *,
        resumed_by: str | None = None,
        park: Park | None = None,
    ) -> None:
        """``resumed_by`` names who cancels a run that had stopped: it is driven once more to end;
        None is an ordinary wake.

        ``park`` keeps it where it waits; without one it gives its flow up, and its next drive runs
        that again.
        """
        self.services = services
        self.held, self.run = held, held.id
        self.live: LiveRun | None = None
        self._resumed_by, self._park = resumed_by, park

    def heard(self) -> None:
        """Mail arrived for this run."""
        if self.live is not None:
            self.live.heard()

    async def to_rest(self) -> Driven:
        """Drive until the run settles, waits or stops. Cancelling it evicts the run and journals
        nothing.
        """
        driven = await self._to_rest()
        if driven.status is not Status.WAITING:
            self.services.streams.at_rest(self.run)
        if driven.status in STOPPED and self.live is not None:
            # the turn that waits for it cannot go on either
            root = self.live.stored.root
            self.services.streams.at_rest(root)
            driven = structs.replace(driven, root=root)
        return driven

    async def _to_rest(self) -> Driven:
        try:
            stored = self._read()
            restarted = self._resumed_by or _resumed_by(stored)
            asked = (
                self._asked_to_stop() if stored.status in STOPPED or restarted is not None else None
            )
            if stored.status is Status.QUEUED:
                # behind another turn of its thread: that one's end begins it
                return Driven(status=Status.WAITING)
            if stored.status in SETTLED or (
                stored.status in STOPPED and self._resumed_by is None and asked is None
            ):
                return Driven(status=stored.status)
            # a flow may end what it broke off, unless it was erased
            goes_on = stored.status is Status.FAULTED and stored.key is not None
            if asked is not None and stored.status in STOPPED and not goes_on:
                return await self._close(asked)
            if self.held.refused is not None:
                raise self.held.refused
            with working(self.services, stored):
                driven = await self._execute(stored)
        except (JournalDiverged, JournalCorrupt, FlowUnavailable, Erased) as error:
            return await self.stop(error)
        if driven.status is not Status.FAULTED:
            return driven
        masked = self.live is not None and self.live.state.masked
        if asked is None and masked and restarted is not None:
            asked = InterruptBody(
                what="cancel", by=restarted, why="it was interrupted before, and faulted again"
            )
        return driven if asked is None else await self._close(asked)

    def _read(self) -> StoredRun:
        if isinstance(self.held.run, JournalCorrupt):
            raise self.held.run
        return self.held.run

    def _asked_to_stop(self) -> InterruptBody | None:
        """The first interrupt that has not reached this run."""
        bodies = [
            mail.body
            for mail in self.held.mail
            if mail.kind is MailKind.INTERRUPT and mail.body != ERASED_MAIL
        ]
        return msgspec.json.decode(bodies[0], type=InterruptBody) if bodies else None

    async def _execute(self, stored: StoredRun) -> Driven:
        started = _began(stored)
        kind = self.services.kinds.get(started.flow, started.flow_version)
        if kind is None:
            raise FlowUnavailable(f"this build has no flow {started.flow}@{started.flow_version}")
        live, execution = await self._prepared(stored, kind, started)
        state = live.state
        task = asyncio.current_task()
        try:
            ended = await flow_end(live.setup, execution, task)
        except Suspended as error:
            return self._suspended(live) if state.suspended else await self._fault(live, error)
        except (LeaseLost, JournalDiverged, JournalCorrupt, FlowUnavailable, Erased) as error:
            met = live.lost if isinstance(error, LeaseLost) else state.fault
            if error is not met:
                # neither store nor port has met that: a flow, a kind or a rule says so, and stops
                # nobody but itself
                return await self._fault(live, error)
            raise
        except BaseException as error:
            # a flow is foreign code here: whatever else it raises is its fault, and stops its run
            # alone
            if sent_by_signal(error):
                raise
            if state.suspended:
                return self._suspended(live)
            if live.stopping or (task is not None and task.cancelling()):
                # the engine evicts the run, whatever its flow makes of that
                raise asyncio.CancelledError from error
            return await self._fault(live, error)
        if state.suspended:
            return self._suspended(live)
        if not execution.exhausted:
            raise JournalDiverged(f"run {stored.id}: the flow ends, its journal goes on")
        await settle_driven(live, ended)
        return _settled(live, ended)

    async def _prepared(
        self, stored: StoredRun, kind: Kind[Any, Any], started: Started
    ) -> tuple[LiveRun, Execution]:
        """The run's two halves. The port holds the live end, and nothing holds the port but the
        flow: a driven run is no cycle.
        """
        catalog = await self.services.catalogs.pinned(started.catalog)
        try:
            setup = RunSetup.of(stored.id, kind, started, catalog, self.services.kinds)
            live = LiveRun(
                self.services,
                self.held,
                setup,
                self.services.transcript(stored.workspace),
                self._park,
            )
        except JournalDiverged:
            raise
        except Exception as error:
            # a kind is foreign code here: it cannot read what its run began with
            why = f"{type(error).__name__}: {error}"[:200]
            raise JournalDiverged(
                f"kind {kind.name}@{kind.version} cannot read the input of run {stored.id}: {why}"
            ) from error
        self.live = live
        if self._resumed_by is not None:
            live.write(
                RecordKind.RESUMED, "resumed", ResumedBody(by=self._resumed_by, why=stored.reason)
            )
        return live, setup.execution(stored.records, live, live.state)

    @staticmethod
    def _suspended(live: LiveRun) -> Driven:
        body: Any = msgspec.json.decode(live.records[-1].body or b"{}")
        return Driven(status=Status.WAITING, wake_at=body.get("wake_at"))

    async def _fault(self, live: LiveRun, error: BaseException) -> Driven:
        name, where = class_of(error), place_of(error)
        fault = live.write(RecordKind.FAULTED, "fault", FaultedBody(error=name, where=where))
        if live.stored.session:
            now = msgspec.structs.replace(
                live.stored, records=tuple(live.records), head=len(live.records) - 1
            )
            entry, change = stop_entry(
                now,
                await stopped_facts(self.services, now, Status.FAULTED),
                Status.FAULTED,
                fault.at,
            )
            live.beside(entry, change)
        await live.barrier(status=Status.FAULTED, reason="faulted")
        # other texts are made of the values that the flow worked with
        said = f": {said_by(error)[1]}" if type(error) is FlowFault else ""
        LOG.error("run=%s status=faulted error=%s at=%s%s", self.run, name, where, said)
        LOG.debug("run=%s faulted", self.run, exc_info=error)
        return Driven(status=Status.FAULTED)

    async def stop(self, error: OrdainError) -> Driven:
        """It cannot be driven, however often that is tried: it stops, and goes on when it is
        resumed after the fix.
        """
        return await self._stop(_STOPS.get(type(error), Status.DIVERGED), error)

    async def _stop(self, status: Status, error: OrdainError) -> Driven:
        """The record itself is left as it is: only the run's row says that it stopped."""
        code, message = said_by(error)
        await self.services.store.submit(await stop_unit(self.services, self.held, status, code))
        LOG.error("run=%s status=%s reason=%s", self.run, status, message)
        return Driven(status=status)

    async def _close(self, asked: InterruptBody) -> Driven:
        """Settle a stopped run as cancelled without its flow, which cannot go on. Children that
        still run are stopped first.
        """
        stored = await load_run(self.services.store, self.run)
        assert stored is not None
        stored = structs.replace(stored, epoch=self.held.epoch)
        live = Pen(self.services, stored)
        live.records = list(readable(live.records))
        children = await joined_runs(self.services.store, self.run, live.records)
        if unsettled := [
            run
            for run, child in children.items()
            if isinstance(child, JournalCorrupt) or child.status not in SETTLED
        ]:
            body = ENCODER.encode(
                InterruptBody(what="cancel", by=f"run:{self.run}", why="parent cancelled")
            )
            at = self.services.clock.now()
            close = tuple(
                NewMail(
                    run=child, kind=MailKind.INTERRUPT, key=f"close:{self.run}", body=body, at=at
                )
                for child in unsettled
            )
            await self.services.store.submit(Append(run=self.run, epoch=stored.epoch, writes=close))
            return Driven(status=stored.status)
        mail = (
            await self.services.store.mail(self.run)
            if self.held.refused is None
            else self.held.mail
        )
        book_ends(live, mail)
        book_cut_off(live)
        said = NoteBody(
            by=asked.by, action="cancel", why=asked.why, details=raw({"was": str(stored.status)})
        )
        note = live.write(RecordKind.NOTE, "cancel", said)
        for row in mail:
            if row.kind is MailKind.INTERRUPT:
                live.take(row, note.seq)
        settlement = Settlement(status=Status.CANCELLED, reason=asked.what)
        end = FlowEnd(settlement=settlement, told=stopped_text(Status.CANCELLED))
        await settle(live, end)
        return _settled(live, end)


def _settled(live: Pen, end: FlowEnd) -> Driven:
    return Driven(status=end.settlement.status, settled=live.settled(end.settlement))


def _began(stored: StoredRun) -> Started:
    """A run's first record, once the whole of its journal was checked."""
    check_whole(stored)
    if stored.key is None or stored.records[0].body is None:
        raise Erased(f"run {stored.id} was erased")
    try:
        return _STARTED.decode(stored.records[0].body)
    except msgspec.MsgspecError as error:
        raise JournalCorrupt(
            f"run {stored.id} began with what cannot be read: {error}", details={"seq": 0}
        ) from error


def _resumed_by(stored: StoredRun) -> str | None:
    """Who resumed the run, if nothing has happened to it since; None of one that nobody had to
    resume.
    """
    last = stored.records[-1]
    return (
        None
        if last.kind is not RecordKind.RESUMED or last.body is None
        else msgspec.json.decode(last.body, type=ResumedBody).by or None
    )


_STOPS: dict[type[OrdainError], Status] = {FlowUnavailable: Status.FLOW_UNAVAILABLE}


async def stop_unit(services: Services, held: Held, status: Status, reason: str) -> Append:
    """The unit that stops a run, with what its session is told of it; of a run that cannot be read,
    what its row says.
    """
    run, now, told = held.id, services.clock.now(), ()
    try:
        stored = await load_run(services.store, run)
    except JournalCorrupt as error:
        if error.place is None:
            raise
        told = unreadable_entry(run, error.place, status, now) if error.place.session else ()
        return Append(run=run, epoch=held.epoch, status=status, reason=reason, writes=told)
    if stored is None:
        raise JournalCorrupt(f"run {run} does not exist")
    if stored.session:
        whole = msgspec.structs.replace(stored, records=tuple(readable(stored.records)))
        told = stop_entry(whole, await stopped_facts(services, whole, status), status, now)
    return Append(run=run, epoch=held.epoch, status=status, reason=reason, writes=told)


async def stopped_facts(services: Services, stored: StoredRun, status: Status) -> HeaderFacts:
    """The header's facts of a turn of which a run has stopped: the turn's own, and what stopped."""
    own = services.headers.fold(stored).header(status, str(status))
    if stored.parent is None:
        return own
    root = await loaded(stored.root, services.store)
    if not isinstance(root, StoredRun):
        return own
    facts = await services.headers.so_far(root, msgspec.structs.replace(stored, status=status))
    stopped = HeaderLine(
        mark="fail", what=f"{own.flow} (run {stored.id}) {status}", reason=str(status)
    )
    return with_verdict(
        msgspec.structs.replace(
            facts, status=str(status), reason=str(status), lines=(*facts.lines, stopped)
        )
    )
