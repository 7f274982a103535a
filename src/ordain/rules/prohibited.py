"""Whether a prohibited word or phrase stands in the arguments of a call, as people see it (C6).
Pure.

In any case and form, between any signs, and without signs that nobody sees. A letter that is seen
as another one counts as that, accents do not count, and letters that stand apart are read together.
In scripts that put no blanks between words a word is found wherever it stands; of other words only
the whole. Figures in place of letters, synonyms and other languages are what a moderation is for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from unicodedata import category, normalize

from ordain.contracts.look_alikes import OF_LATIN, mistakable, script_of
from ordain.contracts.seen_letters import SEEN_AS, letter_shown
from ordain.rules.prohibited_1 import texts_in

_SOME, _STROKE, _RING = "\0", "\1", "\2"
"""Stand for a letter that is seen as another one, nobody says as which; for a stroke, which is an l
as well as an i or a 1; and for a ring, which is an o or a 0.
"""
_PLACES: Final = _SOME + _STROKE + _RING
_OPEN: Final = {"l": _STROKE, "1": _STROKE, "o": _RING, "0": _RING}
_ACCENTS: Final = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
"""Marks that stand over, under and through the letters of any script; those that are vowels of one
are none.
"""
_HIDDEN: Final = re.compile(
    "[\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\ufffc\U000e0100-\U000e01ef]"
)
"""Letters, marks and signs that show nothing."""
_UNSPACED: Final = frozenset(
    {"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"}
)
_APART: Final = re.compile(r"(?<!\S)\S(?: \S){2,}(?!\S)")
"""Three letters or more, each by itself."""


def holds_prohibited(value: object, phrases: tuple[str, ...]) -> bool:
    """Whether one of the phrases stands in a text of the value, names of fields included."""
    whole, within, signs = _patterns(phrases)
    return any(
        whole.search(shown := _shown(text)) is not None
        or any(within.search(apart[0].replace(" ", "")) for apart in _APART.finditer(shown))
        or any(sign in _written(text) for sign in signs)
        for text in texts_in(value)
    )


@lru_cache(16)
def _patterns(
    phrases: tuple[str, ...],
) -> tuple[re.Pattern[str], re.Pattern[str], tuple[str, ...]]:
    """What finds the phrases in a text as it is seen, and in letters that were apart; and those
    that are signs, as ``C++`` is, which are found as they are written.
    """
    signs = tuple(_written(phrase) for phrase in phrases if _is_signs(phrase))
    shown = [_shown(phrase) for phrase in phrases if not _is_signs(phrase)]
    if not shown:
        never = re.compile(r"(?!)")
        return never, never, signs
    return (
        re.compile("|".join(map(_bounded, shown))),
        re.compile("|".join(_pattern(phrase.replace(" ", "")) for phrase in shown)),
        signs,
    )


def _is_signs(phrase: str) -> bool:
    """Whether there is one letter in it at the most, and more than that."""
    letters = _shown(phrase).strip()
    return len(letters) < 2 and letters != _written(phrase).strip()


def _written(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _bounded(phrase: str) -> str:
    """A whole word, but where its script puts no blanks between words."""
    first, last = (script_of(phrase[at]) in _UNSPACED for at in (1, -2))
    return _pattern(phrase[first : len(phrase) - last])


def _pattern(phrase: str) -> str:
    return "".join(map(_sign, phrase))


def _sign(sign: str) -> str:
    if sign == " ":
        return " "
    if not sign.isascii():
        return re.escape(sign)
    place = _STROKE if sign in "il1" else _OPEN.get(sign, "")
    return f"[{re.escape(sign)}{_SOME}{place}]"


def _shown(text: str) -> str:
    """As words are compared: letters and figures as they are seen, in one case, without accents and
    signs that nobody sees; one blank between, one before and one behind.
    """
    seen = "".join(sign for sign in normalize("NFKD", text) if category(sign) != "Cf")
    plain = "".join(map(letter_shown, _HIDDEN.sub("", _ACCENTS.sub("", seen))))
    strange = set[int]() if plain.isascii() else mistakable(plain)
    letters = "".join(
        _alike(sign)
        if sign.isalnum() and (at in strange or sign in OF_LATIN)
        else sign
        if sign.isalnum() or category(sign)[0] == "M"
        else " "
        for at, sign in enumerate(plain)
    )
    return f" {' '.join(letters.casefold().split())} "


def _alike(sign: str) -> str:
    seen = SEEN_AS.get(sign, _SOME)
    return _OPEN.get(seen, seen)
