"""Answers in a closed alphabet, and choices that are whole messages; holds in the form of a
question, and two more ways to correct.

Engine 3 dropped what it had no word for, so a struck or negated yes was one, and what stood around
an option was taken for nothing. A bare *stop?* stops as *stop* does: nobody asks a machine whether
it might.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.folding import LOOKED_AT, fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_3.reading import LISTS as THIRD_LISTS
from ordain.wording.engine_3.reading import WholeReading
from ordain.wording.engine_3.whole import closed_lists
from ordain.wording.engine_4 import orders
from ordain.wording.engine_4.alphabet import answering_letters, is_clear
from ordain.wording.engine_4.choices import CHOOSING, ClosedChoices
from ordain.wording.engine_4.orders import Orders
from ordain.wording.table import Table

LISTS: Final = THIRD_LISTS | orders.LISTS | {CHOOSING}
"""The lists of words that engine 4 looks into."""


class ClearReading:
    """Engine 4 over one table, compiled: engine 3 over it, and its closed choices."""

    __slots__ = ("_choices", "_letters", "_orders", "_third")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._third = WholeReading(table)
        self._orders = Orders(table)
        self._letters = answering_letters(table)
        self._choices = ClosedChoices(table, table.once(closed_lists))

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._third.parts(text)

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._third.look(text)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        text, found = look.text, self._third.read(look)
        if look.is_short:
            found = self._orders.read(found, look, self._third)
        if (found.yes or found.no) and not is_clear(text, self._letters):
            found = structs.replace(found, yes=False, no=False, partly=Partly.LEANS)
        choice = self._choices.lettered(look)
        return found if choice == found.choice else structs.replace(found, choice=choice)

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        return self._choices.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of its place."""
        return self._third.mentions(text, options) or self._choices.places(
            tokens(fold(text[:LOOKED_AT]))
        )
