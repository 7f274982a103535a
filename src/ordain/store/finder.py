"""How a question is answered: by vectors, or by words where it asks for letters or where there are
no vectors.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.moments import DAY_US
from ordain.errors import Transient
from ordain.ports.library import Embedder, Found, Fragment, ItemKind, LibrarySearch, Method
from ordain.store.library_reads import (
    ALL,
    Words,
    count_attached,
    count_lacking,
    count_passages,
    document_number,
    find_by_words,
    has_older,
    read_beginnings,
    read_fragments,
    unkept,
    user_asking,
    withheld,
)
from ordain.store.text_query import TextQuery, any_of, of_literals, read_question, telling
from ordain.store.word_index import count_words

CANDIDATES = 4
"""How many times the wanted passages are taken, because of a note only the best passage counts."""

WEIGHED = 20_000
"""Passages that are weighed for a question: where its words find more, the commonest are left out,
and of a single one the newest count. About 20 ms.
"""

SCORE_MIN = 0.1
"""Least cosine of a passage that is given; most unrelated texts lie below 0.2, and so do a few that
answer the question.
"""

PARTLY, FEW = 10, 16
"""Where more than one of so many passages has no vector, and more than a few, words are looked up,
which all of them have.
"""

NO_EMBEDDER = "found by words: this process has no embedder (pip install 'ordain[recall]')"
UNREACHED = "found by words: the embedder's endpoint does not answer now"
UNKNOWN_WORDS = "found by words: the embedder makes nothing of the question"
NOTHING_EMBEDDED = (
    "found by words: nothing here has a vector of this embedder yet (ordain memory reindex)"
)

Hits = list[tuple[float, int, int]]
"""(score, passage, item), best first."""


class _Near(Struct, frozen=True, kw_only=True):
    """What is nearest, of how many passages that whoever asks may be given, and how many of these
    have no vector.
    """

    hits: Hits
    compared: int
    lacking: int


class Finder:
    """Finds passages on one connection, in one thread at a time."""

    def __init__(self, connection: sqlite3.Connection, now: Callable[[], int]) -> None:
        """Reads only; ``now`` in microseconds since 1970."""
        self._db = connection
        self._now = now
        self._index: Any = None
        self._absent = NO_EMBEDDER

    def find(self, search: LibrarySearch, embedder: Embedder | None, absent: str = "") -> Found:
        """Answer a question; inside a reading transaction. ``absent`` says why there is no
        embedder, where that is not for good.
        """
        self._absent = absent or NO_EMBEDDER
        return (
            self._attached(search, embedder) if search.attached else self._found(search, embedder)
        )

    def _attached(self, search: LibrarySearch, embedder: Embedder | None) -> Found:
        """What came with a message: all of it where that is little, else what each begins with and
        the nearest of the rest.
        """
        parts, of = read_beginnings(self._db, search), count_attached(self._db, search)
        method = Method.TEXT if embedder is None else Method.DENSE
        if sum(map(len, parts)) <= search.limit:
            return Found(
                method=method,
                fragments=read_fragments(self._db, search, [hit for part in parts for hit in part]),
                of=of,
            )
        first = max(1, search.limit // (4 * len(parts)))
        begin = read_fragments(self._db, search, [hit for part in parts for hit in part[:first]])
        seen = {(one.id, one.page, one.start) for one in begin}
        near: list[Fragment] = []
        notices: list[str] = []
        for name in search.attached:
            found = self._found(structs.replace(search, attached=(), document=name), embedder)
            near += (one for one in found.fragments if (one.id, one.page, one.start) not in seen)
            notices += filter(None, [found.notice])
        near.sort(key=lambda one: -one.score)
        told = "; ".join(
            dict.fromkeys(
                [
                    "the beginning of what is attached, and what of it is nearest to the question",
                    *notices,
                ]
            )
        )
        return Found(method=method, fragments=(*begin, *near)[: search.limit], notice=told, of=of)

    def _found(self, search: LibrarySearch, embedder: Embedder | None) -> Found:
        asked = read_question(search.query)
        notices: list[str] = []
        if asked.literals:
            hits = self._words(search, of_literals(asked), literals=asked.literals)
            if hits or asked.quoted:
                return self._told(
                    search,
                    Method.TEXT,
                    hits,
                    [] if hits else ["no text holds what stands in quotes, letter by letter"],
                )
            notices.append(f"no text holds {', '.join(asked.literals)[:200]}")
        if embedder is None:
            return self._by_words(search, asked, [*notices, self._absent])
        try:
            near = self._near(search, embedder)
        except Transient:
            return self._by_words(search, asked, [*notices, UNREACHED])
        if near is None:
            return self._by_words(search, asked, [*notices, UNKNOWN_WORDS])
        if near.lacking and not near.compared:
            return self._by_words(search, asked, [*notices, NOTHING_EMBEDDED])
        if near.lacking > max(FEW, (near.lacking + near.compared) // PARTLY):
            # while they get theirs, which takes minutes: what is asked for may be among them
            told = f"found by words: {near.lacking} passages have no vector of this embedder yet"
            worded = self._by_words(search, asked, [*notices, told])
            if worded.fragments:
                return worded
        if near.lacking:
            notices.append(
                f"{near.lacking} passages have no vector yet and were not compared (ordain memory "
                "reindex)"
            )
        return self._told(search, Method.DENSE, near.hits, notices)

    def _by_words(self, search: LibrarySearch, asked: TextQuery, notices: Sequence[str]) -> Found:
        counts = count_words(self._db, search.workspace, asked.words, WEIGHED + 1)
        words = telling(asked.words, counts, WEIGHED)
        hits = self._words(search, any_of(words), most=WEIGHED) if words else []
        if not hits and sum(counts) > WEIGHED:
            # what is common elsewhere may be all that is asked for here
            return self._told(
                search, Method.TEXT, self._words(search, any_of(asked.words)), notices
            )
        if left := [word for word in asked.words if word not in words]:
            notices = [
                *notices,
                f"not looked up, because so many texts hold them: {', '.join(left)[:200]}",
            ]
        return self._told(search, Method.TEXT, hits, notices)

    def _since(self, search: LibrarySearch) -> int:
        return self._now() - search.days * DAY_US if search.days else 0

    def _words(
        self,
        search: LibrarySearch,
        expression: str,
        literals: tuple[str, ...] = (),
        most: int = ALL,
    ) -> Hits:
        wanted = Words(
            expression=expression,
            literals=literals,
            since=self._since(search),
            limit=search.limit * CANDIDATES,
            most=most,
        )
        return find_by_words(self._db, search, wanted)

    def _near(self, search: LibrarySearch, embedder: Embedder) -> _Near | None:
        from ordain.store.vector_index import (
            VectorFilter,
            VectorIndex,
        )  # lazy: numpy, of the extra recall, which an embedder brings

        if self._index is None or self._index.embedder != embedder.name:
            self._index = VectorIndex(self._db, embedder.name, embedder.dimension)
        index: VectorIndex = self._index
        wanted = VectorFilter(
            workspace=search.workspace,
            kinds=search.kinds,
            since=self._since(search),
            item=document_number(self._db, search),
            unkept=unkept(self._db),
            session=search.session,
            user=user_asking(self._db, search),
        )
        (vector,) = embedder.embed([search.query])
        if not any(vector):
            return None
        found = index.nearest(
            vector,
            wanted,
            search.limit * CANDIDATES,
            lambda items: withheld(self._db, search, items),
        )
        whole = count_passages(self._db, search.workspace) <= found.stored
        lacking = 0 if whole else count_lacking(self._db, search, embedder.name, wanted.since)
        return _Near(
            hits=[hit for hit in found.hits if hit[0] >= SCORE_MIN],
            compared=found.count,
            lacking=lacking,
        )

    def _told(
        self, search: LibrarySearch, method: Method, hits: Hits, notices: Sequence[str]
    ) -> Found:
        """The best passages, of a note or an entry only the best one."""
        fragments, seen = list[Fragment](), set[str]()
        for fragment in read_fragments(self._db, search, hits):
            if fragment.id not in seen or fragment.kind is ItemKind.DOCUMENT:
                fragments.append(fragment)
            seen.add(fragment.id)
        if search.days and (not fragments or has_older(self._db, search, self._since(search))):
            notices = [
                *notices,
                f"only the last {search.days} days were searched; time_window_days 0 searches all",
            ]
        return Found(
            method=method, fragments=tuple(fragments[: search.limit]), notice="; ".join(notices)
        )
