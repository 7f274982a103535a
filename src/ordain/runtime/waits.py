"""Waits, as a driver carries them: what is written with the intent where a person is asked, and
what ends them: mail, an interrupt, their moment.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from ordain.contracts.catalog import Catalog
from ordain.effects.effect import Wait
from ordain.effects.results import Answered, AnyResult, Expired, withdrawn_wait
from ordain.journal.codec import Scribe
from ordain.journal.digests import approval_id
from ordain.journal.records import Body, NoteBody, Record, RecordKind
from ordain.ports.approvals import NewApproval
from ordain.ports.effects import Interrupted
from ordain.ports.store import Append, Mail, StoredRun
from ordain.ports.verb import Withdrawing
from ordain.ports.writes import MailKind, Write
from ordain.runtime.approval_wait import asked_entry, asking, heard, not_asked, not_begun
from ordain.runtime.asking_run import asked_before_anywhere
from ordain.runtime.entries import question
from ordain.runtime.flow_time import PERSONS, FlowTime
from ordain.runtime.mail import AnswerBody
from ordain.runtime.run_state import RunState
from ordain.runtime.services import Services


class Waiting(Protocol):
    """The live run that waits. ``approving`` are the effects at which it asks an approver,
    ``within`` says why the verb that it carries out may not go on.
    """

    id: str
    services: Services
    stored: StoredRun
    catalog: Catalog
    state: RunState
    records: list[Record]
    scribe: Scribe
    time: FlowTime
    approving: set[int]
    within: Withdrawing

    def beside(self, *writes: Write) -> None:
        """Write this in the same commit as the records around it."""
        ...

    def observe(
        self,
        addr: int,
        name: str,
        result: AnyResult,
        *,
        at: int | None = None,
        mail: Mail | None = None,
    ) -> Any:
        """Record what became of an effect."""
        ...

    async def look(self) -> list[Mail]:
        """All untaken mail."""
        ...

    def interrupt(self) -> Mail | None:
        """An interrupt that no record has taken."""
        ...

    def write(self, kind: RecordKind, name: str, body: Body) -> Record:
        """The next record."""
        ...

    def take(self, mail: Mail, seq: int) -> None:
        """Mark mail as taken by a record."""
        ...

    def abandon(self, addr: int, name: str, mail: Mail) -> Interrupted:
        """Give up the effect in flight for an interrupt."""
        ...

    async def barrier(self) -> None:
        """Make everything written so far durable."""
        ...

    def mark(self) -> tuple[Any, ...]:
        """Where the run stands."""
        ...

    def unit(self, *, suspend: int | None = None) -> Append:
        """Everything collected, as one unit."""
        ...

    async def unless_mail(self, mark: tuple[Any, ...], unit: Append) -> bool:
        """Commit a unit; where mail was faster it was never written."""
        ...

    def book_lost(self) -> None:
        """Put on record what was lost."""
        ...

    async def suspend(
        self, addr: int, wake_at: int | None, waits_for: str, *, deaf: bool = False
    ) -> None:
        """Wait; returns where mail is there already."""
        ...


async def ask(run: Waiting, addr: int, wait: Wait) -> str | None:
    """Write what stands or falls with a question or an approval; why nobody is asked, where what
    waits may not go on any more.
    """
    if wait.approval is not None:
        if (
            why := await run.within()
            or await not_asked(run.services, run.stored, run.catalog, wait.approval)
        ) is not None:
            return why
        run.beside(row := _asking(run, addr, wait))
        if run.stored.session:
            stands = msgspec.structs.replace(run.stored, records=tuple(run.records))
            before = await asked_before_anywhere(
                run.services.store,
                stands,
                addr,
                wait.approval.calls,
                run.services.looking(),
            )
            run.beside(asked_entry(run.stored, wait, run.catalog, row, before))
    elif wait.question is not None and run.stored.session:
        if (why := await run.within()) is not None:
            return why
        until = wait.deadline + run.state.lost_us  # who may answer goes by the wall clock
        run.beside(
            *question(
                run.stored, addr, msgspec.structs.replace(wait, deadline=until), run.scribe.at
            )
        )
    return None


def _asking(run: Waiting, addr: int, wait: Wait) -> NewApproval:
    run.approving.add(addr)
    return asking(run.stored, addr, wait, run.scribe.at, wait.deadline + run.state.lost_us)


async def carry_wait(run: Waiting, addr: int, wait: Wait, *, again: bool) -> Any:
    """Wait until mail, an interrupt or its moment ends it; ``again``: its intent stands on record
    already.
    """
    asks_again = _asking(run, addr, wait) if again and wait.approval is not None else None
    run.time.still = wait.what in PERSONS
    wanted = MailKind.ANSWER if wait.approval is None else MailKind.APPROVAL
    while True:
        mail = await run.look()
        if (interrupt := run.interrupt()) is not None:
            raise run.abandon(addr, "wait", interrupt)
        if (
            answer := next((row for row in mail if row.kind is wanted and row.addr == addr), None)
        ) is not None:
            return run.observe(addr, "wait", await _said(run, addr, wait, answer), mail=answer)
        for row in mail:
            if row.kind is MailKind.ANSWER and row.addr == addr:
                _pass_over(run, row)
        if asks_again is not None:
            # where the run had stopped it was withdrawn; what an approver ended stays so
            run.beside(asks_again)
            asks_again = None
        until = run.time.until(wait)
        if run.services.clock.now() >= until:
            await run.barrier()
            mark = run.mark()
            expired = run.observe(addr, "wait", Expired(), at=run.time.expired_at(wait))
            if await run.unless_mail(mark, run.unit(suspend=addr)):
                return expired
            continue
        if not run.time.still:
            run.book_lost()
        await run.suspend(addr, until, wait.what)


def _pass_over(run: Waiting, mail: Mail) -> None:
    """An answer that was sent before the run came to wait for an approver there: it is none of
    theirs, and would keep the run from waiting.
    """
    said = msgspec.json.decode(mail.body, type=AnswerBody)
    note = NoteBody(
        by=said.by, action="answer", why="it waits for an approver, and no answer is one"
    )
    run.take(mail, run.write(RecordKind.NOTE, "answer", note).seq)


async def _said(run: Waiting, addr: int, wait: Wait, mail: Mail) -> AnyResult:
    if wait.approval is not None:
        result = heard(approval_id(run.id, addr), mail.body)
        why = await not_begun(run.services, run.stored, run.catalog, wait.approval, result)
        return result if why is None else withdrawn_wait(why)
    said = msgspec.json.decode(mail.body, type=AnswerBody)
    return Answered(value=said.value, by=said.by)
