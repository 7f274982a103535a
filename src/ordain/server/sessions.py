"""``/sessions``: looking at conversations, their threads, transcripts and live events, and erasing them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.runtime.streams import event_of
from ordain.server.answering import acknowledged, answered, wire
from ordain.server.bodies import read
from ordain.server.documents import documented
from ordain.server.erasing import Erased, erase_session
from ordain.server.examples import ERASE
from ordain.server.face import Face, Json
from ordain.server.feed import HEARTBEAT_S, STREAM_HEADERS, Feed
from ordain.server.operators import Why
from ordain.server.segments import decoded
from ordain.server.views import session_row, session_view
from ordain.server.workspaces import Workspace

LIST_MAX = 500
WAIT_MAX_S = 300


class EventStream(StreamingResponse):
    """A session's events as server-sent events, until the caller leaves or the server stops."""

    def __init__(self, feed: Feed) -> None:
        """The feed is closed with the response."""
        super().__init__(_sent(feed), media_type="text/event-stream", headers=STREAM_HEADERS)
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events as they come."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feed.close()


async def _sent(feed: Feed) -> AsyncIterator[bytes]:
    yield b": from here on\n\n"
    while not feed.over:
        event = await feed.next(HEARTBEAT_S)
        if event is None:
            yield b": still here\n\n"
            continue
        seq: int | None = getattr(event, "seq", None)  # only what is durable has a number, and can be resumed after
        known = b"" if seq is None else f"id: {seq}\n".encode()
        yield known + f"event: {event.__struct_config__.tag}\ndata: ".encode() + msgspec.json.encode(event) + b"\n\n"


def sessions_router(face: Face) -> APIRouter:
    """Reading routes, and erasing. Ids stand percent-encoded in paths: a slash in an id is ``%2F``."""
    router = APIRouter(prefix="/sessions", tags=["conversation"])
    conversation = face.runtime.conversation

    @router.get("", response_class=Json, response_model=None)
    async def list_sessions(
        limit: Annotated[int, Query(ge=1, le=LIST_MAX)] = 50,
        before: Annotated[int | None, Query(ge=0, description="Only sessions used before this one: `next` of the page before.")] = None,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Sessions, the most recently used first."""
        rows = conversation.sessions(workspace, limit=limit, before=before)
        return Json({"sessions": [session_row(row) for row in rows], "next": rows[-1].last_at if len(rows) == limit else None})

    @router.get("/{session}", response_class=Json, response_model=None)
    async def show_session(session: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """One session and its threads, those at work first."""
        return Json(session_view(*conversation.session(workspace, decoded(session))))

    @router.get("/{session}/messages", response_class=Json, response_model=None)
    async def show_transcript(
        session: str,
        after: Annotated[int, Query(ge=-1, le=2**53, description="Only entries with a higher seq; -1: the last ones.")] = -1,
        limit: Annotated[int, Query(ge=1, le=LIST_MAX)] = 50,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """The transcript: messages, questions, replies, in order, each as the event that it was."""
        row, _ = conversation.session(workspace, decoded(session))
        entries = [event_of(entry) for entry in conversation.transcript(workspace, row.id, after=after, limit=limit)]
        last = entries[-1].seq if entries else after
        return Json({"entries": entries, "next": last if last < row.head else None})

    @router.get("/{session}/messages/{seq}", response_class=Json, response_model=None)
    async def show_message(
        request: Request,
        session: str,
        seq: int,
        wait: Annotated[float, Query(ge=0, le=WAIT_MAX_S, description="Seconds to give the answer.")] = 0,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """One message: its class, the run that serves it, and its answer as far as there is one."""
        row, _ = conversation.session(workspace, decoded(session))
        sent = acknowledged(face.runtime, workspace, row.id, seq)
        answer = await answered(face, request, workspace, sent, wait) if wait else None
        return Json(wire(answer or conversation.so_far(workspace, sent)))

    @router.get("/{session}/events", response_class=StreamingResponse, response_model=None)
    async def stream_events(
        session: str,
        after: Annotated[int, Query(ge=0, le=2**53, description="Only entries with a higher seq.")] = 0,
        last_event_id: Annotated[int | None, Header(ge=0, le=2**53)] = None,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Server-sent events: every transcript entry as it becomes durable, its id the entry's ``seq``, and provisional text between.

        Provisional events have no id: a client that reconnects with Last-Event-ID, or ``after``, misses no entry and sees none twice,
        and the closing ``reply`` takes the place of whatever text it saw or missed.
        """
        row, _ = conversation.session(workspace, decoded(session))
        return EventStream(Feed(face, workspace, row.id, after if last_event_id is None else last_event_id))

    @router.post("/{session}/erase", **documented(Why, Erased, example=ERASE))
    async def erase(session: str, request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Destroy the content of a session: its transcript, and everything its turns recorded. Headers and shapes stay."""
        given = await read(request, Why, face.body_bytes)
        row, threads = conversation.session(workspace, decoded(session))
        return Json((await erase_session(face, row, threads, given.why)).model_dump())

    return router
