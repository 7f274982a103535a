"""Library over SQLite: reads in one thread of their own, embeddings in another, writes through the
one writer in short units.

Dense first: with an embedder, what is nearest is found by vectors alone. The text index alone
answers what asks for letters (quotes, ids, paths) and everything where there is no embedder. The
two ranks are never fused: that was measured to find less.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import msgspec

from ordain.contracts.access import TOKEN_PRINCIPAL
from ordain.contracts.library import MemoryPolicy
from ordain.errors import Erased, InvalidRequest, OrdainError, Refused, Transient
from ordain.journal.digests import derived_id
from ordain.ports.clock import Clock
from ordain.ports.library import (
    Added,
    Embedder,
    Found,
    Item,
    ItemKind,
    LibrarySearch,
    NewItem,
    OnProgress,
    Passage,
    Reindexed,
    SourceContent,
    Theme,
)
from ordain.ports.store import Operation, Outcome
from ordain.store.embedding_time import EmbedderThread, HangingThread, TimedEmbedder
from ordain.store.finder import NO_EMBEDDER, UNREACHED, Finder
from ordain.store.library_reads import (
    ItemsAsked,
    count_passages,
    read_bare,
    read_item,
    read_items,
    read_themes,
)
from ordain.store.library_units import EVERY
from ordain.store.passages import cut
from ordain.store.reindex_log import ReindexLog, log_reindexed
from ordain.store.sqlite import SqliteStore

T = TypeVar("T")
LOG = logging.getLogger("ordain.library")
FILLED = 64
"""Passages that one unit stores."""

FULL = {"workspace_full": "the workspace remembers", "token_full": "the token has added"}
DEFAULTS = MemoryPolicy()

PASSAGES_MAX = 20_000
"""Most passages of one item."""

EMBEDDED = 256
"""Passages that are embedded at once."""


class SqliteLibrary:
    """Implements ``Library``. Belongs to one event loop; ``embedder`` None finds by words alone and
    says so.
    """

    def __init__(
        self,
        store: SqliteStore,
        clock: Clock,
        embedder: Callable[[], Embedder | None],
        policy: MemoryPolicy = DEFAULTS,
    ) -> None:
        """``embedder`` is called once, in a thread, when the first text is to be embedded or found.

        ``policy`` says whose memory is found for whom, and how much is kept.
        """
        self._policy = policy
        self._store = store
        self._clock = clock
        self._make_embedder = embedder
        self._made: tuple[Embedder | None] | None = None
        self._lacking = asyncio.Event()
        self._own = store.reader()
        self._reading = ThreadPoolExecutor(1, "ordain-library")
        self._embedding = HangingThread("ordain-embed")
        self._questions = EmbedderThread()
        self._finder = Finder(self._own or store.reading, clock.now)
        self._adding = WeakValueDictionary[str, asyncio.Lock]()

    async def add(self, item: NewItem, progress: OnProgress | None = None) -> Added:
        """See ``Library.add``."""
        passages = await self._run(self._embedding, lambda: cut(item.sections))
        if len(passages) > PASSAGES_MAX:
            raise InvalidRequest(
                f"the text makes more than {PASSAGES_MAX} passages", code="document_too_long"
            )
        if item.by.startswith(TOKEN_PRINCIPAL):  # what a token added is found by its key
            item = msgspec.structs.replace(
                item, key=f"{item.by}/{item.key or self._clock.new_run_id()}"
            )
        identity = (
            derived_id("library", f"{item.workspace}\x1f{item.key}")
            if item.key
            else self._clock.new_run_id()
        )
        async with self._adding.setdefault(identity, asyncio.Lock()):
            # of one key one at a time: the next finds what this one has kept
            try:
                return await self._add(item, identity, passages, progress)
            except BaseException:  # given up as well: what was stored of it is nobody's
                await self._take_back(identity)
                raise

    async def _add(
        self, item: NewItem, identity: str, passages: Sequence[Passage], progress: OnProgress | None
    ) -> Added:
        at = self._clock.now()
        bounds = {
            "workspace_bytes": self._policy.workspace_bytes,
            "token_bytes": self._policy.token_bytes,
        }
        begin = {"item": _row(item, identity, at), "passages": len(passages), "bounds": bounds}
        began = _within(await self._submit("library_begin", **begin))
        if began.refused == "staged":
            await self._clear(staged=identity)
            began = _within(await self._submit("library_begin", **begin))
        if began.refused:
            return Added(id=began.item, outcome="same")
        embedder = await self._run(self._embedding, self._embedder)
        replaced, embedded = 0, embedder is not None
        for first in range(0, max(len(passages), 1), FILLED):
            batch = passages[first : first + FILLED]
            answered = await self._vectors(
                embedder, [_embedded(one.heading, one.text) for one in batch]
            )
            embedded = embedded and answered is not None
            vectors = [None] * len(batch) if answered is None else answered
            filled = await self._submit(
                "library_fill",
                no=began.seq,
                passages=[
                    (one.seq, one.page, one.start, one.stop, one.heading, one.text, vector)
                    for one, vector in zip(batch, vectors, strict=True)
                ],
                keep=first + FILLED >= len(passages) and not item.staged,
                at=at,
                bounds=bounds,
                **_of(embedder),
            )
            _within(filled)
            if None in vectors and self._made is not None and self._made[0] is not None:
                # once they are stored: whoever makes up for it looks for what stands there
                self._lacking.set()
            if filled.refused == "same":
                await self._clear(staged=identity)
                return Added(id=filled.item, outcome="same")
            if filled.refused:
                raise Erased("the run that adds this was erased meanwhile")
            replaced += filled.count
            if progress is not None:
                progress(min(first + FILLED, len(passages)), len(passages))
        outcome = "staged" if item.staged else "replaced" if replaced else "added"
        if replaced:
            await self.clear()
        notice = "" if embedded else self._absent
        return Added(
            id=identity, outcome=outcome, passages=len(passages), embedded=embedded, notice=notice
        )

    async def _take_back(self, identity: str) -> None:
        """Delete what is stored of an addition that goes on no more, also where whoever waits for
        this gives up too.
        """
        try:
            await asyncio.shield(self._clear(staged=identity))
        except OrdainError as error:
            LOG.warning(
                "what is stored of an addition that failed is in no search, and is deleted at the "
                "next start: %s",
                error.message,
            )

    async def search(self, search: LibrarySearch) -> Found:
        """See ``Library.search``."""
        return await self._run(self._reading, lambda: self._found(search))

    def _found(self, search: LibrarySearch) -> Found:
        made = self._embedder_made()
        asked = (
            made
            if made is None or not search.within_s
            else TimedEmbedder(made, self._questions, search.within_s)
        )
        # an endpoint is asked before anything is read: a transaction waits for nobody
        reached = asked is not None and _reached(asked)
        with self._reads():
            return self._finder.find(
                msgspec.structs.replace(
                    search, personal=search.personal and not self._policy.shared
                ),
                asked if reached else None,
                "" if made is None else UNREACHED,
            )

    async def items(
        self,
        workspace: str,
        kinds: Sequence[ItemKind],
        *,
        limit: int,
        before: int | None = None,
        named: str = "",
        of: SourceContent | None = None,
    ) -> Sequence[Item]:
        """See ``Library.items``."""
        asked = ItemsAsked(
            workspace=workspace, kinds=kinds, limit=limit, before=before, named=named, of=of
        )
        return await self._read(lambda db: read_items(db, asked))

    async def item(self, workspace: str, item: str) -> tuple[Item, Sequence[Passage]] | None:
        """See ``Library.item``."""
        return await self._read(lambda db: read_item(db, workspace, item))

    async def remove(self, workspace: str, item: str, *, by: str, staged: bool = False) -> bool:
        """See ``Library.remove``."""
        if staged:
            await self._take_back(item)
            return False
        removed = await self._submit(
            "library_remove", workspace=workspace, id=item, by=by, at=self._clock.now()
        )
        if removed.refused:
            return False
        await self.clear()
        return True

    async def themes(
        self, workspace: str, *, limit: int, run: str | None = None
    ) -> Sequence[Theme]:
        """See ``Library.themes``."""
        return await self._read(
            lambda db: read_themes(db, workspace, limit, None if self._policy.shared else run)
        )

    async def reindex(
        self, workspace: str | None = None, progress: OnProgress | None = None
    ) -> Reindexed:
        """See ``Library.reindex``."""
        every = await self._read(lambda db: count_passages(db, workspace))
        embedder = await self._run(self._embedding, self._embedder)
        if embedder is None:
            return Reindexed(embedder="", passages=every, embedded=0, added=0, notice=self._absent)
        added = after = lacking = 0
        while bare := await self._read(
            lambda db, after=after: read_bare(db, workspace, embedder.name, after, EMBEDDED)
        ):
            texts = [text for _, text in bare]
            vectors = await self._run(self._embedding, lambda texts=texts: embedder.embed(texts))
            stored = await self._submit(
                "library_vectors",
                vectors=[
                    (no, vector)
                    for (no, _), vector in zip(bare, vectors, strict=True)
                    if any(vector)
                ],
                **_of(embedder),
            )
            lacking += len(bare) - stored.count
            added, after = added + stored.count, bare[-1][0]
            if progress is not None:
                progress(added, every)
        return Reindexed(
            embedder=embedder.name, passages=every, embedded=max(0, every - lacking), added=added
        )

    async def recover(self) -> None:
        """At a start: take back additions that were cut off, and finish removals. Only by the
        process that holds the store.
        """
        await self._clear(staged=EVERY)

    async def catch_up(self) -> None:
        """After a start: what was kept without this embedder gets its vectors."""
        if await self._read(lambda db: count_passages(db, None)):
            log_reindexed(await self.reindex(progress=ReindexLog()))

    async def keep_up(self) -> None:
        """From a start on: as ``catch_up``, and again whenever something was kept while the
        embedder's endpoint did not answer.

        Raises:
            Transient: it does not answer yet; what got vectors keeps them, and the next call goes
                on from there.
        """
        while True:
            self._lacking.clear()
            await self.catch_up()
            if why := await self._run(self._embedding, lambda: self._unreached):
                raise Transient(why, code="embedder_unavailable")
            await self._lacking.wait()

    def close(self) -> None:
        """Let what runs end, an embedder's call for a moment alone, then close. Idempotent."""
        self._reading.shutdown()
        self._embedding.shutdown()
        self._questions.close()
        if self._own is not None:
            self._own.close()

    async def clear(self) -> None:
        """Destroy what is kept no longer, until nothing of it is left in the storage."""
        await self._clear()

    async def _clear(self, *, staged: str = "") -> None:
        """Delete the passages of what is kept no longer, and merge the text indexes until nothing
        of them is left in it.
        """
        while (await self._submit("library_purge", staged=staged)).count:
            pass
        while (await self._submit("library_tidy")).count:
            pass

    async def _submit(self, name: str, **args: Any) -> Outcome:
        return await self._store.submit(Operation(name=name, args=args))

    def _embedder(self) -> Embedder | None:
        """The embedder as it can be asked now; None where there is none, or its endpoint does not
        answer (``_unreached``).
        """
        made = self._embedder_made()
        return None if made is None or not _reached(made) else made

    def _embedder_made(self) -> Embedder | None:
        """The embedder, whether or not it answers; None where there is none."""
        if self._made is None:
            self._made = (self._make_embedder(),)
        return self._made[0]

    @property
    def _absent(self) -> str:
        """Why there is no vector."""
        return NO_EMBEDDER if self._made is None or self._made[0] is None else UNREACHED

    @property
    def _unreached(self) -> str:
        """Why an embedder that there is cannot be asked; "" where it can be, or there is none."""
        return (
            UNREACHED
            if self._made is not None and self._made[0] is not None and not _reached(self._made[0])
            else ""
        )

    async def _vectors(
        self, embedder: Embedder | None, texts: Sequence[str]
    ) -> Sequence[bytes | None] | None:
        """Vectors of texts; None of an embedder that does not answer: they are made up for
        later.
        """
        if embedder is None or not texts:
            return [None] * len(texts)
        try:
            return [
                _nonzero(one)
                for one in await self._run(self._embedding, lambda: embedder.embed(texts))
            ]
        except Transient as error:
            LOG.warning("passages are kept without vectors for now: %s", error.message)
            return None

    async def _read(self, read: Callable[[sqlite3.Connection], T]) -> T:
        def reading() -> T:
            with self._reads() as db:
                return read(db)

        return await self._run(self._reading, reading)

    async def _run(self, threads: Executor, work: Callable[[], T]) -> T:
        """In the thread; where everything is in memory, here: that connection is the writer's
        too.
        """
        return (
            work()
            if self._own is None
            else await asyncio.get_running_loop().run_in_executor(threads, work)
        )

    @contextmanager
    def _reads(self) -> Generator[sqlite3.Connection]:
        """The connection, on which everything read stands at one moment."""
        db = self._own or self._store.reading
        try:
            if self._own is not None:
                db.execute("BEGIN")
            yield db
        except sqlite3.Error as error:
            raise self._store.unread(error, "the library cannot be read") from error
        finally:
            if self._own is not None and db.in_transaction:
                db.execute("ROLLBACK")


