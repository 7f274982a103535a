"""A database's journal as a row for each record, however its build stored them: to look at, and to
damage one value at a time.

View ``journal`` has the columns run, seq, kind, name, v, at, digest, chain, body, payload. Updating
one changes the stored row in that value alone, as somebody would who knows the form of it. Sheets
are taken apart here by plain MessagePack, so that what checks the store is not the store.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

from ordain.store.sheets import KINDS, NAMES
from ordain.store.sqlite import SqliteStore

PARTS = ("kind", "name", "v", "at", "digest", "chain", "body", "payload")
NO_KIND = 99
_VIEW = f"""
CREATE TEMP VIEW journal AS
  SELECT 0 AS sheet, pos, -1 AS place, run, seq, {", ".join(PARTS)} FROM main.records
  UNION ALL
  SELECT 1, s.pos, j.value, s.run, s.seq + j.value, {", ".join(f"sheet_part(s.records, j.value, {at})" for at in range(len(PARTS)))}
    FROM main.sheets s, json_each(sheet_places(s.records)) j;
CREATE TEMP TRIGGER journal_changed INSTEAD OF UPDATE ON journal BEGIN
  UPDATE records SET {", ".join(f"{part} = NEW.{part}" for part in PARTS)} WHERE OLD.sheet = 0 AND pos = OLD.pos;
  UPDATE sheets SET records = sheet_with(records, OLD.place, {", ".join(f"NEW.{part}" for part in PARTS)}) WHERE OLD.sheet = 1 AND pos = OLD.pos;
END;
CREATE TEMP TRIGGER journal_cut INSTEAD OF DELETE ON journal BEGIN
  DELETE FROM records WHERE OLD.sheet = 0 AND pos = OLD.pos;
  UPDATE sheets SET records = sheet_without(records, OLD.chain) WHERE OLD.sheet = 1 AND pos = OLD.pos;
  DELETE FROM sheets WHERE records = x'90';
END;
"""
_AS_ROWS = """
INSERT INTO records(run, seq, kind, name, v, at, digest, chain, body, payload, reason)
  SELECT run, seq, kind, name, v, at, digest, chain, body, payload,
    CASE WHEN kind IN ('decision', 'claim') AND json_valid(CAST(body AS TEXT)) THEN json_extract(CAST(body AS TEXT), '$.reason') END
  FROM journal WHERE sheet = 1 ORDER BY pos, seq;
DELETE FROM sheets;
"""


def journal_of(found: sqlite3.Connection | SqliteStore) -> sqlite3.Connection:
    """The connection, or the one that a store reads by, with view ``journal``."""
    db = found.reading if isinstance(found, SqliteStore) else found
    if not db.execute("SELECT 1 FROM temp.sqlite_master WHERE name = 'journal'").fetchone():
        db.create_function("sheet_places", 1, _places, deterministic=True)
        db.create_function("sheet_part", 3, _part, deterministic=True)
        db.create_function("sheet_without", 2, _without, deterministic=True)
        db.create_function("sheet_with", 2 + len(PARTS), _with, deterministic=True)
        db.executescript(_VIEW)
    return db


def as_rows(db: sqlite3.Connection) -> None:
    """Store all that stands in sheets as builds before them did: a row of table ``records`` for
    each record.
    """
    journal_of(db).executescript(_AS_ROWS)


def _read(sheet: bytes) -> list[list[Any]]:
    """The values of each record, in the order of ``PARTS``."""
    read, at = list[list[Any]](), 0
    for kind, name, v, passed, digest, chain, body in msgspec.msgpack.decode(sheet):
        at += passed
        apart = isinstance(body, int)
        named = NAMES[name] if isinstance(name, int) else name
        read.append(
            [
                str(KINDS[kind]),
                named,
                v,
                at,
                digest,
                chain,
                None if apart else body,
                body if apart else None,
            ]
        )
    return read


def _written(read: list[list[Any]]) -> bytes:
    laid, before = list[list[Any]](), 0
    for kind, name, v, at, digest, chain, body, payload in read:
        passed = at - before if isinstance(at, int) else at
        before = at if isinstance(at, int) else before
        code = next((code for code, known in enumerate(KINDS) if known == kind), NO_KIND)
        laid.append(
            [
                code,
                NAMES.index(name) if name in NAMES else name,
                v,
                passed,
                digest,
                chain,
                body if payload is None else payload,
            ]
        )
    return msgspec.msgpack.encode(laid)


def _places(sheet: bytes) -> str:
    return msgspec.json.encode(list(range(len(msgspec.msgpack.decode(sheet))))).decode()


def _part(sheet: bytes, place: int, part: int) -> Any:
    return _read(sheet)[place][part]


def _without(sheet: bytes, chain: bytes) -> bytes:
    return _written([record for record in _read(sheet) if record[PARTS.index("chain")] != chain])


def _with(sheet: bytes, place: int, *values: Any) -> bytes:
    read = _read(sheet)
    read[place] = list(values)
    return _written(read)
