"""The wire of ``/v1/responses``: what is sent, how an answer and its events are read. Pure and
total.

The same rules as for chat completions: only status ``completed`` is a whole answer, in JSON what is
missing or unknown is an error, and words count all the same. Nothing is stored at the provider. A
stream's last event carries the whole answer, and that is what is judged; a server that leaves its
output out, and one that sends no such event, is taken at the pieces it sent.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.profiles import Structured
from ordain.models.chat_completions import as_text, decoded, fields, joined
from ordain.models.endings import BROKEN, FILTERED, REFUSED, End, end_of, refuses, text_of
from ordain.models.event_stream import CUT_OFF, EventStream
from ordain.models.pictures import response_input
from ordain.models.refusals import malformed, read_stream_error, why_unreadable
from ordain.models.replies import TRUNCATED, Counts, counted, counts_of, ended, later, replied
from ordain.models.schemas import (
    OutputTool,
    clean_name,
    native_format,
    system_text,
    tool_definition,
)
from ordain.ports.model import Heard, Leave, ModelError, ModelReply, ModelRequest
from ordain.rules.enforcement import UNTOLD

_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


class _Body(Struct, frozen=True, kw_only=True):
    model: str
    instructions: str | UnsetType = UNSET
    input: Any
    max_output_tokens: int | UnsetType = UNSET
    store: bool | UnsetType = UNSET
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
    usage: Any = None


_ENCODER = msgspec.json.Encoder()
_RESPONSE = msgspec.json.Decoder(_Response)
_EVENT = msgspec.json.Decoder(_Event)


def encode_request(request: ModelRequest, *, stream: bool = False) -> bytes:
    """The body of one request; ``stream`` asks for the answer as events. What the request is to do
    without (``left``) is left out.

    Raises:
        UnicodeEncodeError: the prompt holds a lone surrogate, which no wire can carry.
    """
    profile = request.profile
    held, left = request.held_by, request.left
    system = system_text(request, held)
    return _ENCODER.encode(
        _Body(
            model=profile.model,
            instructions=UNSET if Leave.SYSTEM in left else system,
            input=response_input(
                request, f"{system}\n\n{request.user}" if Leave.SYSTEM in left else request.user
            ),
            max_output_tokens=UNSET
            if Leave.LENGTH in left
            else min(request.max_tokens, profile.max_tokens),
            store=UNSET if Leave.STORE in left else False,
            temperature=UNSET
            if request.temperature is None or Leave.TEMPERATURE in left
            else request.temperature,
            text={"format": _typed("json_schema", native_format(request))}
            if held is Structured.NATIVE
            else UNSET,
            tools=[_typed("function", tool_definition(request))]
            if held is Structured.TOOL
            else UNSET,
            tool_choice={"type": "function", "name": clean_name(request.schema_name)}
            if held is Structured.TOOL
            else UNSET,
            stream=True if stream and Leave.STREAM not in left else UNSET,
        )
    )


def _typed(kind: str, members: Raw) -> Raw:
    """The encoded object with a type in front: this wire nests one level less than chat
    completions.
    """
    return Raw(b'{"type":"%b",%b' % (kind.encode(), bytes(members)[1:]))


def read_response(
    body: bytes, asked: str, tool: OutputTool | None = None, sent: str = "", *, plain: bool = False
) -> ModelReply | ModelError:
    """Read the body of a 2xx answer; ``asked`` is the model's name where the answer gives none.
    Never raises.

    Where a ``tool`` was asked for, its input is the answer; ``plain``: words were, which count also
    where they were cut. No word of ``sent`` comes back in a message.
    """
    try:
        response = decoded(body, _RESPONSE, plain=plain)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return malformed(why_unreadable(body, error, "a response"))
    return _judged(response, asked, _Asked(tool, sent, plain=plain))


class _Asked(Struct, frozen=True):
    """How an answer was asked for, and what of a stream was heard."""

    tool: OutputTool | None
    sent: str
    plain: bool = False
    pieces: str = ""
    told: Counts = Counts()


def _judged(response: _Response, asked: str, how: _Asked) -> ModelReply | ModelError:
    counts = later(how.told, counts_of(response.usage))
    spoke = bool(response.output or how.pieces)
    end = _end_of(response, how.sent)
    if isinstance(end, ModelError):
        return counted(end, counts, spoke=spoke)
    text = _text_or_fault(response, end, how)
    if isinstance(text, ModelError):
        return counted(text, counts, spoke=spoke)
    return ended(replied(joined(text) if how.plain else text, response.model, asked, counts), end)


def _text_or_fault(response: _Response, end: End, how: _Asked) -> str | ModelError:
    if end is End.CUT and not how.plain:
        return TRUNCATED
    if end is End.UNSAID and not how.plain:
        return malformed("status is missing")
    if end is End.UNKNOWN and not how.plain:
        return malformed("unknown end")
    text = _said(response.output or [], how.tool, how.pieces)
    cut = isinstance(text, ModelError) and end is End.CUT and text.code is ModelErrorCode.MALFORMED
    return TRUNCATED if cut else text


def _end_of(response: _Response, sent: str) -> End | ModelError:
    """How it ended; the failure of what came to no answer."""
    match response.status:
        case "completed":
            return malformed("an error with a status of success") if response.error else End.WHOLE
        case "failed":
            return read_stream_error(response.error, sent)
        case "incomplete":
            reason = fields(response.incomplete_details).get("reason")
            end = end_of(reason) if isinstance(reason, str) else End.UNKNOWN
            return (
                FILTERED
                if end is End.FILTERED
                else BROKEN
                if end is End.BROKEN
                else end
                if end is End.CUT
                else End.UNKNOWN
            )
        case "queued" | "in_progress" | "cancelled" as status:
            return malformed(f"status {status}")
        case None | "":
            return End.UNSAID
        case _:
            return End.UNKNOWN


def _said(output: list[dict[str, Any]], tool: OutputTool | None, pieces: str) -> str | ModelError:
    said = [item.get("content") for item in output if item.get("type") == "message"]
    if any(refuses(None, content) for content in said):
        return REFUSED
    calls = [
        (item.get("name"), as_text(item.get("arguments")))
        for item in output
        if item.get("type") == "function_call"
    ]
    if tool is not None:
        return tool.answer(calls)
    text = "".join(map(text_of, said)) or (pieces if not output else "")
    return text or msgspec.structs.replace(malformed(UNTOLD), calls=bool(calls))


class ResponseStream(EventStream):
    """A response in the making."""

    def __init__(
        self,
        place: str,
        heard: Heard,
        tool: OutputTool | None = None,
        idle_ms: int = 0,
        *,
        unsure: bool = False,
    ) -> None:
        """As every stream."""
        super().__init__(place, heard, tool, idle_ms, unsure=unsure)
        self._response: _Response | None = None
        self._heard_of: Any = None
        self._sent = ""
        self._begun = self._done = False

    def _event(self, data: bytes) -> bool:
        if data.strip() == b"[DONE]":
            self._done = True
            return False
        event = decoded(data, _EVENT, plain=self._plain)
        self._begun = True
        self._used(event.usage if event.response is None else event.response.usage)
        if event.type == "error" or (event.error and event.response is None):
            self._error = event.error or {
                "code": event.code,
                "param": event.param,
                "message": event.message,
            }
            return False
        if event.type in _ENDS:
            self._response = event.response or _Response()
            return False
        if event.type == (
            "response.output_text.delta"
            if self._tool is None
            else "response.function_call_arguments.delta"
        ):
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
        if self._response is None and self._plain and any(self._said):
            reply = replied(joined("".join(self._said)), None, asked, Counts())
            return reply if self._done else self._unsaid(reply)
        if self._response is None:
            return (
                CUT_OFF if self._begun or not self._bytes else malformed("no answer in the stream")
            )
        how = _Asked(
            self._tool, self._sent, plain=self._plain, pieces="".join(self._said), told=self._told
        )
        return _judged(self._response, asked, how)
