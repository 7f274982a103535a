"""``/v1/models``, ``/v1/chat/completions`` and ``/v1/responses``: an ordinary message each, in the
shapes of OpenAI's clients.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from ordain.contracts.conversation import SESSION_ID, Channel, Message
from ordain.contracts.ids import DEFAULT_WORKSPACE, WorkspaceId
from ordain.contracts.openai import (
    ChatCompletion,
    ChatCompletionRequest,
    ModelEntries,
    ModelEntry,
    OrdainNote,
    ResponseFailure,
    ResponseObject,
    ResponsesRequest,
)
from ordain.contracts.openai_refusal import OpenAIRefusal
from ordain.contracts.text_links import links_of, texts_of
from ordain.contracts.verbs import VerbRequest
from ordain.errors import InvalidRequest
from ordain.runtime.answer_source import answer_source
from ordain.runtime.apart import apart
from ordain.runtime.awaited_answers import Acknowledged
from ordain.runtime.brief import header_shown
from ordain.runtime.continuation import Placement
from ordain.runtime.plain_answer import PlainAnswer
from ordain.runtime.reason_words import meanings
from ordain.runtime.remedies import model_failure
from ordain.server.answers import answered
from ordain.server.bodies import BodyBounds, read_large
from ordain.server.documents import documented, shown
from ordain.server.face import Face, Json, at_rest
from ordain.server.openai.answers import SentAnswer
from ordain.server.openai.asked import (
    DEFAULT_USER,
    MODELS,
    MODES,
    OpenAIAsked,
    asked_in_chat,
    asked_in_response,
    model_of,
    unknown_model,
)
from ordain.server.openai.formed import formed_text, text_alone, told_as, unanswered, usage_of
from ordain.server.openai.named import sent_once
from ordain.server.openai.narration import Narration
from ordain.server.openai.streams import ChatFrames, Frames, ResponseFrames, StreamedAnswer
from ordain.server.refusals import CONVERSATION, MODELS_FAILED, NO_ANSWER, refusing
from ordain.server.resource import Resource, resource
from ordain.server.translation import placed_in_client, shaped
from ordain.server.workspaces import Workspace

_SESSION, _SEQ = re.compile(SESSION_ID), re.compile("[1-9][0-9]{0,17}", re.ASCII)
BOUNDS = BodyBounds(bytes=20 * 2**20, values=200_000)
"""Most of one body: a whole conversation comes with each request."""
MANY = 500
"""Turns from which on a request is gone through in a thread."""
SOURCE, CALLER, TASK_VERB = "openai", "openai", "brain.chat"
NO_MORE = "a new session takes in no more"
UNHEARD = "the system message: session {} began with another, or without one"
ID_PREFIX = "resp_"
NOT_SERVED = (
    "unknown_model",
    "unsupported_parameter",
    "conversation_unfit",
    "answer_unfit",
    "invalid_schema",
    "busy",
    "profile_unfit",
    *MODELS_FAILED,
)
CHAT_EXAMPLE = {
    "model": "ordain",
    "messages": [{"role": "user", "content": "Which weekday comes after Tuesday?"}],
}
RESPONSE_EXAMPLE = {"model": "ordain", "input": "Which weekday comes after Tuesday?"}
EVENTS: dict[str, Any] = {"text/event-stream": {"schema": {}}}
"""Where ``stream`` is set."""


def _either(route: dict[str, Any]) -> dict[str, Any]:
    """What a route answers with, whole or as a stream."""
    route["responses"][200]["content"] |= EVENTS
    return route


CHAT = _either(documented(ChatCompletionRequest, ChatCompletion, example=CHAT_EXAMPLE))
RESPONSES = _either(documented(ResponsesRequest, ResponseObject, example=RESPONSE_EXAMPLE))
SHAPES = (
    ChatCompletionRequest,
    ChatCompletion,
    ResponsesRequest,
    ResponseObject,
    ModelEntries,
    ModelEntry,
    OpenAIRefusal,
)
"""What the published document names."""


def openai_router(face: Face) -> Resource:
    """The routes."""
    router = resource("openai", prefix="/v1")

    @router.get("/models", **shown(ModelEntries))
    async def list_openai_models(workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """The names that `model` may have: how the answer is come to, not which model is asked
        (policy says that), and by which pinned profile.
        """
        return Json(
            ModelEntries(data=list((await _entries(face, workspace)).values())).model_dump(
                mode="json"
            )
        )

    @router.get("/models/{model}", **refusing(shown(ModelEntry), "unknown_model"))
    async def show_openai_model(model: str, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """One of them."""
        if (found := (await _entries(face, workspace)).get(model)) is None:
            raise unknown_model(model)
        return Json(found.model_dump(mode="json"))

    @router.post("/chat/completions", **refusing(CHAT, *CONVERSATION, *NOT_SERVED))
    async def chat_completions(
        request: Request, workspace: Workspace = DEFAULT_WORKSPACE
    ) -> Response:
        """A chat completion: the last message is said in the session that the request names, or
        that holds what it shows.

        The code-written header opens the text, and every line of a model's words stands behind `>
        `; with a `response_format` of JSON the text is the answer alone and the header stands in
        `ordain`. A client that leaves stops nothing.
        """
        given = await read_large(request, ChatCompletionRequest, BOUNDS)
        headers = sent_once(request.headers)
        asked = await apart(len(given.messages) > MANY, asked_in_chat, given, headers)
        return await _answer(face, request, workspace, asked, ChatFrames(asked))

    @router.post("/responses", **refusing(RESPONSES, *CONVERSATION, *NOT_SERVED))
    async def responses(request: Request, workspace: Workspace = DEFAULT_WORKSPACE) -> Response:
        """A response, likewise; `previous_response_id` goes on in the session of that response, or
        where something was said there since, with the history up to it in a new one.
        """
        given = await read_large(request, ResponsesRequest, BOUNDS)
        session, seq = await _answered_there(face, workspace, given.previous_response_id)
        headers = sent_once(request.headers)
        asked = await apart(len(given.input) > MANY, asked_in_response, given, headers, session)
        if session:
            shown = await face.runtime.continuation.after(asked.shown, workspace, session, seq)
            asked = msgspec.structs.replace(asked, shown=shown)
        return await _answer(face, request, workspace, asked, ResponseFrames(asked, given))

    return router


async def _entries(face: Face, workspace: str) -> Mapping[str, ModelEntry]:
    """What may be asked, by name: each way to an answer, then by each profile that policy lets a
    caller choose.
    """
    told = dict(MODELS)
    for profile in await face.runtime.control.offered(
        workspace, face.runtime.services.catalogs.current.policy
    ):
        told |= {
            model_of(name, profile): f"{MODELS[name]} By the pinned profile {profile}."
            for name in MODES
        }
    return {name: ModelEntry(id=name, description=about) for name, about in told.items()}


async def _answer(
    face: Face, request: Request, workspace: str, asked: OpenAIAsked, frames: Frames
) -> Response:
    if asked.mode is None:
        return await _task(face, request, workspace, asked, frames)
    continuation = face.runtime.continuation
    user, once = (
        (asked.user, "") if asked.user else (face.person_of(request) or DEFAULT_USER, DEFAULT_USER)
    )
    place = await continuation.place(
        asked.shown, workspace=workspace, principal=face.by(request), user=user, once=once
    )
    place = msgspec.structs.replace(place, form=asked.form)
    if asked.profile:
        place = await _pinned(face, request, workspace, asked, place)
    try:
        sent = await face.runtime.receive(
            _message(asked, place),
            face.asks(request),
            WorkspaceId(workspace),
            source=SOURCE,
            place=place,
        )
    except InvalidRequest as error:
        error.details = placed_in_client(
            error.details, asked.said_in, [file.place for file in asked.files]
        )
        raise
    note = OrdainNote(
        session_id=sent.session,
        continuation=place.reason,
        ignored=[*asked.ignored, *_unread(asked, place)],
    )
    frames.begin(
        f"{sent.seq}-{sent.message_id[-12:]}",
        response_id(sent),
        face.runtime.services.clock.now() // 1_000_000,
    )
    if asked.stream:
        return StreamedAnswer(frames, Narration(face, workspace, sent, asked), note)
    answer = await answered(face, request, workspace, sent)
    runtime = face.runtime
    source = await answer_source(runtime.services, runtime.search, workspace, answer)
    told = told_as(
        formed_text(answer, source, asked.schema),
        note,
        answer,
        source,
        formed=asked.schema is not None,
    )
    return Json(frames.whole(told), headers=_headers(told.note))


def _unread(asked: OpenAIAsked, place: Placement) -> Sequence[str]:
    """What is shown and not read: of what was imported its files, so that whoever needs one sends
    it again, and what had no room; and what a named session does not hold.
    """
    told = [UNHEARD.format(place.session)] if place.unheard else []
    if place.otherwise:
        told.append(
            f"what {asked.said_in} show before the last: session {place.session} holds otherwise"
        )
    if place.imports is None:
        return told
    told += [
        f"file {name} of an earlier message"
        for turn in asked.shown.before
        for name, _ in turn.files
    ]
    if place.left_out:
        told.append(f"the {place.left_out} oldest messages before the last: {NO_MORE}")
    if place.cut:
        told.append(f"the last {place.cut} characters of the system message: {NO_MORE}")
    return told


async def _pinned(
    face: Face, request: Request, workspace: str, asked: OpenAIAsked, place: Placement
) -> Placement:
    """The session is to be served by the profile that is asked for."""
    policy, by = face.runtime.services.catalogs.current.policy, face.by(request)
    choice = await face.runtime.control.chosen(
        asked.profile, workspace, place.session, begun=place.begun, policy=policy, by=by
    )
    if choice is None:
        raise unknown_model(asked.model)
    return msgspec.structs.replace(place, pin=choice.pin)


async def _task(
    face: Face, request: Request, workspace: str, asked: OpenAIAsked, frames: Frames
) -> Response:
    """A client's own errand: one verb, no session, no header in the text."""
    lines = [
        asked.shown.instructions,
        *(f"{turn.role}: {turn.text}" for turn in asked.shown.before),
        asked.text,
    ]
    given = shaped(
        VerbRequest,
        {
            "verb_id": TASK_VERB,
            "payload": {"text": "\n\n".join(filter(None, (*lines, asked.form)))[-32_000:]},
            "caller": CALLER,
        },
    )
    accepted = await face.runtime.accept(given, face.asks(request), WorkspaceId(workspace))
    view = await at_rest(face, accepted.run, request=request)
    reply: Mapping[str, Any] = face.runtime.response(view, contract=VerbRequest)
    output: Mapping[str, Any] = reply["output"] or {}
    error: Mapping[str, Any] = reply["error"] or {}
    if not reply["ok"]:
        if (failed := model_failure(str(reply["header"]))) is not None:
            raise unanswered(
                ResponseFailure(code=f"{NO_ANSWER}{failed[0]}", message=failed[1]), accepted.run
            )
        said = ": ".join(filter(None, (error.get("message", ""), error.get("remedy", ""))))
        raise InvalidRequest(f"the task has no answer: {said}", code="answer_unfit")
    words = str(output.get("content", ""))
    text = text_alone(words, asked.schema, header_shown(str(reply["header"]), meanings()))
    told: dict[str, Any] = {
        "run_id": accepted.run,
        "header": reply["header"],
        "verdict": reply["verdict"],
    }
    note = OrdainNote(
        **told, ignored=list(asked.ignored), links=links_of(texts_of([text, told["header"]]))
    )
    frames.begin(
        accepted.run[-12:], ID_PREFIX + accepted.run, face.runtime.services.clock.now() // 1_000_000
    )
    if asked.stream:
        return StreamedAnswer(frames, PlainAnswer(header="", words=text), note)
    return Json(
        frames.whole(SentAnswer(text=text, usage=usage_of(note.header), note=note)),
        headers=_headers(note),
    )


def _message(asked: OpenAIAsked, place: Placement) -> Message:
    metadata: dict[str, Any] = {"openai_model": asked.model, "continuation": place.reason}
    return shaped(
        Message,
        {
            "session_id": place.session,
            "user_id": place.user,
            "channel": Channel.WEB,
            "message": {
                "text": asked.text,
                "metadata": metadata,
                "attachments": [file.attachment for file in asked.files],
            },
            "context": {"routing_hints": {"mode": asked.mode}},
        },
    )


def _headers(note: OrdainNote) -> dict[str, str]:
    """The run and its header's first line beside the text, for whoever takes that alone;
    percent-encoded, since headers are ASCII.
    """
    found = {
        "Ordain-Run": note.run_id or "",
        "Ordain-Header": quote(note.header.partition("\n")[0], safe=" ·:/@,+$()=")
        .encode("ascii", "replace")
        .decode(),
    }
    return {name: value for name, value in found.items() if value}


def response_id(sent: Acknowledged) -> str:
    """The id of a response: it names the session and the message, so that the next request may go
    on from it.
    """
    return ID_PREFIX + base64.urlsafe_b64encode(
        f"{sent.seq} {sent.session}".encode()
    ).decode().rstrip("=")


async def _answered_there(face: Face, workspace: str, response: str | None) -> tuple[str, int]:
    """The session that a response was of, and the number of the message that it answered; "" where
    none is named.

    Raises:
        InvalidRequest: it is the id of no message that is there (``conversation_unfit``).
    """
    if response is None:
        return "", 0
    inner = response.removeprefix(ID_PREFIX)
    try:
        seq, _, session = (
            base64.urlsafe_b64decode(inner + "=" * (-len(inner) % 4)).decode().partition(" ")
        )
    except (binascii.Error, ValueError):
        seq, session = "", ""
    ours = (
        response.startswith(ID_PREFIX)
        and _SESSION.match(session) is not None
        and _SEQ.fullmatch(seq) is not None
    )
    if (
        not ours
        or await face.runtime.services.sessions.answer(workspace, session, int(seq)) is None
    ):
        why = "previous_response_id is the id of no response of this server"
        errors = [{"place": "/previous_response_id", "code": "conversation_unfit", "message": why}]
        raise InvalidRequest(why, code="conversation_unfit", details={"errors": errors})
    return session, int(seq)
