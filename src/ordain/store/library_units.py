"""The library's operations inside the write transaction. Long work comes in several units, each
short; what is between two is in no search.

What is kept no longer is ``removed`` in one unit, for every reader at once and for good; ``purge``
and ``tidy`` then destroy it in as many as it takes, and go on after a crash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from ordain.contracts.access import TOKEN_PRINCIPAL
from ordain.ports.library import ItemKind
from ordain.ports.store import Outcome
from ordain.store.ledger import LedgerDraft
from ordain.store.ledger_library import linked, new_seal
from ordain.store.word_index import add_words, delete_words, tidy

PURGED = 200
"""Passages that one unit removes."""

PASSAGE_BYTES = 4096
"""What a passage counts for: its text, its vector, its words in the index."""

UNBOUNDED: Mapping[str, int] = {"workspace_bytes": 0, "token_bytes": 0}
"""What whoever names no bounds is held to."""

EVERY = "*"
"""In place of an item's id: each of them."""

_COLUMNS = (
    *(
        "workspace",
        "id",
        "kind",
        "title",
        "theme",
        "mood",
        "tags",
        "media_type",
        "trust",
        "author",
        "source",
        "run",
        "key",
        "digest",
    ),
    *("size", "pages", "created_at"),
)
_ADD = (
    f"INSERT INTO items({', '.join(_COLUMNS)}, state, session, subject, passages, seal, "  # noqa: S608 - constants of the module
    "words)"
    f" VALUES ({', '.join('?' * len(_COLUMNS))}, 'staged', ?, ?, 0, ?, x'')"
)
_UNFINISHED = (
    "FROM items WHERE (state = 'removed' OR state = 'staged') AND (state = 'removed' OR ? IN "
    "('*', id))"
)
"""The first condition is the index's own."""
_EMPTIED = (
    "UPDATE items SET state = 'removed', title = '', theme = '', mood = '', tags = '[]', author = "
    "'', source = '', session = '', digest = '',"
    " size = 0, pages = 0, passages = 0, seal = NULL, words = NULL, removed_at = ?, removed_by = ?"
)
_STILL_NAMED = "UPDATE items SET session = '' WHERE state = 'gone' AND session <> ''"
"""What is gone keeps no session's id; builds before left it."""
_EMPTY = f"{_EMPTIED} WHERE no = ?"
_OF_SUBJECT = "subject = ? AND state <> 'gone'"


