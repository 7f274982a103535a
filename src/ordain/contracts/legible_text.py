r"""Foreign text as somebody sees it who decides by it: as JSON writes it, and no two texts look the
same. Pure.

Nothing is dropped, cut or put in another's place. What controls, hides, reorders, shows nothing, or
is seen as another sign than it is stands there by its number (``\u202e``), so that what is read,
read as JSON, is the text. A letter is left as it is in a word of its own script: ``Grüße``,
``Привет``, ``東京`` stay, and the one strange letter of a word or of a domain does not.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from ordain.contracts.look_alikes import OF_LATIN, SEEN_AS_SYNTAX, TURKISH_I, mistakable, script_of

_SHORT: Final = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\f": "\\f",
}
_BLANK: Final = re.compile(
    "[\u034f\u1100-\u11ff\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\U00016fe4\U0001d159\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that show nothing, and the parts of Korean letters that are shown as one
with what stands beside them.
"""
_DRAWN: Final = frozenset("\ufe0e\ufe0f")
"""How a picture before them is drawn."""
_JOINERS: Final = frozenset("\u200c\u200d")
_JOIN_NOTHING: Final = frozenset(
    {
        "LATIN",
        "CYRILLIC",
        "GREEK",
        "ARMENIAN",
        "GEORGIAN",
        "COPTIC",
        "HEBREW",
        "CJK",
        "HIRAGANA",
        "KATAKANA",
        "HANGUL",
    }
)
_MARKS_MAX: Final = 4
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:@/+-]*\Z")
_BLANKS: Final = re.compile("(?<= ) +")
"""Of several blanks those behind the first: whoever shows a text may show one, or break the line
there.
"""
_TEXTS: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def literal(text: str) -> str:
    """The text as a JSON string."""
    return f'"{"".join(pieces(text))}"'


def name_text(name: str) -> str:
    """The name of something: as it is where it is made of plain signs alone, else as a JSON
    string.
    """
    return name if _PLAIN_NAME.match(name) else literal(name)


def legible_json(encoded: str) -> str:
    """JSON text of the same value, with each of its strings as ``literal`` writes it."""
    if encoded.isascii() and "\x7f" not in encoded and "  " not in encoded:
        return encoded
    return _TEXTS.sub(lambda found: literal(json.loads(found[0], strict=False)), encoded)


def legible_part(encoded: str) -> str:
    """A part of JSON text, cut anywhere: as ``legible_json``, but that what it is a part of is not
    known.
    """
    return "".join(
        one if one in '"\\' else piece for one, piece in zip(encoded, pieces(encoded), strict=True)
    )


def pieces(text: str) -> list[str]:
    """What each character of a text is written as within a JSON string."""
    written = [_SHORT.get(character, character) for character in text]
    for run in _BLANKS.finditer(text):
        written[run.start() : run.end()] = [_number(" ")] * len(run[0])
    if text.isascii() and text.isprintable():
        return written
    strange = [
        at
        for at, is_strange in enumerate(map(_is_strange, text))
        if is_strange and not _is_in_place(text, at)
    ]
    unworn = [
        at for at, is_mark in enumerate(map(_is_mark, text)) if is_mark and not _is_worn(text, at)
    ]
    for at in chain(strange, unworn, mistakable(text)):
        written[at] = _number(text[at])
    return written


def _number(character: str) -> str:
    return _SHORT.get(character) or "".join(f"\\u{unit:04x}" for unit in _units(ord(character)))


def _units(code: int) -> Sequence[int]:
    """The number as UTF-16 has it, and so JSON."""
    return (
        (code,)
        if code < 0x10000
        else (0xD800 + ((code - 0x10000) >> 10), 0xDC00 + ((code - 0x10000) & 0x3FF))
    )


@lru_cache(8192)
def _is_strange(character: str) -> bool:
    """Whether it is not seen, or seen as something else, whatever stands beside it."""
    if character.isascii():
        return not character.isprintable()
    category = unicodedata.category(character)
    if category[0] in "CZ" or _BLANK.match(character) or character in SEEN_AS_SYNTAX:
        return True
    if unicodedata.normalize("NFC", character) != character:
        return True  # the double of another sign, or of several
    if category == "Lm" and unicodedata.name(character, "").startswith("MODIFIER"):
        return True
    return (character in OF_LATIN and character != TURKISH_I) or _is_form(character, category)


def _is_form(character: str, category: str) -> bool:
    """Whether it is a letter or figure that Unicode calls a form of one of ASCII. Wide ones are
    seen as what they are; so are raised figures.
    """
    if (
        category not in {"Lu", "Ll", "Lt", "Lo", "Lm", "Nd", "Nl"}
        or character in "ªº"
        or script_of(character) == "FULLWIDTH"
    ):
        return False
    meant = unicodedata.normalize("NFKC", character)
    return meant != character and any(one.isascii() and one.isalnum() for one in meant)


def _is_in_place(text: str, at: int) -> bool:
    """Whether what shows nothing by itself is seen by what it does: to the picture before it, or to
    the letters that it joins or keeps apart.
    """
    character, before, after = text[at], text[at - 1 : at] if at else "", text[at + 1 : at + 2]
    if not before or before.isascii():
        return False
    if character in _DRAWN:
        return unicodedata.category(before) in {"So", "Sm", "Po"}
    if character not in _JOINERS or not after or after.isascii():
        return False
    if _is_picture(before) or before in _DRAWN:
        return _is_picture(after)
    return script_of(before) == script_of(after) != "" and script_of(before) not in _JOIN_NOTHING


def _is_picture(character: str) -> bool:
    return unicodedata.category(character) in {"So", "Sk"}


@lru_cache(8192)
def _is_mark(character: str) -> bool:
    return not character.isascii() and unicodedata.category(character)[0] == "M"


def _is_worn(text: str, at: int) -> bool:
    """Whether a mark stands on a letter as its script has it, and makes of that none that could be
    written as one sign, nor one that is struck out.
    """
    mark = text[at]
    if mark in _DRAWN:
        return True  # judged as what shows nothing
    if unicodedata.category(mark) == "Me" or unicodedata.combining(mark) == 1:
        return False
    first = at - 1
    while first >= 0 and (_is_mark(text[first]) or text[first] in _JOINERS):
        first -= 1
    if first < 0 or at - first > _MARKS_MAX or unicodedata.category(text[first])[0] not in "LN":
        return False
    whole, script = text[first : at + 1], script_of(mark)
    return unicodedata.normalize("NFC", whole) == whole and script in {
        "COMBINING",
        "VEDIC",
        script_of(text[first]),
    }
