"""What of keys and pasted blocks is text. Pure."""

from __future__ import annotations

LINE_MAX = 32_000
TAB = "    "
JOINERS = "\u200c\u200d"
"""They show nothing by themselves, and people write with them."""


def typed_text(text: str) -> str:
    """The text without what is none: controls, signs that turn others around. A tab is four spaces, every line ends alike, and more than a message may have is cut."""
    lines = text.split("\n")
    if all(line.isprintable() for line in lines):
        return text[:LINE_MAX]
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", TAB)
    return "".join(sign for sign in text if sign == "\n" or sign.isprintable() or sign in JOINERS)[:LINE_MAX]
