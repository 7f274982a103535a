"""Engine 6's reading, with what an answer is followed by, and with a word or two that nothing is
said to a question with.

*Wait, what is a lighthouse?* and *yes, and what is the capital of France?* were about what was
open, because of what they begin with, and *Dijkstra* was because it is short: they are matters of
their own. What an open question may be told by them is told as before: a bare yes or no, what is
undecided, what speaks of the matter itself (*yes, send it*), a mistyped answer. None of it becomes
an answer that was none.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_6.reading import CERTAIN, InsistentReading
from ordain.wording.engine_6.reading import LISTS as SIXTH_LISTS
from ordain.wording.engine_7 import matter
from ordain.wording.engine_7.matter import Beginnings, Begins, Matter
from ordain.wording.table import Table

LISTS: Final = SIXTH_LISTS | matter.LISTS
"""The lists of words that engine 7 looks into."""
ASKING_WORDS: Final = 4
"""A question of so many words asks something, also where the table knows every one of them."""
CALCULATION: Final = re.compile(r"\d\s*[+*^×÷]\s*\d")
NAME_LETTERS: Final = 3
"""A word of so many letters can be the name of something."""
_NAME: Final = Sign.OWN.name.lower()
_OWN: Final = frozenset(
    {_NAME, Sign.QUOTED.name.lower(), Sign.NUMBER.name.lower(), Sign.DATE.name.lower()}
)
_ANSWERS: Final = frozenset({Begins.YES, Begins.NO, Begins.HOLD})
_MAYBE: Final = Partly.MAYBE
_REFERS: Final = Sign.IT.name.lower()


class ApartReading:
    """Engine 7 over one table, compiled: engine 6 over it, and what messages begin with."""

    __slots__ = ("_beginnings", "_sixth")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._sixth = InsistentReading(table)
        self._beginnings = Beginnings(table)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._sixth.parts(text)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._sixth.look(text)

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        found = self._sixth.read(look)
        if found.yes or found.no or found.hold or not found.partly or not look.is_short:
            return found
        if found.partly is not Partly.LEANS and not self._beginnings.may_begin(look.tokens):
            return found  # it begins with no answer, which is all that is asked of it
        text, said = look.text, self._beginnings.split(look.tokens)
        if found.partly is Partly.CONDITION:
            apart = bool(said.begins & _ANSWERS) and (said.added or Begins.YES not in said.begins)
            orders = apart and self._goes_on(said, text, ordering=True)
            return (
                structs.replace(found, partly=Partly.MAYBE, apart=True, lead=_lead(said))
                if orders
                else found
            )
        if said.begins & _ANSWERS:
            # of a question right behind an answer a model may know better
            apart = said.added or not said.begins & {Begins.YES, Begins.NO}
            return (
                structs.replace(found, partly=Partly.MAYBE, apart=apart, lead=_lead(said))
                if self._goes_on(said, text)
                else found
            )
        if found.partly is _MAYBE:
            return found  # a matter of its own already, whatever it names
        if said.begins and said.rest:
            named = self._goes_on(said, text) or self._names(said.rest, self._sixth.cues(said.rest))
        else:
            named = self._names(text, found)
        return structs.replace(found, partly=_MAYBE) if named else found

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        return self._sixth.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of a place."""
        return self._sixth.mentions(text, options)

    def _goes_on(self, said: Matter, text: str, *, ordering: bool = False) -> bool:
        """Whether what stands behind an answer is a matter of its own: it asks something, or it is
        joined on, or it orders what is none of the matter.

        ``ordering``: only what orders counts.
        """
        if not said.rest or self._beginnings.puts_off(said.rest):
            return False
        read = self._sixth.cues(said.rest)
        if (
            read.yes
            or read.no
            or read.hold
            or read.go_on
            or read.stop
            or read.nudge
            or read.trouble
            or read.filler
        ):
            return False
        signs = [sign for _, sign in self.parts(said.rest)]
        own = any(sign in _OWN for sign in signs) or CALCULATION.search(text) is not None
        if ordering:
            return own and read.order and _REFERS not in signs
        if read.question or "?" in said.rest:
            return own or read.words >= ASKING_WORDS
        if not own or self._beginnings.is_undecided(said.rest):
            return False
        if said.added:
            return read.order or (_REFERS not in signs and read.partly is not Partly.CONDITION)
        return read.order and _REFERS not in signs and Begins.YES not in said.begins

    def _names(self, text: str, found: Cues) -> bool:
        """Whether so few words name something, and say nothing to what is open."""
        if (
            found.partly is not Partly.LEANS
            or found.steer == CERTAIN
            or max(found.stop, found.nudge, found.trouble, found.filler)
        ):
            return False
        if CALCULATION.search(text) is not None:
            return True
        parts = self.parts(text)
        named = any(
            sign == _NAME and spoken.isalpha() and len(spoken) >= NAME_LETTERS
            for spoken, sign in parts
        )
        if not named or found.date_time or any(sign == _REFERS for _, sign in parts):
            return False
        return not (self._beginnings.is_undecided(text) or self._beginnings.is_mistyped(text))


def _lead(said: Matter) -> str:
    """The yes or the no that it begins with; "" where it is neither, and where it is both."""
    answers = said.begins & {Begins.YES, Begins.NO}
    return str(next(iter(answers))) if len(answers) == 1 else ""
