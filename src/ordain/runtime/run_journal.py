"""What a driven run puts on record: with its time, which is booked before whatever gives time to
the flow, and with its mail, of which a record takes each piece once.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.effects.results import Abandoned, AnyResult
from ordain.journal.records import (
    Body,
    DeliveredBody,
    NoteBody,
    ObservationBody,
    Record,
    RecordKind,
    ResumedBody,
    Status,
    SuspendedBody,
)
from ordain.ports.effects import Interrupted
from ordain.ports.leases import Held
from ordain.ports.store import Append, ClaimUnit, Mail, StoredRun
from ordain.ports.writes import ERASED_MAIL
from ordain.runtime.approval_wait import closing
from ordain.runtime.entries import answered
from ordain.runtime.flow_time import TIME_LOST, WAITED, FlowTime
from ordain.runtime.mail import InterruptBody
from ordain.runtime.mailbox import Mailbox, hand_over
from ordain.runtime.pen import Pen
from ordain.runtime.read_transcript import ReadTranscript
from ordain.runtime.recorded_form import result_form
from ordain.runtime.services import Services
from ordain.runtime.setup import RunSetup

_DECISION, _OBSERVATION = RecordKind.DECISION, RecordKind.OBSERVATION
_TELLS_TIME = frozenset(
    {RecordKind.INTENT, _OBSERVATION, RecordKind.DELIVERED, RecordKind.CHILD_ENDED}
)
"""Before these it is on record what was lost: the flow gets its time by them, or the effect its
moments. A claim's record is its transaction's.
"""


class RunJournal(Pen):
    """One run's journal while it is driven: a pen, the run's own time and its mailbox."""

    def __init__(
        self, services: Services, held: Held, setup: RunSetup, said: ReadTranscript
    ) -> None:
        """Continue after the stored records; the subject's key must still exist."""
        assert isinstance(held.run, StoredRun)
        super().__init__(services, held.run)
        self.setup, self.state = setup, setup.state(held.run.records[0].at, said)
        self.catalog = setup.catalog
        self._bodies[0] = setup.started  # read already
        self.mailbox = Mailbox(services, held.id, held.mail)
        self._attempts: dict[int, int] = {}
        self.approving: set[int] = set()
        self.time = FlowTime(services, held.run, self.state, self.scribe)
        self.time.also(held.lost)

    def write(self, kind: RecordKind, name: str, body: Body, *, at: int | None = None) -> Record:
        """See ``Pen.write``; what was lost until then is put on record before."""
        moment = self.services.clock.now() if at is None else at
        if kind in _TELLS_TIME:
            self._book_lost(moment, moment if at is None else None)
        record = super().write(kind, name, body, at=moment)
        self.time.wrote(record, body)
        return record

    def decision(self, name: str, body: Body) -> None:
        """As ``write``. Decisions say nothing of time, and most records are some."""
        super().write(_DECISION, name, body)

    def book_lost(self) -> None:
        """Put on record what of the run's time was lost until now."""
        self._book_lost(now := self.services.clock.now(), now)

    def _book_lost(self, until: int, now: int | None) -> None:
        moment = max(self.scribe.at, until)
        if lost_us := self.time.unbooked(moment, now):
            why = WAITED if self.time.still else TIME_LOST
            body = ResumedBody(by="", why=why, lost_us=lost_us)
            self.write(RecordKind.RESUMED, "lost", body, at=moment)
            self.state.lost_us += lost_us

    async def refused(self, unit: Append | ClaimUnit) -> None:
        """Whoever holds the run now is told what became of its calls."""
        await hand_over(self.services, self.stored, unit, self._attempts)

    def mark(self) -> tuple[Any, ...]:
        """Where the run stands, to go back to if what follows is refused."""
        return (
            (self.scribe.mark(), len(self._writes)),
            self.time.mark(),
            (self.state.handed_at, self.state.flow_at, self.state.lost_us),
        )

    async def unless_mail(self, mark: tuple[Any, ...], unit: Append) -> bool:
        """Commit a unit with what was written since the mark; where mail was faster it was never
        written, and this is False. What stood before the mark waits for the next barrier then.
        """
        if await self.offer(unit):
            return True
        (chain, writes), time, (self.state.handed_at, self.state.flow_at, self.state.lost_us) = mark
        self.take_back(chain)
        before = tuple(record for record in unit.records if record.seq <= self.scribe.seq)
        self.give_back(msgspec.structs.replace(unit, records=before, writes=unit.writes[:writes]))
        self.time.back_to(time)
        return False

    async def waits(
        self, addr: int, wake_at: int | None, waits_for: str, *, deaf: bool = False
    ) -> bool:
        """Put on record that the run waits, in one unit with what is not durable yet; False where
        mail was faster.
        """
        begins = any(record.kind is RecordKind.INTENT for record in self._unwritten)
        mark = self.mark()
        body = SuspendedBody(addr=addr, waits_for=waits_for, wake_at=wake_at)
        self.write(RecordKind.SUSPENDED, "wait", body)
        unit = self.unit(status=Status.WAITING, wake_at=wake_at, suspend=addr, deaf=deaf)
        waits = await self.unless_mail(mark, unit)
        if waits and begins:
            self.stepped()
        return waits

    def stepped(self) -> None:
        """Whoever follows the run's turn is told that more of it is durable."""
        if self.stored.session:
            self.services.streams.stepped(self.stored)

    def observe(
        self,
        addr: int,
        name: str,
        result: AnyResult,
        *,
        at: int | None = None,
        mail: Mail | None = None,
    ) -> Any:
        """Record what became of an effect and hand it to the flow, read back from the record: live
        and replay see one value.
        """
        return self._record(addr, name, result_form(result), at=at, mail=mail)

    def _record(
        self,
        addr: int,
        name: str,
        form: tuple[msgspec.Raw, AnyResult],
        *,
        at: int | None = None,
        mail: Mail | None = None,
    ) -> Any:
        current = self.services.catalogs.current.digest
        under = "" if current == self.catalog.digest else current
        body = ObservationBody(
            addr=addr, result=form[0], catalog=under, mail=0 if mail is None else mail.id
        )
        record = self.write(_OBSERVATION, name, body, at=at)
        if name == "wait" and self.stored.session:
            self.beside(answered(self.stored, addr, record.at))
        if addr in self.approving:
            self.beside(*closing(self.stored, addr, form[1], record.at))
        if mail is not None:
            self.take(mail, record.seq)
        self.state.handed(record)
        return self.state.remember(form[1], record.seq)

    def interrupt(self) -> Mail | None:
        """An interrupt that no record has taken yet."""
        found = self.mailbox.interrupts
        return found[0] if found else None

    def deliver(self, mail: Mail, addr: int) -> Interrupted:
        """Record that an interrupt has reached the flow; from here on effects are masked."""
        said = msgspec.json.decode(mail.body, type=InterruptBody)
        body = DeliveredBody(addr=addr, mail=mail.id, what=said.what, by=said.by, why=said.why)
        record = self.write(RecordKind.DELIVERED, said.what, body)
        for row in self.mailbox.interrupts:
            self.take(row, record.seq)
            if row.id != mail.id:
                also = msgspec.json.decode(row.body, type=InterruptBody)
                self.write(
                    RecordKind.NOTE, also.what, NoteBody(by=also.by, action=also.what, why=also.why)
                )
        self.mailbox.interrupts = []
        self.state.handed(record)
        self.state.masked = True
        return Interrupted(said.what, said.by, said.why)

    async def note_stops(self) -> bool:
        """Put on record, durably, who has asked the run to stop since its flow was over; whether
        anybody had.
        """
        await self.mailbox.look()
        stops = [mail for mail in self.mailbox.interrupts if mail.body != ERASED_MAIL]
        for mail in stops:
            said = msgspec.json.decode(mail.body, type=InterruptBody)
            note = NoteBody(by=said.by, action=said.what, why=said.why)
            self.take(mail, self.write(RecordKind.NOTE, said.what, note).seq)
        await self.barrier()
        return bool(stops)

    def abandon(self, addr: int, name: str, mail: Mail) -> Interrupted:
        """Give up the effect in flight for an interrupt; both records stand in one commit."""
        self.observe(addr, name, Abandoned())
        interrupted = self.deliver(mail, addr)
        interrupted.in_flight = True
        return interrupted
