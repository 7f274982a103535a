"""``finance.snapshot``: the figures of a table somebody gives, in exact decimal arithmetic.

Sums are exact; where a figure must be rounded (a mean, a share, a growth) it says how. Units are
kept apart: euros and dollars are never added, per cent are not added at all. A row that cannot be
read is in no figure and is listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Annotated, Any, Literal

from pydantic import Field

from ordain import FunctionVerb, VerbError, verb
from ordain.toolbox.figure_rows import (
    COLUMNS_MAX,
    NAME_MAX,
    ROWS_MAX,
    Rows,
    UnreadableFigure,
    read_csv,
    rows_of,
)
from ordain.toolbox.figure_tables import CELL_MAX, ColumnWishes, FigureTable, Kind, Row, read_table
from ordain.toolbox.written_numbers import DateOrder, NumberFormat
from ordain.toolbox.written_units import PER_CENT, UNIT_MAX, UNIT_TEXT_MAX

CSV_MAX = 400_000
LISTED_MAX = 60
REJECTED_MAX = 50
DIGITS = 200
"""More than any sum of the largest table of the longest numbers has, so that none is ever
rounded.
"""
PLACES = Decimal("0.01")
Name = Annotated[str, Field(min_length=1, max_length=NAME_MAX)]
Exact = Annotated[str, Field(max_length=120, description="A decimal number, exact.")]
Rounded = Annotated[str, Field(max_length=120, description="Rounded half-even to 2 places.")]
Period = Literal["none", "month", "quarter", "year"]


@dataclass(frozen=True, slots=True)
class Columns:
    """What the columns are, where their names and cells do not show it."""

    numbers: (
        Annotated[
            list[Name], Field(max_length=COLUMNS_MAX, description="Only these columns are figures.")
        ]
        | None
    ) = None
    date: Name | None = None
    category: Name | None = None
    unit_column: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=NAME_MAX,
                description="The column with each row's currency or unit.",
            ),
        ]
        | None
    ) = None
    unit: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=UNIT_MAX,
                description="The currency or unit of numbers that name none.",
            ),
        ]
        | None
    ) = None


@dataclass(frozen=True, slots=True)
class GivenTable:
    """A table as columns and rows."""

    columns: Annotated[list[Name], Field(min_length=1, max_length=COLUMNS_MAX)]
    rows: Annotated[
        list[
            Annotated[
                list[Annotated[str, Field(max_length=CELL_MAX)] | int | float | None],
                Field(max_length=COLUMNS_MAX),
            ]
        ],
        Field(max_length=ROWS_MAX),
    ]
    name: Annotated[str, Field(max_length=NAME_MAX)] = ""


@dataclass(frozen=True, slots=True)
class At:
    """A value and where it stands."""

    value: Exact
    line: int


@dataclass(frozen=True, slots=True)
class PeriodSum:
    """One month, quarter or year."""

    period: Annotated[str, Field(max_length=20, description="2026-03, 2026-Q1 or 2026.")]
    total: Exact
    count: int
    growth_percent: Annotated[
        str | None,
        Field(
            max_length=120,
            description=(
                "Against the period just before, half-even to 2 places; null where that has no "
                "rows or is zero."
            ),
        ),
    ]


@dataclass(frozen=True, slots=True)
class CategorySum:
    """One category."""

    category: Annotated[str, Field(max_length=CELL_MAX)]
    total: Exact
    count: int
    share_percent: Annotated[
        str | None,
        Field(
            max_length=120,
            description=(
                "Of the total, half-even to 2 places; null where amounts of both signs, or a "
                "total of zero, make it meaningless."
            ),
        ),
    ]


@dataclass(frozen=True, slots=True)
class Figure:
    """One column in one unit."""

    column: Annotated[str, Field(max_length=NAME_MAX)]
    unit: Annotated[
        str,
        Field(
            max_length=UNIT_TEXT_MAX,
            description=(
                "Currency or unit as it was written, € as EUR, with its scale (thousand EUR: "
                "values are thousands); empty: none was named."
            ),
        ),
    ]
    count: int
    total: Annotated[
        str | None,
        Field(max_length=120, description="The exact sum; null for per cent, which are not added."),
    ]
    mean: Rounded
    least: At
    greatest: At
    periods: Annotated[
        list[PeriodSum], Field(max_length=LISTED_MAX, description="The latest, in order of time.")
    ]
    undated: Annotated[
        int, Field(ge=0, description="Values in rows without a date; they are in no period.")
    ]
    earlier_periods: Annotated[int, Field(ge=0, description="Periods before those listed.")]
    categories: Annotated[
        list[CategorySum], Field(max_length=LISTED_MAX, description="The largest amounts first.")
    ]
    other_categories: Annotated[int, Field(ge=0, description="Categories after those listed.")]


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How a column was read."""

    name: Annotated[str, Field(max_length=NAME_MAX)]
    type: Kind
    empty: Annotated[int, Field(ge=0, description="Cells without content; they are in no figure.")]


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row that is in no figure."""

    line: Annotated[int, Field(description="Line of the CSV text, or the row's number from 1.")]
    column: Annotated[str, Field(max_length=NAME_MAX)]
    reason: Annotated[str, Field(max_length=200)]


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """The figures of one table."""

    name: Annotated[str, Field(max_length=NAME_MAX)]
    rows: Annotated[int, Field(ge=0, description="Rows below the header.")]
    rows_read: Annotated[int, Field(ge=0, description="Rows that the figures are made of.")]
    columns: Annotated[list[ColumnType], Field(max_length=COLUMNS_MAX)]
    number_format: Annotated[str, Field(max_length=20, description="How its numbers are written.")]
    date_order: DateOrder | None
    date_column: Annotated[str | None, Field(max_length=NAME_MAX)]
    category_column: Annotated[str | None, Field(max_length=NAME_MAX)]
    figures: Annotated[list[Figure], Field(max_length=200)]
    rejected: Annotated[list[RejectedRow], Field(max_length=REJECTED_MAX)]
    more_rejected: Annotated[
        int, Field(ge=0, description="Rows that were not read either and are not listed.")
    ]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The figures of every table."""

    tables: Annotated[list[TableSnapshot], Field(max_length=5)]
    rounding: Annotated[str, Field(max_length=200)]


