"""From a message's text to its shape: one sign per known word or phrase, case, accents, spelling and script evened out.

Phrases are written in the `lexicon_*` tables as people write them and pass through the same folding as a message, so that a table
needs one spelling only. Scripts without spaces are read character by character. Every step is linear in the text looked at.
"""

# ruff: noqa: RUF001 (folding is about look-alikes)
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from ordain.rules.lexicon_answers import ANSWERS
from ordain.rules.lexicon_orders import ORDERS
from ordain.rules.lexicon_places import PLACES
from ordain.rules.lexicon_signs import Sign
from ordain.rules.lexicon_talk import TALK
from ordain.rules.lexicon_words import WORDS

LOOKED_AT: Final = 600
"""Characters of a message that are read; what is longer is a task of its own."""
TOKENS_MAX: Final = 160

_FOLDED: Final = {
    **dict.fromkeys(range(0x300, 0x370)),  # accents, and what zalgo is made of
    **dict.fromkeys([*range(0x64B, 0x656), 0x670, 0x640]),  # Arabic vowel signs, often left out
    **dict.fromkeys([*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xAD, 0xFEFF]),  # unseen
    **dict.fromkeys([*range(0xFE00, 0xFE10), *range(0x1F3FB, 0x1F400), 0x20E3, *map(ord, "¿¡")]),
    **dict.fromkeys(map(ord, "’‘ʼʻ′"), "'"),
    **dict.fromkeys(map(ord, "“”„‟«»‹›「」『』`"), '"'),
    **str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "œ": "oe", "æ": "ae", "ى": "ي", "ة": "ه", "_": " "}),
    **str.maketrans({"。": ". ", "、": ", ", "،": ", ", "؛": ", ", "؟": "? ", "।": ". ", "–": "-", "—": " - ", "🅰": "a", "🅱": "b"}),
}
_ALONE: Final = "\u1100-\u11ff\u2e80-\u2fdf\u3040-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_INNER: Final = "\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
_TOKEN: Final = re.compile(
    rf"[{_ALONE}]|[^\W_{_ALONE}]+(?:[{_INNER}]+[^\W_{_ALONE}]*)*|[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]|▢"
    rf"|\?|[.!]+(?!\w)|!|[,;:](?!\d)|\n|(?<=\s)[-~]+(?=\s)|[()/]"
)
_BREAKS: Final = {"?": Sign.ASKS, ".": Sign.STOPS, "!": Sign.STOPS, "\n": Sign.STOPS}
_SOFT: Final = frozenset(",;:-~()/")
_QUOTES: Final = re.compile(r"\"[^\"]*(?:\"|$)|(?<!\w)'[^'\n]{2,}'(?!\w)")
_WHOLE_QUOTE: Final = re.compile(r"\s*\"([^\"]*)\"\s*")
_LONG: Final = re.compile(r"([^\W\d_])\1{2,}")
_EMOTICON: Final = re.compile(r"(?<!\S)(?:[:;=x]['-]?[)(dpo3*|/]+|<3+|\^_*\^|:')(?!\w)")
_APOSTROPHE: Final = re.compile(r"(?<=\w)'(?=(?:t|s|re|m|ll|ve|d)\b)")
_LAUGH: Final = re.compile(
    r"a?(?:h[aeiou]){2,}h?|(?:ja){2,}j?|k{2,}|(?:rs){2,}|l(?:o|u)+l+z?|а?(?:х[аеи]){2,}х?|w{2,}|哈|ㅋ|ㅎ|ᄏ|ᄒ|笑|草|x+d+|lmf?ao|rofl"
)
_SEARCHES: Final = ("suche", "recherche", "zoektocht")
"""German and Dutch write the object into the word: *Hotelsuche*."""
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def fold(text: str) -> str:
    """The text without what writers vary: case, accents, width, typography, unseen and repeated characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text.replace("´", "'"))[: 2 * LOOKED_AT].casefold().translate(_FOLDED)
        text = unicodedata.normalize("NFC", text)
    else:
        text = text.lower().replace("_", " ").replace("`", '"')
    return _LONG.sub(r"\1", text)


def tokens(folded: str) -> list[str]:
    """Words, single characters of scripts without spaces, emoji, breaks; a quotation is one token."""
    whole = _WHOLE_QUOTE.fullmatch(folded)
    text = _QUOTES.sub(" ▢ ", whole[1] if whole else folded)
    text = _APOSTROPHE.sub("", _EMOTICON.sub(" ☺ ", text))
    return _TOKEN.findall(text)[:TOKENS_MAX]


Table = Mapping[str, tuple[int, dict[tuple[str, ...], str]]]
"""By first token: the length of the longest phrase, and the sign of each."""


def compile_table(sources: Iterable[Mapping[Sign, str]]) -> Table:
    """Phrases, split at ``|`` and line ends, folded as messages are; the first table that names a phrase keeps it."""
    table: dict[str, tuple[int, dict[tuple[str, ...], str]]] = {}
    for source in sources:
        for sign, text in source.items():
            for phrase in re.split(r"[|\n]", text):
                for spelling in {phrase, phrase.translate(_UMLAUTS)}:
                    key = tuple(tokens(fold(spelling)))
                    if key:
                        longest, known = table.setdefault(key[0], (0, {}))
                        known.setdefault(key, sign.value)
                        table[key[0]] = (max(longest, len(key)), known)
    return table


_TABLE: Final = compile_table([ORDERS, TALK, ANSWERS, PLACES, WORDS])


def shape(found: list[str]) -> str:
    """The signs of the tokens, the longest known phrase first."""
    signs: list[str] = []
    at, end = 0, len(found)
    while at < end:
        token = found[at]
        longest, known = _TABLE.get(token, (0, None))
        step = 1
        if known is not None:
            for step in range(min(longest, end - at), 0, -1):
                sign = known.get(tuple(found[at : at + step]))
                if sign is not None:
                    signs.append(sign)
                    break
            else:
                step = 1
                signs.append(_unlisted(token))
        else:
            signs.append(_unlisted(token))
        at += step
    return "".join(signs)


def _unlisted(token: str) -> str:
    first = token[0]
    if first in _BREAKS:
        return _BREAKS[first].value
    if token in _SOFT or first in "-~":
        return Sign.COMMA.value
    if first == "▢":
        return Sign.QUOTED.value
    if first.isdigit():
        return Sign.NUMBER.value
    if _LAUGH.fullmatch(token):
        return Sign.THANKS.value
    if token.endswith(_SEARCHES):
        return Sign.SEARCH.value
    if not token[0].isalnum():
        return Sign.EMOJI.value
    return Sign.OWN.value


_DIGIT: Final = re.compile(r"\d")
_MONTHS: Final = "jan|feb|mar|mae|maerz|marz|apr|may|mai|mayo|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez|dic"
_NUMBER_TIME: Final = re.compile(
    r"\b\d{4}-\d{1,2}-\d{1,2}\b|\b[0-3]?\d[./](?:0?\d|1[0-2])\.?(?:[./]?(?:\d{4}|\d{2}))?(?=$|[\s,;!?)])(?<!\d\.\d)|\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?(?:am|pm|a\.m|p\.m|uhr|h|u)\b"
    r"|\b\d{1,2}\s?h\s?\d{2}\b|\b(?:at|um|gegen|ab|at around|around|alle|ore|om|kl|klockan|as|saat|o|в|о|à)\s\d{1,2}\b(?!\s?[%€$])|\ba las? \d{1,2}\b|\ba \d{1,2}\s?h"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|er|\.|º|ª)?\s?(?:of |de |d')?(?:{_MONTHS})\w*\b|\b(?:{_MONTHS})(?!or\b)[a-z]{{0,6}}\.?\s\d{{1,2}}(?:st|nd|rd|th)?\b|\b(?:the|el|le|am|on the|den|dia) \d{{1,2}}(?:st|nd|rd|th|er|\.)?(?=$|[\s,;!?])"
    r"|\b\d{1,2}(?:st|nd|rd|th)\b|\b(?:in|en|dans|tra|fra|em|over|za|через|om) \d{1,3} (?:min|hour|hr|day|week|month|stunde|tag|woche|monat|hora|dia|semana|minut|heure|jour|semaine|ore|giorn|settiman|uur|dag|week|godzin|dni|час|мин|дн|недел)"
    r"|\d{1,2}\s?(?:時|点|點|시|月|월|號|号)|\b(?:may|mai|sat|sun|mar)\s\d"
)
_SPOT: Final = re.compile(
    r"-?\d{1,2}\.\d{2,}\s*[°,; ]\s*-?\d{1,3}\.\d{2,}.*|(?:\w{1,2}-)?\d{4,5}(?:-\d{3,4})?(?:\s?[a-z]{2})?|[a-z]{1,2}\d[a-z\d]?\s?\d[a-z]{2}|〒?\d{3}-\d{4}"
)


def names_number_time(folded: str) -> bool:
    """Whether figures in the text name a date or a time of day."""
    return _DIGIT.search(folded) is not None and _NUMBER_TIME.search(folded) is not None


def names_spot(folded: str) -> bool:
    """Whether the text is a pair of coordinates or a postcode."""
    return len(folded) <= 60 and _SPOT.fullmatch(folded.strip(" .!")) is not None
