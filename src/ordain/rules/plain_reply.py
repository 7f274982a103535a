"""Header and narrative in one plain text, told apart by where a line begins (C5). Pure.

Every line of foreign text begins with a mark that code writes and no line of a header begins with. Whatever signs of whatever script a model puts into its
words, behind the mark they are words: nobody has to know which of them look like a header's.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

QUOTE = "> "
"""Begins every line of foreign text; in Markdown it makes a quotation, within which lists and code stay what they are."""
JOINERS = frozenset("\u200c\u200d")
"""The only format characters that writing needs and that move nothing."""
PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs that Unicode counts as format characters and that are seen."""
REORDERING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Bidirectional controls by which a text reads otherwise than it stands there."""
CONTROLS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f{REORDERING}]")
"""What commands whoever shows a text; what only ends a line or a column is none."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~]?)|\x9b[0-?]*[ -/]*[@-~]?")
"""Terminal sequences, whole or cut off."""
LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain_reply(header: str, narrative: str) -> str:
    """A reply as plain text: the header, an empty line, and the narrative, each line of it behind its mark (C5)."""
    said = cleaned(narrative).strip("\n")
    return f"{header}\n\n{quoted_lines(said)}" if said.strip() else header


def quoted_lines(narrative: str) -> str:
    """Foreign text for a plain-text channel: cleaned, and each of its lines behind ``> ``, which no line of a header begins with.

    Who breaks lines anew puts the mark before each piece: a line that runs over would go on where another one begins.
    """
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in cleaned(narrative).split("\n"))


def cleaned(text: str) -> str:
    """Foreign text without terminal sequences and without characters that hide what is shown; lines end in a line feed.

    What controls or reorders is shown and does nothing: NUL as ``␀``, DEL as ``␡``, a bidirectional control as ``[U+202E]``.
    """
    kept = ESCAPES.sub("", text)
    if kept.isascii() and kept.isprintable():
        return kept
    return "\n".join(CONTROLS.sub(_picture, "".join(_shown(c) for c in line)).rstrip() for line in LINE_ENDS.split(kept))


def visible(text: str) -> str:
    """Foreign text for a face that gives it on as data: without terminal sequences, and what else controls or reorders is shown.

    It is shown as ``␀``, ``␡`` or ``[U+202E]``, and so is what shows nothing (zero width, tags, separators of lines); all else is as it was.
    """
    if text.isprintable():
        return text
    kept = ESCAPES.sub("", text)
    return CONTROLS.sub(_picture, kept) if kept.isascii() else "".join(map(_drawn, kept))


@lru_cache(4096)
def _drawn(character: str) -> str:
    """A character as data gives it on: what shows nothing, or moves or reads otherwise what stands beside it, by its number."""
    if CONTROLS.match(character):
        return _picture_of(character)
    if unicodedata.category(character) not in ("Cf", "Zl", "Zp") or character in JOINERS or character in PREPENDED:
        return character
    return _picture_of(character)


def _picture(found: re.Match[str]) -> str:
    return _picture_of(found[0])


def _picture_of(character: str) -> str:
    return "␡" if character == "\x7f" else chr(0x2400 + ord(character)) if character < " " else f"[U+{ord(character):04X}]"


def _shown(character: str) -> str:
    if character == "\t" or character in JOINERS or CONTROLS.match(character):
        return character
    match unicodedata.category(character):
        case "Cc" | "Cf":
            return ""
        case "Cs" | "Co":
            return "\ufffd"
        case "Zs":
            return " "
        case _:
            return character
