"""The engines by number. One that recorded decisions name is never changed: another way of reading is another engine, beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from ordain.wording.cues import Cues
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.reading import CompiledReading
from ordain.wording.engine_1.signs import LISTS, PRECEDENCE
from ordain.wording.engine_2.reading import LISTS as LISTS_2
from ordain.wording.engine_2.reading import ClosedReading
from ordain.wording.engine_3.reading import LISTS as LISTS_3
from ordain.wording.engine_3.reading import WholeReading
from ordain.wording.engine_4.reading import LISTS as LISTS_4
from ordain.wording.engine_4.reading import ClearReading
from ordain.wording.engine_5.reading import LISTS as LISTS_5
from ordain.wording.engine_5.reading import WrittenReading
from ordain.wording.engine_6.reading import LISTS as LISTS_6
from ordain.wording.engine_6.reading import InsistentReading
from ordain.wording.engine_7.reading import LISTS as LISTS_7
from ordain.wording.engine_7.reading import ApartReading
from ordain.wording.engine_8.reading import LISTS as LISTS_8
from ordain.wording.engine_8.reading import SituatedReading
from ordain.wording.table import Table


class Reader(Protocol):
    """An engine over one compiled table. Pure and total."""

    def cues(self, text: str) -> Cues:
        """The features of the text's wording."""
        ...

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """The text as the engine sees it: each piece with the name of the sign that it is taken for."""
        ...


@runtime_checkable
class Choosing(Reader, Protocol):
    """An engine that reads a choice among any options: those from 3 on."""

    def chosen(self, text: str, options: tuple[str, ...]) -> str:
        """The letter of the option that the text chooses and says nothing beside; "": none."""
        ...

    def mentions(self, text: str, options: tuple[str, ...]) -> bool:
        """Whether the text has a word of one of the options."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WordingEngine:
    """A way of reading.

    ``signs`` are those that phrases may have, by name, with the letter of each in a shape and in order of precedence; ``lists`` the
    word lists that it looks into. ``keys`` are what of a phrase is compared with a text: equal keys are one phrase to it.
    """

    number: int
    signs: Mapping[str, str]
    lists: frozenset[str]
    keys: Callable[[str], Set[tuple[str, ...]]]
    compile: Callable[[Table], Reader]


_SIGNS: Final = {sign.name.lower(): sign.value for sign in PRECEDENCE}
ENGINES: Final[Mapping[int, WordingEngine]] = {
    number: WordingEngine(number=number, signs=_SIGNS, lists=lists, keys=keys, compile=reader)
    for number, lists, reader in (
        (1, LISTS, CompiledReading),
        (2, LISTS_2, ClosedReading),
        (3, LISTS_3, WholeReading),
        (4, LISTS_4, ClearReading),
        (5, LISTS_5, WrittenReading),
        (6, LISTS_6, InsistentReading),
        (7, LISTS_7, ApartReading),
        (8, LISTS_8, SituatedReading),
    )
}
NEWEST: Final = max(ENGINES)
"""The engine that new catalogs name."""