def _reached(embedder: Embedder) -> bool:
    """Whether it can be asked; one over an endpoint says so by what it knows of its own vectors."""
    try:
        return embedder.dimension > 0
    except Transient:
        return False


def _within(outcome: Outcome) -> Outcome:
    """What a bound refused, as a refusal.

    Raises:
        Refused: 507 ``quota_spent``.
    """
    if outcome.refused in FULL:
        raise Refused(
            f"{FULL[outcome.refused]} as much as policy permits; forget or remove something first",
            code="quota_spent",
            status=507,
        )
    return outcome


def _row(item: NewItem, identity: str, at: int) -> dict[str, Any]:
    plain = {
        name: value
        for name, value in msgspec.structs.asdict(item).items()
        if name not in ("by", "staged")
    }
    return {
        **plain,
        "id": identity,
        "created_at": at,
        "tags": msgspec.json.encode(item.tags).decode(),
    }


def _nonzero(vector: bytes) -> bytes | None:
    """A vector; one of zeros points nowhere, is near to nothing, and is none."""
    return vector if any(vector) else None


def _of(embedder: Embedder | None) -> dict[str, Any]:
    return (
        {"embedder": "", "dimension": 0}
        if embedder is None
        else {"embedder": embedder.name, "dimension": embedder.dimension}
    )


def _embedded(heading: str, text: str) -> str:
    return f"{heading}\n{text}" if heading else text
