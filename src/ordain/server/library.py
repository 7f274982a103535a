"""``/memory`` and ``/docs``: what is remembered, added and found and forgotten by people."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Annotated, Any
from weakref import WeakValueDictionary

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from ordain.contracts.access import TOKEN_PRINCIPAL
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.library import (
    DocumentPage,
    Kept,
    MemoryFound,
    MemorySearch,
    NotePage,
    NoteRequest,
    ReindexReport,
    RememberedItem,
    Removed,
    StoredDocument,
    StoredPassage,
)
from ordain.contracts.moments import moment
from ordain.contracts.sizes import said_bytes
from ordain.errors import InvalidRequest, OrdainError
from ordain.runtime.library import DOCUMENT_BYTES, NAME_CHARS, SOURCE_CHARS, Added, Item, Passage
from ordain.server.bodies import bounded, declared_bytes, read
from ordain.server.documents import documented, shown
from ordain.server.face import Face, Json
from ordain.server.parameters import from_query
from ordain.server.problems import problem_body
from ordain.server.refusals import UNREADABLE, refusing
from ordain.server.resource import Resource, resource
from ordain.server.room import Room
from ordain.server.segments import IdPart, Seq
from ordain.server.sent_json import spelled
from ordain.server.workspaces import Workspace

LIST_MAX = 500
SHAPES = (
    Kept,
    MemoryFound,
    MemorySearch,
    NoteRequest,
    NotePage,
    DocumentPage,
    StoredDocument,
    RememberedItem,
    StoredPassage,
    Removed,
    ReindexReport,
)
"""What the published document names."""

ROOM_BYTES = 3 * DOCUMENT_BYTES
"""Most bytes of all documents that are being added."""
ROOM_EACH = 2 * DOCUMENT_BYTES
"""Of these, most of one token."""
ROOM_LEAST = 256 * 1024
"""What a small one counts: reading it takes memory too."""
OCTETS, LINES = "application/octet-stream", "application/x-ndjson"
NOTE_EXAMPLE = {"text": "Ada drinks her tea without milk.", "tags": ["food"], "user_id": "ada"}
TOLD_EXAMPLE = (
    '{"event":"progress","stored":1,"of":1}\n'
    '{"event":"kept","id":"3f","outcome":"added","passages":1,"embedded":1}\n'
)
SEARCH_EXAMPLE = {"query": "how does Ada take her tea", "max_items": 3}
News = asyncio.Queue[dict[str, Any] | None]
ShareOf = Callable[[int], AbstractContextManager[Callable[[int], None]]]
"""The part of a room that a body takes, by the bytes it announces."""
Limit = Annotated[int, from_query(ge=1, le=LIST_MAX)]
Before = Annotated[
    Seq | None, from_query(description="The page after this one: `next` of the page before.")
]
DocumentName = Annotated[
    str,
    from_query(
        min_length=1,
        max_length=NAME_CHARS,
        description="The document's name; its ending tells the format.",
    ),
]
Source = Annotated[
    str,
    from_query(
        max_length=SOURCE_CHARS,
        description="Where it comes from; another content of the same source replaces it.",
    ),
]


def item_view(item: Item) -> dict[str, Any]:
    """A note, an entry or a document in a list."""
    plain = msgspec.to_builtins(item)
    del plain["no"]
    return {**plain, "created_at": moment(item.created_at)}


def passage_view(passage: Passage) -> dict[str, Any]:
    """A passage of a document."""
    plain: dict[str, Any] = msgspec.to_builtins(passage)
    return plain


def library_router(face: Face) -> Resource:
    """Both groups of routes."""
    router = resource("memory")
    _memory(router, face)
    _documents(router, face)
    return router


def _memory(router: Resource, face: Face) -> None:
    @router.post(
        "/memory",
        **refusing(
            documented(NoteRequest, Kept, example=NOTE_EXAMPLE), "empty_text", "quota_spent"
        ),
    )
    async def add_note(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Remember a note; the same words of the same author are one note. It is its author's own
        only where the token may send messages.
        """
        note = await read(request, NoteRequest, face.body)
        return Json(
            _kept(
                await face.runtime.library.add_note(
                    workspace, note, speaks=face.speaks(request), by=face.by(request)
                )
            )
        )

    @router.post("/memory/search", **documented(MemorySearch, MemoryFound, example=SEARCH_EXAMPLE))
    async def search_memory(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Find notes and entries by meaning, or by words; `method` says which, `notice` what limits
        the answer.
        """
        found = await face.runtime.library.search(
            workspace, await read(request, MemorySearch, face.body)
        )
        fragments = [
            {**msgspec.to_builtins(one), "created_at": moment(one.created_at)}
            for one in found.fragments
        ]
        return Json({"fragments": fragments, "method": found.method, "notice": found.notice})

    @router.get("/memory", **shown(NotePage))
    async def list_notes(
        limit: Limit = 50,
        before: Before = None,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Notes and entries, the last one added first; each with the beginning of its text."""
        found = await face.runtime.library.notes(workspace, limit=limit, before=before, named=named)
        return Json(
            {
                "notes": [item_view(one) for one in found],
                "next": found[-1].no if len(found) == limit else None,
            }
        )

    @router.post("/memory/reindex", **shown(ReindexReport))
    async def reindex_memory(workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Give a vector to every passage that was kept without this embedder."""
        return Json(msgspec.to_builtins(await face.runtime.library.reindex(workspace)))

    @router.delete("/memory/{note}", **refusing(shown(Removed), "note_not_found"))
    async def forget_note(
        note: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Destroy a note or an entry, with its words and its vectors. Runs that recalled it keep
        it until they are erased. Unused parts of pages may have copies: `ordain store compact`.
        """
        await face.runtime.library.forget(workspace, note, by=face.by(request))
        return Json({"id": note, "outcome": "forgotten"})


def _documents(router: Resource, face: Face) -> None:
    content = {
        OCTETS: {
            "schema": {"type": "string", "format": "binary"},
            "example": "# Pump\n\nThe pump stands in the cellar.\n",
        }
    }
    adding: dict[str, Any] = {
        **shown(Kept),
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
    }
    adding["responses"][200]["content"][LINES] = {
        "schema": {"type": "string"},
        "example": TOLD_EXAMPLE,
    }

    busy = "as many documents are being added as there is memory for"
    room = Room(ROOM_BYTES, ROOM_EACH, ROOM_LEAST, code="documents_busy", message=busy)
    told: set[asyncio.Task[None]] = set()
    places = WeakValueDictionary[str, asyncio.Lock]()

    @router.post("/docs", **refusing(adding, *UNREADABLE))
    async def add_document(
        request: Request,
        name: DocumentName,
        source: Source = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Add a document: its bytes as `application/octet-stream`. With `Accept:
        application/x-ndjson` the answer tells how far it is.
        """
        library = face.runtime.library
        with ExitStack() as held:
            by = face.by(request)
            content = await _octets(request, held, partial(room.share, by))
            add = partial(
                _in_place,
                places,
                by,
                partial(library.add_document, workspace, name, content, source=source, by=by),
            )
            if LINES not in request.headers.get("accept", ""):
                return Json(_kept(await add()))
            news = News()
            work = asyncio.ensure_future(_adding(add, news, held.pop_all()))
            told.add(work)  # it goes on, and gives back what it holds, also where nobody listens
            work.add_done_callback(told.discard)
            return StreamingResponse(_told(news, work), media_type=LINES)

    @router.get("/docs", **shown(DocumentPage))
    async def list_documents(
        limit: Limit = 50,
        before: Before = None,
        named: IdPart = "",
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Documents, the last one added first."""
        found = await face.runtime.library.documents(
            workspace, limit=limit, before=before, named=named
        )
        return Json(
            {
                "documents": [item_view(one) for one in found],
                "next": found[-1].no if len(found) == limit else None,
            }
        )

    @router.get("/docs/{document}", **refusing(shown(StoredDocument), "document_not_found"))
    async def show_document(document: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """One document and its passages, as they are found."""
        item, passages = await face.runtime.library.document(workspace, document)
        return Json({**item_view(item), "contents": [passage_view(one) for one in passages]})

    @router.delete("/docs/{document}", **refusing(shown(Removed), "document_not_found"))
    async def remove_document(
        document: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """Destroy a document's text and vectors; copies may stay as of a note."""
        await face.runtime.library.remove_document(workspace, document, by=face.by(request))
        return Json({"id": document, "outcome": "removed"})


async def _in_place(
    places: WeakValueDictionary[str, asyncio.Lock],
    by: str,
    add: Callable[..., Awaitable[Added]],
    **more: Any,
) -> Added:
    """Add in the one place that a token has, so that no token keeps others from theirs; the owner
    has as many as there are.
    """
    place = (
        places.setdefault(by, asyncio.Lock()) if by.startswith(TOKEN_PRINCIPAL) else nullcontext()
    )
    async with place:
        return await add(**more)


def _kept(added: Added) -> dict[str, Any]:
    return msgspec.to_builtins(added)


async def _octets(request: Request, held: ExitStack, share: ShareOf) -> bytes:
    """The body, bounded, and its part of the room, which ``held`` gives back.

    Raises:
        InvalidRequest: 413 ``document_too_large``, 415 ``unsupported_media_type``.
        Transient: 503 ``documents_busy``.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != OCTETS:
        raise InvalidRequest(
            f"send the document's bytes as {OCTETS}", code="unsupported_media_type", status=415
        )
    too_large = InvalidRequest(
        f"a document has at most {said_bytes(DOCUMENT_BYTES)}",
        code="document_too_large",
        status=413,
    )
    if (declared := declared_bytes(request)) > DOCUMENT_BYTES:
        raise too_large
    return await bounded(request, DOCUMENT_BYTES, too_large, held.enter_context(share(declared)))


async def _adding(add: Callable[..., Awaitable[Added]], news: News, held: ExitStack) -> None:
    """Add, and tell how far it is; None at the end. What is ``held`` is given back then."""

    def progress(stored: int, of: int) -> None:
        news.put_nowait({"event": "progress", "stored": stored, "of": of})

    with held:
        try:
            news.put_nowait({"event": "kept", **_kept(await add(progress=progress))})
        except OrdainError as error:
            news.put_nowait(
                {
                    "event": "refused",
                    "problem": problem_body(error.status, error.code, error.message),
                }
            )
        finally:
            news.put_nowait(None)


async def _told(news: News, work: asyncio.Task[None]) -> AsyncGenerator[bytes]:
    """How far the addition is, a JSON object a line; the last one is what became of it, or the
    problem.
    """
    while (one := await news.get()) is not None:
        yield spelled(one) + b"\n"
    await work
