"""A table of texts made into typed columns: dates, numbers with their units, categories. What cannot be read is listed, never guessed.

Cells are hostile text: sizes are bounded, quotes must close, and a cell that a spreadsheet would run as a formula is refused with its row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from ordain.verbs.builtin.written_numbers import DateOrder, NumberFormat, Written, common_format, read_dates, read_number

ROWS_MAX = 20_000
COLUMNS_MAX = 50
CELLS_MAX = 150_000
CELL_MAX = 1000
NAME_MAX = 100
_DELIMITERS = ",;\t|"
_FORMULA = re.compile(r"\s*(?:[=@]|[+-]\s*[A-Za-z@(=])")
_LABEL = re.compile(r"(?:^|[\s_.-])(id|ids|nr|no|year|jahr|zip|plz|postcode|code|konto|account|iban|phone|tel)(?:$|[\s_.-])", re.IGNORECASE)
_UNIT_COLUMN = re.compile(r"\s*(currency|unit|units|währung|waehrung|einheit|devise|moneda|valuta)\s*\Z", re.IGNORECASE)
_HEADER_UNIT = re.compile(r"(?:\((?P<round>[^()]{1,12})\)|\[(?P<square>[^\[\]]{1,12})\]|\bin (?P<word>[A-Z]{3}|[€$£¥%]))\s*\Z")
_SIGN_OF = {
    "$": ("USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"),
    "£": ("GBP",),
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK", "DKK"),
    "₹": ("INR",),
}
_TYPED_SHARE = (2, 3)
"""A column is of a type where this share of its cells, or more, can be read as that."""


class Unreadable(Exception):
    """A table that cannot be read as a whole; ``code`` for programs, the message names lines and columns and no cell's content."""

    code: str = ""
    message: str = ""

    def __init__(self, code: str, message: str) -> None:
        """Say why."""
        super().__init__(code, message)
        self.code, self.message = code, message


class Kind(StrEnum):
    """What a column holds."""

    NUMBER = "number"
    DATE = "date"
    UNIT = "unit"
    TEXT = "text"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as it came: the header's names, and rows with the line (or number) at which each stands."""

    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    delimiter: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller says about the columns; what is not said is found from the cells."""

    numbers: tuple[str, ...] = ()
    date: str | None = None
    category: str | None = None
    unit_column: str | None = None
    unit: str | None = None
    number_format: NumberFormat | None = None
    date_order: DateOrder | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that is in no figure, with its line, the column and why."""

    line: int
    column: str
    reason: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row that was read: numbers by column with their unit, its date and its category where the table has them."""

    line: int
    numbers: dict[str, tuple[Decimal, str]]
    date: date | None
    category: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table read: every row stands either in ``rows`` or in ``rejected``."""

    kinds: dict[str, Kind]
    rows: tuple[Row, ...]
    rejected: tuple[Rejected, ...]
    number_format: NumberFormat | None
    date_order: DateOrder | None
    date_column: str | None
    category_column: str | None
    delimiter: str | None = None
    empty: dict[str, int] = field(default_factory=dict[str, int])


