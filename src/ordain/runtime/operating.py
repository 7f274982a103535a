"""What an operator does to a run or a session: interrupt it, answer or resume it, say what became
of an effect, erase it.
"""

from __future__ import annotations

from typing import Protocol

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import Conflict, RunLost, no_run
from ordain.journal.codec import Scribe
from ordain.journal.records import ENCODER, STOPPED, NoteBody, RecordKind, ResumedBody, Status
from ordain.ports.sessions import ERASED_SESSION
from ordain.ports.store import Append, Operation, StoredRun, existing_run
from ordain.ports.upkeep import BegunErasures
from ordain.ports.writes import MailKind, NewMail, PlaceTakenBack
from ordain.rules.header import HeaderLine
from ordain.runtime.answers import answered
from ordain.runtime.conversation import Conversation
from ordain.runtime.headers import loaded
from ordain.runtime.library import Memory
from ordain.runtime.mail import AnswerBody, InterruptBody, posted
from ordain.runtime.resolution import ResolveWord, resolution
from ordain.runtime.run_view import AT_REST
from ordain.runtime.services import Services
from ordain.runtime.upkeep import carried_out, destroyed


class Wakes(Protocol):
    """Has a run driven as soon as there is a place; says who resumed it where somebody did."""

    def __call__(self, run: str, resumed_by: str | None = None) -> None:
        """Wake it."""
        ...


