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
from ordain.errors import Conflict, LeaseLost, NotFound, StorageUnavailable, Transient, no_run
from ordain.flows.kind import Taken
from ordain.journal.folds import ending
from ordain.journal.records import (
    NULL,
    Record,
    RecordKind,
    Status,
    SuspendedBody,
    raw,
)
from ordain.ports.search import RunRow, Search
from ordain.ports.store import StoredRun, existing_run
from ordain.runtime.access import Access
from ordain.runtime.approvals import ApprovalDesk
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.configuration import ControlPlane
from ordain.runtime.continuation import Continuations, Placement
from ordain.runtime.conversation import Conversation
from ordain.runtime.grants import GrantDesk
from ordain.runtime.intake import Accepted, Intake
from ordain.runtime.library import Memory
from ordain.runtime.operating import OperatorDesk
from ordain.runtime.reloader import Reloader
from ordain.runtime.run_view import AT_REST, RunView, ending_of, viewed
from ordain.runtime.services import Services
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
    """Accept, wait, look; each desk has what else people do (``operators``, ``approvals``, …)."""

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
        self.operators = OperatorDesk(services, self.conversation, library, engine.wake)
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
        stored = await existing_run(self.services.store, run)
        if (end := ending(stored.records)) is None:
            return viewed(stored, await self.services.headers.so_far(stored))
        header, verdict = await self.services.headers.since(stored, end)
        return viewed(stored, end, header, verdict)

    def _view(self, stored: StoredRun) -> RunView:
        return viewed(stored, ending(stored.records) or self.services.headers.own(stored))

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

    async def check_after(self, workspace: str, session: str, after: int) -> None:
        """Whether a session's events can be told from entry ``after`` on. One that has not begun
        has none, and is waited for.

        Raises:
            Conflict: the session has fewer entries than that (``beyond_head``): whoever asks took
                them from another one.
        """
        head = await self.conversation.head(workspace, session)
        if after > head:
            raise Conflict(
                f"session {session} has {head} entries: there is nothing after entry {after}",
                code="beyond_head",
            )

    async def events(self, run: str, after: int = -1) -> AsyncIterator[Record]:
        """The run's records with seq greater than ``after``, as they become durable, until it comes
        to rest.
        """
        while True:
            # read before the records: what it calls settled is wholly there
            status = await self.search.status(run)
            if status is None:
                raise no_run(run)
            for record in await self.search.records(run, after):
                after = record.seq
                yield record
            if status in AT_REST:
                return
            try:
                await asyncio.wait_for(self._rested(run), EVENT_POLL_S)
            except TimeoutError:
                continue
