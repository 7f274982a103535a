"""A choice among options that were offered: by letter, by number, by place or by a word that only
one of them has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ordain.wording.engine_1.folding import fold, tokens
from ordain.wording.engine_1.signs import Sign

LETTERS: Final = "ABCDEFGHI"
"""The keys of options, in order; no question has more."""
_AROUND: Final = frozenset(
    sign.name.lower()
    for sign in (
        Sign.CHOOSE,
        Sign.THE,
        Sign.PLEASE,
        Sign.USE,
        Sign.IT,
        Sign.I,
        Sign.RATHER,
        Sign.COMMA,
        Sign.STOPS,
    )
)
_FIRST, _SECOND, _BREAKS = Sign.ONE.name.lower(), Sign.TWO.name.lower(), frozenset(",.!():;/-~\n")


def chosen_key(
    parts: Sequence[tuple[str, str]], trimmed: Sequence[str], options: Sequence[str]
) -> str:
    """The letter of the one option that the message names and says nothing beside, "" where it
    names none or more.

    ``trimmed`` are the message's tokens without courtesies; ``parts`` are all of them with the
    names of their signs.
    """
    keys = LETTERS[: len(options)]
    around = {word for said, sign in parts if sign in _AROUND for word in said.split()} | {"one"}
    words = [set(_words(option)) for option in options]
    named = _named_by(set(trimmed), words) or _named_by(
        {word for word in trimmed if word not in around}, words
    )
    if len(named) == 1:
        return keys[named[0]]
    matter = [word for word in trimmed if word not in around or word.upper() in keys]
    if len(matter) == 1 and len(matter[0]) == 1 and matter[0].upper() in keys:
        return matter[0].upper()
    if (
        len(matter) == 1
        and matter[0].isdecimal()
        and 1 <= int(matter[0]) <= len(options)
        and not named
    ):
        return keys[int(matter[0]) - 1]
    return "" if named else _by_place(parts, trimmed, len(options))


def _by_place(parts: Sequence[tuple[str, str]], trimmed: Sequence[str], count: int) -> str:
    """*the first one*, *the second*; *the last one* only of two."""
    left = set(trimmed)
    places = {
        sign for said, sign in parts if left.intersection(said.split()) and sign not in _AROUND
    }
    if places == {_FIRST}:
        return "A"
    last = any(
        said.startswith(("last", "letzt", "latter")) for said, sign in parts if sign == _SECOND
    )
    return "B" if places == {_SECOND} and (count == 2 or not last) else ""


def _named_by(matter: set[str], words: Sequence[set[str]]) -> list[int]:
    """The options that have all these words, where one of the words is no letter alone."""
    if not matter or all(len(word) == 1 and not word.isdecimal() for word in matter):
        return []
    return [number for number, option in enumerate(words) if matter <= option]


def mentions(trimmed: Sequence[str], options: Sequence[str]) -> bool:
    """Whether it has a word of an option, without being a choice of one."""
    return any(
        len(word) > 1 and word in option for word in trimmed for option in map(_words, options)
    )


def _words(option: str) -> list[str]:
    said = fold(option).replace('"', " ")  # what a label quotes is what it is known by
    return [word for word in tokens(said) if word[0] not in _BREAKS]
