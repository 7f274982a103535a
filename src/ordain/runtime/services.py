"""What driving needs from outside, as ports; wired in ``ordain.app`` and nowhere else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct, field

from ordain.contracts.catalog import Catalog
from ordain.errors import JournalCorrupt
from ordain.flows.kinds import Kinds
from ordain.ports.access import TokenStore
from ordain.ports.approvals import Approvals
from ordain.ports.clock import Clock
from ordain.ports.configuration import Configuration
from ordain.ports.model import ModelPort
from ordain.ports.sessions import Sessions
from ordain.ports.store import JournalStore
from ordain.ports.upkeep import Upkeep
from ordain.ports.verb import VerbPort
from ordain.runtime.asking_run import Looking
from ordain.runtime.breakers import Breakers
from ordain.runtime.headers import Headers
from ordain.runtime.lost_time import LostTime
from ordain.runtime.read_transcript import ReadTranscript
from ordain.runtime.streams import Streams
from ordain.runtime.ways import Ways

CATALOGS_KEPT = 16

StateReader = Callable[[str, str, dict[str, Any]], Awaitable[Any]]
"""(workspace and session of the run that reads, a ``Read`` effect's args) -> what is recorded.
Total: what is not there is None.
"""


class Counters(Struct, kw_only=True):
    """Per-phase work of this process: counts and CPU nanoseconds, for ``/metrics`` and the
    bench.
    """

    effects: int = 0
    decisions: int = 0
    records: int = 0
    runs_ended: int = 0
    model_calls: int = 0
    verb_calls: int = 0
    render_ns: int = 0
    validate_ns: int = 0
    decide_ns: int = 0
    encode_ns: int = 0


class Catalogs:
    """The current catalog, and the pinned ones of runs that began under another."""

    def __init__(self, current: Catalog, fetch: Callable[[str], Awaitable[bytes | None]]) -> None:
        """``fetch`` reads a stored catalog by digest."""
        self.current = current
        self._fetch = fetch
        self._kept: dict[str, Catalog] = {current.digest: current}

    async def pinned(self, digest: str) -> Catalog:
        """The catalog a run began under, compiled.

        Raises:
            JournalCorrupt: it is stored nowhere.
        """
        known = self._kept.get(digest)
        if known is None:
            encoded = await self._fetch(digest)
            if encoded is None:
                raise JournalCorrupt(f"catalog {digest[:12]} is not stored")
            tables = dict[str, bytes | None]()
            known = Catalog.from_bytes(encoded, tables.get)
            if (table := known.table_digest) is not None:
                tables[table] = await self._fetch(table)
            if known.digest != digest:
                raise JournalCorrupt(f"catalog {digest[:12]} was altered")
            self._keep(known)
        return known

    def known(self, digest: str) -> Catalog | None:
        """The catalog, where it was asked for before and is kept."""
        return self._kept.get(digest)

    def swap(self, catalog: Catalog) -> None:
        """Make another catalog current; it is stored already. Runs under way keep theirs."""
        self.current = catalog
        if catalog.digest not in self._kept:
            self._keep(catalog)

    def _keep(self, catalog: Catalog) -> None:
        if len(self._kept) >= CATALOGS_KEPT:
            self._kept.pop(next(digest for digest in self._kept if digest != self.current.digest))
        self._kept[catalog.digest] = catalog


NOT_READ = "not_read"
"""A decision in a write transaction is refused so where it lacks a catalog that has to be read
before: it is made again then.
"""


class PinnedCatalogs:
    """Catalogs for a decision that is made where nothing can be awaited. What is not there is
    noted; ``fetch`` reads it.
    """

    def __init__(self, catalogs: Catalogs) -> None:
        """Those that are kept are there."""
        self._catalogs = catalogs
        self._read: dict[str, Catalog | JournalCorrupt] = {}
        self.missing = ""

    def __call__(self, digest: str) -> Catalog:
        """The catalog of a digest.

        Raises:
            JournalCorrupt: it is stored nowhere, or not read yet (``missing``).
        """
        found = self._catalogs.known(digest) or self._read.get(digest)
        if found is None:
            self.missing = digest
            raise JournalCorrupt(f"catalog {digest[:12]} is not read yet")
        if isinstance(found, JournalCorrupt):
            raise found
        return found

    async def fetch(self) -> bool:
        """Read what was missing; whether there was anything."""
        digest, self.missing = self.missing, ""
        if digest:
            try:
                self._read[digest] = await self._catalogs.pinned(digest)
            except JournalCorrupt as error:
                self._read[digest] = error
        return bool(digest)


class Services(Struct, kw_only=True):
    """The ports behind the runtime."""

    store: JournalStore
    clock: Clock
    models: Mapping[str, ModelPort]
    verbs: VerbPort
    catalogs: Catalogs
    kinds: Kinds
    headers: Headers
    sessions: Sessions
    streams: Streams
    tokens: TokenStore
    upkeep: Upkeep
    approvals: Approvals
    configuration: Configuration
    readers: Mapping[str, StateReader] = field(default_factory=dict[str, StateReader])
    counters: Counters = field(default_factory=Counters)
    breakers: Breakers = field(default_factory=Breakers)
    ways: Ways = field(default_factory=Ways)
    lost: LostTime = field(default_factory=LostTime)

    def transcript(self, workspace: str) -> ReadTranscript:
        """Reads what a reference into one of the workspace's sessions says."""
        return ReadTranscript(self.sessions, workspace)

    def looking(self, until: int | None = None) -> Looking:
        """How a run here looks at what may have happened beside it."""
        return Looking(until=until, pinned=self.catalogs.pinned, at_work=self.headers.at_work)
