"""Engine 7's reading, with the orders to work that runs read by what stands around the word that
orders.

*Halt mich auf dem Laufenden* and *make it quick* stopped or corrected, *Stop! The numbers are
wrong* and *use 20 percent, not 7.5* did neither. An answer is what it was: no yes, no and no choice
comes or goes here.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues, Partly
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_7.reading import LISTS as SEVENTH_LISTS
from ordain.wording.engine_7.reading import ApartReading
from ordain.wording.engine_8 import contrasts, slack, stops
from ordain.wording.engine_8.contrasts import Contrasts
from ordain.wording.engine_8.pieces import SignedPiece, pieces_of, signs_of
from ordain.wording.engine_8.slack import CERTAIN, Slack, orders
from ordain.wording.engine_8.stops import Stops
from ordain.wording.one_reading import made_once
from ordain.wording.table import Table

LISTS: Final = SEVENTH_LISTS | contrasts.LISTS | slack.LISTS | stops.LISTS
"""The lists of words that engine 8 looks into."""
_CAN_YOU: Final = Sign.CAN_YOU.value


class SituatedReading:
    """Engine 8 over one table, compiled: engine 7 over it, and its lists."""

    __slots__ = ("_contrasts", "_seventh", "_slack", "_stops")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._seventh = ApartReading(table)
        self._slack, self._contrasts, self._stops = Slack(table), Contrasts(table), Stops(table)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._seventh.parts(text)

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._seventh.look(text)

    def pieces(self, text: str) -> tuple[SignedPiece, ...]:
        """The parts with the letters of their signs."""
        return made_once(self._pieces, text)

    def _pieces(self, text: str) -> tuple[SignedPiece, ...]:
        return pieces_of(self.parts(text))

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        found = self._seventh.read(look)
        if not look.is_short:
            return found
        text, plain = look.text, self._slack.plain(look)
        if plain != text:
            look = self.look(plain)
        if orders(found):
            other = found if plain == text else self._seventh.read(look)
            found = self._slack.taken_back(found, other, self.pieces(plain), self._seventh.cues)
        if found.yes or found.no or found.hold or found.stop == CERTAIN:
            return found
        doubted, stopped, held = self._slack.doubts(look.words), False, False
        if not doubted and self._stops.may_wish(look):
            stopped, held = self._stops.wished(self.pieces(plain), self._seventh.cues)
        if found.steer == CERTAIN:
            return structs.replace(found, stop=CERTAIN, steer=1) if stopped else found
        if "?" in text and not self._can_you(look):
            return found
        if self._contrasts.may_correct(look) and self._contrasts.corrects(text, self.pieces(plain)):
            return structs.replace(found, steer=CERTAIN, stop=min(found.stop, 1), go_on=False)
        return self._halted(found, look, doubted=doubted, stopped=stopped, held=held)

    def _can_you(self, look: Look) -> bool:
        """Whether it asks politely for what it orders."""
        return _CAN_YOU in look.signs and _CAN_YOU in signs_of(self.pieces(look.text))

    def _halted(self, found: Cues, look: Look, *, doubted: bool, stopped: bool, held: bool) -> Cues:
        """The cues with a stop and a wait that were found, or stand beside what else it says."""
        reasoned = False
        if not (doubted or stopped or held) and self._stops.may_halt(look):
            pieces = self.pieces(look.text)
            stopped = self._stops.all_of(pieces)
            if not stopped:
                stopped, held = self._stops.beside(pieces, self._seventh.cues)
                reasoned = stopped or held
        if stopped:
            return structs.replace(found, stop=CERTAIN, go_on=False, reasoned=reasoned)
        if not held:
            return found
        partly = Partly.LEANS if found.partly is Partly.MAYBE and not found.apart else found.partly
        return structs.replace(found, hold=True, go_on=False, partly=partly, reasoned=reasoned)

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the message chooses and says nothing beside, "" where there
        is none.
        """
        return self._seventh.chosen(text, options)

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the message has a word of one of the options, or of a place."""
        return self._seventh.mentions(text, options)
