"""The wire of ``/v1/responses``: what is sent, how an answer and its events are read. Pure and total.

The same rules as for chat completions: only status ``completed`` is a whole answer, what is missing or unknown is an error. Nothing is
stored at the provider. A stream's last event carries the whole answer, and that is what is judged; a server that leaves its output out is
taken at the pieces it sent.
"""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ordain.contracts.policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.chat_completions import fields, objects
from ordain.models.event_stream import CUT_OFF, EventStream, silenced
from ordain.models.refusals import malformed, read_stream_error, why_unreadable
from ordain.models.replies import TRUNCATED, Counts, cut_short, replied
from ordain.models.schemas import OutputTool, clean_name, native_format, system_text, tool_definition
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Body(Struct, frozen=True, kw_only=True):
    model: str
    instructions: str
    input: str
    max_output_tokens: int
    store: bool = False
    temperature: float | UnsetType = UNSET
    text: Any = UNSET
    tools: Any = UNSET
    tool_choice: Any = UNSET
    stream: bool | UnsetType = UNSET


class _Response(Struct, frozen=True):
    status: str | None = None
    output: list[dict[str, Any]] | None = None
    incomplete_details: Any = None
    error: Any = None
    model: Any = None
    usage: Any = None


class _Event(Struct, frozen=True):
    type: str
    delta: Any = None
    output_index: Any = 0
    response: _Response | None = None
    error: Any = None
    code: Any = None
    param: Any = None
    message: Any = None


_ENCODER = msgspec.json.Encoder()
_RESPONSE = msgspec.json.Decoder(_Response)
_EVENT = msgspec.json.Decoder(_Event)


def encode_request(request: ModelRequest, *, stream: bool = False) -> bytes:
    """The body of one request; ``stream`` asks for the answer as events.

    Raises:
        UnicodeEncodeError: the prompt holds a lone surrogate, which no wire can carry.
    """
    profile = request.profile
    held = request.held_by
    return _ENCODER.encode(
        _Body(
            model=profile.model,
            instructions=system_text(request, held),
            input=request.user,
            max_output_tokens=min(request.max_tokens, profile.max_tokens),
            temperature=UNSET if profile.temperature is None else profile.temperature,
            text={"format": _typed("json_schema", native_format(request))} if held is Structured.NATIVE else UNSET,
            tools=[_typed("function", tool_definition(request))] if held is Structured.TOOL else UNSET,
            tool_choice={"type": "function", "name": clean_name(request.schema_name)} if held is Structured.TOOL else UNSET,
            stream=True if stream else UNSET,
        )
    )


def _typed(kind: str, members: Raw) -> Raw:
    """The encoded object with a type in front: this wire nests one level less than chat completions."""
    return Raw(b'{"type":"%b",%b' % (kind.encode(), bytes(members)[1:]))


def read_response(
    body: bytes, asked: str, tool: OutputTool | None = None, sent: str = "", *, plain: bool = False
) -> ModelReply | ModelError:
    """Read the body of a 2xx answer; ``asked`` is the model's name where the answer gives none. Never raises.

    Where a ``tool`` was asked for, its input is the answer; ``plain``: words were, which count also where they were cut. No word of ``sent`` comes back in a message.
    """
    try:
        response = _RESPONSE.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return malformed(why_unreadable(body, error, "a response"))
    return _judged(response, asked, _Asked(tool, sent, plain=plain))


class _Asked(Struct, frozen=True):
    """How an answer was asked for, and what of a stream was heard."""

    tool: OutputTool | None
    sent: str
    plain: bool = False
    pieces: str = ""


def _judged(response: _Response, asked: str, how: _Asked) -> ModelReply | ModelError:
    failure = _unfinished(response, how.sent)
    cut = how.plain and failure is TRUNCATED
    if failure is not None and not cut:
        return failure
    text = _said(response.output or [], how.tool, how.pieces)
    if isinstance(text, ModelError):
        return TRUNCATED if cut and text.code is ModelErrorCode.MALFORMED else text
    usage = fields(response.usage)
    cached = fields(usage.get("input_tokens_details")).get("cached_tokens")
    reply = replied(text, response.model, asked, Counts(given=usage.get("input_tokens"), said=usage.get("output_tokens"), cached=cached))
    return cut_short(reply) if cut else reply


def _unfinished(response: _Response, sent: str) -> ModelError | None:
    match response.status:
        case "completed":
            return malformed("an error with a status of success") if response.error else None
        case "failed":
            return read_stream_error(response.error, sent)
        case "incomplete":
            reason = fields(response.incomplete_details).get("reason")
            if reason in {"max_output_tokens", "max_tokens"}:
                return TRUNCATED
            if reason == "content_filter":
                return ModelError(code=ModelErrorCode.FILTERED, message="the provider's content filter stopped the answer")
            return malformed("incomplete for an unknown reason")
        case None:
            return malformed("status is missing")
        case "queued" | "in_progress" | "cancelled" as status:
            return malformed(f"status {status}")
        case _:
            return malformed("unknown status")


def _said(output: list[dict[str, Any]], tool: OutputTool | None, pieces: str) -> str | ModelError:
    parts = [part for item in output if item.get("type") == "message" for part in objects(item.get("content"))]
    if any(part.get("type") == "refusal" for part in parts):
        return ModelError(code=ModelErrorCode.FILTERED, message="the model refused")
    if tool is not None:
        calls = [(item.get("name"), item.get("arguments")) for item in output if item.get("type") == "function_call"]
        return tool.answer(calls)
    texts = [part.get("text") for part in parts if part.get("type") == "output_text"]
    if not all(isinstance(text, str) for text in texts):
        return malformed("not a response: a text that is none")
    return "".join(cast("list[str]", texts)) or (pieces if not output else "") or malformed("completed without a text")


class ResponseStream(EventStream):
    """A response in the making."""

    def __init__(self, place: str, heard: Heard, tool: OutputTool | None = None, idle_ms: int = 0) -> None:
        """As every stream."""
        super().__init__(place, heard, tool, idle_ms)
        self._response: _Response | None = None
        self._heard_of: Any = None
        self._sent = ""
        self._begun = False

    def _event(self, data: bytes) -> bool:
        if data.strip() == b"[DONE]":
            return False
        event = _EVENT.decode(data)
        self._begun = True
        if event.type == "error" or (event.error and event.response is None):
            self._error = event.error or {"code": event.code, "param": event.param, "message": event.message}
            return False
        if event.type in _ENDS:
            self._response = event.response or _Response()
            return False
        if event.type == ("response.output_text.delta" if self._tool is None else "response.function_call_arguments.delta"):
            self._add(event)
        return True

    def _add(self, event: _Event) -> None:
        """Pieces of a second tool call are not shown: the answer will be refused for it."""
        if self._tool is not None and self._heard_of not in {None, event.output_index}:
            return
        self._heard_of = event.output_index if isinstance(event.output_index, int) else 0
        if isinstance(event.delta, str):
            self._said.append(event.delta)

    def conclude(self, asked: str, sent: str) -> ModelReply | ModelError:
        """As every stream."""
        self._sent = sent
        return super().conclude(asked, sent)

    @property
    def _ended(self) -> bool:
        return self._response is not None

    def _whole(self, asked: str) -> ModelReply | ModelError:
        if self._response is None and self._silent:
            return silenced(replied("".join(self._said), None, asked, Counts()))
        if self._response is None:
            return CUT_OFF if self._begun or not self._bytes else malformed("no answer in the stream")
        return _judged(self._response, asked, _Asked(self._tool, self._sent, plain=self._plain, pieces="".join(self._said)))
