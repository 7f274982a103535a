"""Where JSON that is no strict JSON has what is wrong with it: looked for only when that is known,
since a parser that keeps places is far slower.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from msgspec import Struct


class _Pairs(list[tuple[str, Any]]):
    """An object with all its pairs."""


class _Number(Struct, frozen=True):
    text: str


def place_of_double(text: str) -> tuple[int | str, ...] | None:
    """The first key that an object names twice."""
    for place, value in _walked(text):
        if isinstance(value, _Pairs):
            seen = set[str]()
            for key, _ in value:
                if key in seen:
                    return *place, key
                seen.add(key)
    return None


def place_of_number(text: str, number: str) -> tuple[int | str, ...] | None:
    """The first number that is written so."""
    return next(
        (
            place
            for place, value in _walked(text)
            if isinstance(value, _Number) and value.text == number
        ),
        None,
    )


def place_of_surrogate(text: str) -> tuple[int | str, ...] | None:
    """The first text with half a surrogate pair; of a key, that of its object."""
    for place, value in _walked(text):
        texts = (
            [value]
            if isinstance(value, str)
            else [key for key, _ in value]
            if isinstance(value, _Pairs)
            else []
        )
        if any(_is_half(one) for one in texts):
            return place
    return None


def _is_half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _walked(text: str) -> Iterator[tuple[tuple[int | str, ...], Any]]:
    """Each value with its place, those that hold others before them; as deep as the text nests.
    None of what does not come to its end.
    """
    decoder = json.JSONDecoder(
        object_pairs_hook=_Pairs, parse_constant=_Number, parse_float=_Number, parse_int=_Number
    )
    try:
        value = decoder.decode(text)
    except json.JSONDecodeError:
        return
    yield from _below((), value)


def _below(place: tuple[int | str, ...], value: Any) -> Iterator[tuple[tuple[int | str, ...], Any]]:
    yield place, value
    if isinstance(value, _Pairs):
        for key, one in value:
            yield from _below((*place, key), one)
    elif isinstance(value, list):
        for at, one in enumerate(cast("list[Any]", value)):
            yield from _below((*place, at), one)
