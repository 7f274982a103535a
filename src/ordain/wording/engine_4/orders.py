"""Bare stops in more guises, and corrections in closed forms: what of a message is read as an order
to work that runs, beyond engine 3.

A stop may be read generously: asked (*stop?*), spelled out (*s t o p*), behind an exclamation (*oh
god stop*). A correction names a figure or a day for the one that runs (*no, 10 percent*), or both
what was and what is to be (*not Ann, Ben*); the words around it are closed. All else stops nothing.
"""

# ruff: noqa: RUF001 (question marks of many scripts)
from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import structs

from ordain.wording.cues import Cues
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.patterns import any_of
from ordain.wording.engine_1.phrases import keys
from ordain.wording.engine_1.signs import Sign
from ordain.wording.engine_3.whole import WHOLE_TOKENS
from ordain.wording.table import Table

AMENDING: Final = "amending"
REVERSALS: Final = "reversals"
EXCLAMATIONS: Final = "exclamations"
STOPS: Final = "stops"
LISTS: Final = frozenset({AMENDING, REVERSALS, EXCLAMATIONS, STOPS})
"""What makes a figure behind it another one for work that runs (*use*, *typo*, *with*); whole
corrections (*the other way round*); what is cried before a stop; whole messages that stop, beyond
the phrases of that sign.
"""
SPELLED_MAX: Final = 24
_QUESTIONS: Final = "?？؟"
_CLOSING: Final = f"!.{_QUESTIONS}"
_SPELLED: Final = re.compile(r"[^\W\d_](?:[ .-][^\W\d_]){2,}[\s.!]*")
_KEYS: Final = frozenset({"^c", "ctrl-c", "ctrl+c", "strg+c", "strg-c"})
_KEY_CHARS: Final = max(map(len, _KEYS))
_STARRED: Final = re.compile(r"\*(?=\S)[^*?\n]+")
_STARRED_WORDS: Final = 3
_BREAK: Final = Sign.COMMA
_PAUSING: Final = frozenset(",.!:;\n")
_PAUSES: Final = frozenset((Sign.COMMA.name.lower(), Sign.STOPS.name.lower()))
_SMALL: Final = f"[{any_of(Sign.IT, Sign.THE, Sign.BE, Sign.WITH)}]{{0,2}}"
_FIGURE: Final = (
    rf"{_SMALL}(?:{Sign.NUMBER}{{1,2}}(?:{Sign.WITH}?{Sign.OWN})?{Sign.WITH}?|[{Sign.DATE}]{{1,2}})"
)
_END: Final = f"[{any_of(Sign.PLEASE, Sign.COMMA, Sign.STOPS, Sign.THANKS)}]*$"
_WRONG: Final = any_of(Sign.NO, Sign.NO_OR_NOT, Sign.NEGATIVE, Sign.NEEDLESS, Sign.MEANT)
_NOT: Final = any_of(Sign.NOT, Sign.NO_OR_NOT, Sign.NO)
_NAMED: Final = f"{Sign.THE}?[{any_of(Sign.OWN, Sign.PLACE, Sign.DATE, Sign.NUMBER)}]{{1,2}}"
_LEADS: Final = (
    rf"^(?:[{any_of(Sign.STOP, Sign.HOLD, Sign.NO, Sign.NO_OR_NOT)}]["
    rf"{any_of(Sign.COMMA, Sign.STOPS, Sign.IMPATIENT, Sign.BUT)}]*)?"
)
AMENDED: Final = re.compile(
    rf"{_LEADS}(?:(?P<amends>[^{_BREAK}]),?|{Sign.NOT}{Sign.USE}){_FIGURE}{_END}"
)
"""*use 10 percent*, *typo: 10 percent*, *don't use 7.5*; what amends is of the list."""
FORMS: Final = re.compile(
    "|".join(
        (
            rf"^[{_WRONG}][{_BREAK}]+{_FIGURE}{_END}",  # no, 10 percent
            # actually 10 percent
            rf"^{Sign.ACTUALLY},?{Sign.NUMBER}{{1,2}}{Sign.WITH}?{Sign.OWN}{_END}",
            rf"^{_FIGURE},[{any_of(Sign.ACTUALLY, Sign.MEANT)}]{_END}",  # 10 percent, sorry
            rf"^{_FIGURE}{Sign.INSTEAD_OF}{_FIGURE}{_END}",  # 10 instead of 7.5 percent
        )
    )
)
SWAPPED: Final = re.compile(
    rf"^(?:[{_WRONG}][{_BREAK}]+)?[{_NOT}]{_NAMED}[{_BREAK}]+{Sign.NOT_BUT}?{_NAMED}{_END}"
)
"""*not Ann, Ben*: names and figures, for *not sure, whatever* is built alike."""
TURNED: Final = re.compile(
    rf"^(?P<to>{Sign.WITH}){_NAMED},?[{_NOT}](?P<from>{Sign.WITH}){_NAMED}{_END}"
)
"""*for Ben not for Ann*: the same small word twice."""
APART: Final = re.compile(rf"^{Sign.INSTEAD}[{any_of(Sign.COMMA, Sign.STOPS)}]+{Sign.ORDER}")
"""*instead, tell me a joke*: it orders something of its own."""
_FIGURES: Final = frozenset((Sign.NUMBER, Sign.DATE))
"""Without any of these nothing is amended, and none of the forms is there: each pattern has one."""
_RENAMED: Final = re.compile(rf"^{_SMALL}{_NAMED},.$")
_FIGURE_ALONE: Final = re.compile(rf"^{_FIGURE}$")


