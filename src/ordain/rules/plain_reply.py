"""Header and narrative in one plain text, told apart by where a line begins (C5). Pure.

Every line of foreign text begins with a mark that code writes and no line of a header begins with.
Whatever signs of whatever script a model puts into its words, behind the mark they are words:
nobody has to know which of them look like a header's.
"""

from __future__ import annotations

import re
import unicodedata

from ordain.contracts.visible import ESCAPES, besides_flags, drawn, unhidden

QUOTE = "> "
"""Begins every line of foreign text; in Markdown it makes a quotation, within which lists and code
stay what they are.
"""
LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def plain_reply(header: str, narrative: str) -> str:
    """A reply as plain text: the header, an empty line, and the narrative, each line of it behind
    its mark (C5).
    """
    said = cleaned(narrative).strip("\n")
    return f"{header}\n\n{quoted_lines(said)}" if said.strip() else header


def quoted_lines(narrative: str) -> str:
    """Foreign text for a plain-text channel: cleaned, and each of its lines behind ``> ``, which no
    line of a header begins with.

    Who breaks lines anew puts the mark before each piece: a line that runs over would go on where
    another one begins.
    """
    return "\n".join(f"{QUOTE}{line}".rstrip() for line in cleaned(narrative).split("\n"))


def cleaned(text: str) -> str:
    """Foreign text without terminal sequences; lines end in a line feed.

    What controls, reorders, or shows nothing is shown and does nothing, as ``contracts.visible``
    has it: NUL as ``␀``, DEL as ``␡``, a bidirectional control as ``[U+202E]``, a letter of nothing
    as ``[U+3164]``.
    """
    kept = ESCAPES.sub("", text)
    if kept.isascii() and kept.isprintable():
        return kept
    return "\n".join(_line(line).rstrip() for line in LINE_ENDS.split(kept))


def _line(line: str) -> str:
    return line if line.isascii() and line.isprintable() else besides_flags(line, _seen)


def _seen(line: str) -> str:
    return unhidden(line if line.isprintable() else "".join(map(_shown, line)))


def _shown(character: str) -> str:
    match unicodedata.category(character):
        case "Cs" | "Co":
            return "\ufffd"
        case "Zs":
            return " "
        case _:
            return drawn(character)
