"""What a client of OpenAI's asks for, as the house knows it; what is not served here is refused by
name, and what is not read is named back. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct
from pydantic import BaseModel

from ordain.contracts.attachments import FILES_MAX
from ordain.contracts.conversation import MESSAGE_CHARS, ExecMode
from ordain.contracts.nearest import did_you_mean
from ordain.contracts.openai import (
    ChatCompletionRequest,
    ChatTurn,
    ContentPart,
    ResponseFormat,
    ResponseItem,
    ResponsesRequest,
)
from ordain.contracts.schema import Schema
from ordain.errors import ConfigurationError, InvalidRequest, NotFound
from ordain.runtime.continuation import Shown, ShownTurn
from ordain.server.openai.files import SentFile, is_file, misfit, name_of, sent_file
from ordain.server.openai.named import conversation_named, session_named, user_named

TASK = "ordain-task"
MODES: Mapping[str, ExecMode] = {
    "ordain": ExecMode.BRAIN,
    "ordain-agent": ExecMode.AGENT,
    "ordain-council": ExecMode.COUNCIL,
}
MODELS: Mapping[str, str] = {
    "ordain": "A conversation: one model answers.",
    "ordain-agent": "Agent mode: a supervised model works with the tools that policy gives.",
    "ordain-council": "Council mode: several models judge before an answer stands.",
    TASK: (
        "One answer in words, in no session and without a header: for a client's titles and tags."
    ),
}
BY_PROFILE = ":"
"""What stands between a model's name and the profile that it is served by."""
DEFAULT_USER = "local"
"""Who speaks where nobody says it, and it is not whoever runs the server; of old everybody whom
nobody named.
"""
TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
OBJECT: dict[str, Any] = {"type": "object"}
"""What a format ``json_object`` asks for."""
AS_JSON = "Answer with JSON alone and nothing around it."
_FUNCTIONS = "functions of a client are not called here; verbs are the server's"
UNSERVED: Mapping[str, str] = {
    "tools": (
        "tools of a client are not called here; verbs are the server's, and policy says which. "
        "Have it send none (Open WebUI: Builtin Tools off)"
    ),
    "functions": _FUNCTIONS,
    "function_call": _FUNCTIONS,
    "logprobs": "",
    "top_logprobs": "",
    "background": "ask /messages with Prefer: respond-async",
    "prompt": "no prompt is stored here under an id: send instructions and input",
}
"""Parameters that are refused where they ask for something, and why; those that only tune a model
are named back instead.
"""


class OpenAIAsked(Struct, frozen=True, kw_only=True):
    """One request. ``mode`` is None of a task; ``profile`` is the pinned profile that it wants to
    be served by ("": as things stand); ``schema`` is what its answer must fit where it is to be
    JSON, {} any JSON, None plain text; ``said_in`` is the place of what is said; ``user`` who says
    it, "" where nobody is named.
    """

    model: str
    mode: ExecMode | None
    profile: str = ""
    shown: Shown
    user: str
    stream: bool
    usage_streamed: bool = False
    schema: dict[str, Any] | None = None
    ignored: tuple[str, ...] = ()
    instructions: str | None = None
    files: tuple[SentFile, ...] = ()
    said_in: str = "/messages"

    @property
    def text(self) -> str:
        """What is said now: the user's own words, and nothing of the client's."""
        return "\n\n".join(turn.text for turn in self.shown.now)

    @property
    def form(self) -> str:
        """What the client wants of the answer's form, for whoever writes it; "" where that is plain
        text.
        """
        if self.schema is None:
            return ""
        asks = self.schema not in ({}, OBJECT)
        return AS_JSON + (f" Its JSON Schema: {json.dumps(self.schema)}" if asks else "")


def asked_in_chat(given: ChatCompletionRequest, headers: Mapping[str, str]) -> OpenAIAsked:
    """A chat completion as it is meant.

    Raises:
        InvalidRequest: ``unsupported_parameter`` for what is not done here; ``invalid_request`` for
            what cannot be meant.
        NotFound: ``unknown_model``.
    """
    _refuse_unserved(given)
    if (given.n or 1) > 1:
        raise _not_here("n", "one message has one answer")
    if given.modalities and set(given.modalities) != {"text"}:
        raise _not_here("modalities", "answers are text")
    turns = [_turn(turn, f"/messages/{at}") for at, turn in enumerate(given.messages)]
    files = _files(list(enumerate(given.messages)), "/messages")
    _refuse_files(given.model, files)
    mode, profile = _meant(given.model)
    form = given.response_format
    asked = OpenAIAsked(
        model=given.model,
        mode=mode,
        profile=profile,
        shown=_shown(turns, session_named(given.metadata, headers), "/messages", files),
        files=files,
        user=user_named(given.user, headers),
        stream=bool(given.stream),
        usage_streamed=given.stream_options is not None and given.stream_options.include_usage,
        schema=_schema(form),
        ignored=_ignored(given),
    )
    return _with_room(asked, "/response_format")


