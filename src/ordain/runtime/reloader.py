"""Reload: a running process takes up what its operator has written, whole or not at all.

A new catalog is built aside, stored, and only then becomes current, together with its code, in one
step of the event loop. What is wrong leaves everything as it was. Runs under way keep the catalog
that they pinned; what the new one forbids, they may no longer do.
"""

from __future__ import annotations

import asyncio
import logging

from msgspec import Struct

from ordain.errors import OrdainError
from ordain.ports.catalog_source import Built, CatalogProblem, CatalogSource
from ordain.ports.store import Operation
from ordain.rules.header import plain
from ordain.runtime.services import Services

__all__ = ["CatalogProblem", "Reloaded", "Reloader", "problem_of"]

LOG = logging.getLogger("ordain.reload")
MESSAGE_MAX = 2000


class Reloaded(Struct, frozen=True, kw_only=True):
    """What came of it: whether what is written is in use now, whether the catalog is another one,
    and what cannot be used.
    """

    ok: bool
    changed: bool
    catalog: str
    problems: tuple[CatalogProblem, ...] = ()


class Reloader:
    """Keeps ``Services.catalogs`` in step with a source. Belongs to one event loop."""

    def __init__(
        self,
        services: Services,
        source: CatalogSource,
        began: tuple[object, tuple[CatalogProblem, ...]],
    ) -> None:
        """``began`` is the fingerprint from before the first catalog was built, and what was left
        out of that.
        """
        self._services = services
        self._source = source
        self._seen, self.problems = began
        self._lock = asyncio.Lock()
        self._written: int | None = None
        self._tell()

    async def watch(self, every_s: float) -> None:
        """Look for changes, for ever. A change counts once it has stood for one round: files are
        written one after the other.
        """
        before = self._seen
        while True:
            await asyncio.sleep(every_s)
            found = await asyncio.to_thread(self._source.fingerprint)
            if found == before and found != self._seen:
                await self.reload()
            before = found

    async def reload(self) -> Reloaded:
        """Take up what is written now. Never an error: what cannot be used is in the answer, in
        ``problems`` and in the log.

        Files that cannot be used are not looked at again until they change; what could not be
        stored is tried again at the next look.
        """
        async with self._lock:
            found = await asyncio.to_thread(self._source.fingerprint)
            before = self._services.catalogs.current.digest
            try:
                built = await asyncio.to_thread(self._source.build)
            except OrdainError as error:
                self._seen = found
                return self._refused(problem_of(error))
            except Exception as error:
                # a bug of ours, or of what the files reach: the verbs of before stay, and only a
                # change may help
                self._seen = found
                LOG.exception("reading verbs, wording, workflows, cards and seats failed")
                return self._refused(
                    CatalogProblem(
                        code="internal",
                        message=(
                            "a bug while reading verbs, wording, workflows, cards and seats "
                            f"({type(error).__name__}): see the log"
                        ),
                    )
                )
            try:
                await self._swap(built)
            except OrdainError as error:
                self._seen = None  # the next look tries again, whatever is written then
                return self._refused(problem_of(error))
            self._seen, self.problems = found, built.problems
            self._tell()
            changed = built.catalog.digest != before
            if changed:
                LOG.info(
                    "reloaded catalog=%s verbs=%d wording=%s",
                    built.catalog.digest[:12],
                    len(built.catalog.verbs),
                    built.catalog.wording_id[:14],
                )
            return Reloaded(
                ok=True, changed=changed, catalog=built.catalog.digest, problems=self.problems
            )

    def _tell(self) -> None:
        for problem in self.problems:
            if problem.warning:
                LOG.warning("%s", problem.message)
            else:
                LOG.error("left out: %s", problem.message)

    def _refused(self, problem: CatalogProblem) -> Reloaded:
        """Nothing has changed; a problem that lasts is logged once."""
        if self.problems != (problem,):
            LOG.error("nothing was reloaded, what was in use stays: %s", problem.message)
        self.problems = (problem,)
        return Reloaded(
            ok=False,
            changed=False,
            catalog=self._services.catalogs.current.digest,
            problems=self.problems,
        )

    async def _swap(self, built: Built) -> None:
        """Store, then use. A catalog of which no record can speak is taken out of the storage
        again.

        Raises:
            StorageUnavailable, LeaseLost: it could not be stored, and nothing has changed.
        """
        services, new = self._services, built.catalog
        before = services.catalogs.current
        old = before.digest
        if new.digest == old:
            built.install()
            return
        kept = await services.store.submit(
            Operation(name="keep_catalog", args={"digest": new.digest, "stored": new.stored})
        )
        services.catalogs.swap(new)
        built.install()
        written, self._written = self._written, None if kept.refused else kept.count
        if written is not None:
            try:
                table = before.wording_id.partition(":")[2]
                await services.store.submit(
                    Operation(
                        name="drop_catalog",
                        args={"digest": old, "table": table, "written": written},
                    )
                )
            except OrdainError as error:
                LOG.warning(
                    "catalog %s stays in the storage, where nothing may refer to it: %s",
                    old[:12],
                    error.message,
                )


def problem_of(error: OrdainError) -> CatalogProblem:
    """An error as a problem, with the place that it names; on one line, for a file may be named
    with line ends.
    """
    file, line = error.details.get("file"), error.details.get("line")
    return CatalogProblem(
        code=error.code,
        message=plain(error.message, MESSAGE_MAX),
        file=plain(file, MESSAGE_MAX) if isinstance(file, str) else "",
        line=line if isinstance(line, int) else 0,
    )
