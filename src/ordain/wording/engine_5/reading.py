"""Engine 4's reading, with what it took for an answer or an order and is none, and what it had no
word for.

A letter that is not the word's makes no consent. A whole message that is a yes in one language and
thanks in another is about the question and no answer. What begins with *if* is a condition. A
*wait* that is negated holds nothing. *Go on* is an order of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.folding import fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_3.whole import ClosedLists, Part, is_plain, whole_tokens
from ordain.wording.engine_4.alphabet import is_clear, listed_letters
from ordain.wording.engine_4.reading import LISTS as FOURTH_LISTS
from ordain.wording.engine_4.reading import ClearReading
from ordain.wording.engine_5.spelling import is_spelled, marked_words, written_words
from ordain.wording.table import Table

AMBIGUOUS: Final = "ambiguous"
CONDITIONS: Final = "conditions"
APOLOGIES: Final = "apologies"
RESUMPTIONS: Final = "resumptions"
RETRACTIONS: Final = "retractions"
LISTS: Final = FOURTH_LISTS | {AMBIGUOUS, APOLOGIES, CONDITIONS, RESUMPTIONS, RETRACTIONS}
"""The lists of words that engine 5 looks into. What a message says whole that means two things
(*tak*); what a condition begins with; whole orders to go on, beyond the phrases of that sign; a no
that takes back (*actually no*), and what may stand around any no (*sorry*).
"""
CONDITION_WORDS: Final = 30
_PAD: Final = any_of(Sign.PLEASE, Sign.THANKS, Sign.GREETING, Sign.COMMA, Sign.STOPS, Sign.EMOJI)
_GOES_ON: Final = re.compile(rf"^[{_PAD}]*[{any_of(Sign.GO_ON, Sign.KEEP)}][{_PAD}]*$")
_NEGATED: Final = re.compile(rf"{Sign.KEEP}|{Sign.NOT}[{any_of(Sign.PLEASE)}]*{Sign.HOLD}")
_IDEOGRAPHS: Final = "\u2e80"
"""From here on words stand without blanks."""


class WrittenReading:
    """Engine 5 over one table, compiled: engine 4 over it, and its lists."""

    __slots__ = (
        "_ambiguous",
        "_conditions",
        "_fourth",
        "_known",
        "_letters",
        "_resuming",
        "_retracting",
    )

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._fourth = ClearReading(table)
        self._known = table.once(written_words)
        self._letters = table.once(listed_letters)
        self._ambiguous = frozenset(
            key for phrase in table.lists.get(AMBIGUOUS, ()) for key in keys(phrase)
        )
        self._conditions = _by_letter(
            {_small(phrase) for phrase in table.lists.get(CONDITIONS, ())}
        )
        courtesies, refusals = table.lists.get("courtesies", ()), table.lists.get("refusals", ())
        self._resuming = ClosedLists(
            {"courtesies": courtesies, "holds": table.lists.get(RESUMPTIONS, ())}
        )
        around, no = (
            (*courtesies, *table.lists.get(APOLOGIES, ())),
            (*refusals, *table.lists.get(RETRACTIONS, ())),
        )
        self._retracting = ClosedLists(
            {"courtesies": around, "refusals": no, "consents": table.lists.get("consents", ())}
        )

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._fourth.parts(text)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._fourth.look(text)

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        found = self._fourth.read(look)
        if not look.is_short:
            return found
        whole = whole_tokens(look)
        found = self._ordered(look, found, whole)
        if not (found.yes or found.no or found.hold) and self._takes_back(look.text, whole):
            found = structs.replace(found, no=True, partly=Partly.NO)
        if (found.yes or found.no) and (
            not is_spelled(look.text, self._known) or self._is_ambiguous(look.text)
        ):
            return structs.replace(found, yes=False, no=False, partly=Partly.LEANS)
        return (
            structs.replace(found, partly=Partly.CONDITION)
            if self._is_condition(look.text, found)
            else found
        )

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        if not text.isascii() and not is_spelled(text, self._known | marked_words(options)):
            return ""
        return self._fourth.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of its place."""
        return self._fourth.mentions(text, options)

    def _ordered(self, look: Look, found: Cues, whole: tuple[str, ...]) -> Cues:
        """The cues with what is no order to hold, and with one to go on. ``whole`` are the tokens
        of a message that may say one thing.
        """
        signs = look.signs if found.words <= CONDITION_WORDS else ""
        if found.hold and _NEGATED.search(signs) is not None:
            found = structs.replace(found, hold=False)
        said = (
            "?" not in look.text
            and (
                _GOES_ON.match(signs) is not None
                or (bool(whole) and Part.HOLD in self._resuming.ways_of(whole))
            )
            and is_plain(look.text)
        )
        return structs.replace(found, go_on=True, hold=False, stop=0) if said else found

    def _takes_back(self, text: str, whole: tuple[str, ...]) -> bool:
        """*Nope, sorry*: a no in every way to read it, and no consent in any."""
        if not whole:
            return False
        ways = self._retracting.ways_of(whole)
        return (
            Part.REFUSAL in ways
            and not any(way & Part.CONSENT for way in ways)
            and is_clear(text, self._letters)
        )

    def _is_ambiguous(self, text: str) -> bool:
        return tuple(token for token in tokens(fold(text)) if token[0].isalnum()) in self._ambiguous

    def _is_condition(self, text: str, found: Cues) -> bool:
        """*If she agrees*: it grants nothing, and says on what it depends."""
        if (
            not found.partly
            or found.partly is Partly.CONDITION
            or found.question
            or found.order
            or found.hold
            or found.words > CONDITION_WORDS
        ):
            return False
        said = _small(text)
        begun = [phrase for phrase in self._conditions.get(said[:1], ()) if said.startswith(phrase)]
        return any(
            said[len(phrase) : len(phrase) + 1].isspace()
            or (phrase[0] >= _IDEOGRAPHS and said != phrase)
            for phrase in begun
        )


def _small(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()


def _by_letter(phrases: Iterable[str]) -> dict[str, list[str]]:
    """Each by its first letter: of most messages none begins with it."""
    found: dict[str, list[str]] = {}
    for phrase in phrases:
        found.setdefault(phrase[:1], []).append(phrase)
    return found
