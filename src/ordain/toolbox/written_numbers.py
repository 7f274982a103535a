"""Numbers and dates as people write them, read exactly or not at all.

``1.234`` is a thousand to some and one and a bit to others. Nothing here guesses: a text gives
every reading that it allows, and what several texts together leave open is said to be open. Values
are ``Decimal``; floats do not occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum

from ordain.toolbox.written_units import unit_of

DIGITS_MAX = 40
"""Longest number, in characters."""

EXPONENT_MAX = 25
"""Largest exponent of a number such as ``1234e-3``."""


class NumberFormat(StrEnum):
    """Which sign begins the decimals: ``1,234.56`` or ``1.234,56``."""

    POINT = "1,234.56"
    COMMA = "1.234,56"


BOTH = frozenset(NumberFormat)
_BLANKS = "\u00a0\u202f\u2009 '’"
"""The blanks and the apostrophe that group digits in some countries."""
_GROUPED = re.compile(r"[0-9]{1,3}(?:(?P<sign>[^0-9])[0-9]{3})(?:(?P=sign)[0-9]{3})*\Z")
_SCIENTIFIC = re.compile(r"([-+]?)([0-9]{1,25})[eE]([-+]?[0-9]{1,3})\Z")
_UNIT = r"[A-Z]{3}|[€$£¥₹₽%°]|kr|zł|[A-Za-zµ]{1,6}[²³]?"
# blanks are possessive: they belong to nothing else, and nobody tries them again in every other way
_WRITTEN = re.compile(
    r"(?P<open>\()?\s*+(?P<minus>[-−+])?\s*+(?P<before>"  # noqa: RUF001 - the minus of typography
    rf"{_UNIT})?\s*+(?P<minus2>[-−+])?\s*+"  # noqa: RUF001 - the minus of typography
    rf"(?P<digits>[0-9](?:[0-9.,{_BLANKS}]*[0-9])?)\s*+(?P<after>"
    rf"{_UNIT})?\s*+(?P<minus3>[-−])?\s*+(?P<close>\))?\Z"  # noqa: RUF001 - see above
)


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as it stands: its digits with their signs, whether it is negative, its unit ("":
    none), and the formats that can read it.
    """

    digits: str
    negative: bool
    unit: str
    formats: frozenset[NumberFormat]
    exponent: int = 0

    def value(self, number_format: NumberFormat) -> Decimal:
        """The number, exactly; ``number_format`` is one of ``formats``."""
        mark = "." if number_format is NumberFormat.POINT else ","
        kept = "".join(
            character for character in self.digits if character.isdigit() or character == mark
        )
        number = Decimal(f"{kept.replace(',', '.')}E{self.exponent}")
        return -number if self.negative else number


def read_number(text: str) -> WrittenNumber | None:
    """The number that the text is, with a sign or brackets and a unit before or after it; None
    where it is none.
    """
    text = text.strip()
    if not text or len(text) > DIGITS_MAX:
        return None
    if (scientific := _SCIENTIFIC.match(text)) and abs(int(scientific[3])) <= EXPONENT_MAX:
        return WrittenNumber(scientific[2], scientific[1] == "-", "", BOTH, int(scientific[3]))
    found = _WRITTEN.match(text)
    if found is None or bool(found["open"]) != bool(found["close"]):
        return None
    minus = [sign for sign in (found["minus"], found["minus2"], found["minus3"]) if sign]
    if len(minus) + bool(found["open"]) > 1 or (found["before"] and found["after"]):
        return None
    formats = frozenset(one for one in NumberFormat if _readable(found["digits"], one))
    if not formats:
        return None
    unit = found["before"] or found["after"] or ""
    return WrittenNumber(
        found["digits"],
        bool(found["open"]) or (bool(minus) and minus[0] != "+"),
        unit_of(unit),
        formats,
    )


