"""``POST /messages``: the canonical message, and what became of it (ING-01, ING-08)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.server.answers import answered, found_later, wire
from ordain.server.bodies import read_large
from ordain.server.documents import documented
from ordain.server.examples import MESSAGE, MESSAGE_ANSWER
from ordain.server.face import Face, Json, prefers_async
from ordain.server.refusals import CONVERSATION, refusing
from ordain.server.resource import Resource, resource
from ordain.server.workspaces import Workspace

MESSAGES = documented(
    Message, MessageAnswer, example=MESSAGE, answer=MESSAGE_ANSWER, accepts=MessageAnswer
)


def messages_router(face: Face) -> Resource:
    """The one route."""
    router = resource("conversation")

    @router.post("/messages", **refusing(MESSAGES, *CONVERSATION))
    async def post_message(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """Say something in a session, and wait for the reply, or for the question back.

        The same ``messageId`` with the same content is the same message, however often it comes;
        with another content it is 409 ``message_id_reused``. Files come with it in base64
        (``attachments``): what is no text, Markdown, HTML or PDF, or is not what it is said to be,
        is refused, and the message with it. ``Prefer: respond-async`` answers 202 once the message
        is durable, with the address of its answer.
        """
        message = await read_large(request, Message, face.message)
        sent = await face.runtime.receive(message, face.asks(request), WorkspaceId(workspace))
        if prefers_async(request):
            return await found_later(face, workspace, sent)
        return Json(wire(await answered(face, request, workspace, sent)))

    return router
