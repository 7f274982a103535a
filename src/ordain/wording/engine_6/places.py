"""Choices by place: of two one is the last, the former, the latter, the left or the right; of more
such a word speaks of a place and chooses none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_3.whole import ClosedLists
from ordain.wording.engine_4.choices import ClosedChoices
from ordain.wording.table import Table

LASTS: Final = "lasts"
PAIRS: Final = "pairs"
POSITIONS: Final = "positions"
PAIR: Final = 2
LISTS: Final = frozenset({LASTS, PAIRS, POSITIONS})
"""What names the last of two; what names one of two; and words that speak of a place without saying
which one is meant (*the middle one*).
"""


class PlacedChoices(ClosedChoices):
    """Engine 4's choices, with these lists."""

    __slots__ = ("_lasts", "_pairs", "_positions")

    def __init__(self, table: Table, closed: ClosedLists) -> None:
        """See ``ClosedChoices``."""
        super().__init__(table, closed)
        self._lasts, self._pairs, self._positions = (
            frozenset(key for phrase in table.lists.get(name, ()) for key in keys(phrase))
            for name in (LASTS, PAIRS, POSITIONS)
        )

    def places(self, words: Iterable[str]) -> bool:
        """Whether one of the words is that of a place: *the second*, *the last but one*."""
        said = tuple(words)
        return super().places(said) or any(
            (word,) in self._positions or (word,) in self._lasts for word in said
        )

    def _named(
        self, core: tuple[str, ...], words: Sequence[tuple[str, ...]], spelled: Sequence[str]
    ) -> set[int]:
        if core in self._lasts | self._pairs and core not in words and len(words) != PAIR:
            return set()
        if core in self._lasts and core not in words:
            return {PAIR - 1}
        return super()._named(core, words, spelled)
