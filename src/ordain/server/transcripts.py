"""What was said in a session: its transcript, one message and its answer, and the live stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import Refused
from ordain.runtime.entry_events import event_of
from ordain.server.answers import acknowledged, answered, wire
from ordain.server.documents import shown, streamed
from ordain.server.examples import MESSAGE_ANSWER, TRANSCRIPT
from ordain.server.face import Face, Json
from ordain.server.feed import HEARTBEAT_S, STREAM_HEADERS, Feed
from ordain.server.parameters import from_header, from_query
from ordain.server.refusals import refusing
from ordain.server.resource import Resource, resource
from ordain.server.segments import Seq, decoded, session_id
from ordain.server.sent_json import spelled
from ordain.server.shapes import Transcript
from ordain.server.workspaces import Workspace

ENTRIES_MAX = 500
WAIT_MAX_S = 300


class TranscriptResponse(StreamingResponse):
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
        # only what is durable has a number, and can be resumed after
        seq: int | None = getattr(event, "seq", None)
        known = b"" if seq is None else f"id: {seq}\n".encode()
        yield (
            known
            + f"event: {event.__struct_config__.tag}\ndata: ".encode()
            + spelled(event)
            + b"\n\n"
        )


def transcripts_router(face: Face) -> Resource:
    """Reading routes below one session."""
    router = resource("conversation", prefix="/sessions/{session}")
    conversation = face.runtime.conversation

    @router.get("/messages", **refusing(shown(Transcript, example=TRANSCRIPT), "session_not_found"))
    async def show_transcript(
        session: str,
        after: Annotated[
            Seq, from_query(ge=-1, description="Only entries with a higher seq; -1: the last ones.")
        ] = -1,
        limit: Annotated[int, from_query(ge=1, le=ENTRIES_MAX)] = 50,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """The transcript: messages, questions, replies, in order, each as the event that it was."""
        row = await conversation.session(workspace, decoded(session))
        entries = [
            event_of(entry)
            for entry in await conversation.transcript(workspace, row.id, after=after, limit=limit)
        ]
        last = entries[-1].seq if entries else after
        return Json(Transcript(entries=entries, next=last if last < row.head else None))

    @router.get(
        "/messages/{seq}",
        **refusing(
            shown(MessageAnswer, example=MESSAGE_ANSWER), "session_not_found", "message_not_found"
        ),
    )
    async def show_message(
        request: Request,
        session: str,
        seq: Seq,
        wait: Annotated[
            float, from_query(ge=0, le=WAIT_MAX_S, description="Seconds to give the answer.")
        ] = 0,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """One message: its class, the run that serves it, and its answer as far as there is one."""
        row = await conversation.session(workspace, decoded(session))
        sent = await acknowledged(face.runtime, workspace, row.id, seq)
        answer = None
        with suppress(Refused):  # that is told to who sends it; here it is how the message stands
            answer = await answered(face, request, workspace, sent, wait) if wait else None
        return Json(wire(answer or await conversation.so_far(workspace, sent)))

    @router.get(
        "/events",
        **refusing(
            streamed("SessionEvent", "Events without end."), "session_not_found", "beyond_head"
        ),
    )
    async def stream_session(
        session: str,
        after: Annotated[Seq, from_query(ge=0, description="Only entries with a higher seq.")] = 0,
        last_event_id: Annotated[Seq | None, from_header(ge=0)] = None,
        workspace: Workspace = DEFAULT_WORKSPACE,
    ) -> Response:
        """Server-sent events: every transcript entry as it becomes durable, its id the entry's
        ``seq``, and provisional text between.

        Provisional events have no id: a client that reconnects with Last-Event-ID, or ``after``,
        misses no entry and sees none twice, and the closing ``reply`` takes the place of whatever
        text it saw or missed. A session that has not begun is waited for: listen first, then speak.
        """
        name = session_id(session)
        begin = after if last_event_id is None else last_event_id
        await face.runtime.check_after(workspace, name, begin)
        return TranscriptResponse(Feed(face, workspace, name, begin))

    return router
