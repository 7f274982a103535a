"""A data folder as it lies: read, replayed, copied and put back, without models, verbs or network, and without driving anything."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ordain.cli.exit_codes import OK
from ordain.cli.output import print_json, show
from ordain.cli.places import home_of
from ordain.contracts.catalog import Catalog, CatalogData
from ordain.contracts.policy import Policy
from ordain.engines.clock import SystemClock
from ordain.errors import ConfigurationError, FlowUnavailable, JournalCorrupt, JournalError, NotFound, StorageUnavailable
from ordain.flows.shipped import shipped_kinds
from ordain.ports.library import Embedder
from ordain.ports.store import StoredRun, load_run
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed
from ordain.runtime.diff import PolicyDiff, diff
from ordain.runtime.door import Runtime
from ordain.runtime.headers import Headers
from ordain.runtime.library import Memory
from ordain.runtime.replay import Difference, Replayed, replay
from ordain.runtime.services import Catalogs, Services
from ordain.runtime.streams import Streams
from ordain.runtime.transcript_replay import Retold, retell
from ordain.runtime.waiters import Waiters
from ordain.runtime.wording_diff import AnswersRead, MessagesRead, answers_read, messages_read
from ordain.store.access import SqliteTokens
from ordain.store.documents import DocumentReader
from ordain.store.folder import FILE, version_of
from ordain.store.library import SqliteLibrary
from ordain.store.schema import VERSION
from ordain.store.search import SqliteSearch
from ordain.store.sessions import SqliteSessions
from ordain.store.sqlite import SqliteStore
from ordain.store.upkeep import SqliteUpkeep
from ordain.wording.wording import Wording

SAMPLE = 50
RESTS = ("-wal", "-shm", "-journal")


class _NoVerbs:
    """Implements ``VerbPort``: nothing can be called."""

    async def run(self, call: LeafCall) -> AnyLeafResult:
        return LeafFailed(code="archive", message=f"{call.spec.name} cannot be called from an archive")

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
    runtime: Runtime

    async def replay(self, run: str) -> Replayed:
        """Replay one run; whatever is wrong with it is in the verdict.

        Raises:
            NotFound: no such run.
        """
        services, report = self.runtime.services, Replayed(run=run, flow="", verdict=JournalCorrupt.code)
        try:
            stored = await self._load(run)
            report.flow, report.records = f"{stored.flow}@{stored.flow_version}", len(stored.records)
            catalog, said = await services.catalogs.pinned(stored.catalog), services.transcript(stored.workspace)
            return await said.having(lambda: replay(stored, catalog, services.kinds, said))
        except (JournalError, ConfigurationError, ValueError) as error:
            report.differences.append(Difference(place="storage", recorded="", now=str(error)[:300]))
            return report

    async def _load(self, run: str) -> StoredRun:
        stored = await load_run(self.runtime.services.store, run)
        if stored is None:
            raise NotFound(f"there is no run {run}", code="run_not_found")
        return stored

    async def diff(self, run: str, policy: Policy) -> PolicyDiff:
        """What another policy would have decided over the run's journal and its children's.

        Raises:
            NotFound: no such run.
            JournalCorrupt: the catalog it began under is not stored.
        """
        stored, services = await self._load(run), self.runtime.services
        catalog, said = await services.catalogs.pinned(stored.catalog), services.transcript(stored.workspace)
        below = await services.store.load(await self.runtime.search.tree(run))

        def load(child: str) -> StoredRun | None:
            found = below.get(child)
            if isinstance(found, JournalCorrupt):
                raise found
            return found

        return await said.having(lambda: diff(stored, catalog, policy, services.kinds, load, transcript=said))

    async def tree(self, run: str) -> Sequence[str]:
        """The run and everything that descends from it, oldest first.

        Raises:
            NotFound: no such run.
        """
        found = await self.runtime.search.tree(run)
        if not found:
            raise NotFound(f"there is no run {run}", code="run_not_found")
        return found

    async def runs(self, *, roots_only: bool = False) -> Sequence[str]:
        """Every run, or every run without a parent, oldest first."""
        return await self.runtime.search.every_run(roots_only=roots_only)

    async def answers(self, run: str, wording: Wording) -> AnswersRead:
        """What another wording would make of the answers in a run; whatever is wrong with it is in the verdict.

        Raises:
            NotFound: no such run.
        """
        services, flow = self.runtime.services, ""
        try:
            stored = await self._load(run)
            flow = f"{stored.flow}@{stored.flow_version}"
            catalog, said = await services.catalogs.pinned(stored.catalog), services.transcript(stored.workspace)
            return await said.having(lambda: answers_read(stored, catalog, wording, services.kinds, said))
        except (JournalError, ConfigurationError, ValueError):
            return AnswersRead(run=run, flow=flow, verdict=JournalCorrupt.code)

    async def messages(self, wording: Wording) -> list[MessagesRead]:
        """What another wording would make of every session's messages, oldest session first."""
        services, every = self.runtime.services, await self.runtime.search.every_session()
        pinned = services.catalogs.pinned
        return [await messages_read(services.sessions, workspace, session, wording, pinned) for workspace, session in every]

    async def retell(self, workspace: str, session: str) -> Retold:
        """Verify a session's transcript."""
        services = self.runtime.services
        return await retell(services.sessions, workspace, session, services.catalogs.pinned)


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
        )
        library = SqliteLibrary(store, services.clock, _embedder)
        remembered = Memory(library, DocumentReader(), library.clear)
        runtime = Runtime(services, SqliteSearch(store), engine=_NoEngine(), library=remembered)
        try:
            yield Archive(store=store, runtime=runtime)
        finally:
            library.close()
    finally:
        store.close()


