"""The runtime's door: everything a face may do, and the only thing it may import."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct
from pydantic import BaseModel

from ordain.contracts.access import Principal
from ordain.contracts.catalog import Catalog
from ordain.contracts.conversation import Message
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.text_links import as_field, linked, texts_of
from ordain.contracts.visible import visible_value
from ordain.errors import Conflict, LeaseLost, NotFound, RunLost, StorageUnavailable, Transient
from ordain.flows.kind import Taken
from ordain.journal.codec import Scribe
from ordain.journal.folds import ending
from ordain.journal.records import (
    ENCODER,
    NULL,
    STOPPED,
    NoteBody,
    Record,
    RecordKind,
    ResumedBody,
    Status,
    SuspendedBody,
    raw,
)
from ordain.ports.search import RunRow, Search
from ordain.ports.sessions import ERASED_SESSION
from ordain.ports.store import Append, Operation, StoredRun, load_run
from ordain.ports.upkeep import BegunErasures
from ordain.ports.writes import MailKind, NewMail, PlaceTakenBack
from ordain.rules.header import HeaderLine
from ordain.runtime.access import Access
from ordain.runtime.answers import answered
from ordain.runtime.approvals import ApprovalDesk
from ordain.runtime.configuration import ControlPlane
from ordain.runtime.continuation import Continuations, Placement
from ordain.runtime.conversation import Acknowledged, Conversation
from ordain.runtime.grants import GrantDesk
from ordain.runtime.headers import loaded
from ordain.runtime.intake import Accepted, Intake
from ordain.runtime.library import Memory
from ordain.runtime.mail import AnswerBody, InterruptBody, posted
from ordain.runtime.reloader import Reloader
from ordain.runtime.resolution import ResolveWord, resolution
from ordain.runtime.run_view import AT_REST, RunView, ending_of, viewed
from ordain.runtime.services import Services
from ordain.runtime.upkeep import carried_out, destroyed
from ordain.runtime.waiters import Waiters

__all__ = [
    "AT_REST",
    "NULL",
    "Engine",
    "Record",
    "RecordKind",
    "RunRow",
    "RunView",
    "Runtime",
    "Status",
    "StoredRun",
]

EVENT_POLL_S = 0.5


class Checks(Struct, frozen=True, kw_only=True):
    """Whether work can be taken and kept; ``reason`` says why the storage takes nothing, "" where
    it does.
    """

    accepting: bool
    lease: bool
    storage: bool
    reason: str = ""

    @property
    def hold(self) -> bool:
        """Whether all of them do."""
        return self.accepting and self.lease and self.storage

    @property
    def by_name(self) -> dict[str, bool]:
        """Each of them."""
        return {"accepting": self.accepting, "lease": self.lease, "storage": self.storage}


class Engine(Protocol):
    """What the door needs of whatever wakes runs."""

    accepting: bool

    @property
    def waiters(self) -> Waiters:
        """Whom it tells of every run that came to rest."""
        ...

    @property
    def driving(self) -> int:
        """Runs driven now."""
        ...

    def holds(self, run: str) -> bool:
        """Whether the run is being driven or about to be."""
        ...

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        """Drive a run as soon as there is a place."""
        ...

    def hurry(self, run: str) -> None:
        """Drive a run that waits for a place at once."""
        ...


class Runtime:
    """Accept, wait, look, operate."""

    def __init__(
        self,
        services: Services,
        search: Search,
        *,
        engine: Engine,
        library: Memory,
        reloader: Reloader | None = None,
        commits: Callable[[], int] = lambda: 0,
    ) -> None:
        """``reloader`` is None where nothing is taken up; ``commits`` counts the storage's
        transactions.
        """
        self.services = services
        self.search, self.engine, self.library = search, engine, library
        self.reloader = reloader
        self.commits = commits
        self.conversation, self.continuation = (
            Conversation(services, library),
            Continuations(services, search),
        )
        self.access = Access(services)
        self.control = ControlPlane(services.configuration, services.store, services.clock)
        self.approvals = ApprovalDesk(services)
        self.grants = GrantDesk(services)
        self._intake = Intake(services)

    # --- requests ---------------------------------------------------------------------------------

    async def accept(
        self,
        request: BaseModel,
        principal: Principal | str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        waits: bool = False,
    ) -> Accepted:
        """Accept a request of any contract that a kind answers (PLN-06, VRB-02); ``waits`` and
        raises as ``Intake.of_request``.
        """
        self._check_open()
        return await self._intake.of_request(request, principal, workspace, waits=waits)

    async def open(
        self,
        kind: str,
        given: Struct | Raw,
        principal: Principal | str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        waits: bool = False,
    ) -> Accepted:
        """Open a root run of a kind by its name, with its input; ``waits`` as in ``accept``, raises
        as ``Intake.open``.

        Raises:
            NotFound: this build has no such kind.
        """
        self._check_open()
        found = self.services.kinds.newest.get(kind)
        if found is None:
            raise NotFound(f"this build has no kind {kind}", code="unknown_kind")
        taken = Taken(
            input=given if isinstance(given, Raw) else raw(given), request_id=None, digest=""
        )
        return await self._intake.open(
            found, taken, self.services.clock.new_run_id(), (principal, workspace), waits=waits
        )

    async def receive(
        self,
        message: Message,
        by: Principal | str,
        workspace: str = DEFAULT_WORKSPACE,
        *,
        source: str = "",
        place: Placement | None = None,
    ) -> Acknowledged:
        """Accept a message of a conversation (ING-01) that came by ``source``, and to the session
        ``place`` if it brings its whole conversation; raises as ``Conversation.receive``.
        """
        self._check_open()
        acknowledged = await self.conversation.receive(
            message, workspace=workspace, principal=by, source=source, place=place
        )
        if acknowledged.tells:
            self.engine.hurry(acknowledged.tells)
        return acknowledged

    def _check_open(self) -> None:
        if not self.engine.accepting:
            raise Transient(
                "this server stops or has lost its storage; nothing new is accepted",
                code="stopping",
            )

    async def wait(self, run: str) -> RunView:
        """Wait until the run settles or stops, or one that it waits for stops; the caller may give
        up at any time, the run goes on.
        """
        if not self.engine.holds(run) and await self.search.stopped_below(run):
            return await self.view(run)
        return await self._rested(run)

    async def _rested(self, run: str) -> RunView:
        with self.engine.waiters.waiting(run) as rest:
            if not self.engine.holds(run):
                view = await self.view(run)
                if view.at_rest:
                    return view
            rested = await rest
            if isinstance(rested, StoredRun):
                return self._view(rested)
            if rested is Status.RUNNING and not self.engine.accepting:
                # released: the store may be closed already
                raise Transient(
                    f"the engine stopped; run {run} goes on with the next one", code="stopping"
                )
            view = await self.view(run)
            if not view.at_rest and not self.engine.accepting:
                raise Transient(
                    f"the engine stopped; run {run} goes on with the next one", code="stopping"
                )
            return view

    def release(self) -> None:
        """The engine is gone: nobody who waits here will hear of an end."""
        self.engine.waiters.release()
        self.services.streams.close()

    # --- looking ----------------------------------------------------------------------------------

    async def view(self, run: str) -> RunView:
        """The run as durable now, with what the runs have done that it waits for.

        Raises:
            NotFound: no such run.
        """
        stored = await self._load(run)
        if (end := ending(stored.records)) is None:
            return viewed(stored, await self.services.headers.so_far(stored))
        header, verdict = await self.services.headers.since(stored, end)
        return viewed(stored, end, header, verdict)

    def _view(self, stored: StoredRun) -> RunView:
        return viewed(stored, ending(stored.records) or self.services.headers.own(stored))

    async def _load(self, run: str) -> StoredRun:
        stored = await load_run(self.services.store, run)
        if stored is None:
            raise NotFound(f"there is no run {run}", code="run_not_found")
        return stored

    def response(
        self,
        view: RunView,
        contract: type[BaseModel] | None = None,
        raw: Mapping[str, str] | None = None,
    ) -> Any:
        """What a caller from outside is answered, as the run's kind answers (``raw``: with what
        verbs replied); of other kinds the result, or None.

        Beside it stand the addresses in what models say in it, and in what its header quotes of
        them (``links``): here, where it leaves, and in no record.

        Raises:
            Conflict: the run is not of the kind that answers ``contract``.
        """
        kinds, stored = self.services.kinds, view.stored
        kind = kinds.get(stored.flow, stored.flow_version)
        if contract is not None and (
            kind is None or kind.wire is None or kind.wire.contract is not contract
        ):
            wanted = kinds.answering(contract).wire
            raise Conflict(
                f"run {stored.id} is a {stored.flow} run",
                code="" if wanted is None else wanted.other,
            )
        if kind is None or kind.wire is None:
            return None if view.result == NULL else linked(view.result)
        told = kind.wire.response(ending_of(view, raw, self.catalog))
        said = texts_of([*(told[part] for part in kind.wire.said), told.get("header")])
        return visible_value({**told, **as_field(said)}, kind.wire.exact)

    @property
    def catalog(self) -> Catalog:
        """What new runs begin under."""
        return self.services.catalogs.current

    def waiting_at(self, view: RunView) -> int | None:
        """The number of the effect that the run waits at, where it waits."""
        last = view.stored.records[-1]
        if (
            view.stored.status is not Status.WAITING
            or last.kind is not RecordKind.SUSPENDED
            or last.body is None
        ):
            return None
        return msgspec.json.decode(last.body, type=SuspendedBody).addr

    def unknown_effects(self, view: RunView) -> Sequence[int]:
        """The numbers of the effects whose outcome nobody knows: neither the journal nor a person
        has said it.
        """
        return self.services.headers.fold(view.stored).unresolved

    async def checks(self) -> Checks:
        """Whether the engine accepts runs, the lease is held and the storage takes what is written,
        and why not.
        """
        lease, reason = True, ""
        try:
            await self.services.upkeep.probe()
        except LeaseLost:
            lease = False
        except StorageUnavailable as error:
            reason = error.message
        return Checks(
            accepting=self.engine.accepting, lease=lease, storage=not reason, reason=reason
        )

    async def runs(
        self,
        *,
        statuses: Sequence[str] = (),
        roots_only: bool = True,
        limit: int = 50,
        before: str | None = None,
        workspace: str | None = None,
        named: str = "",
    ) -> Sequence[RunRow]:
        """Runs, newest first, of one workspace or (None) of all; see ``RunSearch.runs`` for the
        others.
        """
        asked = self.search.runs
        return await asked(
            statuses=statuses,
            roots_only=roots_only,
            limit=limit,
            before=before,
            workspace=workspace,
            named=named,
        )

    async def events(self, run: str, after: int = -1) -> AsyncIterator[Record]:
        """The run's records with seq greater than ``after``, as they become durable, until it comes
        to rest.
        """
        while True:
            # read before the records: what it calls settled is wholly there
            status = await self.search.status(run)
            if status is None:
                raise NotFound(f"there is no run {run}", code="run_not_found")
            for record in await self.search.records(run, after):
                after = record.seq
                yield record
            if status in AT_REST:
                return
            try:
                await asyncio.wait_for(self._rested(run), EVENT_POLL_S)
            except TimeoutError:
                continue

    # --- operating --------------------------------------------------------------------------------

    async def cancel(self, run: str, *, by: str, why: str) -> str:
        """Interrupt a run; returns ``sent``, ``already_asked`` or ``settled``. A stopped run is
        settled as cancelled by being driven.
        """
        body = ENCODER.encode(InterruptBody(what="cancel", by=by, why=why))
        stored = await self._load(run)
        now = self.services.clock.now()
        mail = NewMail(run=run, kind=MailKind.INTERRUPT, key=f"cancel:{by}", body=body, at=now)
        outcome = await self.services.store.submit(posted(stored.workspace, mail))
        if stored.status in STOPPED:
            self.engine.wake(run, by)
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
            self.services, await self._load(run), addr, AnswerBody(value=value, by=by)
        )

    async def resume(self, run: str, *, by: str) -> None:
        """Drive a stopped run again, after the fix; a turn takes its place in its thread again.

        Raises:
            Conflict: the run is not stopped, was erased, or another turn of its thread is going on
                (``thread_taken``).
        """
        stored = await self._load(run)
        if stored.status not in STOPPED:
            raise Conflict(f"run {run} is {stored.status}, not stopped", code="not_stopped")
        if stored.key is None:
            raise Conflict(f"run {run} was erased: there is nothing to go on from", code="erased")
        now, last = self.services.clock.now(), stored.records[-1].at
        # nobody worked on it while it was stopped
        body = ResumedBody(by=by, why=stored.reason, lost_us=max(0, now - last))
        record = self._scribe(stored).write(RecordKind.RESUMED, "resumed", body, now)
        place = (PlaceTakenBack(run=stored.root),) if stored.session else ()
        unit = Append(
            run=run, epoch=stored.epoch, records=(record,), status=Status.READY, writes=place
        )
        try:
            # one commit: whatever happens in between, a run that is to go on says who asked for it,
            # and a turn has its place
            outcome = await self.services.store.submit(unit)
        except RunLost:
            raise Conflict(
                f"run {run} has been resumed by somebody else", code="not_stopped"
            ) from None
        if outcome.refused:
            raise Conflict(
                "another turn of its thread is going on: wait until that has ended",
                code=outcome.refused,
            )
        self.engine.wake(run)

    async def resolve(self, run: str, word: ResolveWord) -> None:
        """Say what became of an effect with unknown outcome; the run's own record of it stays.
        ``Conflict`` as ``resolution`` has it.
        """
        stored = await self._load(run)
        if stored.status not in AT_REST:
            raise Conflict(
                f"run {run} is {stored.status}: only its engine may write to it now",
                code="not_at_rest",
            )
        if (note := resolution(self.services.headers.fold(stored), run, word)) is None:
            return
        record = self._scribe(stored).write(
            RecordKind.NOTE, note.action, note, self.services.clock.now()
        )
        await self.services.store.submit(Append(run=run, epoch=stored.epoch, records=(record,)))

    async def erase(self, run: str, *, by: str, why: str) -> int:
        """Destroy the content of the run's subject; returns how many records were emptied.

        Once that is committed nobody reads any of it. What the library deletes after it is deleted
        when this returns, else by erasing again, or at a start.

        Raises:
            Conflict: a run of the subject is still unsettled.
        """
        stored = await loaded(run, self.services.store)
        if stored is None:
            raise NotFound(f"there is no run {run}", code="run_not_found")
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
        row = await self.conversation.session(workspace, session)
        if row.key is None and row.id.startswith(ERASED_SESSION):
            return await self._again()
        stored = await self.conversation.readable_run(workspace, session)
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
        at = self.services.clock.now()
        unit = operation = Operation(name="erase", args={**named, "at": at})
        if isinstance(stored, StoredRun) and stored.status in AT_REST:
            record = self._scribe(stored).write(RecordKind.NOTE, note.action, note, at)
            unit = Append(run=stored.id, epoch=stored.epoch, records=(record,), operation=operation)
        outcome = await self.services.store.submit(unit)
        if outcome.refused:
            raise Conflict(
                f"{what} is not at rest: cancel or answer what is open first", code=outcome.refused
            )
        return await self._cleared(
            outcome.count + await destroyed(self.services.upkeep, outcome.seq)
        )

    async def _again(self) -> int:
        """What is erased already; what was cut off is ended."""
        await carried_out(self.services.upkeep, BegunErasures())
        return await self._cleared(0)

    async def _cleared(self, erased: int) -> int:
        await self.library.clear()
        return erased

    @staticmethod
    def _scribe(stored: StoredRun) -> Scribe:
        return Scribe(stored.id, stored.key or b"", stored.records[-1])
