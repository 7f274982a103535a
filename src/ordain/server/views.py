"""Runs, records, sessions and threads as the wire shows them. Times are RFC 3339 in UTC, exact to
the microsecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET, Raw
from msgspec.structs import asdict

from ordain.contracts.failures import categorised
from ordain.contracts.moments import moment, moment_if
from ordain.contracts.text_links import links_of
from ordain.runtime.beginnings import run_beginning, session_words
from ordain.runtime.conversation import SessionRow
from ordain.runtime.conversation import Thread as LiveThread
from ordain.runtime.door import Record, RunRow, Runtime, RunView, StoredRun
from ordain.runtime.run_tree import RunTree
from ordain.runtime.run_view import exact_fields
from ordain.server.sent_json import as_recorded, with_recorded
from ordain.server.shapes import (
    AwaitingApproval,
    InFlight,
    Journal,
    JournalBytes,
    JournalRecord,
    PendingQuestion,
    Run,
    RunBelowItem,
    RunItem,
    RunTreeView,
    Session,
    SessionItem,
    Thread,
)


def run_item(runtime: Runtime, row: RunRow) -> RunItem:
    """A run in a list."""
    began = run_beginning(runtime.services.kinds, row.opening)
    return RunItem(
        run_id=row.id,
        flow=row.flow,
        status=row.status,
        reason=row.reason,
        parent=row.parent,
        root=row.root,
        records=row.head_seq + 1,
        created_at=moment(row.created_at),
        ended_at=moment_if(row.ended_at),
        wake_at=moment_if(row.wake_at),
        principal=began.principal,
        words=began.words,
    )


async def run_view(runtime: Runtime, view: RunView, raw: Mapping[str, str] | None = None) -> Run:
    """One run; ``raw`` is what runs below it replied, word for word, where that is asked for."""
    stored = view.stored
    record_bytes, payload_bytes = await runtime.search.journal_bytes(stored.id)
    return Run(
        run_id=stored.id,
        flow=stored.flow,
        flow_version=stored.flow_version,
        status=stored.status,
        reason=stored.reason,
        at_rest=view.at_rest,
        erased=stored.key is None,
        parent=stored.parent,
        root=stored.root,
        workspace=stored.workspace,
        session_id=(stored.session or None) if stored.key is not None else None,
        thread_id=str(stored.thread) if stored.thread else None,
        catalog=stored.catalog,
        records=len(stored.records),
        journal_bytes=JournalBytes(records=record_bytes, payloads=payload_bytes),
        resumes=stored.resumes,
        waiting_at=runtime.waiting_at(view),
        waits_for_stopped=[run.id for run in await runtime.services.headers.stopped_below(stored)],
        unknown_effects=runtime.unknown_effects(view),
        created_at=moment(stored.created_at),
        ended_at=moment_if(stored.ended_at),
        wake_at=moment_if(stored.wake_at),
        header=view.header,
        verdict=view.verdict or None,
        response=_response(runtime, view, raw),
        links=links_of(view.header) or UNSET,
    )


def tree_view(run: str, tree: RunTree) -> RunTreeView:
    """The runs below a run."""
    items = [
        RunBelowItem(
            run_id=one.run, **{name: value for name, value in asdict(one).items() if name != "run"}
        )
        for one in tree.runs
    ]
    return RunTreeView(run_id=run, runs=items, whole=tree.whole)


def _response(runtime: Runtime, view: RunView, raw: Mapping[str, str] | None) -> Any:
    if not view.at_rest:
        return None
    return sent(runtime, view, runtime.response(view, raw=raw))


def sent(runtime: Runtime, view: RunView, response: Any) -> Any:
    """What a run's caller is answered (``Runtime.response``), as a face sends it: what has to stay
    exact is as it was recorded.
    """
    return with_recorded(response, exact_fields(runtime.services.kinds, view.stored))


def journal_view(stored: StoredRun, raw: Mapping[str, str]) -> Journal:
    """A run's journal; ``raw`` is what runs replied, word for word."""
    records = [record_view(record) for record in stored.records]
    return Journal(
        run_id=stored.id,
        flow=stored.flow,
        catalog=stored.catalog,
        status=stored.status,
        records=records,
        raw_cortex=as_recorded(raw),
    )


def record_view(record: Record) -> JournalRecord:
    """A record of a journal."""
    return JournalRecord(
        seq=record.seq,
        kind=record.kind,
        name=record.name,
        v=record.v,
        at=moment(record.at),
        digest=record.digest.hex(),
        chain=record.chain.hex(),
        body=None if record.body is None else as_recorded(Raw(record.body)),
    )


def session_item(row: SessionRow) -> SessionItem:
    """A session in a list."""
    return SessionItem(
        session_id=row.id,
        channel=row.channel,
        user_id=row.user,
        head=row.head,
        open_turns=row.open,
        erased=row.key is None,
        created_at=moment(row.created_at),
        last_activity_at=moment(row.last_at),
        words=session_words(row.first),
    )


def session_view(row: SessionRow, threads: Sequence[LiveThread]) -> Session:
    """A session and its threads."""
    return Session(
        **msgspec.structs.asdict(session_item(row)),
        workspace=row.workspace,
        active_thread_id=str(row.active) if row.active else None,
        threads=[thread_view(thread) for thread in threads],
    )


def _last_error(kept: dict[str, Any]) -> dict[str, Any]:
    """With its category; a thread is called as everywhere on the wire."""
    return {**categorised(kept), "threadId": str(kept["threadId"])}


def thread_view(thread: LiveThread) -> Thread:
    """A thread of a session."""
    asked = thread.asked
    pending = None
    if asked is not None:
        pending = PendingQuestion(
            key=asked.key, expected_type=asked.expects, asked_at_message_id=asked.message_id
        )
    waits = thread.awaiting
    awaiting = None
    if waits is not None:
        awaiting = AwaitingApproval(
            approval_id=waits.approval,
            workflow_id=waits.workflow or None,
            proposed_at_message_id=waits.message_id,
        )
    return Thread(
        thread_id=str(thread.id),
        intent=thread.intent,
        slots=thread.slots,
        status=str(thread.status),
        pending_question=pending,
        awaiting_approval=awaiting,
        in_flight=InFlight(run_id=thread.turns[0], queued=thread.turns[1:])
        if thread.turns
        else None,
        last_error=None if thread.last_error is None else _last_error(thread.last_error),
        last_activity_at=moment(thread.touched_at),
        summary=f"“{thread.intent}”: {thread.status}",
    )
