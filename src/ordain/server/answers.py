"""Waiting for the answer to a message on behalf of a caller, and where to find it later."""

from __future__ import annotations

from typing import overload

from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.conversation import MessageAnswer, session_path
from ordain.errors import NotFound, Transient
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.door import Runtime
from ordain.server.face import Face, Json, first_of

MESSAGE = "message"


def message_location(sent: Acknowledged) -> str:
    """The address of a message and its answer."""
    return session_path(sent.session, "messages", str(sent.seq))


@overload
async def answered(
    face: Face, request: Request, workspace: str, sent: Acknowledged
) -> MessageAnswer: ...
@overload
async def answered(
    face: Face, request: Request, workspace: str, sent: Acknowledged, timeout_s: float
) -> MessageAnswer | None: ...
async def answered(
    face: Face, request: Request, workspace: str, sent: Acknowledged, timeout_s: float | None = None
) -> MessageAnswer | None:
    """Wait until the message is answered; None where ``timeout_s`` has passed first. The message
    and its turn go on in any case.

    Raises:
        Transient: the server stops first (``stopping``).
        ClientDisconnect: nobody waits any more.
    """
    details = {"location": message_location(sent)}
    stopped = Transient(
        "the server stops; the message is kept and goes on when it is back",
        code="stopping",
        details=details,
    )
    work = face.runtime.conversation.answer(workspace, sent)
    return await first_of(face, work, stopped=stopped, timeout_s=timeout_s, request=request)


def wire(answer: MessageAnswer) -> object:
    """An answer in the canonical shape's own spelling (B-12)."""
    return answer.model_dump(mode="json", by_alias=True)


async def found_later(face: Face, workspace: str, sent: Acknowledged) -> Response:
    """202: the message is durable, and where its answer will be."""
    headers = {"Location": message_location(sent), "Preference-Applied": "respond-async"}
    return Json(
        wire(await face.runtime.conversation.so_far(workspace, sent)),
        status_code=202,
        headers=headers,
    )


async def acknowledged(runtime: Runtime, workspace: str, session: str, seq: int) -> Acknowledged:
    """A message that was accepted before, by its number.

    Raises:
        NotFound: there is no entry with this number, or it is no message.
    """
    entries = (
        await runtime.conversation.transcript(workspace, session, after=seq - 1, limit=1)
        if seq > 0
        else ()
    )
    if not entries or entries[0].seq != seq or entries[0].kind != MESSAGE:
        raise NotFound(f"session {session} has no message {seq}", code="message_not_found")
    return Acknowledged(session=session, seq=seq, message_id=entries[0].message_id, duplicate=False)
