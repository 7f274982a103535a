"""Dates and times that there are not, beyond those of engine 3: the 13th month, the 32nd of May, 25
o'clock, a lone 99.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from ordain.wording.engine_1.folding import fold
from ordain.wording.engine_3.dates import Calendar

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

    __slots__ = ("_at", "_calendar", "_clock", "_months")

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        """Compile the words."""
        self._calendar = Calendar(lists)
        months, clock, hours = (_any_of(lists.get(name, ())) for name in _NAMED)
        self._months = re.compile(
            rf"(?<![\d.:])(\d{{2}})(?:st|nd|rd|th|er|\.|º|ª)?\s?(?:of |de |d')?{months}[a-z]*\b"
            rf"|\b{months}[a-z]{{0,6}}\.?\s(\d{{2}})(?:st|nd|rd|th)?\b(?![:.]?\d)"
        )
        self._clock = re.compile(rf"(?<![\d:.])(\d{{2}})(?:[:.]\d\d)?\s?{clock}\b")
        self._at = re.compile(rf"\b{hours}\s(\d{{2}})(?=[\s!?]*$)")

    def names_impossible(self, text: str) -> bool:
        """Whether the text names a day or a time of day that there is not."""
        if _DIGIT.search(text) is None:
            return False
        folded = fold(text).strip()
        whole = _BARE.sub("x", folded)
        if self._calendar.without_impossible(whole) != whole or _LATE.search(folded) is not None:
            return True
        if any(
            not (1 <= int(day) <= DAYS_MAX and 1 <= int(month) <= MONTHS_MAX)
            for day, month in _WRITTEN.findall(folded)
        ):
            return True
        days = (int(one or other) for one, other in self._months.findall(folded))
        hours = (int(hour) for form in (self._clock, self._at) for hour in form.findall(folded))
        return (
            any(not 1 <= day <= DAYS_MAX for day in days)
            or any(hour > HOURS_MAX for hour in hours)
            or _is_lone(folded)
        )


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
