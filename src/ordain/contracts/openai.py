"""The shapes of the OpenAI-compatible address: what its clients send, as far as Ordain reads it,
and what it answers (issue of record: OpenAI's own API).

Their field names are OpenAI's. What is not read is named back in ``ordain.ignored``: nothing is
taken in and quietly left undone. Validation only.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ordain.contracts.openai_refusal import OpenAIAnswer
from ordain.contracts.text_links import Links
from ordain.contracts.verdict import HeaderVerdict, Remedies

MESSAGES_MAX = 20_000
NAME_CHARS = 200
SAYING = ("system", "developer", "user", "assistant", "tool", "function")
"""The roles that a message may have; what tools said is refused in words, since a client's tools
are not run here.
"""


class Lenient(BaseModel):
    """A frozen shape that keeps what it does not know, to name it back."""

    model_config = ConfigDict(
        extra="allow", frozen=True, strict=True, allow_inf_nan=False, defer_build=True
    )


class ContentPart(Lenient):
    """A part of a message: text, a file or a picture with its bytes, or something that is refused
    in words.
    """

    type: str = Field(max_length=64)
    text: str | None = None
    refusal: str | None = None
    file: dict[str, JsonValue] | None = None
    filename: str | None = None
    file_data: str | None = None
    image_url: str | dict[str, JsonValue] | None = None


class ChatTurn(Lenient):
    """One message of a conversation as the client has it."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ContentPart] | None = None
    name: str | None = Field(default=None, max_length=NAME_CHARS)
    tool_calls: list[JsonValue] | None = None


class StreamOptions(Lenient):
    """Whether a stream ends with what the turn used."""

    include_usage: bool = False


class ResponseFormat(Lenient):
    """How the text of the answer is to be formed; ``json_schema`` holds ``schema``."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: dict[str, JsonValue] | None = None


class _Asking(Lenient):
    """What both addresses take alike."""

    model: str = Field(min_length=1, max_length=NAME_CHARS)
    stream: bool | None = None
    user: str | None = Field(default=None, max_length=NAME_CHARS)
    metadata: dict[str, JsonValue] | None = Field(default=None, max_length=50)
    tools: list[JsonValue] | None = None
    tool_choice: JsonValue = None
    top_logprobs: int | None = None


class ChatCompletionRequest(_Asking):
    """``POST /v1/chat/completions``. The last message is what the user says now; those before it
    are compared with what the session holds.
    """

    messages: list[ChatTurn] = Field(min_length=1, max_length=MESSAGES_MAX)
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=128)
    logprobs: bool | None = None
    functions: list[JsonValue] | None = None
    function_call: JsonValue = None
    response_format: ResponseFormat | None = None
    modalities: list[str] | None = None


class ResponseItem(Lenient):
    """One item of a response's input: a message."""

    type: str = Field(default="message", max_length=64)
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[ContentPart] | None = None


class TextFormat(Lenient):
    """How the text of a response is to be formed; ``json_schema`` has its ``schema`` here."""

    type: Literal["text", "json_object", "json_schema"]
    schema_: dict[str, JsonValue] | None = Field(default=None, alias="schema")


class TextOptions(Lenient):
    """``text`` of a response."""

    format: TextFormat | None = None


class ResponsesRequest(_Asking):
    """``POST /v1/responses``. ``previous_response_id`` names the conversation that goes on; without
    it the input is compared as above.
    """

    input: (
        Annotated[str, Field(min_length=1)]
        | Annotated[list[ResponseItem], Field(min_length=1, max_length=MESSAGES_MAX)]
    )
    instructions: str | None = None
    previous_response_id: str | None = Field(default=None, max_length=NAME_CHARS)
    conversation: str | dict[str, JsonValue] | None = None
    text: TextOptions | None = None
    background: bool | None = None
    include: list[str] | None = None
    prompt: JsonValue = None


