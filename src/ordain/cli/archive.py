"""A data folder as it lies: read and replayed, without models, verbs or network, and without
driving anything.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ordain.cli.short_ids import RUN, whole_id
from ordain.contracts.catalog import Catalog
from ordain.contracts.catalog_data import CatalogData
from ordain.contracts.policy import Policy
from ordain.engines.clock import SystemClock
from ordain.errors import (
    ConfigurationError,
    JournalCorrupt,
    JournalError,
    NotFound,
    StorageUnavailable,
    no_run,
)
from ordain.flows.shipped import shipped_kinds
from ordain.flows.transcript import TranscriptReader
from ordain.ports.library import Embedder
from ordain.ports.store import Loaded, StoredRun, existing_run, loaded_run
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed
from ordain.runtime.diff import PolicyDiff, TriedPolicy, diff
from ordain.runtime.door import Runtime
from ordain.runtime.headers import Headers
from ordain.runtime.library import Memory
from ordain.runtime.replay import Difference, Replayed, replay
from ordain.runtime.services import Catalogs, Services
from ordain.runtime.store_replay import Ledgered, LedgerKnows, held_to_ledger, held_to_sweeps
from ordain.runtime.streams import Streams
from ordain.runtime.transcript_replay import Retold, retell
from ordain.runtime.waiters import Waiters
from ordain.runtime.wording_diff import AnswersRead, MessagesRead, answers_read, messages_read
from ordain.store.access import SqliteTokens
from ordain.store.approvals import SqliteApprovals
from ordain.store.configuration import SqliteConfiguration
from ordain.store.damage import DAMAGED, check_damage
from ordain.store.documents import DocumentReader
from ordain.store.folder import FILE, snapshot
from ordain.store.ledger_reads import SqliteLedger
from ordain.store.library import SqliteLibrary
from ordain.store.search import SqliteSearch
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore
from ordain.store.upkeep import SqliteUpkeep
from ordain.wording.wording import Wording

RUNS_AHEAD = 16
"""So many runs are read, and held, at a time."""
RECORDS_AHEAD = 8_192
"""So many records of them and of runs below them are read before they are asked for."""


class _NoVerbs:
    """Implements ``VerbPort``: nothing can be called."""

    async def run(self, call: LeafCall) -> AnyLeafResult:
        return LeafFailed(
            code="archive", message=f"{call.spec.name} cannot be called from an archive"
        )

    def implements(self, verb_id: str) -> bool:
        return False

    async def close(self) -> None:
        return


class _NoEngine:
    """Implements ``runtime.door.Engine``: nothing is accepted or driven."""

    accepting = False
    driving = 0

    def __init__(self) -> None:
        self.waiters = Waiters()

    def holds(self, run: str) -> bool:
        return False

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        raise StorageUnavailable(f"run {run} cannot be driven from an archive", code="no_engine")

    def hurry(self, run: str) -> None:
        self.wake(run)


@dataclass(frozen=True, slots=True, kw_only=True)
class Archive:
    """The store as a guest, and the door over it for looking."""

    store: SqliteStore
    sessions: SqliteSessions
    runtime: Runtime

    async def held_to_ledger(self, kept: str = "") -> tuple[Ledgered, LedgerKnows | None]:
        """Hold the whole store to its ledger, and that to a head ``kept`` elsewhere; what else it
        knows is for ``replay`` and ``retell``.
        """
        return await held_to_ledger(SqliteLedger(self.store, self.store.reading), kept)

    def as_of_one_commit(self) -> AbstractContextManager[None]:
        """What is read within it, the ledger included: a server beside goes on, and each piece of
        what is read would be of another moment.
        """
        return snapshot(self.store.reading)

    async def replay(self, run: str, ledger: LedgerKnows | None = None) -> Replayed:
        """As ``replays``, one run."""
        return (await self.replays((run,), ledger))[0]

    async def replays(
        self, runs: Sequence[str], ledger: LedgerKnows | None = None
    ) -> Sequence[Replayed]:
        """Replay these of the runs that there are; whatever is wrong with one is in its verdict.
        Without ``ledger`` what is gone passes for swept.
        """
        found = list[Replayed]()
        for several in _slices(runs):
            with self.as_of_one_commit():
                held = await self._readable(several)
                found += [await self._replayed(run, ledger, held) for run in several]
        return found

    async def _readable(self, runs: Sequence[str]) -> Loaded:
        """These runs; where a damaged page is among what they need, each by itself."""
        try:
            return await self.store.load(runs)
        except StorageUnavailable as error:
            why = JournalCorrupt(str(check_damage(error).__cause__ or error), code=DAMAGED)
        if len(runs) == 1:
            return {runs[0]: why}
        return {name: one for run in runs for name, one in (await self._readable((run,))).items()}

    async def _replayed(self, run: str, ledger: LedgerKnows | None, held: Loaded) -> Replayed:
        services, report = (
            self.runtime.services,
            Replayed(run=as_told(run), flow="", verdict=JournalCorrupt.code),
        )
        try:
            stored = loaded_run(held, run)
            report.flow, report.records = (
                f"{stored.flow}@{stored.flow_version}",
                len(stored.records),
            )
            catalog = await services.catalogs.pinned(stored.catalog)
            replayed = replay(stored, catalog, services.kinds, self._transcript(stored))
            return replayed if ledger is None else held_to_sweeps(replayed, stored, ledger)
        except NotFound:
            report.differences.append(
                Difference(
                    place="storage",
                    recorded="a root and a subject",
                    now="its row names one that is not there",
                )
            )
            return report
        except StorageUnavailable as error:
            report.verdict, why = DAMAGED, check_damage(error).__cause__ or error
        except (JournalError, ConfigurationError, ValueError) as error:
            why = error
            if isinstance(error, JournalError) and error.code == DAMAGED:
                report.verdict = DAMAGED
        report.differences.append(Difference(place="storage", recorded="", now=str(why)[:300]))
        return report

    def _transcript(self, stored: StoredRun) -> TranscriptReader:
        """What the run's prompts say of its session. Nobody else waits for what reads here, so that
        entries are read as they are asked for: a server reads them before, and has the run made
        again up to there for each that it did not know of.
        """
        return partial(self.sessions.texts_here, stored.workspace)

    async def diffs(self, runs: Sequence[str], policy: TriedPolicy) -> Sequence[PolicyDiff]:
        """What another policy would have decided over the journals of these runs and of those below
        them; whatever is wrong with one is in its verdict.
        """
        found = list[PolicyDiff]()
        for several in _slices(runs):
            with self.as_of_one_commit():
                ahead = dict.fromkeys(self.store.below(several, RECORDS_AHEAD))
                held = await self.store.load(tuple({**dict.fromkeys(several), **ahead}))
                found += [await self._differing(run, policy, held) for run in several]
        return found

    async def _differing(self, run: str, policy: TriedPolicy, held: Loaded) -> PolicyDiff:
        def load(child: str) -> StoredRun:
            found = loaded_run(held, child) if child in held else self.store.stored(child)
            if found is None:  # runs stay when they are erased or swept: somebody took it out
                raise JournalCorrupt(f"run {child} is not stored")
            return found

        services, flow = self.runtime.services, ""
        try:
            stored = loaded_run(held, run)
            flow = f"{stored.flow}@{stored.flow_version}"
            catalog = await services.catalogs.pinned(stored.catalog)
            said = self._transcript(stored)
            return diff(stored, catalog, policy, services.kinds, load, transcript=said)
        except (JournalError, NotFound, ConfigurationError, ValueError):
            return PolicyDiff(run=as_told(run), flow=flow, verdict=JournalCorrupt.code)

    async def tree(self, run: str) -> Sequence[str]:
        """The run, by its id as people type it, and everything that descends from it, oldest first.

        Raises:
            NotFound: no such run.
            InvalidRequest: what was typed is part of several ids.
        """
        run = await whole_id(RUN, run, self._listed)
        found = await self.runtime.search.tree(run)
        if not found:
            raise no_run(run)
        return found

    async def _listed(self, asked: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        rows = await self.runtime.runs(
            roots_only="all" not in asked, limit=asked["limit"], named=asked.get("named", "")
        )
        return [{"run_id": row.id, "flow": row.flow, "status": row.status} for row in rows]

    async def runs(
        self, *, roots_only: bool = False, since: int | None = None, until: int | None = None
    ) -> Sequence[str]:
        """Every run, or every run without a parent, oldest first; of those that began at ``since``
        or later and before ``until``, in microseconds since 1970.
        """
        return await self.runtime.search.every_run(roots_only=roots_only, since=since, until=until)

    async def answers(self, run: str, wording: Wording) -> AnswersRead:
        """What another wording would make of the answers in a run; whatever is wrong with it is in
        the verdict.

        Raises:
            NotFound: no such run.
        """
        services, flow = self.runtime.services, ""
        with self.as_of_one_commit():
            try:
                stored = await existing_run(self.store, run)
                flow = f"{stored.flow}@{stored.flow_version}"
                catalog = await services.catalogs.pinned(stored.catalog)
                said = self._transcript(stored)
                return answers_read(stored, catalog, wording, services.kinds, said)
            except (JournalError, ConfigurationError, ValueError):
                return AnswersRead(run=as_told(run), flow=flow, verdict=JournalCorrupt.code)

    async def messages(self, wording: Wording) -> list[MessagesRead]:
        """What another wording would make of every session's messages, oldest session first."""
        services, every = self.runtime.services, await self.runtime.search.every_session()
        pinned = services.catalogs.pinned
        found = list[MessagesRead]()
        for workspace, session in every:
            with self.as_of_one_commit():
                found.append(
                    await messages_read(services.sessions, workspace, session, wording, pinned)
                )
        return [
            replace(one, workspace=as_told(one.workspace), session=as_told(one.session))
            for one in found
        ]

    async def retell(
        self, workspace: str, session: str, ledger: LedgerKnows | None = None
    ) -> Retold:
        """Verify a session's transcript; ``ledger`` as for ``replay``. Of one that a damaged page
        belongs to the verdict says so.
        """
        sessions, pinned = self.sessions, self.runtime.services.catalogs.pinned
        with self.as_of_one_commit():
            try:
                told = await retell(sessions, workspace, session, pinned, ledger)
            except StorageUnavailable as error:
                why = str(check_damage(error).__cause__ or error)
                unread = Difference(place="storage", recorded="", now=why)
                told = Retold(
                    workspace=workspace, session=session, verdict=DAMAGED, differences=[unread]
                )
        return replace(told, workspace=as_told(told.workspace), session=as_told(told.session))


