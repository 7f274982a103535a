"""What commands print: JSON for programs, short plain lines for people. Nothing foreign commands a
terminal or passes for a line of ours.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ordain.cli.columns import UNBROKEN, clipped, wrapped
from ordain.cli.hints import where_it_runs
from ordain.contracts.legible_text import legible_json, pieces
from ordain.contracts.remedies import NO_MODEL, NO_WORDS, NOT_HELD, REMEDIES
from ordain.contracts.visible import picture_of, visible_line, visible_name
from ordain.rules.plain_reply import QUOTE, cleaned
from ordain.runtime.brief import header_shown, in_words
from ordain.runtime.reason_words import meanings

MESSAGE = 2000
"""Most characters of a message on stderr."""
CELL = 300
COLUMNS_MIN = 20
PIPED_COLUMNS = 120
"""Of what is written for people, and to no terminal."""
HEADER_INDENT = "    | "
"""Before the rest of a header's line that is too long for its terminal: no line of a header begins
so, whatever this one quotes.
"""
_UNQUOTED = {'\\"': '"', "\\\\": "\\"}
"""Around a cell stand no quotation marks; a path keeps its own strokes."""


def json_text(value: object, indent: int | None = None) -> str:
    """The value as JSON that people can read: what could be taken for something else stands there
    as its number.
    """
    return legible_json(json.dumps(value, indent=indent, ensure_ascii=False))


def print_json(value: object) -> None:
    """The value, indented."""
    print(json_text(value, indent=2))


def number_of(count: int, what: str) -> str:
    """So many of something, in the form of one where there is one."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def show(text: str) -> None:
    """A line or a few, cleaned of what is no text."""
    print(cleaned(text))


def show_line(text: str) -> None:
    """One line, whatever stands in it: nothing of a store that somebody altered begins another
    one.
    """
    print("".join(picture_of(sign) if sign in "\n\r" else sign for sign in visible_name(text)))


def warn(text: str) -> None:
    """Something beside the result, on stderr: one line, whatever stands in it."""
    print(f"ordain: {visible_line(text, MESSAGE)}", file=sys.stderr, flush=True)


def people_read(header: str, *, whole: bool = False) -> str:
    """A header as people are shown it: one line, and all of it, its reasons in words, where that is
    asked for or one line would not be the truth.
    """
    told = in_words if whole else header_shown
    return with_places(told(header, meanings()))


def with_places(text: str) -> str:
    """What a text says to do about a model, with the folder or machine that it is about; no word of
    anybody's else is touched.
    """
    for said in (NO_MODEL, NOT_HELD, NO_WORDS, *REMEDIES.values()):
        text = text.replace(said, where_it_runs(said))
    return text


def show_header(header: str, *, whole: bool = True) -> None:
    """A header, as code wrote it."""
    shown = cleaned(people_read(header, whole=whole))
    print(
        "\n".join(
            part
            for line in shown.split("\n")
            for part in broken(line, terminal_columns(), HEADER_INDENT)
        )
    )


def show_foreign(text: str) -> None:
    """What a model said below a header."""
    print()
    show_words(text)


def show_words(text: str) -> None:
    """Foreign text, each line behind its mark (C5)."""
    print("\n".join(marked_lines(text, terminal_columns())))


def show_reply(header: str, narrative: str, *, whole: bool = False) -> None:
    """A reply: its header, and behind their mark the words below it."""
    show_header(header, whole=whole)
    if cleaned(narrative).strip():
        show_foreign(narrative.strip("\n"))
    print(flush=True)


def marked_lines(text: str, columns: int, within: str = "") -> list[str]:
    """Foreign text, each line behind its mark; one that is too long is broken, so that its rest,
    behind ``within``, does not begin where a header's line does.
    """
    return [
        f"{QUOTE}{part}".rstrip()
        for line in cleaned(text).split("\n")
        for part in broken(line, columns - len(QUOTE), within)
    ]


def broken(line: str, columns: int, indent: str = "") -> list[str]:
    """A line as those that a terminal has room for; of a pipe or a file it stays one, as it is."""
    return [line] if columns >= UNBROKEN - len(QUOTE) else wrapped(line, columns, indent)


def terminal_columns() -> int:
    """Columns of the terminal that is printed to; of a pipe or a file as many as a line has."""
    return (
        max(COLUMNS_MIN, shutil.get_terminal_size().columns - 1)
        if sys.stdout.isatty()
        else UNBROKEN
    )


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, fits: bool = False
) -> None:
    """Columns as wide as their widest cell; each cell on one line. ``fits``: a line is cut to its
    terminal, for a last column of words.
    """
    for line in _table_lines([headings, *rows]):
        print(clipped(line, terminal_columns()) if fits else line)


def print_groups(
    headings: Sequence[str],
    groups: Mapping[str, Sequence[Sequence[object]]],
    *,
    whole: bool = False,
) -> None:
    """The same, fitting, with the rows of each group below its name; where no terminal is printed
    to, in lines that people can read. ``whole``: nothing is cut.
    """
    columns = UNBROKEN if whole else terminal_columns() if sys.stdout.isatty() else PIPED_COLUMNS
    first, *lines = _table_lines([headings, *(row for rows in groups.values() for row in rows)])
    print(clipped(f"  {first}", columns))
    rest = iter(lines)
    for name, rows in groups.items():
        print(cell_text(name))
        for _ in rows:
            print(clipped(f"  {next(rest)}", columns))


def _table_lines(rows: Sequence[Sequence[object]]) -> list[str]:
    cells = [["" if cell is None else cell_text(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def cell_text(text: str) -> str:
    """Foreign text on one line, spelled so that it can be taken for nothing else; of one that is
    too long its length is told.
    """
    shown = "".join(_UNQUOTED.get(piece, piece) for piece in pieces(text[:CELL]))
    return shown if len(text) <= CELL else f"{shown}… ({len(text)} characters)"


def print_answer(response: Mapping[str, Any], *, whole: bool) -> None:
    """A planner response: header first, then the answer or the error."""
    show_header(response["header"], whole=whole)
    if error := response.get("error"):
        show_foreign(f"error: {error['code']}: {error['message']}")
    if response.get("final_answer"):
        show_foreign(response["final_answer"]["content"])


def moment(text: str | None) -> str:
    """A time as people read it: to the second, in UTC."""
    return "" if text is None else text[:19].replace("T", " ")
