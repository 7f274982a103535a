"""A yes and a choice in a closed world: every word is known, and none of them takes it back.

Engine 1 looks for what takes a yes back (*but*, *wait*, *not*), and whoever finds another way to
say so has agreed. Here it is the other way round: what begins with a yes is one only where all that
follows agrees, thanks or is polite. What else stands there, known or not, leaves the question open.
A list of the table, ``hedges``, names words that are polite or thank elsewhere and are no plain
yes: *perhaps*, *for now*, *I see*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import structs

from ordain.wording.cues import Cues
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import BREAKS, any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.reading import CompiledReading as FirstReading
from ordain.wording.engine_1.signs import LISTS as FIRST_LISTS
from ordain.wording.engine_1.signs import Sign
from ordain.wording.table import Table

HEDGES: Final = "hedges"
LISTS: Final = FIRST_LISTS | {HEDGES}
"""The lists of words that engine 2 looks into: those of engine 1, and phrases beside which there is
no plain yes or choice.
"""
_POLITE: Final = any_of(Sign.PLEASE, Sign.THANKS, Sign.GREETING, Sign.OKAY, Sign.YES, Sign.IT)
_AGREEING: Final = any_of(Sign.OKAY_IF, Sign.SI, Sign.USE, Sign.GO_ON)
_AGREES: Final = re.compile(rf"[{_POLITE}{_AGREEING}{Sign.NOW}{BREAKS}]+")
_CHOOSES: Final = re.compile(
    rf"[{_POLITE}"
    rf"{any_of(Sign.CHOOSE, Sign.THE, Sign.USE, Sign.RATHER, Sign.I, Sign.ONE, Sign.TWO, Sign.LETTER_A, Sign.LETTER_B)}"
    rf"{BREAKS}]+"
)
_LETTER: Final = "y"


class ClosedReading:
    """Engine 2 over one table, compiled: engine 1 over it, and the hedges."""

    __slots__ = ("_first", "_hedges", "_phrases")

    def __init__(self, table: Table) -> None:
        """Compile the table."""
        self._first = FirstReading(table)
        self._hedges = frozenset(
            " ".join(key) for phrase in table.lists.get(HEDGES, ()) for key in keys(phrase)
        )
        self._phrases = tuple(hedge for hedge in self._hedges if " " in hedge)

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """As engine 1 has them."""
        return self._first.parts(text)

    def look(self, text: str) -> Look:
        """As engine 1 has it."""
        return self._first.look(text)

    def may_stop(self, found: Sequence[str]) -> bool:
        """As engine 1 has it."""
        return self._first.may_stop(found)

    def cues(self, text: str) -> Cues:
        """The features of a message's wording. Total and bounded: only the beginning of a long text
        is read.
        """
        return self.read(self.look(text))

    def read(self, look: Look) -> Cues:
        """The cues of what was looked at."""
        found = self._first.read(look)
        if (not found.yes or found.no) and not found.choice:
            return found  # of both a yes and a no it is said that it is both
        parts, signs = look.parts, look.signs
        plain = not self._hedged([said for said, _ in parts])
        yes = found.yes and (found.no or (plain and _agrees(parts, signs)))
        return structs.replace(
            found,
            yes=yes,
            choice=found.choice if plain and _CHOOSES.fullmatch(signs) is not None else "",
        )

    def _hedged(self, said: list[str]) -> bool:
        """Whether one of the pieces is a hedge, or one of several words stands across them."""
        whole = f" {' '.join(said)} "
        return not self._hedges.isdisjoint(said) or any(
            f" {hedge} " in whole for hedge in self._phrases
        )


def _agrees(parts: tuple[tuple[str, str], ...], signs: str) -> bool:
    alone = [said for (said, _), sign in zip(parts, signs, strict=True) if sign != Sign.STOPS]
    return alone == [_LETTER] or _AGREES.fullmatch(signs) is not None
