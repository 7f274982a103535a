"""What is said to work that runs in closed forms beyond those of engine 8: a wait that no other word
is meant by, with a reason of anybody's; a stop in several sentences; a bound, and how it is to be.

*Pause please, the editor is calling* holds, *wait, the client is Brandl* may be a correction and is
left to engine 8. *Max 300 words* and *a bit friendlier, please* correct where nothing else is said:
nobody begins a task by them. What names a thing of its own (*cancel the hotel*) orders nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ordain.wording.cues import Cues
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import ORDERS, PAD, any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_7.matter import POSTPONEMENTS
from ordain.wording.engine_8.pieces import (
    EarlierReading,
    ListedPhrases,
    SignedPiece,
    clauses_of,
    signs_of,
    text_of,
)
from ordain.wording.engine_8.slack import DOUBTS
from ordain.wording.engine_8.stops import OUTWARD, REPORTING, SUCCESSIONS, Stops
from ordain.wording.table import Table

BOUNDS: Final = "bounds"
COMPARATIVES: Final = "comparatives"
DEGREES: Final = "degrees"
ENQUIRIES: Final = "enquiries"
FINALS: Final = "finals"
PAUSES: Final = "pauses"
SPANS: Final = "spans"
LISTS: Final = frozenset({BOUNDS, COMPARATIVES, DEGREES, ENQUIRIES, FINALS, PAUSES, SPANS})
"""What bounds a figure (*at most*); how work is to be (*shorter*, *less formal*), and by how much (*a
bit*); what stands beside a stop and says so again (*over*); and waits that mean nothing else (*hold
off*, where *wait* may begin anything), with what begins how long (*for*, *until*). Enquiries are
whole questions after progress, beyond the phrases of that sign.
"""
MOST_PIECES: Final = 24
REASON_OWN: Final = 8
"""Most words of its own that a reason has."""
UNITS: Final = 1
"""Words behind a bounded figure: with another one it tells something (*at least 3 people came*)."""
_PAD: Final = frozenset(PAD.replace("\\", "")) | {Sign.YOU, Sign.COMMA, Sign.STOPS}
_AROUND: Final = _PAD - {Sign.NO, Sign.NO_OR_NOT}
"""*no longer* is no order to make it longer."""
_MARKS: Final = frozenset("?!.,")
_UNIT: Final = frozenset((Sign.OWN, Sign.WORK, Sign.SAID, Sign.PLACE, Sign.SEARCH, Sign.QUOTED))
_TOLD: Final = re.compile(f"[{any_of(Sign.QUOTED, Sign.SAID, Sign.KEEP)}]")
_ASKS: Final = any_of(Sign.ASKS, Sign.QUESTION, Sign.QUESTION_OPENS, Sign.QUESTION_ENDS)
_ASKED: Final = re.compile(f"[{_ASKS}]")
_ORDERED: Final = re.compile(
    rf"^[{PAD}{Sign.WITH}]*(?:{Sign.USE}(?!{Sign.NOT})|{Sign.ORDER})|["
    rf"{any_of(Sign.CHANGE, Sign.CHANGED, Sign.INSTEAD, Sign.INSTEAD_OF, Sign.RATHER)}"
    rf"{any_of(Sign.MEANT, Sign.ALSO, Sign.GO_ON, Sign.NUDGE, Sign.TROUBLE)}]"
)
CERTAIN: Final = 2


class Remarks:
    """The lists of one table, compiled; ``stops`` are those of engine 8."""

    __slots__ = (
        "_bounds",
        "_comparatives",
        "_degrees",
        "_doubts",
        "_enquiries",
        "_finals",
        "_later",
        "_pauses",
        "_spans",
        "_stops",
        "_telling",
        "_theirs",
    )

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._bounds, self._comparatives, self._degrees, self._finals, self._pauses = (
            ListedPhrases(table, name) for name in (BOUNDS, COMPARATIVES, DEGREES, FINALS, PAUSES)
        )
        self._later = ListedPhrases(table, "conditions", POSTPONEMENTS, SUCCESSIONS)
        self._spans, self._enquiries = (ListedPhrases(table, name) for name in (SPANS, ENQUIRIES))
        self._telling = frozenset(
            key[0]
            for name in (BOUNDS, COMPARATIVES, PAUSES, OUTWARD)
            for phrase in table.lists.get(name, ())
            for key in keys(phrase)
        )
        self._theirs, self._doubts = (ListedPhrases(table, name) for name in (REPORTING, DOUBTS))
        self._stops = Stops(table)

    def enquires(self, look: Look) -> bool:
        """Whether it is a question after progress, and nothing else."""
        said = look.tokens
        size = self._enquiries.size(said, 0)
        return size > 0 and all(token[0] in _MARKS for token in said[size:])

    def may_order(self, look: Look, found: Cues) -> bool:
        """Whether it is worth a look: most messages have none of the words, or are read already. A
        thought orders nothing (*stop, maybe*).
        """
        if found.hold or found.go_on or CERTAIN in (found.stop, found.steer):
            return False
        said = look.words
        if found.stop == 0 and self._telling.isdisjoint(said):
            return False
        return self._has_words(look, found) and not self._doubts.among(said)

    def _has_words(self, look: Look, found: Cues) -> bool:
        """Whether it has a word that each of ``corrects``, ``stops`` and ``holds`` needs."""
        said = look.words
        if self._stops.may_halt(look):
            return True
        if len(look.signs) > MOST_PIECES:
            return False
        return self._pauses.among(said) or (
            not found.question
            and (self._bounds.among(said) or not self._comparatives.nowhere(said))
        )

    def stops(self, pieces: Sequence[SignedPiece]) -> bool:
        """Whether it stops in several sentences, and says nothing beside (*Schluss. Aus.*)."""
        if _ASKED.search(signs_of(pieces)) is not None:
            return False
        clauses = clauses_of(pieces)
        if len(clauses) < 2:
            return False
        stopping = [self._stops.all_of(clause) for clause in clauses]
        return any(stopping) and all(
            stops or self._is_final(clause) for stops, clause in zip(stopping, clauses, strict=True)
        )

    def holds(self, pieces: Sequence[SignedPiece], read: EarlierReading) -> bool:
        """Whether its first sentence waits and the others say why. ``read`` is engine 8."""
        if len(pieces) > MOST_PIECES or _TOLD.search(signs_of(pieces)) is not None:
            return False
        said = text_of(pieces).split()
        if self._pauses.nowhere(said) and not self._stops.may_keep(said):
            return False
        clauses = clauses_of(pieces)
        if not clauses:
            return False
        first, others = clauses[0], clauses[1:]
        waits = self._pauses_in(first) or (
            bool(others) and self._stops.beside(first, read) == (False, True)
        )
        return waits and all(self._states(clause) for clause in others)

    def corrects(self, pieces: Sequence[SignedPiece], found: Cues) -> bool:
        """Whether it says how work is to be, or bounds a figure, and nothing else."""
        if len(pieces) > MOST_PIECES or found.question or "?" in signs_of(pieces):
            return False
        if self._limits(pieces) and not found.date_time:
            return True
        return self._compares([piece for piece in pieces if piece.sign not in _AROUND])

    def _compares(self, pieces: Sequence[SignedPiece]) -> bool:
        said = text_of(pieces).split()
        at, named = 0, 0
        while at < len(said):
            size = self._comparatives.size(said, at)
            named += size > 0
            size = size or self._degrees.size(said, at)
            if not size:
                return False
            at += size
        return named > 0

    def _limits(self, pieces: Sequence[SignedPiece]) -> bool:
        """*at most 5 pages please*: around it courtesies alone."""
        said, signs = _words_of(pieces)
        at, size = _first(self._bounds, said)
        if not size:
            return False
        behind = [sign for sign in signs[at + size + 1 :] if sign not in _PAD]
        return (
            all(sign in _PAD for sign in signs[:at])
            and said[at + size : at + size + 1] != []
            and said[at + size][0].isdigit()
            and len(behind) == UNITS
            and signs[at + size + 1] in _UNIT
        )

    def _pauses_in(self, clause: Sequence[SignedPiece]) -> bool:
        """*could you hold off for an hour*: around it courtesies and how long alone."""
        said, signs = _words_of(clause)
        at, size = _first(self._pauses, said)
        if not size:
            return False
        behind = range(at + size, len(said))
        begins = next((place for place in behind if signs[place] not in _PAD), len(said))
        return all(sign in _PAD for sign in signs[:at]) and (
            begins == len(said) or self._spans.size(said, begins) > 0
        )

    def _is_final(self, clause: Sequence[SignedPiece]) -> bool:
        return text_of(clause) in self._finals or all(
            piece.sign in (*_PAD, Sign.NEEDLESS) for piece in clause
        )

    def _states(self, clause: Sequence[SignedPiece]) -> bool:
        """Whether it asks and orders nothing, and depends on nothing."""
        signs, said = signs_of(clause), text_of(clause).split()
        return (
            signs.count(Sign.OWN) <= REASON_OWN
            and not self._later.size(said, 0)
            and not self._theirs.among(said)
            and all(form.search(signs) is None for form in (_ASKED, ORDERS, _ORDERED))
        )


def _words_of(pieces: Sequence[SignedPiece]) -> tuple[list[str], list[str]]:
    """The words, and the sign of each."""
    said = [(word, piece.sign) for piece in pieces for word in piece.said.split()]
    return [word for word, _ in said], [sign for _, sign in said]


def _first(listed: ListedPhrases, said: Sequence[str]) -> tuple[int, int]:
    """Where the first phrase of a list stands among the words, and how many it has; 0: none."""
    if listed.nowhere(said):
        return 0, 0
    found = ((at, listed.size(said, at)) for at in range(len(said)))
    return next((one for one in found if one[1]), (0, 0))