def read_csv(text: str) -> Rows:
    """The rows of a CSV text: comma, semicolon, tab or bar between the cells, whichever cuts header and rows alike; the first row names the columns.

    Raises:
        Unreadable: ``not_csv``, ``too_large``, ``empty``.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise Unreadable("not_csv", "the text holds a NUL character")
    delimiter = max(_DELIMITERS, key=lambda sign: _cuts_alike(text, sign))
    rows: list[tuple[int, tuple[str, ...]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    start = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((start, tuple(cells)))
            start = reader.line_num + 1
            if len(rows) > ROWS_MAX + 1:
                raise Unreadable("too_large", f"more than {ROWS_MAX} rows")
    except csv.Error:
        raise Unreadable("not_csv", f"line {start}: a quoted cell is not closed, or something follows its closing quote") from None
    if not rows:
        raise Unreadable("empty", "there is no row")
    return _checked(tuple(" ".join(name.split()) for name in rows[0][1]), rows[1:], delimiter)


def rows_of(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> Rows:
    """A table that came as columns and rows; a row's number, from 1, takes the place of its line.

    Raises:
        Unreadable: ``too_large``, ``empty``, ``columns``.
    """
    return _checked(tuple(" ".join(name.split()) for name in columns), [(number, tuple(row)) for number, row in enumerate(cells, 1)], None)


def _checked(names: tuple[str, ...], rows: Sequence[tuple[int, tuple[str, ...]]], delimiter: str | None) -> Rows:
    if len(names) > COLUMNS_MAX or len(rows) > ROWS_MAX or len(names) * len(rows) > CELLS_MAX:
        raise Unreadable("too_large", f"more than {COLUMNS_MAX} columns, {ROWS_MAX} rows or {CELLS_MAX} cells")
    if not rows:
        raise Unreadable("empty", "there is no row below the names of the columns")
    for number, name in enumerate(names, 1):
        if not name or len(name) > NAME_MAX:
            raise Unreadable("columns", f"column {number} has no name, or one longer than {NAME_MAX} characters")
        if name in names[: number - 1]:
            raise Unreadable("columns", f"column {number} has the name of an earlier column")
    return Rows(names, tuple(rows), delimiter)


def _cuts_alike(text: str, sign: str) -> tuple[int, int]:
    """How many of the first rows a delimiter cuts into as many cells as the header (more than one), and into how many."""
    lines: list[list[str]] = []
    try:
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=sign):
            lines.append(cells)
            if len(lines) == 20:
                break
    except csv.Error:
        return (0, 0)
    width = len(lines[0]) if lines else 0
    return (sum(len(cells) == width for cells in lines) if width > 1 else 0, width)


def read_table(given: Rows, wanted: Wanted) -> Table:
    """Type the columns, then read every row.

    Raises:
        Unreadable: ``unknown_column``, ``ambiguous_numbers``, ``mixed_number_formats``, ``ambiguous_dates``, ``no_numbers``.
    """
    for name in filter(None, (*wanted.numbers, wanted.date, wanted.category, wanted.unit_column)):
        if name not in given.names:
            raise Unreadable("unknown_column", f"there is no column {name[:60]}; there are {', '.join(given.names)[:180]}")
    whole = [(line, cells) for line, cells in given.rows if _sound(given, cells) is None]
    if not whole:
        first = next(made for line, row in given.rows if (made := _sound(given, row, line)))
        raise Unreadable("no_rows", f"no row can be read; line {first.line}: {first.reason}")
    cells = {name: [(line, row[at].strip()) for line, row in whole if row[at].strip()] for at, name in enumerate(given.names)}
    kinds = {name: _kind(name, [text for _, text in found], wanted) for name, found in cells.items()}
    numeric = [name for name, kind in kinds.items() if kind is Kind.NUMBER]
    if not numeric:
        raise Unreadable("no_numbers", "no column holds numbers; name one in columns.numbers to be told why its cells are none")
    number_format = wanted.number_format or _number_format({name: cells[name] for name in numeric})
    dated = wanted.date or next((name for name, kind in kinds.items() if kind is Kind.DATE), None)
    order = None if dated is None else wanted.date_order or _date_order(dated, cells[dated])
    category = wanted.category or _category(given.names, kinds, cells)
    unit_column = wanted.unit_column or next((name for name, kind in kinds.items() if kind is Kind.UNIT), None)
    reader = _Reader(
        _Typed(
            names=given.names,
            kinds=kinds,
            number_format=number_format,
            date_column=dated,
            date_order=order,
            category_column=category,
            unit_column=unit_column,
            unit=wanted.unit or "",
        )
    )
    rows: list[Row] = []
    rejected: list[Rejected] = []
    for line, row in given.rows:
        made = _sound(given, row, line) or reader.read(line, row)
        if isinstance(made, Row):
            rows.append(made)
        else:
            rejected.append(made)
    return Table(
        kinds=kinds,
        rows=tuple(rows),
        rejected=tuple(rejected),
        number_format=number_format,
        date_order=order,
        date_column=dated,
        category_column=category,
        delimiter=given.delimiter,
        empty={name: len(whole) - len(cells[name]) for name in given.names},
    )


def _sound(given: Rows, cells: tuple[str, ...], line: int = 0) -> Rejected | None:
    if len(cells) != len(given.names):
        return Rejected(line, "", f"{len(cells)} cells, the header has {len(given.names)}")
    for name, cell in zip(given.names, cells, strict=True):
        if len(cell) > CELL_MAX:
            return Rejected(line, name, f"longer than {CELL_MAX} characters")
        if _FORMULA.match(cell):
            return Rejected(line, name, "a formula, not a value")
    return None


def _kind(name: str, texts: Sequence[str], wanted: Wanted) -> Kind:
    if name in wanted.numbers:
        return Kind.NUMBER
    if name == wanted.date:
        return Kind.DATE
    if name == wanted.category:
        return Kind.TEXT
    if name == wanted.unit_column or (wanted.unit_column is None and _UNIT_COLUMN.match(name)):
        return Kind.UNIT
    if not texts:
        return Kind.EMPTY
    if _mostly(texts, lambda text: bool(read_dates(text))) and not _mostly(texts, str.isdigit):
        return Kind.DATE
    if _LABEL.search(name) or wanted.numbers:
        return Kind.TEXT
    return Kind.NUMBER if _mostly(texts, lambda text: read_number(text) is not None) else Kind.TEXT


def _mostly(texts: Sequence[str], is_one: Callable[[str], bool]) -> bool:
    few, of = _TYPED_SHARE
    return of * sum(map(is_one, texts)) >= few * len(texts)


def _number_format(columns: dict[str, list[tuple[int, str]]]) -> NumberFormat:
    """The one format of the table's numbers: all its numeric columns together, for a table is written by one hand."""
    found = [(line, name, number) for name, texts in columns.items() for line, text in texts if (number := read_number(text)) is not None]
    shared = common_format(number for _, _, number in found)
    if shared is None:
        line, name = _against(found)
        raise Unreadable(
            "mixed_number_formats",
            f"line {line}, column {name[:60]}: written like no number before it; the table mixes 1,234.56 and 1.234,56",
        )
    if len(shared) > 1:
        line, name, _ = next(one for one in found if one[2].value(NumberFormat.POINT) != one[2].value(NumberFormat.COMMA))
        raise Unreadable(
            "ambiguous_numbers", f"line {line}, column {name[:60]}: a thousand or a decimal part? Say number_format 1,234.56 or 1.234,56"
        )
    return next(iter(shared))


