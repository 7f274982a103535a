"""Nearest vectors by comparing all of them, over matrices that are kept in memory and only grow by what is new. Needs numpy (extra ``recall``).

100,000 vectors of 256 numbers are 100 MB; what is over the budget is read from the database block by block instead. One thread uses an index.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ordain.ports.library import ItemKind

BUDGET_BYTES = 512 * 1024 * 1024
"""Most memory of all matrices together."""

BLOCK = 8192
"""Vectors that are read at once."""

_ROWS = (
    "SELECT v.no, v.passage, i.no, i.kind, i.created_at, v.vector FROM vectors v JOIN passages p ON p.no = v.passage"
    " JOIN items i ON i.no = p.item WHERE v.workspace = ? AND v.embedder = ? AND v.no > ? ORDER BY v.no"
)
_KINDS = {str(kind): code for code, kind in enumerate(ItemKind)}
Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Whose vectors count: of these kinds, not older than ``since``, of one item where it is named, of none of ``not_of``."""

    workspace: str
    kinds: Sequence[ItemKind]
    since: int = 0
    item: int | None = None
    not_of: Sequence[int] = ()


@dataclass(slots=True)
class _Block:
    """Rows of vectors and what is known of each: (number, passage, item, kind, created)."""

    vectors: Floats
    facts: Ints

    def nearest(self, query: Floats, wanted: Wanted, limit: int) -> list[tuple[float, int, int]]:
        """The best rows as (score, passage, item)."""
        facts = self.facts
        counts = np.isin(facts[:, 3], [_KINDS[kind] for kind in wanted.kinds]) & (facts[:, 4] >= wanted.since)
        if wanted.item is not None:
            counts &= facts[:, 2] == wanted.item
        if wanted.not_of:
            counts &= ~np.isin(facts[:, 2], list(wanted.not_of))
        scores = self.vectors @ query
        scores[~counts] = -np.inf
        best = np.argpartition(scores, -limit)[-limit:] if len(scores) > limit else np.arange(len(scores))
        return [(float(scores[row]), int(facts[row, 1]), int(facts[row, 2])) for row in best if scores[row] > -np.inf]


@dataclass(slots=True)
class _Matrix:
    """A workspace's vectors in memory, with room to grow."""

    room: _Block
    count: int = 0
    removals: int = 0

    @property
    def block(self) -> _Block:
        """The rows that are filled."""
        return _Block(self.room.vectors[: self.count], self.room.facts[: self.count])

    @property
    def last(self) -> int:
        """The number of the newest vector."""
        return int(self.room.facts[self.count - 1, 0]) if self.count else 0

    def add(self, block: _Block) -> None:
        """Append, in place where there is room."""
        needed = self.count + len(block.facts)
        if needed > len(self.room.facts):
            capacity = max(needed, len(self.room.facts) * 5 // 4)
            room = _Block(np.empty((capacity, self.room.vectors.shape[1]), np.float32), np.empty((capacity, 5), np.int64))
            room.vectors[: self.count], room.facts[: self.count] = self.room.vectors[: self.count], self.room.facts[: self.count]
            self.room = room
        self.room.vectors[self.count : needed], self.room.facts[self.count : needed] = block.vectors, block.facts
        self.count = needed

    def keep(self, numbers: Ints) -> None:
        """Drop the rows whose numbers are not among these."""
        kept = np.isin(self.room.facts[: self.count, 0], numbers)
        still = int(kept.sum())
        self.room.vectors[:still], self.room.facts[:still] = self.room.vectors[: self.count][kept], self.room.facts[: self.count][kept]
        self.count = still


@dataclass(slots=True)
class VectorIndex:
    """The vectors of one embedder, by workspace."""

    connection: sqlite3.Connection
    embedder: str
    dimension: int
    budget_bytes: int = BUDGET_BYTES
    _matrices: OrderedDict[str, _Matrix] = field(default_factory=OrderedDict[str, _Matrix])

    def nearest(self, query: bytes, wanted: Wanted, limit: int) -> tuple[list[tuple[float, int, int]], int]:
        """The nearest as (score, passage, item), best first, and how many vectors there are; inside a reading transaction."""
        vector: Floats = np.frombuffer(query, np.float32)
        found: list[tuple[float, int, int]] = []
        count = 0
        for block in self._blocks(wanted.workspace):
            found += block.nearest(vector, wanted, limit)
            count += len(block.facts) - int(np.isin(block.facts[:, 2], list(wanted.not_of)).sum() if wanted.not_of else 0)
        return sorted(found, key=lambda one: (-one[0], one[1]))[:limit], count

    def _blocks(self, workspace: str) -> Iterator[_Block]:
        """The workspace's vectors: its matrix, brought up to date, or blocks of the database where that would be too large."""
        row = self.connection.execute("SELECT removals FROM library WHERE workspace = ?", (workspace,)).fetchone()
        (stored,) = self.connection.execute(
            "SELECT count(*) FROM vectors WHERE workspace = ? AND embedder = ? AND no > ?",
            (workspace, self.embedder, self._matrices[workspace].last if workspace in self._matrices else 0),
        ).fetchone()
        matrix = self._matrices.get(workspace)
        if not self._make_room(workspace, stored + (0 if matrix is None else matrix.count)):
            yield from self._read(workspace, 0)
            return
        if matrix is None:
            empty = _Block(np.empty((stored, self.dimension), np.float32), np.empty((stored, 5), np.int64))
            matrix = self._matrices[workspace] = _Matrix(empty)
        self._matrices.move_to_end(workspace)
        removals = 0 if row is None else int(row[0])
        if removals != matrix.removals:
            live = self.connection.execute("SELECT no FROM vectors WHERE workspace = ? AND embedder = ?", (workspace, self.embedder))
            matrix.keep(np.fromiter((one[0] for one in live), np.int64))
            matrix.removals = removals
        if stored:
            for block in self._read(workspace, matrix.last):
                matrix.add(block)
        yield matrix.block

    def _make_room(self, workspace: str, rows: int) -> bool:
        """Whether the workspace's matrix fits into the budget; those used longest ago make room for it."""
        row_bytes = self.dimension * 4 + 40
        if rows * row_bytes > self.budget_bytes:
            self._matrices.pop(workspace, None)
            return False
        others = [name for name in self._matrices if name != workspace]
        while others and (rows + sum(len(self._matrices[name].room.facts) for name in others)) * row_bytes > self.budget_bytes:
            del self._matrices[others.pop(0)]
        return True

    def _read(self, workspace: str, after: int) -> Iterator[_Block]:
        rows = self.connection.execute(_ROWS, (workspace, self.embedder, after))
        while batch := rows.fetchmany(BLOCK):
            yield self._block(batch)

    def _block(self, rows: list[tuple[Any, ...]]) -> _Block:
        """Rows as arrays; one whose vector is not of this dimension is none of this embedder's."""
        fitting = [row for row in rows if len(row[5]) == 4 * self.dimension]
        vectors: Floats = np.frombuffer(b"".join(row[5] for row in fitting), np.float32).reshape(len(fitting), self.dimension)
        facts = np.array([(row[0], row[1], row[2], _KINDS.get(row[3], -1), row[4]) for row in fitting], np.int64).reshape(len(fitting), 5)
        return _Block(vectors, facts)