class OperatorDesk:
    """Where operators' words are taken; each names who says it and why."""

    def __init__(
        self, services: Services, conversation: Conversation, library: Memory, wake: Wakes
    ) -> None:
        """``wake`` is the engine's."""
        self._services, self._conversation = services, conversation
        self._library, self._wake = library, wake

    async def cancel(self, run: str, *, by: str, why: str) -> str:
        """Interrupt a run; returns ``sent``, ``already_asked`` or ``settled``. A stopped run is
        settled as cancelled by being driven.
        """
        body = ENCODER.encode(InterruptBody(what="cancel", by=by, why=why))
        stored = await existing_run(self._services.store, run)
        now = self._services.clock.now()
        mail = NewMail(run=run, kind=MailKind.INTERRUPT, key=f"cancel:{by}", body=body, at=now)
        outcome = await self._services.store.submit(posted(stored.workspace, mail))
        if stored.status in STOPPED:
            self._wake(run, by)
        return {"": "sent", "duplicate": "already_asked"}.get(outcome.refused, outcome.refused)

    async def answer(self, run: str, addr: int, value: object, *, by: str) -> str:
        """Answer a wait; the first answer counts. Returns ``sent``, ``asked_again``, ``duplicate``
        or ``settled``.

        Raises:
            Conflict: it waits for an approver (``approval_required``), who decides by the
                approval's id.
            InvalidRequest: it is no answer to what is asked (``answer_unfit``).
        """
        return await answered(
            self._services,
            await existing_run(self._services.store, run),
            addr,
            AnswerBody(value=value, by=by),
        )

    async def resume(self, run: str, *, by: str) -> None:
        """Drive a stopped run again, after the fix; a turn takes its place in its thread again.

        Raises:
            Conflict: the run is not stopped, was erased, or another turn of its thread is going on
                (``thread_taken``).
        """
        stored = await existing_run(self._services.store, run)
        if stored.status not in STOPPED:
            raise Conflict(f"run {run} is {stored.status}, not stopped", code="not_stopped")
        if stored.key is None:
            raise Conflict(f"run {run} was erased: there is nothing to go on from", code="erased")
        now, last = self._services.clock.now(), stored.records[-1].at
        # nobody worked on it while it was stopped
        body = ResumedBody(by=by, why=stored.reason, lost_us=max(0, now - last))
        record = _scribe(stored).write(RecordKind.RESUMED, "resumed", body, now)
        place = (PlaceTakenBack(run=stored.root),) if stored.session else ()
        unit = Append(
            run=run, epoch=stored.epoch, records=(record,), status=Status.READY, writes=place
        )
        try:
            # one commit: whatever happens in between, a run that is to go on says who asked for it,
            # and a turn has its place
            outcome = await self._services.store.submit(unit)
        except RunLost:
            raise Conflict(
                f"run {run} has been resumed by somebody else", code="not_stopped"
            ) from None
        if outcome.refused:
            raise Conflict(
                "another turn of its thread is going on: wait until that has ended",
                code=outcome.refused,
            )
        self._wake(run)

    async def resolve(self, run: str, word: ResolveWord) -> None:
        """Say what became of an effect with unknown outcome; the run's own record of it stays.
        ``Conflict`` as ``resolution`` has it.
        """
        stored = await existing_run(self._services.store, run)
        if stored.status not in AT_REST:
            raise Conflict(
                f"run {run} is {stored.status}: only its engine may write to it now",
                code="not_at_rest",
            )
        if (note := resolution(self._services.headers.fold(stored), run, word)) is None:
            return
        record = _scribe(stored).write(
            RecordKind.NOTE, note.action, note, self._services.clock.now()
        )
        await self._services.store.submit(Append(run=run, epoch=stored.epoch, records=(record,)))

    async def erase(self, run: str, *, by: str, why: str) -> int:
        """Destroy the content of the run's subject; returns how many records were emptied.

        Once that is committed nobody reads any of it. What the library deletes after it is deleted
        when this returns, else by erasing again, or at a start.

        Raises:
            Conflict: a run of the subject is still unsettled.
        """
        stored = await loaded(run, self._services.store)
        if stored is None:
            raise no_run(run)
        if isinstance(stored, StoredRun) and stored.key is None:
            return await self._again()
        return await self._erased(
            {"run": run}, stored, f"run {run}", NoteBody(by=by, action="erase", why=why)
        )

    async def erase_session(
        self, session: str, *, by: str, why: str, workspace: str = DEFAULT_WORKSPACE
    ) -> int:
        """Destroy the content of a session, its turns' included, as ``erase`` does; returns how
        many records and entries were emptied.

        Raises:
            NotFound: no such session in this workspace.
            Conflict: a turn of it is still unsettled (``not_at_rest``).
        """
        row = await self._conversation.session(workspace, session)
        if row.key is None and row.id.startswith(ERASED_SESSION):
            return await self._again()
        stored = await self._conversation.readable_run(workspace, session)
        note = NoteBody(by=by, action="erase", why=why)
        return await self._erased(
            {"workspace": workspace, "session": session}, stored, f"session {session}", note
        )

    async def _erased(
        self,
        named: dict[str, str],
        stored: StoredRun | HeaderLine | None,
        what: str,
        note: NoteBody,
    ) -> int:
        """Erase what is named; the note hangs on a run that rests and can be read, where there is
        one.
        """
        at = self._services.clock.now()
        unit = operation = Operation(name="erase", args={**named, "at": at})
        if isinstance(stored, StoredRun) and stored.status in AT_REST:
            record = _scribe(stored).write(RecordKind.NOTE, note.action, note, at)
            unit = Append(run=stored.id, epoch=stored.epoch, records=(record,), operation=operation)
        outcome = await self._services.store.submit(unit)
        if outcome.refused:
            raise Conflict(
                f"{what} is not at rest: cancel or answer what is open first", code=outcome.refused
            )
        return await self._cleared(
            outcome.count + await destroyed(self._services.upkeep, outcome.seq)
        )

    async def _again(self) -> int:
        """What is erased already; what was cut off is ended."""
        await carried_out(self._services.upkeep, BegunErasures())
        return await self._cleared(0)

    async def _cleared(self, erased: int) -> int:
        await self._library.clear()
        return erased


def _scribe(stored: StoredRun) -> Scribe:
    return Scribe(stored.id, stored.key or b"", stored.records[-1])
