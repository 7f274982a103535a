"""What a ledger says of what is remembered, over SQLite: each note and document that is kept, with
its words, and each that is kept no longer, without.

Its words are told under a seal of the row's own, which goes when it is removed: nobody can test a
guess at what somebody has had forgotten. While an item is added, its row has the link of the
passage that was stored last (``words``); of what stands, the links are made anew from the passages.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ordain.journal.digests import KEY_BYTES
from ordain.journal.ledger_items import COVERS_LIBRARY, LedgerItem, passage_link, remembered_item

_ROW = (
    "SELECT workspace, id, seal, words, no, state = 'kept', kind, media_type, trust, created_at, "
    "run, subject, removed_at, removed_by,"
    " size, pages, passages, title, theme, mood, tags, author, source, session, key, digest "
    "FROM items"
)
_SAID = "state <> 'staged'"
"""What is not whole yet is in no search and on no face."""
_PASSAGES = (
    "SELECT no, seq, page, start, stop, heading, text FROM passages WHERE item = ? ORDER BY seq"
)
_WORDS_FROM = 14
"""Where in a row its words begin: behind what stays when they go."""


def new_seal() -> bytes:
    """A seal for what is being added."""
    return os.urandom(KEY_BYTES)


def linked(seal: bytes, before: bytes, passages: Iterable[Sequence[object]]) -> bytes:
    """The link of the last of some passages, each as (no, seq, page, start, stop, heading, text),
    behind ``before``.
    """
    for passage in passages:
        before = passage_link(before, passage, seal)
    return before


def standing_library(db: sqlite3.Connection) -> Iterator[LedgerItem]:
    """All that is remembered, its words as the passages have them, and all that is no longer."""
    for row in db.execute(f"{_ROW} WHERE {_SAID} ORDER BY no"):
        yield _item(row, _words(db, row))


def begin_library(db: sqlite3.Connection) -> Iterator[LedgerItem]:
    """What a ledger says from now on and has not said before, as it stands: it gets its seals now.
    Within a transaction.
    """
    yield COVERS_LIBRARY
    for (no,) in db.execute(
        "SELECT no FROM items WHERE state = 'kept' AND seal IS NULL"
    ).fetchall():
        seal = new_seal()
        db.execute(
            "UPDATE items SET seal = ?, words = ? WHERE no = ?",
            (seal, linked(seal, b"", db.execute(_PASSAGES, (no,))), no),
        )
    yield from standing_library(db)


def remembered_now(db: sqlite3.Connection, no: tuple[Any, ...]) -> list[LedgerItem]:
    """An item by its number, at the end of a batch that kept or removed it."""
    return [_item(row, row[3]) for row in db.execute(f"{_ROW} WHERE {_SAID} AND no = ?", no)]


def remembered_of(db: sqlite3.Connection, subject: tuple[Any, ...]) -> list[LedgerItem]:
    """All items of a subject, at the end of a batch that erased it."""
    return [
        _item(row, row[3]) for row in db.execute(f"{_ROW} WHERE {_SAID} AND subject = ?", subject)
    ]


def _words(db: sqlite3.Connection, row: tuple[Any, ...]) -> object:
    seal = row[2]
    return (
        linked(seal, b"", db.execute(_PASSAGES, (row[4],)))
        if isinstance(seal, bytes) and seal
        else None
    )


def _item(row: tuple[Any, ...], words: object) -> LedgerItem:
    return remembered_item(row[:2], row[4:_WORDS_FROM], (words, *row[_WORDS_FROM:]), row[2])
