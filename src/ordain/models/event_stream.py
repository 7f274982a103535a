"""An answer that comes as server-sent events: read as it arrives, put together into what one body
would have said.

The end is judged as for one body: of JSON a finish reason is required, since a stream that was cut
can look whole. ``[DONE]`` alone proves nothing, and some servers never send it. Plain text counts
without either, and is then told to be of an end that nobody knows. Whatever an event holds besides,
an error in it ends the answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.model_policy import ModelErrorCode
from ordain.models.chat_completions import (
    AnswerMessage,
    Choice,
    Completion,
    as_text,
    conclude,
    decoded,
    fields,
    joined,
    objects,
)
from ordain.models.endings import End, end_of, refuses, text_of
from ordain.models.exchange import is_events
from ordain.models.narrative import WHOLE, early_text
from ordain.models.refusals import malformed, read_stream_error, why_unreadable
from ordain.models.replies import Counts, counted, counts_of, later
from ordain.models.schemas import OutputTool
from ordain.ports.model import ENDED_UNSAID, SILENCED, Heard, ModelError, ModelReply

STREAM_BYTES = 16 * 1024 * 1024
"""Larger than the bound on one body: every word travels in an envelope of some 250 bytes."""
CALLS_KEPT = 8
"""Tool calls of one answer that are put together; one is asked for."""
AFTER_END_S = 2.0
"""So long is waited for what may follow an answer that is whole."""
CUT_OFF = ModelError(
    code=ModelErrorCode.CONNECTION, message="the stream ended before its answer did"
)
_DONE = b"[DONE]"
_MARK = b"\xef\xbb\xbf"


class _Delta(Struct, frozen=True):
    """A piece; some servers send each, or the last one, as a whole message."""

    content: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Part(Struct, frozen=True):
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None
    index: int = 0
    text: Any = None


class _Chunk(Struct, frozen=True):
    choices: list[_Part] | None = None
    model: Any = None
    usage: Any = None
    error: Any = None
    object: Any = None


_LOOKED_AT = 4096
_EVENTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:(?::|event:|id:|retry:)[^\r\n]*[\r\n]+)*data:")
_CHUNK = msgspec.json.Decoder(_Chunk)
_ANY = msgspec.json.Decoder()


def looks_like_events(body: bytes) -> bool:
    """Whether a body of another type is such a stream all the same; no JSON begins so."""
    return _EVENTS.match(body[:_LOOKED_AT]) is not None


class Events:
    """Cuts bytes into the data of events. Lines end with LF, CR or CRLF; comments and other fields
    are passed over.
    """

    def __init__(self) -> None:
        """For one stream."""
        self._line = bytearray()
        self._data = bytearray()
        self._after_cr = False
        self._first = True

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that are whole now. An event that is not ended by an empty line
        never is.
        """
        if not chunk:
            return []
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        self._line += chunk
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        lines = bytes(self._line).splitlines(keepends=True)
        self._line = bytearray() if lines[-1].endswith((b"\n", b"\r")) else bytearray(lines.pop())
        found = [data for line in lines if (data := self._ended(line.rstrip(b"\r\n"))) is not None]
        return [data for data in found if data]

    def _ended(self, line: bytes) -> bytes | None:
        """One line; at an empty one, the data of the event that it ends."""
        if self._first:
            line, self._first = line.removeprefix(_MARK), False
        if not line:
            data, self._data = bytes(self._data[:-1]), bytearray()
            return data
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data += value.removeprefix(b" ") + b"\n"
        return None


