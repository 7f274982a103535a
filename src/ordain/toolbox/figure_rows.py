"""A table as it comes: cut out of CSV text, or given as columns and rows. Cells are hostile: sizes
are bounded and quotes must close.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

ROWS_MAX = 20_000
COLUMNS_MAX = 50
CELLS_MAX = 150_000
NAME_MAX = 100
_DELIMITERS = ",;\t|"

Cell = str | int | float
"""A text, or a number that came as JSON."""


class UnreadableFigure(Exception):
    """A table that cannot be read as a whole; ``code`` for programs, the message names lines and
    columns and no cell's content.
    """

    code: str = ""
    message: str = ""

    def __init__(self, code: str, message: str) -> None:
        """Say why."""
        super().__init__(code, message)
        self.code, self.message = code, message


@dataclass(frozen=True, slots=True)
class Rows:
    """A table as it came: the header's names, and rows with the line (or number) at which each
    stands.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]
    delimiter: str | None = None


def read_csv(text: str) -> Rows:
    """The rows of a CSV text: comma, semicolon, tab or bar between the cells, whichever cuts header
    and rows alike; the first row names the columns.

    Raises:
        Unreadable: ``not_csv``, ``too_large``, ``empty``.
    """
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise UnreadableFigure("not_csv", "the text holds a NUL character")
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
                raise UnreadableFigure("too_large", f"more than {ROWS_MAX} rows")
    except csv.Error:
        raise UnreadableFigure(
            "not_csv",
            f"line {start}: a quoted cell is not closed, or something follows its closing quote",
        ) from None
    if not rows:
        raise UnreadableFigure("empty", "there is no row")
    return _checked(tuple(" ".join(name.split()) for name in rows[0][1]), rows[1:], delimiter)


def rows_of(columns: Sequence[str], cells: Sequence[Sequence[Cell]]) -> Rows:
    """A table that came as columns and rows; a row's number, from 1, takes the place of its line.

    Raises:
        Unreadable: ``too_large``, ``empty``, ``columns``.
    """
    return _checked(
        tuple(" ".join(name.split()) for name in columns),
        [(number, tuple(row)) for number, row in enumerate(cells, 1)],
        None,
    )


def _checked(
    names: tuple[str, ...], rows: Sequence[tuple[int, tuple[Cell, ...]]], delimiter: str | None
) -> Rows:
    if len(names) > COLUMNS_MAX or len(rows) > ROWS_MAX or len(names) * len(rows) > CELLS_MAX:
        raise UnreadableFigure(
            "too_large", f"more than {COLUMNS_MAX} columns, {ROWS_MAX} rows or {CELLS_MAX} cells"
        )
    if not rows:
        raise UnreadableFigure("empty", "there is no row below the names of the columns")
    for number, name in enumerate(names, 1):
        if not name or len(name) > NAME_MAX:
            raise UnreadableFigure(
                "columns", f"column {number} has no name, or one longer than {NAME_MAX} characters"
            )
        if name in names[: number - 1]:
            raise UnreadableFigure("columns", f"column {number} has the name of an earlier column")
    return Rows(names, tuple(rows), delimiter)


def _cuts_alike(text: str, sign: str) -> tuple[int, int]:
    """How many of the first rows a delimiter cuts into as many cells as the header (more than one),
    and into how many.
    """
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
