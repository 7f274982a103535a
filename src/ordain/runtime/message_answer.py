"""What became of a message, of its entry and of the one that answers it. Pure."""

from __future__ import annotations

import msgspec

from ordain.contracts.conversation import ApprovalOpen, MessageAnswer, Question, Reply
from ordain.contracts.events import ApprovalEvent, QuestionEvent, ReplyEvent
from ordain.ports.sessions import Entry
from ordain.runtime.streams import event_of


def answer_of(
    message: Entry, answer: Entry | None, session: str, *, duplicate: bool = False
) -> MessageAnswer:
    """The answer to a message of a session, as the entries have it; without one what the message
    was taken for.

    Raises:
        JournalCorrupt: the answer's entry holds no such event.
    """
    event = None if answer is None else event_of(answer)  # of one that was erased there is neither
    reply, question, approval = None, None, None
    if isinstance(event, ReplyEvent):
        reply = Reply.model_validate(
            {
                "header": event.header,
                "narrative": event.narrative,
                "ok": event.ok,
                "verdict": event.verdict or None,
                "remedies": event.remedies,
            }
        )
    elif isinstance(event, QuestionEvent):
        question = Question.model_validate(
            {
                "key": event.key,
                "expected_type": event.expected_type,
                "text": event.text,
                "options": msgspec.to_builtins(list(event.options)),
                "message_id": event.message_id,
                "expires_at_ms": event.expires_at_ms,
            }
        )
    elif isinstance(event, ApprovalEvent):
        approval = ApprovalOpen(
            approval_id=event.approval,
            digest=event.digest,
            subject=event.subject,
            tier=event.tier,
            text=event.text,
            message_id=event.message_id,
            expires_at_ms=event.expires_at_ms,
        )
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