def asked_in_response(
    given: ResponsesRequest, headers: Mapping[str, str], session: str
) -> OpenAIAsked:
    """A response as it is meant; ``session`` is what ``previous_response_id`` leads to, "" where it
    was not given. Raises as ``asked_in_chat``.
    """
    _refuse_unserved(given)
    for at, wanted in enumerate(given.include or ()):
        if "logprobs" in wanted:
            raise misfit(
                f"/include/{at}", "unsupported_parameter", f"{wanted[:64]} is not served here"
            )
    items = (
        [ResponseItem(role="user", content=given.input)]
        if isinstance(given.input, str)
        else given.input
    )
    said: list[ChatTurn] = []
    for at, item in enumerate(items):
        if item.type != "message" or item.role is None:
            raise misfit(
                f"/input/{at}/type",
                "unsupported_parameter",
                f"an item of type {item.type!r} is not read here",
            )
        said.append(ChatTurn(role=item.role, content=item.content))
    turns = [_turn(turn, f"/input/{at}") for at, turn in enumerate(said)]
    files = _files(list(enumerate(said)), "/input")
    _refuse_files(given.model, files)
    if given.instructions:
        turns.insert(0, ("system", given.instructions, ()))
    mode, profile = _meant(given.model)
    form = None if given.text is None else given.text.format
    if form is not None and form.type != "text":
        if form.type == "json_schema" and form.schema_ is None:
            raise misfit(
                "/text/format/schema",
                "invalid_schema",
                "a format json_schema has a schema, which is an object",
            )
        _check_schema(dict(form.schema_ or {}), "/text/format/schema")
    named = session or session_named(given.metadata, headers) or conversation_named(given)
    asked = OpenAIAsked(
        model=given.model,
        mode=mode,
        profile=profile,
        shown=_shown(turns, named, "/input", files),
        files=files,
        said_in="/input",
        user=user_named(given.user, headers),
        stream=bool(given.stream),
        schema=None if form is None or form.type == "text" else dict(form.schema_ or {}),
        ignored=_ignored(given),
        instructions=given.instructions,
    )
    return _with_room(asked, "/text/format/schema")


def _with_room(asked: OpenAIAsked, place: str) -> OpenAIAsked:
    """A request of which what is said and the form of its answer fit into one prompt together."""
    if asked.form and len(asked.text) + len(asked.form) > MESSAGE_CHARS - 2:
        raise misfit(
            place,
            "invalid_schema",
            f"the schema and what is said have at most {MESSAGE_CHARS} characters together",
        )
    return asked


def _refuse_unserved(given: ChatCompletionRequest | ResponsesRequest) -> None:
    """What either address would have to leave undone is refused, by one table."""
    for field, why in UNSERVED.items():
        if getattr(given, field, None):
            raise _not_here(field, why)
    if given.tool_choice not in (None, "none", "auto"):
        raise _not_here("tool_choice")


def model_of(mode: str, profile: str) -> str:
    """The name under which a profile is asked."""
    return f"{mode}{BY_PROFILE}{profile}"


def unknown_model(model: str) -> NotFound:
    """No ``model`` of this name is served."""
    return NotFound(
        f"there is no model {model[:64]!r}; there are {', '.join(MODELS)}, and those of GET "
        f"/v1/models{did_you_mean(model, MODELS)}",
        code="unknown_model",
    )


def _meant(model: str) -> tuple[ExecMode | None, str]:
    """The mode that a model's name stands for, None of a task, and the profile behind it."""
    name, divider, profile = model.partition(BY_PROFILE)
    if name not in MODELS or (divider and (name == TASK or not profile)):
        raise unknown_model(model)
    return MODES.get(name), profile


