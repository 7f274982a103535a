"""Reading the library on one connection: items, passages, and the passages that words find."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.verbs import Trust
from ordain.ports.library import (
    Fragment,
    Item,
    ItemKind,
    LibrarySearch,
    Passage,
    SourceContent,
    Theme,
)
from ordain.store.id_parts import named_by
from ordain.store.senders import of_run, sender
from ordain.store.text_query import holds
from ordain.store.word_index import word_index

EXCERPT_CHARS = 300
ALL = -1
"""Every hit is weighed."""
LITERAL_CANDIDATES = 8
"""How many times the wanted passages are taken from the text index, which knows word stems only, to
be held against the letters.
"""

_ITEM = (
    "SELECT i.no, i.id, i.kind, i.title, i.theme, i.mood, i.tags, i.media_type, i.trust, "
    "i.author, i.source, i.session, i.run, i.size,"
    " i.pages, i.passages, i.created_at, coalesce((SELECT substr(p.text, 1, ?) FROM passages p "
    "WHERE p.item = i.no AND p.seq = 0), '')"
    " FROM items i WHERE i.workspace = ? AND i.state = 'kept'"
)
_FRAGMENT = (
    "SELECT p.no, i.id, p.text, i.title, p.heading, p.page, p.start, p.stop, i.source, i.kind, "
    "i.created_at, i.trust, i.author"
    " FROM passages p JOIN items i ON i.no = p.item WHERE i.state = 'kept' AND p.no IN ({})"
)
OWNER = (
    "CASE WHEN i.author <> '' THEN iif(i.trust = 'own', i.author, NULL) WHEN i.session = '' THEN "
    f"'' ELSE nullif({of_run('i.run', 'i.workspace')}, '') END"
)
"""Whose an item is that is no document: theirs who said it themselves, '' (everybody's) where
nobody's name stands at it, of an entry that a run wrote theirs whose message that served. NULL,
nobody's: a note that somebody else says is theirs (``member``), and an entry of a session of whose
sender nobody knows.
"""
_GIVEN = (
    "iif(i.kind = 'document', ? IS NULL OR i.session IN ('', ?), ? IS NULL OR "
    f"coalesce({OWNER} IN ('', ?), 0))"
)
"""Whether an item may be given; twice the session that is asked in, NULL for all of them, and twice
the user, NULL for everybody: a document that came with no message, or with one of that session, and
what is everybody's or theirs.
"""
_THEMES = (
    "SELECT i.created_at, i.theme FROM items i WHERE i.workspace = ? AND i.state = 'kept' AND "
    "i.theme <> '' AND {} ORDER BY i.no DESC LIMIT ?"
)
_WITHHELD = "SELECT i.no FROM items i WHERE i.no IN ({}) AND NOT {}"
_FIRST = (
    "SELECT i.created_at FROM items i WHERE i.workspace = ? AND i.kind = ? AND i.state = 'kept' "
    "AND {} ORDER BY i.no LIMIT 1"
)
_BEGINNING = (
    "SELECT p.no, i.no FROM items i JOIN passages p ON p.item = i.no WHERE i.workspace = ? AND "
    "i.id = ? AND i.state = 'kept' AND {}"
    " ORDER BY p.seq LIMIT ?"
)
_ATTACHED = (
    "SELECT coalesce(sum(i.passages), 0) FROM items i WHERE i.workspace = ? AND i.state = 'kept' "
    "AND i.id IN ({}) AND {}"
)
_WORDS = (
    "SELECT p.no, p.item, found.score, p.heading || char(10) || p.text"
    " FROM (SELECT rowid AS no, -bm25({words}) AS score FROM {words} WHERE {words} MATCH ? ORDER "
    "BY rowid DESC LIMIT ?) found"
    " JOIN passages p ON p.no = found.no JOIN items i ON i.no = p.item"
    " WHERE i.workspace = ? AND i.state = 'kept' AND i.created_at >= ? AND i.kind IN ({kinds}) "
    "AND (? IS NULL OR i.no = ?)"
    " AND {given} ORDER BY found.score DESC, p.no LIMIT ?"
)
NO_VECTOR = "(v.no IS NULL OR v.vector = zeroblob(length(v.vector)))"
"""That a passage has none; one of zeros, as builds before stored, points nowhere."""
_LACKING = (
    "SELECT count(*) FROM items i JOIN passages p ON p.item = i.no LEFT JOIN vectors v ON "
    "v.passage = p.no AND v.embedder = ?"
    " WHERE {bare} AND i.workspace = ? AND i.state = 'kept' AND i.created_at >= ?"
    " AND i.kind IN ({kinds}) AND (? IS NULL OR i.no = ?) AND {given}"
)
_BARE = (
    "SELECT p.no, p.heading || char(10) || p.text FROM passages p JOIN items i ON i.no = p.item"
    " LEFT JOIN vectors v ON v.passage = p.no AND v.embedder = ? WHERE {bare} AND p.no > ? AND (? "
    "IS NULL OR i.workspace = ?)"
    " AND i.state IN ('kept', 'staged') ORDER BY p.no LIMIT ?"
)


class ItemsAsked(Struct, frozen=True, kw_only=True):
    """What ``Library.items`` is asked for."""

    workspace: str
    kinds: Sequence[ItemKind]
    limit: int
    before: int | None = None
    named: str = ""
    of: SourceContent | None = None


def read_items(db: sqlite3.Connection, asked: ItemsAsked) -> list[Item]:
    """See ``Library.items``."""
    condition, parts = named_by(asked.named, "i.id")
    content = () if asked.of is None else (asked.of.digest, asked.of.source)
    holds_it = " AND i.digest = ? AND i.digest <> '' AND i.source = ?" if content else ""
    where = (
        f"{_ITEM} AND i.kind IN ({_marks(asked.kinds)}) AND {condition}{holds_it} AND (? IS NULL "
        "OR i.no < ?) ORDER BY i.no DESC LIMIT ?"
    )
    given = (
        EXCERPT_CHARS,
        asked.workspace,
        *asked.kinds,
        *parts,
        *content,
        asked.before,
        asked.before,
        asked.limit,
    )
    return [_item(row) for row in db.execute(where, given)]


def read_item(
    db: sqlite3.Connection, workspace: str, item: str
) -> tuple[Item, list[Passage]] | None:
    """See ``Library.item``."""
    row = db.execute(f"{_ITEM} AND i.id = ?", (EXCERPT_CHARS, workspace, item)).fetchone()
    if row is None:
        return None
    rows = db.execute(
        "SELECT seq, text, heading, page, start, stop FROM passages WHERE item = ? ORDER BY seq",
        (row[0],),
    )
    return _item(row), [
        Passage(seq=s, text=t, heading=h, page=p, start=a, stop=b) for s, t, h, p, a, b in rows
    ]


def _item(row: tuple[Any, ...]) -> Item:
    return Item(
        no=row[0],
        id=row[1],
        kind=ItemKind(row[2]),
        title=row[3],
        theme=row[4],
        mood=row[5],
        tags=msgspec.json.decode(row[6], type=tuple[str, ...]),
        media_type=row[7],
        trust=Trust(row[8]),
        author=row[9],
        source=row[10],
        session=row[11],
        run=row[12],
        size=row[13],
        pages=row[14],
        passages=row[15],
        created_at=row[16],
        excerpt=row[17],
    )


def read_themes(db: sqlite3.Connection, workspace: str, limit: int, run: str | None) -> list[Theme]:
    """See ``Library.themes``."""
    user = None if run is None else sender(db, workspace, run)
    whom = (None, None, user, user)  # a document has no theme
    rows = db.execute(
        _THEMES.format(_GIVEN),
        (workspace, *whom, limit),
    ).fetchall()
    return [Theme(at=at, theme=theme) for at, theme in reversed(rows)]


class Words(Struct, frozen=True, kw_only=True):
    """What is asked of a text index: its expression, texts that have to stand there letter by
    letter, and how many of the newest hits are weighed.
    """

    expression: str
    literals: tuple[str, ...]
    since: int
    limit: int
    most: int


def find_by_words(
    db: sqlite3.Connection, search: LibrarySearch, asked: Words
) -> list[tuple[float, int, int]]:
    """Passages that the workspace's text index finds, as (score, passage, item), best first; with
    ``literals`` only those that hold them.
    """
    words = word_index(db, search.workspace)
    if words is None:
        return []
    item = document_number(db, search)
    taken = asked.limit * (LITERAL_CANDIDATES if asked.literals else 1)
    given = (
        asked.expression,
        asked.most,
        search.workspace,
        asked.since,
        *search.kinds,
        item,
        item,
        *_whom(db, search),
        taken,
    )
    rows = db.execute(
        _WORDS.format(words=words, given=_GIVEN, kinds=_marks(search.kinds)), given
    ).fetchall()
    literals = asked.literals
    return [
        (score, passage, owner)
        for passage, owner, score, text in rows
        if not literals or holds(text, literals)
    ][: asked.limit]


def document_number(db: sqlite3.Connection, search: LibrarySearch) -> int | None:
    """The row number of the item that a search is limited to, -1 where there is no such; None where
    it is limited to none.
    """
    if not search.document:
        return None
    row = db.execute(
        "SELECT no FROM items WHERE workspace = ? AND id = ? AND state = 'kept'",
        (search.workspace, search.document),
    ).fetchone()
    return -1 if row is None else int(row[0])


def read_fragments(
    db: sqlite3.Connection, search: LibrarySearch, found: Sequence[tuple[float, int, int]]
) -> tuple[Fragment, ...]:
    """The passages with their items, in the order in which they were found."""
    user = _user(db, search)
    numbers = [passage for _, passage, _ in found]
    rows = {row[0]: row[1:] for row in db.execute(_FRAGMENT.format(_marks(numbers)), numbers)}
    return tuple(
        _fragment(rows[passage], score, user) for score, passage, _ in found if passage in rows
    )


def read_beginnings(
    db: sqlite3.Connection, search: LibrarySearch
) -> list[list[tuple[float, int, int]]]:
    """The passages of each attached item that whoever asks may be given, in their order; ``limit``
    of each at most, and one more where there are more.
    """
    statement = _BEGINNING.format(_GIVEN)
    return [
        [
            (1.0, passage, item)
            for passage, item in db.execute(
                statement, (search.workspace, name, *_whom(db, search), search.limit + 1)
            )
        ]
        for name in search.attached
    ]


def count_attached(db: sqlite3.Connection, search: LibrarySearch) -> int:
    """How many passages the attached items have that whoever asks may be given."""
    statement = _ATTACHED.format(_marks(search.attached), _GIVEN)
    return int(
        db.execute(statement, (search.workspace, *search.attached, *_whom(db, search))).fetchone()[
            0
        ]
    )


def withheld(db: sqlite3.Connection, search: LibrarySearch, items: Collection[int]) -> set[int]:
    """Those of the items that whoever asks is not given."""
    rows = db.execute(_WITHHELD.format(_marks(items), _GIVEN), (*items, *_whom(db, search)))
    return {row[0] for row in rows}


def user_asking(db: sqlite3.Connection, search: LibrarySearch) -> str | None:
    """Whose search it is; None where everybody's notes are searched."""
    return _user(db, search) if search.personal else None


def _whom(db: sqlite3.Connection, search: LibrarySearch) -> tuple[str | None, ...]:
    user = user_asking(db, search)
    return (search.session, search.session, user, user)


def _user(db: sqlite3.Connection, search: LibrarySearch) -> str:
    if search.user or not search.run:
        return search.user
    return sender(db, search.workspace, search.run)


def _fragment(row: tuple[Any, ...], score: float, user: str) -> Fragment:
    trust, author = Trust(row[10]), row[11]
    return Fragment(
        id=row[0],
        text=row[1],
        title=row[2],
        heading=row[3],
        page=row[4],
        start=row[5],
        stop=row[6],
        source=row[7],
        kind=ItemKind(row[8]),
        score=round(score, 4),
        created_at=row[9],
        trust=Trust.MEMBER if trust is Trust.OWN and not (author and author == user) else trust,
        author=author,
    )


def read_bare(
    db: sqlite3.Connection, workspace: str | None, embedder: str, after: int, limit: int
) -> list[tuple[int, str]]:
    """Passages after one that have no vector of this embedder, with what is embedded of them."""
    return db.execute(
        _BARE.format(bare=NO_VECTOR), (embedder, after, workspace, workspace, limit)
    ).fetchall()


def count_passages(db: sqlite3.Connection, workspace: str | None) -> int:
    """How many passages are kept."""
    return db.execute(
        "SELECT coalesce(sum(passages), 0) FROM library WHERE ? IS NULL OR workspace = ?",
        (workspace, workspace),
    ).fetchone()[0]


def count_lacking(db: sqlite3.Connection, search: LibrarySearch, embedder: str, since: int) -> int:
    """How many passages that a search is about, and whoever asks may be given, have no vector of
    this embedder.
    """
    item = document_number(db, search)
    given = (embedder, search.workspace, since, *search.kinds, item, item, *_whom(db, search))
    return int(
        db.execute(
            _LACKING.format(bare=NO_VECTOR, given=_GIVEN, kinds=_marks(search.kinds)), given
        ).fetchone()[0]
    )


def has_older(db: sqlite3.Connection, search: LibrarySearch, since: int) -> bool:
    """Whether something of these kinds was added before; told by the first of each kind, for items
    are numbered as they are added.
    """
    first = _FIRST.format(_GIVEN)
    found = (
        db.execute(first, (search.workspace, kind, *_whom(db, search))).fetchone()
        for kind in search.kinds
    )
    return any(row is not None and row[0] < since for row in found)


def unkept(db: sqlite3.Connection) -> list[int]:
    """Items that have passages and are not, or no longer, kept."""
    return [
        row[0]
        for row in db.execute("SELECT no FROM items WHERE state = 'removed' OR state = 'staged'")
    ]


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))
