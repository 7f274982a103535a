"""The whole answers of the OpenAI address, and what stands beside their text. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Set
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct
from pydantic import ValidationError

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.openai import (
    AssistantText,
    ChatCompletion,
    CompletionChoice,
    CompletionUsage,
    IncompleteDetails,
    OrdainNote,
    ResponseEcho,
    ResponseFailure,
    ResponseMessage,
    ResponseObject,
    ResponseRefusal,
    ResponsesRequest,
    ResponseText,
    ResponseUsage,
)
from ordain.runtime.answer_source import AnswerSource
from ordain.runtime.brief import is_short
from ordain.runtime.remedies import model_failure, reason_told
from ordain.server.refusals import NO_ANSWER

FAILURE_CHARS = 1000


class SentAnswer(Struct, frozen=True, kw_only=True):
    """An answer as it is sent: its text, what it used, and what stands beside it.

    ``refusal``: the text is code's word where an answer of a form was asked for. ``failure``: the
    turn has no answer, and the text tells why.
    """

    text: str
    usage: CompletionUsage
    note: OrdainNote
    refusal: bool = False
    failure: ResponseFailure | None = None


def note_of(note: OrdainNote, answer: MessageAnswer, source: AnswerSource) -> OrdainNote:
    """What is true of an answer, once there is one."""
    reply = answer.reply
    said = reply or answer.question
    return note.model_copy(
        update={
            "run_id": answer.run_id,
            "header": "" if reply is None else reply.header,
            "verdict": None if reply is None else reply.verdict,
            "approval_id": source.approval or None,
            "remedies": [] if reply is None else reply.remedies,
            "links": [] if said is None else said.links,
        }
    )


def failure_of(answer: MessageAnswer, source: AnswerSource) -> ResponseFailure | None:
    """Why a turn has no answer; None of one that has, and of what only tells how things stand."""
    reply = answer.reply
    if reply is None or reply.ok or source.by_code:
        return None
    failed = model_failure(reply.header)
    if failed is not None:
        return ResponseFailure(code=f"{NO_ANSWER}{failed[0]}", message=failed[1])
    return ResponseFailure(
        code=reason_told(reply.header) or "failed", message=reply.narrative[:FAILURE_CHARS]
    )


def completion(ids: tuple[str, int], model: str, told: SentAnswer) -> ChatCompletion:
    """A chat completion; ``ids`` are its id and second."""
    said = AssistantText(content=told.text, refusal=told.text if told.refusal else None)
    choice = CompletionChoice(message=said, finish_reason=finish_of(told.note))
    return ChatCompletion(
        id=ids[0], created=ids[1], model=model, choices=[choice], usage=told.usage, ordain=told.note
    )


def echo_of(given: ResponsesRequest) -> ResponseEcho:
    """What its response gives back of a request: what was sent, but for what is nothing of its
    kind, which counted for nothing.
    """
    sent = given.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude_none=True)
    if isinstance(named := sent.get("conversation"), str):
        sent["conversation"] = {"id": named}
    if "text" in sent:
        sent["text"] = {"format": {"type": "text"}} | sent["text"]
    try:
        return ResponseEcho.model_validate(sent)
    except ValidationError as error:
        return ResponseEcho.model_validate(
            _without(sent, {one["loc"][0] for one in error.errors()})
        )


def _without(sent: Mapping[str, Any], names: Set[int | str]) -> dict[str, Any]:
    return {name: value for name, value in sent.items() if name not in names}


def response_object(
    ids: tuple[str, int], model: str, told: SentAnswer, echo: ResponseEcho
) -> ResponseObject:
    """A response; ``ids`` are its id and second."""
    status, usage = status_of(told), told.usage
    part = ResponseRefusal(refusal=told.text) if told.refusal else ResponseText(text=told.text)
    return ResponseObject(
        **dict(echo),
        id=ids[0],
        created_at=ids[1],
        status=status,
        error=told.failure,
        incomplete_details=IncompleteDetails() if status == "incomplete" else None,
        model=model,
        output=[ResponseMessage(id=message_id(ids[0]), status=item_status(told), content=[part])],
        usage=ResponseUsage(
            input_tokens=usage.prompt_tokens,
            output_tokens=usage.completion_tokens,
            total_tokens=usage.total_tokens,
        ),
        ordain=told.note,
    )


def finish_of(note: OrdainNote) -> Literal["stop", "length"]:
    """How an answer ended, in the words that there are for it: one of which something may be
    missing was cut.
    """
    return "length" if is_short(note.header) else "stop"


def status_of(told: SentAnswer) -> Literal["completed", "incomplete", "failed"]:
    """The same of a response; one without an answer has failed."""
    if told.failure is not None:
        return "failed"
    return "incomplete" if is_short(told.note.header) else "completed"


def item_status(told: SentAnswer) -> Literal["completed", "incomplete"]:
    """The same of a response's message, which cannot fail by itself."""
    return "completed" if status_of(told) == "completed" else "incomplete"


def message_id(response: str) -> str:
    """The id of a response's one message."""
    return f"msg_{sha256(response.encode()).hexdigest()[:40]}"