def _against(found: Iterable[tuple[int, str, Written]]) -> tuple[int, str]:
    shared = frozenset(NumberFormat)
    for line, name, number in found:
        shared &= number.formats
        if not shared:
            return line, name
    return 0, ""


def _date_order(name: str, texts: Iterable[tuple[int, str]]) -> DateOrder:
    """The order that reads all the dates; where two do and differ, it is open."""
    shared = frozenset(DateOrder)
    open_line = 0
    for line, text in texts:
        readings = read_dates(text)
        if not readings:
            continue
        shared &= readings.keys()
        if not shared:
            raise Unreadable("ambiguous_dates", f"line {line}, column {name[:60]}: written in another order than the dates before it")
        if not open_line and len(set(readings.values())) > 1:
            open_line = line
    if open_line and len(shared) > 1:
        raise Unreadable("ambiguous_dates", f"line {open_line}, column {name[:60]}: day or month first? Say date_order dmy or mdy")
    return min(shared, key=list(DateOrder).index)


def _category(names: Sequence[str], kinds: dict[str, Kind], cells: dict[str, list[tuple[int, str]]]) -> str | None:
    """The first column of texts that repeat themselves."""
    for name in names:
        texts = [text for _, text in cells[name]]
        if kinds[name] is Kind.TEXT and not _LABEL.search(name) and 1 < len(set(texts)) <= max(2, len(texts) // 2):
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


class _Reader:
    """Reads the rows of a typed table."""

    def __init__(self, typed: _Typed) -> None:
        self._typed = typed
        self._at = {name: at for at, name in enumerate(typed.names)}
        self._header_units = {name: _header_unit(name) for name in typed.names}

    def read(self, line: int, cells: tuple[str, ...]) -> Row | Rejected:
        """The row, or why it is none."""
        typed = self._typed
        row_unit = self._cell(cells, typed.unit_column)
        numbers: dict[str, tuple[Decimal, str]] = {}
        for name, kind in typed.kinds.items():
            text = self._cell(cells, name)
            if kind is not Kind.NUMBER or not text:
                continue
            number = read_number(text)
            if number is None or typed.number_format not in number.formats:
                return Rejected(line, name, "not a number" if number is None else f"not written like {typed.number_format}")
            declared = self._header_units[name] or row_unit or typed.unit
            numbers[name] = (number.value(typed.number_format), _unit(number.unit, declared))
        dated = self._cell(cells, typed.date_column)
        when = None if typed.date_order is None else read_dates(dated).get(typed.date_order)
        if dated and when is None:
            return Rejected(line, typed.date_column or "", "not a date")
        return Row(line, numbers, when, self._cell(cells, typed.category_column))

    def _cell(self, cells: tuple[str, ...], name: str | None) -> str:
        return "" if name is None else cells[self._at[name]].strip()


def _header_unit(name: str) -> str:
    found = _HEADER_UNIT.search(name)
    unit = "" if found is None else (found["round"] or found["square"] or found["word"] or "").strip()
    return "EUR" if unit == "€" else "" if any(map(str.isdigit, unit)) else unit


def _unit(written: str, declared: str) -> str:
    """A cell's own unit, unless it is the sign of the declared one: a dollar sign in a column of CAD is a Canadian dollar."""
    if not written or declared in _SIGN_OF.get(written, ()):
        return declared
    return written