def begin(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Stage an item; where it is there already, say which one it is. A key whose item was removed
    adds nothing again.

    A document is there already where the same content came of the same source: of another one it is
    another document. What an addition of the same key left when it was cut off is to be purged
    before (``staged``).
    """
    item = args["item"]
    workspace, key, digest = item["workspace"], item["key"], item["digest"]
    # as builds kept it that did not say who adds an entry
    alike = key.partition("/")[2] if item["kind"] == ItemKind.ENTRY else ""
    same = db.execute(
        "SELECT id FROM items WHERE workspace = ? AND key IN (?, ?) AND key <> '' AND state <> "
        "'staged'",
        (workspace, key, alike),
    ).fetchone()
    there = (
        same[0] if same is not None else _kept(db, workspace, digest, item["kind"], item["source"])
    )
    if there is not None:
        return Outcome(refused="same", item=there)
    if full := _full(db, item, args.get("passages", 0), args.get("bounds", UNBOUNDED)):
        return Outcome(refused=full)
    if db.execute(
        "SELECT 1 FROM items WHERE workspace = ? AND id = ? AND state = 'staged'",
        (workspace, item["id"]),
    ).fetchone():
        return Outcome(refused="staged")
    run = (
        db.execute("SELECT subject, session FROM runs WHERE id = ?", (item["run"],)).fetchone()
        if item["run"]
        else None
    )
    subject, session = run if run is not None else (None, None)
    cursor = db.execute(
        _ADD, (*(item[name] for name in _COLUMNS), session or "", subject, new_seal())
    )
    return Outcome(item=item["id"], seq=cursor.lastrowid or 0)


def _full(
    db: sqlite3.Connection, item: Mapping[str, Any], passages: int, bounds: Mapping[str, int]
) -> str:
    """Which bound so many passages more would break, "" where none; an older document of the same
    source goes, and what it holds with it.
    """
    workspace, (by, slash, _) = item["workspace"], item["key"].partition("/")
    if not (bounds["workspace_bytes"] or bounds["token_bytes"]):
        return ""
    older = list[tuple[int, str]]()
    if item["kind"] == ItemKind.DOCUMENT and item["source"]:
        older = db.execute(
            "SELECT passages, key FROM items WHERE workspace = ? AND source = ? AND kind = "
            "'document' AND state = 'kept'",
            (workspace, item["source"]),
        ).fetchall()
    row = db.execute("SELECT passages FROM library WHERE workspace = ?", (workspace,)).fetchone()
    used = (0 if row is None else row[0]) - sum(one for one, _ in older)
    if bounds["workspace_bytes"] and (used + passages) * PASSAGE_BYTES > bounds["workspace_bytes"]:
        return "workspace_full"
    if not (slash and by.startswith(TOKEN_PRINCIPAL) and bounds["token_bytes"]):
        return ""
    (theirs,) = db.execute(
        "SELECT coalesce(sum(passages), 0) FROM items WHERE workspace IN (SELECT workspace FROM "
        "library) AND key > ? AND key < ? AND state = 'kept'",
        (f"{by}/", f"{by}0"),  # what begins with the first: 0 comes after the slash
    ).fetchone()
    theirs -= sum(one for one, key in older if key.startswith(f"{by}/"))
    return "token_full" if (theirs + passages) * PASSAGE_BYTES > bounds["token_bytes"] else ""


def _kept(
    db: sqlite3.Connection, workspace: str, digest: str, kind: str, source: str
) -> str | None:
    """The id of what is kept with this content; of a document, from this source."""
    # the plus: beside an index of one kind it would be planned anew for each kind that is bound
    row = db.execute(
        "SELECT id FROM items WHERE workspace = ? AND digest = ? AND digest <> '' AND +kind = ? "
        "AND (kind <> 'document' OR source = ?)"
        " AND state = 'kept'",
        (workspace, digest, kind, source),
    ).fetchone()
    return None if row is None else row[0]


def fill(db: sqlite3.Connection, args: dict[str, Any], ledger: LedgerDraft) -> Outcome:
    """Store passages of a staged item, with their vectors where they have any.

    ``keep``: it is whole now, and an older document of the same source goes. Where the same content
    was kept since this one began, this one stays staged, for ``purge`` to leave neither passages
    nor key, and the other is said: of all that are added at once, one is kept.
    """
    row = db.execute(
        "SELECT no, workspace, kind, source, digest, key, seal, words FROM items WHERE no = ? AND "
        "state = 'staged'",
        (args["no"],),
    ).fetchone()
    if row is None:
        return Outcome(refused="gone")
    no, workspace, kind, source, digest, key, seal, words = row
    there = _kept(db, workspace, digest, kind, source) if args["keep"] else None
    if there is not None:
        return Outcome(refused="same", item=there)
    added, laid = list[tuple[int, str, str]](), list[tuple[object, ...]]()
    for seq, page, start, stop, heading, text, vector in args["passages"]:
        cursor = db.execute(
            "INSERT INTO passages(item, seq, page, start, stop, heading, text) VALUES "
            "(?,?,?,?,?,?,?)",
            (no, seq, page, start, stop, heading, text),
        )
        added.append((cursor.lastrowid or 0, heading, text))
        laid.append((cursor.lastrowid, seq, page, start, stop, heading, text))
        if vector is not None:
            _add_vector(db, workspace, args, cursor.lastrowid or 0, vector)
    add_words(db, workspace, added)
    db.execute("UPDATE items SET words = ? WHERE no = ?", (linked(seal, words, laid), no))
    replaced = 0
    if args["keep"]:
        (stored,) = db.execute("SELECT count(*) FROM passages WHERE item = ?", (no,)).fetchone()
        if full := _full(
            db,
            {"workspace": workspace, "kind": kind, "source": source, "key": key},
            stored,
            args.get("bounds", UNBOUNDED),
        ):
            return Outcome(refused=full)
        if kind == ItemKind.DOCUMENT and source:
            older = db.execute(
                "SELECT no, passages FROM items WHERE workspace = ? AND source = ? AND kind = "
                "'document' AND state = 'kept'",
                (workspace, source),
            ).fetchall()
            for one, passages in older:
                db.execute(_EMPTY, (args["at"], "replaced", one))
                ledger.remembered(one)
                _count(db, workspace, passages=-passages)
            replaced = len(older)
        db.execute("UPDATE items SET state = 'kept', passages = ? WHERE no = ?", (stored, no))
        ledger.remembered(no)
        _count(db, workspace, passages=stored)
    return Outcome(count=replaced)


def keep_attachment(
    db: sqlite3.Connection, ledger: LedgerDraft, name: tuple[str, str], session: str
) -> bool:
    """What is staged for a message, by workspace and id, is whole, and kept with the session as it
    stands: erased with its subject. Whether it was still staged.
    """
    workspace, item = name
    row = db.execute(
        "SELECT i.no, s.subject, (SELECT count(*) FROM passages p WHERE p.item = i.no) FROM items i"
        " JOIN sessions s ON s.workspace = i.workspace AND s.id = ? WHERE i.workspace = ? AND "
        "i.id = ? AND i.state = 'staged'",
        (session, workspace, item),
    ).fetchone()
    if row is None:
        return False
    no, subject, stored = row
    db.execute(
        "UPDATE items SET state = 'kept', session = ?, subject = ?, passages = ? WHERE no = ?",
        (session, subject, stored, no),
    )
    ledger.remembered(no)
    _count(db, workspace, passages=stored)
    return True


def _add_vector(
    db: sqlite3.Connection, workspace: str, args: dict[str, Any], passage: int, vector: bytes
) -> None:
    db.execute(
        "INSERT OR REPLACE INTO vectors(workspace, embedder, passage, dimension, vector) VALUES "
        "(?,?,?,?,?)",
        (workspace, args["embedder"], passage, args["dimension"], vector),
    )


def _count(db: sqlite3.Connection, workspace: str, *, passages: int = 0, removals: int = 0) -> None:
    db.execute(
        "INSERT INTO library VALUES (?, ?, ?) ON CONFLICT (workspace)"
        " DO UPDATE SET passages = passages + excluded.passages, removals = removals + "
        "excluded.removals",
        (workspace, passages, removals),
    )


def remove(db: sqlite3.Connection, args: dict[str, Any], ledger: LedgerDraft) -> Outcome:
    """An item is kept no longer: empty its row, leave its passages to ``purge``."""
    row = db.execute(
        "SELECT no, passages FROM items WHERE workspace = ? AND id = ? AND state = 'kept'",
        (args["workspace"], args["id"]),
    ).fetchone()
    if row is None:
        return Outcome(refused="not_found")
    db.execute(_EMPTY, (args["at"], args["by"], row[0]))
    ledger.remembered(row[0])
    _count(db, args["workspace"], passages=-row[1])
    return Outcome(seq=row[0])


def purge(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Delete passages of items that are not kept, at most ``PURGED``; ``count`` items are left that
    have some.

    ``staged``: also of the item of that id, whose addition was cut off; ``EVERY`` at a start, when
    nobody is adding.
    """
    left = PURGED
    for no, workspace, state in db.execute(
        f"SELECT no, workspace, state {_UNFINISHED} ORDER BY no LIMIT ?", (args["staged"], PURGED)
    ).fetchall():
        left -= _purge(db, no, workspace, left)
        if left <= 0:
            break
        db.execute(
            "DELETE FROM items WHERE no = ?"
            if state == "staged"
            else "UPDATE items SET state = 'gone' WHERE no = ?",
            (no,),
        )
    if args["staged"] == EVERY:
        db.execute(_STILL_NAMED)
    (count,) = db.execute(f"SELECT count(*) {_UNFINISHED}", (args["staged"],)).fetchone()
    return Outcome(count=count)


def _purge(db: sqlite3.Connection, item: int, workspace: str, most: int) -> int:
    """Delete at most so many passages of an item, their vectors, and their words from the index."""
    rows = db.execute(
        "SELECT no, heading, text FROM passages WHERE item = ? LIMIT ?", (item, most)
    ).fetchall()
    numbers = [(row[0],) for row in rows]
    db.executemany("DELETE FROM vectors WHERE passage = ?", numbers)
    db.executemany("DELETE FROM passages WHERE no = ?", numbers)
    if rows:
        delete_words(db, workspace, rows)
        _count(db, workspace, removals=1)
    return len(rows)


def vectors(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Store vectors of passages that are still there, instead of those of another embedder."""
    stored = 0
    for passage, vector in args["vectors"]:
        row = db.execute(
            "SELECT i.workspace FROM passages p JOIN items i ON i.no = p.item WHERE p.no = ?",
            (passage,),
        ).fetchone()
        if row is not None:
            _add_vector(db, row[0], args, passage, vector)
            stored += 1
    return Outcome(count=stored)


def erase_subject(db: sqlite3.Connection, ledger: LedgerDraft, subject: int, at: int) -> int:
    """What the subject's runs wrote into the library is kept no longer; part of ``erase``, one
    commit with everything else of the subject.
    """
    kept = db.execute(
        f"SELECT workspace, sum(iif(state = 'kept', passages, 0)) FROM items WHERE {_OF_SUBJECT} "  # noqa: S608 - constants
        "GROUP BY workspace",
        (subject,),
    ).fetchall()
    for workspace, passages in kept:
        _count(db, workspace, passages=-passages)
    ledger.remembered_of(subject)
    return db.execute(f"{_EMPTIED} WHERE {_OF_SUBJECT}", (at, "erased", subject)).rowcount


LIBRARY_OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "library_begin": begin,
    "library_purge": purge,
    "library_tidy": tidy,
    "library_vectors": vectors,
}
LIBRARY_COVERED: Mapping[
    str, Callable[[sqlite3.Connection, dict[str, Any], LedgerDraft], Outcome]
] = {
    "library_fill": fill,
    "library_remove": remove,
}
"""Those that change what the ledger says of what is remembered."""
