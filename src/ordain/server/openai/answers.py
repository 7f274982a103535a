"""The whole answers of the OpenAI address, and what stands beside their text. Pure."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.openai import (
    AssistantText,
    ChatCompletion,
    CompletionChoice,
    CompletionUsage,
    IncompleteDetails,
    OrdainNote,
    ResponseMessage,
    ResponseObject,
    ResponseText,
    ResponseUsage,
)
from ordain.runtime.brief import is_short


def note_of(note: OrdainNote, answer: MessageAnswer) -> OrdainNote:
    """What is true of an answer, once there is one."""
    reply, approval = answer.reply, answer.approval
    return note.model_copy(
        update={
            "run_id": answer.run_id,
            "header": "" if reply is None else reply.header,
            "verdict": None if reply is None else reply.verdict,
            "approval_id": None if approval is None else approval.approval_id,
            "remedies": [] if reply is None else reply.remedies,
            "links": [] if reply is None else reply.links,
        }
    )


def completion(ids: tuple[str, int], model: str, text: str, usage: CompletionUsage, note: OrdainNote) -> ChatCompletion:
    """A chat completion; ``ids`` are its id and second."""
    choice = CompletionChoice(message=AssistantText(content=text), finish_reason=finish_of(note))
    return ChatCompletion(id=ids[0], created=ids[1], model=model, choices=[choice], usage=usage, ordain=note)


def response_object(ids: tuple[str, int], model: str, text: str, usage: CompletionUsage, note: OrdainNote) -> ResponseObject:
    """A response; ``ids`` are its id and second."""
    short = is_short(note.header)
    return ResponseObject(
        id=ids[0],
        created_at=ids[1],
        status=status_of(note),
        incomplete_details=IncompleteDetails() if short else None,
        model=model,
        output=[ResponseMessage(id=message_id(ids[0]), status=status_of(note), content=[ResponseText(text=text)])],
        usage=ResponseUsage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens),
        ordain=note,
    )


def finish_of(note: OrdainNote) -> Literal["stop", "length"]:
    """How an answer ended, in the words that there are for it: one of which something may be missing was cut."""
    return "length" if is_short(note.header) else "stop"


def status_of(note: OrdainNote) -> Literal["completed", "incomplete"]:
    """The same of a response."""
    return "incomplete" if is_short(note.header) else "completed"


def message_id(response: str) -> str:
    """The id of a response's one message."""
    return f"msg_{sha256(response.encode()).hexdigest()[:40]}"