def _slices(runs: Sequence[str]) -> Iterator[Sequence[str]]:
    return (runs[first : first + RUNS_AHEAD] for first in range(0, len(runs), RUNS_AHEAD))


def as_told(found: object) -> str:
    """An id as it is told; of one that is no text, as only a store that somebody altered holds it,
    the bytes.
    """
    return found if isinstance(found, str) else ascii(found)


@contextmanager
def open_archive(home: Path) -> Generator[Archive]:
    """Open a data folder for reading, also beside a running server.

    Raises:
        NotFound: there is no data.
        StorageUnavailable, ConfigurationError: it cannot be read.
    """
    if not (home / FILE).is_file():
        raise NotFound(f"there is no data in {home}", code="no_data")
    store = SqliteStore(home)
    try:
        services = Services(
            store=store,
            clock=SystemClock(),
            models={},
            verbs=_NoVerbs(),
            catalogs=Catalogs(Catalog(CatalogData(policy=Policy(version=1))), store.catalog),
            kinds=(kinds := shipped_kinds()),
            headers=Headers(store, kinds),
            sessions=(sessions := SqliteSessions(store)),
            streams=Streams(sessions, _no_header),
            tokens=SqliteTokens(store),
            upkeep=SqliteUpkeep(store),
            approvals=SqliteApprovals(store),
            configuration=SqliteConfiguration(store),
        )
        library = SqliteLibrary(store, services.clock, partial(_embedder, home))
        remembered = Memory(library, DocumentReader(), library.clear)
        runtime = Runtime(services, SqliteSearch(store), engine=_NoEngine(), library=remembered)
        try:
            yield Archive(store=store, sessions=sessions, runtime=runtime)
        finally:
            library.close()
    finally:
        store.close()


async def _no_header(_run: str) -> None:
    """Nothing is being written."""


def _embedder(home: Path) -> Embedder | None:
    from ordain.models.embedding import (
        embedder_of,
    )  # lazy: only a question to what is remembered needs it
    from ordain.settings import load_settings  # lazy: see above

    settings = load_settings(home=home)
    return embedder_of(settings.embedder, settings.embedder_key)()
