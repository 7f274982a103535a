"""What of keys and pasted blocks is text, and how a line of it is drawn. Pure.

Whatever is typed is said, or looked at as a command, as it was typed: nothing that shows nothing is
left out, so that no name becomes another one. It is drawn by its number instead.
"""

from __future__ import annotations

import unicodedata

from ordain.contracts.visible import ESCAPES, HIDDEN, drawn, picture_of

LINE_MAX = 32_000
TAB = "    "
UNKNOWN = "\ufffd"
"""Bytes that are no text, as in a pipe; and how a sign is drawn that only its maker knows."""


def typed_text(text: str) -> str:
    """The text without terminal sequences. A tab is four spaces, every line ends alike, and more
    than a message may have is cut.
    """
    lines = text.split("\n")
    if all(line.isprintable() for line in lines):
        return text[:LINE_MAX]
    text = ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    return "".join(UNKNOWN if "\ud800" <= sign <= "\udfff" else sign for sign in text)[:LINE_MAX]


def drawn_signs(line: str) -> list[str]:
    """Each sign of a typed line as it is drawn: what commands, reorders or shows nothing as a
    picture, or by its number.
    """
    signs = [_drawn(sign) for sign in line]
    for found in HIDDEN.finditer(line):
        signs[found.start() : found.end()] = map(picture_of, found[0])
    return signs


def _drawn(sign: str) -> str:
    match unicodedata.category(sign):
        case "Cs" | "Co":
            return UNKNOWN
        case "Zs":
            return " "
        case _:
            return drawn(sign)
