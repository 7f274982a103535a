"""A table of texts made into typed columns: dates, numbers with their units, categories. What
cannot be read is listed, never guessed.

Cells are hostile text: a cell that a spreadsheet would run as a formula is refused with its row. A
number's unit may stand in its cell, in its column's name and in the row's column of units: where
two of them contradict, the row is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TypeVar

from ordain.toolbox.figure_rows import Cell, Rows, UnreadableFigure
from ordain.toolbox.written_numbers import (
    DateOrder,
    NumberFormat,
    WrittenNumber,
    common_format,
    read_dates,
    read_number,
    read_year,
    written_exactly,
    written_plainly,
)
from ordain.toolbox.written_units import (
    CURRENCY,
    PER_CENT,
    UNIT_MAX,
    Named,
    agreed,
    in_full,
    is_currency,
    kind_of,
    named_in,
    unit_named,
    unit_of,
)

CELL_MAX = 1000
_FORMULA = re.compile(r"\s*(?:[=@]|[+-]\s*[A-Za-z@(=])")
_SIGNED_AMOUNT = re.compile(r"\s*[+-]\s*[A-Za-z]{2,3}\s+[0-9][0-9.,]*\s*\Z")
_LABEL = re.compile(
    r"(?:^|[\s_.-])(id|ids|nr|no|year|jahr|zip|plz|postcode|code|konto|account|iban|phone|"
    r"tel)(?:$|[\s_.-])",
    re.IGNORECASE,
)
_UNIT_COLUMN = re.compile(
    r"\s*(?:(?P<money>currency|währung|waehrung|devise|moneda|valuta)|unit|units|einheit)\s*\Z",
    re.IGNORECASE,
)
_Cell = TypeVar("_Cell", str, Cell)
_TYPED_SHARE = (2, 3)
"""A column is of a type where this share of its cells, or more, can be read as that."""


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    TEXT = "text"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnWishes:
    """What the caller says about the columns; what is not said is found from the cells."""

    numbers: tuple[str, ...] = ()
    date: str | None = None
    category: str | None = None
    unit_column: str | None = None
    unit: str | None = None
    number_format: NumberFormat | None = None
    date_order: DateOrder | None = None


@dataclass(frozen=True, slots=True)
class RowRejected:
    """A row that is in no figure, with its line, the column and why."""

    line: int
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row that was read: numbers by column with their unit, its date and its category where the
    table has them.
    """

    line: int
    numbers: dict[str, tuple[Decimal, str]]
    date: date | None
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureTable:
    """A table read: every row stands either in ``rows`` or in ``rejected``."""

    kinds: dict[str, Kind]
    rows: tuple[Row, ...]
    rejected: tuple[RowRejected, ...]
    number_format: NumberFormat | None
    date_order: DateOrder | None
    date_column: str | None
    category_column: str | None
    delimiter: str | None = None
    years: bool = False
    """Whether a date is a year and no more."""

    empty: dict[str, int] = field(default_factory=dict[str, int])


def read_table(given: Rows, wanted: ColumnWishes) -> FigureTable:
    """Type the columns, then read every row.

    Raises:
        Unreadable: ``unknown_column``, ``ambiguous_numbers``, ``mixed_number_formats``,
            ``ambiguous_dates``, ``no_numbers``.
    """
    for name in filter(None, (*wanted.numbers, wanted.date, wanted.category, wanted.unit_column)):
        if name not in given.names:
            raise UnreadableFigure(
                "unknown_column",
                f"there is no column {name[:60]}; there are {', '.join(given.names)[:180]}",
            )
    whole = [(line, cells) for line, cells in given.rows if _sound(given, cells) is None]
    if not whole:
        first = next(made for line, row in given.rows if (made := _sound(given, row, line)))
        raise UnreadableFigure("no_rows", f"no row can be read; line {first.line}: {first.reason}")
    cells = {
        name: [(line, row[at]) for line, row in whole if _text(row[at])]
        for at, name in enumerate(given.names)
    }
    kinds = {
        name: _kind(name, [cell for _, cell in found], wanted) for name, found in cells.items()
    }
    numeric = [name for name, kind in kinds.items() if kind is Kind.NUMBER]
    if not numeric:
        raise UnreadableFigure(
            "no_numbers",
            (
                "no column holds numbers; name one in columns.numbers to be told why its cells "
                "are none"
            ),
        )
    number_format = wanted.number_format or _number_format({name: cells[name] for name in numeric})
    dated = wanted.date or next((name for name, kind in kinds.items() if kind is Kind.DATE), None)
    order = None if dated is None else wanted.date_order or _date_order(dated, cells[dated])
    category = wanted.category or _category(given.names, kinds, cells)
    unit_column = wanted.unit_column or next(
        (name for name, kind in kinds.items() if kind is Kind.UNIT), None
    )
    reader = _Reader(
        _Typed(
            names=given.names,
            kinds=kinds,
            number_format=number_format,
            date_column=dated,
            date_order=order,
            category_column=category,
            unit_column=unit_column,
            unit=unit_of(wanted.unit or ""),
            units_differ=unit_column is not None
            and len({unit_named(_text(cell)) for _, cell in cells[unit_column]}) > 1,
            years=wanted.date is not None,
        )
    )
    rows: list[Row] = []
    rejected: list[RowRejected] = []
    for line, row in given.rows:
        made = _sound(given, row, line) or reader.read(line, row)
        if isinstance(made, Row):
            rows.append(made)
        else:
            rejected.append(made)
    return FigureTable(
        kinds=kinds,
        rows=tuple(rows),
        rejected=tuple(rejected),
        number_format=number_format,
        date_order=order,
        date_column=dated,
        category_column=category,
        delimiter=given.delimiter,
        years=reader.years,
        empty={name: len(whole) - len(cells[name]) for name in given.names},
    )


