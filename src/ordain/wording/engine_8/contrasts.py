"""Corrections that name the figure that was and the one that is to be, and names that are spelled
otherwise.

*The price is 1300, not 1200* says both, whatever stands before; *change 1200 to 1300* has a verb of
the list ``exchanges`` and what joins the two (``exchanging``). Of words that are no figures only a
capital name corrects that is spelled nearly alike, or what stands behind a word of ``amending``:
*it was fun, not work* is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from ordain.wording.engine_1.folding import fold
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import any_of
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_4.orders import AMENDING
from ordain.wording.engine_8.pieces import ListedPhrases, SignedPiece, signs_of
from ordain.wording.table import Table

EXCHANGES: Final = "exchanges"
EXCHANGING: Final = "exchanging"
DENIALS: Final = "denials"
LISTS: Final = frozenset({EXCHANGES, EXCHANGING, DENIALS})
"""Verbs that put one thing in the place of another (*change*, *replace*); what stands between the
two (*to*, *with*); what denies (*not*, *nichts*).
"""
LEAD_SIGNS: Final = 6
LEAD_OWN: Final = 3
"""Most pieces before the first figure, and most words of their own among them: what is longer is a
matter of its own.
"""
MOST_SIGNS: Final = 24
ALIKE: Final = 0.7
"""Share of two names' letters that stand alike: *Brandt* and *Brandl*."""
_ASIDE: Final = any_of(
    Sign.QUESTION,
    Sign.QUESTION_OPENS,
    Sign.ASKS,
    Sign.SAID,
    Sign.QUOTED,
    Sign.KEEP,
    Sign.GO_ON,
    Sign.QUESTION_ENDS,
)
_SMALL: Final = any_of(
    Sign.THE, Sign.WITH, Sign.IT, Sign.BE, Sign.WORK, Sign.USE, Sign.IMPATIENT, Sign.THANKS
)
_UNIT: Final = f"[{any_of(Sign.OWN, Sign.DATE, Sign.WITH, Sign.WORK, Sign.BE)}]{{0,2}}"
_FIGURE: Final = f"{Sign.NUMBER}{{1,3}}{_UNIT}"
_DAY: Final = f"[{Sign.DATE}]{{1,2}}"
_END: Final = (
    f"[{any_of(Sign.PLEASE, Sign.COMMA, Sign.STOPS, Sign.THANKS, Sign.ACTUALLY, Sign.EMOJI)}]*$"
)
_NOT: Final = (
    f"[{any_of(Sign.IMPATIENT, Sign.BUT, Sign.WITH)}]?[{any_of(Sign.NOT, Sign.NO_OR_NOT)}]"
)
"""*not*, *und nicht*."""
_BREAK: Final = f"[{any_of(Sign.COMMA, Sign.STOPS)}]*"
FIGURES: Final = tuple(
    re.compile(
        rf"^(?P<lead>[^{_ASIDE}{apart}]{{0,{LEAD_SIGNS}}}){value}{_BREAK}{_NOT}[{_SMALL}]{{0,2}}"
        rf"{value}{_END}"
    )
    for apart, value in ((Sign.NUMBER, _FIGURE), (Sign.DATE, _DAY))
)
"""*use 20 percent, not 7.5*; *it is on Tuesday, not Wednesday*."""
NAMES: Final = re.compile(
    rf"^(?P<lead>[^{_ASIDE}{Sign.ORDER}]{{1,{LEAD_SIGNS}}}?)(?P<to>["
    rf"{any_of(Sign.OWN, Sign.PLACE)}]){_BREAK}{_NOT}[{_SMALL}]{{0,2}}"
    rf"(?P<was>[{any_of(Sign.OWN, Sign.PLACE)}]){_END}"
)
"""*that should be dollars, not euros*; *the client is Brandl, not Brandt*."""
EXCHANGED: Final = re.compile(rf"^[^{_ASIDE}]{{0,{LEAD_SIGNS}}}?{_FIGURE}$")
_POLITE: Final = frozenset(
    (Sign.PLEASE, Sign.COMMA, Sign.STOPS, Sign.NO, Sign.CAN_YOU, Sign.THANKS)
)
_ASKED: Final = Sign.ASKS.value
_JOINS: Final = Sign.WITH.value
_DENIED: Final = Sign.NOT.value
_DENYING: Final = frozenset((Sign.NOT, Sign.NO_OR_NOT))
"""Without any of these nothing is named that is not to be, unless a word of ``denials`` says so."""
_CLOSING: Final = re.compile(rf"^(?:{Sign.THE})?{_FIGURE}{_END}")


