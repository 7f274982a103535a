"""Applying one unit inside the open transaction: SQL and conditions, no decisions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ordain.errors import RUN_MOVED_ON, Conflict, JournalCorrupt, LeaseLost
from ordain.journal.records import DECIDED, PAYLOAD_BYTES, SETTLED, STOPPED, Record, RecordKind, Status
from ordain.ports.store import (
    Append,
    ClaimUnit,
    Consequence,
    MailKind,
    NewMail,
    NewRun,
    OpenRun,
    Operation,
    Outcome,
    Post,
    Receive,
    Unit,
)
from ordain.store.catalog_units import keep
from ordain.store.claims import CLAIMS, refund_account
from ordain.store.conversation import (
    add_entry,
    change_threads,
    close_question,
    earlier,
    give_up_place,
    open_session,
    place_again,
    read_state,
    take_place,
)
from ordain.store.schema import UNSETTLED
from ordain.store.slices import SliceUnit

_INSERT_RECORD = "INSERT INTO records(run, seq, kind, name, v, at, digest, chain, body, payload, reason) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
NUMBERS_KEPT = 20_000
"""How many runs' row numbers are remembered; they are found again by id."""
_OVER = (
    "SELECT 1 FROM records r LEFT JOIN payloads p ON p.id = r.payload WHERE r.run = ? AND r.kind = 'observation' AND r.name = 'wait'"
    " AND iif(json_valid(CAST(coalesce(r.body, p.bytes) AS TEXT)), json_extract(CAST(coalesce(r.body, p.bytes) AS TEXT), '$.addr'), -1) = ?"
)
_ACCEPTED = (
    f"SELECT (SELECT count(*) FROM runs WHERE {UNSETTLED} AND parent IS NULL)"  # noqa: S608 - a constant of the schema
    " - (SELECT count(*) FROM threads WHERE asked IS NOT NULL)"
)
_CLASS = {RecordKind.STARTED: "input", RecordKind.ENDED: "result", RecordKind.CHILD_ENDED: "result", RecordKind.NOTE: "note"}


class _Reason(msgspec.Struct):
    reason: str


_REASON = msgspec.json.Decoder(_Reason)


def payload_class(record: Record) -> str:
    """The retention class of a record's content: input, model, verb, result or note."""
    if record.kind in (RecordKind.INTENT, RecordKind.OBSERVATION):
        return "model" if record.name.startswith("model") else "verb"
    return _CLASS.get(record.kind, "note")


