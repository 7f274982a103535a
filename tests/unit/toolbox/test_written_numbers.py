"""Numbers and dates as people write them: read exactly, or said to be open."""

from __future__ import annotations

import timeit
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.toolbox.written_numbers import (
    DateOrder,
    NumberFormat,
    common_format,
    read_dates,
    read_number,
    written_exactly,
    written_plainly,
)

POINT, COMMA = NumberFormat.POINT, NumberFormat.COMMA
amounts = st.decimals(
    min_value=-(10**9), max_value=10**9, places=2, allow_nan=False, allow_infinity=False
)


def written(value: Decimal, one: NumberFormat, group: str) -> str:
    """An amount as a country writes it."""
    text = f"{value:,.2f}"
    decimal = "." if one is POINT else ","
    return text.replace(",", "\0").replace(".", decimal).replace("\0", group)


@given(
    amounts,
    st.sampled_from(
        [(POINT, ","), (COMMA, "."), (COMMA, "\u00a0"), (POINT, "'"), (COMMA, " "), (POINT, "")]
    ),
)
def test_an_amount_is_read_back_exactly(value: Decimal, style: tuple[NumberFormat, str]) -> None:
    """However a country groups digits, the very same decimal comes out, and no other format reads
    it otherwise.
    """
    one, group = style
    number = read_number(written(value, one, group))
    assert number is not None
    assert one in number.formats
    assert number.value(one) == value
    assert common_format([number]) == {one}


@given(st.text(max_size=60))
def test_any_text_is_read_or_not(text: str) -> None:
    """Whatever stands there is a number with a finite value in each of its formats, or none."""
    number = read_number(text)
    if number is not None:
        assert all(number.value(one).is_finite() for one in number.formats)
    assert all(isinstance(found, date) for found in read_dates(text).values())


@given(
    st.one_of(
        st.integers(-(10**15), 10**15),
        st.floats(-1e15, 1e15).filter(lambda number: number == 0 or abs(number) > 1e-9),
    )
)
def test_a_json_number_is_read_in_one_way(number: int | float) -> None:
    """What came as a JSON number is the shortest decimal that is this number, whatever format the
    table has.
    """
    read = read_number(written_exactly(number))
    assert read is not None
    assert {read.value(one) for one in NumberFormat} == {Decimal(repr(number))}


@pytest.mark.parametrize(
    ("text", "formats"),
    [
        ("1.234", {POINT, COMMA}),
        ("1,234", {POINT, COMMA}),
        ("0.123", {POINT}),
        ("1234.567", {POINT}),
        ("1.234.567", {COMMA}),
        ("1,234,567", {POINT}),
        ("1.234,5", {COMMA}),
        ("1,23", {COMMA}),
        ("12", {POINT, COMMA}),
        ("1 234", {POINT, COMMA}),
    ],
)
def test_formats_are_what_the_signs_allow(text: str, formats: set[NumberFormat]) -> None:
    """A number has exactly the readings that its signs allow."""
    number = read_number(text)
    assert number is not None
    assert number.formats == formats


@pytest.mark.parametrize(
    "text", ["", "x", "1.2.3", "1,2,3", "12,34,567", "1.234.56", "--5", "(5", "5)", "-(5)", "1e99",
        "€5€", "5 EUR USD", "1..2", "٣", "9" * 41, "=1+1", "1/2"]
)  # fmt: skip
def test_what_is_no_number_is_none(text: str) -> None:
    """A text that is not wholly a number is none: nothing is picked out of it."""
    assert read_number(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "(" + " " * 38 + "x",
        " ".join("EUR-5 -"),
        "1" + " " * 38 + "x",
        "- " * 19 + "x",
        "€" + " " * 38 + "€",
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """Whatever stands in a cell is told from a number about as fast as a number is read: the best
    of several tries, as a ratio.
    """

    def best(cell: str) -> float:
        return min(timeit.repeat(lambda: read_number(cell), number=20, repeat=20))

    assert best(text) < 40 * best("1,234,567.89 EUR")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("€ 12,50", "12.50", "EUR"),
        ("12.50 €", "12.50", "EUR"),
        ("USD 7", "7", "USD"),
        ("$-7", "-7", "$"),
        ("-$7", "-7", "$"),
        ("(7.25)", "-7.25", ""),
        ("7.25-", "-7.25", ""),
        ("−3", "-3", ""),  # noqa: RUF001 - the minus of typography
        ("+3", "3", ""),
        ("12 %", "12", "%"),
        ("3 kg", "3", "kg"),
        ("15e-1", "1.5", ""),
    ],
)
def test_signs_and_units_are_read(text: str, value: str, unit: str) -> None:
    """A sign before or after, brackets, and a currency or unit on either side belong to a
    number.
    """
    number = read_number(text)
    assert number is not None
    assert (number.value(next(iter(sorted(number.formats)))), number.unit) == (Decimal(value), unit)


def test_several_numbers_settle_what_one_leaves_open() -> None:
    """One number that has a single reading decides for all; two that contradict each other leave
    none; open stays open.
    """
    read = [read_number(text) for text in ("1.234", "5,6", "2.500,00")]
    assert common_format(number for number in read[:1] if number) == {POINT, COMMA}
    assert common_format(number for number in read if number) == {COMMA}
    assert (
        common_format(number for number in (read_number("1,2"), read_number("1.2")) if number)
        is None
    )
    assert common_format([]) == {POINT}


@given(st.dates(date(1000, 1, 1), date(2999, 12, 31)))
def test_a_date_is_among_its_readings(day: date) -> None:
    """A date in any order is read as itself under that order; one that stands year first has one
    reading.
    """
    assert read_dates(f"{day.day:02}/{day.month:02}/{day.year}")[DateOrder.DMY] == day
    assert read_dates(f"{day.month}/{day.day}/{day.year}")[DateOrder.MDY] == day
    assert set(read_dates(day.isoformat()).values()) == {day}
    assert read_dates(f"{day.day}.{day.month}.{day.year}") == {DateOrder.DMY: day}
    assert set(read_dates(day.strftime("%d %b %Y")).values()) == {day}


@pytest.mark.parametrize(
    "text",
    [
        "2026-13-01",
        "31.02.2026",
        "1/1/26",
        "yesterday",
        "2026",
        "00/00/2026",
        "5 Foo 2026",
        "Decimal 2026",
        "5 Marble 2026",
        "Mayor 2026",
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    """Days that do not exist, years of two digits and words are no dates."""
    assert read_dates(text) == {}


@pytest.mark.parametrize(
    "text", ["September 2025", "Sept. 2025", "sep 1, 2025", "1 SEPTEMBER 2025"]
)
def test_months_are_read_by_their_names(text: str) -> None:
    """A full name or an abbreviation of a month, whatever its case, is that month."""
    assert set(read_dates(text).values()) == {date(2025, 9, 1)}


def test_json_numbers_are_written_plainly() -> None:
    """Where a number is a word, it is the word that a person would write."""
    assert [written_plainly(number) for number in (12, 12.0, 12.5, 1e-7, -3)] == [
        "12",
        "12",
        "12.5",
        "0.0000001",
        "-3",
    ]
