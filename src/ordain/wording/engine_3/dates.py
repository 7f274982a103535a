"""Figures that have the form of a date or a time and are none: the 31st of February, 25:70."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Final

from ordain.wording.engine_1.folding import fold
from ordain.wording.engine_1.times import BEHIND_WORD
from ordain.wording.one_reading import made_once
from ordain.wording.table import Table

FEBRUARY: Final = "february"
SHORT_MONTHS: Final = "short_months"
LISTS: Final = frozenset({FEBRUARY, SHORT_MONTHS})
"""What February is called, and the months of 30 days."""
_LONGEST: Final = (0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DIGIT: Final = re.compile(r"\d")
JOINED: Final = re.compile(r"\d[-./:]\d")
"""Each of the three below has it."""
_ISO: Final = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_FIGURES: Final = re.compile(r"(?<![\d.,/])(\d{1,2})([./])(\d{1,2})(?:\2(\d{4}|\d{2})?)?(?![\d%])")
_CLOCK: Final = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_NOTHING: Final = " "


class Calendar:
    """What no calendar and no clock has, by the names of months of one table."""

    __slots__ = ("_before", "_behind", "_february")

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        """Compile the names."""
        names = {
            fold(name): month for month in (SHORT_MONTHS, FEBRUARY) for name in lists.get(month, ())
        }
        self._february = {name for name, month in names.items() if month == FEBRUARY}
        any_name = "|".join(map(re.escape, sorted(names, key=len, reverse=True))) or r"(?!)"
        self._behind = re.compile(
            rf"\b(\d{{1,2}})(?:st|nd|rd|th|er|\.|º|ª)?\s?(?:of |de |d')?({any_name})\b\.?"
        )
        self._before = re.compile(rf"\b({any_name})\.?\s(\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)")

    def possible(self, folded: str) -> str:
        """The folded text without dates and times that there are not."""
        return made_once(self._without_impossible, folded)

    def _without_impossible(self, folded: str) -> str:
        if _DIGIT.search(folded) is None:
            return folded
        text = folded if JOINED.search(folded) is None else _without_figures(folded)
        text = self._behind.sub(
            lambda found: found[0] if self._has(found[2], int(found[1])) else _NOTHING, text
        )
        if BEHIND_WORD.search(text) is None:
            return text
        return self._before.sub(
            lambda found: found[0] if self._has(found[1], int(found[2])) else _NOTHING, text
        )

    def _has(self, month: str, day: int) -> bool:
        return 1 <= day <= (29 if month in self._february else 30)


def calendar_of(table: Table) -> Calendar:
    """That of a whole table."""
    return Calendar(table.lists)


def _without_figures(text: str) -> str:
    """The text without dates in figures and times of day that there are not."""
    text = _ISO.sub(
        lambda found: (
            found[0] if _is_date(int(found[1]), int(found[2]), int(found[3])) else _NOTHING
        ),
        text,
    )
    text = _FIGURES.sub(lambda found: found[0] if _can_be(found) else _NOTHING, text)
    return _CLOCK.sub(
        lambda found: found[0] if int(found[1]) <= 24 and int(found[2]) < 60 else _NOTHING, text
    )


def _can_be(found: re.Match[str]) -> bool:
    """Whether figures are a day of a year; with a slash the month may stand first. What no date has
    the form of is left as it is.
    """
    first, second = int(found[1]), int(found[3])
    year = (
        2000 if found[4] is None else int(found[4]) if len(found[4]) == 4 else 2000 + int(found[4])
    )
    if _is_date(year, second, first) or (found[2] == "/" and _is_date(year, first, second)):
        return True
    return found[2] == "." and second > len(_LONGEST) - 1  # *18.45* is a price or a time


def _is_date(year: int, month: int, day: int) -> bool:
    if not 1 <= month < len(_LONGEST) or not 1 <= day <= _LONGEST[month]:
        return False
    try:
        date(max(1, year), month, day)
    except ValueError:
        return False
    return True
