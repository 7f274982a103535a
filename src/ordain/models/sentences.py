"""Cutting a text into sentences by rule: spans of the text as it stands, so that every quotation is
a substring.

Nothing with a letter or a digit is lost: what is no sentence (a heading, a list item) is a span of
its own. When in doubt the rules do not cut; a span that is too long is still verbatim.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WIDE_ENDS = "。！？｡．…‼⁇⁈⁉।॥۔؟։።"  # noqa: RUF001 - the sentence ends of several scripts
_ENDS = ".!?" + _WIDE_ENDS
_CLOSERS = "\"'”’»›)]}」』）】》〉"  # noqa: RUF001 - and their quotes
_OPENERS = "\"'“‘«‹([{「『（【《〈¿¡"  # noqa: RUF001 - see above
_BLANK_OR_MARK = re.compile(r"[\s\-–—•‣◦▪*+>#|]+")
_NEVER_LAST = frozenset(
    {
        "mr",
        "mrs",
        "ms",
        "mx",
        "dr",
        "prof",
        "st",
        "sr",
        "sra",
        "mme",
        "mlle",
        "hr",
        "fr",
        "rev",
        "gen",
        "col",
        "capt",
        "lt",
        "sgt",
        "gov",
    }
    | {
        "sen",
        "rep",
        "hon",
        "pres",
        "vs",
        "e.g",
        "i.e",
        "eg",
        "ie",
        "z.b",
        "d.h",
        "p.ej",
        "cf",
        "ca",
        "approx",
        "fig",
        "figs",
        "eq",
        "no",
    }
    | {"nos", "vol", "pp", "sec", "ch", "art", "al", "est", "dept", "univ", "bzw", "nr"}
)
_MAYBE_LAST = frozenset(
    {
        "inc",
        "ltd",
        "co",
        "corp",
        "llc",
        "plc",
        "gmbh",
        "etc",
        "usw",
        "jr",
        "a.m",
        "p.m",
        "u.s",
        "u.k",
        "u.n",
        "ph.d",
        "b.c",
    }
)
_WORD_BEFORE = re.compile(r"[^\W_]+(?:\.[^\W_]+)*\Z")
_WORD = re.compile(r"[^\W\d_]+")
# scripts that put no space between words
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")


class Span(NamedTuple):
    """``text[start:end]``, without blanks at its ends."""

    start: int
    end: int


def split(text: str) -> tuple[Span, ...]:
    """Every part of the text that has a letter or digit, in order, cut at sentence ends and line
    breaks.
    """
    spans: list[Span] = []
    start = 0
    for end in [*_cuts(text), len(text)]:
        span = _trimmed(text, start, end)
        if span is not None:
            spans.append(span)
        start = end
    return tuple(spans)


def has_sentence(text: str, spans: tuple[Span, ...]) -> bool:
    """Whether any part says something: two words, a word with a sentence end, or two signs of a
    script without spaces.
    """
    return any(_says_something(text[span.start : span.end]) for span in spans)


def _says_something(part: str) -> bool:
    if (
        sum(_WORD.search(word) is not None for word in part.split()) > 1
        or len(_UNSPACED.findall(part)) > 1
    ):
        return True
    return len(_WORD.findall(part)) == 1 and part.rstrip(_CLOSERS)[-1:] in _ENDS


def _cuts(text: str) -> list[int]:
    cuts: list[int] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character in "\n\r\u2028\u2029":
            cuts.append(at + 1)
        elif character in _ENDS:
            first = at
            while at + 1 < len(text) and text[at + 1] in _ENDS:
                at += 1
            after = at + 1
            while after < len(text) and text[after] in _CLOSERS:
                after += 1
            if _is_end(text, first, at, after):
                cuts.append(after)
                at = after - 1
        at += 1
    return cuts


def _is_end(text: str, first: int, last: int, after: int) -> bool:
    """Whether the marks ``text[first:last + 1]``, with their closing quotes up to ``after``, end a
    sentence.
    """
    if after >= len(text):
        return False  # the text's own end cuts
    if text[last] in _WIDE_ENDS and text[last] != "…":
        return True
    if not text[after].isspace():
        return False  # a decimal, an address, a name with a mark in it
    follower = text[after : after + 80].lstrip().lstrip(_OPENERS)[:1] if text[after] != "\n" else ""
    if follower.islower():
        return False
    return first != last or text[first] != "." or _dot_ends(text, first, follower)


def _dot_ends(text: str, dot: int, follower: str) -> bool:
    found = _WORD_BEFORE.search(text, max(0, dot - 40), dot)
    if found is None:
        return True
    word = found.group().lower()
    if word in _NEVER_LAST:
        return False
    if word in _MAYBE_LAST:
        return follower.isupper()
    if word.isdigit():
        line = text[text.rfind("\n", 0, dot) + 1 : found.start()]
        # a list's number, a date's day
        return bool(line.strip(" \t-*>")) and not (len(word) <= 2 and follower.isdigit())
    # an initial
    return not (len(word) == 1 and word.isalpha() and found.group().isupper()) or follower == ""


def _trimmed(text: str, start: int, end: int) -> Span | None:
    mark = _BLANK_OR_MARK.match(text, start, end)
    if mark is not None and (
        text[start:end].strip()[:1] not in "-–+#" or mark.group()[-1].isspace()
    ):
        start = mark.end()  # a list's mark goes, a minus before a number stays
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end) if any(character.isalnum() for character in text[start:end]) else None
