"""Streams of the OpenAI address: an answer's pieces in the frames that its clients read."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ordain.contracts.openai import CompletionUsage, OrdainNote, ResponsesRequest
from ordain.errors import OrdainError
from ordain.runtime.plain_answer import PlainAnswer
from ordain.server.feed import STREAM_HEADERS
from ordain.server.openai.answers import (
    SentAnswer,
    completion,
    echo_of,
    finish_of,
    message_id,
    response_object,
    status_of,
)
from ordain.server.openai.asked import OpenAIAsked
from ordain.server.openai.formed import usage_of
from ordain.server.openai.narration import Narration
from ordain.server.openai.wire import refusal_of
from ordain.server.problems import problem_body
from ordain.server.sent_json import spelled


class Frames(Protocol):
    """One wire's way to say an answer, whole or in frames."""

    def begin(self, unique: str, response: str, created: int) -> None:
        """The answer has an id and a second now."""
        ...

    def whole(self, told: SentAnswer) -> Mapping[str, Any]:
        """All of it."""
        ...

    def opening(self) -> bytes:
        """The frames before the text."""
        ...

    def piece(self, text: str, *, refusal: bool = False) -> bytes:
        """One piece of the text; of a ``refusal`` there is but one."""
        ...

    def closing(self, told: SentAnswer) -> bytes:
        """The frames behind the text, of which all is given again."""
        ...

    def failed(self, error: OrdainError) -> bytes:
        """The frames of a stream that cannot end well."""
        ...


class ChatFrames:
    """Chunks of ``/v1/chat/completions``."""

    def __init__(self, asked: OpenAIAsked) -> None:
        """Not begun."""
        self._asked, self._id, self._created = asked, "", 0

    def begin(self, unique: str, response: str, created: int) -> None:
        """See ``Frames.begin``."""
        self._id, self._created = f"chatcmpl-{unique}", created

    def whole(self, told: SentAnswer) -> Mapping[str, Any]:
        """See ``Frames.whole``."""
        return completion((self._id, self._created), self._asked.model, told).model_dump(
            mode="json"
        )

    def opening(self) -> bytes:
        """See ``Frames.opening``."""
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str, *, refusal: bool = False) -> bytes:
        """See ``Frames.piece``."""
        return self._chunk({"content": text, "refusal": text} if refusal else {"content": text})

    def closing(self, told: SentAnswer) -> bytes:
        """See ``Frames.closing``."""
        beside: dict[str, Any] = {"ordain": told.note.model_dump(mode="json")}
        ended = self._chunk({}, finish=finish_of(told.note), more=beside)
        if self._asked.usage_streamed:
            ended += _frame({**self._base(), "choices": [], "usage": told.usage.model_dump()})
        return ended + b"data: [DONE]\n\n"

    def failed(self, error: OrdainError) -> bytes:
        """See ``Frames.failed``."""
        return _frame(_refusal(error))

    def _base(self) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": "chat.completion.chunk",
            "created": self._created,
            "model": self._asked.model,
        }

    def _chunk(
        self,
        delta: Mapping[str, Any],
        finish: str | None = None,
        more: Mapping[str, Any] | None = None,
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**self._base(), "choices": [choice], **(more or {})})


