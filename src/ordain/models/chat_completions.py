"""The chat-completions wire: what is sent, how an answer is read. Pure and total.

Three dialects differ in details that matter, and one choice is made for each:

- **Schema.** Held natively it travels as ``response_format.json_schema``; ``strict`` is true only
  where the schema keeps OpenAI's strict rules, since the API refuses others outright. llama.cpp and
  vLLM enforce the schema either way. Held by a tool it is the input of the one function that must
  be called. Else it stands at the end of the system text, and no ``response_format`` is assumed.
- **Length.** OpenAI itself wants ``max_completion_tokens``, every other server knows
  ``max_tokens``.
- **Finish.** Whole is what says so (``endings``), and the call of the tool that was asked for. Of
  JSON, missing, unknown and early ends are errors: a truncated answer can be valid JSON. Plain text
  that was cut at its length is text, and told as cut; one whose body is whole is text whatever it
  says of its end, and an unknown word for that is told.
"""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ordain.contracts.profiles import Structured
from ordain.models.endings import BROKEN, FILTERED, REFUSED, End, end_of, refuses, text_of
from ordain.models.pictures import chat_content
from ordain.models.refusals import malformed, why_unreadable
from ordain.models.replies import TRUNCATED, counted, counts_of, ended, replied
from ordain.models.schemas import (
    OutputTool,
    clean_name,
    native_format,
    system_text,
    tool_definition,
)
from ordain.ports.model import Leave, ModelError, ModelReply, ModelRequest
from ordain.rules.enforcement import CALLS_ONLY, NO_CONTENT

T = TypeVar("T")


class _Message(Struct, frozen=True):
    role: str
    content: Any


class _StreamOptions(Struct, frozen=True):
    include_usage: bool


class _Format(Struct, frozen=True, kw_only=True):
    type: str = "json_schema"
    json_schema: Raw


class _Function(Struct, frozen=True, kw_only=True):
    type: str = "function"
    function: Raw


class _Body(Struct, frozen=True, kw_only=True):
    model: str
    messages: tuple[_Message, ...]
    max_tokens: int | UnsetType = UNSET
    max_completion_tokens: int | UnsetType = UNSET
    temperature: float | UnsetType = UNSET
    response_format: _Format | UnsetType = UNSET
    tools: tuple[_Function] | UnsetType = UNSET
    tool_choice: Any = UNSET
    stream: bool | UnsetType = UNSET
    stream_options: _StreamOptions | UnsetType = UNSET


class AnswerMessage(Struct, frozen=True):
    """What the model said, as a text or in parts, or its refusal."""

    content: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None

    @property
    def says_something(self) -> bool:
        """Whether there is anything in it."""
        return any((self.content, self.refusal, self.tool_calls, self.function_call))


class Choice(Struct, frozen=True):
    """One answer, and why it ended. ``text`` is what servers of the older wire put in the message's
    place.
    """

    message: AnswerMessage | None = None
    finish_reason: str | None = None
    text: Any = None

    @property
    def said(self) -> AnswerMessage:
        """The message, wherever it stands."""
        return self.message or AnswerMessage(content=self.text)


class Completion(Struct, frozen=True):
    """A whole answer, read from one body or put together from a stream; ``model``, ``usage`` and
    ``error`` as they came, ``usage`` also as counts.
    """

    choices: list[Choice] | None = None
    model: Any = None
    usage: Any = None
    error: Any = None


_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_BYTES = re.compile(rb"\xed[\xa0-\xbf]")
_ENCODER = msgspec.json.Encoder()
_COMPLETION = msgspec.json.Decoder(Completion)


def encode_request(
    request: ModelRequest, *, modern_length: bool = False, stream: bool = False
) -> bytes:
    """The body of one request; ``modern_length`` says ``max_completion_tokens`` instead of
    ``max_tokens``.

    ``stream`` asks for the answer as events, with token counts at their end. What the request is to
    do without (``left``) is left out.

    Raises:
        UnicodeEncodeError: the prompt holds a lone surrogate, which no wire can carry.
    """
    profile = request.profile
    length = min(request.max_tokens, profile.max_tokens)
    held, left = request.held_by, request.left
    modern = modern_length != (Leave.LENGTH_RENAMED in left)
    stream = stream and Leave.STREAM not in left
    system = system_text(request, held)
    apart = (_Message("system", system), _Message("user", chat_content(request, request.user)))
    name = clean_name(request.schema_name)
    return _ENCODER.encode(
        _Body(
            model=profile.model,
            messages=(_Message("user", chat_content(request, f"{system}\n\n{request.user}")),)
            if Leave.SYSTEM in left
            else apart,
            max_tokens=UNSET if modern or Leave.LENGTH in left else length,
            max_completion_tokens=length if modern and Leave.LENGTH not in left else UNSET,
            temperature=UNSET
            if request.temperature is None or Leave.TEMPERATURE in left
            else request.temperature,
            response_format=_Format(json_schema=native_format(request))
            if held is Structured.NATIVE
            else UNSET,
            tools=(_Function(function=tool_definition(request)),)
            if held is Structured.TOOL
            else UNSET,
            tool_choice={"type": "function", "function": {"name": name}}
            if held is Structured.TOOL
            else UNSET,
            stream=True if stream else UNSET,
            stream_options=_StreamOptions(include_usage=True)
            if stream and Leave.STREAM_COUNTS not in left
            else UNSET,
        )
    )


