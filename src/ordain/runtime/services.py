"""What driving needs from outside, as ports; wired in ``ordain.app`` and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ordain.contracts.catalog import Catalog
from ordain.errors import JournalCorrupt
from ordain.flows.kinds import Kinds
from ordain.flows.transcript import TranscriptReader
from ordain.ports.access import TokenStore
from ordain.ports.clock import Clock
from ordain.ports.model import ModelPort
from ordain.ports.sessions import Entry, Sessions
from ordain.ports.store import JournalStore
from ordain.ports.upkeep import Upkeep
from ordain.ports.verb import VerbPort
from ordain.runtime.breakers import Breakers
from ordain.runtime.headers import Headers
from ordain.runtime.lost_time import LostTime
from ordain.runtime.streams import Streams

CATALOGS_KEPT = 16

StateReader = Callable[[str, str, dict[str, Any]], Any]
"""(workspace and session of the run that reads, a ``Read`` effect's args) -> what is recorded. Total: what is not there is None."""


@dataclass(slots=True, kw_only=True)
class Counters:
    """Per-phase work of this process: counts and CPU nanoseconds, for ``/metrics`` and the bench."""

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

    def __init__(self, current: Catalog, fetch: Callable[[str], bytes | None]) -> None:
        """``fetch`` reads a stored catalog by digest."""
        self.current = current
        self._fetch = fetch
        self._kept: dict[str, Catalog] = {current.digest: current}

    def pinned(self, digest: str) -> Catalog:
        """The catalog a run began under, compiled.

        Raises:
            JournalCorrupt: it is stored nowhere.
        """
        known = self._kept.get(digest)
        if known is None:
            encoded = self._fetch(digest)
            if encoded is None:
                raise JournalCorrupt(f"catalog {digest[:12]} is not stored")
            known = Catalog.from_bytes(encoded, self._fetch)
            if known.digest != digest:
                raise JournalCorrupt(f"catalog {digest[:12]} was altered")
            self._keep(known)
        return known

    def swap(self, catalog: Catalog) -> None:
        """Make another catalog current; it is stored already. Runs under way keep theirs."""
        self.current = catalog
        if catalog.digest not in self._kept:
            self._keep(catalog)

    def _keep(self, catalog: Catalog) -> None:
        if len(self._kept) >= CATALOGS_KEPT:
            self._kept.pop(next(digest for digest in self._kept if digest != self.current.digest))
        self._kept[catalog.digest] = catalog


@dataclass(slots=True, kw_only=True)
class Services:
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
    readers: Mapping[str, StateReader] = field(default_factory=dict[str, StateReader])
    counters: Counters = field(default_factory=Counters)
    breakers: Breakers = field(default_factory=Breakers)
    lost: LostTime = field(default_factory=LostTime)

    def transcript(self, workspace: str) -> TranscriptReader:
        """Reads what a reference into one of the workspace's sessions says."""

        def read(session: str, first: int, last: int) -> Sequence[Entry]:
            return self.sessions.entries(workspace, session, after=first - 1, limit=last - first + 1)

        return read