def _turn(turn: ChatTurn, place: str) -> tuple[str, str, tuple[tuple[str, str], ...]]:
    """A message's role, its text, and what files of a user's message are, by name and digest."""
    if turn.role in ("tool", "function") or turn.tool_calls:
        raise misfit(
            f"{place}/role",
            "unsupported_parameter",
            "what a client's tools said is not read here: its tools are not called",
        )
    if turn.content is None or isinstance(turn.content, str):
        return turn.role, turn.content or "", ()
    files = [part for part in turn.content if turn.role == "user" and is_file(part)]
    text = "\n".join(
        _part(part, turn.role, f"{place}/content/{at}")
        for at, part in enumerate(turn.content)
        if part not in files
    )
    return (
        turn.role,
        text,
        tuple(
            (name_of(part), sha256(part.model_dump_json().encode()).hexdigest()) for part in files
        ),
    )


def _files(turns: Sequence[tuple[int, ChatTurn]], place: str) -> tuple[SentFile, ...]:
    """What comes with what the user says now; files of earlier messages came with those."""
    found: list[list[SentFile]] = []
    for at, turn in reversed(turns):
        if turn.role in ("system", "developer"):
            continue
        if turn.role != "user":
            break
        content = turn.content if isinstance(turn.content, list) else []
        found.append(
            [
                sent_file(part, f"{place}/{at}/content/{number}")
                for number, part in enumerate(content)
                if is_file(part)
            ]
        )
    files = tuple(one for some in reversed(found) for one in some)
    if len(files) > FILES_MAX:
        raise misfit(
            place, "attachments_too_many", f"a message brings at most {FILES_MAX} files", status=413
        )
    return files


def _refuse_files(model: str, files: Sequence[SentFile]) -> None:
    if files and model == TASK:
        raise misfit("/model", "unsupported_parameter", f"{TASK} takes no files")


def _part(part: ContentPart, role: str, place: str) -> str:
    if part.type == "refusal":
        if role != "assistant":
            raise misfit(
                f"{place}/type",
                "unsupported_parameter",
                (
                    "a refusal is what an assistant says, and no part of a message of role "
                    f"{role}: "
                    "send text"
                ),
            )
        return part.refusal or ""
    if part.type not in TEXT_PARTS or part.text is None:
        what = (
            "pictures"
            if "image" in part.type
            else "sound"
            if "audio" in part.type
            else "files"
            if "file" in part.type
            else part.type
        )
        raise misfit(place, "unsupported_parameter", f"{what} cannot be read here: send text")
    return part.text


def _shown(
    turns: Sequence[tuple[str, str, tuple[tuple[str, str], ...]]],
    session: str,
    place: str,
    files: Sequence[SentFile] = (),
) -> Shown:
    """The conversation: instructions apart, and what the user says now apart from what was said
    before.
    """
    instructions = "\n\n".join(
        text for role, text, _ in turns if role in ("system", "developer") and text.strip()
    )
    said = [
        ShownTurn(role="assistant" if role == "assistant" else "user", text=text, files=brought)
        for role, text, brought in turns
        if role not in ("system", "developer")
    ]
    first = len(said)
    while first and said[first - 1].role == "user":
        first -= 1
    now = said[first:]
    text = "\n\n".join(turn.text for turn in now)
    if not text.strip() and not files:
        raise misfit(
            place,
            "conversation_unfit",
            "the last message is what the user says now, and it says something",
        )
    if len(text) > MESSAGE_CHARS:
        raise misfit(
            place,
            "conversation_unfit",
            f"what the user says now has at most {MESSAGE_CHARS} characters",
        )
    return Shown(
        before=tuple(said[:first]), now=tuple(now), instructions=instructions, session=session
    )


def _schema(form: ResponseFormat | None) -> dict[str, Any] | None:
    if form is None or form.type == "text":
        return None
    found = OBJECT if form.type == "json_object" else (form.json_schema or {}).get("schema")
    if not isinstance(found, dict):
        raise misfit(
            "/response_format/json_schema/schema",
            "invalid_schema",
            "a format json_schema has a schema, which is an object",
        )
    _check_schema(found, "/response_format/json_schema/schema")
    return found


def _check_schema(schema: dict[str, Any], place: str) -> None:
    """Before anybody is asked for an answer to it."""
    try:
        if schema:
            Schema(schema)
    except ConfigurationError as error:
        raise misfit(place, "invalid_schema", error.message) from None


def _ignored(given: BaseModel) -> tuple[str, ...]:
    """The fields that were sent and are not read."""
    return tuple(
        sorted(name[:64] for name, value in (given.model_extra or {}).items() if value is not None)
    )


def _not_here(field: str, why: str = "") -> InvalidRequest:
    return misfit(
        f"/{field}",
        "unsupported_parameter",
        f"{field} is not served here" + (f": {why}" if why else ""),
    )
