"""Examples of the conversation's bodies, for the published documents."""

from __future__ import annotations

from typing import Any

RUN = "0199d3c0a5e24f6b8f5e1c2d3a4b5c6d"
"""The run that every example is about."""
_HEADER = f"✓ ordain run {RUN} · turn@1 · completed · ok\n✓ chat_general · \"{{'content':'Hello.'}}\""
_SESSION, _MESSAGE_ID = "web:ada", "m-1"

MESSAGE: dict[str, Any] = {
    "sessionId": _SESSION,
    "userId": "ada",
    "channel": "web",
    "messageId": _MESSAGE_ID,
    "message": {"text": "Hello!"},
    "context": {"routingHints": {"mode": "brain"}},
}
REPLY: dict[str, Any] = {"header": _HEADER, "narrative": "Hello.", "ok": True}
MESSAGE_ANSWER: dict[str, Any] = {
    "sessionId": _SESSION,
    "messageId": _MESSAGE_ID,
    "sessionSeq": 1,
    "attached": "new_request",
    "reason": "attach.new_request",
    "threadId": "1",
    "runId": RUN,
    "duplicate": False,
    "reply": REPLY,
    "question": None,
    "error": None,
    "anchor": None,
}
HUB_CHAT: dict[str, Any] = {"text_input": "Hello!", "mode": "brain", "session_id": _SESSION, "message_id": _MESSAGE_ID}
CORTEX_CHAT: dict[str, Any] = {"prompt": "Hello!", "mode": "brain", "session_id": _SESSION, "metadata": {"trace_verb": "chat_general"}}
_RESULT: dict[str, Any] = {
    "ok": True,
    "mode": "brain",
    "verb": "chat_general",
    "status": "success",
    "final_text": "Hello.",
    "memory_used": False,
    "recall_debug": {},
    "steps": [{"status": "success", "verb_name": "chat_general", "step_name": "llm_chat", "order": 0, "error": None}],
    "error": None,
    "correlation_id": _MESSAGE_ID,
    "metadata": {"trace_verb": "chat_general", "executed_verbs": ["chat_general"], "attached": "new_request"},
    "run_id": RUN,
    "header": _HEADER,
}
CORTEX_RESULT: dict[str, Any] = {"cortex_result": _RESULT, "final_text": "Hello."}
HUB_REPLY: dict[str, Any] = {
    "session_id": _SESSION,
    "message_id": _MESSAGE_ID,
    "session_seq": 1,
    "duplicate": False,
    "run_id": RUN,
    "attached": "new_request",
    "text": "Hello.",
    "reply": REPLY,
    "question": None,
    "cortex_result": _RESULT,
}
ERASE: dict[str, Any] = {"why": "the person asked for it"}
