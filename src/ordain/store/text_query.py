"""What a question asks for by its letters, and how that is said to the text index. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from ordain.contracts.library import COMMON_WORDS

WORDS_MAX = 32
"""Most words of a question that are looked up."""

LITERALS_MAX = 8

_QUOTED = re.compile(r'"([^"]{1,300})"|“([^”]{1,300})”|„([^“”]{1,300})[“”]|«([^»]{1,300})»')
_WORD = re.compile(r"\w+", re.UNICODE)
_LETTERS_AND_DIGITS = re.compile(r"(?=.*\d)(?=.*[^\W\d])\w++(?:[-.:#]\w++)*+", re.DOTALL)
"""Letters and digits in one word: INV-2024-113, v2, a1b2c3d4."""

_NAMED = re.compile(
    r"""
        [/\\~].+                            # a path from a root
      | [^@]++@[^@]+\.\w++                   # a mail address
      | \d++(?:[-.:/]\d++)++ | \d{4,}       # 2026-11-02, 10.0.0.1, an order number
      | \w++\.\w{2,8}+(?:\.\w++)*+         # a file's name
    """,
    re.VERBOSE | re.DOTALL,
)
_SNAKE = re.compile(r"[^\W\d]\w++")
_STEP = re.compile(r"[\w.~-][/\\]")
"""Where a path or an address goes on."""


class TextQuery(Struct, frozen=True, kw_only=True):
    """A question's parts: what stands in quotes, what looks like an id, a path or a number, and its
    other words.
    """

    quoted: tuple[str, ...]
    identifiers: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def literals(self) -> tuple[str, ...]:
        """What has to stand in the text just so."""
        return self.quoted or self.identifiers


def read_question(text: str) -> TextQuery:
    """Take a question apart. Total: any text is a question."""
    text = text.replace("\0", " ")
    quoted = [next(filter(None, found.groups())) for found in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" ", text)
    bare = [(one[1:] if one[0] in "([" else one).rstrip(".,;:!?)]") for one in rest.split()]
    identifiers = [one for one in bare if _is_identifier(one)]
    words = list(dict.fromkeys(word.lower() for word in _WORD.findall(rest)))
    telling = [word for word in words if word not in COMMON_WORDS] or words
    return TextQuery(
        quoted=_searchable(quoted),
        identifiers=_searchable(identifiers),
        words=tuple(telling[:WORDS_MAX]),
    )


def _is_identifier(word: str) -> bool:
    """Whether a word without blanks looks like an id, a path or a number. In linear time: the
    patterns do not go back over what they took.
    """
    if _NAMED.fullmatch(word) or _LETTERS_AND_DIGITS.fullmatch(word):
        return True
    if _SNAKE.fullmatch(word) and "_" in word[1:-1]:
        return True
    step = _STEP.search(word)
    return step is not None and _WORD.search(word, step.end()) is not None


def _searchable(texts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.strip() for one in texts if _WORD.search(one)))[:LITERALS_MAX]


def of_literals(asked: TextQuery) -> str:
    """The index's expression for texts that hold every literal; the other words only order them."""
    every = " AND ".join(map(phrase, asked.literals))
    return f"({every}) AND ({of_words(asked)}) OR ({every})" if asked.words else every


def of_words(asked: TextQuery) -> str:
    """The index's expression for texts that hold any of the words; "" where there is none."""
    return any_of((*asked.quoted, *asked.words))


def any_of(texts: Sequence[str]) -> str:
    """The index's expression for texts that hold any of these."""
    return " OR ".join(map(phrase, texts))


def telling(words: Sequence[str], counts: Sequence[int], most: int) -> tuple[str, ...]:
    """The words that tell texts apart, in their order: the rarest as long as they find no more than
    ``most`` passages in all; at least one that finds any.

    A word that half of everything holds says next to nothing of a text, and to weigh all that it
    finds takes as long as all the rest.
    """
    kept, found = set[int](), 0
    for at in sorted(range(len(words)), key=lambda at: counts[at]):
        if found and found + counts[at] > most:
            break
        found += counts[at]
        kept.add(at)
    return tuple(word for at, word in enumerate(words) if at in kept)


def holds(text: str, literals: tuple[str, ...]) -> bool:
    """Whether a text really holds every literal, whatever the index made of its words; case and the
    width of spaces do not matter.
    """
    folded = _folded(text)
    return all(_folded(literal) in folded for literal in literals)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def phrase(text: str) -> str:
    """A text as the index's expression for just that, whatever it holds."""
    return '"' + text.replace('"', '""') + '"'
