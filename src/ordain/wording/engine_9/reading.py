"""Engine 8's reading, with what fills no slot.

A no that is a whole message was one to a question of yes or no alone: to *which day?* and *which of
these?* it was a request of its own (*never*, *geht nicht*). And a day was one however it was
named: *not tomorrow*, *alles außer Freitag*, *12.13.2026*. No yes, no choice, no day and no place
comes here that engine 8 does not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_3.dates import calendar_of
from ordain.wording.engine_8.pieces import SignedPiece
from ordain.wording.engine_8.reading import LISTS as EIGHTH_LISTS
from ordain.wording.engine_8.reading import SituatedReading
from ordain.wording.engine_9 import remarks, reserve
from ordain.wording.engine_9.days import Days
from ordain.wording.engine_9.remarks import CERTAIN, Remarks
from ordain.wording.engine_9.reserve import Reserve
from ordain.wording.table import Table

LISTS: Final = EIGHTH_LISTS | reserve.LISTS | remarks.LISTS
"""The lists of words that engine 9 looks into."""


class FillingReading:
    """Engine 9 over one table, compiled: engine 8 over it, and its lists."""

    __slots__ = ("_days", "_eighth", "_remarks", "_reserve")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._eighth = SituatedReading(table)
        self._reserve = Reserve(table)
        self._days = Days(table.lists, table.once(calendar_of))
        self._remarks = Remarks(table)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._eighth.parts(text)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        look = self._eighth.look(text)
        found = self._eighth.read(look)
        if found.no:
            return structs.replace(found, refuses=True, date_time=False, location=False)
        if found.yes or not look.is_short:
            return found
        if found.nudge < CERTAIN and self._remarks.enquires(look):
            return structs.replace(found, nudge=CERTAIN, filler=0)
        if found.date_time or found.location:
            found = self._filled(found, look)
        if not self._remarks.may_order(look, found):
            return found
        return self._ordered(found, self._eighth.pieces(text))

    def _filled(self, found: Cues, look: Look) -> Cues:
        """Without a day or a place that is not to be."""
        date_time = found.date_time and not self._days.names_impossible(look.text)
        if (date_time or found.location) and self._reserve.may_take_back(look):
            pieces = self._eighth.pieces(look.text)
            date_time = date_time and not self._reserve.takes_back(pieces)
            location = found.location and not self._reserve.takes_any_back(pieces)
        else:
            location = found.location
        if (date_time, location) == (found.date_time, found.location):
            return found
        return structs.replace(found, date_time=date_time, location=location)

    def _ordered(self, found: Cues, pieces: Sequence[SignedPiece]) -> Cues:
        """With what it orders of work that runs, beyond engine 8."""
        if self._remarks.corrects(pieces, found):
            return structs.replace(found, steer=CERTAIN, stop=min(found.stop, 1))
        if self._remarks.stops(pieces):
            return structs.replace(found, stop=CERTAIN)
        if not self._remarks.holds(pieces, self._eighth.cues):
            return found
        partly = Partly.LEANS if found.partly is Partly.MAYBE and not found.apart else found.partly
        return structs.replace(found, hold=True, partly=partly, reasoned=True)

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        return self._eighth.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of a place."""
        return self._eighth.mentions(text, options)
