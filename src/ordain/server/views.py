"""Runs and records as the wire shows them. Times are RFC 3339 in UTC, exact to the microsecond."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Raw

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
