"""The sources' chat addresses: ``/api/chat`` and ``/api/verbs`` for the hub, ``/v1/cortex/chat``
for the gateway's callers (C1).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from ordain.contracts.conversation import Message, MessageAnswer
from ordain.contracts.cortex import (
    CortexChatRequest,
    CortexChatResult,
    CortexClientRequest,
    CortexClientResult,
    HubChat,
    HubReply,
)
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.errors import InvalidRequest, JournalError
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.door import NULL
from ordain.server.answers import answered, found_later, message_location
from ordain.server.bodies import read_large
from ordain.server.documents import documented, shown
from ordain.server.examples import CORTEX_CHAT, CORTEX_RESULT, HUB_CHAT, HUB_REPLY
from ordain.server.face import Face, Json, prefers_async
from ordain.server.parameters import from_query
from ordain.server.problems import problem
from ordain.server.refusals import CONVERSATION, refusing
from ordain.server.resource import Resource, resource
from ordain.server.translation import (
    HUB_HTTP,
    canonical,
    chat_of_hub,
    client_request,
    client_result,
    hub_reply,
    placed_in_client,
    source_of,
)
from ordain.server.verbs import VerbChoice, verb_views
from ordain.server.workspaces import Workspace

DEFAULT_TIMEOUT_MS = 120_000
FRESH_HUB, FRESH_GATEWAY = "web", "cortex"
HUB = documented(HubChat, HubReply, example=HUB_CHAT, answer=HUB_REPLY, accepts=MessageAnswer)
CORTEX = documented(CortexChatRequest, CortexChatResult, example=CORTEX_CHAT, answer=CORTEX_RESULT)


def fresh_session(face: Face, kind: str) -> str:
    """The id of a session for whoever named none."""
    return f"{kind}:{face.runtime.services.clock.new_run_id()}"


async def received(
    face: Face,
    caller: HTTPConnection,
    workspace: str,
    client: CortexClientRequest,
    message: Message,
) -> Acknowledged:
    """Hand the message of a client request on, by HTTP and by WebSocket alike.

    Raises:
        OrdainError: it is refused; a file is named by its place in the sources' shapes.
    """
    try:
        return await face.runtime.receive(
            message, face.asks(caller), WorkspaceId(workspace), source=source_of(client)
        )
    except InvalidRequest as error:
        error.details = placed_in_client(error.details)
        raise


def gateway_router(face: Face) -> Resource:
    """The three routes."""
    router = resource("conversation")

    @router.post("/api/chat", **refusing(HUB, *CONVERSATION, "conflicting_verbs"))
    async def hub_chat(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """The hub's payload. One of ``verbs`` overrides the mode's own verb, several restrict the
        tools (B-33); ``mode`` is the rest.
        """
        hub = await read_large(request, HubChat, face.message)
        client = client_request(chat_of_hub(hub, HUB_HTTP))
        session = hub.session_id or fresh_session(face, FRESH_HUB)
        message = canonical(client, session, message_id=hub.message_id, reply_to=hub.reply_to)
        sent = await received(face, request, workspace, client, message)
        if prefers_async(request):
            return await found_later(face, workspace, sent)
        answer = await answered(face, request, workspace, sent)
        return Json(hub_reply(answer, await _result(face, client, answer)).model_dump(mode="json"))

    @router.post("/v1/cortex/chat", **refusing(CORTEX, *CONVERSATION, "timeout"))
    async def cortex_chat(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """A chat turn in the sources' own shape. Without ``session_id`` each request is a session
        of its own.

        504 ``timeout`` after ``options.timeout_ms`` (120 s where absent) names the run, which goes
        on, and where its answer will be.
        """
        chat = await read_large(request, CortexChatRequest, face.message)
        client = client_request(chat)
        message = canonical(client, chat.session_id or fresh_session(face, FRESH_GATEWAY))
        sent = await received(face, request, workspace, client, message)
        timeout_ms = client.options.timeout_ms or DEFAULT_TIMEOUT_MS
        answer = await answered(face, request, workspace, sent, timeout_ms / 1000)
        if answer is None:
            return await _timed_out(face, workspace, sent, timeout_ms)
        result = await _result(face, client, answer)
        return Json(
            CortexChatResult(cortex_result=result, final_text=result.final_text).model_dump(
                mode="json"
            )
        )

    @router.get("/api/verbs", **shown(VerbChoice))
    async def hub_verbs(
        include_inactive: Annotated[
            Literal["0", "1"], from_query(description="1: also those that may not run here now.")
        ] = "0",
    ) -> Response:
        """The verbs that a person may pick."""
        found = verb_views(face.runtime.catalog)
        picked = [verb for verb in found["verbs"] if include_inactive == "1" or verb["active"]]
        return Json({"verbs": picked, "packs": found["packs"]})

    return router


async def _result(
    face: Face, client: CortexClientRequest, answer: MessageAnswer
) -> CortexClientResult:
    produced: dict[str, Any] | None = None
    if answer.run_id is not None and answer.reply is not None:
        try:
            result = (await face.runtime.view(answer.run_id)).result
        except JournalError:
            # the reply stands in the transcript, whatever has become of the run's records since
            result = NULL
        produced = None if result == NULL else msgspec.json.decode(result)
    return client_result(client, answer, produced)


async def _timed_out(face: Face, workspace: str, sent: Acknowledged, timeout_ms: int) -> Response:
    run = (await face.runtime.conversation.so_far(workspace, sent)).run_id
    more = {"run_id": run, "location": message_location(sent)}
    return problem(
        504,
        "timeout",
        (
            f"no answer within {timeout_ms} ms; the turn goes on, and its answer will be at its "
            "location"
        ),
        more=more,
    )
