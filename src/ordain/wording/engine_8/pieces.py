"""A message in pieces: what engine 1 takes for one phrase or one unknown word, with its sign; and
phrases of a list found among the words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from ordain.wording.cues import Cues
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import BY_NAME, Sign
from ordain.wording.table import Table

EarlierReading = Callable[[str], Cues]
"""The engine before: what a text, or a clause of it, is read as there."""
_ENDS: Final = frozenset((Sign.COMMA, Sign.STOPS, Sign.ASKS))
_NUMBER: Final = Sign.NUMBER.value


class SignedPiece(Struct, frozen=True, gc=False):
    """One piece: its words, folded, and the letter of its sign."""

    said: str
    sign: str


def pieces_of(parts: Sequence[tuple[str, str]]) -> tuple[SignedPiece, ...]:
    """The parts that an engine gives, each with its sign's letter; whatever begins with a figure is
    a number.
    """
    return tuple(
        [SignedPiece(said, _NUMBER if said[0].isdigit() else BY_NAME[name]) for said, name in parts]
    )


def signs_of(pieces: Sequence[SignedPiece]) -> str:
    """The shape."""
    return "".join([piece.sign for piece in pieces])


def clauses_of(pieces: Sequence[SignedPiece]) -> list[tuple[SignedPiece, ...]]:
    """The pieces between breaks; none of them empty."""
    found: list[list[SignedPiece]] = [[]]
    for piece in pieces:
        if piece.sign in _ENDS:
            found.append([])
        else:
            found[-1].append(piece)
    return [tuple(clause) for clause in found if clause]


def text_of(pieces: Sequence[SignedPiece]) -> str:
    """The words, to be read again."""
    return " ".join([piece.said for piece in pieces])


class ListedPhrases:
    """The phrases of one list of a table, compiled."""

    __slots__ = ("_begins", "_known", "_longest", "_said")

    def __init__(self, table: Table, *names: str) -> None:
        """Compile the lists of these names as one."""
        self._known = frozenset(
            key for name in names for phrase in table.lists.get(name, ()) for key in keys(phrase)
        )
        self._said = frozenset(map(" ".join, self._known))
        self._longest: dict[str, int] = {}
        for key in self._known:
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        self._begins = frozenset(self._longest)

    def __contains__(self, said: str) -> bool:
        """Whether the words of a piece are one of the phrases."""
        return said in self._said

    def named(self, pieces: Sequence[SignedPiece]) -> bool:
        """Whether the words of one of the pieces are one of the phrases."""
        return not self._said.isdisjoint([piece.said for piece in pieces])

    def size(self, found: Sequence[str], at: int) -> int:
        """How many tokens the longest phrase has that stands there; 0: none does."""
        if at >= len(found) or (longest := self._longest.get(found[at])) is None:
            return 0
        for size in range(min(longest, len(found) - at), 0, -1):
            if tuple(found[at : at + size]) in self._known:
                return size
        return 0

    def nowhere(self, found: Sequence[str]) -> bool:
        """Whether no token begins a phrase: most messages have none of most lists, and need no
        closer look.
        """
        return self._begins.isdisjoint(found)

    def among(self, found: Sequence[str]) -> bool:
        """Whether one stands anywhere among the tokens."""
        return not self.nowhere(found) and any(
            self.size(found, at) for at, token in enumerate(found) if token in self._begins
        )

    def without(self, found: Sequence[str], instead: str) -> list[str]:
        """The tokens with ``instead`` for each phrase; with nothing where that is empty."""
        if self.nowhere(found):
            return list(found)
        left: list[str] = []
        at = 0
        while at < len(found):
            size = self.size(found, at)
            left += ([instead] if instead else []) if size else [found[at]]
            at += size or 1
        return left
