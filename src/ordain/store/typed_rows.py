"""Rows on their way to a face: SQLite stores anything anywhere, and what is not of its column's
kind is named with its row and column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from ordain.contracts.moments import LATEST_US
from ordain.errors import JournalCorrupt, RunPlace
from ordain.journal.digests import KEY_BYTES

T = TypeVar("T")
Fits = Callable[[Any], bool]


def is_text(value: Any) -> bool:
    """A text."""
    return type(value) is str


def is_number(value: Any) -> bool:
    """A whole number."""
    return type(value) is int


def is_moment(value: Any) -> bool:
    """A moment that can be said, in microseconds since 1970."""
    return type(value) is int and 0 <= value <= LATEST_US


def is_key(value: Any) -> bool:
    """A subject's key."""
    return type(value) is bytes and 0 < len(value) <= KEY_BYTES


def or_none(fits: Fits) -> Fits:
    """The same, or nothing."""
    return lambda value: value is None or fits(value)


RowColumns = Sequence[tuple[str, Fits]]
"""By place in a row: the name of each column that is looked at, and what fits into it."""


def check_row(
    what: str, columns: RowColumns, row: Sequence[Any], place: RunPlace | None = None
) -> None:
    """Check a row, from its first column on; ``place`` is where a run stands, for whoever has to
    stop it.

    Raises:
        JournalCorrupt: with the column whose value is none.
    """
    for (name, fits), value in zip(columns, row, strict=False):
        if not fits(value):
            raise JournalCorrupt(
                f"{what}: column {name} holds what cannot stand there",
                details={"column": name},
                place=place,
            )


def parsed(what: str, column: str, laid: str | bytes, form: type[T]) -> T:
    """JSON that a column holds.

    Raises:
        JournalCorrupt: with the column, where it is none of that form.
    """
    try:
        return msgspec.json.decode(laid, type=form)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise JournalCorrupt(
            f"{what}: column {column} holds what cannot be read", details={"column": column}
        ) from None
