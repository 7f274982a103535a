"""From tokens to a shape: one sign per known word or phrase, the longest phrase first."""

# ruff: noqa: RUF001 (laughter is in many scripts)
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from ordain.wording.engine_1.folding import TOKENS_MAX, fold, tokens
from ordain.wording.engine_1.signs import Sign
from ordain.wording.packaged import KEYS, packaged_table


class FirstWord(Struct):
    """The phrases that begin with one token, each with its sign. What is looked for by is made when
    a text first has the token: of a table's thousands few are ever met.
    """

    known: dict[tuple[str, ...], str]
    seconds: frozenset[str] | None = None
    sizes: tuple[int, ...] = ()
    alone: str | None = None

    def second(self, token: str) -> frozenset[str]:
        """What may stand behind the token; from then on ``sizes`` are those of phrases of several,
        the longest first, and ``alone`` is the sign of the token by itself.
        """
        several = [phrase for phrase in self.known if len(phrase) > 1]
        self.alone = self.known.get((token,))
        self.sizes = tuple(sorted({*map(len, several)}, reverse=True))
        self.seconds = frozenset(phrase[1] for phrase in several)
        return self.seconds


Phrases = Mapping[str, FirstWord]
"""By first token."""

_BREAKS: Final = {
    "?": Sign.ASKS.value,
    ".": Sign.STOPS.value,
    "!": Sign.STOPS.value,
    "\n": Sign.STOPS.value,
}
_COMMA: Final = Sign.COMMA.value
_EMOJI: Final = Sign.EMOJI.value
_NUMBER: Final = Sign.NUMBER.value
_OWN: Final = Sign.OWN.value
_QUOTED: Final = Sign.QUOTED.value
_SEARCH: Final = Sign.SEARCH.value
_THANKS: Final = Sign.THANKS.value
_SOFT: Final = frozenset(",;:-~()/")
_LAUGH: Final = re.compile(
    r"a?(?:h[aeiou]){2,}h?|(?:ja){2,}j?|k{2,}|(?:rs){2,}|l(?:o|u)+l+z?|а?(?:х[аеи]){2,}х?|w{2,}|哈|"
    r"ㅋ|ㅎ|ᄏ|ᄒ|笑|草|x+d+|lmf?ao|rofl"
)
"""Laughter is made of repetitions and not of words, so it is a pattern and no list."""
_LAUGHS: Final = frozenset("ahjkrlwxахㅋㅎᄏᄒ哈笑草")
"""What it begins with."""
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})
_PLAIN: Final = re.compile(r"(?!.*([a-z])\1\1)(?:(?!x)[a-z]+(?: (?!$)|$))+")
"""Words that folding leaves as they are and that are tokens as they stand, as most phrases: no
letter thrice in a row, none that may be an emoticon (*xd*).
"""


@lru_cache(maxsize=2**14)  # engines stand on one another, and each reads the same lists of a table
def keys(phrase: str) -> frozenset[tuple[str, ...]]:
    """What of a phrase is compared with a message: its tokens, and those of its spelling without
    umlauts. Empty: it holds nothing to look for.
    """
    return _written_keys().get(phrase) or folded_keys(phrase)


def folded_keys(phrase: str) -> frozenset[tuple[str, ...]]:
    """As ``keys``, made anew."""
    if is_plain(phrase):
        return frozenset((tuple(phrase.split(" ")),))
    return frozenset(
        found
        for spelling in {phrase, phrase.translate(_UMLAUTS)}
        if (found := tuple(tokens(fold(spelling))))
    )


def is_plain(phrase: str) -> bool:
    """Whether its one key is its words as they stand, which are cheaply told apart."""
    return _PLAIN.fullmatch(phrase) is not None and phrase.count(" ") < TOKENS_MAX


@cache
def _written_keys() -> Mapping[str, frozenset[tuple[str, ...]]]:
    """Those of shipped phrases that are not plain, written down: folding them is most of what the
    first message of a process waits for.
    """
    return msgspec.json.decode(packaged_table(KEYS), type=dict[str, frozenset[tuple[str, ...]]])


def compile_phrases(claims: Iterable[tuple[str, Iterable[str]]]) -> Phrases:
    """Phrases by their keys; the first claim that names one keeps it."""
    table: dict[str, dict[tuple[str, ...], str]] = {}
    for name, phrases in claims:
        sign = Sign[name.upper()].value
        for phrase in phrases:
            for found in keys(phrase):
                if (known := table.get(found[0])) is None:
                    table[found[0]] = {found: sign}
                else:
                    known.setdefault(found, sign)
    return {first: FirstWord(known) for first, known in table.items()}


def shape_of(
    found: Sequence[str], phrases: Phrases, searches: tuple[str, ...], steps: list[int]
) -> str:
    """The signs of the tokens; ``searches`` are endings that make a word the name of a search:
    *Hotelsuche*.

    ``steps`` is filled with how many tokens each sign stands for.
    """
    signs: list[str] = []
    at, end = 0, len(found)
    while at < end:
        token = found[at]
        if (listed := phrases.get(token)) is None:
            signs.append(_unlisted(token, searches))
            steps.append(1)
            at += 1
            continue
        if (seconds := listed.seconds) is None:
            seconds = listed.second(token)
        step, sign = 1, listed.alone
        if at + 1 < end and found[at + 1] in seconds:
            for size in listed.sizes:
                if (
                    at + size <= end
                    and (several := listed.known.get(tuple(found[at : at + size]))) is not None
                ):
                    step, sign = size, several
                    break
        signs.append(_unlisted(token, searches) if sign is None else sign)
        steps.append(step)
        at += step
    return "".join(signs)


def _unlisted(token: str, searches: tuple[str, ...]) -> str:
    first = token[0]
    if not first.isalpha():  # as few are: what follows is of marks and figures
        if first in _BREAKS:
            return _BREAKS[first]
        if token in _SOFT or first in "-~":
            return _COMMA
        if first == "▢":
            return _QUOTED
        if first.isdigit():
            return _NUMBER
    if first in _LAUGHS and _LAUGH.fullmatch(token):
        return _THANKS
    if token.endswith(searches):
        return _SEARCH
    return _OWN if first.isalnum() else _EMOJI
