"""Engine 5's reading, with orders that something is insisted on with, a no that is said more than
once, and places of options.

*Stop right now please* and *no no stop* were requests of their own, *no no* while work ran wanted
nothing. A day that no month has is no date, and 1 and 2 are figures. What speaks of a place among
options and names none that there is (*the fourth one* of three, *the last one*) goes back, and
begins nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues
from ordain.wording.engine_1.folding import LENGTHENED, LOOKED_AT, fold, is_lengthened, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_3.whole import ClosedLists, Part, closed_lists, whole_tokens
from ordain.wording.engine_5.reading import LISTS as FIFTH_LISTS
from ordain.wording.engine_5.reading import WrittenReading
from ordain.wording.engine_5.spelling import is_spelled, marked_words, written_words
from ordain.wording.engine_6 import places
from ordain.wording.engine_6.insistence import INSISTENCE, Insistence
from ordain.wording.engine_6.places import PlacedChoices
from ordain.wording.table import Table

PROTESTS: Final = "protests"
LISTS: Final = FIFTH_LISTS | places.LISTS | {INSISTENCE, PROTESTS}
"""The lists of words that engine 6 looks into. Beside those of places and of what insists: a no
that wants something to end, said once (*no don't*).
"""
CERTAIN: Final = 2
PLACE_WORDS: Final = 6
"""Most words of a message that speaks of a place among options."""
DAYS_MAX: Final = 31
_ORDINAL: Final = re.compile(r"(?<![\w.:,])(\d{2,})(?:st|nd|rd|th|\.)(?![\w:])", re.IGNORECASE)
_TIME: Final = re.compile(
    r"\d\s*(?:[:h]|uhr\b|am\b|pm\b|o'clock)|\b(?:noon|midnight)\b", re.IGNORECASE
)
_SMALL_FIGURE: Final = re.compile(r"(?<![\w.,:])[12](?=\s+\w)")
_BREAKS: Final = frozenset(",.!;:\n")


class InsistentReading:
    """Engine 6 over one table, compiled: engine 5 over it, and its lists."""

    __slots__ = ("_choices", "_fifth", "_insistence", "_known", "_protests", "_refusing")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._fifth = WrittenReading(table)
        self._insistence = Insistence(table)
        self._choices = PlacedChoices(table, table.once(closed_lists))
        self._known = table.once(written_words)
        self._protests = frozenset(
            key for phrase in table.lists.get(PROTESTS, ()) for key in keys(phrase)
        )
        self._refusing = ClosedLists(
            {
                "refusals": table.lists.get("refusals", ()),
                "consents": table.lists.get("consents", ()),
            }
        )

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._fifth.parts(text)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._fifth.look(text)

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        text, found = look.text, self._fifth.read(look)
        if not look.is_short:
            return found
        if found.date_time and _names_no_day(text):
            found = structs.replace(found, date_time=False)
        if (
            CERTAIN in (found.stop, found.steer)
            or found.hold
            or found.go_on
            or found.yes
            or found.question
            or "?" in text
        ):
            return found
        if self._corrects(text):
            return structs.replace(found, steer=CERTAIN, stop=min(found.stop, 1))
        if self._protest(look):
            return structs.replace(found, protest=True)
        return self._ordered(look, found)

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        if not text.isascii() and not is_spelled(text, self._known | marked_words(options)):
            return ""
        return self._choices.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of a place."""
        if self._fifth.mentions(text, options):
            return True
        said = [token for token in tokens(fold(text[:LOOKED_AT])) if token[0] not in _BREAKS]
        return len(said) <= PLACE_WORDS and self._choices.places(said)

    def _corrects(self, text: str) -> bool:
        """*No, 1 percent*: 1 and 2 are figures like others, though alone they choose."""
        other = _SMALL_FIGURE.sub("3", text) if "1" in text or "2" in text else text
        return other != text and self._fifth.cues(other).steer == CERTAIN

    def _ordered(self, look: Look, found: Cues) -> Cues:
        """With the order that is left once nothing insists on it any more."""
        order = self._insistence.without(look)
        if not order:
            return found
        read = self._fifth.cues(order)
        if read.steer == CERTAIN or read.go_on or read.yes or read.question:
            return found
        if found.no and (read.stop == CERTAIN or read.hold):
            # it may answer, and is an order where it answers nothing
            return structs.replace(found, protest=True)
        return (
            structs.replace(found, stop=CERTAIN)
            if read.stop == CERTAIN
            else structs.replace(found, hold=found.hold or read.hold)
        )

    def _protest(self, look: Look) -> bool:
        """Whether it is nothing but a no that is repeated, lengthened, or of the list."""
        text = look.text
        longer = is_lengthened(text)
        plain = LENGTHENED.sub(r"\1", text) if longer else text
        read = tokens(fold(plain)) if longer or not look.is_all else look.tokens
        said = tuple([token for token in read if token[0] not in _BREAKS])
        if said in self._protests:
            return True
        ways = self._refusing.ways(plain) if longer else self._refusing.ways_of(whole_tokens(look))
        if Part.REFUSAL not in ways or any(way & Part.CONSENT for way in ways):
            return False
        return longer or any(one == other for one, other in pairwise(said))


def _names_no_day(text: str) -> bool:
    """Whether its only figure is that of a day, and no month has it: *the 32nd*."""
    found = _ORDINAL.search(text)
    return (
        found is not None
        and len(re.findall(r"\d+", text)) == 1
        and int(found[1]) > DAYS_MAX
        and _TIME.search(text) is None
    )
