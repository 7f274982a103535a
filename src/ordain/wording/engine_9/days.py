"""Dates and times that there are not, beyond those of engine 3: the 13th month, the 32nd of May, 25
o'clock, a lone 99.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ordain.wording.engine_1.folding import fold
from ordain.wording.engine_1.times import BEHIND_WORD
from ordain.wording.engine_3.dates import JOINED, Calendar

DAYS_MAX: Final = 31
HOURS_MAX: Final = 24
MONTHS_MAX: Final = 12
MINUTES_MAX: Final = 59
_YEARS: Final = range(1900, 2200)
_DIGIT: Final = re.compile(r"\d")
_BARE: Final = re.compile(r"(?<![\d.,/])\d{1,2}[./]\d{1,2}(?![\d./])")
"""*31.2* without anything behind it may be no date at all."""
_WRITTEN: Final = re.compile(r"(?<![\d.])(\d{1,2})\.(\d{1,2})\.(?:\d{4}|\d{2})(?![\d.])")
_LATE: Final = re.compile(r"\b24[:.]?(?:0[1-9]|[1-5]\d)\b")
_LONE: Final = re.compile(r"\D*?(\d+)\D*")
_FIGURES: Final = re.compile(r"\d[\d.,:/-]*")


class Days:
    """What no calendar and no clock has, by the words of one table."""

    __slots__ = ("_at", "_before", "_behind", "_calendar", "_clock")

    def __init__(self, lists: Mapping[str, Iterable[str]], calendar: Calendar) -> None:
        """Compile the words; ``calendar`` is that of engine 3."""
        self._calendar = calendar
        months, clock, hours = (_any_of(lists.get(name, ())) for name in _NAMED)
        behind = rf"(\d\d)(?<![\d.:]..)(?:st|nd|rd|th|er|\.|º|ª)?\s?(?:of |de |d')?{months}[a-z]*\b"
        self._behind = re.compile(behind)
        self._before = re.compile(
            rf"{behind}|\b{months}[a-z]{{0,6}}\.?\s(\d{{2}})(?:st|nd|rd|th)?\b(?![:.]?\d)"
        )
        self._clock = re.compile(rf"(\d\d)(?<![\d:.]..)(?:[:.]\d\d)?\s?{clock}\b")
        self._at = re.compile(rf"\b{hours}\s(\d{{2}})(?=[\s!?]*$)")

    def names_impossible(self, text: str) -> bool:
        """Whether the text names a day or a time of day that there is not."""
        if _DIGIT.search(text) is None:
            return False
        folded = fold(text).strip()
        joined = JOINED.search(folded) is not None
        whole = _BARE.sub("x", folded) if joined else folded
        if self._calendar.possible(whole) != whole or (
            "24" in folded and _LATE.search(folded) is not None
        ):
            return True
        if joined and any(
            not (1 <= int(day) <= DAYS_MAX and 1 <= int(month) <= MONTHS_MAX)
            for day, month in _WRITTEN.findall(folded)
        ):
            return True
        return (
            any(not 1 <= day <= DAYS_MAX for day in self._days(folded))
            or any(hour > HOURS_MAX for hour in self._hours(folded))
            or _is_lone(folded)
        )

    def _days(self, folded: str) -> list[int]:
        """The days of two figures beside a month; to look for months before them takes longest."""
        if BEHIND_WORD.search(folded) is None:
            return [int(day) for day in self._behind.findall(folded)]
        return [int(one or other) for one, other in self._before.findall(folded)]

    def _hours(self, folded: str) -> list[int]:
        forms = (self._clock,) if BEHIND_WORD.search(folded) is None else (self._clock, self._at)
        return [int(hour) for form in forms for hour in form.findall(folded)]


_NAMED: Final = ("months", "clock", "hours")


def _is_lone(folded: str) -> bool:
    """Whether all that it says is a figure that is no day, no hour and no year."""
    said = folded.strip(" .!,")
    if not said.isdecimal():
        return False
    figure = int(said[:5])
    if len(said) <= 2:
        return not 1 <= figure <= DAYS_MAX
    timed = figure // 100 <= HOURS_MAX and figure % 100 <= MINUTES_MAX
    return len(said) > 4 or not (timed or figure in _YEARS)


def _any_of(words: Iterable[str]) -> str:
    found = [re.escape(folded) for word in words if (folded := fold(word))]
    return f"(?:{'|'.join(found)})" if found else "(?!)"
