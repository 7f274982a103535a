"""How many columns text takes in a terminal, and how it is broken into lines there. Overestimates
rather than under: a line never runs over.
"""

from __future__ import annotations

import unicodedata

TAB = "    "
UNBROKEN = 10_000
"""The columns of what is no terminal: a pipe breaks no lines."""


def width(text: str) -> int:
    """Columns of a text without controls."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if character == "\ufe0f":  # asks for the emoji form of the sign before it, which may be wider
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitting(text: str, columns: int) -> int:
    """How many characters of the text's beginning fit into so many columns."""
    used = 0
    for at, character in enumerate(text):
        used += _columns(character)
        if used > columns:
            return at
    return len(text)


def clipped(text: str, columns: int, ellipsis: str = "…") -> str:
    """The text, cut to so many columns with an ellipsis where it is longer."""
    return (
        text
        if width(text) <= columns
        else text[: fitting(text, columns - width(ellipsis))] + ellipsis
    )


def wrapped(line: str, columns: int, indent: str = "") -> list[str]:
    """One line as lines of at most so many columns, broken at spaces where there are any; all but
    the first begin with ``indent``.
    """
    rest, found = line.replace("\t", TAB).rstrip(), list[str]()
    columns = max(columns, len(indent) + 2)
    while True:
        start = indent if found else ""
        # not the width of the rest: that reads all of a long line for every line made of it
        room = fitting(rest, columns - width(start))
        if room == len(rest):
            return [*found, start + rest]
        room = max(1, room)
        space = rest.rfind(" ", 0, room + 1)
        end = space if space > 0 and rest[:space].strip() else room
        found.append(start + rest[:end].rstrip())
        rest = rest[end:].lstrip()
