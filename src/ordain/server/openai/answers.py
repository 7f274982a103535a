"""The whole answers of the OpenAI address, and what stands beside their text. Pure."""

from __future__ import annotations

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.openai import (
    AssistantText,
    ChatCompletion,
    CompletionChoice,
    CompletionUsage,
    OrdainNote,
    ResponseMessage,
    ResponseObject,
    ResponseText,
    ResponseUsage,
)


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
    choice = CompletionChoice(message=AssistantText(content=text))
    return ChatCompletion(id=ids[0], created=ids[1], model=model, choices=[choice], usage=usage, ordain=note)


def response_object(ids: tuple[str, int], model: str, text: str, usage: CompletionUsage, note: OrdainNote) -> ResponseObject:
    """A response; ``ids`` are its id and second."""
    return ResponseObject(
        id=ids[0],
        created_at=ids[1],
        model=model,
        output=[ResponseMessage(id=message_id(ids[0]), content=[ResponseText(text=text)])],
        usage=ResponseUsage(input_tokens=usage.prompt_tokens, output_tokens=usage.completion_tokens, total_tokens=usage.total_tokens),
        ordain=note,
    )


def message_id(response: str) -> str:
    """The id of a response's one message."""
    return f"msg_{response.partition('_')[2][-40:]}"