class Halting(Protocol):
    """What the engine before reads of a part of the message."""

    def stops(self, text: str, found: Sequence[str]) -> bool:
        """Whether a text, which has these tokens, clearly orders to stop."""
        ...

    def holds(self, text: str) -> bool:
        """Whether a text says *wait*."""
        ...


class Orders:
    """The closed lists of orders of one table, compiled, over the reading before."""

    __slots__ = (
        "_amending",
        "_cried",
        "_exclamations",
        "_longest",
        "_reversals",
        "_reversing",
        "_stops",
    )

    def __init__(self, table: Table) -> None:
        """Compile the lists."""
        self._amending, self._reversals, self._exclamations, self._stops = (
            {key for phrase in table.lists.get(name, ()) for key in keys(phrase)}
            for name in (AMENDING, REVERSALS, EXCLAMATIONS, STOPS)
        )
        self._longest = max(map(len, self._exclamations), default=0)
        self._cried = {key[0] for key in self._exclamations}
        self._reversing = frozenset(key[0] for key in self._reversals)

    def read(self, found: Cues, look: Look, before: Halting) -> Cues:
        """The cues with what is ordered; ``look`` is engine 1's, ``before`` the engine before."""
        text = look.text
        bare = self._bare(look)
        said = look.tokens_of(bare)
        if bare != text:
            if before.stops(bare, said):
                found = structs.replace(found, stop=2)
            if (len(said) <= WHOLE_TOKENS or ")" in bare) and before.holds(bare):
                found = structs.replace(found, hold=True)
        told = bare.strip(" .!")
        if (len(look.stripped) <= _KEY_CHARS and look.stripped.casefold() in _KEYS) or (
            said if told == bare else look.tokens_of(told)
        ) in self._stops:
            return structs.replace(found, stop=2)
        if found.steer == 2:
            return structs.replace(found, steer=1) if APART.match(look.signs) is not None else found
        if found.stop == 2 or found.yes or found.no or "?" in text:
            return found
        return (
            structs.replace(found, steer=2, stop=min(found.stop, 1))
            if self._corrects(look)
            else found
        )

    def _bare(self, look: Look) -> str:
        """The message without its question mark, what was cried before it and blanks between its
        letters.
        """
        bare = _unasked(look.text).strip()
        if len(bare) <= SPELLED_MAX and _SPELLED.fullmatch(bare) is not None:
            return re.sub(r"[\W_]", "", bare)
        read = look.tokens_of(bare)
        if next((token for token in read if token[0] not in _PAUSING), None) not in self._cried:
            return bare
        said = [token for token in read if token[0] not in _PAUSING]
        for size in range(min(self._longest, len(said) - 1), 0, -1):
            if tuple(said[:size]) in self._exclamations:
                return " ".join(said[size:])
        return bare

    def _corrects(self, look: Look) -> bool:
        signs = look.signs
        if not _FIGURES.isdisjoint(signs) and (
            FORMS.match(signs) is not None or self._amends(look)
        ):
            return True
        if SWAPPED.match(signs) is not None:
            return _names(look.text)
        if (turned := TURNED.match(signs)) is not None:
            return look.parts[turned.start("to")][0] == look.parts[turned.start("from")][0]
        renamed = _RENAMED.match(signs) is not None
        if renamed or not self._reversing.isdisjoint(look.tokens):
            said = tuple(
                [
                    word
                    for spoken, sign in look.parts
                    if sign not in _PAUSES
                    for word in spoken.split()
                ]
            )
            if said in self._reversals or (renamed and said[-2:] in self._amending):
                return True
        if not look.stripped.startswith("*"):
            return False
        starred = (
            _STARRED.fullmatch(look.stripped) is not None
            and len(look.text.split()) <= _STARRED_WORDS
            and Sign.ORDER not in signs
        )
        return starred or _FIGURE_ALONE.match(signs) is not None

    def _amends(self, look: Look) -> bool:
        found = AMENDED.match(look.signs)
        if found is None:
            return False
        at = found.start("amends")
        return at < 0 or tuple(look.parts[at][0].split()) in self._amending


def _names(text: str) -> bool:
    """Whether what is to be is a name or a figure, where the script tells one."""
    last = re.split(r"[,;:]\s*", text.strip())[-1].split()
    return bool(last) and not last[-1][0].islower()


def _unasked(text: str) -> str:
    """The text without what closes it, where that asks. Sign by sign from its end: a pattern looks
    through a run of blanks anew from each of them.
    """
    end = len(text)
    while end and (text[end - 1] in _CLOSING or text[end - 1].isspace()):
        end -= 1
    return text[:end] if any(sign in text[end:] for sign in _QUESTIONS) else text
