"""The alphabet of answers: what a message may consist of to be read as a yes, a no or a choice.

A reading drops what it takes for decoration, and a mark that strikes, negates, quotes or unticks a
word is none: ``¬yes``, ``~~yes~~``, ``- [ ] yes``. So the characters are a closed set. A letter is
one as it is written, or a wide form of it; a mark above or below it belongs to its script.
"""

# ruff: noqa: RUF001 (punctuation of many languages)
from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Final

from ordain.wording.engine_3.whole import answering_phrases, listed_phrases, with_smiles
from ordain.wording.table import Table

CHARS_KEPT: Final = 4096
"""Of so many characters it is remembered whether they are part of the alphabet."""
_BLANKS: Final = frozenset(" \t\r\n\u00a0\u202f\u3000")
_STOPS: Final = frozenset(",.!;:'’‘ʼ。、！，；：．،؛।¡")
_MARKS: Final = re.compile("[\u064b-\u0652\u0670\u0900-\u0dff\u0e00-\u0eff\u3099\u309a]")
"""What is written above, below and beside letters of scripts that have such; of others it is one
character with its letter, or a stroke through it.
"""
_EMOJI: Final = "[\u2190-\u21ff\u2300-\u2bff\U0001f000-\U0001faff]"
_PICTURE: Final = re.compile(f"{_EMOJI}\ufe0f?[\U0001f3fb-\U0001f3ff]?|[0-9]\ufe0f?\u20e3")
"""An emoji with its skin and its way of being drawn; a figure on a key."""
_HYPHEN: Final = re.compile(r"(?<=\w)[-‐‑](?=\w)")
_OWN_FORMS: Final = re.compile("[\uff00-\uffef\u3130-\u318f\u30fc\u3005]")
"""Wide and narrow forms, Korean letters alone, and two signs that Japanese repeats and lengthens
with.
"""


def accented(phrases: Iterable[str]) -> frozenset[str]:
    """The Latin letters with a mark that these phrases are written with, small."""
    letters = {
        char
        for phrase in phrases
        if not phrase.isascii()
        for char in unicodedata.normalize("NFC", phrase).casefold()
    }
    return frozenset(filter(_is_accented, letters))


def answering_letters(table: Table) -> frozenset[str]:
    """Those of what is said for yes and no, and of a table's lists."""
    return accented(answering_phrases(table))


def listed_letters(table: Table) -> frozenset[str]:
    """Those of a table's lists."""
    return accented(listed_phrases(table))


def is_clear(text: str, letters: Set[str]) -> bool:
    """Whether the message consists of nothing but words, figures, emoji and the stops between them;
    of Latin letters with a mark, of ``letters`` alone.
    """
    if text.lstrip()[:1] in _STOPS - {"¡"}:
        return False  # ``!yes`` negates where people program
    left = _HYPHEN.sub("", with_smiles(unicodedata.normalize("NFC", text.strip()), ""))
    if left.isascii():
        return _ASCII_KNOWN.issuperset(left)
    left = _PICTURE.sub(_undrawn, left)
    return all(map(_is_known, set(left))) and all(
        char in letters for char in set(left.casefold()) if _is_accented(char)
    )


def _undrawn(found: re.Match[str]) -> str:
    """Nothing of a picture; of a letter in a circle or a square itself, which is no way to write a
    word.
    """
    return found[0] if unicodedata.normalize("NFKC", found[0][0]) != found[0][0] else ""


def _is_accented(char: str) -> bool:
    parts = unicodedata.normalize("NFD", char)
    return len(parts) > 1 and parts[0].isascii()


@lru_cache(CHARS_KEPT)
def _is_known(char: str) -> bool:
    if (
        char in _BLANKS
        or char in _STOPS
        or _MARKS.fullmatch(char) is not None
        or _OWN_FORMS.fullmatch(char) is not None
    ):
        return True
    return (
        unicodedata.category(char) in {"Ll", "Lu", "Lo", "Nd"}
        and unicodedata.normalize("NFKC", char) == char
    )


_ASCII_KNOWN: Final = frozenset(filter(_is_known, map(chr, range(128))))
