"""What a ledger says of words over SQLite: of requests, by their runs alone, and of what erased
runs still say; from its row on that says so.

Before that row its requests stand under their names, as builds before had them, and of erased runs
it says nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from ordain.errors import JournalCorrupt
from ordain.journal.ledger_items import (
    COVERS_WORDS,
    LedgerItem,
    asked_item,
    kept_item,
    request_item,
)
from ordain.store.run_records import asking, read_records

_REQUESTS = (
    "SELECT q.workspace, q.request_id, coalesce(r.id, ''), q.digest, u.key, q.request_id = "
    "'erased:' || q.run,"
    " r.subject IN (SELECT subject FROM erasures) AND u.key IS NULL FROM requests q"
    " LEFT JOIN runs r ON r.no = q.run LEFT JOIN subjects u ON u.no = r.subject"
)
_REQUEST = f"{_REQUESTS} WHERE q.workspace = ? AND q.request_id = ?"
_ERASED_RUNS = (
    "SELECT r.no, r.id, r.subject IN (SELECT subject FROM erasures) FROM runs r JOIN subjects u "
    "ON u.no = r.subject WHERE u.key IS NULL"
)


def standing_words(db: sqlite3.Connection, *, named: bool) -> Iterator[LedgerItem]:
    """All of it that stands; ``named``: as builds before had it."""
    if named:
        yield from (request_item(*row[:5]) for row in db.execute(_REQUESTS))
        return
    yield from (_request(row).or_under_way(row[6]) for row in db.execute(_REQUESTS))
    yield from (
        _kept(db, row).or_under_way(row[2]) for row in db.execute(f"{_ERASED_RUNS} ORDER BY r.no")
    )


def begin_words(db: sqlite3.Connection) -> Iterator[LedgerItem]:
    """What a ledger says from now on, as it stands. Within a transaction."""
    yield COVERS_WORDS
    yield from map(_request, db.execute(_REQUESTS))
    yield from (_kept(db, row) for row in db.execute(f"{_ERASED_RUNS} ORDER BY r.no"))


def request_now(db: sqlite3.Connection, name: tuple[Any, ...]) -> list[LedgerItem]:
    """A request by workspace and id, at the end of a batch that touched it."""
    return [_request(row) for row in db.execute(_REQUEST, name)]


def kept_now(db: sqlite3.Connection, run: tuple[Any, ...]) -> list[LedgerItem]:
    """What a run still says whose content was erased; nothing of any other."""
    return [_kept(db, row) for row in db.execute(f"{_ERASED_RUNS} AND r.no = ?", run)]


def _request(row: tuple[Any, ...]) -> LedgerItem:
    workspace, request, run, digest, key, erased, _ = row
    return asked_item(run, workspace, (request, digest), key, erased=erased == 1)


def _kept(db: sqlite3.Connection, row: tuple[Any, ...]) -> LedgerItem:
    no, run, _ = row
    try:
        records = read_records(asking(db), no)
    except JournalCorrupt:
        return kept_item(run, [(-1, b"")])  # its replay tells what is wrong
    return kept_item(
        run, [(record.seq, record.body) for record in records if record.body is not None]
    )