def read_completion(
    body: bytes, asked: str, tool: OutputTool | None = None, *, plain: bool = False
) -> ModelReply | ModelError:
    """Read the body of a 2xx answer; ``asked`` is the model's name where the answer gives none.
    Never raises.

    Where a ``tool`` was asked for, its input is the answer. ``plain``: words were asked for, which
    count also where they were cut.
    """
    try:
        completion = decoded(body, _COMPLETION, plain=plain)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return malformed(why_unreadable(body, error))
    return conclude(completion, asked, tool, plain=plain)


def decoded(body: bytes, decoder: msgspec.json.Decoder[T], *, plain: bool) -> T:
    """What a body or an event says. In ``plain`` words half a sign (a lone surrogate) spoils no
    more than itself; JSON that holds one is none.

    Raises:
        DecodeError, UnicodeDecodeError, RecursionError: it cannot be read.
    """
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        if not plain or not (_HALF.search(body) or _HALF_BYTES.search(body)):
            raise
        try:
            value = json.loads(body.decode("utf-8", "surrogatepass"))
        except ValueError:
            raise
        return msgspec.convert(value, decoder.type)


def joined(text: str) -> str:
    """A text whose halves of signs are put together; one that is alone stands as U+FFFD."""
    return (
        text
        if text.isascii()
        else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def conclude(
    completion: Completion, asked: str, tool: OutputTool | None = None, *, plain: bool = False
) -> ModelReply | ModelError:
    """Judge a whole answer; ``asked``, ``tool`` and ``plain`` as for ``read_completion``. Never
    raises.
    """
    counts = counts_of(completion.usage)
    if completion.error:
        return counted(
            malformed("an error with a status of success"), counts, spoke=bool(completion.choices)
        )
    if not completion.choices:
        return counted(malformed("no choices in the answer"), counts, spoke=False)
    choice = completion.choices[0]
    spoke = choice.said.says_something
    end = end_of(choice.finish_reason)
    if refuses(choice.said.refusal, choice.said.content):
        return counted(REFUSED, counts, spoke=spoke)
    text = _said(choice, end, tool, plain=plain)
    if isinstance(text, ModelError):
        return counted(text, counts, spoke=spoke)
    return ended(replied(text, completion.model, asked, counts), end)


def _said(choice: Choice, end: End, tool: OutputTool | None, *, plain: bool) -> str | ModelError:
    match end:
        case End.FILTERED:
            return FILTERED
        case End.BROKEN:
            return BROKEN
        case End.CUT if not plain:
            return TRUNCATED
        case End.UNSAID if not plain:
            return malformed("finish_reason is missing")
        case End.UNKNOWN if not plain:
            return malformed("unknown finish_reason")
        case _ if tool is not None:
            return tool.answer(_calls(choice.said))
        case _:
            pass
    if text := text_of(choice.said.content):
        # a server that names tools although none were offered still gave the whole text
        return joined(text)
    if end is End.CUT:
        return TRUNCATED
    if _calls(choice.said):
        return msgspec.structs.replace(malformed(CALLS_ONLY), calls=True)
    return malformed(NO_CONTENT)


def _calls(message: AnswerMessage) -> list[tuple[object, object]]:
    """Name and input of what was called; an input that comes as an object is as good as its
    text.
    """
    called = [fields(call.get("function")) for call in objects(message.tool_calls)]
    if not called and message.function_call is not None:
        called = [fields(message.function_call)]
    return [(function.get("name"), as_text(function.get("arguments"))) for function in called]


def as_text(given: object) -> str | None:
    """A tool's input as JSON text, also where it came as another value, "" where none came; None
    where no text can carry it.
    """
    if given is None or isinstance(given, str):
        return given or ""
    try:
        return _ENCODER.encode(given).decode()
    except (msgspec.EncodeError, UnicodeEncodeError, RecursionError):
        return None


def fields(value: object) -> dict[str, Any]:
    """A part of an answer as an object; empty where it is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def objects(value: object) -> list[dict[str, Any]]:
    """A list within an answer, each item as an object; empty where it is none."""
    return [fields(item) for item in cast("list[object]", value)] if isinstance(value, list) else []
