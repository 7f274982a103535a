"""Applying one unit to a transaction: conditions, no decisions."""

from __future__ import annotations

from typing import Any

from ordain.errors import OrdainError, RunLost
from ordain.journal.records import SETTLED, STOPPED, Record
from ordain.journal.transitions import SOURCES
from ordain.ports.sessions import ThreadChange
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import (
    Append,
    Arrive,
    ClaimUnit,
    MessageKey,
    OnceKey,
    Operation,
    Outcome,
    RequestKey,
    StoredRun,
    Unit,
)
from ordain.ports.writes import MailKind, TakenMail
from ordain.testing.memory.approval_rows import open_roots, withdraw_approvals
from ordain.testing.memory.places import give_up_place
from ordain.testing.memory.reads import read
from ordain.testing.memory.rows import going
from ordain.testing.memory.transaction import UndoneUnit, UnitAtWork
from ordain.testing.memory.transcript import earlier
from ordain.testing.memory.writes import Of, write


def apply(transaction: UnitAtWork, unit: Unit) -> Outcome:
    """Apply a unit; where this raises, nothing of the transaction is to be kept.

    Raises:
        UndoneUnit: a condition of it does not hold.
        RunLost: the run is somebody else's, or has moved on.
    """
    match unit:
        case Append():
            return _append(transaction, unit, None)
        case ClaimUnit(append=append, shared=shared):
            decided = _decide(
                transaction, Of(transaction.row(append.run).run.workspace, append.run), shared
            )
            return _append(transaction, append, decided)
        case Arrive():
            return _arrive(transaction, unit)
        case Operation():
            return _operation(unit)


def _arrive(transaction: UnitAtWork, unit: Arrive) -> Outcome:
    if (
        unit.once is not None
        and (before := _before(transaction, unit.workspace, unit.once)) is not None
    ):
        return before
    decided = _decide(transaction, Of(unit.workspace), unit.shared)
    if isinstance(unit.once, RequestKey):
        if decided.run:
            transaction.row(decided.run)
        transaction.rows.requests[unit.workspace, unit.once.request_id] = (
            unit.once.digest,
            decided.run,
        )
    return Outcome(run=decided.run, seq=transaction.entered)


def _before(transaction: UnitAtWork, workspace: str, once: OnceKey) -> Outcome | None:
    """What became of the same before."""
    if isinstance(once, MessageKey):
        return earlier(transaction.rows, workspace, once)
    request = transaction.rows.requests.get((workspace, once.request_id))
    return (
        None
        if request is None
        else Outcome(
            run=request[1], refused="same" if request[0] == once.digest else "request_id_reused"
        )
    )


def _decide(transaction: UnitAtWork, of: Of, shared: Shared) -> Ruling:
    decided = shared.decide(*(read(transaction, of.workspace, what) for what in shared.reads))
    if decided.refused:
        raise UndoneUnit(decided.refused)
    if decided.accepted is not None and _accepted(transaction) >= decided.accepted:
        raise UndoneUnit("busy")
    write(transaction, of, decided.writes)
    return decided


def _accepted(transaction: UnitAtWork) -> int:
    """Root runs that are ready, running or waiting, but for those that wait for a person: they may
    wait for days, and cost nothing.
    """
    roots = sum(
        row.run.parent is None and going(row.run.status) for row in transaction.rows.runs.values()
    )
    asked = sum(
        thread.asked is not None
        for threads in transaction.rows.threads.values()
        for thread in threads.values()
    )
    return roots - asked - open_roots(transaction.rows)


def _append(transaction: UnitAtWork, unit: Append, claimed: Ruling | None) -> Outcome:
    run = transaction.row(unit.run).run
    records = (
        unit.records
        if claimed is None or claimed.record is None
        else (*unit.records, claimed.record)
    )
    if unit.suspend is not None and _wakes(transaction, unit):
        return Outcome(run=unit.run) if _came_before(run, unit) else Outcome(refused="mail")
    if not _follows(run, unit, records):
        if claimed is None and _came_before(run, unit):
            return Outcome(run=unit.run)
        raise RunLost(f"run {unit.run} has moved on without this engine")
    changed: dict[str, Any] = {"head": records[-1].seq} if records else {}
    if unit.status is not None:
        changed |= {"status": unit.status, "wake_at": unit.wake_at}
        changed |= {} if unit.reason is None else {"reason": unit.reason}
        changed |= {"ended_at": records[-1].at} if unit.status in SETTLED else {}
    transaction.change(unit.run, **changed)
    transaction.append(unit.run, records)
    _rest(transaction, unit, run)
    write(transaction, Of(run.workspace, unit.run), unit.writes)
    if unit.operation is not None:
        return _operation(unit.operation)
    return Outcome(run=unit.run)


def _wakes(transaction: UnitAtWork, unit: Append) -> bool:
    """Whether mail lies there that concerns the run and that the unit does not take."""
    taken = {write.mail for write in unit.writes if isinstance(write, TakenMail)}
    for there in transaction.rows.mailbox.get(unit.run, ()):
        if there.taken is None and there.mail.id not in taken:
            kind = there.mail.kind
            if (
                kind in (MailKind.CHILD, MailKind.ANSWER, MailKind.APPROVAL)
                and there.mail.addr == unit.suspend
            ) or (kind is MailKind.INTERRUPT and not unit.deaf):
                return True
    return False


def _follows(run: StoredRun, unit: Append, records: tuple[Record, ...]) -> bool:
    """Whether it is written by who holds the run, behind its head, along the table of
    transitions.
    """
    if unit.epoch != run.epoch or (records and run.head != records[0].seq - 1):
        return False
    if [record.seq for record in records] != list(
        range(records[0].seq, records[0].seq + len(records)) if records else ()
    ):
        return False
    return unit.status is None or run.status in SOURCES[unit.status]


def _came_before(run: StoredRun, unit: Append) -> bool:
    """Whether the unit is durable already: whoever offers it again was not told. Its last link says
    so, which fixes all before it.
    """
    if unit.operation is not None:
        return False
    if not unit.records:
        return (run.epoch, run.status) == (unit.epoch, unit.status)
    last = unit.records[-1]
    return last.seq < len(run.records) and run.records[last.seq].chain == last.chain


def _rest(transaction: UnitAtWork, unit: Append, run: StoredRun) -> None:
    """A run that came to rest gives up its place in its thread, and nobody waits for what it asked
    an approver.
    """
    resting = unit.run if unit.status in SETTLED else None
    if unit.status in STOPPED:  # a turn whose child has stopped cannot go on either
        resting = run.root
    if unit.status in SETTLED:
        transaction.runs[unit.run] = None
    if resting is not None:
        withdraw_approvals(transaction.rows, unit.run, unit.records[-1].at if unit.records else 0)
    if resting is not None:
        give_up_place(
            transaction,
            resting,
            [
                change
                for change in unit.writes
                if isinstance(change, ThreadChange) and change.in_place
            ],
        )


def _operation(unit: Operation) -> Outcome:
    raise OrdainError(f"a store in memory has no operation {unit.name}", code="unknown_operation")
