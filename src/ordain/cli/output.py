"""What commands print: JSON for programs, short plain lines for people."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def print_json(value: object) -> None:
    """The value, indented."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest cell."""
    cells = [list(headings), *([str("" if cell is None else cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_answer(response: Mapping[str, Any]) -> None:
    """A planner response: header first, then the answer or the error."""
    print(response["header"])
    if response.get("error"):
        print(f"\nerror: {response['error']['code']}: {response['error']['message']}")
    if response.get("final_answer"):
        print(f"\n{response['final_answer']['content']}")


def moment(text: str | None) -> str:
    """A time as people read it: to the second, in UTC."""
    return "" if text is None else text[:19].replace("T", " ")
