"""What commands print: JSON for programs, short plain lines for people. Nothing foreign commands a terminal or passes for a line of ours."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ordain.rules.header import plain
from ordain.rules.plain_reply import cleaned, quoted_lines

CELL = 300


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON that people can read; what controls, hides or reorders stands there as an escape."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if text.isascii() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isascii() or (unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"):
        return character
    return json.dumps(character)[1:-1]


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
    cells = [list(headings), *(["" if cell is None else plain(str(cell), CELL) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


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
