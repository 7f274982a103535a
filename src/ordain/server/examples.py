"""Examples of the conversation's bodies, for the published documents."""

from __future__ import annotations

from typing import Any

RUN = "0199d3c0a5e24f6b8f5e1c2d3a4b5c6d"
"""The run that every example is about."""
_HEADER = (
    f"✓ ok · ordain run {RUN} · turn@10 · completed · ok\n· chat_general (run 5c)\n"
    "· no tool was used"
)
_SESSION, _MESSAGE_ID, _HUB_ID = "web:ada", "m-1", "m-2"

MESSAGE: dict[str, Any] = {
    "sessionId": _SESSION,
    "userId": "ada",
    "channel": "web",
    "messageId": _MESSAGE_ID,
    "message": {"text": "Hello!"},
    "context": {"routingHints": {"mode": "brain"}},
}
REPLY: dict[str, Any] = {"header": _HEADER, "narrative": "Hello.", "ok": True, "verdict": "ok"}
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
    "approval": None,
    "error": None,
    "anchor": None,
}
HUB_CHAT: dict[str, Any] = {
    "text_input": "Hello!",
    "mode": "brain",
    "session_id": _SESSION,
    "message_id": _HUB_ID,
}
CORTEX_CHAT: dict[str, Any] = {
    "prompt": "Hello!",
    "mode": "brain",
    "session_id": _SESSION,
    "metadata": {"trace_verb": "chat_general"},
}
_RESULT: dict[str, Any] = {
    "ok": True,
    "mode": "brain",
    "verb": "chat_general",
    "status": "success",
    "final_text": "Hello.",
    "memory_used": False,
    "recall_debug": {},
    "steps": [
        {
            "status": "success",
            "verb_name": "chat_general",
            "step_name": "llm_chat",
            "order": 0,
            "error": None,
        }
    ],
    "error": None,
    "correlation_id": _MESSAGE_ID,
    "metadata": {
        "trace_verb": "chat_general",
        "executed_verbs": ["chat_general"],
        "attached": "new_request",
    },
    "run_id": RUN,
    "header": _HEADER,
    "verdict": "ok",
}
CORTEX_RESULT: dict[str, Any] = {"cortex_result": _RESULT, "final_text": "Hello."}
HUB_REPLY: dict[str, Any] = {
    "session_id": _SESSION,
    "message_id": _HUB_ID,
    "session_seq": 1,
    "duplicate": False,
    "run_id": RUN,
    "attached": "new_request",
    "text": "Hello.",
    "reply": REPLY,
    "question": None,
    "approval": None,
    "cortex_result": _RESULT,
}
_AT = "2026-11-22T09:30:00.000000+00:00"
RUN_ITEM: dict[str, Any] = {
    "run_id": RUN,
    "flow": "turn",
    "status": "completed",
    "reason": "ok",
    "parent": None,
    "root": RUN,
    "records": 14,
    "created_at": _AT,
    "ended_at": _AT,
    "wake_at": None,
    "principal": "token:web",
    "words": "Hello!",
}
RUN_VIEW: dict[str, Any] = {
    **{name: value for name, value in RUN_ITEM.items() if name not in ("principal", "words")},
    "flow_version": 10,
    "at_rest": True,
    "erased": False,
    "workspace": "default",
    "session_id": _SESSION,
    "thread_id": "1",
    "catalog": "5f" * 32,
    "journal_bytes": {"records": 4210, "payloads": 0},
    "resumes": 0,
    "waiting_at": None,
    "waits_for_stopped": [],
    "unknown_effects": [],
    "header": _HEADER,
    "verdict": "ok",
    "response": {"narrative": "Hello.", "ok": True},
}
RUN_TREE: dict[str, Any] = {
    "run_id": RUN,
    "runs": [
        {
            "run_id": "c4" * 16,
            "depth": 1,
            "flow": "handoff",
            "verb": "agent.finance_agent",
            "status": "completed",
            "reason": "ok",
            "verdict": "ok",
            "model_calls": 2,
            "verb_calls": 1,
            "tokens": 812,
            "usd_micros": 0,
            "duration_ms": 340,
        }
    ],
    "whole": True,
}
RUN_JOURNAL: dict[str, Any] = {
    "run_id": RUN,
    "flow": "turn",
    "catalog": "5f" * 32,
    "status": "completed",
    "records": [
        {
            "seq": 1,
            "kind": "decision",
            "name": "entry",
            "v": 1,
            "at": _AT,
            "digest": "a1" * 16,
            "chain": "b2" * 16,
            "body": {"rule": "entry", "reason": "entry.mode"},
        }
    ],
    "raw_cortex": {},
}
SESSION_ITEM: dict[str, Any] = {
    "sessionId": _SESSION,
    "channel": "web",
    "userId": "ada",
    "head": 2,
    "openTurns": 0,
    "erased": False,
    "createdAt": _AT,
    "lastActivityAt": _AT,
    "words": "Hello!",
}
SESSION_VIEW: dict[str, Any] = {
    **SESSION_ITEM,
    "workspace": "default",
    "activeThreadId": "1",
    "threads": [
        {
            "threadId": "1",
            "intent": "Hello!",
            "slots": {},
            "status": "done",
            "pendingQuestion": None,
            "awaitingApproval": None,
            "inFlight": None,
            "lastError": None,
            "lastActivityAt": _AT,
            "summary": "“Hello!”: done",
        }
    ],
}
_ENTRY: dict[str, Any] = {"at_ms": 1795339800000, "run": RUN, "thread": 1}
TRANSCRIPT: dict[str, Any] = {
    "entries": [
        {
            **_ENTRY,
            "event": "message",
            "seq": 1,
            "message_id": _MESSAGE_ID,
            "channel": "web",
            "text": "Hello!",
            "user": "ada",
        }
        | {"attached": "new_request", "reason": "attach.new_request"},
        {**_ENTRY, "event": "reply", "seq": 2, "message_id": "o:1", **REPLY},
    ],
    "next": None,
}
HEALTH: dict[str, Any] = {
    "status": "ok",
    "version": "0.1.0",
    "instance": "4e8d33cd56d27c09",
    "verb_problems": 0,
    "verb_warnings": 0,
    "verbs_unconfirmed": 0,
}
READY: dict[str, Any] = {
    "status": "ready",
    "checks": {"accepting": True, "lease": True, "storage": True},
}
ERASE: dict[str, Any] = {"why": "the person asked for it"}