class EventStream(ABC):
    """One answer in the making. ``heard`` is told what each arriving piece adds to the
    narrative.
    """

    def __init__(
        self,
        place: str,
        heard: Heard,
        tool: OutputTool | None = None,
        idle_ms: int = 0,
        *,
        unsure: bool = False,
    ) -> None:
        """``place`` is the request's (``place_of``); with a ``tool`` its input is the answer.
        ``idle_ms`` as in the profile, ``unsure`` as in ``WordsApart``.
        """
        self.began = self._spoke = False
        self._idle_s = idle_ms / 1000 or None
        self._heard = heard
        self._tool = tool
        self._plain = place == WHOLE
        self._narrative = early_text(place if tool is None else tool.place(place), unsure=unsure)
        self._events = Events()
        self._bytes = 0
        self._said: list[str] = []
        """The pieces of the answer."""
        self._error: Any = None
        self._fault: ModelError | None = None
        self._silent = False
        self._half = ""
        self._over_by: float | None = None
        self._told = Counts()

    def wants(self, media_type: bytes) -> bool:
        """Whether a body of this type comes here; from then on the answer is this stream."""
        self.began = is_events(media_type)
        return self.began

    @property
    def patience_s(self) -> float | None:
        """How long the next bytes may take, in seconds: before its first word a model may think for
        as long as it has.
        """
        if self._over_by is not None and self._idle_s is not None:
            return min(self._idle_s, max(0.0, self._over_by - monotonic()))
        return self._idle_s if any(self._said) else None

    @property
    @abstractmethod
    def _ended(self) -> bool:
        """Whether the answer is whole by what the stream said, though more may come: token
        counts.
        """

    def suffices(self, *, silent: bool) -> bool:
        """See ``Listener``: an answer does that said its end, in JSON only where nothing broke; so
        do words that fell silent, which are then told as cut.
        """
        self._silent = (
            silent
            and self._plain
            and any(self._said)
            and self._error is None
            and self._fault is None
        )
        return (self._ended and (silent or self._plain)) or self._silent

    def take(self, chunk: bytes) -> bool:
        """The next bytes of the body; False when nothing that comes after them could count."""
        self._bytes += len(chunk)
        if self._bytes > STREAM_BYTES:
            self._fault = malformed(f"the answer is larger than {STREAM_BYTES} bytes")
            return False
        before = len(self._said)
        going_on = all(self._taken(data) for data in self._events.feed(chunk))
        if self._ended and self._over_by is None:  # whatever its endpoint goes on with
            self._over_by = monotonic() + AFTER_END_S
        shown = self._narrative.feed(self._whole_signs("".join(self._said[before:])))
        if shown or (self._plain and not self._spoke and any(self._said)):
            # that there are words is heard of, whatever they are
            self._spoke = True
            self._heard(shown)
        return going_on

    def _whole_signs(self, piece: str) -> str:
        """The piece without half signs; the first half of one waits for the second."""
        text, self._half = self._half + piece, ""
        if text and "\ud800" <= text[-1] < "\udc00":
            text, self._half = text[:-1], text[-1]
        return joined(text)

    def _taken(self, data: bytes) -> bool:
        try:
            return self._event(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as broken:
            self._fault = malformed(f"an event of the stream: {why_unreadable(data, broken)}")
            return False

    @abstractmethod
    def _event(self, data: bytes) -> bool:
        """One event; False when nothing that comes after it could count. Raises what decoding
        raises.
        """

    def conclude(self, asked: str, sent: str) -> ModelReply | ModelError:
        """What the stream said, after its end; ``asked`` and ``sent`` as for one body."""
        if self._error is not None:  # nothing follows it, so what was told of use is all
            return counted(read_stream_error(self._error, sent), self._told, spoke=any(self._said))
        if self._fault is not None:
            return (
                counted(self._fault, self._told, spoke=any(self._said))
                if self._ended
                else self._fault
            )
        said = self._whole(asked)
        if isinstance(said, ModelReply) and (rest := self._narrative.rest()):
            self._heard(rest)
        return said

    def _used(self, usage: object) -> None:
        """An event tells of use."""
        self._told = later(self._told, counts_of(usage))

    def _unsaid(self, reply: ModelReply | ModelError) -> ModelReply | ModelError:
        """Words whose stream ended, or fell silent, before anything said that they are whole: kept,
        and told so.
        """
        notice = SILENCED if self._silent else ENDED_UNSAID
        return (
            msgspec.structs.replace(reply, notice=notice)
            if isinstance(reply, ModelReply)
            else reply
        )

    @abstractmethod
    def _whole(self, asked: str) -> ModelReply | ModelError:
        """Judge what was put together."""


class CompletionStream(EventStream):
    """A chat completion in the making."""

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
        self._refuses = self._other_tool = False
        self._calls: dict[int, tuple[list[str], list[str]]] = {}
        self._finish: str | None = None
        self._answered = self._done = False
        self._model: Any = None

    def _event(self, data: bytes) -> bool:
        if data.strip() == _DONE:
            self._done = True
            return False
        chunk = decoded(data, _CHUNK, plain=self._plain)
        self._used(chunk.usage)
        error: Any = (
            _ANY.decode(data) if chunk.object == "error" and not chunk.error else chunk.error
        )
        if error:
            self._error = error
            return False
        self._model = chunk.model or self._model
        for part in chunk.choices or ():
            if part.index == 0:
                self._add(part)
        return True

    def _add(self, part: _Part) -> None:
        self._answered = True
        if end_of(part.finish_reason) is not End.UNSAID:  # some servers send "" until the end
            self._finish = part.finish_reason
        said = part.delta if part.message is None or any(self._said) else part.message
        if said is None:
            if self._tool is None and part.message is None:
                self._said.append(text_of(part.text))
            return
        self._refuses = self._refuses or refuses(said.refusal, said.content)
        if self._tool is None:
            self._said.append(text_of(said.content) or text_of(part.text))
            self._other_tool = self._other_tool or bool(said.tool_calls or said.function_call)
        else:
            for call in objects(said.tool_calls) or (
                [{"function": said.function_call}] if said.function_call is not None else []
            ):
                self._add_call(call)

    @property
    def _ended(self) -> bool:
        return self._finish is not None

    def _add_call(self, call: dict[str, Any]) -> None:
        index = call.get("index", 0)
        if not isinstance(index, int) or (
            index not in self._calls and len(self._calls) >= CALLS_KEPT
        ):
            return
        # the first one's input is heard
        names, given = self._calls.setdefault(index, ([], [] if self._calls else self._said))
        function = fields(call.get("function"))
        for pieces, piece in ((names, function.get("name")), (given, function.get("arguments"))):
            if isinstance(text := as_text(piece), str):
                pieces.append(text)

    def _whole(self, asked: str) -> ModelReply | ModelError:
        spoke = self._plain and any(self._said)
        if (
            (self._answered or not self._bytes)
            and self._finish is None
            and not (self._done or spoke)
        ):
            return CUT_OFF
        calls = [
            {"function": {"name": "".join(names), "arguments": "".join(given)}}
            for names, given in self._calls.values()
        ]
        message = AnswerMessage(
            content=joined("".join(self._said)) if self._plain else "".join(self._said),
            refusal="refused" if self._refuses else None,
            tool_calls=calls or ([{}] if self._other_tool else None),
        )
        choices = [Choice(message, self._finish)] if self._answered else None
        reply = conclude(
            Completion(choices=choices, model=self._model, usage=self._told),
            asked,
            self._tool,
            plain=self._plain,
        )
        return self._unsaid(reply) if self._finish is None and not self._done else reply
