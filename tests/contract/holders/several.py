"""Several engines over one shared memory, each with a process's own services; what they have in
common is the store, the clock and the world outside.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from ordain import VerbContext, verb
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.verbs import ArgumentRole
from ordain.effects.calls import Call
from ordain.effects.children import Join, Spawn
from ordain.effects.effect import Wait, WaitFor
from ordain.engines.local import LocalEngine
from ordain.errors import StorageUnavailable
from ordain.flows.accounts import open_account
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind
from ordain.flows.kinds import Kinds
from ordain.journal.records import SETTLED, RecordKind, raw
from ordain.ports.access import TokenStore
from ordain.ports.leases import Beat, Held, Lease
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Arrive, Outcome, RequestKey, StoredRun, load_run
from ordain.ports.upkeep import Reached, Slice, UpkeepRule
from ordain.ports.writes import KeptCatalogs, MailKind, NewMail
from ordain.runtime.headers import Headers
from ordain.runtime.mail import AnswerBody, posted
from ordain.runtime.opening import Opening, root_run
from ordain.runtime.readers import header_so_far, readers
from ordain.runtime.services import Catalogs, Services
from ordain.runtime.streams import Streams
from ordain.testing import (
    MemoryApprovals,
    MemoryConfiguration,
    MemorySessions,
    MemoryStore,
    SharedMemory,
    catalog_of,
    kind_of,
)
from ordain.verbs.executor import LeafExecutor
from ordain.verbs.registry import Registry
from tests.contract.holders.virtual import SECOND, VirtualClock
from tests.replayed import replayed
from tests.unit.runtime.house import bodies

LAPSE_S = 5
POLICY = {"budget": {"run_tokens": 1000, "day_tokens": 1_000_000}}
LASTS = 24 * 3600 * SECOND


class World:
    """What is outside of all of them: how often each call was made, by its key, and by which
    run.
    """

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.runs: Counter[str] = Counter()

    def verbs(self) -> list[Any]:
        """The same code for each process."""

        @verb(
            name="shelf.put",
            effect="private",
            arguments={"ms": ArgumentRole.CONTENT},
            timeout_ms=600_000,
        )
        async def put(ms: int, context: VerbContext) -> str:
            """Put a book on the shelf, which nobody can see afterwards."""
            self.calls[context.key] += 1
            self.runs[context.run] += 1
            await asyncio.sleep(ms / 1000)
            return "done"

        return [put]


Step = tuple[str, int]
"""What a run does next, and how many milliseconds that takes: put, wait, ask, spawn."""


async def _works(context: FlowContext, steps: list[Step]) -> list[str]:
    """Does its steps and says what became of each."""
    became = ["refused" if await open_account(context, "") is not None else "granted"]
    for what, ms in steps:
        until = context.now() + ms * 1000
        if what == "put":
            became.append(
                type((await act(context, Call(verb="shelf.put", args={"ms": ms}))).result).__name__
            )
        elif what == "wait":
            became.append(
                type(
                    await context.fx.perform(Wait(what=WaitFor.TIMER, about="x", deadline=until))
                ).__name__
            )
        elif what == "ask":
            became.append(
                type(
                    await context.fx.perform(
                        Wait(what=WaitFor.ANSWER, about="x", deadline=context.hard)
                    )
                ).__name__
            )
        else:
            spawns = tuple(
                Spawn[Any](
                    flow="child",
                    input=raw(ms + n),
                    deadline=context.hard,
                    allowance=context.share(2),
                )
                for n in (0, 7)
            )
            became += [type(one).__name__ for one in await context.fx.children(spawns, Join())]
    return became


async def _child(context: FlowContext, ms: int) -> str:
    return type(
        await context.fx.perform(
            Wait(what=WaitFor.TIMER, about="x", deadline=context.now() + ms * 1000)
        )
    ).__name__


CHILD: Kind[Any, Any] = replace(kind_of(_child), name="child")
WORKS: Kind[Any, Any] = replace(kind_of(_works, verbs=("shelf.put",), charged=True), name="works")
OTHER: Kind[Any, Any] = replace(kind_of(_child), name="other")
KINDS = (CHILD, WORKS)


class NoTokens:
    """Nobody asks who may do what: there is no face here."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"nobody asks for a token here: {name}")


class NoUpkeep:
    """Implements ``Upkeep``: nothing is kept that could be given back."""

    async def erase(self, subject: int, after: Reached | None) -> Slice:
        return Slice(rows=0, after=None)

    async def sweep(self, rule: UpkeepRule, after: Reached | None) -> Slice:
        return Slice(rows=0, after=None)

    async def probe(self) -> None:
        """There is always room."""


class Heart:
    """Implements ``Leases``: those of a process whose heart may stop, while everything else of it
    goes on, until it joins again.
    """

    def __init__(self, leases: MemoryStore) -> None:
        self._leases, self.stopped, self.joined = leases, False, list[Lease]()

    async def join(self, build: str) -> Lease:
        self.stopped = False
        self.joined.append(await self._leases.join(build))
        return self.joined[-1]

    async def beat(self, lease: Lease, beat: Beat) -> None:
        if not self.stopped:
            await self._leases.beat(lease, beat)

    async def hold(
        self,
        lease: Lease,
        *,
        limit: int,
        flows: Collection[tuple[str, int]] | None,
        only: Sequence[str] = (),
    ) -> Sequence[Held]:
        return await self._leases.hold(lease, limit=limit, flows=flows, only=only)

    async def held(self, lease: Lease) -> Sequence[str]:
        return await self._leases.held(lease)

    async def next_due(
        self, lease: Lease, *, flows: Collection[tuple[str, int]] | None
    ) -> int | None:
        return await self._leases.next_due(lease, flows=flows)

    async def release(self, lease: Lease, runs: Sequence[str] | None = None) -> None:
        await self._leases.release(lease, runs)


