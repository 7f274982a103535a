"""A sheet: records of one run that were written together, as one row of table ``sheets``.

A row costs SQLite more than the bytes of a heading, and most records come several at a time. So
``records`` of a row is one MessagePack array with an array for each record: kind, name, version,
time, digest, chain, body. The number of the first is a column, the others follow it. Kinds and
names are codes where they have one; the time is microseconds since the record before it in the
sheet, of the first since 1970. A body stands in place, or is the number of its payload, or nil once
it was erased: it can be taken out by itself, and what the chain covers stays.

Builds before the ninth version of the schema wrote a row of table ``records`` for each record; such
rows stay as they are, and a run that began as rows goes on in sheets (``store.run_records``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from ordain.errors import JournalCorrupt
from ordain.journal.records import PAYLOAD_BYTES, Record, RecordKind
from ordain.rules.budget import SETTLE

SHEET_TABLES = """
CREATE TABLE sheets(pos INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, settled INTEGER NOT NULL, records BLOB NOT NULL);
CREATE UNIQUE INDEX sheets_run ON sheets(run, seq);
CREATE INDEX sheets_settled ON sheets(run) WHERE settled = 1;
"""
"""``seq`` is the number of a sheet's first record; ``settled`` is 1 where it books what a model
call came to: who asked models is looked up by that.
"""

INSERT_SHEET = "INSERT INTO sheets(run, seq, settled, records) VALUES (?,?,?,?)"
SHEET_RECORDS = 64
SHEET_BYTES = 16 * 1024
"""What a sheet holds at most, but for its last body: to take one body out, the whole sheet is
written anew.
"""
ROW_BYTES = 16
"""What a row takes beside ``records``: its three numbers and its own header."""

KINDS = (
    *(
        RecordKind.STARTED,
        RecordKind.DECISION,
        RecordKind.CLAIM,
        RecordKind.INTENT,
        RecordKind.OBSERVATION,
        RecordKind.DELIVERED,
    ),
    *(
        RecordKind.CHILD_ENDED,
        RecordKind.SUSPENDED,
        RecordKind.RESUMED,
        RecordKind.ENDED,
        RecordKind.FAULTED,
        RecordKind.NOTE,
    ),
)
NAMES = (
    *("model_call", "verb_call", "read", "wait", "say", "children", "child"),
    *(
        "access",
        "answer",
        "attach",
        "authorize",
        "carve",
        "completeness",
        "entry",
        "fallback",
        "hedge",
        "history",
        "lane",
        "limits",
    ),
    *(
        "outcome",
        "output",
        "proceed",
        "rate",
        "reask",
        "recall",
        "recover",
        "reserve",
        "retry",
        "route",
        "scope",
        "settle",
        "step",
    ),
    *("suggestion", "supervise", "unrecovered"),
    *("completed", "failed", "cancelled", "timed_out", "resumed", "lost", "fault", "cancel"),
    "verdict",
)
"""A code is the place here, so that both stay as they are while the schema's version does; a name
that came later, a kind's or an embedder's is spelled out.
"""
_KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
_NAME_CODES = {name: code for code, name in enumerate(NAMES)}
_KIND_OF = dict(enumerate(KINDS))
_NAME_OF: Mapping[int | str, str] = dict(enumerate(NAMES))
_SETTLE, _DECISION = _NAME_CODES[SETTLE.name], RecordKind.DECISION

Laid = tuple[int, int | str, int, int, bytes, bytes, bytes | int | None]
"""One record as it lies in a sheet: codes of kind and name, version, microseconds since the one
before, digest, chain, body.
"""
BODY = 6
"""Where the body stands in it."""
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[Laid])


def lay_out(
    records: Sequence[Record], put_apart: Callable[[Record], int]
) -> Iterator[tuple[int, int, bytes]]:
    """Records that follow one another as rows: (seq, settled, records). ``put_apart`` stores a body
    that is too long to stand in its row.
    """
    laid: list[Laid] = []
    size = at = settled = 0
    first = records[0].seq if records else 0
    for record in records:
        if size >= SHEET_BYTES or len(laid) == SHEET_RECORDS:
            yield first, settled, _ENCODER.encode(laid)
            laid, size, at, settled, first = [], 0, 0, 0, record.seq
        body: bytes | int | None = record.body
        if body is not None:
            length = len(body)
            if length > PAYLOAD_BYTES:
                body = put_apart(record)
            else:
                size += length
        kind, name, moment = record.kind, record.name, record.at
        code = _NAME_CODES.get(name, name)
        if code == _SETTLE and kind is _DECISION:
            settled = 1
        laid.append(
            (_KIND_CODES[kind], code, record.v, moment - at, record.digest, record.chain, body)
        )
        at = moment
    if laid:
        yield first, settled, _ENCODER.encode(laid)


def decode(first: int, records: bytes) -> list[Laid]:
    """What lies in a sheet.

    Raises:
        JournalCorrupt: it is none.
    """
    if type(first) is not int or type(records) is not bytes:
        # SQLite itself would store anything anywhere
        raise JournalCorrupt(f"record {first}: the stored row is no sheet", details={"seq": first})
    try:
        return _DECODER.decode(records)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JournalCorrupt(
            f"record {first}: the stored row is no sheet: {error}", details={"seq": first}
        ) from error


def encode(laid: Sequence[Laid]) -> bytes:
    """What lies in a sheet as the row has it."""
    return _ENCODER.encode(laid)


def kind_of(laid: Laid) -> RecordKind | None:
    """The record's kind; None where it has no known one."""
    return _KIND_OF.get(laid[0])


def name_of(laid: Laid) -> str | None:
    """The record's name; None where it has no known one."""
    name = laid[1]
    return name if isinstance(name, str) else _NAME_OF.get(name)


def records_of(
    first: int,
    sheet: Sequence[Laid],
    body_of: Callable[[int], bytes | None],
    after: int = -1,
    names: Collection[str] | None = None,
) -> Iterator[Record]:
    """The records of a sheet that come after number ``after``, of ``names`` where such are given;
    ``body_of`` gives what a payload holds.

    Raises:
        JournalCorrupt: a kind or a name is none that this build knows.
    """
    at, seq = 0, first - 1
    for kind, name, v, passed, digest, chain, body in sheet:
        at += passed
        seq += 1
        known = _KIND_OF.get(kind)
        named = name if isinstance(name, str) else _NAME_OF.get(name)
        if known is None or named is None:
            raise JournalCorrupt(f"record {seq}: the stored row is no record", details={"seq": seq})
        if seq <= after or (names is not None and named not in names):
            continue
        held = body_of(body) if isinstance(body, int) else body
        yield Record(
            seq=seq, kind=known, name=named, v=v, at=at, digest=digest, chain=chain, body=held
        )
