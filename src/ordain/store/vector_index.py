"""Nearest vectors by comparing all of them, over matrices that are kept in memory and only grow by
what is new. Needs numpy (extra ``recall``).

100,000 vectors of 256 numbers are 100 MB; what is over the budget is read from the database block
by block instead. One thread uses an index.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ordain.ports.library import ItemKind
from ordain.store.library_reads import OWNER

BUDGET_BYTES = 512 * 1024 * 1024
"""Most memory of all matrices together."""

BLOCK = 8192
"""Vectors that are read at once."""

_ROWS = (
    f"SELECT v.no, v.passage, i.no, i.kind, i.created_at, i.session, {OWNER}, v.vector FROM vectors "  # noqa: S608 - constants
    "v JOIN passages p ON p.no = v.passage"
    " JOIN items i ON i.no = p.item WHERE v.workspace = ? AND v.embedder = ? AND v.no > ? ORDER "
    "BY v.no"
)
_WHOSE = f"SELECT i.no, i.session, {OWNER} FROM items i WHERE i.no IN "  # noqa: S608 - constants
_KINDS = {str(kind): code for code, kind in enumerate(ItemKind)}
_DOCUMENT = _KINDS[ItemKind.DOCUMENT]
FACTS = 7
EVERYBODY, NOBODY, UNKNOWN = 0, -1, -2
"""Codes of names: of '', of none, and of one that no item has."""
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class VectorFilter(Struct, frozen=True, kw_only=True):
    """Whose vectors count: of these kinds, not older than ``since``, of one item where it is named,
    of none of ``unkept``; documents of ``session`` or none, and what else is ``user``'s or
    everybody's, unless these are None.
    """

    workspace: str
    kinds: tuple[ItemKind, ...]
    since: int = 0
    item: int | None = None
    unkept: list[int] = msgspec.field(default_factory=list[int])
    session: str | None = None
    user: str | None = None


class NearestVectors(Struct, frozen=True, kw_only=True):
    """The nearest as (score, passage, item), best first; how many vectors were compared, and how
    many of what is kept there are, whoever may be given it.
    """

    hits: list[tuple[float, int, int]]
    count: int
    stored: int


@dataclass(slots=True)
class _Block:
    """Vectors, a row each, and what is known of each, a column each: number, passage, item, kind,
    created, and by their codes session and owner.
    """

    vectors: Floats
    facts: Ints

    def nearest(
        self, query: Floats, wanted: VectorFilter, whom: _Whom, limit: int
    ) -> NearestVectors:
        """The best rows, in no order."""
        _, passages, items, kinds, created, sessions, owners = self.facts
        kept = ~np.isin(items, wanted.unkept) if wanted.unkept else np.ones(len(items), np.bool_)
        given = kept.copy()
        if set(wanted.kinds) < set(ItemKind):
            given &= _OF_KIND[wanted.kinds][kinds]
        if wanted.since:
            given &= created >= wanted.since
        if wanted.item is not None:
            given &= items == wanted.item
        documents = kinds == _DOCUMENT
        if whom.session is not None:
            given &= ~documents | (sessions == EVERYBODY) | (sessions == whom.session)
        if whom.user is not None:
            given &= documents | (owners == EVERYBODY) | (owners == whom.user)
        rows = np.flatnonzero(given)
        # most of what is kept may be other people's: to take out a few rows is less than to weigh
        # all of them
        few = 2 * len(rows) < len(given)
        scores = self.vectors[rows] @ query if few else (self.vectors @ query)[rows]
        best = (
            np.argpartition(scores, -limit)[-limit:]
            if len(scores) > limit
            else np.arange(len(scores))
        )
        hits = [
            (float(scores[at]), int(passages[row]), int(items[row]))
            for at, row in zip(best, rows[best], strict=True)
        ]
        return NearestVectors(hits=hits, count=len(rows), stored=int(kept.sum()))


class _Whom(Struct, frozen=True):
    """Whoever asks, by the codes of session and user; None: all of them."""

    session: int | None
    user: int | None


class _Names(dict[str | None, int]):
    """Codes of names, in the order in which they are met."""

    def __missing__(self, name: str) -> int:
        self[name] = code = len(self) - 1  # nobody is among them, whose code is less than any
        return code

    def asked(self, name: str | None) -> int | None:
        """Of a name that is asked for; None for all of them."""
        return None if name is None else self.get(name, UNKNOWN)


class _OfKinds(dict[tuple[ItemKind, ...], NDArray[np.bool_]]):
    """By kinds, which codes are among them; the last code is none of ours."""

    def __missing__(self, kinds: tuple[ItemKind, ...]) -> NDArray[np.bool_]:
        self[kinds] = made = np.array([kind in kinds for kind in ItemKind] + [False])
        return made


_OF_KIND = _OfKinds()


@dataclass(slots=True)
class _Matrix:
    """A workspace's vectors in memory, with room to grow."""

    room: _Block
    count: int = 0
    removals: int = 0

    @property
    def block(self) -> _Block:
        """The part that is filled."""
        return _Block(self.room.vectors[: self.count], self.room.facts[:, : self.count])

    @property
    def last(self) -> int:
        """The number of the newest vector."""
        return int(self.room.facts[0, self.count - 1]) if self.count else 0

    def add(self, block: _Block) -> None:
        """Append, in place where there is room."""
        needed = self.count + len(block.vectors)
        if needed > len(self.room.vectors):
            room, old = _empty(max(needed, needed * 5 // 4), self.room.vectors.shape[1]), self.block
            room.vectors[: self.count], room.facts[:, : self.count] = old.vectors, old.facts
            self.room = room
        self.room.vectors[self.count : needed], self.room.facts[:, self.count : needed] = (
            block.vectors,
            block.facts,
        )
        self.count = needed

    def keep(self, numbers: Ints) -> None:
        """Drop what has none of these numbers."""
        kept = np.isin(self.block.facts[0], numbers)
        still = int(kept.sum())
        self.room.vectors[:still], self.room.facts[:, :still] = (
            self.block.vectors[kept],
            self.block.facts[:, kept],
        )
        self.count = still


def _empty(rows: int, dimension: int) -> _Block:
    return _Block(np.empty((rows, dimension), np.float32), np.empty((FACTS, rows), np.int64))


@dataclass(slots=True)
class VectorIndex:
    """The vectors of one embedder, by workspace."""

    connection: sqlite3.Connection
    embedder: str
    dimension: int
    budget_bytes: int = BUDGET_BYTES
    _matrices: OrderedDict[str, _Matrix] = field(default_factory=OrderedDict[str, _Matrix])
    _names: _Names = field(default_factory=lambda: _Names({None: NOBODY, "": EVERYBODY}))

    def nearest(
        self,
        query: bytes,
        wanted: VectorFilter,
        limit: int,
        withheld: Callable[[Collection[int]], Collection[int]],
    ) -> NearestVectors:
        """The nearest; inside a reading transaction. ``withheld`` says which of some items whoever
        asks is not given, as things stand: what the index has read of an item may be of before.
        """
        vector: Floats = np.frombuffer(query, np.float32)
        found = self._nearest(vector, wanted, limit)
        if refused := withheld({item for _, _, item in found.hits}):
            self._learn(wanted.workspace, refused)
            found = self._nearest(vector, wanted, limit)
            refused = withheld({item for _, _, item in found.hits})
        return msgspec.structs.replace(
            found, hits=[hit for hit in found.hits if hit[2] not in refused]
        )

    def _nearest(self, vector: Floats, wanted: VectorFilter, limit: int) -> NearestVectors:
        parts = [
            block.nearest(vector, wanted, self._whom(wanted), limit)
            for block in self._blocks(wanted.workspace)
        ]
        hits = sorted(
            (one for part in parts for one in part.hits), key=lambda one: (-one[0], one[1])
        )
        return NearestVectors(
            hits=hits[:limit],
            count=sum(part.count for part in parts),
            stored=sum(part.stored for part in parts),
        )

    def _whom(self, wanted: VectorFilter) -> _Whom:
        """By the codes of what has been read so far."""
        return _Whom(self._names.asked(wanted.session), self._names.asked(wanted.user))

    def _learn(self, workspace: str, items: Collection[int]) -> None:
        """Read anew whose these items are."""
        if (matrix := self._matrices.get(workspace)) is None:
            return
        facts = matrix.block.facts
        marks = ",".join("?" * len(items))
        for item, session, owner in self.connection.execute(f"{_WHOSE}({marks})", tuple(items)):
            rows = facts[2] == item
            facts[5, rows], facts[6, rows] = self._names[session], self._names[owner]

    def _blocks(self, workspace: str) -> Iterator[_Block]:
        """The workspace's vectors: its matrix, brought up to date, or blocks of the database where
        that would be too large.
        """
        row = self.connection.execute(
            "SELECT removals FROM library WHERE workspace = ?", (workspace,)
        ).fetchone()
        (stored,) = self.connection.execute(
            "SELECT count(*) FROM vectors WHERE workspace = ? AND embedder = ? AND no > ?",
            (
                workspace,
                self.embedder,
                self._matrices[workspace].last if workspace in self._matrices else 0,
            ),
        ).fetchone()
        matrix = self._matrices.get(workspace)
        if not self._make_room(workspace, stored + (0 if matrix is None else matrix.count)):
            yield from self._read(workspace, 0)
            return
        if matrix is None:
            matrix = self._matrices[workspace] = _Matrix(
                _empty(stored + stored // 8 + BLOCK, self.dimension)
            )
        self._matrices.move_to_end(workspace)
        removals = 0 if row is None else int(row[0])
        if removals != matrix.removals:
            live = self.connection.execute(
                "SELECT no FROM vectors WHERE workspace = ? AND embedder = ?",
                (workspace, self.embedder),
            )
            matrix.keep(np.fromiter((one[0] for one in live), np.int64))
            matrix.removals = removals
        if stored:
            for block in self._read(workspace, matrix.last):
                matrix.add(block)
        yield matrix.block

    def _make_room(self, workspace: str, rows: int) -> bool:
        """Whether the workspace's matrix fits into the budget; those used longest ago make room for
        it.
        """
        row_bytes = self.dimension * 4 + 8 * FACTS
        if rows * row_bytes > self.budget_bytes:
            self._matrices.pop(workspace, None)
            return False
        others = [name for name in self._matrices if name != workspace]
        while (
            others
            and (rows + sum(len(self._matrices[name].room.vectors) for name in others)) * row_bytes
            > self.budget_bytes
        ):
            del self._matrices[others.pop(0)]
        return True

    def _read(self, workspace: str, after: int) -> Iterator[_Block]:
        rows = self.connection.execute(_ROWS, (workspace, self.embedder, after))
        while batch := rows.fetchmany(BLOCK):
            yield self._block(batch)

    def _block(self, rows: list[tuple[Any, ...]]) -> _Block:
        """Rows as arrays; one whose vector is not of this dimension is none of this embedder's, and
        one of zeros, as builds before stored, none at all.
        """
        fitting = [row for row in rows if len(row[-1]) == 4 * self.dimension and any(row[-1])]
        vectors: Floats = np.frombuffer(b"".join(row[-1] for row in fitting), np.float32).reshape(
            len(fitting), self.dimension
        )
        names = self._names
        facts = (
            np.array(
                [
                    (number, passage, item, _KINDS.get(kind, -1), at, names[session], names[owner])
                    for number, passage, item, kind, at, session, owner, _ in fitting
                ],
                np.int64,
            )
            .reshape(len(fitting), FACTS)
            .T
        )
        return _Block(vectors, facts)
