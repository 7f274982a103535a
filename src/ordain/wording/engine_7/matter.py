"""What a message says beside what it begins with: *yes, and what is a lighthouse?* begins with a
yes, and then asks something of its own.

The beginning is what closed lists and the phrases of an answer cover, word by word; what is left is
read by itself, as if nothing stood before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from ordain.wording.engine_1.folding import LOOKED_AT, fold, tokens
from ordain.wording.engine_1.phrases import keys
from ordain.wording.table import Table

ADDITIONS: Final = "additions"
UNDECIDED: Final = "undecided"
POSTPONEMENTS: Final = "postponements"
LISTS: Final = frozenset({ADDITIONS, POSTPONEMENTS, UNDECIDED})
"""What adds another matter (*and*, *then*, *by the way*); what puts an answer off, though it asks
elsewhere (*when she is back*); what says to a question that nothing is decided yet (*probably*, *it
depends*).
"""
_BREAKS: Final = frozenset(",.!;:\n")
_ASKS: Final = "?"
TYPO_LETTERS: Final = 3
"""A word of so many letters may be a mistyped yes or no; of fewer everything is one step from
anything.
"""


class Begins(StrEnum):
    """What a message begins with."""

    YES = "yes"
    NO = "no"
    HOLD = "hold"
    COURTESY = "courtesy"


_LISTED: Final[Mapping[str, Begins]] = {
    "courtesies": Begins.COURTESY,
    "apologies": Begins.COURTESY,
    "holds": Begins.HOLD,
    "refusals": Begins.NO,
    "retractions": Begins.NO,
    "consents": Begins.YES,
}
_SIGNED: Final[Mapping[str, Begins]] = {
    "thanks": Begins.COURTESY,
    "greeting": Begins.COURTESY,
    "hold": Begins.HOLD,
    "stop": Begins.HOLD,
    "no": Begins.NO,
    "no_or_not": Begins.NO,
    "negative": Begins.NO,
    "yes": Begins.YES,
    "okay": Begins.YES,
    "okay_if": Begins.YES,
}


class Matter(Struct, frozen=True, gc=False, kw_only=True):
    """A message in two: ``begins`` with all that its beginning says, and ``rest``, "" where nothing
    is left; ``added``: the rest is joined on as another matter.
    """

    begins: frozenset[Begins]
    rest: str
    added: bool


class Beginnings:
    """The phrases of one table that a message may begin with, compiled."""

    __slots__ = ("_additions", "_known", "_longest", "_plain", "_postponements", "_undecided")

    def __init__(self, table: Table) -> None:
        """Compile them; a phrase of two kinds is the kind that was named last."""
        self._known: dict[tuple[str, ...], Begins] = {}
        for sign, phrases in table.phrases:
            if sign in _SIGNED:
                self._learn(phrases, _SIGNED[sign])
        for name, begins in _LISTED.items():
            self._learn(table.lists.get(name, ()), begins)
        self._additions = frozenset(
            key for phrase in table.lists.get(ADDITIONS, ()) for key in keys(phrase)
        )
        self._postponements = frozenset(
            key for phrase in table.lists.get(POSTPONEMENTS, ()) for key in keys(phrase)
        )
        self._undecided = frozenset(
            key
            for name in ("hedges", UNDECIDED)
            for phrase in table.lists.get(name, ())
            for key in keys(phrase)
        )
        self._longest: dict[str, int] = {}
        for key in (*self._known, *self._additions, *self._postponements, *self._undecided):
            self._longest[key[0]] = max(self._longest.get(key[0], 0), len(key))
        said = (
            key[0]
            for key, begins in self._known.items()
            if len(key) == 1 and begins in (Begins.YES, Begins.NO)
        )
        self._plain = frozenset(word for word in said if len(word) >= TYPO_LETTERS)

    def _learn(self, phrases: Iterable[str], begins: Begins) -> None:
        for phrase in phrases:
            self._known.update(dict.fromkeys(keys(phrase), begins))

    def may_begin(self, found: Sequence[str]) -> bool:
        """Whether the first of the tokens is a break, or begins what a message may begin with."""
        return bool(found) and (found[0] in self._longest or found[0][0] in _BREAKS)

    def split(self, found: Sequence[str]) -> Matter:
        """The message in two, the longest phrase first at each of its tokens."""
        begins, at = set[Begins](), 0
        while at < len(found):
            size = self._size(found, at, self._known)
            if not size and found[at][0] not in _BREAKS:
                break
            if size:
                begins.add(self._known[tuple(found[at : at + size])])
            at += size or 1
        start = at
        while at < len(found) and (
            size := 1 if found[at][0] in _BREAKS else self._size(found, at, self._additions)
        ):
            at += size
        rest = found[at:]
        said = any(token[0].isalnum() for token in rest)
        return Matter(
            begins=frozenset(begins),
            rest=" ".join(rest) if said else "",
            added=at > start and bool(begins),
        )

    def _size(self, found: Sequence[str], at: int, among: Iterable[tuple[str, ...]]) -> int:
        """How many tokens the longest of these phrases has that stands there; 0: none does."""
        longest = self._longest.get(found[at], 0) if at < len(found) else 0
        for size in range(min(longest, len(found) - at), 0, -1):
            if tuple(found[at : at + size]) in among:
                return size
        return 0

    def puts_off(self, rest: str) -> bool:
        """Whether the rest of an answer says when it holds, and asks nothing."""
        return _ASKS not in rest and self._size(tokens(fold(rest)), 0, self._postponements) > 0

    def is_undecided(self, text: str) -> bool:
        """Whether anywhere in it stands that nothing is decided yet."""
        found = tokens(fold(text[:LOOKED_AT]))
        return any(self._size(found, at, self._undecided) for at in range(len(found)))

    def is_mistyped(self, text: str) -> bool:
        """Whether one of its words is a yes or a no but for one letter: it is asked back, and no
        word of another matter.
        """
        said = [token for token in tokens(fold(text[:LOOKED_AT])) if len(token) >= TYPO_LETTERS]
        return any(_one_step(word, known) for word in said for known in self._plain)


def _one_step(word: str, known: str) -> bool:
    """Whether two words differ by one letter that is other, missing, more, or by two that changed
    places.
    """
    if word == known or abs(len(word) - len(known)) > 1:
        return word == known
    short, long = sorted((word, known), key=len)
    same = next(
        (at for at, (one, other) in enumerate(zip(short, long, strict=False)) if one != other),
        len(short),
    )
    if len(short) < len(long):
        return short[same:] == long[same + 1 :]
    swapped = (
        short[same : same + 2] == long[same : same + 2][::-1]
        and short[same + 2 :] == long[same + 2 :]
    )
    return swapped or short[same + 1 :] == long[same + 1 :]