class Contrasts:
    """The lists of one table, compiled."""

    __slots__ = ("_amending", "_denials", "_exchanges", "_exchanging")

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._amending, self._exchanges, self._exchanging, self._denials = (
            ListedPhrases(table, name) for name in (AMENDING, EXCHANGES, EXCHANGING, DENIALS)
        )

    def may_correct(self, look: Look) -> bool:
        """Whether it denies or exchanges something: most messages have no word of either."""
        return (
            not _DENYING.isdisjoint(look.signs)
            or not self._denials.nowhere(look.tokens)
            or not self._exchanges.nowhere(look.tokens)
        )

    def corrects(self, text: str, pieces: Sequence[SignedPiece]) -> bool:
        """Whether it names what it corrects and what that is to be."""
        pieces = self._plain(pieces)
        signs = signs_of(pieces)
        if len(signs) > MOST_SIGNS:
            return False
        for form in FIGURES:
            if (found := form.match(signs)) is not None and found["lead"].count(
                Sign.OWN
            ) <= LEAD_OWN:
                return Sign.ORDER not in found["lead"] or self._amends(pieces[: found.end("lead")])
        if (found := NAMES.match(signs)) is not None:
            to, was = pieces[found.start("to")].said, pieces[found.start("was")].said
            return self._amends(pieces[: found.start("to")]) or _respells(text, to, was)
        return self._exchanged(pieces)

    def _plain(self, pieces: Sequence[SignedPiece]) -> Sequence[SignedPiece]:
        """The pieces with *not the* as the *not* that it is, and without the question mark of a
        polite order.
        """
        signs = signs_of(pieces)
        left = pieces
        if Sign.CAN_YOU in signs and Sign.ASKS in signs:
            left = [piece for piece in pieces if piece.sign != _ASKED]
        if Sign.WITH not in signs:
            return left
        return [
            SignedPiece(piece.said, _DENIED)
            if piece.sign == _JOINS and piece.said.split()[0] in self._denials
            else piece
            for piece in left
        ]

    def _amends(self, lead: Sequence[SignedPiece]) -> bool:
        """Whether the words before a name end in what makes another one of it."""
        words = [word for piece in lead for word in piece.said.split()]
        return any(self._amending.size(words, at) == len(words) - at for at in range(len(words)))

    def _exchanged(self, pieces: Sequence[SignedPiece]) -> bool:
        """*change 1200 to 1300*: the verb, the figure that was, and that which is to be."""
        known = [piece for piece in pieces if piece.sign not in _POLITE]
        if known and known[-1].said in self._exchanges:
            known = [known[-1], *known[:-1]]  # the verb comes last: *1200 durch 1300 ersetzen*
        if (
            not known
            or known[0].sign == Sign.ORDER
            or known[0].said.split()[0] not in self._exchanges
        ):
            return False
        joined = [at for at, piece in enumerate(known) if piece.said in self._exchanging]
        return any(
            EXCHANGED.match(signs_of(known[1:at])) and _CLOSING.match(signs_of(known[at + 1 :]))
            for at in joined
        )


def _respells(text: str, to: str, was: str) -> bool:
    """Whether two names, with capitals in the message, are nearly alike."""
    named = {fold(word.strip(",.;:!()")) for word in text.split() if word[:1].isupper()}
    return (
        to in named
        and was in named
        and to != was
        and SequenceMatcher(None, to, was, autojunk=False).ratio() >= ALIKE
    )
