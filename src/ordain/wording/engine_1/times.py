"""Figures in a text that name a time or a place. The words beside them are a table's lists, the
forms of figures are code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ordain.wording.engine_1.folding import fold

_DIGIT: Final = re.compile(r"\d")
BEHIND_WORD: Final = re.compile(r"\s\d")
"""Wherever a word before a figure makes a time of it: to look for such words at each place of a
text is most of what figures take.
"""
_ENDS: Final = r"(?=$|[\s,;!?)])"
_SPOT: Final = re.compile(
    r"-?\d{1,2}\.\d{2,}\s*[°,; ]\s*-?\d{1,3}\.\d{2,}.*|"
    r"(?:\w{1,2}-)?\d{4,5}(?:-\d{3,4})?(?:\s?[a-z]{2})?|[a-z]{1,2}\d[a-z\d]?\s?\d[a-z]{2}|"
    r"〒?\d{3}-\d{4}"
)


class NumberTimes(NamedTuple):
    """What finds figures that are a date or a time of day: ``alone`` those that no word before them
    makes one.
    """

    whole: re.Pattern[str]
    alone: re.Pattern[str]


def number_times(lists: Mapping[str, Iterable[str]]) -> NumberTimes:
    """The forms of figures beside the words of these lists."""
    clock, hours, days, months, within, units, counters = (
        _any_of(lists.get(name, ()))
        for name in ("clock", "hours", "days", "months", "within", "units", "counters")
    )
    figures = (
        r"\d{4}-\d{1,2}-\d{1,2}\b|[0-3]?\d[./](?:0?\d|1[0-2])\.?(?:[./]?(?:\d{4}|"
        rf"\d{{2}}))?{_ENDS}(?<!\d\.\d)"
        rf"|\d{{1,2}}:\d{{2}}\b|\d{{1,2}}\s?{clock}\b|\d{{1,2}}\s?h\s?\d{{2}}\b"
        rf"|\d{{1,2}}(?:st|nd|rd|th|er|\.|º|ª)?\s?(?:of |de |d')?{months}\w*\b|\d{{1,2}}(?:st|nd|"
        r"rd|th)\b"
    )
    words = (
        rf"{hours}\s\d{{1,2}}\b(?!\s?[%€$])|a las? \d{{1,2}}\b|a \d{{1,2}}\s?h|"
        rf"{months}(?!or\b)[a-z]{{0,6}}\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b"
        rf"|{days} \d{{1,2}}(?:st|nd|rd|th|er|\.)?{_ENDS}|{within} \d{{1,3}} {units}|(?:may|mai|"
        r"sat|sun|mar)\s\d"
    )
    return NumberTimes(
        whole=re.compile(rf"\b(?:(?=\d)(?:{figures})|{words})|\d{{1,2}}\s?{counters}"),
        alone=re.compile(rf"(?=\d)(?:\b(?:{figures})|\d{{1,2}}\s?{counters})"),
    )


def names_number_time(times: NumberTimes, folded: str) -> bool:
    """Whether figures in the text name a date or a time of day."""
    if (figure := _DIGIT.search(folded)) is None:
        return False
    if BEHIND_WORD.search(folded) is None:
        return times.alone.search(folded, figure.start()) is not None
    return times.whole.search(folded) is not None


def names_spot(folded: str) -> bool:
    """Whether the text is a pair of coordinates or a postcode."""
    return len(folded) <= 60 and _SPOT.fullmatch(folded.strip(" .!")) is not None


def _any_of(words: Iterable[str]) -> str:
    """A group that matches one of the words as they stand in a folded text; of none, one that
    matches nothing.
    """
    found = [re.escape(folded) for word in words if (folded := fold(word))]
    return f"(?:{'|'.join(found)})" if found else "(?!)"