def finance_snapshot() -> FunctionVerb[Any, Any]:
    """The verb ``finance.snapshot``."""
    return _snapshot


@verb(
    name="finance.snapshot",
    label="Figures of a table",
    effect="read",
    category="Transform",
    tags=["finance", "math"],
    timeout_ms=30_000,
    idempotent=True,
    example={
        "input": {
            "csv": (
                "date,kind,amount (EUR)\n2026-01-05,rent,-800.00\n2026-01-20,wages,2100.50\n"
                "2026-02-05,rent,-820.00\n"
            )
        }
    },
)
def _snapshot(
    csv: Annotated[str, Field(min_length=1, max_length=CSV_MAX)] | None = None,
    tables: Annotated[list[GivenTable], Field(min_length=1, max_length=5)] | None = None,
    columns: Columns | None = None,
    period: Period = "month",
    number_format: Literal["auto", "1,234.56", "1.234,56"] = "auto",
    date_order: Literal["auto", "ymd", "dmy", "mdy"] = "auto",
) -> Snapshot:
    """Compute the figures of a table exactly: totals, means, least and greatest, sums by period
    with growth, and by category, each per currency or unit.

    Use it instead of adding numbers up yourself. Give csv or tables, not both. Returns decimal
    numbers as text. Units are never mixed or converted. Rows that cannot be read are left out and
    listed with line and reason. Where 1.234 or 03/04/2026 could be read in two ways it fails and
    says which option to set.

    Args:
        csv: the table as CSV text, its first row the names of the columns; comma, semicolon, tab or
            bar between the cells.
        tables: tables as columns and rows, instead of csv.
        columns: what the columns are, where their names and cells do not show it.
        period: sums by month, quarter or year of the date column, or none.
        number_format: how numbers are written; auto reads it from the cells and fails where they
            leave it open.
        date_order: in which order dates are written; auto likewise.
    """
    if (csv is None) == (tables is None):
        raise VerbError("bad_input", "give csv or tables, one of them")
    given = columns or Columns()
    wanted = ColumnWishes(
        numbers=tuple(given.numbers or ()),
        date=given.date,
        category=given.category,
        unit_column=given.unit_column,
        unit=given.unit,
        number_format=None if number_format == "auto" else NumberFormat(number_format),
        date_order=None if date_order == "auto" else DateOrder(date_order),
    )
    try:
        named = (
            [("csv", read_csv(csv))]
            if csv is not None
            else [(table.name, _rows(table)) for table in tables or ()]
        )
        made = [
            _table(name or f"table {number}", rows, wanted, period)
            for number, (name, rows) in enumerate(named, 1)
        ]
    except UnreadableFigure as error:
        raise VerbError(error.code, error.message) from error
    return Snapshot(
        made, "sums are exact; means, shares and growth are rounded half-even to 2 decimal places"
    )


def _rows(table: GivenTable) -> Rows:
    return rows_of(
        table.columns, [["" if cell is None else cell for cell in row] for row in table.rows]
    )


