"""From a text to its tokens: case, accents, width, spelling and script evened out. Phrases of a
table go through the same.

Scripts without spaces are read character by character. Every step is linear in the text looked at.
What varies with the way of writing and not with the word stands here as code, for every language: a
table holds words.
"""

# ruff: noqa: RUF001 (folding is about look-alikes)
from __future__ import annotations

import re
import unicodedata
from typing import Final

from ordain.wording.one_reading import made_once

LOOKED_AT: Final = 600
"""Characters of a message that are read; what is longer is a task of its own."""
TOKENS_MAX: Final = 160

_FOLDED: Final = {
    **dict.fromkeys(range(0x300, 0x370)),  # accents, and what zalgo is made of
    **dict.fromkeys([*range(0x64B, 0x656), 0x670, 0x640]),  # Arabic vowel signs, often left out
    # unseen
    **dict.fromkeys(
        [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xAD, 0xFEFF]
    ),
    **dict.fromkeys([*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), 0x20E3, *map(ord, "¿¡")]),
    **dict.fromkeys(map(ord, "’‘ʼʻ′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»‹›「」『』`"), '"'),
    **str.maketrans(
        {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae", "ى": "ي", "ة": "ه", "_": " "}
    ),
    **str.maketrans(
        {
            "。": ". ",
            "、": ", ",
            "،": ", ",
            "؛": ", ",
            "؟": "? ",
            "।": ". ",
            "–": "-",
            "—": " - ",
            "🅰": "a",
            "🅱": "b",
        }
    ),
}
_ALONE: Final = "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_INNER: Final = "\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
_BREAK: Final = r"\?|[.!]+(?!\w)|!|[,;:](?!\d)|\n|(?<=\s)[-~]+(?=\s)|[()/]"
_TOKEN: Final = re.compile(
    rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_INNER}]+[^\W_{_ALONE}]*)*|"
    rf"[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]|▢|{_BREAK}"
)
_TOKEN_ASCII: Final = re.compile(rf"[a-zA-Z0-9]+|{_BREAK}")
"""The same of a text that has nothing else: most have not, and it takes half the time."""
_QUOTES: Final = re.compile(r"\"[^\"]*(?:\"|$)|(?<!\w)'[^'\n]{2,}'(?!\w)")
_WHOLE_QUOTE: Final = re.compile(r"\s*\"([^\"]*)\"\s*")
_LONG: Final = re.compile(r"([^\W\d_])\1\1+")
LENGTHENED: Final = re.compile(r"([^\W\d_])\1\1+", re.IGNORECASE)
"""A letter three times in a row, or more often."""
_LENGTHENED_ASCII: Final = re.compile(r"([a-z])\1\1")
"""The same of small letters, where a text has no others: looked for in half the time."""
_EMOTICON: Final = re.compile(
    r"[:;=x<^](?<!\S.)(?:(?<=[:;=x])['-]?[)(dpo3*|/]+|(?<=<)3+|(?<=\^)_*\^|(?<=:)')(?!\w)"
)
"""Its first character comes first, so that it is looked for only where one stands."""
_APOSTROPHE: Final = re.compile(r"(?<=\w)'(?=(?:t|s|re|m|ll|ve|d)\b)")


def fold(text: str) -> str:
    """The text without what writers vary: case, accents, width, typography, unseen and repeated
    characters.
    """
    return made_once(_fold, text)


def _fold(text: str) -> str:
    if text.isascii():
        small = text.lower().replace("_", " ").replace("`", '"')
        return _LONG.sub(r"\1", small) if is_lengthened(text) else small
    text = (
        unicodedata.normalize("NFKD", text.replace("´", "'"))[: 2 * LOOKED_AT]
        .casefold()
        .translate(_FOLDED)
    )
    return _LONG.sub(r"\1", unicodedata.normalize("NFC", text))


def is_lengthened(text: str) -> bool:
    """Whether a letter stands three times in a row, large or small."""
    return made_once(_is_lengthened, text)


def _is_lengthened(text: str) -> bool:
    if text.isascii():
        return _LENGTHENED_ASCII.search(text.lower()) is not None
    return LENGTHENED.search(text) is not None


def tokens(folded: str) -> list[str]:
    """Words, single characters of scripts without spaces, emoji, breaks; a quotation is one
    token.
    """
    return list(tokens_of(folded))


def tokens_of(folded: str) -> tuple[str, ...]:
    """The same, to be looked at by whoever changes none of it."""
    return made_once(_tokens, folded)


def _tokens(folded: str) -> tuple[str, ...]:
    text = folded
    if '"' in text or "'" in text:
        whole = _WHOLE_QUOTE.fullmatch(text)
        text = _QUOTES.sub(" ▢ ", whole[1] if whole else text)
        text = _APOSTROPHE.sub("", _EMOTICON.sub(" ☺ ", text))
    else:
        text = _EMOTICON.sub(" ☺ ", text)
    token = _TOKEN_ASCII if text.isascii() else _TOKEN
    return tuple(token.findall(text)[:TOKENS_MAX])
