"""Stops and waits that stand beside more than engine 7 lets them: a reason, a wish, a name of the
work, an order to go on that is negated.

*Stop! The numbers are wrong* stops, as *stop* does; so does *ich möchte, dass du aufhörst*, where
the verb comes last in a form of its own (list ``stoppings``). What follows a stop and orders or
asks something leaves it to the engine before. A wait holds with a reason that the sender has alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ordain.wording.cues import Cues
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import (
    HAS_STOP,
    MAYBE_NOT,
    ORDERS,
    PAD,
    STOPPED,
    UNSTOPPED,
    any_of,
)
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_8.contrasts import DENIALS
from ordain.wording.engine_8.pieces import (
    EarlierReading,
    ListedPhrases,
    SignedPiece,
    clauses_of,
    signs_of,
    text_of,
)
from ordain.wording.engine_8.slack import CERTAIN, SUFFICIENT
from ordain.wording.table import Table

WISHES: Final = "wishes"
STOPPINGS: Final = "stoppings"
CONTINUINGS: Final = "continuings"
UNDERTAKINGS: Final = "undertakings"
OUTWARD: Final = "outward"
OPENERS: Final = "openers"
REPORTING: Final = "reporting"
SUCCESSIONS: Final = "successions"
LISTS: Final = frozenset(
    {WISHES, STOPPINGS, CONTINUINGS, UNDERTAKINGS, OUTWARD, OPENERS, REPORTING, SUCCESSIONS}
)
"""What wants that somebody does what follows (*I'd prefer that you*); forms of stopping, and of
going on, that stand behind such or behind *not*; further names of work (*mission*); verbs after
which something has happened outside (*send*, *book*); what may open a message and adds nothing
(*also*); what tells of others' words (*told*); and what puts an order behind something else
(*then*).
"""
MOST_SIGNS: Final = 30
REASON_OWN: Final = 8
"""Most words of its own that a reason has."""
_HALTS: Final = re.compile(f"[{any_of(Sign.STOP, Sign.STOP_OPEN, Sign.HOLD)}]")
_NO_MORE: Final = re.compile(
    rf"^[{PAD}{any_of(Sign.YOU, Sign.COMMA, Sign.STOPS)}]*(?:{Sign.NOT}(?:{Sign.OWN}(?="
    rf"{Sign.IT}))?[{any_of(Sign.PLEASE, Sign.IT, Sign.WITH, Sign.NOW, Sign.BE)}]*|{Sign.NEGATIVE}"
    rf"{Sign.IT})"
    rf"{Sign.GO_ON}[{PAD}{any_of(Sign.IT, Sign.COMMA, Sign.STOPS, Sign.NOW)}]*$"
)
"""*you needn't go on*, *no need to keep going*."""
_REORDERS: Final = re.compile(
    f"[{any_of(Sign.CHANGE, Sign.CHANGED, Sign.INSTEAD, Sign.INSTEAD_OF, Sign.RATHER, Sign.MEANT, Sign.ALSO, Sign.GO_ON)}]"
)
_ASKS: Final = re.compile(
    f"^[{PAD}]*[{any_of(Sign.QUESTION, Sign.QUESTION_OPENS, Sign.NUDGE, Sign.TROUBLE)}]"
)
_ORDERS: Final = re.compile(f"^[{PAD}{Sign.WITH}]*(?:{Sign.USE}(?!{Sign.NOT})|{Sign.ORDER})")
_ADDRESSES: Final = re.compile(f"[{PAD}]*{Sign.OWN}[{PAD}]*")
"""*Ordain, stop*."""
_SUBJECT: Final = any_of(Sign.I, Sign.IT, Sign.YOU, Sign.THE, Sign.NEEDLESS)
_STATES: Final = re.compile(f"^[{PAD}]*(?:[{_SUBJECT}]|{Sign.USE}{Sign.NOT})")
"""It begins with whom or what it is about, or with what somebody does not want."""
_MINE: Final = re.compile(f"^[{PAD}]*{Sign.I}")
_UNKNOWN: Final = Sign.OWN.value
_COMMA: Final = Sign.COMMA.value
_NAMES_MORE: Final = re.compile(f"[{any_of(Sign.NUMBER, Sign.DATE, Sign.PLACE)}]")
_LINE: Final = ("\n",)
_HALTING: Final = frozenset((Sign.STOP, Sign.STOP_OPEN, Sign.HOLD, Sign.GO_ON))
_STOPPING: Final = frozenset((Sign.STOP, Sign.STOP_OPEN, Sign.GO_ON))
_NOT_BRIEF: Final = frozenset((Sign.QUOTED, Sign.SAID, Sign.KEEP, Sign.ASKS))
_BRACKETS: Final = frozenset("()/")
_YET: Final = any_of(Sign.ALSO, Sign.STILL)
_AROUND: Final = any_of(
    Sign.PLEASE,
    Sign.COMMA,
    Sign.STOPS,
    Sign.IT,
    Sign.PARTICLE,
    Sign.IMPATIENT,
    Sign.PROGRESS,
    Sign.NUDGE,
)
_KEPT_NOW: Final = re.compile(f"[{_AROUND}]*")
_KEPT: Final = re.compile(
    f"[{_AROUND}{_YET}]*(?:{Sign.THE}[{any_of(Sign.OWN, Sign.WORK)}]{{0,2}})?[{_AROUND}{_YET}]*"
)
"""*noch*, *yet*, *anything yet*; and what may stand beside a verb that is not to be: with them also
the name of a thing.
"""


def _is_brief(signs: str) -> bool:
    """Whether nothing in it is quoted, told, asked or kept up, and it is no text."""
    return len(signs) <= MOST_SIGNS and _NOT_BRIEF.isdisjoint(signs)


class Stops:
    """The lists of one table, compiled."""

    __slots__ = (
        "_continuings",
        "_denials",
        "_later",
        "_openers",
        "_outward",
        "_reporting",
        "_stoppings",
        "_successions",
        "_sufficient",
        "_undertakings",
        "_wishes",
    )

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._wishes, self._stoppings, self._continuings = (
            ListedPhrases(table, name) for name in (WISHES, STOPPINGS, CONTINUINGS)
        )
        self._undertakings, self._outward, self._denials = (
            ListedPhrases(table, name) for name in (UNDERTAKINGS, OUTWARD, DENIALS)
        )
        self._openers, self._reporting, self._sufficient = (
            ListedPhrases(table, name) for name in (OPENERS, REPORTING, SUFFICIENT)
        )
        self._successions = ListedPhrases(table, SUCCESSIONS)
        self._later = ListedPhrases(table, "conditions", "postponements")

    def all_of(self, pieces: Sequence[SignedPiece]) -> bool:
        """Whether it stops and says nothing beside."""
        return _is_brief(signs_of(pieces)) and self._stopped(pieces, wished=False)

    def beside(self, pieces: Sequence[SignedPiece], read: EarlierReading) -> tuple[bool, bool]:
        """Whether it stops, and whether it waits, beside what else it says. ``read`` is the engine
        before.
        """
        signs = signs_of(pieces)
        if not _is_brief(signs):
            return False, False
        if self._kept_in(pieces):
            return False, True
        return self._reasoned(pieces, read) if _HALTS.search(signs) is not None else (False, False)

    def may_wish(self, look: Look) -> bool:
        """Whether it begins as a wish does: most messages do not."""
        first = look.tokens[:1]
        return not self._wishes.nowhere(look.tokens) and (
            first == _LINE or look.signs[:1] == _COMMA or not self._wishes.nowhere(first)
        )

    def may_halt(self, look: Look) -> bool:
        """Whether a word in it stops, waits, goes on or cannot be had back: most messages have
        none.
        """
        said = look.tokens
        return (
            not _HALTING.isdisjoint(look.signs)
            or not self._continuings.nowhere(said)
            or self.may_keep(said)
        )

    def may_keep(self, said: Sequence[str]) -> bool:
        """Whether a word of it cannot be had back, and one denies: without them nothing is to be
        left as it is, which is all of a wait that a single clause can be.
        """
        return not (self._outward.nowhere(said) or self._denials.nowhere(said))

    def wished(self, pieces: Sequence[SignedPiece], read: EarlierReading) -> tuple[bool, bool]:
        """Whether somebody wants that it stops, and that it waits, whatever is put between."""
        words = [piece for piece in pieces if piece.sign != _COMMA]
        said = text_of(words).split()
        size = self._wishes.size(said, 0)
        if not size or not said[size:] or not _is_brief(signs_of(pieces)):
            return False, False
        told = read(" ".join(said[size:]))
        return self._stopped(
            self._rest(words, size), wished=True
        ) or told.stop == CERTAIN, told.hold

    def _rest(self, words: Sequence[SignedPiece], size: int) -> list[SignedPiece]:
        """The pieces behind so many words; one that is cut in two counts with all of its words."""
        left: list[SignedPiece] = []
        for piece in words:
            if size <= 0:
                left.append(piece)
            size -= len(piece.said.split())
        return left

    def _stopped(self, pieces: Sequence[SignedPiece], *, wished: bool) -> bool:
        """Whether all of it is an order to stop, with the lists' words for what they are."""
        if not self._may_stop(pieces, wished=wished):
            return False
        signs = "".join(
            [
                self._sign(piece, wished=wished) if piece.sign == _UNKNOWN else piece.sign
                for piece in pieces
            ]
        )
        signs = Sign.PLEASE + signs[1:] if pieces and pieces[0].said in self._openers else signs
        if _NO_MORE.match(signs) is not None:
            return True
        if UNSTOPPED.search(signs) is not None or MAYBE_NOT.search(signs) is not None:
            return False
        return STOPPED.fullmatch(signs) is not None and HAS_STOP.search(signs) is not None

    def _may_stop(self, pieces: Sequence[SignedPiece], *, wished: bool) -> bool:
        """Whether a word in it stops, or goes on: most messages have none."""
        return (
            not _STOPPING.isdisjoint(signs_of(pieces))
            or self._continuings.named(pieces)
            or (wished and self._stoppings.named(pieces))
        )

    def _sign(self, piece: SignedPiece, *, wished: bool) -> str:
        """What a word that no phrase has is by the lists."""
        if piece.said in self._undertakings:
            return Sign.WORK
        if piece.said in self._continuings:
            return Sign.GO_ON
        if piece.said in self._denials:
            return Sign.NOT
        return Sign.STOP if wished and piece.said in self._stoppings else piece.sign

    def _kept_in(self, pieces: Sequence[SignedPiece]) -> bool:
        """*Don't send anything yet*: what cannot be had back is not to be done, and nothing else is
        said.
        """
        said = text_of(pieces).split()
        if not self.may_keep(said):
            return False
        acts, denied, yet, signs = 0, False, False, list[str]()
        for piece in pieces:
            words = piece.said.split()
            if any(word in self._outward for word in words):
                acts += 1
            elif piece.said in self._denials:
                denied = True
            else:
                signs.append(piece.sign)
            yet = yet or piece.sign in _YET or piece.sign == Sign.NUDGE
        objects = _KEPT if yet else _KEPT_NOW
        return acts > 0 and denied and objects.fullmatch("".join(signs)) is not None

    def _reasoned(self, pieces: Sequence[SignedPiece], read: EarlierReading) -> tuple[bool, bool]:
        """Whether its first or its last clause stops or waits, and the others say why."""
        clauses = clauses_of(pieces)
        if len(clauses) < 2 or any(piece.said in _BRACKETS for piece in pieces):
            return False, False
        first, last = clauses[0], clauses[-1]
        told = self._told(first, read)
        if told.stop == CERTAIN and all(self._says(clause) for clause in clauses[1:]):
            return True, False
        if told.hold and all(
            self._says(clause) and self._is_mine(clause) for clause in clauses[1:]
        ):
            return False, True
        stated = all(
            self._says(clause) and _STATES.match(signs_of(clause)) is not None
            for clause in clauses[:-1]
        )
        stated = stated and not (
            last[0].said in self._successions and any(piece.sign == Sign.OWN for piece in first)
        )
        called = len(clauses) == 2 and _ADDRESSES.fullmatch(signs_of(first)) is not None
        told = self._told(last, read) if stated or called else Cues()
        return told.stop == CERTAIN, told.hold and called

    def _told(self, clause: Sequence[SignedPiece], read: EarlierReading) -> Cues:
        said = text_of(clause)
        return Cues() if self._sufficient.among(said.split()) else read(said)

    def _says(self, clause: Sequence[SignedPiece]) -> bool:
        """Whether it states something: it asks and orders nothing, and depends on nothing."""
        signs = signs_of(clause)
        words = text_of(clause).split()
        if (
            signs.count(Sign.OWN) > REASON_OWN
            or self._later.size(words, 0)
            or self._reporting.among(words)
        ):
            return False
        return all(form.search(signs) is None for form in (_ASKS, ORDERS, _ORDERS, _REORDERS))

    def _is_mine(self, clause: Sequence[SignedPiece]) -> bool:
        """Whether it is the sender's own reason, and says nothing that the work would have to
        know.
        """
        signs = signs_of(clause)
        return _MINE.match(signs) is not None and _NAMES_MORE.search(signs) is None
