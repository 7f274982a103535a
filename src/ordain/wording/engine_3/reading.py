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
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.folding import LOOKED_AT, fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import BREAKS, CLAUSES, any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.reading import stops
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_2.reading import LISTS as SECOND_LISTS
from ordain.wording.engine_2.reading import ClosedReading as SecondReading
from ordain.wording.engine_3 import dates, whole
from ordain.wording.engine_3.choices import chosen_key, mentions
from ordain.wording.engine_3.corrections import corrects, may_be_about_work, own_matter
from ordain.wording.engine_3.dates import calendar_of
from ordain.wording.engine_3.whole import (
    closed_lists,
    is_plain,
    says_hold,
    says_no,
    says_yes,
    whole_tokens,
)
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
_TAKES_BACK: Final = frozenset(
    any_of(
        *(Sign.YES, Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE, Sign.HOLD, Sign.STOP, Sign.ASKS),
        Sign.QUESTION,
    )
)
_UNSURE: Final = frozenset(any_of(Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE, Sign.HOLD, Sign.ASKS))
_SAYING: Final = frozenset(_SAYS_SOMETHING)
_LEADING: Final = _SAYING | {Sign.HOLD}
"""A message without any of these leads with nothing that could answer."""
_SAYS_NOTHING: Final = (False, False, False)
_OWN: Final = Sign.OWN.value
_BUT: Final = Sign.BUT.name.lower()


class WholeReading:
    """Engine 3 over one table, compiled: engine 2 over it, and the closed lists."""

    __slots__ = ("_calendar", "_lists", "_restrictions", "_revisions", "_second")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._second = SecondReading(table)
        self._lists = table.once(closed_lists)
        self._calendar = table.once(calendar_of)
        self._restrictions = _folded(table, RESTRICTIONS)
        self._revisions = _folded(table, REVISIONS)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._second.parts(text)

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._second.look(text)

    def stops(self, text: str, found: Sequence[str]) -> bool:
        """Whether the cues of a text, which has these tokens, have a clear order to stop."""
        return self._second.may_stop(found) and stops(self.look(text))

    def holds(self, text: str) -> bool:
        """Whether the cues of a text say *wait*."""
        return says_hold(self._lists.ways(text))

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        found, short = self._second.read(look), look.is_short
        ways = self._lists.ways_of(whole_tokens(look))
        yes, no, hold = (says_yes(ways), says_no(ways), says_hold(ways)) if ways else _SAYS_NOTHING
        steer = self._steer(found, look) if short else found.steer
        possible = 1 if short and may_be_about_work(look.signs) else 0
        partly = (
            Partly.NO
            if yes or no or not short
            else self._partly(found, look, steered=steer == 2, hold=hold)
        )
        if partly and look.stripped.startswith("@"):
            partly = Partly.MAYBE  # it is said to somebody else
        return structs.replace(
            found,
            whole=True,
            yes=yes,
            no=no,
            date_time=found.date_time and self._dated(look),
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

    def _dated(self, look: Look) -> bool:
        folded = look.folded if look.is_all else fold(look.text[:LOOKED_AT])
        possible = self._calendar.possible(folded)
        return possible == folded or self._second.cues(possible).date_time

    def _steer(self, found: Cues, look: Look) -> int:
        signs = look.signs
        if found.steer == 2 and own_matter(signs) and Sign.INSTEAD_OF in signs:
            return 1
        return 2 if found.steer < 2 and corrects(look, self._revisions) else found.steer

    def _partly(self, found: Cues, look: Look, *, steered: bool, hold: bool) -> Partly:
        """``steered`` and ``hold`` are what it is read as beside what was found."""
        signs = look.signs
        if found.words > PARTLY_WORDS or (found.filler == 2 and _SAYING.isdisjoint(signs)):
            return Partly.NO
        if self._conditional(look) or (steered and _UNSURE.isdisjoint(signs)):
            return Partly.CONDITION
        apart = found.question or found.order
        if not _LEADING.isdisjoint(signs) and any(map(_LEADS.match, CLAUSES.split(signs))):
            return Partly.MAYBE if apart and signs.count(_OWN) > 1 else Partly.LEANS
        return Partly.MAYBE if not hold and (apart or found.words > FEW_WORDS) else Partly.LEANS

    def _conditional(self, look: Look) -> bool:
        """*yes but only to the German ones*: it grants, and then restricts, and takes nothing
        back.
        """
        signs = look.signs
        if _MAY_GRANT.match(signs) is None:
            return False
        at = next(
            (
                at
                for at, (said, sign) in enumerate(look.parts)
                if sign == _BUT or said.partition(" ")[0] in self._restrictions
            ),
            0,
        )
        if not at or _GRANTS.match(signs[:at]) is None:
            return False
        return len(signs) - at > 1 and _TAKES_BACK.isdisjoint(signs[at + 1 :])


def _folded(table: Table, name: str) -> frozenset[str]:
    return frozenset(" ".join(key) for phrase in table.lists.get(name, ()) for key in keys(phrase))
