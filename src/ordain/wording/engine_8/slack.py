"""What has the words of an order and orders nothing: idioms, haste, earnest, a question whether
something is enough, and a stop that is put in doubt.

Each class is a list of the table and one way to look at it. All of them only take back what the
engine before read, and leave the message to be one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues
from ordain.wording.engine_1.folding import fold, tokens_of
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_8.pieces import (
    EarlierReading,
    ListedPhrases,
    SignedPiece,
    clauses_of,
    text_of,
)
from ordain.wording.table import Table

IDIOMS: Final = "idioms"
MANNERS: Final = "manners"
EARNEST: Final = "earnest"
SUFFICIENT: Final = "sufficient"
DOUBTS: Final = "doubts"
LISTS: Final = frozenset({IDIOMS, MANNERS, EARNEST, SUFFICIENT, DOUBTS})
"""Phrases with a word of an order that mean something else (*not so fast*, *halt mich*); how
something is done and not what (*make it quick*); what somebody means who corrects nothing (*I meant
it*); what asks, with a question mark, whether it is enough; and what makes a stop a thought
(*maybe*).
"""
CERTAIN: Final = 2
_UNKNOWN: Final = "qx"
_ASKS: Final = "?"
_ASKED: Final = (_ASKS,)
_BREAKS: Final = frozenset(",.!;:\n")
_PAD: Final = frozenset(
    (
        Sign.PLEASE,
        Sign.THANKS,
        Sign.OKAY,
        Sign.NOT,
        Sign.COMMA,
        Sign.STOPS,
        Sign.EMOJI,
        Sign.IMPATIENT,
        Sign.YOU,
        Sign.I,
    )
)
_MARKS: Final = frozenset((Sign.CHANGE, Sign.RATHER))


class Slack:
    """The lists of one table, compiled."""

    __slots__ = ("_doubts", "_earnest", "_idioms", "_manners", "_stops", "_sufficient")

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._idioms, self._manners, self._earnest, self._sufficient, self._doubts = (
            ListedPhrases(table, name) for name in (IDIOMS, MANNERS, EARNEST, SUFFICIENT, DOUBTS)
        )
        self._stops = frozenset(
            key
            for sign, phrases in table.phrases
            if sign == "stop"
            for phrase in phrases
            for key in keys(phrase)
        )

    def plain(self, look: Look) -> str:
        """The message with a word that nobody knows for each idiom, and for what asks whether it is
        enough; itself where there is none.
        """
        said = look.tokens if look.is_all else tokens_of(fold(look.text))
        if self._idioms.nowhere(said) and (said[-1:] != _ASKED or self._sufficient.nowhere(said)):
            return look.text
        left = self._masked(list(said))
        return look.text if left == list(said) else " ".join(left)

    def taken_back(
        self, found: Cues, other: Cues, pieces: Sequence[SignedPiece], read: EarlierReading
    ) -> Cues:
        """The cues of a message that ``orders`` without what only sounds like one; ``other`` are
        those of the plain message, ``pieces`` are its own. ``read`` is the engine before.
        """
        found = _at_most(found, other)
        if found.steer == CERTAIN and self._names_nothing(pieces):
            return structs.replace(found, steer=1)
        return (
            self._doubted(found, pieces, read)
            if max(found.stop, found.hold) and self.doubts(text_of(pieces).split())
            else found
        )

    def doubts(self, said: Sequence[str]) -> bool:
        """Whether one of its words makes a thought of what it orders."""
        return self._doubts.among(said)

    def _masked(self, said: list[str]) -> list[str]:
        left: list[str] = said if self._idioms.nowhere(said) else self._without_idioms(said)
        if not said or said[-1] != _ASKS or self._sufficient.nowhere(left):
            return left
        asked = [token[0] for token in said if token[0] in "?!."]
        return self._sufficient.without(left, _UNKNOWN) if asked == [_ASKS] else left

    def _without_idioms(self, said: list[str]) -> list[str]:
        left: list[str] = []
        at = 0
        last = next((token for token in reversed(said) if token[0] not in _BREAKS), "")
        while at < len(said):
            size = self._idioms.size(said, at)
            if size and (said[at], last) in self._stops:
                size = 0  # *halt das an*: the verb is a separable one, and that one stops
            left.append(_UNKNOWN if size else said[at])
            at += size or 1
        return left

    def _names_nothing(self, pieces: Sequence[SignedPiece]) -> bool:
        """Whether behind what would change something nothing stands that it could be changed to."""
        at = next((at for at, piece in enumerate(pieces) if piece.sign not in _PAD), len(pieces))
        if at == len(pieces) or pieces[at].sign not in (*_MARKS, Sign.MEANT):
            return False
        told = self._earnest if pieces[at].sign == Sign.MEANT else self._manners
        words = text_of(pieces[at + 1 :]).split()
        signs = [piece.sign for piece in pieces[at + 1 :] for _ in piece.said.split()]
        here, named = 0, False
        while here < len(words):
            size = told.size(words, here)
            if not size and signs[here] not in _PAD:
                return False
            named = named or size > 0
            here += size or 1
        return named

    def _doubted(self, found: Cues, pieces: Sequence[SignedPiece], read: EarlierReading) -> Cues:
        """A stop that is only thought of; one that stands beside the doubt, in a clause of its own,
        is one.
        """
        clauses = clauses_of(pieces)
        doubtful = [clause for clause in clauses if self.doubts(text_of(clause).split())]
        if any(
            piece.sign not in _PAD and piece.said not in self._doubts
            for clause in doubtful
            for piece in clause
        ):
            for clause in clauses:
                if clause not in doubtful and (
                    (one := read(text_of(clause))).stop == CERTAIN or one.hold
                ):
                    return found
        return structs.replace(found, stop=min(found.stop, 1), hold=False)


def orders(found: Cues) -> bool:
    """Whether a message is read as an order to work that runs."""
    return found.stop >= CERTAIN or found.hold or found.steer >= CERTAIN


def _at_most(found: Cues, other: Cues) -> Cues:
    return structs.replace(
        found,
        stop=min(found.stop, other.stop),
        steer=min(found.steer, max(other.steer, 1)),
        hold=found.hold and other.hold,
    )
