"""Library and Embedder: what is remembered (notes, entries, documents), and the vectors by which it
is found again.

Everything belongs to one workspace and keeps who wrote it, where it came from and how far it is
trusted. Times are in microseconds since 1970 UTC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from ordain.contracts.library import RecallMode
from ordain.contracts.verbs import Trust


class ItemKind(StrEnum):
    """What an item is: a note that a person added, an entry that a verb wrote, or a document."""

    NOTE = "note"
    ENTRY = "entry"
    DOCUMENT = "document"


NOTES = (ItemKind.NOTE, ItemKind.ENTRY)
LOOKED_IN = {
    RecallMode.HYBRID: NOTES,
    RecallMode.GRAPH: NOTES,
    RecallMode.DEEP: (*NOTES, ItemKind.DOCUMENT),
}
"""Which kinds a mode of recall looks at."""


class Method(StrEnum):
    """How passages were found: by the nearness of vectors, or by their words."""

    DENSE = "dense"
    TEXT = "text"


class Section(Struct, frozen=True, kw_only=True):
    """A stretch of an item's text below one heading or on one page (from 1; 0: it has no pages);
    ``start`` is where it begins.
    """

    text: str
    heading: str = ""
    page: int = 0
    start: int = 0


class NewItem(Struct, frozen=True, kw_only=True):
    """Something to remember. ``run`` ties it to a run's subject: erasing that erases the item.

    ``key``: the same key is the same item, however often it is added. A document with a ``source``
    that came before replaces it. ``staged``: it waits for the unit that a message arrives in
    (``AttachmentKept``), found by nobody until then; what is given up is removed by its id. ``by``
    is who adds it, as journals name them: what a token adds counts for its bound. ``digest`` is the
    content's, where the same content (of a document: of the same source) is to be kept once.
    """

    workspace: str
    kind: ItemKind
    sections: tuple[Section, ...]
    trust: Trust
    title: str = ""
    theme: str = ""
    mood: str = ""
    tags: tuple[str, ...] = ()
    media_type: str = "text/plain"
    author: str = ""
    source: str = ""
    run: str = ""
    key: str = ""
    by: str = ""
    digest: str = ""
    size: int = 0
    pages: int = 0
    staged: bool = False


class Added(Struct, frozen=True, kw_only=True):
    """What became of an addition. ``outcome``: added, same (it was there already), replaced (an
    older document of its source) or staged.

    ``notice``: why it is found by its words alone, where there is no embedder or none answers.
    """

    id: str
    outcome: str
    passages: int = 0
    embedded: bool = False
    notice: str = ""


class SourceContent(Struct, frozen=True, kw_only=True):
    """A content of one source, by its digest: what an addition of the same is told by."""

    source: str
    digest: str


class Item(Struct, frozen=True, kw_only=True):
    """An item as it is kept. ``no`` orders items as they were added."""

    no: int
    id: str
    kind: ItemKind
    title: str
    theme: str
    mood: str
    tags: tuple[str, ...]
    media_type: str
    trust: Trust
    author: str
    source: str
    session: str
    run: str
    size: int
    pages: int
    passages: int
    created_at: int
    excerpt: str = ""


class Passage(Struct, frozen=True, kw_only=True):
    """A stretch of an item that is found as one: characters ``start`` to ``stop`` of the item's
    text, or of its page's.
    """

    seq: int
    text: str
    heading: str
    page: int
    start: int
    stop: int


class LibrarySearch(Struct, frozen=True, kw_only=True):
    """A question: at most ``limit`` passages of items of these kinds, added in the last ``days``
    (0: ever), of item ``document`` alone if named.

    ``user``, else whoever sent the message that ``run`` serves, is on whose behalf: what somebody
    else wrote as their own is a member's to them. ``personal``: whatever another user let be
    remembered is not found, unless the library was opened as shared. ``session``: of what came with
    a message only what came in that one ("": none; None: whatever came). ``attached``: of these
    items alone, and what they begin with whatever is asked. ``within_s``: so much time is left for
    it, of which an embedder gets a part (0: nobody said).
    """

    workspace: str
    query: str
    limit: int
    kinds: tuple[ItemKind, ...]
    days: int = 0
    document: str = ""
    user: str = ""
    run: str = ""
    session: str | None = None
    personal: bool = False
    attached: tuple[str, ...] = ()
    within_s: float = 0


class Fragment(Struct, frozen=True, kw_only=True):
    """A passage that was found, with its item. ``score``: cosine for dense, the text index's rank
    (greater is nearer) for text.
    """

    id: str
    text: str
    title: str
    heading: str
    page: int
    start: int
    stop: int
    source: str
    kind: ItemKind
    score: float
    created_at: int
    trust: Trust
    author: str


class Found(Struct, frozen=True, kw_only=True):
    """What was found, best first; how, and what whoever reads it should know of that ("": nothing).
    ``of``: passages that the attached items have in all.
    """

    method: Method
    fragments: tuple[Fragment, ...]
    notice: str = ""
    of: int = 0


class Theme(Struct, frozen=True, kw_only=True):
    """The theme of one entry."""

    at: int
    theme: str


class Reindexed(Struct, frozen=True, kw_only=True):
    """How many passages have a vector of the present embedder ("": there is none, or its endpoint
    does not answer, as ``notice`` says), and how many got theirs now.
    """

    embedder: str
    passages: int
    embedded: int
    added: int
    notice: str = ""


OnProgress = Callable[[int, int], None]
"""Called with how many passages are stored, of how many."""


class Library(Protocol):
    """Storage of what is remembered.

    Writes are durable when they return. Errors: ``StorageUnavailable`` where nothing can be written
    or read; ``InvalidRequest`` for an item of too many passages.
    """

    async def add(self, item: NewItem, progress: OnProgress | None = None) -> Added:
        """Keep an item. Idempotent by ``key``, by ``digest`` and, for documents, by source; one
        that fails or is given up leaves nothing.

        Raises:
            Erased: the run that adds it was erased meanwhile.
        """
        ...

    async def search(self, search: LibrarySearch) -> Found:
        """The passages nearest to a question."""
        ...

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
        """Items, the last one added first, of numbers below ``before``; each with the beginning of
        its text.

        Only those whose id begins or ends with ``named``, and those that hold this content ``of``
        this source, where either is given.
        """
        ...

    async def item(self, workspace: str, item: str) -> tuple[Item, Sequence[Passage]] | None:
        """One item, by its id, and its passages in order."""
        ...

    async def remove(self, workspace: str, item: str, *, by: str, staged: bool = False) -> bool:
        """Destroy an item, its words and its vectors; False where none is kept. ``staged``: only
        where it is staged, and what is kept stays.
        """
        ...

    async def themes(
        self, workspace: str, *, limit: int, run: str | None = None
    ) -> Sequence[Theme]:
        """The themes of the last entries that have one, oldest first; with a ``run`` those that
        whoever it works for may be given.
        """
        ...

    async def reindex(
        self, workspace: str | None = None, progress: OnProgress | None = None
    ) -> Reindexed:
        """Give a vector of the present embedder to every passage that has none, in one workspace or
        (None) in all.
        """
        ...


class Embedder(Protocol):
    """Turns text into vectors: float32, little-endian, of length 1. Called from threads; vectors of
    two names are never compared.

    One that asks an endpoint raises ``Transient`` of each of these while that does not answer.
    """

    @property
    def name(self) -> str:
        """The model and its version: which vectors may be compared."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        """One vector for each text; of zeros where the text holds nothing the model knows: whoever
        asks takes that for none.
        """
        ...
