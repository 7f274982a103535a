"""Runs, records, sessions and threads as the wire shows them. Times are RFC 3339 in UTC, exact to the microsecond."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Raw

from ordain.runtime.conversation import SessionRow, Thread
from ordain.runtime.door import NULL, Record, RunRow, Runtime, RunView

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(micros: int | None) -> str | None:
    """Microseconds since 1970 UTC as RFC 3339."""
    return None if micros is None else (EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds")


def row_view(row: RunRow) -> dict[str, Any]:
    """A run in a list."""
    return {
        "run_id": row.id,
        "flow": row.flow,
        "status": row.status,
        "reason": row.reason,
        "parent": row.parent,
        "root": row.root,
        "records": row.head_seq + 1,
        "created_at": moment(row.created_at),
        "ended_at": moment(row.ended_at),
        "wake_at": moment(row.wake_at),
    }


def run_view(runtime: Runtime, view: RunView) -> dict[str, Any]:
    """One run: where it stands, its header, and once it rests the body its caller gets."""
    stored = view.stored
    record_bytes, payload_bytes = runtime.search.journal_bytes(stored.id)
    return {
        "run_id": stored.id,
        "flow": stored.flow,
        "flow_version": stored.flow_version,
        "status": stored.status,
        "reason": stored.reason,
        "at_rest": view.at_rest,
        "erased": stored.key is None,
        "parent": stored.parent,
        "root": stored.root,
        "workspace": stored.workspace,
        "session_id": stored.session or None,
        "thread_id": str(stored.thread) if stored.thread else None,
        "catalog": stored.catalog,
        "records": len(stored.records),
        "journal_bytes": {"records": record_bytes, "payloads": payload_bytes},
        "resumes": stored.resumes,
        "waiting_at": runtime.waiting_at(view),
        "unknown_effects": runtime.unknown_effects(view),
        "created_at": moment(stored.created_at),
        "ended_at": moment(stored.ended_at),
        "wake_at": moment(stored.wake_at),
        "header": view.header,
        "response": _response(runtime, view),
    }


def _response(runtime: Runtime, view: RunView) -> Any:
    if not view.at_rest:
        return None
    match view.stored.flow:
        case "planner":
            return runtime.planner_response(view)
        case "verb":
            return runtime.verb_reply(view)
        case _:
            return None if view.result == NULL else view.result


def record_view(record: Record) -> dict[str, Any]:
    """A journal record as stored; ``body`` is null once erased."""
    return {
        "seq": record.seq,
        "kind": record.kind,
        "name": record.name,
        "v": record.v,
        "at": moment(record.at),
        "digest": record.digest.hex(),
        "chain": record.chain.hex(),
        "body": None if record.body is None else Raw(record.body),
    }


def session_row(row: SessionRow) -> dict[str, Any]:
    """A session in a list; the conversation's own spelling is camelCase (B-12)."""
    return {
        "sessionId": row.id,
        "channel": row.channel,
        "userId": row.user,
        "head": row.head,
        "openTurns": row.open,
        "erased": row.key is None,
        "createdAt": moment(row.created_at),
        "lastActivityAt": moment(row.last_at),
    }


def session_view(row: SessionRow, threads: Sequence[Thread]) -> dict[str, Any]:
    """A session and its threads (C5)."""
    return {
        **session_row(row),
        "workspace": row.workspace,
        "activeThreadId": str(row.active) if row.active else None,
        "threads": [thread_view(thread) for thread in threads],
    }


def thread_view(thread: Thread) -> dict[str, Any]:
    """A micro-thread (C5)."""
    asked = thread.asked
    pending = None
    if asked is not None:
        pending = {"key": asked.key, "expectedType": asked.expects, "askedAtMessageId": asked.message_id}
    return {
        "threadId": str(thread.id),
        "intent": thread.intent,
        "slots": thread.slots,
        "status": str(thread.status),
        "pendingQuestion": pending,
        "inFlight": {"runId": thread.turns[0], "queued": list(thread.turns[1:])} if thread.turns else None,
        "lastError": thread.last_error,
        "lastActivityAt": moment(thread.touched_at),
        "summary": f"“{thread.intent}”: {thread.status}",
    }
