"""Cutting text into passages: stretches that are stored, embedded and found as one. Pure.

A passage is an exact part of its section's text, so that its offsets hold. It ends where a
paragraph, a sentence or at least a word ends, and begins with the last sentence of the one before,
where that is short enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ordain.ports.library import Passage, Section

PASSAGE_CHARS = 900
"""Most characters of a passage. An embedding is a mean over its words: the longer the passage, the
less it says of each.
"""

OVERLAP_CHARS = 160
"""Most characters that a passage repeats of the one before."""

HEADING_CHARS = 300

_BREAK = re.compile(
    r"\n[ \t\r\f\v]*\n\s*|(?<=[.!?…])[\"'”’)\]]*\s+|"
    r"(?<=[。！？])|\n",  # noqa: RUF001 - full stops of other scripts
    re.UNICODE,
)
"""After a paragraph, a sentence or a line."""


def cut(sections: Iterable[Section]) -> list[Passage]:
    """The passages of an item, in order; none where there is no text."""
    found: list[Passage] = []
    for section in sections:
        heading = " ".join(section.heading.split())[:HEADING_CHARS]
        for start, stop in _spans(section.text):
            found.append(
                Passage(
                    seq=len(found),
                    text=section.text[start:stop],
                    heading=heading,
                    page=section.page,
                    start=section.start + start,
                    stop=section.start + stop,
                )
            )
    return found


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the passages of one text begin and end: as many pieces as fit, then the last of them
    again if it is short.
    """
    first: int | None = None
    last = (0, 0)
    for start, stop in _pieces(text):
        if first is not None and stop - first > PASSAGE_CHARS:
            yield first, last[1]
            again = (
                last[1] - last[0] <= OVERLAP_CHARS
                and last[0] > first
                and stop - last[0] <= PASSAGE_CHARS
            )
            first = last[0] if again else start
        first = start if first is None else first
        last = (start, stop)
    if first is not None:
        yield first, last[1]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences without the space around them, longer ones cut at spaces, or anywhere."""
    begin = 0
    for end, after in (
        *((found.start(), found.end()) for found in _BREAK.finditer(text)),
        (len(text), len(text)),
    ):
        yield from _parts(text, begin, max(end, begin))
        begin = after


def _parts(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while True:
        while start < stop and text[start].isspace():
            start += 1
        while stop > start and text[stop - 1].isspace():
            stop -= 1
        if start == stop:
            return
        if stop - start <= PASSAGE_CHARS:
            yield start, stop
            return
        space = max(
            text.rfind(" ", start + 1, start + PASSAGE_CHARS),
            text.rfind("\t", start + 1, start + PASSAGE_CHARS),
        )
        middle = space if space > start else start + PASSAGE_CHARS
        yield from _parts_of(text, start, middle)
        start = middle


def _parts_of(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    while stop > start and text[stop - 1].isspace():
        stop -= 1
    if stop > start:
        yield start, stop