def _readable(digits: str, number_format: NumberFormat) -> bool:
    """Whether the format reads the digits: groups of three, all divided by one sign, then at most
    one decimal sign.
    """
    mark = "." if number_format is NumberFormat.POINT else ","
    whole, found, decimals = digits.partition(mark)
    if found and not decimals.isdigit():
        return False
    if whole.isdigit():
        return True
    grouped = _GROUPED.match(whole)
    return grouped is not None and grouped["sign"] != mark and not whole.startswith("0")


def common_format(numbers: Iterable[WrittenNumber]) -> frozenset[NumberFormat] | None:
    """The formats that read all the numbers alike; both where nothing depends on it, None where no
    format reads them all.

    A set of two is open: the numbers have two readings.
    """
    numbers = tuple(numbers)
    shared = BOTH
    for number in numbers:
        shared &= number.formats
    if not shared:
        return None
    if len(shared) > 1 and all(
        number.value(NumberFormat.POINT) == number.value(NumberFormat.COMMA) for number in numbers
    ):
        return frozenset({NumberFormat.POINT})
    return shared


def written_exactly(number: int | float) -> str:
    """A number that came as JSON, as a text that is read in one way only: a whole one as its
    digits, else its shortest decimal as ``1234e-3``.
    """
    if isinstance(number, int):
        return str(number)
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    if not isinstance(exponent, int):
        return "not finite"
    return f"{'-' if sign else ''}{''.join(map(str, digits))}e{exponent}"


def written_plainly(number: int | float) -> str:
    """A number that came as JSON, as a person would write it: ``12``, ``12.5``, no exponent and no
    decimals of a whole number.
    """
    exact = Decimal(repr(number))
    return (
        format(exact.to_integral_value() if exact == exact.to_integral_value() else exact, "f")
        if exact.is_finite()
        else repr(number)
    )


class DateOrder(StrEnum):
    """In which order a date's parts stand."""

    YMD = "ymd"
    DMY = "dmy"
    MDY = "mdy"


_YMD = re.compile(
    r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})(?:[T ][0-9:.]{4,15}(?:Z|[+-][0-9:]{2,5})?)?\Z"
)
_YM = re.compile(r"([0-9]{4})[-/]([0-9]{1,2})\Z")
_YEAR = re.compile(r"[12][0-9]{3}\Z")
_PARTS = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})\Z")
_MONTH_NAMES = (
    "january february march april may june july august september october november december"
)
_MONTHS = {
    name: number
    for number, month in enumerate(_MONTH_NAMES.split(), 1)
    for name in (month, month[:3])
} | {"sept": 9}
_NAMED = re.compile(
    r"(?:([0-9]{1,2})\.?[ -])?([A-Za-z]{3,9})\.?[ -](?:([0-9]{1,2}),? )?([0-9]{4})\Z"
)


def read_dates(text: str) -> dict[DateOrder, date]:
    """The date that the text is, by each order that can read it; empty where it is none. A month
    counts as its first day.
    """
    text = text.strip()
    if len(text) > DIGITS_MAX or not text.isascii():
        return {}
    if found := _YMD.match(text):
        made = _date(found[1], found[3], found[4])
        return {} if made is None else dict.fromkeys(DateOrder, made)
    if found := _YM.match(text):
        made = _date(found[1], found[2], "1")
        return {} if made is None else dict.fromkeys(DateOrder, made)
    if found := _NAMED.match(text):
        first, name, second, year = found.groups()
        month = _MONTHS.get(name.lower())
        made = (
            None
            if month is None or (first and second)
            else _date(year, str(month), first or second or "1")
        )
        return {} if made is None else dict.fromkeys(DateOrder, made)
    if found := _PARTS.match(text):
        one, sign, two, year = found.groups()
        readings = {DateOrder.DMY: _date(year, two, one)} | (
            {} if sign == "." else {DateOrder.MDY: _date(year, one, two)}
        )
        return {order: made for order, made in readings.items() if made is not None}
    return {}


def read_year(text: str) -> date | None:
    """The first day of the year that the text is, for a column that is known to hold dates; None
    where it is none.
    """
    text = text.strip()
    return date(int(text), 1, 1) if _YEAR.match(text) else None


def _date(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
