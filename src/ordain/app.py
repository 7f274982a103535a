"""The only composition root: settings in, a running Ordain out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from msgspec import Struct

from ordain import __version__
from ordain.contracts.cards import AgentCard
from ordain.contracts.catalog import Catalog
from ordain.contracts.hosted import is_assumed
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.contracts.results import PlanResult
from ordain.contracts.several import several
from ordain.declared_files import DeclaredFiles
from ordain.engines.clock import SystemClock
from ordain.engines.local import LocalEngine
from ordain.errors import Conflict, OrdainError
from ordain.flows.kind import Kind
from ordain.flows.shipped import shipped_kinds
from ordain.models.embedding import embedder_of
from ordain.models.ways_file import WaysFile
from ordain.one_loop import OneLoop
from ordain.ports.library import Embedder, Library
from ordain.ports.model import ModelPort
from ordain.runtime.background import keep_going
from ordain.runtime.door import Runtime
from ordain.runtime.embedded import Embedded
from ordain.runtime.headers import Headers
from ordain.runtime.library import Memory
from ordain.runtime.readers import header_so_far, readers
from ordain.runtime.reloader import Reloaded, Reloader
from ordain.runtime.seal import Seal, SealedVerbs, sealed_models
from ordain.runtime.services import Catalogs, Services
from ordain.runtime.streams import Streams
from ordain.runtime.upkeep import daily
from ordain.runtime.ways import Ways
from ordain.settings import Settings, load_settings, named_folder
from ordain.settings_change import SettingsChange, change_of, models_of, spent_after_s
from ordain.store.access import SqliteTokens
from ordain.store.approvals import SqliteApprovals
from ordain.store.configuration import SqliteConfiguration
from ordain.store.documents import DocumentReader
from ordain.store.leases import SqliteLeases
from ordain.store.library import SqliteLibrary
from ordain.store.search import SqliteSearch
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore, StoreOptions
from ordain.store.upkeep import SqliteUpkeep
from ordain.verbs.builtin.names import no_library
from ordain.verbs.executor import LeafExecutor
from ordain.verbs.functions import FunctionVerb
from ordain.verbs.own_addresses import OwnAddresses
from ordain.verbs.registry import Registry

T = TypeVar("T")
LOG = logging.getLogger("ordain.app")
OTHERWISE = (
    "a thread without a loop has `ordain.from_thread(ordain.plan(...))`, anything else an Ordain "
    "of its own, over another data folder"
)
"""What to do where an Ordain cannot be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What an embedder adds to the settings: verbs, agents' cards, kinds of runs and model adapters
    of its own; ``store`` options for tests; ``embedder`` None: the configured one.

    ``reread`` reads the settings anew when their files have changed; None: they stay as they are.
    ``seal`` knows secrets elsewhere, too.
    """

    verbs: Sequence[FunctionVerb[..., Any]] = ()
    agents: Sequence[AgentCard] = ()
    kinds: Sequence[Kind[Any, Any]] = ()
    models: Mapping[str, ModelPort] | None = None
    store: StoreOptions = field(default_factory=lambda: StoreOptions(holder="local"))
    memory: bool = False
    embedder: Callable[[], Embedder | None] | None = None
    reread: Callable[[], Settings] | None = None
    seal: Seal | None = None


class _Opened(Struct, frozen=True, kw_only=True):
    """What ``start`` opened, whole."""

    store: SqliteStore
    executor: LeafExecutor
    library: SqliteLibrary
    engine: LocalEngine
    runtime: Runtime


class Ordain(Embedded):
    """A running Ordain in this process: ``async with Ordain() as ordain: await ordain.plan(...)``.

    Without arguments it is configured like the command: ``$ORDAIN_HOME`` and the environment.
    ``script`` plays proposals instead of asking a model, ``verbs`` and ``agents`` add your own.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        home: Path | str | None = None,
        script: Path | str | None = None,
        verbs: Sequence[FunctionVerb[..., Any]] = (),
        agents: Sequence[AgentCard] = (),
        extras: Extras | None = None,
    ) -> None:
        """Read the settings; nothing is opened before ``start``.

        Raises:
            ConfigurationError: settings, policy, verbs or models are wrong.
        """
        verbs, agents = several(verbs, "verbs"), several(agents, "agents")
        self.settings = settings or load_settings(home=named_folder(home))
        if script is not None:
            scripted = ModelProfile(provider="scripted", model="scripted", script=str(script))
            self.settings = with_profile(self.settings, scripted)
        fixed = settings is not None or script is not None
        reread = None if fixed else partial(load_settings, home=self.settings.home)
        self._extras = extras or Extras(verbs=verbs, reread=reread)
        self._started_with = self.settings
        self._spent: set[ModelPort] = set()
        self.agents = (*agents, *self._extras.agents)
        self.kinds = shipped_kinds(self._extras.kinds)
        self._opened: _Opened | None = None
        self._closing: AsyncExitStack | None = None
        self._home, self._over, self._starting = OneLoop(), False, Lock()
        self._background: list[asyncio.Task[None]] = []
        self._files = DeclaredFiles(
            self, (*verbs, *(self._extras.verbs if extras else ())), self._open_library
        )
        seen = self._files.fingerprint()
        self.registry, self.catalog, problems = self._files.read(self.settings, strict=False)
        self._began = (seen, problems)
        self.seal = self._extras.seal or Seal(self.settings.every_secret)
        models = self._extras.models
        self.models = (
            models if models is not None else models_of(self.settings, self.kinds.scripted)
        )

    @property
    def listening(self) -> OwnAddresses:
        """Where servers of this Ordain listen: no verb sends a request there."""
        return self._files.listening

    @property
    def runtime(self) -> Runtime:
        """The door: everything that may be asked of a running Ordain."""
        return self._started().runtime

    @property
    def engine(self) -> LocalEngine:
        """What wakes runs."""
        return self._started().engine

    @property
    def store(self) -> SqliteStore:
        """The data folder."""
        return self._started().store

    def _started(self) -> _Opened:
        if self._opened is None:
            raise Conflict(
                "this Ordain was not started: `async with Ordain() as ordain`, or await its "
                "start()",
                code="not_started",
            )
        if self._over:
            raise Conflict(
                "this Ordain runs no more: use it within `async with Ordain() as ordain`",
                code="not_started",
            )
        self._check_here()
        return self._opened

    def _check_here(self) -> None:
        """Only the loop that it was started in hears from it.

        Raises:
            Conflict: another loop runs here, or another process (``another_loop``).
        """
        if elsewhere := self._home.elsewhere():
            raise Conflict(f"{elsewhere}: {OTHERWISE}", code="another_loop")

    async def start(self) -> Self:
        """Open the store, take the lease, take up unfinished runs. Where that fails, all is closed
        again, and may be started again.

        Raises:
            StorageUnavailable: the data folder cannot be opened or is held by another engine.
            Conflict: it runs (``not_alone``).
            ConfigurationError: a lane's endpoint has models, and nobody named one
                (``model_missing``).
        """
        if self._closing is not None or not self._starting.acquire(blocking=False):
            self._check_here()
            why = "this Ordain runs already: enter it once, and use it wherever it is wanted"
            raise Conflict(why, code="not_alone")
        try:
            self._home = OneLoop.here()
            of = self.settings
            if self._extras.models is None and is_assumed(of.profiles, of.asked):
                from ordain.models.discovery import check_assumed  # lazy: the HTTP client

                await check_assumed(of.profiles, of.asked, of.secrets)
            async with AsyncExitStack() as closing:
                opened = self._open(closing)
                self._opened, self._over = opened, False
                closing.callback(self._end)
                await self._begin(opened)
                self._closing = closing.pop_all()
        finally:
            self._starting.release()
        return self

    def _open(self, closing: AsyncExitStack) -> _Opened:
        """Open everything; what is to be closed after a failure and at the end is put on
        ``closing``.
        """
        options = replace(self._extras.store, tables=self.kinds.tables)
        store = SqliteStore(None if self._extras.memory else self.settings.home, options)
        closing.callback(store.close)
        sessions, records, clock = SqliteSessions(store), SqliteConfiguration(store), SystemClock()
        embedder = self._extras.embedder or embedder_of(
            self.settings.embedder, self.settings.embedder_key
        )
        library = SqliteLibrary(store, clock, embedder, policy=self.settings.policy.memory)
        closing.callback(library.close)
        executor = LeafExecutor(self.registry, threads=self.settings.verbs.threads)
        closing.push_async_callback(executor.close)
        headers = Headers(store, self.kinds)
        services = Services(
            store=store,
            clock=clock,
            models=sealed_models(self.models, self.seal),
            verbs=SealedVerbs(executor, self.seal),
            catalogs=Catalogs(self.catalog, store.catalog),
            kinds=self.kinds,
            headers=headers,
            sessions=sessions,
            streams=Streams(sessions, header_so_far(headers, store)),
            tokens=SqliteTokens(store),
            upkeep=SqliteUpkeep(store),
            approvals=SqliteApprovals(store),
            configuration=records,
            readers=readers(headers, store, sessions, records, clock.now),
            ways=Ways(None if self._extras.memory else WaysFile(self.settings.home)),
        )
        engine = LocalEngine(services, SqliteLeases(store, clock.now), __version__)
        runtime = Runtime(
            services,
            SqliteSearch(store),
            engine=engine,
            library=Memory(library, DocumentReader(), library.clear),
            reloader=Reloader(services, self._files, self._began),
            commits=lambda: store.writer.commits,
        )
        return _Opened(
            store=store, executor=executor, library=library, engine=engine, runtime=runtime
        )

    async def _begin(self, opened: _Opened) -> None:
        """Take up what was left, and begin what goes on beside the runs."""
        engine, runtime, library = opened.engine, opened.runtime, opened.library
        try:
            await library.recover()
        except OrdainError as error:
            # storage takes no writes now: what is kept can be read, and what is not is in no search
            LOG.error(
                "what was cut off or removed is still in the library's file, the next start "
                "deletes it: %s",
                error.message,
            )
        await engine.start()
        works: dict[str, Callable[[], Awaitable[None]]] = {
            "looking for what other processes wrote": opened.store.poll,
            "sweeping what is old": partial(daily, engine.sweep),
            "watching the lease": partial(self._watch_lease, opened),
            "writing the audit": runtime.access.keep_flushing,
            "giving vectors to what has none": library.keep_up,
        }
        if (every_ms := self.settings.verbs.watch_ms) and runtime.reloader is not None:
            works["looking for changed files"] = partial(runtime.reloader.watch, every_ms / 1000)
        self._background = [
            asyncio.ensure_future(keep_going(name, work)) for name, work in works.items()
        ]

    def _open_library(self) -> Library:
        return no_library() if self._opened is None else self._opened.library

    def use(self, registry: Registry, catalog: Catalog) -> None:
        """Take another registry's code from the next call on; the runtime's catalog is another's to
        change (``Reloader``).
        """
        self.registry, self.catalog = registry, catalog
        if self._opened is not None:
            self._opened.executor.replace(registry)

    def read_anew(self) -> SettingsChange:
        """The settings as their files have them now, as far as this process can take them up; as
        they are where nobody reads them anew.

        Raises:
            ConfigurationError: as ``load_settings``.
        """
        reread = self._extras.reread
        return (
            SettingsChange(settings=self.settings)
            if reread is None
            else change_of(self._started_with, reread())
        )

    def models_for(self, settings: Settings) -> Mapping[str, ModelPort]:
        """The adapters for these settings, those in use where nothing of them has changed; an
        embedder's own stay.

        Raises: as ``models_of``.
        """
        return (
            self.models
            if self._extras.models is not None
            else models_of(settings, self.kinds.scripted, (self.settings, self.models))
        )

    def use_settings(self, settings: Settings, models: Mapping[str, ModelPort]) -> None:
        """Ask these models from the next call on. Those that are asked no more are closed once
        whatever was under way there has ended.
        """
        before, self.settings = self.settings, settings
        self.seal.add(*settings.every_secret)
        spent = set(self.models.values()).difference(models.values())
        self.models = models
        if self._opened is not None:
            self._opened.runtime.services.models = sealed_models(models, self.seal)
        if spent:
            self._spent |= spent
            self._background.append(
                asyncio.ensure_future(self._close_spent(spent, spent_after_s(before)))
            )

    async def _close_spent(self, spent: set[ModelPort], after_s: float) -> None:
        await asyncio.sleep(after_s)
        self._spent -= spent
        for model in spent:
            await model.close()

    async def reload(self) -> Reloaded:
        """Take up what stands in the settings' files, ``$ORDAIN_HOME/verbs``, ``wording``,
        ``workflows``, ``cards`` and ``council`` now, or say what is wrong and leave everything as
        it is.
        """
        assert self.runtime.reloader is not None
        return await self.runtime.reloader.reload()

    @staticmethod
    async def _watch_lease(opened: _Opened) -> None:
        """When another engine takes over, or this process is a copy, whoever waits here is told."""
        await opened.engine.lost.wait()
        opened.runtime.release()
        # whoever waits here looks once more, while there is a store to look at
        await asyncio.sleep(0)

    async def stop(self, grace_s: float = 10.0) -> None:
        """Drain and close: model calls and waits are given up, running verbs get ``grace_s``
        seconds. Where nothing is open, nothing happens.

        Raises:
            Conflict: it was started in another event loop, and goes on there (``another_loop``).
        """
        if self._closing is None:
            return
        if self._home.is_gone:  # what went on there is over, and the data folder is let go of
            closing, self._closing = self._closing, None
            with suppress(Exception):  # what is waited for belonged to that loop
                async with asyncio.timeout(1):
                    await closing.aclose()
            return
        self._started().executor.threads.end_within(grace_s)
        closing, self._closing = self._closing, None
        async with closing:
            # whatever else fails, all that is open is closed, and the data folder is let go of
            closing.callback(self._files.close)
            for model in self._spent.union(self.models.values()):
                closing.push_async_callback(model.close)
            closing.push_async_callback(self.runtime.services.verbs.close)
            for task in self._background:
                task.cancel()
            await asyncio.gather(*self._background, return_exceptions=True)
            await self.engine.stop(grace_s)
            self.runtime.release()
            await self.runtime.access.flush()

    def _end(self) -> None:
        self._over = True

    def from_thread(self, work: Coroutine[Any, Any, T]) -> T:
        """What this Ordain is asked for, awaited from a thread that has no event loop:
        ``ordain.from_thread(ordain.plan(...))``.

        Raises: as ``work``; Conflict: it is not running (``not_started``), or an event loop runs
        here, which would stand still (``another_loop``).
        """
        return self._home.awaited(work)

    async def __aenter__(self) -> Self:
        """Start."""
        return await self.start()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()

    @overload
    def run_sync(
        self, request: PlannerRequest | Mapping[str, Any]
    ) -> PlanResult[dict[str, Any]]: ...
    @overload
    def run_sync(
        self, request: PlannerRequest | Mapping[str, Any], *, output_type: type[T]
    ) -> PlanResult[T]: ...
    def run_sync(
        self, request: PlannerRequest | Mapping[str, Any], *, output_type: type[Any] | None = None
    ) -> PlanResult[Any]:
        """Start, plan, stop: for scripts that have no event loop. Once for each Ordain.

        Raises: as ``plan``; Conflict: an event loop runs here, or this Ordain was started before
        (``not_alone``).
        """
        if self._opened is not None or _in_a_loop():
            message = (
                "run_sync starts an Ordain once, where no event loop runs: here, `async with "
                "Ordain() as ordain` and `await ordain.plan(...)`"
            )
            raise Conflict(message, code="not_alone")

        async def planned() -> PlanResult[Any]:
            async with self:
                return await (
                    self.plan(request)
                    if output_type is None
                    else self.plan(request, output_type=output_type)
                )

        return asyncio.run(planned())


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def with_profile(settings: Settings, profile: ModelProfile) -> Settings:
    """The same settings with every lane on one model profile."""
    lanes = settings.policy.lanes.model_copy(
        update={"profiles": {lane: ["default"] for lane in Lane}}
    )
    policy = settings.policy.model_copy(update={"lanes": lanes})
    return settings.model_copy(update={"profiles": {"default": profile}, "policy": policy})
