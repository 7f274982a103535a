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
OWN_WORDS = re.compile(
    r"(?:ok|partial|unknown|inprogress|notoolsucceeded|nothingdone)[\W_]*[^\w\s(),.!;]ordain|models:[\W_]*\"|notoolwasused"
    r"|[0-9]+steps,[0-9]+modelcalls",
    re.IGNORECASE,
)
"""Words that a header's lines begin with behind their mark, as they are seen: without blanks."""
VERDICTS = frozenset({"CHECK", "CROSS", "BALLOT", "SALTIRE", "CHECKMARK"})
"""By these words in its Unicode name a sign says what became of something."""
MAY_BEGIN = frozenset("¡§¶†‡…‥※‰′″‼")  # noqa: RUF001 - as above
"""Points and symbols beyond ASCII with which a line of a text may begin."""
DOT_LETTERS = frozenset("ㆍᆞꓸꓹꞏ᛫ʔɁॽ")  # noqa: RUF001 - as above
"""Letters that look like a point or a question mark."""
SAY_NOTHING = re.compile(
    "[\u2400-\u2421\u2500-\u259f\u2801-\u28ff\U0001f1e6-\U0001f1ff\U0001f300-\U0001f64f\U0001f680-\U0001f6ff\U0001f900-\U0001f9ff\U0001fa70-\U0001faff]"
)
"""Pictures of controls, frames, Braille, letters of flags, and pictures but for those that are marks by name."""
ENCLOSED = re.compile("\\w\ufe0f?[\u20dd-\u20e0\u20e2-\u20e4]")
"""A numeral or letter in a key or a ring, as lists have it."""
COMMENTS = re.compile(r"<!(?:--.*?(?:-->|\Z)|[^<>]*>)", re.DOTALL)
BREAKS = re.compile(r"</?(?:br|p|li|div|tr|td|hr|h[1-6])\b[^<>]{0,80}>", re.IGNORECASE)
"""Markup after which a face begins a new line."""
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
MARKUP = re.compile(
    r"(?:\[U\+[0-9A-F]{4,6}\]|</?[a-zA-Z][^<>]{0,80}>|\(?(?:\d{1,4}|[ivxlcdmIVXLCDM]{1,7}|[^\W\d_])[.):．、。｡]"  # noqa: RUF001 - as above
    r"""|[␀-␡\-+*_~`#|\[\](){}<>=:;,.!"'/\\&^‘’‚“”„«»‹›‐-―])*"""  # noqa: RUF001 - as above
)
"""What lists, tables, emphasis and brackets put before the first sign that counts."""
SPELLED = re.compile(
    r"[-+*#|0-9.)]*(?:\[(?:[xXvV]|(?i:ok|yes|no|done|fail(?:ed)?|error))\](?!\()|[-=~]{1,3}>|\$?\\(?:checkmark|times|cdot|bullet|rightarrow)|:(?:[xov]|[a-z0-9_+-]*(?:check|cross|tick|ballot|question|bullet|circle|square|arrow)[a-z0-9_+-]*):)"
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


def imitates(line: str) -> bool:
    """Whether a reader could take the line for one of a header.

    By a sign of what was done, wherever it stands; by the first sign behind what lists, tables and emphasis of any script put there, which must be one of
    a closed alphabet; or by words that a header is written in.
    """
    plain = html.unescape(line) if "&" in line else line
    if "".join(map(_seen, plain)).startswith(QUOTE[0]):
        return False
    if not plain.isascii() and any(map(_is_verdict, plain)):
        return True
    if "<" not in plain:
        return _imitates(plain)
    return any(map(_imitates, BREAKS.split(plain))) or any(map(_imitates, BREAKS.split(COMMENTS.sub("", plain))))


def _imitates(line: str) -> bool:
    shown = "".join(map(_seen, ENCLOSED.sub("", line)))
    if SPELLED.match(shown) is not None or TITLE in shown.casefold().translate(CONFUSED):
        return True
    at = _peeled(shown)
    return shown[at : at + 1] in LOOK_ALIKES or _is_mark(shown[at : at + 1]) or OWN_WORDS.match(shown, at) is not None


def _peeled(shown: str) -> int:
    """Where the first sign stands that is no mark of a list, a table, an emphasis or a bracket."""
    at = 0
    while at < len(shown):
        found = MARKUP.match(shown, at)
        if found is not None and found.end() > at:
            at = found.end()
        elif _may_precede(shown[at]):
            at += 1
        else:
            break
    return at


@lru_cache(4096)
def _may_precede(sign: str) -> bool:
    """Whether a sign may stand before a line's first word and says nothing by itself: brackets, quotes, dashes, frames, currencies, numerals and pictures."""
    if sign in LOOK_ALIKES or _is_mark(sign):
        return False
    return unicodedata.category(sign) not in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")


@lru_cache(4096)
def _is_mark(sign: str) -> bool:
    """Whether a sign that begins a line is taken for a mark: of those beyond ASCII every symbol and every point that is none of a closed alphabet."""
    if not sign or sign.isascii() or sign in MAY_BEGIN:
        return False
    if _is_named(sign) or sign in DOT_LETTERS:
        return True
    match unicodedata.category(sign):
        case "So" | "Sm" | "Sk":
            return SAY_NOTHING.match(sign) is None
        case "Po" | "Pc" | "Cn":
            return True
        case _:
            return False


@lru_cache(4096)
def _is_verdict(sign: str) -> bool:
    """Whether a sign says by itself that something was done, or was not."""
    return not sign.isascii() and not VERDICTS.isdisjoint(unicodedata.name(sign, "").split())


@lru_cache(4096)
def _seen(character: str) -> str:
    """A character as it is seen: a compatibility form as what it stands for, but for one that is a mark as it is; nothing of what shows nothing."""
    if _is_named(character) or unicodedata.category(character) == "No":
        return character
    return "".join(c for c in unicodedata.normalize("NFKD", character) if unicodedata.category(c)[0] not in "CZM" and c not in BLANK)


@lru_cache(4096)
def _is_named(character: str) -> bool:
    """Whether a sign is a look-alike by name; a letter that only has a dot is none."""
    if not character or character.isascii():
        return False
    return not NAMED.isdisjoint(unicodedata.name(character, "").partition(" WITH ")[0].split())
