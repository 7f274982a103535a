"""Reloading: a running process takes up what its operator has written, whole or not at all.

A new catalog is built aside, stored, and only then becomes current, together with its code, in one step of the event loop. What is
wrong leaves everything as it was. Runs under way keep the catalog that they pinned; what the new one forbids, they may no longer do.
"""

from __future__ import annotations

import asyncio
import logging

from msgspec import Struct

from ordain.errors import OrdainError
from ordain.ports.catalog_source import Built, CatalogSource, Problem
from ordain.ports.store import Operation
from ordain.runtime.services import Services

__all__ = ["Problem", "Reloaded", "Reloading", "problem_of"]

LOG = logging.getLogger("ordain.reload")
MESSAGE_MAX = 2000


class Reloaded(Struct, frozen=True, kw_only=True):
    """What came of it: whether what is written is in use now, whether the catalog is another one, and what cannot be used."""

    ok: bool
    changed: bool
    catalog: str
    problems: tuple[Problem, ...] = ()


class Reloading:
    """Keeps ``Services.catalogs`` in step with a source. Belongs to one event loop."""

    def __init__(self, services: Services, source: CatalogSource, began: tuple[object, tuple[Problem, ...]]) -> None:
        """``began`` is the fingerprint from before the first catalog was built, and what was left out of that."""
        self._services = services
        self._source = source
        self._seen, self.problems = began
        self._lock = asyncio.Lock()
        self._written: int | None = None

    async def watch(self, every_s: float) -> None:
        """Look for changes, for ever. A change counts once it has stood for one round: files are written one after the other."""
        before = self._seen
        while True:
            await asyncio.sleep(every_s)
            try:
                found = await asyncio.to_thread(self._source.fingerprint)
                if found == before and found != self._seen:
                    await self.reload()
                before = found
            except Exception:  # a fault of ours ends one look, never the watching: the next change is still noticed
                LOG.exception("looking for changed verbs failed, those of before stay")

    async def reload(self) -> Reloaded:
        """Take up what is written now. Never an error: what cannot be used is in the answer, in ``problems`` and in the log."""
        async with self._lock:
            self._seen = await asyncio.to_thread(self._source.fingerprint)
            before = self._services.catalogs.current.digest
            try:
                built = await asyncio.to_thread(self._source.build)
                await self._swap(built)
            except OrdainError as error:
                self.problems = (problem_of(error),)
                LOG.error("verbs were not reloaded, those of before stay: %s", self.problems[0].message)
                return Reloaded(ok=False, changed=False, catalog=before, problems=self.problems)
            self.problems = built.problems
            for problem in self.problems:
                LOG.error("left out: %s", problem.message)
            changed = built.catalog.digest != before
            if changed:
                LOG.info("verbs reloaded catalog=%s verbs=%d", built.catalog.digest[:12], len(built.catalog.verbs))
            return Reloaded(ok=True, changed=changed, catalog=built.catalog.digest, problems=self.problems)

    async def _swap(self, built: Built) -> None:
        """Store, then use. A catalog of which no record can speak is taken out of the storage again."""
        services, new = self._services, built.catalog
        old = services.catalogs.current.digest
        if new.digest == old:
            built.install()
            return
        kept = await services.store.submit(Operation(name="keep_catalog", args={"digest": new.digest, "bytes": new.encoded}))
        services.catalogs.swap(new)
        built.install()
        written, self._written = self._written, None if kept.refused else kept.count
        if written is not None:
            await services.store.submit(Operation(name="drop_catalog", args={"digest": old, "written": written}))


def problem_of(error: OrdainError) -> Problem:
    """An error as a problem, with the place that it names."""
    file, line = error.details.get("file"), error.details.get("line")
    return Problem(
        code=error.code,
        message=error.message[:MESSAGE_MAX],
        file=file if isinstance(file, str) else "",
        line=line if isinstance(line, int) else 0,
    )
