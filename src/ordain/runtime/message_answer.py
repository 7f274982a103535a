"""What became of a message, of its entry and of the one that answers it. Pure."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.contracts.conversation import ApprovalOpen, MessageAnswer, Question, Reply
from ordain.ports.sessions import Entry, EntryKind
from ordain.runtime.brief import readable_header
from ordain.runtime.entry_events import EntryBody, shown_body
from ordain.runtime.remedies import remedies


class Served(Struct, frozen=True, gc=False, kw_only=True):
    """What of a message's entry its answer tells: where it stands, what it was taken for, and the
    run that serves it. As ``Entry`` has it.
    """

    seq: int
    message_id: str
    attached: str
    reason: str
    thread: int
    run: str
    anchor: str


def answer_of(
    message: Entry | Served, answer: Entry | None, session: str, *, duplicate: bool = False
) -> MessageAnswer:
    """The answer to a message of a session, as the entries have it; without one what the message
    was taken for.

    Raises:
        JournalCorrupt: the answer's entry cannot be read.
    """
    reply, question, approval = None, None, None
    body = None if answer is None else shown_body(answer)  # of one that was erased there is neither
    if answer is not None and body is not None:
        match answer.kind:
            case EntryKind.REPLY:
                reply = _reply(body)
            case EntryKind.QUESTION:
                question = _question(answer, body)
            case EntryKind.APPROVAL:
                approval = _approval(answer, body)
            case _:
                pass
    return MessageAnswer(
        session_id=session,
        message_id=message.message_id,
        session_seq=message.seq,
        attached=message.attached,
        reason=message.reason,
        thread_id=str(message.thread) if message.thread else None,
        run_id=message.run or None,
        duplicate=duplicate,
        reply=reply,
        question=question,
        approval=approval,
        anchor=message.anchor or None,
    )


def _reply(body: EntryBody) -> Reply:
    return Reply.model_validate(
        {
            "header": readable_header(body.header),
            "narrative": body.text,
            "ok": body.ok,
            "verdict": body.verdict or None,
            "remedies": list(remedies(body.header)),
        }
    )


def _question(entry: Entry, body: EntryBody) -> Question:
    return Question.model_validate(
        {
            "key": body.key,
            "expected_type": body.expects,
            "text": body.text,
            "options": msgspec.to_builtins(list(body.options)),
            "message_id": entry.message_id,
            "expires_at_ms": body.until // 1000,
        }
    )


def _approval(entry: Entry, body: EntryBody) -> ApprovalOpen:
    return ApprovalOpen(
        approval_id=body.approval,
        digest=body.digest,
        subject=body.subject,
        tier=body.tier,
        text=body.text,
        message_id=entry.message_id,
        expires_at_ms=body.until // 1000,
    )
