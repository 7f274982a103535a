"""What is made of a text while it is read: engines stand on one another, and each would read the
same message again.

It goes when the reading ends. People's words are erased where they are stored, and may be kept
nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Final, TypeVar

T = TypeVar("T")
_MADE: Final[ContextVar[dict[tuple[object, str], Any] | None]] = ContextVar(
    "made of a text", default=None
)

_NOT_MADE: Final = object()


class OneReading:
    """See ``one_reading``. A class: every message enters several, and a generator costs more than
    what it does here.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        """What is made from now on is kept, unless it is already."""
        self._token: Token[Any] | None = None if _MADE.get() is not None else _MADE.set({})

    def __exit__(self, *_: object) -> None:
        """It is gone."""
        if self._token is not None:
            _MADE.reset(self._token)


def one_reading() -> OneReading:
    """As long as this lasts nothing is made twice of the same text; one within another belongs to
    it.
    """
    return OneReading()


def made_once(make: Callable[[str], T], text: str) -> T:
    """What ``make``, which is pure, makes of a text: once in a reading, outside of one each
    time.
    """
    made = _MADE.get()
    if made is None:
        return make(text)
    key = make, text
    found = made.get(key, _NOT_MADE)
    if found is _NOT_MADE:
        found = made[key] = make(text)
    return found
