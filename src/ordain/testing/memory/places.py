"""The places of turns in their threads: one is live, the rest are queued, and the run that rests
lets the next one begin, in the same commit.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ordain.journal.transitions import NEXT_IN_THREAD
from ordain.ports.sessions import ThreadChange, ThreadStatus
from ordain.ports.writes import NewPlace
from ordain.runtime.streams import SessionKey
from ordain.testing.memory.rows import KeptPlace, MemoryRows
from ordain.testing.memory.threads import change_thread, put_thread, session_of
from ordain.testing.memory.transaction import UnitAtWork


def take_place(transaction: UnitAtWork, workspace: str, place: NewPlace) -> None:
    """A turn takes its place in its thread."""
    rows, name = transaction.rows, (workspace, place.session)
    session = session_of(rows, name)
    if place.run in rows.turn_of:
        raise ValueError(f"run {place.run} has a place already")
    state = "queued" if place.queued else "live"
    _put(
        rows,
        name,
        KeptPlace(
            run=place.run,
            no=transaction.row(place.run).no,
            thread=place.thread,
            state=state,
            counts=place.counts,
        ),
    )
    rows.turn_of[place.run] = name
    if place.thread:
        rows.sessions[name] = replace(session, active=place.thread)


def give_up_place(transaction: UnitAtWork, run: str, changes: Sequence[ThreadChange]) -> None:
    """A run came to rest: what it says of its thread holds, and its place goes to the thread's next
    turn.

    A run that held no place changes nothing.
    """
    rows = transaction.rows
    name = rows.turn_of.get(run)
    if name is None:
        return
    own = rows.turns[name][run]
    if own.state == "over" and _live(rows, name, own.thread, run):
        return  # it had stopped and given up its place before, and the thread is another turn's now
    _put(rows, name, replace(own, state="over"))
    for change in changes:
        if own.thread and change.id == own.thread:
            change_thread(rows, name[0], change)
    thread = rows.threads.get(name, {}).get(own.thread)
    if thread is not None and thread.asked is not None and thread.asked.root == run:
        put_thread(rows, name, replace(thread, asked=None))
    if _live(rows, name, own.thread, run):
        return
    queued = [
        turn
        for turn in rows.turns[name].values()
        if turn.thread == own.thread and turn.state == "queued"
    ]
    if queued:
        _begin(transaction, name, min(queued, key=lambda turn: turn.no))


def _begin(transaction: UnitAtWork, name: SessionKey, turn: KeptPlace) -> None:
    rows = transaction.rows
    _put(rows, name, replace(turn, state="live"))
    transaction.befalls(turn.run, NEXT_IN_THREAD)
    thread = rows.threads.get(name, {}).get(turn.thread)
    if thread is not None:
        put_thread(rows, name, replace(thread, status=ThreadStatus.IN_PROGRESS, run=turn.run))
    transaction.runs[turn.run] = None


def take_place_again(transaction: UnitAtWork, run: str) -> bool:
    """A stopped turn is to go on: it takes its place again; whether it may, for the place may be
    another turn's by now.
    """
    rows = transaction.rows
    name = rows.turn_of.get(run)
    if name is None or (own := rows.turns[name][run]).state != "over":
        return True
    if own.thread and _live(rows, name, own.thread, ""):
        return False
    _put(rows, name, replace(own, state="live"))
    thread = rows.threads.get(name, {}).get(own.thread)
    if thread is not None:
        put_thread(rows, name, replace(thread, status=ThreadStatus.IN_PROGRESS, run=run))
    return True


def _put(rows: MemoryRows, name: SessionKey, turn: KeptPlace) -> None:
    rows.turns[name] = {**rows.turns.get(name, {}), turn.run: turn}


def _live(rows: MemoryRows, name: SessionKey, thread: int, but: str) -> bool:
    return any(
        turn.thread == thread and turn.state == "live" and turn.run != but
        for turn in rows.turns[name].values()
    )
