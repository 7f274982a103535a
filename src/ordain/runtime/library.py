"""What faces may do with what is remembered: add, find, list and forget notes and documents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ordain.contracts.library import MemorySearch, NoteRequest
from ordain.contracts.nearest import as_given
from ordain.contracts.verbs import Trust
from ordain.errors import InvalidRequest, NotFound
from ordain.journal.digests import content_digest
from ordain.journal.records import ENCODER
from ordain.ports.documents import DOCUMENT_BYTES, NAME_CHARS, SOURCE_CHARS, Documents
from ordain.ports.library import (
    LOOKED_IN,
    NOTES,
    Added,
    Found,
    Item,
    ItemKind,
    Library,
    LibrarySearch,
    NewItem,
    OnProgress,
    Passage,
    Reindexed,
    Section,
    SourceContent,
)

__all__ = [
    "DOCUMENT_BYTES",
    "NAME_CHARS",
    "SOURCE_CHARS",
    "Added",
    "Found",
    "Item",
    "Memory",
    "OnProgress",
    "Passage",
    "Reindexed",
]

DOCUMENTS = (ItemKind.DOCUMENT,)


class Memory:
    """The library behind the door."""

    def __init__(
        self, library: Library, documents: Documents, clear: Callable[[], Awaitable[None]]
    ) -> None:
        """Over the ports; ``clear`` destroys what an erasure has hidden, until nothing of it is
        left in the storage.
        """
        self._library = library
        self._documents = documents
        self.clear = clear

    async def add_note(
        self, workspace: str, note: NoteRequest, *, speaks: bool = True, by: str = ""
    ) -> Added:
        """Keep what a person says; the same words of the same author are one note.

        ``speaks``: who hands it in may speak for users. From anybody else a name proves nothing:
        the note is a member's, also to its author.
        """
        text = note.text.strip()
        if not text:
            raise InvalidRequest("a note has a text", code="empty_text")
        title, author = note.title.strip(), note.user_id
        # never taken for one's own
        said = (
            (author, title, text)
            if speaks or not author
            else (author, title, text, "said by another")
        )
        return await self._library.add(
            NewItem(
                workspace=workspace,
                kind=ItemKind.NOTE,
                sections=(Section(text=text, heading=title),),
                trust=Trust.OWN if author and speaks else Trust.MEMBER,
                title=title,
                tags=tuple(note.tags),
                author=author,
                source="note",
                by=by,
                digest=content_digest(ENCODER.encode(said)),
                size=len(text.encode()),
            )
        )

    async def search(self, workspace: str, asked: MemorySearch) -> Found:
        """Find notes and entries; with mode deep, documents too."""
        return await self._library.search(
            LibrarySearch(
                workspace=workspace,
                query=asked.query,
                limit=asked.max_items,
                kinds=LOOKED_IN[asked.mode],
                days=asked.time_window_days,
                user=asked.user_id,
            )
        )

    async def add_document(
        self,
        workspace: str,
        name: str,
        content: bytes,
        *,
        source: str = "",
        progress: OnProgress | None = None,
        by: str = "",
    ) -> Added:
        """Keep a document's text; the same bytes of one ``source`` are one document, another
        content of it replaces the one before.

        What is kept of that source with these bytes, under this name, is there already: it is not
        read for that once more.

        Raises: as ``Documents.read``; InvalidRequest where the name is none.
        """
        name = " ".join(name.split())
        if not name or len(name) > NAME_CHARS or not name.isprintable():
            raise InvalidRequest(
                f"a document has a name of at most {NAME_CHARS} characters that can be shown",
                code="invalid_name",
            )
        of = SourceContent(source=source or name, digest=content_digest(content))
        kept = await self._library.items(workspace, DOCUMENTS, limit=1, of=of)
        if kept and kept[0].title == name:
            return Added(id=kept[0].id, outcome="same")
        read = await self._documents.read(name, content)
        return await self._library.add(
            NewItem(
                workspace=workspace,
                kind=ItemKind.DOCUMENT,
                sections=read.sections,
                trust=Trust.FOREIGN,
                title=name,
                media_type=read.media_type,
                by=by,
                source=of.source,
                digest=of.digest,
                size=len(content),
                pages=read.pages,
            ),
            progress,
        )

    async def stage_document(
        self, workspace: str, file: tuple[str, bytes], *, source: str, author: str, by: str
    ) -> Added:
        """Read a file (name and bytes) that comes with a message, and keep it nowhere yet; raises
        as ``add_document``.
        """
        name, content = file
        read = await self._documents.read(name, content)
        return await self._library.add(
            NewItem(
                workspace=workspace,
                kind=ItemKind.DOCUMENT,
                sections=read.sections,
                trust=Trust.FOREIGN,
                title=name,
                media_type=read.media_type,
                author=author,
                by=by,
                source=source,
                digest=content_digest(content),
                size=len(content),
                pages=read.pages,
                staged=True,
            )
        )

    async def give_up(self, workspace: str, document: str) -> None:
        """A staged document is not wanted after all."""
        await self._library.remove(workspace, document, by="", staged=True)

    async def notes(
        self, workspace: str, *, limit: int, before: int | None, named: str = ""
    ) -> Sequence[Item]:
        """Notes and entries, the last one added first; with ``named`` those whose id begins or ends
        so.
        """
        return await self._library.items(workspace, NOTES, limit=limit, before=before, named=named)

    async def documents(
        self, workspace: str, *, limit: int, before: int | None, named: str = ""
    ) -> Sequence[Item]:
        """Documents, likewise."""
        return await self._library.items(
            workspace, DOCUMENTS, limit=limit, before=before, named=named
        )

    async def document(self, workspace: str, document: str) -> tuple[Item, Sequence[Passage]]:
        """A document and its passages.

        Raises:
            NotFound: no such document in this workspace.
        """
        return await self._of_kind(workspace, document, DOCUMENTS)

    async def forget(self, workspace: str, note: str, *, by: str) -> None:
        """Destroy a note or an entry.

        Raises:
            NotFound: no such note in this workspace.
        """
        await self._of_kind(workspace, note, NOTES)
        await self._library.remove(workspace, note, by=by)

    async def remove_document(self, workspace: str, document: str, *, by: str) -> None:
        """Destroy a document's text.

        Raises:
            NotFound: no such document in this workspace.
        """
        await self._of_kind(workspace, document, DOCUMENTS)
        await self._library.remove(workspace, document, by=by)

    async def reindex(self, workspace: str) -> Reindexed:
        """Give every passage a vector of the present embedder."""
        return await self._library.reindex(workspace)

    async def _of_kind(
        self, workspace: str, item: str, kinds: tuple[ItemKind, ...]
    ) -> tuple[Item, Sequence[Passage]]:
        found = await self._library.item(workspace, item)
        if found is None or found[0].kind not in kinds:
            what = "document" if kinds == DOCUMENTS else "note"
            raise NotFound(f"there is no {what} {as_given(item, 64)}", code=f"{what}_not_found")
        return found
