"""What takes a day or a place back that it names: a negation, an exception, a hedge, a proviso.

*Not tomorrow*, *anything but Friday* and *tomorrow? no* name a day, and not the one that is to be.
What is hedged or depends on something is no value yet. Where one day is negated another may be
named (*not Monday, Tuesday*): a clause that says nothing but when.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from ordain.wording.engine_1.folding import fold
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_8.contrasts import DENIALS
from ordain.wording.engine_8.pieces import ListedPhrases, SignedPiece
from ordain.wording.table import Table

EXCEPTIONS: Final = "exceptions"
HARMLESS: Final = "harmless"
OBSTACLES: Final = "obstacles"
PROVISOS: Final = "provisos"
WAVERINGS: Final = "waverings"
LISTS: Final = frozenset({EXCEPTIONS, HARMLESS, OBSTACLES, PROVISOS, WAVERINGS})
"""What excludes what it names (*except*, *anything but*); phrases with a no, an if or a maybe in them
that take nothing back (*no later than*, *if possible*); what says of a day that it cannot be
(*impossible*, *too late*); what a value depends on (*if*, *unless*); and what is not sure of it
(*maybe*, *I think*).
"""
_KNOWN: Final = "▣"
"""Stands for a phrase that takes nothing back."""
_ASKS: Final = Sign.ASKS.value
_WITH: Final = Sign.WITH.value
_BREAKS: Final = frozenset((Sign.COMMA, Sign.STOPS, Sign.ASKS))
_NEGATES: Final = frozenset((Sign.NOT, Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE))
_JOINS: Final = frozenset((Sign.BUT, Sign.NOT_BUT))
_TIMES: Final = frozenset((Sign.DATE, Sign.NUMBER, Sign.NOW))
_WHEN: Final = _TIMES | frozenset(
    (
        *(Sign.ONE, Sign.TWO, Sign.WITH, Sign.THE, Sign.IT, Sign.LETTER_A, Sign.PLEASE),
        *(Sign.RATHER, Sign.RATHER_ADJ, Sign.USE, Sign.CHANGE, Sign.CHOOSE, Sign.OKAY),
        *(Sign.OKAY_IF, Sign.THANKS, Sign.YES, Sign.BE, Sign.WORK, Sign.ACTUALLY, Sign.INSTEAD),
        *(Sign.GREETING, Sign.EMOJI, Sign.IMPATIENT, Sign.SI, Sign.I),
    )
)
"""What a clause consists of that says nothing but when."""


class _Clause(Struct, frozen=True, kw_only=True):
    """Part of a message between two breaks, or a *but*."""

    pieces: tuple[SignedPiece, ...]
    negated: bool
    asked: bool

    @property
    def timed(self) -> bool:
        return any(piece.sign in _TIMES for piece in self.pieces)

    @property
    def plain(self) -> bool:
        """Whether it says when, and nothing beside."""
        return (
            self.timed
            and not self.negated
            and not self.asked
            and all(piece.sign in _WHEN for piece in self.pieces)
        )


class Reserve:
    """The lists of one table, compiled."""

    __slots__ = (
        "_denials",
        "_exceptions",
        "_excluding",
        "_harmless",
        "_months",
        "_provisos",
        "_waverings",
    )

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._exceptions, self._harmless, self._provisos, self._waverings = (
            ListedPhrases(table, name) for name in (EXCEPTIONS, HARMLESS, PROVISOS, WAVERINGS)
        )
        self._excluding = ListedPhrases(table, EXCEPTIONS, OBSTACLES)
        self._denials = ListedPhrases(table, DENIALS)
        self._months = frozenset(map(fold, table.lists.get("months", ())))

    def may_take_back(self, look: Look) -> bool:
        """Whether a word of it wavers, makes a proviso, excludes or negates: most messages have
        none.
        """
        said = look.words
        return (
            not _NEGATES.isdisjoint(look.signs)
            or not self._denials.nowhere(said)
            or self._excluding.among(said)
            or self._waverings.among(said)
            or self._provisos.among(said)
            or not self._harmless.nowhere(said)
        )

    def takes_back(self, pieces: Sequence[SignedPiece]) -> bool:
        """Whether the value that is named is not meant, or not yet."""
        said = [word for piece in pieces for word in piece.said.split()]
        left = self._harmless.without(said, _KNOWN)
        if self._waverings.among(left) or self._provisos.among(left):
            return True
        if self._excluding.nowhere(said) and not any(map(self._negates, pieces)):
            return False  # as most messages: no clause of it is negated
        clauses = list(self._clauses(pieces, said))
        if not any(clause.negated for clause in clauses):
            return False
        plain = [at for at, clause in enumerate(clauses) if clause.plain]
        return not plain or any(
            clause.negated and not clause.timed and not (at < plain[0] and self._is_bare(clause))
            for at, clause in enumerate(clauses)
        )

    def takes_any_back(self, pieces: Sequence[SignedPiece]) -> bool:
        """The same of a place, beside which none is named that is to be."""
        said = [word for piece in pieces for word in piece.said.split()]
        left = self._harmless.without(said, _KNOWN)
        return any(
            listed.among(left) for listed in (self._waverings, self._provisos, self._exceptions)
        )

    def _clauses(self, pieces: Sequence[SignedPiece], said: Sequence[str]) -> Iterator[_Clause]:
        """The message in parts; of a phrase that takes nothing back no word negates."""
        harmless, excepts = self._places(self._harmless, said), self._places(self._excluding, said)
        excepts -= harmless
        found, negated, at = list[SignedPiece](), False, 0
        for piece in pieces:
            places = set(range(at, at + len(piece.said.split())))
            at += len(places)
            ends = piece.sign in _BREAKS
            if found and (ends or (piece.sign in _JOINS and not places & excepts)):
                asked = piece.sign == _ASKS
                yield _Clause(pieces=tuple(found), negated=negated, asked=asked)
                found, negated = [], False
                continue
            if places <= harmless:
                found.append(SignedPiece(piece.said, Sign.PLEASE))
                continue
            negated = negated or bool(places & excepts) or self._negates(piece)
            if not ends and (found or piece.sign not in _JOINS):
                found.append(piece)
        if found:
            yield _Clause(pieces=tuple(found), negated=negated, asked=False)

    def _negates(self, piece: SignedPiece) -> bool:
        """*Mai* is a month in one language and *never* in another; *not the* is one phrase."""
        if piece.sign == _WITH:
            return piece.said.partition(" ")[0] in self._denials
        return piece.sign in _NEGATES and piece.said not in self._months

    def _is_bare(self, clause: _Clause) -> bool:
        return all(piece.sign in _NEGATES | {Sign.PLEASE, Sign.THANKS} for piece in clause.pieces)

    def _places(self, listed: ListedPhrases, said: Sequence[str]) -> set[int]:
        found: set[int] = set()
        if listed.nowhere(said):
            return found
        at = 0
        while at < len(said):
            size = listed.size(said, at)
            found |= set(range(at, at + size))
            at += size or 1
        return found
