"""Header and narrative in one plain text: foreign text of which no line can be taken for one of the header above it (C5). Pure."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

QUOTE = "> "
LOOK_ALIKES = frozenset("?⤫⤬⯑‽᛫∘‧⸰⠁⠂⠄⠈⠐⠠🗙")  # noqa: RUF001 - ambiguous signs are what this is about
"""Signs that a reader could take for a mark of the header, and whose names do not say so."""
NAMED = frozenset(
    {"CHECK", "CROSS", "BALLOT", "SALTIRE", "MULTIPLICATION", "DOT", "BULLET", "QUESTION", "CIRCLE", "SQUARE", "STOP"}
    | {"ARROW", "ARROWHEAD", "POINTER", "TRIANGLE"}
)
"""By these words a look-alike is known in its Unicode name: every list of such signs was short of one."""
BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters and signs that show nothing."""
CONFUSED = str.maketrans("оοօгᴦԁаαᴀіιɩıոпυսᴜц", "ooorrdaaaiiiinnuuuu")
"""Letters that look like those of the header's first words."""
TITLE = "ordainrun"
JOINERS = frozenset("\u200c\u200d")
"""The only format characters that writing needs and that move nothing."""
REORDERING = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Bidirectional controls by which a text reads otherwise than it stands there."""
CONTROLS = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f{REORDERING}]")
"""What commands whoever shows a text; what only ends a line or a column is none."""
ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-WYZ\\`-~]?)|\x9b[0-?]*[ -/]*[@-~]?")
"""Terminal sequences, whole or cut off."""
LINE_ENDS = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
MARKUP = re.compile(
    r"(?:\[U\+[0-9A-F]{4}\]|</?[a-zA-Z][^<>]{0,80}>|\(?(?:[0-9]{1,4}|[a-zA-Z])[.)](?!\w)"
    r"""|[␀-␡\-+*_~`#|\[\](){}<>=:;,.!"'/\\&^‘’‚“”„«»‹›‐-―])*"""  # noqa: RUF001 - as above
)
"""What lists, tables, emphasis and brackets put before the first sign that counts."""
SPELLED = re.compile(
    r"[-+*#|0-9.)]*(?:\[[xX]\](?!\()|:(?:[xov]|[a-z0-9_+-]*(?:check|cross|tick|ballot|question|bullet|circle|square|arrow)[a-z0-9_+-]*):)"
)
"""A mark that a face may draw: a ticked box of a list, the short name of an emoji."""


def plain_reply(header: str, narrative: str) -> str:
    """A reply as plain text: the header, an empty line, and the narrative, none of whose lines can be taken for the header's (C5)."""
    said = quoted_lines(narrative).strip("\n")
    return f"{header}\n\n{said}" if said.strip() else header


def quoted_lines(narrative: str) -> str:
    """Foreign text for a plain-text channel: cleaned, and each line that looks like one of a header quoted with ``> ``."""
    return "\n".join(f"{QUOTE}{line}" if imitates(line) else line for line in cleaned(narrative).split("\n"))


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

    It is shown as ``␀``, ``␡`` or ``[U+202E]``; all else is as it was.
    """
    return text if text.isprintable() else CONTROLS.sub(_picture, ESCAPES.sub("", text))


def _picture(found: re.Match[str]) -> str:
    character = found[0]
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


def imitates(line: str) -> bool:
    """Whether a reader could take the line for one of a header: by the first sign behind what lists and emphasis put there, or by the header's first words."""
    shown = "".join(map(_seen, html.unescape(line) if "&" in line else line))
    if not shown or shown.startswith(QUOTE[0]):
        return False
    before = MARKUP.match(shown)
    first = shown[before.end() :][:1] if before else shown[:1]
    return first in LOOK_ALIKES or _is_named(first) or SPELLED.match(shown) is not None or TITLE in shown.casefold().translate(CONFUSED)


@lru_cache(4096)
def _seen(character: str) -> str:
    """A character as it is seen: a compatibility form as what it stands for, but for one that is a mark as it is; nothing of what shows nothing."""
    if _is_named(character):
        return character
    return "".join(c for c in unicodedata.normalize("NFKD", character) if unicodedata.category(c)[0] not in "CZM" and c not in BLANK)


@lru_cache(4096)
def _is_named(character: str) -> bool:
    """Whether a sign is a look-alike by name; a letter that only has a dot is none."""
    if not character or character.isascii():
        return False
    return not NAMED.isdisjoint(unicodedata.name(character, "").partition(" WITH ")[0].split())
