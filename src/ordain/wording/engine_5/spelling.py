"""Letters as they are written: a Latin letter with a mark, or a form of its own, is part of a word
that a table spells so.

Folding takes a mark for a way of writing, so ``yés`` and ``nø`` were a yes and a no in no language.
A word without marks stands for one with them, since people leave them out; none is added.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Final

from ordain.wording.engine_3.whole import answering_phrases
from ordain.wording.table import Table

_WORD: Final = re.compile(r"[^\W\d_]+")
CHARS_KEPT: Final = 4096
"""Of so many characters it is remembered whether they are Latin."""


def marked_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of these texts that have a Latin letter beyond the plain ones, small."""
    return frozenset(
        word for text in texts if not text.isascii() for word in _words(text) if _is_marked(word)
    )


def written_words(table: Table) -> frozenset[str]:
    """Those of what is said for yes and no, and of a table's lists."""
    return marked_words(answering_phrases(table))


def is_spelled(text: str, known: Set[str]) -> bool:
    """Whether every word of the text that has such a letter is known so."""
    return text.isascii() or all(word in known for word in _words(text) if _is_marked(word))


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


def _is_marked(word: str) -> bool:
    return not word.isascii() and any(map(_is_latin, word))


@lru_cache(CHARS_KEPT)
def _is_latin(char: str) -> bool:
    return not char.isascii() and unicodedata.name(char, "").startswith("LATIN")