class Applier:
    """Applies units on one connection for one engine epoch; remembers run numbers, which never change."""

    def __init__(
        self, connection: sqlite3.Connection, operations: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]]
    ) -> None:
        """``operations`` are the maintenance steps by name."""
        self._db = connection
        self._operations = operations
        self._numbers: dict[str, tuple[int, int, str]] = {}
        self.touched: list[str] = []
        self.touched_sessions: list[tuple[str, str, int]] = []

    def apply(self, unit: Unit | SliceUnit, epoch: int) -> Outcome:
        """Apply one unit; raises leave the savepoint to the caller."""
        if isinstance(unit, SliceUnit):
            unit.made = unit.work(self._db)
            return Outcome(count=unit.made.rows)
        if isinstance(unit, Append):
            return self._append(unit, epoch)
        if isinstance(unit, OpenRun):
            return self._open(unit, epoch)
        if isinstance(unit, Receive):
            return self._receive(unit, epoch)
        if isinstance(unit, Post):
            return self._post(unit)
        if isinstance(unit, ClaimUnit):
            return self._claim(unit, epoch)
        return self._operation(unit)

    def mark(self) -> tuple[int, int]:
        """What has been touched so far, to go back to if what follows is rolled back."""
        return len(self.touched), len(self.touched_sessions)

    def back_to(self, mark: tuple[int, int]) -> None:
        """What was applied since ``mark`` was rolled back: nobody hears of it, and its runs' numbers will be given to others."""
        del self.touched[mark[0] :], self.touched_sessions[mark[1] :]
        self._numbers.clear()

    def _claim(self, unit: ClaimUnit, epoch: int) -> Outcome:
        claim = CLAIMS[unit.name]
        workspace = self._number(unit.append.run)[2]
        record, change = unit.decide(claim.read(self._db, workspace, unit.args))
        if isinstance(change, Consequence):
            session = unit.args["session"]
            place_again(self._db, workspace, session, change, seq=unit.args["seq"], instead_of=unit.append.run)
            self._follow(workspace, session, change, epoch)
        elif change is not None and claim.change is not None:
            claim.change(self._db, workspace, change)
        return self._append(msgspec.structs.replace(unit.append, records=(*unit.append.records, record)), epoch)

    def _number(self, run: str) -> tuple[int, int, str]:
        """(row number, subject number, workspace)."""
        known = self._numbers.get(run)
        if known is None:
            row = self._db.execute("SELECT no, subject, workspace FROM runs WHERE id = ?", (run,)).fetchone()
            if row is None:
                raise JournalCorrupt(f"run {run} does not exist")
            known = self._numbers[run] = (row[0], row[1], row[2])
        return known

    def _append(self, unit: Append, epoch: int) -> Outcome:
        number, subject, workspace = self._number(unit.run)
        execute = self._db.execute
        if unit.suspend is not None:
            waiting = execute(
                "SELECT 1 FROM mailbox WHERE run = ? AND taken IS NULL AND ((kind IN ('child', 'answer') AND addr = ?)"
                " OR (kind = 'interrupt' AND NOT ?)) LIMIT 1",
                (number, unit.suspend, unit.deaf),
            ).fetchone()
            if waiting is not None:
                return Outcome(refused="mail")
        first = unit.records[0].seq if unit.records else None
        if unit.status is None:
            if unit.records:
                moved = execute(
                    "UPDATE runs SET head_seq = ?, epoch = ? WHERE no = ? AND head_seq = ?",
                    (unit.records[-1].seq, epoch, number, (first or 0) - 1),
                )
                self._check(moved, unit.run)
        else:
            ended = unit.records[-1].at if unit.status in SETTLED else None
            head = unit.records[-1].seq if unit.records else None
            moved = execute(
                "UPDATE runs SET head_seq = coalesce(?, head_seq), epoch = ?, status = ?, reason = coalesce(?, reason), wake_at = ?,"
                " ended_at = coalesce(?, ended_at) WHERE no = ? AND (? IS NULL OR head_seq = ?)"
                " AND status <> 'completed' AND status <> 'failed' AND status <> 'cancelled' AND status <> 'timed_out'",  # that stays settled
                (head, epoch, unit.status, unit.reason, unit.wake_at, ended, number, first, (first or 0) - 1),
            )
            self._check(moved, unit.run)
        self._records(number, subject, workspace, unit.records)
        for mail_id, seq in unit.take:
            taken = execute("UPDATE mailbox SET taken = ? WHERE id = ? AND taken IS NULL", (seq, mail_id))
            self._check(taken, unit.run)
        for child in unit.children:
            self._new_run(child, epoch, number)
        for mail in unit.mail:
            self._mail(mail)
        for refund in unit.refund:
            refund_account(self._db, workspace, refund.account, (refund.tokens, refund.usd_micros))
        self._in_session(unit, number, workspace)
        for say in unit.says:
            execute("INSERT INTO outbox(run, addr, text, at) VALUES (?,?,?,?)", (number, say.addr, say.text, say.at))
        if unit.operation is not None:
            done = self._operation(unit.operation)
            if done.refused:
                raise Conflict(f"run {unit.run}: {unit.operation.name} refused", code=done.refused)
            return done
        return Outcome(run=unit.run)

    def _in_session(self, unit: Append, number: int, workspace: str) -> None:
        """What the unit means to a session: a place given up, threads, entries of the transcript."""
        resting = number if unit.status in SETTLED else None
        if unit.status in STOPPED:  # a turn whose child has stopped cannot go on either
            resting = self._db.execute("SELECT root FROM runs WHERE no = ?", (number,)).fetchone()[0]
        if resting is not None:
            following = give_up_place(self._db, workspace, resting, [change for change in unit.threads if change.in_place])
            if following is not None:
                self.touched.append(following)
        change_threads(self._db, workspace, [change for change in unit.threads if not change.in_place])
        for entry in unit.entries:
            _, row = add_entry(self._db, workspace, entry)
            self.touched_sessions.append((workspace, entry.session, row))

    @staticmethod
    def _check(moved: sqlite3.Cursor, run: str) -> None:
        if moved.rowcount != 1:
            raise LeaseLost(f"run {run} has moved on without this engine", code=RUN_MOVED_ON)

    def _records(self, number: int, subject: int, workspace: str, records: tuple[Record, ...]) -> None:
        rows: list[tuple[Any, ...]] = []
        for r in records:
            # the fields of a record stand in the order of the columns
            columns, body, payload = msgspec.structs.astuple(r), r.body, None
            if body is not None and len(body) > PAYLOAD_BYTES:
                cursor = self._db.execute(
                    "INSERT INTO payloads(workspace, subject, class, digest, bytes) VALUES (?,?,?,?,?)",
                    (workspace, subject, payload_class(r), r.digest, body),
                )
                columns, payload = (*columns[:-1], None), cursor.lastrowid
            reason = _REASON.decode(body).reason if body is not None and r.kind in DECIDED else None
            rows.append((number, *columns, payload, reason))
        self._db.executemany(_INSERT_RECORD, rows)

    def _subject(self, workspace: str, subject: str, key: bytes) -> int:
        self._db.execute("INSERT OR IGNORE INTO subjects(workspace, id, key) VALUES (?,?,?)", (workspace, subject, key))
        return self._db.execute("SELECT no FROM subjects WHERE workspace = ? AND id = ?", (workspace, subject)).fetchone()[0]

    def _new_run(self, new: NewRun, epoch: int, parent: int | None) -> None:
        begun = new.started
        subject = self._subject(begun.workspace, begun.subject, new.key)
        root = None if new.root is None else self._number(new.root)[0]
        addr = -1 if begun.parent_addr is None else begun.parent_addr
        cursor = self._db.execute(
            "INSERT INTO runs(id, parent, parent_addr, child, root, workspace, session, thread, subject, flow, flow_version, catalog, status,"
            " reason, epoch, head_seq, resumes, resumes_at, created_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,'',?,?,0,-1,?)",
            (
                *(new.id, parent, addr, begun.index, root or 0, begun.workspace, begun.session or None, begun.thread or None, subject),
                *(begun.flow, begun.flow_version, begun.catalog, Status.READY, epoch, 0, new.record.at),
            ),
        )
        number = cursor.lastrowid or 0
        if len(self._numbers) >= NUMBERS_KEPT:
            self._numbers.clear()
        if root is None:
            self._db.execute("UPDATE runs SET root = no WHERE no = ?", (number,))
        self._numbers[new.id] = (number, subject, begun.workspace)
        self._records(number, subject, begun.workspace, (new.record,))
        self.touched.append(new.id)

    def _open(self, unit: OpenRun, epoch: int) -> Outcome:
        execute = self._db.execute
        if unit.request_id is not None:
            row = execute(
                "SELECT q.digest, r.id FROM requests q JOIN runs r ON r.no = q.run WHERE q.workspace = ? AND q.request_id = ?",
                (unit.run.started.workspace, unit.request_id),
            ).fetchone()
            if row is not None:
                return Outcome(run=row[1], refused="same" if row[0] == unit.request_digest else "request_id_reused")
        if self._accepted() >= unit.max_accepted:
            return Outcome(refused="busy")
        keep(self._db, unit.catalogs)
        self._new_run(unit.run, epoch, None)
        if unit.request_id is not None:
            number = self._numbers[unit.run.id][0]
            execute("INSERT INTO requests VALUES (?,?,?,?)", (unit.run.started.workspace, unit.request_id, unit.request_digest, number))
        return Outcome(run=unit.run.id)

    def _accepted(self) -> int:
        """Root runs that are ready, running or waiting, but for those that wait for a person: they may wait for days, and cost nothing."""
        return self._db.execute(_ACCEPTED).fetchone()[0]

    def _receive(self, unit: Receive, epoch: int) -> Outcome:
        """One message: found again, refused, or written with its decision and its one consequence."""
        db, entry = self._db, unit.entry
        if (before := earlier(db, unit)) is not None:
            return Outcome(seq=before[0], refused="same" if before[1] else "message_id_reused")
        open_session(db, unit)
        about = {
            "channel": entry.channel,
            "message_id": entry.message_id,
            "reply_to": unit.reply_to,
            "edits": entry.edits,
            "author": entry.author,
        }
        follows = unit.decide(read_state(db, unit.workspace, unit.session, about))
        refused = follows.refused or (
            "busy" if follows.turn is not None and follows.turn.counts and self._accepted() >= unit.max_accepted else ""
        )
        if refused:
            raise Conflict(f"session {unit.session}: {refused}", code=refused)  # raised, so that not even the session is made
        keep(db, unit.catalogs)
        seq, row = add_entry(db, unit.workspace, entry, follows)
        self.touched_sessions.append((unit.workspace, unit.session, row))
        self._follow(unit.workspace, unit.session, follows, epoch)
        return Outcome(run=follows.serves, seq=seq)

    def _follow(self, workspace: str, session: str, follows: Consequence, epoch: int) -> None:
        keep(self._db, follows.catalogs)
        change_threads(self._db, workspace, follows.threads)
        for mail in follows.mail:
            self._mail(mail)
        turn = follows.turn
        if turn is not None:
            self._new_run(turn.run, epoch, None)
            if turn.holds:
                take_place(self._db, workspace, session, self._numbers[turn.run.id][0], turn)
        self.touched_sessions.append((workspace, session, 0))

    def _post(self, unit: Post) -> Outcome:
        row = self._db.execute("SELECT status FROM runs WHERE id = ?", (unit.mail.run,)).fetchone()
        if row is None:
            return Outcome(refused="not_found")
        if row[0] in SETTLED:
            return Outcome(refused="settled")
        answers = unit.mail.kind is MailKind.ANSWER
        if answers and self._observed(unit.mail):
            return Outcome(run=unit.mail.run, refused="settled")
        if not self._mail(unit.mail):
            return Outcome(run=unit.mail.run, refused="duplicate")
        if answers:
            close_question(self._db, unit.mail.run, unit.mail.addr)
        return Outcome(run=unit.mail.run)

    def _observed(self, mail: NewMail) -> bool:
        """Whether the wait that this answers is over, and not because of an earlier answer: nobody would ever read it."""
        number = self._number(mail.run)[0]
        if self._db.execute("SELECT 1 FROM mailbox WHERE run = ? AND key = ?", (number, mail.key)).fetchone() is not None:
            return False
        over = self._db.execute(_OVER, (number, mail.addr)).fetchone()
        return over is not None

    def _mail(self, mail: NewMail) -> bool:
        number = self._number(mail.run)[0]
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO mailbox(run, kind, addr, key, body, at) VALUES (?,?,?,?,?,?)",
            (number, mail.kind, mail.addr, mail.key, mail.body, mail.at),
        )
        self.touched.append(mail.run)
        return cursor.rowcount == 1

    def _operation(self, unit: Operation) -> Outcome:
        return self._operations[unit.name](self._db, unit.args)
