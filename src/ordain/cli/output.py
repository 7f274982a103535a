"""What commands print: JSON for programs, short plain lines for people. Nothing foreign commands a terminal or passes for a line of ours."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ordain.contracts.legible_text import legible_json, pieces
from ordain.rules.plain_reply import cleaned, quoted_lines

CELL = 300
_UNQUOTED = {'\\"': '"', "\\\\": "\\"}
"""Around a cell stand no quotation marks; a path keeps its own strokes."""


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON that people can read: what could be taken for something else stands there as its number."""
    return legible_json(json.dumps(value, indent=indent, ensure_ascii=False))


def print_json(value: object) -> None:
    """The value, indented."""
    print(json_text(value, indent=2))


def show(text: str) -> None:
    """A line or a few, cleaned of what is no text."""
    print(cleaned(text))


def show_foreign(text: str) -> None:
    """What a model said below a header, none of whose lines can be taken for the header's (C5)."""
    print(f"\n{quoted_lines(text)}")


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest cell; each cell on one line."""
    cells = [list(headings), *(["" if cell is None else cell_text(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def cell_text(text: str) -> str:
    """Foreign text on one line, spelled so that it can be taken for nothing else; of one that is too long its length is told."""
    shown = "".join(_UNQUOTED.get(piece, piece) for piece in pieces(text[:CELL]))
    return shown if len(text) <= CELL else f"{shown}… ({len(text)} characters)"


def print_answer(response: Mapping[str, Any]) -> None:
    """A planner response: header first, then the answer or the error."""
    show(response["header"])
    if error := response.get("error"):
        show_foreign(f"error: {error['code']}: {error['message']}")
    if response.get("final_answer"):
        show_foreign(response["final_answer"]["content"])


def moment(text: str | None) -> str:
    """A time as people read it: to the second, in UTC."""
    return "" if text is None else text[:19].replace("T", " ")
