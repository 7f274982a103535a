"""Applying one unit inside the open transaction: SQL and conditions, no decisions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ordain.journal.ledger_items import rest_item
from ordain.journal.records import SETTLED, STOPPED, Record, RecordKind, Status
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
    Unit,
)
from ordain.ports.writes import TakenMail
from ordain.store.approval_rows import withdraw_approvals
from ordain.store.conversation import earlier, give_up_place
from ordain.store.erasure import begin_erasure, erased_places
from ordain.store.lease_operations import beat, hold
from ordain.store.library_units import LIBRARY_COVERED
from ordain.store.run_records import asking, read_records
from ordain.store.schema import UNSETTLED
from ordain.store.shared_reads import read
from ordain.store.slices import SliceUnit
from ordain.store.statuses import FROM
from ordain.store.transaction import (
    AcceptedCount,
    RunNumbers,
    TouchedSession,
    Transaction,
    UnitRefused,
    check_moved,
)
from ordain.store.writes import write

_WAKING_MAIL = (
    "SELECT id FROM mailbox WHERE run = ? AND taken IS NULL AND ((kind IN ('child', 'answer', "
    "'approval') AND addr = ?)"
    " OR (kind = 'interrupt' AND NOT ?))"
)
_ADVANCED = "UPDATE runs SET head_seq = ? WHERE no = ? AND epoch = ? AND head_seq = ?"
_HELD = "UPDATE runs SET epoch = epoch WHERE no = ? AND epoch = ?"
_TO = (
    "UPDATE runs SET head_seq = coalesce(?, head_seq), status = ?, reason = coalesce(?, reason), "
    "wake_at = ?,"
    " ended_at = coalesce(?, ended_at) WHERE no = ? AND epoch = ? AND (? IS NULL OR head_seq = "
    "?) AND "
)
_MOVED = {status: _TO + FROM[status] for status in Status}
_NOTE = RecordKind.NOTE
AT_REST = SETTLED | STOPPED
_CHANGES_REST = SETTLED | STOPPED | {Status.READY}
"""What a run comes to rest as, or leaves it for."""
ERASE = "erase"
_OF_LEASES = frozenset({"hold", "beat"})
"""Operations that surely destroy no content, and come all the time."""
_COVERED = {ERASE: begin_erasure, "hold": hold, "beat": beat, **LIBRARY_COVERED}
"""Operations that the ledger is told of."""
_ACCEPTED = (
    f"SELECT (SELECT count(*) FROM runs WHERE {UNSETTLED} AND parent "  # noqa: S608 - a constant of the schema
    "IS NULL)"
    " - (SELECT count(*) FROM threads WHERE asked IS NOT NULL) - (SELECT count(DISTINCT root) "
    "FROM approvals WHERE state = 'open')"
)


class Applier:
    """Applies units on one connection."""

    def __init__(
        self,
        transaction: Transaction,
        operations: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]],
    ) -> None:
        """``operations`` are the maintenance steps by name."""
        self._transaction = transaction
        self._db = transaction.db
        self._operations = operations

    def apply(self, unit: Unit | SliceUnit) -> Outcome:
        """Apply one unit; what it wrote before it raises is undone by the caller.

        Raises:
            UnitRefused: a condition of it does not hold, and what was written of it is to be
                undone.
        """
        if isinstance(unit, SliceUnit):
            self._transaction.spoken.forget()
            unit.made = unit.work(self._db, self._transaction.ledger)
            return Outcome(count=unit.made.rows)
        if isinstance(unit, Append):
            return self._append(unit, None)
        if isinstance(unit, Arrive):
            return self._arrive(unit)
        if isinstance(unit, ClaimUnit):
            return self._claim(unit)
        return self._operation(unit)

    def _claim(self, unit: ClaimUnit) -> Outcome:
        of = self._transaction.numbers(unit.append.run)
        return self._append(unit.append, self._decide(of, unit.shared).record)

    def _arrive(self, unit: Arrive) -> Outcome:
        of = RunNumbers(0, 0, unit.workspace)
        if (
            unit.once is not None
            and (before := self._before(unit.workspace, unit.once)) is not None
        ):
            return before
        self._transaction.entered = 0
        decided = self._decide(of, unit.shared)
        if isinstance(unit.once, RequestKey):
            number = self._transaction.numbers(decided.run).run if decided.run else 0
            self._db.execute(
                "INSERT INTO requests VALUES (?,?,?,?)",
                (unit.workspace, unit.once.request_id, unit.once.digest, number),
            )
            self._transaction.ledger.request(unit.workspace, unit.once.request_id)
        return Outcome(run=decided.run, seq=self._transaction.entered)

    def _before(self, workspace: str, once: OnceKey) -> Outcome | None:
        """What became of the same before."""
        if isinstance(once, MessageKey):
            return earlier(self._db, workspace, once)
        row = self._db.execute(
            "SELECT q.digest, r.id FROM requests q LEFT JOIN runs r ON r.no = q.run WHERE "
            "q.workspace = ? AND q.request_id = ?",
            (workspace, once.request_id),
        ).fetchone()
        return (
            None
            if row is None
            else Outcome(
                run=row[1] or "", refused="same" if row[0] == once.digest else "request_id_reused"
            )
        )

    def _decide(self, of: RunNumbers, shared: Shared) -> Ruling:
        decided = shared.decide(
            *(read(self._transaction, of.workspace, what) for what in shared.reads)
        )
        if decided.refused:
            raise UnitRefused(decided.refused)
        if decided.accepted is not None and not self._has_room(decided.accepted):
            raise UnitRefused("busy")
        write(self._transaction, of, decided.writes)
        return decided

    def _has_room(self, most: int) -> bool:
        """Whether fewer root runs than that are ready, running or waiting, but for those that wait
        for a person: they may wait for days, and cost nothing.

        Counting takes as long as there are many that wait. What was counted before is at most as
        much less than it is now as rows have changed since, each of which is at most one run more;
        only where that bound is reached, or somebody else has written, they are counted again.
        """
        (others,), seen = (
            self._db.execute("PRAGMA data_version").fetchone(),
            self._transaction.accepted,
        )
        changes = self._db.total_changes
        if seen is not None and seen.others == others and seen.runs + changes - seen.changes < most:
            return True
        runs: int = self._db.execute(_ACCEPTED).fetchone()[0]
        self._transaction.accepted = AcceptedCount(runs, changes, others)
        return runs < most

    def _append(self, unit: Append, decided: Record | None) -> Outcome:
        of = self._transaction.numbers(unit.run)
        execute = self._db.execute
        records = unit.records if decided is None else (*unit.records, decided)
        if unit.suspend is not None and self._is_woken(unit, of):
            return Outcome(run=unit.run) if self._came_before(unit, of) else Outcome(refused="mail")
        head, behind = (records[-1].seq, records[0].seq - 1) if records else (None, None)
        if unit.status is not None:
            ended = records[-1].at if unit.status in SETTLED else None
            row = (
                head,
                unit.status,
                unit.reason,
                unit.wake_at,
                ended,
                of.run,
                unit.epoch,
                behind,
                behind,
            )
            moved = execute(_MOVED[unit.status], row)
        elif records:
            moved = execute(_ADVANCED, (head, of.run, unit.epoch, behind))
        else:
            moved = execute(_HELD, (of.run, unit.epoch))
        if not moved.rowcount and decided is None and self._came_before(unit, of):
            return Outcome(run=unit.run)
        check_moved(moved, unit.run)
        self._transaction.records(of, records)
        if unit.status is not None or unit.reason is not None:
            self._tell_rest(unit, of, records)
            self._rest(unit, of)
        elif records and records[-1].kind is _NOTE:
            self._transaction.ledger.rest(of.run)
        if unit.writes:
            write(self._transaction, of, unit.writes)
        if unit.operation is not None:
            done = self._operation(unit.operation)
            if done.refused:
                raise UnitRefused(done.refused)
            return done
        return Outcome(run=unit.run)

    def _tell_rest(self, unit: Append, of: RunNumbers, records: Sequence[Record]) -> None:
        """Tell the ledger where a run stands that comes to rest, or leaves it."""
        ledger = self._transaction.ledger
        if unit.status is not None and unit.status in SETTLED and unit.reason is not None:
            end = records[-1]
            ledger.item(rest_item(unit.run, unit.status, unit.reason, (end.at, end.seq, end.chain)))
            ledger.ended(of.run)
        elif unit.reason is not None or unit.status in _CHANGES_REST:
            ledger.rest(of.run)
        elif self._db.execute("SELECT reason FROM runs WHERE no = ?", (of.run,)).fetchone()[0]:
            ledger.rest(of.run)  # driven or waiting, and had stopped before

    def _is_woken(self, unit: Append, of: RunNumbers) -> bool:
        """Whether mail lies there that concerns the run and that the unit does not take."""
        found = self._db.execute(_WAKING_MAIL, (of.run, unit.suspend, unit.deaf)).fetchall()
        taken = {write.mail for write in unit.writes if type(write) is TakenMail} if found else ()
        return any(mail not in taken for (mail,) in found)

    def _came_before(self, unit: Append, of: RunNumbers) -> bool:
        """Whether the unit is durable already: whoever offers it again was not told. Its last link
        says so, which fixes all before it.
        """
        if unit.operation is not None:
            return False
        if not unit.records:
            row = (of.run, unit.epoch, unit.status)
            return (
                self._db.execute(
                    "SELECT 1 FROM runs WHERE no = ? AND epoch = ? AND status = ?", row
                ).fetchone()
                is not None
            )
        last = unit.records[-1]
        stored = next(iter(read_records(asking(self._db), of.run, last.seq - 1)), None)
        return stored is not None and stored.chain == last.chain

    def _rest(self, unit: Append, of: RunNumbers) -> None:
        """A run that came to rest gives up its place in its thread, and nobody waits for what it
        asked an approver.
        """
        if unit.status is None or unit.status not in AT_REST:
            return
        approvals, threads = withdraw_approvals(
            self._db, of.run, unit.records[-1].at if unit.records else 0
        )
        for approval in approvals:
            self._transaction.ledger.approval(approval)
        for session, thread in threads:
            self._transaction.ledger.thread_number(session, thread)
        resting = of.run
        if unit.status in STOPPED:  # a turn whose child has stopped cannot go on either
            resting = self._db.execute("SELECT root FROM runs WHERE no = ?", (of.run,)).fetchone()[
                0
            ]
        said = [
            change for change in unit.writes if isinstance(change, ThreadChange) and change.in_place
        ]
        following = give_up_place(self._db, of.workspace, resting, said)
        if following is not None:  # else it was no turn: most runs are none
            self._transaction.ledger.turn(resting)
            self._transaction.touched += following

    def _operation(self, unit: Operation) -> Outcome:
        if unit.name == ERASE:
            self._transaction.forget()
            self._transaction.touched_sessions += (
                TouchedSession(*place) for place in erased_places(self._db, unit.args)
            )
        elif unit.name not in _OF_LEASES:
            self._transaction.spoken.forget()
        if (covered := _COVERED.get(unit.name)) is not None:
            return covered(self._db, unit.args, self._transaction.ledger)
        return self._operations[unit.name](self._db, unit.args)
