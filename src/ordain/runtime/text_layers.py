"""A text as it is, and as it reads without percent signs, the escapes of JSON and the entities of
HTML: each way to read it knows where its characters stand in the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from msgspec import Struct

from ordain.contracts.text_codes import (
    CODES,
    ENTITIES,
    JSON_ESCAPE,
    PERCENT,
    Code,
    open_code,
    places,
)

LAYERS = 3
"""How often each code is read: a text in JSON in a text in JSON."""
_HALF = re.compile("[\udc80-\udcff]{1,3}\\Z")
"""Bytes at the end that are no character yet."""


class Layer(Struct):
    """A text as it reads with a code taken away, over the text where it stood."""

    text: str
    below: Layer | None = None
    code: Code | None = None
    whole: bool = True
    _places: list[int] | None = None

    def place(self, at: int) -> int:
        """Where a character of it stands in the text itself, or where its end does."""
        if self.below is None or self.code is None:
            return at
        if self._places is None:  # most texts hold nothing whose place is asked for
            below = self.below.text
            self._places = places(below, self.code.reads(below, self.whole))
        return self.below.place(self._places[at])


def is_coded(text: str) -> bool:
    """Whether there is any other way to read it, or may be one when it goes on."""
    return "\\" in text or "%" in text or "&" in text


def layers(text: str, *, whole: bool = True) -> list[Layer]:
    """The text as it is, and each other way to read it; one that is not ``whole`` may go on."""
    first = Layer(text)
    if not is_coded(text):
        return [first]
    alone = [
        read
        for code in (PERCENT, ENTITIES)
        if (read := _below(first, code, whole=whole)) is not None
    ]
    found, top, closed = [first], first, first
    for code in CODES * LAYERS:
        if (read := _below(top, code, whole=whole)) is not None:
            top = read
            found.append(top)
        if not whole and (read := _below(_closed(closed), code, whole=False)) is not None:
            closed = read
            found += [] if closed.text == top.text else [closed]
    return found + [one for one in alone if one.text not in (layer.text for layer in found)]


def _closed(layer: Layer) -> Layer:
    """The text without what may become a character yet: within another code it would read as
    something else (*&#11* before *%3*, of which *&#113;* may come).
    """
    *_, end = ends(layer.text)
    if end == len(layer.text):
        return layer
    return Layer(layer.text[:end], layer.below, layer.code, layer.whole)


def _below(layer: Layer, code: Code, *, whole: bool) -> Layer | None:
    """The text without this code; None where it has none."""
    if code.sign not in layer.text:
        return None
    read = code.plain(layer.text, whole)
    return None if read == layer.text else Layer(read, layer, code, whole)


def ends(text: str) -> Iterator[int]:
    """Where a text ends, and where it does without what may become a character yet, also a part of
    what may become one.
    """
    yield (end := len(text))
    for _ in range(LAYERS):
        if (begun := open_code(text[:end])) == end:
            break
        yield (end := begun)
    if (half := _HALF.search(text[max(0, end - 3) : end])) is not None:
        yield end - len(half[0])


def without(text: str, found: Iterable[tuple[int, int]], struck: str) -> str:
    """The text with each of these stretches struck out; those that share characters are one."""
    parts: list[str] = []
    end = 0
    for begin, stop in sorted(found):
        if begin >= end:
            parts += text[end:begin], struck
        end = max(end, stop)
    return "".join((*parts, text[end:])) if parts else text


def with_escapes(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same stretches with the whole of each escape that they cut: what is left has to be JSON
    still.
    """
    if "\\" not in text:
        return found
    escapes = [escape.span() for escape in JSON_ESCAPE.finditer(text)]
    starts = [start for start, _ in escapes]

    def around(at: int) -> tuple[int, int]:
        start, end = escapes[max(0, bisect_left(starts, at) - 1)] if escapes else (at, at)
        return (start, end) if start < at < end else (at, at)

    return [(around(begin)[0], around(stop)[1]) for begin, stop in found]