class OrdainNote(OpenAIAnswer):
    """What is true of an answer beside its text: run, session, header and verdict, the addresses in
    it, and which fields of the request were not read.
    """

    run_id: str | None = None
    session_id: str | None = None
    header: str = ""
    verdict: HeaderVerdict = None
    continuation: str = Field(
        default="", description="How the session was found: a code of rule `continuation`."
    )
    approval_id: str | None = Field(
        default=None, description="What the answer tells of that somebody has to say yes to."
    )
    ignored: list[str] = []
    remedies: Remedies = []
    links: Links = []


class CompletionUsage(OpenAIAnswer):
    """Tokens as the turn's header counts them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0


class AssistantText(OpenAIAnswer):
    """What the assistant says. ``refusal`` is that again where it is no answer of the form that was
    asked for, but code's word of how things stand.
    """

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: str | None = None


class CompletionChoice(OpenAIAnswer):
    """The one choice."""

    index: Literal[0] = 0
    message: AssistantText
    logprobs: None = None
    finish_reason: Literal["stop", "length"] = "stop"


class ChatCompletion(OpenAIAnswer):
    """The answer of ``/v1/chat/completions``."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: Annotated[list[CompletionChoice], Field(min_length=1, max_length=1)]
    usage: CompletionUsage
    ordain: OrdainNote


class ModelEntry(OpenAIAnswer):
    """One name that ``model`` may have."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: Literal["ordain"] = "ordain"
    description: str


class ModelEntries(OpenAIAnswer):
    """The names that ``model`` may have."""

    object: Literal["list"] = "list"
    data: list[ModelEntry]


class ResponseUsage(OpenAIAnswer):
    """Tokens as the turn's header counts them."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0


class ResponseText(OpenAIAnswer):
    """A part of what the assistant says."""

    type: Literal["output_text"] = "output_text"
    text: str
    annotations: list[Any] = []


class ResponseRefusal(OpenAIAnswer):
    """What is said in place of an answer of the form that was asked for."""

    type: Literal["refusal"] = "refusal"
    refusal: str


class ResponseMessage(OpenAIAnswer):
    """What the assistant says."""

    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    status: Literal["completed", "in_progress", "incomplete"] = "completed"
    content: list[ResponseText | ResponseRefusal]


class IncompleteDetails(OpenAIAnswer):
    """Why a response is not whole."""

    reason: Literal["max_output_tokens"] = "max_output_tokens"


class ResponseFailure(OpenAIAnswer):
    """Why a response has no answer: Ordain's own code (``model_`` before that of a model's error),
    and what people can do.
    """

    code: str
    message: str


class ConversationEcho(OpenAIAnswer):
    """The conversation that a request named."""

    id: str


class ResponseEcho(OpenAIAnswer):
    """What a response gives back of its request, as it was sent: clients read the answer by it
    (``text.format``). ``ordain.ignored`` says what of it counted for nothing.
    """

    instructions: str | None = None
    previous_response_id: str | None = None
    conversation: ConversationEcho | None = None
    metadata: dict[str, JsonValue] = {}
    text: dict[str, JsonValue] = {"format": {"type": "text"}}
    tool_choice: Literal["none", "auto"] = "none"
    tools: list[Any] = []
    parallel_tool_calls: bool = False
    max_tool_calls: int | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_logprobs: int = 0
    reasoning: dict[str, JsonValue] | None = None
    truncation: Literal["auto", "disabled"] = "disabled"
    background: Literal[False] = False
    store: bool | None = None
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: Literal["in_memory", "24h"] | None = None


class ResponseObject(ResponseEcho):
    """The answer of ``/v1/responses``; its ``id`` names the conversation, so that the next request
    may go on from it.
    """

    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: Literal["completed", "in_progress", "failed", "incomplete"] = "completed"
    model: str
    output: list[ResponseMessage]
    error: ResponseFailure | None = None
    incomplete_details: IncompleteDetails | None = None
    usage: ResponseUsage | None = None
    ordain: OrdainNote
