"""What somebody probably meant who named what there is not: the name that is most like it. A hint
for people; nothing is ever taken for another.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ordain.contracts.legible_text import legible_part, literal

LIKE = 0.6
"""How like, from 0 to 1: letters too many, left out or swapped; the name of another thing is
not.
"""
COMPARED = 128
"""Characters of what was typed that are compared: longer ones are nobody's name, and comparing
costs the square of them.
"""


def nearest(given: str, known: Iterable[str]) -> str:
    """The name that is most like the given one, whatever their case; "" where none is."""
    if len(given) > COMPARED:
        return ""
    names = {name.casefold(): name for name in known}
    found = get_close_matches(given.casefold(), names, n=1, cutoff=LIKE)
    return names[found[0]] if found else ""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """``; did you mean X?``, or nothing where no name is like it. Goes behind what says that there
    is none.
    """
    found = nearest(given, known)
    return f"; did you mean {found}?" if found else ""


def no_such(what: str, given: str, known: Iterable[str]) -> str:
    """That there is none of that name, and the one that was probably meant."""
    return f"there is no {what} {as_given(given)}{did_you_mean(given, known)}"


def as_given(name: str, bound: int = COMPARED) -> str:
    """A name that somebody gave and nothing has, cut: as it is, or as a JSON string where a sign of
    it is not seen, or seen as another.

    So whoever is refused sees what is wrong with it: a line's end, or a letter of another alphabet.
    """
    cut = name[:bound]
    return cut if legible_part(cut) == cut else literal(cut)
