"""What is made of a text while it is read: engines stand on one another, and each would read the
same message again.

It goes when the reading ends. People's words are erased where they are stored, and may be kept
nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

T = TypeVar("T")
_MADE: Final[ContextVar[dict[tuple[object, str], Any] | None]] = ContextVar(
    "made of a text", default=None
)

_NOT_MADE: Final = object()


@contextmanager
def one_reading() -> Generator[None]:
    """As long as this lasts nothing is made twice of the same text; one within another belongs to
    it.
    """
    if _MADE.get() is not None:
        yield
        return
    token = _MADE.set({})
    try:
        yield
    finally:
        _MADE.reset(token)


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