def _table(name: str, given: Rows, wanted: ColumnWishes, period: Period) -> TableSnapshot:
    table = read_table(given, wanted)
    if table.years and period in {"month", "quarter"}:
        raise UnreadableFigure(
            "only_years",
            (
                f"column {(table.date_column or '')[:60]}: there are years without a month; set "
                "period to year or none"
            ),
        )
    by_unit: dict[tuple[str, str], list[tuple[Row, Decimal]]] = {}
    for row in table.rows:
        for column, (value, unit) in row.numbers.items():
            by_unit.setdefault((column, unit), []).append((row, value))
    if len(by_unit) > 200:
        raise UnreadableFigure(
            "too_large",
            "more than 200 columns and units together; name the columns in columns.numbers",
        )
    with localcontext() as exact:
        exact.prec = DIGITS
        figures = [
            _figure(column, unit, found, table, period)
            for (column, unit), found in sorted(by_unit.items())
        ]
    return TableSnapshot(
        name=name,
        rows=len(table.rows) + len(table.rejected),
        rows_read=len(table.rows),
        columns=[
            ColumnType(column, kind, table.empty[column]) for column, kind in table.kinds.items()
        ],
        number_format=str(table.number_format),
        date_order=table.date_order,
        date_column=table.date_column,
        category_column=table.category_column,
        figures=figures,
        rejected=[
            RejectedRow(one.line, one.column, one.reason) for one in table.rejected[:REJECTED_MAX]
        ],
        more_rejected=max(0, len(table.rejected) - REJECTED_MAX),
    )


def _figure(
    column: str, unit: str, found: Sequence[tuple[Row, Decimal]], table: FigureTable, period: Period
) -> Figure:
    values = [value for _, value in found]
    total, added = sum(values, Decimal()), unit != PER_CENT
    least, greatest = min(found, key=lambda one: one[1]), max(found, key=lambda one: one[1])
    periods = _periods(found, period) if added and period != "none" else []
    categories = _categories(found, total, table.category_column) if added else []
    return Figure(
        column=column,
        unit=unit,
        count=len(values),
        total=_plain(total) if added else None,
        mean=_rounded(total / len(values)),
        least=At(_plain(least[1]), least[0].line),
        greatest=At(_plain(greatest[1]), greatest[0].line),
        periods=periods[-LISTED_MAX:],
        undated=sum(row.date is None for row, _ in found),
        earlier_periods=max(0, len(periods) - LISTED_MAX),
        categories=categories[:LISTED_MAX],
        other_categories=max(0, len(categories) - LISTED_MAX),
    )


def _periods(found: Iterable[tuple[Row, Decimal]], period: Period) -> list[PeriodSum]:
    sums: dict[int, list[Decimal]] = {}
    for row, value in found:
        if row.date is not None:
            sums.setdefault(_number_of(row.date, period), []).append(value)
    made: list[PeriodSum] = []
    for number, values in sorted(sums.items()):
        total = sum(values, Decimal())
        before = sum(sums.get(number - 1, ()), Decimal())
        growth = None if not before else _rounded((total - before) / abs(before) * 100)
        made.append(PeriodSum(_name_of(number, period), _plain(total), len(values), growth))
    return made


def _number_of(day: date, period: Period) -> int:
    """The period's number in the order of time; neighbours differ by one."""
    return (
        day.year
        if period == "year"
        else day.year * 4 + (day.month - 1) // 3
        if period == "quarter"
        else day.year * 12 + day.month - 1
    )


def _name_of(number: int, period: Period) -> str:
    if period == "year":
        return f"{number:04}"
    return (
        f"{number // 4:04}-Q{number % 4 + 1}"
        if period == "quarter"
        else f"{number // 12:04}-{number % 12 + 1:02}"
    )


def _categories(
    found: Iterable[tuple[Row, Decimal]], total: Decimal, column: str | None
) -> list[CategorySum]:
    if column is None:
        return []
    sums: dict[str, list[Decimal]] = {}
    for row, value in found:
        sums.setdefault(row.category, []).append(value)
    totals = {category: sum(values, Decimal()) for category, values in sums.items()}
    signs = {value > 0 for values in sums.values() for value in values if value}
    shared = len(signs) == 1
    return [
        CategorySum(
            category,
            _plain(one),
            len(sums[category]),
            _rounded(one / total * 100) if shared else None,
        )
        for category, one in sorted(totals.items(), key=lambda pair: (-abs(pair[1]), pair[0]))
    ]


def _plain(value: Decimal) -> str:
    """Without exponent and negative zero."""
    return format(value or abs(value), "f")


def _rounded(value: Decimal) -> str:
    return _plain(value.quantize(PLACES, ROUND_HALF_EVEN))
