"""The threads of sessions: read in their order, and changed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ordain.contracts.approvals import AwaitedApproval
from ordain.ports.sessions import Thread, ThreadChange, ThreadStatus, message_id
from ordain.ports.writes import ClosedQuestion
from ordain.rules.approve import ApprovalState
from ordain.runtime.streams import SessionKey
from ordain.testing.memory.rows import KeptSession, MemoryRows

RECENT_THREADS = 6


def read_threads(
    rows: MemoryRows, name: SessionKey, *, recent: int = RECENT_THREADS, also: Sequence[int] = ()
) -> list[Thread]:
    """Threads with unsettled turns, latest first, then the most recently touched, and threads
    ``also``.
    """
    turns: dict[int, list[str]] = {}
    for turn in sorted(rows.turns.get(name, {}).values(), key=lambda turn: turn.no):
        if turn.state != "over" and turn.thread:
            turns.setdefault(turn.thread, []).append(turn.run)
    there = rows.threads.get(name, {})
    latest = sorted(there, key=lambda number: (-there[number].touched_at, -number))[:recent]
    named = [number for number in dict.fromkeys((*latest, *turns, *also)) if number in there]
    waits = awaited(rows, name)
    found = [
        replace(there[number], turns=tuple(turns.get(number, ())), awaiting=waits.get(number))
        for number in named
    ]
    return sorted(found, key=lambda thread: (not thread.turns, -thread.touched_at, -thread.id))


def awaited(rows: MemoryRows, name: SessionKey) -> dict[int, AwaitedApproval]:
    """What each thread of a session waits for, where that is an approval; of several the latest."""
    found = [
        row
        for row in rows.approvals.values()
        if (row.workspace, row.session) == name and row.state == ApprovalState.OPEN
    ]
    return {
        row.thread: AwaitedApproval(
            approval=row.id, message_id=message_id(row.run, row.addr), workflow=row.workflow
        )
        for row in sorted(found, key=lambda row: row.place)
    }


def put_thread(rows: MemoryRows, name: SessionKey, thread: Thread) -> None:
    """A thread as it stands now."""
    rows.threads[name] = {**rows.threads.get(name, {}), thread.id: thread}


def session_of(rows: MemoryRows, name: SessionKey) -> KeptSession:
    """A session that exists. Raises KeyError of one that does not."""
    return rows.sessions[name]


def change_thread(rows: MemoryRows, workspace: str, change: ThreadChange) -> None:
    """Apply a change; a thread that does not exist is made. Closing a question closes that one
    only.
    """
    name = workspace, change.session
    session, thread = session_of(rows, name), rows.threads.get(name, {}).get(change.id)
    if thread is None:
        status = change.status or ThreadStatus.IN_PROGRESS
        thread = Thread(
            id=change.id, status=status, intent=change.intent, run=change.run, touched_at=change.at
        )
        rows.sessions[name] = replace(
            session, threads=max(session.threads, change.id), active=change.id
        )
    asked, status = thread.asked, change.status or thread.status
    if change.answered is not None:
        left = None if asked is None else asked.without(*change.answered)
        if asked is None or (asked.run, asked.addr) != change.answered:
            put_thread(rows, name, replace(thread, asked=left))
            return  # it was closed before, and what closed it has said where the thread stands
        asked = None if change.unasks else left
        status = status if asked is None else ThreadStatus.WAITING_FOR_USER
    put_thread(
        rows,
        name,
        replace(
            thread,
            status=status,
            run=change.run or thread.run,
            asked=asked if change.asked is None else change.asked.after(asked),
            last_error=thread.last_error if change.last_error is None else change.last_error,
            touched_at=max(thread.touched_at, change.at),
            slots=thread.slots
            if change.slot is None
            else {**thread.slots, change.slot[0]: change.slot[1]},
        ),
    )


def close_question(rows: MemoryRows, question: ClosedQuestion) -> None:
    """A question of a session was answered from elsewhere: no message is taken for its answer any
    more.
    """
    row = rows.runs.get(question.run)
    if row is None:
        return
    name = row.run.workspace, row.run.session
    for thread in rows.threads.get(name, {}).values():
        if (
            thread.asked is not None
            and (left := thread.asked.without(question.run, question.addr)) is not thread.asked
        ):
            put_thread(
                rows,
                name,
                replace(
                    thread,
                    asked=left,
                    status=ThreadStatus.IN_PROGRESS if left is None else thread.status,
                ),
            )