def _text(cell: Cell) -> str:
    return cell.strip() if isinstance(cell, str) else written_plainly(cell)


def _number(cell: Cell) -> WrittenNumber | None:
    return read_number(cell if isinstance(cell, str) else written_exactly(cell))


def _sound(given: Rows, cells: tuple[Cell, ...], line: int = 0) -> RowRejected | None:
    if len(cells) != len(given.names):
        return RowRejected(line, "", f"{len(cells)} cells, the header has {len(given.names)}")
    for name, cell in zip(given.names, cells, strict=True):
        if not isinstance(cell, str):
            continue
        if len(cell) > CELL_MAX:
            return RowRejected(line, name, f"longer than {CELL_MAX} characters")
        if _FORMULA.match(cell) and not _is_signed_amount(cell):
            return RowRejected(line, name, "a formula, not a value")
    return None


def _is_signed_amount(cell: str) -> bool:
    """``-EUR 5``: a known currency and a blank before the digits. ``-EUR5`` and ``-m 5`` may be the
    cell of a spreadsheet, or a name in it.
    """
    number = read_number(cell) if _SIGNED_AMOUNT.match(cell) else None
    return number is not None and is_currency(number.unit)


def _kind(name: str, cells: Sequence[Cell], wanted: ColumnWishes) -> Kind:
    if name in wanted.numbers:
        return Kind.NUMBER
    if name == wanted.date:
        return Kind.DATE
    if name == wanted.category:
        return Kind.TEXT
    if name == wanted.unit_column or (wanted.unit_column is None and _UNIT_COLUMN.match(name)):
        return Kind.UNIT
    if not cells:
        return Kind.EMPTY
    texts = [_text(cell) for cell in cells]
    if _mostly(texts, lambda text: bool(read_dates(text))) and not _mostly(texts, str.isdigit):
        return Kind.DATE
    if _LABEL.search(name) or wanted.numbers:
        return Kind.TEXT
    return Kind.NUMBER if _mostly(cells, lambda cell: _number(cell) is not None) else Kind.TEXT


def _mostly(cells: Sequence[_Cell], is_one: Callable[[_Cell], bool]) -> bool:
    few, of = _TYPED_SHARE
    return of * sum(map(is_one, cells)) >= few * len(cells)


def _number_format(columns: dict[str, list[tuple[int, Cell]]]) -> NumberFormat:
    """The one format of the table's numbers: all its numeric columns together, for a table is
    written by one hand.
    """
    found = [
        (line, name, number)
        for name, cells in columns.items()
        for line, cell in cells
        if (number := _number(cell)) is not None
    ]
    shared = common_format(number for _, _, number in found)
    if shared is None:
        line, name = _against(found)
        raise UnreadableFigure(
            "mixed_number_formats",
            (
                f"line {line}, column {name[:60]}: written like no number before it; the table "
                "mixes "
                "1,234.56 and 1.234,56"
            ),
        )
    if len(shared) > 1:
        line, name, _ = next(
            one
            for one in found
            if one[2].value(NumberFormat.POINT) != one[2].value(NumberFormat.COMMA)
        )
        raise UnreadableFigure(
            "ambiguous_numbers",
            (
                f"line {line}, column {name[:60]}: a thousand or a decimal part? Say number_format "
                "1,234.56 or 1.234,56"
            ),
        )
    return next(iter(shared))


def _against(found: Iterable[tuple[int, str, WrittenNumber]]) -> tuple[int, str]:
    shared = frozenset(NumberFormat)
    for line, name, number in found:
        shared &= number.formats
        if not shared:
            return line, name
    return 0, ""


