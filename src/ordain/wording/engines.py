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


def _first() -> WordingEngine:
    from ordain.wording.engine_1.reading import CompiledReading  # lazy: a start reads nothing
    from ordain.wording.engine_1.signs import LISTS  # lazy: see above

    return _engine(1, LISTS, CompiledReading)


def _second() -> WordingEngine:
    from ordain.wording.engine_2.reading import LISTS, ClosedReading  # lazy: see above

    return _engine(2, LISTS, ClosedReading)


def _third() -> WordingEngine:
    from ordain.wording.engine_3.reading import LISTS, WholeReading  # lazy: see above

    return _engine(3, LISTS, WholeReading)


def _fourth() -> WordingEngine:
    from ordain.wording.engine_4.reading import LISTS, ClearReading  # lazy: see above

    return _engine(4, LISTS, ClearReading)


def _fifth() -> WordingEngine:
    from ordain.wording.engine_5.reading import LISTS, WrittenReading  # lazy: see above

    return _engine(5, LISTS, WrittenReading)


def _sixth() -> WordingEngine:
    from ordain.wording.engine_6.reading import LISTS, InsistentReading  # lazy: see above

    return _engine(6, LISTS, InsistentReading)


def _seventh() -> WordingEngine:
    from ordain.wording.engine_7.reading import LISTS, ApartReading  # lazy: see above

    return _engine(7, LISTS, ApartReading)


def _eighth() -> WordingEngine:
    from ordain.wording.engine_8.reading import LISTS, SituatedReading  # lazy: see above

    return _engine(8, LISTS, SituatedReading)


def _engine(number: int, lists: frozenset[str], reader: Callable[[Table], Reader]) -> WordingEngine:
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

    def __init__(self, *made: Callable[[], WordingEngine]) -> None:
        """``made`` is what loads each, from engine 1 on."""
        self._made = tuple(map(cache, made))

    def __getitem__(self, number: int) -> WordingEngine:
        """The engine; ``KeyError`` where there is none of that number."""
        if number not in range(1, len(self._made) + 1):
            raise KeyError(number)
        return self._made[number - 1]()

    def __iter__(self) -> Iterator[int]:
        """The numbers, from 1 on."""
        return iter(range(1, len(self._made) + 1))

    def __len__(self) -> int:
        """How many there are, which is the newest one's number."""
        return len(self._made)


ENGINES: Final = Engines(_first, _second, _third, _fourth, _fifth, _sixth, _seventh, _eighth)
NEWEST: Final = len(ENGINES)
"""The engine that new catalogs name."""
