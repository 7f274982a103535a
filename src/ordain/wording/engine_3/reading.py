"""Answers in a closed world: a yes and a no are whole messages, what has more to it is told apart
and left to others to sort.

Engine 2 took a message for a yes where it knew every word of it, and words that agree in one
sentence put off in another. Here nothing is read out of signs: the whole message stands in closed
lists of the table (``whole``), or it is no yes and no no. What says something to a question without
saying yes or no alone is ``partly`` an answer; what grants with a reservation is a condition. Dates
are those of the calendar. A bare *wait* holds, and what names what it corrects corrects it.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.folding import LOOKED_AT, fold, tokens
from ordain.wording.engine_1.patterns import BREAKS, CLAUSES, any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.reading import Look, stops
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_2.reading import LISTS as SECOND_LISTS
from ordain.wording.engine_2.reading import ClosedReading as SecondReading
from ordain.wording.engine_3 import dates, whole
from ordain.wording.engine_3.choices import chosen_key, mentions
from ordain.wording.engine_3.corrections import corrects, may_be_about_work, own_matter
from ordain.wording.engine_3.dates import Calendar
from ordain.wording.engine_3.whole import closed_lists, is_plain, says_hold, says_no, says_yes
from ordain.wording.table import Table

RESTRICTIONS: Final = "restrictions"
REVISIONS: Final = "revisions"
LISTS: Final = (
    SECOND_LISTS | dates.LISTS | whole.LISTS.keys() | {whole.LEADING, RESTRICTIONS, REVISIONS}
)
"""The lists of words that engine 3 looks into: those of engine 2, the closed ones, and what
restricts a yes (*only*) or makes work otherwise.
"""
FEW_WORDS: Final = 2
"""So few words are hardly a request: *jein*, *maybe later*."""
PARTLY_WORDS: Final = 30
"""Most words of a message that could say something to a question that it does not answer."""
_SAYS_SOMETHING: Final = any_of(
    Sign.YES, Sign.OKAY, Sign.OKAY_IF, Sign.SI, Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE
)
_LEADS: Final = re.compile(
    rf"^[{any_of(Sign.PLEASE, Sign.THANKS, Sign.IMPATIENT, Sign.EMOJI)}{BREAKS}]*["
    rf"{_SAYS_SOMETHING}{any_of(Sign.HOLD)}]"
)
_MAY_GRANT: Final = re.compile(
    rf"[{any_of(Sign.PLEASE, Sign.GREETING, Sign.YES, Sign.OKAY, Sign.OKAY_IF, Sign.SI)}{BREAKS}]"
)
"""What grants begins with one of these, wherever it ends."""
_GRANTS: Final = re.compile(
    rf"^[{any_of(Sign.PLEASE, Sign.GREETING)}{BREAKS}]*["
    rf"{any_of(Sign.YES, Sign.OKAY, Sign.OKAY_IF, Sign.SI)}{any_of(Sign.PLEASE)}{BREAKS}]+$"
)
_TAKES_BACK: Final = any_of(
    Sign.YES, Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE, Sign.HOLD, Sign.STOP, Sign.ASKS, Sign.QUESTION
)
_UNSURE: Final = any_of(Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE, Sign.HOLD, Sign.ASKS)
_BUT: Final = Sign.BUT.name.lower()


class WholeReading:
    """Engine 3 over one table, compiled: engine 2 over it, and the closed lists."""

    __slots__ = ("_calendar", "_lists", "_restrictions", "_revisions", "_second")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._second = SecondReading(table)
        self._lists = table.once(closed_lists)
        self._calendar = Calendar(table.lists)
        self._restrictions = _folded(table, RESTRICTIONS)
        self._revisions = _folded(table, REVISIONS)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._second.parts(text)

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._second.look(text)

    def halts(self, text: str) -> tuple[bool, bool]:
        """Of the cues of a text these two: whether it clearly orders to stop, and whether it says
        *wait*.
        """
        stopped = self._second.may_stop(text) and stops(text, self.look(text))
        return stopped, says_hold(self._lists.ways(text))

    def cues(self, text: str, look: Look | None = None) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.

        ``look`` is what ``look`` gave for the same text.
        """
        look = self.look(text) if look is None else look
        found, parts, signs = self._second.cues(text, look), look.parts, look.signs
        ways = self._lists.ways(text)
        yes, no = says_yes(ways), says_no(ways)
        short = len(text.strip()) <= LOOKED_AT
        steer = self._steer(found, parts, signs) if short else found.steer
        possible = 1 if short and may_be_about_work(signs) else 0
        hold = says_hold(ways)
        partly = (
            Partly.NO
            if yes or no or not short
            else self._partly(structs.replace(found, steer=steer, hold=hold), parts, signs)
        )
        if partly and text.lstrip().startswith("@"):
            partly = Partly.MAYBE  # it is said to somebody else
        return structs.replace(
            found,
            whole=True,
            yes=yes,
            no=no,
            date_time=found.date_time and self._dated(text),
            hold=hold,
            steer=max(steer, possible),
            partly=partly,
        )

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        return (
            ""
            if "?" in text or not is_plain(text)
            else chosen_key(self.parts(text), self._trimmed(text), options)
        )

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options."""
        return mentions(self._trimmed(text), options)

    def _trimmed(self, text: str) -> list[str]:
        return self._lists.trimmed(tokens(fold(text.strip()[:LOOKED_AT])))

    def _dated(self, text: str) -> bool:
        folded = fold(text[:LOOKED_AT])
        possible = self._calendar.without_impossible(folded)
        return possible == folded or self._second.cues(possible).date_time

    def _steer(self, found: Cues, parts: tuple[tuple[str, str], ...], signs: str) -> int:
        if found.steer == 2 and own_matter(signs) and Sign.INSTEAD_OF in signs:
            return 1
        return 2 if found.steer < 2 and corrects(parts, signs, self._revisions) else found.steer

    def _partly(self, found: Cues, parts: tuple[tuple[str, str], ...], signs: str) -> Partly:
        if found.words > PARTLY_WORDS or (
            found.filler == 2 and re.search(f"[{_SAYS_SOMETHING}]", signs) is None
        ):
            return Partly.NO
        if self._conditional(parts, signs) or (
            found.steer == 2 and not any(sign in signs for sign in _UNSURE)
        ):
            return Partly.CONDITION
        apart = found.question or found.order
        if any(_LEADS.match(clause) is not None for clause in CLAUSES.split(signs)):
            return Partly.MAYBE if apart and signs.count(Sign.OWN) > 1 else Partly.LEANS
        return (
            Partly.MAYBE if not found.hold and (apart or found.words > FEW_WORDS) else Partly.LEANS
        )

    def _conditional(self, parts: tuple[tuple[str, str], ...], signs: str) -> bool:
        """*yes but only to the German ones*: it grants, and then restricts, and takes nothing
        back.
        """
        if _MAY_GRANT.match(signs) is None:
            return False
        at = next(
            (
                at
                for at, (said, sign) in enumerate(parts)
                if sign == _BUT or said.partition(" ")[0] in self._restrictions
            ),
            0,
        )
        if not at or _GRANTS.match(signs[:at]) is None:
            return False
        return len(signs) - at > 1 and not any(sign in signs[at + 1 :] for sign in _TAKES_BACK)


def _folded(table: Table, name: str) -> frozenset[str]:
    return frozenset(" ".join(key) for phrase in table.lists.get(name, ()) for key in keys(phrase))