class Holder:
    """One process: an engine, and everything below it. ``dead``: nothing of it goes on."""

    def __init__(self, several: Several, kinds: Sequence[Kind[Any, Any]]) -> None:
        shared, self.clock = several.shared, several.clock
        self.store, self.kinds = MemoryStore(shared), Kinds(kinds)
        self.sessions, headers, functions = (
            MemorySessions(shared),
            Headers(self.store, self.kinds),
            several.world.verbs(),
        )
        records = MemoryConfiguration(shared)
        tokens: TokenStore = NoTokens()  # type: ignore[assignment] - it is asked for nothing
        self.services = Services(
            store=self.store,
            clock=self.clock,
            models={},
            verbs=LeafExecutor(Registry(functions=functions)),
            catalogs=Catalogs(
                catalog_of(*several.kinds, verbs=[one.spec for one in functions], policy=POLICY),
                self.store.catalog,
            ),
            kinds=self.kinds,
            headers=headers,
            sessions=self.sessions,
            streams=Streams(self.sessions, header_so_far(headers, self.store)),
            tokens=tokens,
            upkeep=NoUpkeep(),
            approvals=MemoryApprovals(shared),
            configuration=records,
            readers=readers(headers, self.store, self.sessions, records, self.clock.now),
        )
        self.heart = Heart(self.store)
        self.engine = LocalEngine(self.services, self.heart, "test")

    async def stop(self) -> None:
        """As a process that ends in order."""
        await self.engine.stop(grace_s=0.0)
        await self.services.verbs.close()
        self.store.close()

    async def submit(self, unit: Arrive) -> Outcome:
        """As a client does that asks again where no answer came."""
        while True:
            try:
                return await self.store.submit(unit)
            except StorageUnavailable:
                await asyncio.sleep(0.1)

    async def open(self, kind: Kind[Any, Any], given: Any) -> str:
        """A root run, once, however often that has to be asked for."""
        run = self.clock.new_run_id()
        opening = Opening(
            run=run,
            input=raw(given),
            workspace=DEFAULT_WORKSPACE,
            principal="user:test",
            subject=run,
            key=b"\x07" * 32,
            at=self.clock.now(),
            deadline=self.clock.now() + LASTS,
        )
        new = root_run(kind, opening, self.services.catalogs.current)
        decided = Ruling(
            writes=(KeptCatalogs(stored=self.services.catalogs.current.stored), new), run=run
        )
        once = RequestKey(request_id=run, digest="d")
        await self.submit(
            Arrive(
                workspace=DEFAULT_WORKSPACE,
                once=once,
                shared=Shared(reads=(), decide=lambda: decided),
            )
        )
        return run

    async def answer(self, run: str, addr: int) -> str:
        """What refused it; "duplicate" where it has come already."""
        body = bytes(raw(AnswerBody(value="yes", by="user:ada")))
        mail = NewMail(
            run=run,
            kind=MailKind.ANSWER,
            key=f"answer:{addr}",
            body=body,
            at=self.clock.now(),
            addr=addr,
        )
        return (await self.submit(posted(DEFAULT_WORKSPACE, mail))).refused


class Several:
    """As many processes as there are lists of kinds, over one memory."""

    def __init__(self, *kinds: Sequence[Kind[Any, Any]]) -> None:
        self.clock, self.world = VirtualClock(), World()
        self.shared = SharedMemory(now=self.clock.now, lapse_us=LAPSE_S * SECOND)
        self.kinds = {kind.name: kind for some in kinds for kind in some}.values()
        self.holders = [Holder(self, some) for some in kinds]

    async def __aenter__(self) -> Several:
        for holder in self.holders:
            await holder.engine.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        for holder in self.holders:
            await holder.stop()

    async def stored(self, run: str) -> StoredRun:
        stored = await load_run(self.holders[0].store, run)
        assert stored is not None
        return stored

    async def all_runs(self) -> list[StoredRun]:
        return [await self.stored(run) for run in self.shared.rows.runs]

    async def settled(self, *runs: str) -> None:
        """Wait until these have ended: whoever waits looks again."""
        for run in runs:
            while (await self.stored(run)).status not in SETTLED:  # noqa: ASYNC110 - time is virtual, and it asks the store alone
                await asyncio.sleep(0.5)

    async def waits(self, run: str) -> int:
        """The effect at which the run waits for an answer."""
        while True:
            stored = await self.stored(run)
            if stored.records[-1].kind is RecordKind.SUSPENDED:
                return bodies(stored, RecordKind.SUSPENDED)[-1].addr
            await asyncio.sleep(0.1)

    async def became(self, run: str) -> list[str]:
        """What the run says became of its steps, after its claim."""
        (ended,) = bodies(await self.stored(run), RecordKind.ENDED)
        granted, *became = msgspec.json.decode(ended.result, type=list[str])
        assert granted == "granted"
        return became

    async def check(self) -> None:
        """What holds whenever all is at rest: each run has ended once and replays equal, and no
        effect was made twice.
        """
        for stored in await self.all_runs():
            assert stored.status in SETTLED
            assert len(bodies(stored, RecordKind.ENDED)) == 1
            at_work = next(
                one for one in self.holders if (stored.flow, stored.flow_version) in one.kinds.by_id
            )
            assert replayed(at_work.services, stored).equal
        assert not [key for key, calls in self.world.calls.items() if calls > 1]
        assert not any(self.shared.rows.accounts.values()) or set(
            self.shared.rows.accounts.values()
        ) == {(0, 0)}
