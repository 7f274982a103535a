"""Reading the records of a run, by whichever build each was written: rows of one record, then
sheets.

Every read goes by run and number, and begins where it is told to: nothing is read of a run but what
is asked for, and the bodies that lie apart of what is given.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from ordain.errors import JournalCorrupt, RunPlace
from ordain.journal.records import Record, RecordKind
from ordain.store import sheets
from ordain.store.typed_rows import (
    RowColumns,
    check_row,
    is_key,
    is_moment,
    is_number,
    is_text,
    or_none,
)

Statement = Callable[[str, tuple[Any, ...]], Sequence[tuple[Any, ...]]]
"""Runs a statement and gives all its rows."""


def _is_thread(value: Any) -> bool:
    """Its column is a text, and holds a number."""
    return type(value) is int or (type(value) is str and value.isdecimal() and value.isascii())


_KINDS = {str(kind): kind for kind in RecordKind}
_TYPES = frozenset((int, str, str, int, int, bytes, bytes, body) for body in (bytes, type(None)))
"""Of the columns of a record; SQLite itself would store anything anywhere."""
_ROW = (
    "SELECT r.seq, r.kind, r.name, r.v, r.at, r.digest, r.chain, coalesce(r.body, p.bytes) FROM "
    "records r"
    " LEFT JOIN payloads p ON p.id = r.payload WHERE r.run = ? AND "
)
_ROWS = _ROW + "r.seq > ? ORDER BY r.seq"
_ROW_BEFORE = _ROW + "r.seq < ? ORDER BY r.seq DESC LIMIT 1"
_FIRST_ROW = _ROW + "r.seq = 0"
_SHEETS = (
    "SELECT seq, records FROM sheets WHERE run = ?1"
    " AND seq >= coalesce((SELECT max(seq) FROM sheets WHERE run = ?1 AND seq <= ?2), 0) ORDER "
    "BY seq"
)
"""From the one that holds a record on, if there is one."""
_ALL_SHEETS = (
    "SELECT run, seq, records FROM sheets WHERE run IN (SELECT value FROM json_each(?)) ORDER BY "
    "run, seq"
)
_FIRST_SHEET = "SELECT seq, records FROM sheets WHERE run = ? AND seq = 0"
_SHEET_BEFORE = (
    "SELECT seq, records FROM sheets WHERE run = ? AND seq < ? ORDER BY seq DESC LIMIT 1"
)
_PAYLOAD = "SELECT bytes FROM payloads WHERE id = ?"
_ROW_BYTES = (
    "SELECT coalesce(sum(coalesce(length(r.body), 0) + length(r.digest) + length(r.chain) + "
    "length(r.kind) + length(r.name) + 24), 0),"
    " coalesce(sum(length(p.bytes)), 0) FROM records r LEFT JOIN payloads p ON p.id = r.payload "
    "WHERE r.run = ?"
)
"""24: a record's numbers and its row's own header."""
_LAST = 2**63 - 1
_NAMES = (
    "id flow flow_version catalog workspace subject key status reason parent parent_addr child "
    "root resumes wake_at created_at ended_at no session thread head_seq epoch holder"
)
_WHERE: RowColumns = tuple(
    zip(
        _NAMES.split(),
        (
            is_text,
            is_text,
            is_number,
            is_text,
            is_text,
            is_text,
            or_none(is_key),
            is_text,
            is_text,
            or_none(is_text),
            is_number,
            is_number,
            is_text,
            is_number,
            or_none(is_moment),
            is_moment,
            or_none(is_moment),
            is_number,
            or_none(is_text),
            or_none(_is_thread),
            is_number,
            is_number,
            is_number,
        ),
        strict=True,
    )
)
_STANDS = (4, 12, 18, 19, 21, 22)
"""Of these, what says where it stands."""


def place_of(run: str, row: Sequence[Any]) -> RunPlace:
    """Where a run stands by its row as ``SqliteStore`` reads it, each column of which is looked at.

    Raises:
        JournalCorrupt: with the column that holds something else, and the place, if that is known
            all the same.
    """
    what = f"run {run}"
    check_row(what, [_WHERE[one] for one in _STANDS], [row[one] for one in _STANDS])
    place = RunPlace(
        workspace=row[4],
        root=row[12],
        session=row[18] or "",
        thread=int(row[19] or 0),
        epoch=row[21],
        holder=row[22],
    )
    check_row(what, _WHERE, row, place)
    return place


def asking(db: sqlite3.Connection) -> Statement:
    """Reads on a connection as it stands; errors are SQLite's."""
    return lambda sql, parameters: db.execute(sql, parameters).fetchall()


