"""The engines by number. One that recorded decisions name is never changed: another way of reading
is another engine, beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from functools import cache
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from ordain.wording.cues import Cues
from ordain.wording.table import Table


class Reader(Protocol):
    """An engine over one compiled table. Pure and total."""

    def cues(self, text: str) -> Cues:
        """The features of the text's wording."""
        ...

    def parts(self, text: str) -> tuple[tuple[str, str], ...]:
        """The text as the engine sees it: each piece with the name of the sign that it is taken
        for.
        """
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


class WordingEngine(Struct, frozen=True, kw_only=True):
    """A way of reading.

    ``signs`` are those that phrases may have, by name, with the letter of each in a shape and in
    order of precedence; ``lists`` the word lists that it looks into. ``keys`` are what of a phrase
    is compared with a text: equal keys are one phrase to it.
    """

    number: int
    signs: Mapping[str, str]
    lists: frozenset[str]
    keys: Callable[[str], Set[tuple[str, ...]]]
    compile: Callable[[Table], Reader]


def _code(number: int) -> tuple[frozenset[str], Callable[[Table], Reader]]:
    """The lists that an engine looks into, and what compiles it; ``KeyError`` where there is none.
    An import for each: a start reads none, and types and layers are held of all of them.
    """
    match number:
        case 1:
            from ordain.wording.engine_1 import reading, signs  # lazy: see above

            return signs.LISTS, reading.CompiledReading
        case 2:
            from ordain.wording.engine_2 import reading  # lazy: see above

            return reading.LISTS, reading.ClosedReading
        case 3:
            from ordain.wording.engine_3 import reading  # lazy: see above

            return reading.LISTS, reading.WholeReading
        case 4:
            from ordain.wording.engine_4 import reading  # lazy: see above

            return reading.LISTS, reading.ClearReading
        case 5:
            from ordain.wording.engine_5 import reading  # lazy: see above

            return reading.LISTS, reading.WrittenReading
        case 6:
            from ordain.wording.engine_6 import reading  # lazy: see above

            return reading.LISTS, reading.InsistentReading
        case 7:
            from ordain.wording.engine_7 import reading  # lazy: see above

            return reading.LISTS, reading.ApartReading
        case 8:
            from ordain.wording.engine_8 import reading  # lazy: see above

            return reading.LISTS, reading.SituatedReading
        case 9:
            from ordain.wording.engine_9 import reading  # lazy: see above

            return reading.LISTS, reading.FillingReading
        case _:
            raise KeyError(number)


def _loaded(number: int) -> WordingEngine:
    lists, reader = _code(number)
    from ordain.wording.engine_1.phrases import keys  # lazy: see above
    from ordain.wording.engine_1.signs import PRECEDENCE  # lazy: see above

    return WordingEngine(
        number=number,
        signs={sign.name.lower(): sign.value for sign in PRECEDENCE},
        lists=lists,
        keys=keys,
        compile=reader,
    )


class Engines(Mapping[int, WordingEngine]):
    """Each engine by its number, loaded when it is first asked for."""

    def __init__(self, newest: int) -> None:
        """``newest`` is the last number there is."""
        self._newest, self._load = newest, cache(_loaded)

    def __getitem__(self, number: int) -> WordingEngine:
        """The engine; ``KeyError`` where there is none of that number."""
        return self._load(number)

    def __iter__(self) -> Iterator[int]:
        """The numbers, from 1 on."""
        return iter(range(1, self._newest + 1))

    def __len__(self) -> int:
        """How many there are, which is the newest one's number."""
        return self._newest


NEWEST: Final = 9
"""The engine that new catalogs name."""
ENGINES: Final = Engines(NEWEST)
