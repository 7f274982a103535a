"""What the records of a run hold, for whoever takes it out: record by record, in whichever form
each is stored, from any number on.

Bodies are exchanged within their rows or payloads; headings and chain stay as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from ordain.errors import JournalCorrupt
from ordain.store import sheets

AT_ONCE = 64
"""Rows of one record that are read at a time."""
_ROWS = (
    "SELECT r.seq, r.kind, r.name, r.body, r.payload, length(p.bytes), r.pos FROM records r LEFT "
    "JOIN payloads p ON p.id = r.payload"
    " WHERE r.run = ? AND r.seq > ? ORDER BY r.seq LIMIT ?"
)
_HOLDING = (
    "SELECT pos, seq, records FROM sheets WHERE run = ? AND seq <= ? ORDER BY seq DESC LIMIT 1"
)
_FOLLOWING = "SELECT pos, seq, records FROM sheets WHERE run = ? AND seq > ? ORDER BY seq LIMIT 1"
_KEPT_APART = "SELECT length(bytes) FROM payloads WHERE id = ?"
_WRITE_SHEET = "UPDATE sheets SET records = ? WHERE pos = ?"
_WRITE_ROW = "UPDATE records SET body = ? WHERE pos = ?"
_WRITE_PAYLOAD = "UPDATE payloads SET bytes = ?, erased_at = ? WHERE id = ?"


class RecordContent(Struct, frozen=True, kw_only=True):
    """What one record holds: ``size`` bytes, None where it holds nothing; ``payload`` is the row
    that holds it apart.

    ``kind`` and ``name`` are "" where they are none that this build knows.
    """

    seq: int
    kind: str
    name: str
    size: int | None
    payload: int | None
    body: bytes | None


class Piece(Struct, frozen=True):
    """Consecutive records that are read together; ``write`` puts other bodies into their rows.

    Of a sheet that cannot be read the whole is the one content of its first record, of no kind, and
    goes whole.
    """

    contents: Sequence[RecordContent]
    write: Callable[[Mapping[int, bytes | None]], None]


def pieces(db: sqlite3.Connection, run: int, after: int) -> Iterator[Piece]:
    """The records of run number ``run`` with a number greater than ``after``, in order; a piece is
    read when it is asked for.
    """
    while rows := db.execute(_ROWS, (run, after, AT_ONCE)).fetchall():
        yield Piece(
            [_content_of_row(row) for row in rows],
            _Rows(db, {row[0]: row[6] for row in rows}).write,
        )
        after = rows[-1][0]
    sheet = (
        db.execute(_HOLDING, (run, after + 1)).fetchone()
        or db.execute(_FOLLOWING, (run, after)).fetchone()
    )
    while sheet is not None:
        yield _piece(db, sheet, after)
        sheet = db.execute(_FOLLOWING, (run, sheet[1])).fetchone()


def read_content(db: sqlite3.Connection, content: RecordContent) -> bytes | None:
    """The body, wherever it lies."""
    if content.payload is None:
        return content.body
    row = db.execute("SELECT bytes FROM payloads WHERE id = ?", (content.payload,)).fetchone()
    return None if row is None else row[0]


def exchange(
    db: sqlite3.Connection, piece: Piece, bodies: Mapping[int, bytes | None], at: int
) -> None:
    """Put other bodies in place of those of some records, by number; None is none. ``at`` is when,
    in microseconds since 1970.
    """
    apart = [
        (bodies[each.seq], at, each.payload)
        for each in piece.contents
        if each.seq in bodies and each.payload is not None
    ]
    db.executemany(_WRITE_PAYLOAD, apart)
    within = {
        each.seq: bodies[each.seq]
        for each in piece.contents
        if each.seq in bodies and each.payload is None
    }
    if within:
        piece.write(within)


class _Rows(Struct, frozen=True):
    db: sqlite3.Connection
    positions: Mapping[int, int]

    def write(self, bodies: Mapping[int, bytes | None]) -> None:
        self.db.executemany(
            _WRITE_ROW, [(body, self.positions[seq]) for seq, body in bodies.items()]
        )


class _Sheet(Struct, frozen=True):
    db: sqlite3.Connection
    pos: int
    first: int
    laid: Sequence[sheets.Laid]

    def write(self, bodies: Mapping[int, bytes | None]) -> None:
        exchanged = [
            (*laid[: sheets.BODY], bodies.get(seq, laid[sheets.BODY]))
            for seq, laid in enumerate(self.laid, self.first)
        ]
        self.db.execute(_WRITE_SHEET, (sheets.encode(exchanged), self.pos))


class _Damaged(Struct, frozen=True):
    db: sqlite3.Connection
    pos: int

    def write(self, _: Mapping[int, bytes | None]) -> None:
        self.db.execute(_WRITE_SHEET, (b"", self.pos))


def _content_of_row(
    row: tuple[int, str, str, bytes | None, int | None, int | None, int],
) -> RecordContent:
    seq, kind, name, body, payload, apart, _ = row
    size = apart if body is None else len(body)
    return RecordContent(
        seq=seq,
        kind=kind,
        name=name,
        size=size,
        payload=payload if body is None else None,
        body=body,
    )


def _piece(db: sqlite3.Connection, sheet: tuple[int, int, bytes], after: int) -> Piece:
    pos, first, records = sheet
    try:
        laid = sheets.decode(first, records)
    except JournalCorrupt:
        damaged = RecordContent(
            seq=first, kind="", name="", size=len(records), payload=None, body=None
        )
        return Piece([damaged] if first > after and records else [], _Damaged(db, pos).write)
    contents = [_content(db, seq, each) for seq, each in enumerate(laid, first) if seq > after]
    return Piece(contents, _Sheet(db, pos, first, laid).write)


def _content(db: sqlite3.Connection, seq: int, laid: sheets.Laid) -> RecordContent:
    body = laid[sheets.BODY]
    payload = body if isinstance(body, int) else None
    size = len(body) if isinstance(body, bytes) else None
    if payload is not None:
        row = db.execute(_KEPT_APART, (payload,)).fetchone()
        size = None if row is None else row[0]
    return RecordContent(
        seq=seq,
        kind=sheets.kind_of(laid) or "",
        name=sheets.name_of(laid) or "",
        size=size,
        payload=payload,
        body=body if isinstance(body, bytes) else None,
    )
