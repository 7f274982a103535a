"""The text index, one for each workspace: what a word is worth, and so values and order of what is
found, comes from that workspace alone.

One index for all would weigh each word by how many passages of every workspace hold it, and tell
one workspace what stands in another.

The index keeps no text. It deletes by being told what it held; what it held stays in its file until
its segments are merged (``tidy``).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ordain.ports.store import Outcome
from ordain.store.text_query import phrase

MERGED_PAGES = 64
"""Pages of a text index that one unit merges."""

WORD_INDEX_TABLES = """
DROP TABLE IF EXISTS passages_text;
CREATE TABLE word_indexes(
  no INTEGER PRIMARY KEY, workspace TEXT NOT NULL UNIQUE, deletions INTEGER NOT NULL, merging INTEGER NOT NULL, merged INTEGER NOT NULL);
CREATE INDEX word_indexes_unmerged ON word_indexes(no) WHERE merged < deletions;
"""
"""``merging`` and ``merged`` are the number of deletions that the merge that goes on, and the last
whole one, found.
"""


def word_index(db: sqlite3.Connection, workspace: str) -> str | None:
    """The table that is the workspace's index; None where nothing was ever added."""
    row = db.execute("SELECT no FROM word_indexes WHERE workspace = ?", (workspace,)).fetchone()
    return None if row is None else _table(row[0])


def count_words(
    db: sqlite3.Connection, workspace: str, words: Sequence[str], most: int
) -> list[int]:
    """How many passages of the workspace each word finds, counted up to ``most``."""
    table = word_index(db, workspace)
    if table is None:
        return [0] * len(words)
    count = f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)"
    return [db.execute(count, (phrase(word), most)).fetchone()[0] for word in words]


def add_words(
    db: sqlite3.Connection, workspace: str, passages: Sequence[tuple[int, str, str]]
) -> None:
    """Put passages (number, heading, text) into their workspace's index."""
    db.executemany(
        f"INSERT INTO {_made(db, workspace)}(rowid, heading, text) VALUES (?, ?, ?)", passages
    )


def delete_words(
    db: sqlite3.Connection, workspace: str, passages: Sequence[tuple[int, str, str]]
) -> None:
    """Take passages (number, heading, text) out of their workspace's index."""
    table = _made(db, workspace)
    db.executemany(
        f"INSERT INTO {table}({table}, rowid, heading, text) VALUES ('delete', ?, ?, ?)", passages
    )
    db.execute(
        "UPDATE word_indexes SET deletions = deletions + 1 WHERE workspace = ?", (workspace,)
    )


def tidy(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Merge a part of an index that words were deleted from, so that nothing of them is left;
    ``count`` indexes are not merged whole yet.
    """
    row = db.execute(
        "SELECT no, deletions, merging FROM word_indexes WHERE merged < deletions ORDER BY no "
        "LIMIT 1"
    ).fetchone()
    if row is None:
        return Outcome()
    no, deletions, merging = row
    table, before = _table(no), db.total_changes
    db.execute(
        f"INSERT INTO {table}({table}, rank) VALUES ('merge', ?)",
        (-MERGED_PAGES if merging < deletions else MERGED_PAGES,),
    )
    # the index's own documentation: fewer than two changes is none
    whole = db.total_changes - before < 2
    db.execute(
        "UPDATE word_indexes SET merging = ?, merged = iif(?, ?, merged) WHERE no = ?",
        (deletions, whole, deletions, no),
    )
    return Outcome(
        count=db.execute("SELECT count(*) FROM word_indexes WHERE merged < deletions").fetchone()[0]
    )


def index_again(db: sqlite3.Connection) -> None:
    """Make every workspace's index from its passages: for a database that had one index for all."""
    for (workspace,) in db.execute("SELECT DISTINCT workspace FROM items").fetchall():
        db.execute(
            f"INSERT INTO {_made(db, workspace)}(rowid, heading, text) SELECT p.no, p.heading, "
            "p.text FROM passages p"
            " JOIN items i ON i.no = p.item WHERE i.workspace = ?",
            (workspace,),
        )


def _made(db: sqlite3.Connection, workspace: str) -> str:
    """The table that is the workspace's index, made where there is none."""
    found = word_index(db, workspace)
    if found is not None:
        return found
    made = _table(
        db.execute(
            "INSERT INTO word_indexes(workspace, deletions, merging, merged) VALUES (?, 0, 0, 0)",
            (workspace,),
        ).lastrowid
    )
    db.execute(
        f"CREATE VIRTUAL TABLE {made} USING fts5(heading, text, content='', tokenize='porter "
        "unicode61')"
    )
    return made


def _table(no: int | None) -> str:
    return f"passages_text_{no or 0:d}"