def stored_record(row: tuple[Any, ...]) -> Record:
    """A row of ``records`` (seq, kind, name, v, at, digest, chain, body) as the record that it is.

    Raises:
        JournalCorrupt: it is none.
    """
    seq, kind, name, v, at, digest, chain, body = row
    known = _KINDS.get(kind)
    if known is None or tuple(map(type, row)) not in _TYPES:
        raise JournalCorrupt(f"record {seq}: the stored row is no record", details={"seq": seq})
    return Record(seq=seq, kind=known, name=name, v=v, at=at, digest=digest, chain=chain, body=body)


SheetRow = tuple[int, bytes]
"""The number of a sheet's first record, and what lies in it."""


def read_sheets(query: Statement, runs: Sequence[int]) -> Mapping[int, Sequence[SheetRow]]:
    """All sheets of the runs of these numbers, for ``read_records``; errors are the statement's."""
    found = dict[int, list[SheetRow]]()
    for run, first, row in query(_ALL_SHEETS, (msgspec.json.encode(runs).decode(),)):
        found.setdefault(run, []).append((first, row))
    return found


def read_records(
    query: Statement,
    run: int,
    after: int = -1,
    names: Collection[str] | None = None,
    laid: Sequence[SheetRow] | None = None,
) -> list[Record]:
    """The records of run number ``run`` with a number greater than ``after``, in order; only those
    of ``names`` where such are given. ``laid`` are its sheets where they were read before.

    Raises:
        JournalCorrupt: what is stored is none.
    """
    rows = query(_SHEETS, (run, after + 1)) if laid is None else laid
    found = [(first, sheets.decode(first, row)) for first, row in rows]
    records: list[Record] = []
    if not found or found[0][0] > after + 1:  # else the sheets hold them all
        records += [
            record
            for record in map(stored_record, query(_ROWS, (run, after)))
            if names is None or record.name in names
        ]
    for first, sheet in found:
        records += sheets.records_of(first, sheet, partial(_payload, query), after, names)
    return records


def read_back(query: Statement, run: int) -> Iterator[Record]:
    """The records of run number ``run``, the last one first. Raises as ``read_records``."""
    first = _LAST
    while first > 0 and (found := query(_SHEET_BEFORE, (run, first))):
        ((first, row),) = found
        yield from reversed(
            list(sheets.records_of(first, sheets.decode(first, row), partial(_payload, query)))
        )
    passed = first
    while passed > 0 and (found := query(_ROW_BEFORE, (run, passed))):
        passed = found[0][0]
        yield stored_record(found[0])


def read_opening(query: Statement, run: int) -> Record | None:
    """The record that a run begins with. Raises as ``read_records``."""
    for first, row in query(_FIRST_SHEET, (run,)):
        return next(
            sheets.records_of(first, sheets.decode(first, row), partial(_payload, query)), None
        )
    for row in query(_FIRST_ROW, (run,)):
        return stored_record(row)
    return None


def stored_bytes(query: Statement, run: int) -> tuple[int, int]:
    """(bytes of records with their headings, bytes of payloads) of run number ``run``. Raises as
    ``read_records``.
    """
    ((records, payloads),) = query(_ROW_BYTES, (run,))
    for first, row in query(_SHEETS, (run, 0)):
        records += len(row) + sheets.ROW_BYTES
        for laid in sheets.decode(first, row):
            if isinstance(number := laid[sheets.BODY], int):
                payloads += len(_payload(query, number) or b"")
    return records, payloads


def _payload(query: Statement, number: int) -> bytes | None:
    """What a payload holds; None once it was erased, which leaves its row."""
    found = query(_PAYLOAD, (number,))
    if not found:
        raise JournalCorrupt(f"payload {number} is missing")
    return found[0][0]