async def _no_header(_run: str) -> None:
    """Nothing is being written."""


def _embedder() -> Embedder | None:
    from ordain.models.embedding import installed_embedder  # lazy: only a question to what is remembered needs it

    return installed_embedder()


def verify_copy(folder: Path) -> tuple[int, int]:
    """Check a copied database whole, and replay a sample of its runs; returns (runs, replayed).

    Raises:
        JournalCorrupt: the database or a run is not what was written.
    """
    try:
        return asyncio.run(_verified(folder))
    except (sqlite3.Error, StorageUnavailable) as error:
        raise JournalCorrupt(f"the copy is damaged: {error}") from error


async def _verified(folder: Path) -> tuple[int, int]:
    with open_archive(folder) as archive:
        if damage := archive.store.damage():
            raise JournalCorrupt(f"the copy is damaged: {damage}")
        every = await archive.runs()
        sample, replayed = every[:: max(1, len(every) // SAMPLE)], 0
        for run in sample:
            report = await archive.replay(run)
            if report.verdict == FlowUnavailable.code:
                continue  # of an embedder's own kind: nobody here can judge its decisions
            if report.verdict not in {"equal", "erased"}:
                raise JournalCorrupt(f"run {run} does not replay: {report.verdict}", code="replay_failed")
            replayed += 1
        return len(every), replayed


def back_up(data_dir: Path | None, file: Path, *, as_json: bool) -> int:
    """Copy, verify, then give the copy its name.

    Raises:
        ConfigurationError: FILE exists, or its folder does not.
    """
    home = home_of(data_dir)
    if os.path.lexists(file):
        raise ConfigurationError(f"{file} exists; a backup never overwrites", code="file_exists")
    with _workshop(file.absolute().parent) as workshop:
        with open_archive(home) as archive:
            archive.store.backup(workshop / FILE)
        (workshop / FILE).chmod(0o600)
        runs, replayed = verify_copy(workshop)
        _place(workshop / FILE, file.absolute())
    return _say({"file": str(file), "bytes": file.stat().st_size, "runs": runs, "replayed": replayed}, "backed up", as_json=as_json)


def restore_from(data_dir: Path | None, file: Path, *, as_json: bool) -> int:
    """Copy a backup into an empty data folder, verified first.

    Raises:
        ConfigurationError: there is data already, or FILE is no backup of this build's.
    """
    home = home_of(data_dir)
    for name in (FILE, *(f"{FILE}{rest}" for rest in RESTS)):  # what a killed process left beside would be played into the restored data
        if os.path.lexists(home / name):
            message = f"{home / name} exists; a restore never overwrites: move the whole folder away, or restore elsewhere with --data-dir"
            raise ConfigurationError(message, code="data_exists")
    _check_is_ours(file)
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _workshop(home) as workshop:
        shutil.copyfile(file, workshop / FILE)
        (workshop / FILE).chmod(0o600)
        runs, replayed = verify_copy(workshop)
        _place(workshop / FILE, home / FILE)
    return _say({"home": str(home), "runs": runs, "replayed": replayed}, "restored", as_json=as_json)


def _check_is_ours(file: Path) -> None:
    if not file.is_file():
        raise ConfigurationError(f"there is no file {file}", code="no_backup")
    for rest in RESTS:
        if os.path.lexists(f"{file}{rest}"):
            message = f"{file} is the file of a data folder, with {file}{rest} beside it; a backup is what `ordain backup` makes"
            raise ConfigurationError(message, code="no_backup")
    try:
        version = version_of(file)
    except StorageUnavailable as error:
        raise ConfigurationError(f"{file} is no backup: {error}", code="no_backup") from error
    if not version or version > VERSION:
        raise ConfigurationError(f"{file} has schema version {version}, this build knows {VERSION}", code="no_backup")


@contextmanager
def _workshop(beside: Path) -> Generator[Path]:
    """A private folder on the same file system as the result."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=".ordain-", dir=beside))
    except OSError as error:
        raise ConfigurationError(f"cannot write in {beside}: {error.strerror}", code="cannot_write") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _place(made: Path, target: Path) -> None:
    """Make it durable, then give it its name without replacing anything."""
    with made.open("rb") as file:
        os.fsync(file.fileno())
    os.link(made, target)
    folder = os.open(target.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def _say(facts: dict[str, object], done: str, *, as_json: bool) -> int:
    if as_json:
        print_json(facts)
    else:
        show(f"{done}: {facts['runs']} runs, {facts['replayed']} of them checked by replay")
    return OK
