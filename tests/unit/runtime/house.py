"""A house in memory for the runtime's unit tests: the real store and verb executor, a clock that is
set by hand, and no engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import msgspec
import pytest

from ordain.contracts.catalog import Catalog
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.verbs import VerbSpec
from ordain.errors import JournalCorrupt
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.codec import decode
from ordain.journal.records import Body, RecordKind, Status, raw
from ordain.ports.leases import Held
from ordain.ports.model import ModelPort
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Append, Arrive, StoredRun
from ordain.ports.writes import KeptCatalogs, MailKind, NewMail
from ordain.runtime.drive import Drive, Driven
from ordain.runtime.headers import Headers
from ordain.runtime.mail import AnswerBody, InterruptBody, posted
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.readers import header_so_far, readers
from ordain.runtime.services import Catalogs, Services
from ordain.runtime.setup import RunSetup
from ordain.runtime.streams import Streams
from ordain.store.access import SqliteTokens
from ordain.store.approvals import SqliteApprovals
from ordain.store.configuration import SqliteConfiguration
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import SqliteUpkeep
from ordain.testing import catalog_of
from ordain.verbs.executor import LeafExecutor
from ordain.verbs.functions import FunctionVerb
from ordain.verbs.registry import Registry

SECOND = 1_000_000
HOUR = 3600 * SECOND
BEGAN = 20_000 * 24 * HOUR
KEY = b"\x07" * 32


class HandClock:
    """Implements ``Clock``: time passes when a test says so, and ids and keys follow from how many
    there were.
    """

    def __init__(self) -> None:
        self.at, self.made = BEGAN, 0

    def now(self) -> int:
        return self.at

    def pass_s(self, seconds: float) -> None:
        self.at += int(seconds * SECOND)

    def new_key(self) -> bytes:
        self.made += 1
        return sha256(self.made.to_bytes(8, "big")).digest()

    def new_run_id(self) -> str:
        self.made += 1
        return f"{self.made:032x}"


class House:
    """These kinds and verbs over a store in memory; nothing is driven unless a test drives it.
    Belongs to one event loop.
    """

    def __init__(
        self,
        *kinds: Kind[Any, Any],
        verbs: Iterable[FunctionVerb[..., Any]] = (),
        composites: Iterable[VerbSpec] = (),
        models: Mapping[str, ModelPort] | None = None,
    ) -> None:
        functions = list(verbs)
        self.clock, self.kinds = HandClock(), Kinds(kinds)
        self.store = SqliteStore(None, StoreOptions(holder="test", lock=False))
        self.catalog = catalog_of(*kinds, verbs=[*(verb.spec for verb in functions), *composites])
        self.executor = LeafExecutor(Registry(functions=functions))
        self.sessions, headers = SqliteSessions(self.store), Headers(self.store, self.kinds)
        records = SqliteConfiguration(self.store)
        self.services = Services(
            store=self.store,
            clock=self.clock,
            models=models or {},
            verbs=self.executor,
            catalogs=Catalogs(self.catalog, self.store.catalog),
            kinds=self.kinds,
            headers=headers,
            sessions=self.sessions,
            streams=Streams(self.sessions, header_so_far(headers, self.store)),
            tokens=SqliteTokens(self.store),
            upkeep=SqliteUpkeep(self.store),
            approvals=SqliteApprovals(self.store),
            configuration=records,
            readers=readers(headers, self.store, self.sessions, records, self.clock.now),
        )

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def use(self, *verbs: FunctionVerb[..., Any]) -> None:
        """Other code of the same verbs, from the next call on."""
        self.executor.replace(Registry(functions=verbs))

    def opening(self, given: Any, *, lasts: int = HOUR) -> Opening:
        run = self.clock.new_run_id()
        return Opening(
            run=run,
            input=raw(given),
            workspace=DEFAULT_WORKSPACE,
            principal="user:test",
            subject=run,
            key=KEY,
            at=self.clock.at,
            deadline=self.clock.at + lasts,
        )

    async def open(
        self, kind: Kind[Any, Any], given: Any = None, *, lasts: int = HOUR, queued: bool = False
    ) -> str:
        """A root run, ready or queued; returns its id."""
        new = root_run(
            kind, self.opening(given, lasts=lasts), self.services.catalogs.current, queued=queued
        )
        decided = Ruling(
            writes=(KeptCatalogs(stored=self.services.catalogs.current.stored), new), run=new.id
        )
        await self.store.submit(
            Arrive(workspace=DEFAULT_WORKSPACE, shared=Shared(reads=(), decide=lambda: decided))
        )
        return new.id

    async def drive(self, run: str, **options: Any) -> Driven:
        """One drive, to rest."""
        return await Drive(self.services, self.held(run), **options).to_rest()

    def held(self, run: str) -> Held:
        """The run as its engine holds it."""
        try:
            stored = self.store.stored(run)
        except JournalCorrupt as error:
            return Held(id=run, run=error)
        assert stored is not None
        return Held(id=run, run=stored, mail=tuple(self.store.untaken(run)))

    def pending(self) -> list[Held]:
        """Every run that is not settled, oldest first."""
        held = [
            self.held(run)
            for (run,) in self.store.query("SELECT id FROM runs WHERE ended_at IS NULL ORDER BY no")
        ]
        return [
            one
            for one in held
            if isinstance(one.run, StoredRun)
            and one.run.status in (Status.READY, Status.RUNNING, Status.WAITING)
        ]

    async def played(self, kind: Kind[Any, Any], given: Any = None) -> StoredRun:
        """A root run that was driven once."""
        run = await self.open(kind, given)
        await self.drive(run)
        return self.stored(run)

    def stored(self, run: str) -> StoredRun:
        stored = self.store.stored(run)
        assert stored is not None
        return stored

    def bodies(self, run: str, kind: RecordKind) -> list[Any]:
        """The bodies of a run's records of one kind."""
        return bodies(self.stored(run), kind)

    async def interrupt(
        self, run: str, by: str = "user:ada", what: str = "cancel", key: str = ""
    ) -> str:
        """Somebody wants the run to stop; returns what refused it."""
        return await self.post(
            run, MailKind.INTERRUPT, key or f"{what}:{by}", InterruptBody(what=what, by=by)
        )

    async def answer(self, run: str, addr: int, value: Any, by: str = "user:ada") -> str:
        return await self.post(
            run, MailKind.ANSWER, f"answer:{addr}", AnswerBody(value=value, by=by), addr
        )

    async def post(self, run: str, kind: MailKind, key: str, body: object, addr: int = -1) -> str:
        mail = NewMail(
            run=run, kind=kind, key=key, body=bytes(raw(body)), at=self.clock.at, addr=addr
        )
        return (await self.store.submit(posted(DEFAULT_WORKSPACE, mail))).refused


def bodies(stored: StoredRun, kind: RecordKind) -> list[Any]:
    """The bodies of the records of one kind."""
    found: list[Body | None] = [decode(record) for record in stored.records if record.kind is kind]
    return found


def submitted(house: House, monkeypatch: pytest.MonkeyPatch) -> list[Append]:
    """The units that its runs write from now on."""
    written: list[Append] = []
    submit = house.store.submit

    def noting(unit: Any) -> Any:
        if isinstance(unit, Append):
            written.append(unit)
        return submit(unit)

    monkeypatch.setattr(house.store, "submit", noting)
    return written


def setup_of(kind: Kind[Any, Any], given: Any, catalog: Catalog, **changes: Any) -> RunSetup:
    """A root run of the kind, set up; ``changes`` are to its first record."""
    opening = Opening(
        run="r1",
        input=raw(given),
        workspace=DEFAULT_WORKSPACE,
        principal="user:test",
        subject="r1",
        key=KEY,
        at=BEGAN,
        deadline=BEGAN + HOUR,
    )
    started = root_run(kind, opening, catalog).started
    return RunSetup.of(
        "r1", kind, msgspec.structs.replace(started, **changes), catalog, Kinds((kind,))
    )