class ResponseFrames:
    """Events of ``/v1/responses``."""

    def __init__(self, asked: OpenAIAsked, given: ResponsesRequest) -> None:
        """Not begun."""
        self._asked, self._echo = asked, echo_of(given)
        self._ids, self._number, self._part = ("", 0), 0, False

    def begin(self, unique: str, response: str, created: int) -> None:
        """See ``Frames.begin``."""
        self._ids = (response, created)

    def whole(self, told: SentAnswer) -> Mapping[str, Any]:
        """See ``Frames.whole``."""
        return response_object(self._ids, self._asked.model, told, self._echo).model_dump(
            mode="json"
        )

    def opening(self) -> bytes:
        """See ``Frames.opening``."""
        nothing = SentAnswer(text="", usage=CompletionUsage(), note=OrdainNote())
        begun: dict[str, Any] = {
            **self.whole(nothing),
            "status": "in_progress",
            "output": [],
            "usage": None,
        }
        item: dict[str, Any] = {**self._item(nothing), "status": "in_progress", "content": []}
        return b"".join(
            (
                self._event("response.created", response=begun),
                self._event("response.in_progress", response=begun),
                self._event("response.output_item.added", output_index=0, item=item),
            )
        )

    def piece(self, text: str, *, refusal: bool = False) -> bytes:
        """See ``Frames.piece``. The part begins with it: what kind of part it is nobody knows
        before.
        """
        begun = self._began(refusal=refusal)
        if refusal:
            return begun + self._event("response.refusal.delta", **self._place(), delta=text)
        return begun + self._event(
            "response.output_text.delta", **self._place(), delta=text, logprobs=[]
        )

    def closing(self, told: SentAnswer) -> bytes:
        """See ``Frames.closing``."""
        begun, item = self._began(refusal=told.refusal), self._item(told)
        if told.refusal:
            done = self._event("response.refusal.done", **self._place(), refusal=told.text)
        else:
            done = self._event(
                "response.output_text.done", **self._place(), text=told.text, logprobs=[]
            )
        return b"".join(
            (
                begun,
                done,
                self._event("response.content_part.done", **self._place(), part=item["content"][0]),
                self._event("response.output_item.done", output_index=0, item=item),
                self._event(f"response.{status_of(told)}", response=self.whole(told)),
            )
        )

    def failed(self, error: OrdainError) -> bytes:
        """See ``Frames.failed``."""
        told = _refusal(error)["error"]
        return self._event("error", code=told["code"], message=told["message"], param=told["param"])

    def _began(self, *, refusal: bool) -> bytes:
        if self._part:
            return b""
        self._part = True
        nothing = SentAnswer(text="", usage=CompletionUsage(), note=OrdainNote(), refusal=refusal)
        return self._event(
            "response.content_part.added", **self._place(), part=self._item(nothing)["content"][0]
        )

    def _item(self, told: SentAnswer) -> dict[str, Any]:
        return (
            response_object(self._ids, self._asked.model, told, self._echo)
            .output[0]
            .model_dump(mode="json")
        )

    def _place(self) -> dict[str, Any]:
        return {"item_id": message_id(self._ids[0]), "output_index": 0, "content_index": 0}

    def _event(self, kind: str, **fields: Any) -> bytes:
        number, self._number = self._number, self._number + 1
        return f"event: {kind}\n".encode() + _frame(
            {"type": kind, **fields, "sequence_number": number}
        )


def _frame(value: Mapping[str, Any]) -> bytes:
    return b"data: " + spelled(value) + b"\n\n"


def _refusal(error: OrdainError) -> dict[str, Any]:
    return refusal_of(
        problem_body(error.status, error.code, error.message, error.details)
    ).model_dump(mode="json")


class StreamedAnswer(StreamingResponse):
    """An answer in frames, until it stands or the client leaves; what it is the answer to goes on
    in any case.
    """

    def __init__(self, frames: Frames, answer: Narration | PlainAnswer, note: OrdainNote) -> None:
        """``answer`` is told as it comes, or all at once where it is there already."""
        super().__init__(
            _sent(frames, answer, note), media_type="text/event-stream", headers=STREAM_HEADERS
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send frames as they come; the reader is closed with the response."""
        iterator = self.body_iterator
        try:
            await super().__call__(scope, receive, send)
        finally:
            close = getattr(iterator, "aclose", None)
            if close is not None:
                await close()


async def _sent(
    frames: Frames, answer: Narration | PlainAnswer, note: OrdainNote
) -> AsyncIterator[bytes]:
    yield frames.opening()
    if isinstance(answer, PlainAnswer):
        yield frames.piece(answer.words)
        yield frames.closing(SentAnswer(text=answer.words, usage=usage_of(note.header), note=note))
        return
    text: list[str] = []
    try:
        async for piece in answer.pieces():
            if piece is None:
                yield b": still here\n\n"
            elif piece:
                text.append(piece)
                yield frames.piece(piece, refusal=answer.refusal)
        closing = frames.closing(answer.told("".join(text), note))
    except OrdainError as error:
        yield frames.failed(error)
        return
    yield closing