def _date_order(name: str, cells: Iterable[tuple[int, Cell]]) -> DateOrder:
    """The order that reads all the dates; where two do and differ, it is open."""
    shared = frozenset(DateOrder)
    open_line = 0
    for line, cell in cells:
        readings = read_dates(_text(cell))
        if not readings:
            continue
        shared &= readings.keys()
        if not shared:
            raise UnreadableFigure(
                "ambiguous_dates",
                (
                    f"line {line}, column {name[:60]}: written in another order than the dates "
                    "before it"
                ),
            )
        if not open_line and len(set(readings.values())) > 1:
            open_line = line
    if open_line and len(shared) > 1:
        raise UnreadableFigure(
            "ambiguous_dates",
            f"line {open_line}, column {name[:60]}: day or month first? Say date_order dmy or mdy",
        )
    return min(shared, key=list(DateOrder).index)


def _category(
    names: Sequence[str], kinds: dict[str, Kind], cells: dict[str, list[tuple[int, Cell]]]
) -> str | None:
    """The first column of texts that repeat themselves."""
    for name in names:
        texts = [_text(cell) for _, cell in cells[name]]
        if (
            kinds[name] is Kind.TEXT
            and not _LABEL.search(name)
            and 1 < len(set(texts)) <= max(2, len(texts) // 2)
        ):
            return name
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Typed:
    """A table's columns, typed."""

    names: Sequence[str]
    kinds: dict[str, Kind]
    number_format: NumberFormat
    date_column: str | None
    date_order: DateOrder | None
    category_column: str | None
    unit_column: str | None
    unit: str
    units_differ: bool
    years: bool


class _Reader:
    """Reads the rows of a typed table; ``years``: a date that it read is a year and no more."""

    def __init__(self, typed: _Typed) -> None:
        self.years = False
        self._typed = typed
        self._at = {name: at for at, name in enumerate(typed.names)}
        self._named = {name: named_in(name) for name in typed.names}
        found = _UNIT_COLUMN.match(typed.unit_column or "")
        self._only_money = found is not None and found["money"] is not None

    def read(self, line: int, cells: tuple[Cell, ...]) -> Row | RowRejected:
        """The row, or why it is none."""
        typed = self._typed
        row_unit = unit_of(self._text(cells, typed.unit_column))
        if len(row_unit) > UNIT_MAX:
            return RowRejected(
                line, typed.unit_column or "", f"a unit of more than {UNIT_MAX} characters"
            )
        row = unit_named(row_unit)
        numbers: dict[str, tuple[Decimal, str]] = {}
        for name, kind in typed.kinds.items():
            if kind is not Kind.NUMBER or not self._text(cells, name):
                continue
            number = _number(cells[self._at[name]])
            if number is None or typed.number_format not in number.formats:
                return RowRejected(
                    line,
                    name,
                    "not a number" if number is None else f"not written like {typed.number_format}",
                )
            unit = self._unit(name, number.unit, row)
            if unit is None:
                return RowRejected(
                    line, name, "its cell, its row and its column's name do not name one unit"
                )
            numbers[name] = (number.value(typed.number_format), unit)
        dated = self._text(cells, typed.date_column)
        when = self._date(dated)
        if dated and when is None:
            return RowRejected(line, typed.date_column or "", "not a date")
        return Row(line, numbers, when, self._text(cells, typed.category_column))

    def _unit(self, name: str, written: str, row: Named) -> str | None:
        """The unit of a number: of its cell, its column's name and its row, which must agree; else
        the declared one. None: they contradict.

        A word of the column's name that is not known may be a unit, then the row's currency is not
        this number's, or a remark, then it is. So it is the unit, and where the rows name several
        units, each row's stands beside it: they are never added.
        """
        column, cell = self._named[name], unit_named(written)
        unit, scale, word = (
            agreed(cell.unit, column.unit),
            agreed(cell.scale, column.scale),
            column.word,
        )
        if unit is None:
            return None
        if word and unit in {"", word}:
            if row.unit == PER_CENT:
                return None
            unit = (
                in_full(row.scale, row.unit)
                if self._typed.units_differ and row.unit != word
                else ""
            )
        else:
            if scale is not None and kind_of(unit) in {"", CURRENCY}:
                scale = agreed(scale, row.scale)
            unit = self._of_row(unit, row.unit)
        return None if unit is None or scale is None else in_full(scale, unit, word)

    def _of_row(self, unit: str, row_unit: str) -> str | None:
        """A unit together with its row's, and else with the declared one.

        A row's unit that measures something else says nothing of this column: the currency of a row
        with kilograms and a price.
        """
        kind = CURRENCY if row_unit and self._only_money else kind_of(row_unit)
        both: str | None = unit
        if unit != PER_CENT and (not unit or row_unit == PER_CENT or kind == kind_of(unit)):
            both = agreed(unit, row_unit)
        return None if both is None else agreed(both, self._typed.unit) or both

    def _date(self, text: str) -> date | None:
        if self._typed.date_order is None:
            return None
        found = read_dates(text).get(self._typed.date_order)
        if found is None and self._typed.years and (found := read_year(text)) is not None:
            self.years = True
        return found

    def _text(self, cells: tuple[Cell, ...], name: str | None) -> str:
        return "" if name is None else _text(cells[self._at[name]])
