"""The nearest vectors that somebody may be given: what the index keeps of each item says the same
as the statement that every other search asks, and where an item has changed that statement holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from itertools import product

import pytest

from ordain.ports.library import ItemKind, LibrarySearch
from ordain.store.finder import Finder
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.unit.store.many import looks

WORKSPACE, DIMENSION = "w", 4
SESSIONS, PEOPLE = ("", "s1", "s2"), ("", "ada", "bob")


class OneDirection:
    """An embedder to which everything means the same."""

    name, dimension = "one", DIMENSION

    def embed(self, texts: Collection[str]) -> list[bytes]:
        import numpy as np  # lazy: the extra recall

        return [np.full(DIMENSION, 0.5, np.float32).tobytes() for _ in texts]


@pytest.fixture
def db() -> sqlite3.Connection:
    """Notes and documents of every kind of author, trust and session; two runs of two senders."""
    made = SqliteStore(None, StoreOptions(holder="test", lock=False))._db
    (vector,) = OneDirection().embed(["x"])
    for number, user in ((1, "ada"), (2, "bob")):
        made.execute("INSERT INTO subjects VALUES (?, 'w', ?, x'00', NULL)", (number, f"u{number}"))
        made.execute(
            "INSERT INTO sessions VALUES (?, 'w', ?, ?, 1, 1, x'00', 1, 0, 'web', ?, 0, 0)",
            (number, f"s{number}", number, user),
        )
        made.execute(
            "INSERT INTO runs(no, id, parent_addr, child, root, workspace, session, subject, flow, "
            "flow_version, catalog, status, reason, epoch, head_seq, resumes, resumes_at, "
            "created_at) VALUES (?, ?, -1, 0, ?, 'w', ?, ?, 'f', 1, 'c', 'completed', 'ok', 1, 0, "
            "0, -1, 1)",
            (number, f"r{number}", number, f"s{number}", number),
        )
        made.execute(
            "INSERT INTO transcript(session, seq, kind, at, thread, run, channel, message_id, "
            "edits, timestamp_ms, attached, reason, anchor, size, through, author, subject, "
            "digest, chain) VALUES (?, 1, 'message', 1, 1, ?, 'web', 'm', '', 0, '', '', '', 1, 0, ?, ?, "
            "x'00', x'00')",
            (number, f"r{number}", user, number),
        )
    each = product(ItemKind, PEOPLE, ("own", "member"), SESSIONS, ("", "r1", "r2"))
    for number, (kind, author, trust, session, run) in enumerate(each, 1):
        made.execute(
            "INSERT INTO items(no, workspace, id, kind, state, title, theme, mood, tags, "
            "media_type, trust, author, source, session, run, key, digest, size, pages, passages, "
            "created_at) VALUES (?, 'w', ?, ?, 'kept', '', '', '', '[]', '', ?, ?, '', ?, ?, '', "
            "'', 1, 1, 1, 1)",
            (number, f"i{number}", str(kind), trust, author, session, run),
        )
        made.execute("INSERT INTO passages VALUES (?, ?, 0, 1, 0, 1, '', 'x')", (number, number))
        made.execute(
            "INSERT INTO vectors(workspace, embedder, passage, dimension, vector) VALUES ('w', "
            "'one', ?, ?, ?)",
            (number, DIMENSION, vector),
        )
    made.execute("INSERT OR REPLACE INTO library VALUES ('w', ?, 0)", (number,))
    return made


def asked(user: str | None, session: str | None) -> LibrarySearch:
    """A search of all kinds for more than there is."""
    return LibrarySearch(
        workspace=WORKSPACE,
        query="anything",
        kinds=tuple(ItemKind),
        limit=200,
        personal=user is not None,
        user=user or "",
        session=session,
    )


def given(db: sqlite3.Connection, user: str | None, session: str | None) -> set[int]:
    """What may be given, by what is said of it and not by the statement."""
    senders = dict(db.execute("SELECT run, author FROM transcript"))
    found = set[int]()
    for no, kind, author, trust, of, run in db.execute(
        "SELECT no, kind, author, trust, session, run FROM items"
    ):
        if kind == ItemKind.DOCUMENT:
            fits = session is None or of in ("", session)
        elif user is None:
            fits = True
        elif author:
            fits = author == user and trust == "own"
        else:
            fits = not of or (senders.get(run, "") != "" and senders[run] == user)
        found |= {no} if fits else set()
    return found


def nearest(finder: Finder, user: str | None, session: str | None) -> set[int]:
    """Which items a search gives."""
    found = finder.find(asked(user, session), OneDirection())
    return {int(one.id.removeprefix("i")) for one in found.fragments}


@pytest.mark.parametrize("user", [None, "ada", "bob", "carl"])
@pytest.mark.parametrize("session", [None, "s1", "nobody's"])
def test_the_index_gives_what_may_be_given(
    db: sqlite3.Connection, user: str | None, session: str | None
) -> None:
    """To everybody, to each sender, and to somebody of whom nothing is known."""
    assert nearest(Finder(db, lambda: 1), user, session) == given(db, user, session)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE transcript SET author = ''",
        "UPDATE items SET session = 's2' WHERE session = ''",
        "UPDATE items SET trust = 'member'",
    ],
)
def test_what_is_not_theirs_any_more_is_given_to_nobody(
    db: sqlite3.Connection, change: str
) -> None:
    """Though the index has read it as theirs: what was given before is asked for again."""
    finder = Finder(db, lambda: 1)
    for user in ("ada", "bob"):
        assert nearest(finder, user, "s1") == given(db, user, "s1")
    db.execute(change)
    for user in ("ada", "bob", "ada"):
        assert nearest(finder, user, "s1") == given(db, user, "s1")


async def test_no_more_is_looked_at_than_is_found(db: sqlite3.Connection) -> None:
    """Of however many items there are: each search went through all of the workspace's."""
    finder = Finder(db, lambda: 1)
    nearest(finder, "ada", "s1")

    async def search() -> None:
        finder.find(asked("ada", "s1"), OneDirection())

    found = [look for look in await looks(db, search()) if look.split()[1] in ("i", "items")]
    assert [look for look in found if "INTEGER PRIMARY KEY" not in look] == [
        "SCAN items USING INDEX items_unfinished"
    ]
