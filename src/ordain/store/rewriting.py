"""Records that earlier builds stored as a row each, written as sheets: by who compacts a folder,
and by nobody else.

A run goes as a whole or not at all, many in one transaction; what ends the process between two
leaves a database whose runs stand in either form, as before.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.records import Record, RecordKind
from ordain.store.run_records import stored_record
from ordain.store.sheets import INSERT_SHEET, decode, lay_out, records_of

RUNS_AT_ONCE = 256
_NEXT = "SELECT DISTINCT run FROM records WHERE run > ? ORDER BY run LIMIT ?"
_ROWS = (
    "SELECT r.seq, r.kind, r.name, r.v, r.at, r.digest, r.chain, coalesce(r.body, p.bytes), "
    "r.payload, p.id IS NULL FROM records r"
    " LEFT JOIN payloads p ON p.id = r.payload WHERE r.run = ? ORDER BY r.seq"
)
_UNIT_ENDS = frozenset({RecordKind.INTENT, RecordKind.SUSPENDED})
"""What a unit ended with as a rule: which records were written together the rows do not say."""


def rewrite_rows(db: sqlite3.Connection) -> int:
    """Write every run's rows as sheets; gives how many runs. One whose rows are damaged is left as
    it is.
    """
    after, rewritten = -1, 0
    while runs := db.execute(_NEXT, (after, RUNS_AT_ONCE)).fetchall():
        db.execute("BEGIN IMMEDIATE")
        try:
            rewritten += sum(_rewrite(db, run) for (run,) in runs)
        except BaseException:  # whatever broke, the runs of this transaction stay as they were
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        after = runs[-1][0]
    return rewritten


def _rewrite(db: sqlite3.Connection, run: int) -> bool:
    rows = db.execute(_ROWS, (run,)).fetchall()
    try:
        records, payloads = _read(rows)
    except JournalCorrupt:
        return False
    kept = set[int]()

    def put_apart(record: Record) -> int:
        number = payloads.get(record.seq)
        if number is None:
            raise JournalCorrupt(
                f"record {record.seq} of run number {run} is too long for its row",
                details={"seq": record.seq},
            )
        kept.add(number)
        return number

    try:
        laid = [sheet for unit in _units(records) for sheet in lay_out(unit, put_apart)]
    except JournalCorrupt:
        return False
    bodies = {payloads[record.seq]: record.body for record in records if record.seq in payloads}
    if [
        record
        for first, _, sheet in laid
        for record in records_of(first, decode(first, sheet), bodies.__getitem__)
    ] != records:
        return False  # numbers that do not follow one another, and what else a sheet cannot say
    db.executemany(INSERT_SHEET, [(run, *sheet) for sheet in laid])
    db.executemany(
        "UPDATE payloads SET bytes = NULL WHERE id = ?",
        [(number,) for number in payloads.values() if number not in kept],
    )
    db.execute("DELETE FROM records WHERE run = ?", (run,))
    return True


def _read(rows: Sequence[tuple[Any, ...]]) -> tuple[list[Record], dict[int, int]]:
    """The records, and which payload holds the body of each that has one."""
    records, payloads = list[Record](), dict[int, int]()
    for *columns, payload, lost in rows:
        record = stored_record(tuple(columns))
        if payload is not None:
            if lost:
                raise JournalCorrupt(f"payload {payload} is missing", details={"seq": record.seq})
            payloads[record.seq] = payload
        records.append(record)
    return records, payloads


def _units(records: Sequence[Record]) -> Iterator[list[Record]]:
    unit = list[Record]()
    for record in records:
        unit.append(record)
        if record.kind in _UNIT_ENDS:
            yield unit
            unit = []
    yield unit
