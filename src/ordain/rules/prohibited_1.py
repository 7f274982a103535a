"""Whether a prohibited word stood in the arguments of a call, for runs that began before a letter
that is seen as another one counted as that one alone. Pure.

In any case and form, between any signs, and without signs that nobody sees. Compared as people see
them, a letter that is seen as another one counts as whichever the phrase has there, accents do not
count, and letters that stand apart are read together. Figures in place of letters, synonyms and
other languages are what a moderation is for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, cast
from unicodedata import category, normalize

from ordain.contracts.look_alikes import OF_LATIN, mistakable

_SOME: Final = "\0"
"""Stands for a letter that is seen as another one."""
_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_APART: Final = re.compile(r"(?<!\S)\S(?: \S){2,}(?!\S)")
"""Three letters or more, each by itself."""


def holds_prohibited(value: object, phrases: tuple[str, ...], *, seen: bool) -> bool:
    """Whether one of the phrases stands in a text of the value, names of fields included; ``seen``:
    as people see it, and not by its letters alone.
    """
    exact = tuple(map(_evened, phrases))
    return any(
        _is_written(text, exact) or (seen and _is_seen(text, phrases)) for text in texts_in(value)
    )


def _is_written(text: str, exact: tuple[str, ...]) -> bool:
    written = _evened(text)
    return any(phrase in written for phrase in exact)


def _is_seen(text: str, phrases: tuple[str, ...]) -> bool:
    shown = _shown(text)
    whole, within = _patterns(phrases)
    return whole.search(shown) is not None or any(
        within.search(apart[0].replace(" ", "")) for apart in _APART.finditer(shown)
    )


@lru_cache(16)
def _patterns(phrases: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds the phrases in a text as it is seen, and in letters that were apart."""
    shown = [phrase for phrase in map(_shown, phrases) if phrase.strip()]
    if not shown:
        never = re.compile(r"(?!)")
        return never, never
    return (
        re.compile("|".join(map(_pattern, shown))),
        re.compile("|".join(_pattern(phrase.replace(" ", "")) for phrase in shown)),
    )


def _pattern(phrase: str) -> str:
    return "".join(" " if sign == " " else f"[{re.escape(sign)}{_SOME}]" for sign in phrase)


def _shown(text: str) -> str:
    """As ``_evened``, without accents, and with letters that are seen as others left open."""
    visible = "".join(sign for sign in normalize("NFKD", text) if category(sign) != "Cf")
    plain = _ACCENTS.sub("", visible)
    strange = set[int]() if plain.isascii() else mistakable(plain)
    return _spaced(
        "".join(
            _SOME
            if sign.isalnum() and (at in strange or sign in OF_LATIN)
            else " "
            if sign == _SOME
            else sign
            for at, sign in enumerate(plain)
        ).casefold()
    )


def _evened(text: str) -> str:
    """As words are compared: letters and digits in one case and form, without signs that nobody
    sees; one blank between, one before and one behind.
    """
    return _spaced(
        "".join(
            sign for sign in normalize("NFKC", text).casefold() if category(sign) != "Cf"
        ).replace(_SOME, " ")
    )


def _spaced(text: str) -> str:
    signs = (sign if sign.isalnum() or sign == _SOME else " " for sign in text)
    return f" {' '.join(''.join(signs).split())} "


def texts_in(value: object) -> Iterator[str]:
    """Every text in the arguments, names of fields included."""
    match value:
        case str():
            yield value
        case list():
            for item in cast("list[object]", value):
                yield from texts_in(item)
        case dict():
            for name, item in cast("dict[str, object]", value).items():
                yield name
                yield from texts_in(item)
        case _:
            return
