"""Arguments of Python that take several: one thing alone is no list of its parts. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from ordain.errors import ConfigurationError

T = TypeVar("T")


def several(given: Iterable[T], name: str) -> tuple[T, ...]:
    """What an argument of this name lists. A text is taken apart by nobody, and what is one thing
    alone is refused with what to write.

    Raises:
        ConfigurationError: it is no list (``usage``).
    """
    if not isinstance(given, Collection | Iterator) or isinstance(given, str | bytes | Mapping):
        raise ConfigurationError(f"{name}= takes a list, also of one: {name}=[…]", code="usage")
    return tuple(given)
