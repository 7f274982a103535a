"""A text as engine 1 sees it, made once and handed on: the engines that stand on one another would
each fold it and cut it again.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Final

from ordain.wording.engine_1.folding import LOOKED_AT, TOKENS_MAX, fold, tokens_of
from ordain.wording.engine_1.phrases import Phrases, shape_of
from ordain.wording.engine_1.signs import BY_NAME

_NAMES: Final = {letter: name for name, letter in BY_NAME.items()}
_LINE: Final = "\n"
_CLOSING: Final = re.compile(r"[\s.!?]*")
_CLOSES: Final = frozenset("?.!\n")


class Look:
    """A text with its beginning: folded, in tokens, their signs, and each piece with the name of
    the sign that it is taken for.

    ``beginning`` is what of it is read: as a rule the text itself, without the blanks around it.
    """

    __slots__ = (
        "_parts",
        "_steps",
        "beginning",
        "folded",
        "is_all",
        "is_short",
        "signs",
        "stripped",
        "text",
        "tokens",
    )

    def __init__(
        self,
        text: str,
        phrases: Phrases,
        searches: tuple[str, ...],
        beginning: str | None = None,
    ) -> None:
        """``searches`` are endings that make a word the name of a search."""
        self.text, self.stripped = text, text.strip()
        self.is_short = len(self.stripped) <= LOOKED_AT
        """Nothing of it is left out."""
        self.beginning = self.stripped[:LOOKED_AT] if beginning is None else beginning
        self.is_all = len(self.beginning) == len(text)
        """All of it is read, with no blanks around it."""
        self.folded = fold(self.beginning)
        self.tokens = tokens_of(self.folded)
        self._steps = list[int]()
        self.signs = shape_of(self.tokens, phrases, searches, self._steps)
        self._parts: tuple[tuple[str, str], ...] | None = None

    @property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The pieces; most messages are read without them."""
        if self._parts is None:
            found = self.tokens
            spans = zip(self.signs, self._steps, accumulate(self._steps), strict=True)
            self._parts = tuple(
                [
                    (
                        found[end - 1] if step == 1 else " ".join(found[end - step : end]),
                        _NAMES[sign],
                    )
                    for sign, step, end in spans
                ]
            )
        return self._parts

    @property
    def words(self) -> tuple[str, ...]:
        """The tokens but for line ends: the words of its pieces."""
        if _LINE not in self.tokens:
            return self.tokens
        return tuple([token for token in self.tokens if token != _LINE])

    def tokens_of(self, said: str) -> tuple[str, ...]:
        """The tokens of a part of the text. Where it lacks nothing but the marks that close the
        text, and ends in a letter or figure, they are those of the text but for the closing ones:
        nothing that folds or joins looks beyond such a mark.
        """
        if said == self.beginning:
            return self.tokens
        begun = (
            said[-1:].isalnum()
            and len(self.tokens) < TOKENS_MAX
            and self.beginning.isascii()
            and self.beginning.startswith(said)
            and '"' not in said
            and "`" not in said
            and _CLOSING.fullmatch(self.beginning, len(said)) is not None
        )
        if not begun:
            return tokens_of(fold(said))
        end = len(self.tokens)
        while end and self.tokens[end - 1][0] in _CLOSES:
            end -= 1
        return self.tokens[:end]
