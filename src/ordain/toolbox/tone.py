"""The tone of an English text by lexicon and a few rules: five scales, each hit with its place and
reason. Pure, the same for the same text.

A scale is from -100 to 100 (``urgency`` and ``hedging`` from 0). What it says is how many words of
a list occur, weighed and set against the text's length: it knows neither irony nor what is meant.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

SCALES = ("formality", "warmth", "positivity", "urgency", "hedging")
ONE_SIDED = frozenset({"urgency", "hedging"})
NEGATED = frozenset({"positivity", "warmth"})
"""Scales on which a negation turns a word round; on the others it takes the word's weight away,
except where the list holds it as a phrase.
"""

CLEAR = 25
"""From this score on a text is said to be of that end."""

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CONTRACTION = re.compile(r"(?:n't|'re|'ve|'ll|'m|'d)\Z")
_SHOUT = re.compile(r"!{2,}")
_WITHIN = re.compile(
    r"\b(?:with)?in (?:\d+|one|two|three|an?|the next) (?:\d+ )?(?:minutes?|hours?)\b|\b(?:by|"
    r"before) (?:noon|midnight|today|tonight|tomorrow|\w+ today|\d{1,2}(?::\d\d)?(?: ?[ap]m)?)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?…]+(?:[.!?…]+|\Z)")
_BASE = 2.5
_WORDS_PER_POINT = 14.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One place that counts on one scale; ``weight`` is positive towards its upper end. ``slight``:
    it says next to nothing alone.
    """

    start: int
    end: int
    scale: str
    weight: float
    why: str
    slight: bool = False


@dataclass(frozen=True, slots=True)
class Readability:
    """The automated readability index: letters per word and words per sentence as a school year of
    the United States; it guesses no syllables.
    """

    grade: float
    words: int
    sentences: int


@dataclass(frozen=True, slots=True)
class _Lexicon:
    """Phrases by their first word, longest first: words (a last one with * open), scale, weight."""

    phrases: Mapping[str, tuple[tuple[tuple[str, ...], str, float], ...]]
    stems: tuple[tuple[str, str, float], ...]
    negations: frozenset[str]
    intensifiers: frozenset[str]


@cache
def _lexicon() -> _Lexicon:
    data: dict[str, Any] = tomllib.loads(
        files("ordain.toolbox").joinpath("tone.toml").read_text(encoding="utf-8")
    )
    phrases: dict[str, list[tuple[tuple[str, ...], str, float]]] = {}
    stems: list[tuple[str, str, float]] = []
    for scale in SCALES:
        for end, sign in (("high", 1.0), ("low", -1.0)):
            for weight, listed in data[scale].get(end, {}).items():
                for entry in listed:
                    if entry.endswith("*"):
                        stems.append((entry[:-1], scale, sign * float(weight)))
                    else:
                        words = tuple(entry.split())
                        phrases.setdefault(words[0], []).append(
                            (words, scale, sign * float(weight))
                        )
    modifiers = data["modifiers"]
    ordered = {
        first: tuple(sorted(found, key=lambda one: -len(one[0])))
        for first, found in phrases.items()
    }
    return _Lexicon(
        ordered,
        tuple(sorted(stems, key=lambda one: -len(one[0]))),
        frozenset(modifiers["negations"]),
        frozenset(modifiers["intensifiers"]),
    )


def find_hits(text: str) -> list[Hit]:
    """Every place that counts, in the order of the text."""
    tokens = [
        (found.start(), found.end(), found[0].replace("’", "'").casefold())
        for found in _WORD.finditer(text)
    ]
    hits = [*_of_words(text, tokens), *_of_rules(text, tokens)]
    return sorted(hits, key=lambda hit: (hit.start, hit.end, hit.scale))


def _of_words(text: str, tokens: Sequence[tuple[int, int, str]]) -> Iterator[Hit]:
    lexicon = _lexicon()
    words = [word for _, _, word in tokens]
    taken: dict[str, int] = {}
    for at in range(len(tokens)):
        for entry, scale, weight in _entries(lexicon, words, at):
            if taken.get(scale, 0) > at:
                continue
            end = at + len(entry)
            if _across(text, tokens[at][1], tokens[end - 1][0]):
                continue
            taken[scale] = end
            yield _weighed(
                text,
                lexicon,
                tokens,
                Hit(tokens[at][0], tokens[end - 1][1], scale, weight, "", slight=abs(weight) <= 1),
                at,
            )


def _entries(
    lexicon: _Lexicon, words: Sequence[str], at: int
) -> Iterator[tuple[tuple[str, ...], str, float]]:
    """The list's entries that begin at a word, longest first."""
    for entry, scale, weight in lexicon.phrases.get(words[at], ()):
        if tuple(words[at : at + len(entry)]) == entry:
            yield entry, scale, weight
    for stem, scale, weight in lexicon.stems:
        if words[at].startswith(stem):
            yield (words[at],), scale, weight


def _across(text: str, start: int, end: int) -> bool:
    """Whether a phrase would reach over the end of a sentence."""
    return any(sign in text[start:end] for sign in ".!?;\n")


def _weighed(
    text: str, lexicon: _Lexicon, tokens: Sequence[tuple[int, int, str]], hit: Hit, at: int
) -> Hit:
    """A hit with what stands before it: a negation within three words of the same sentence, an
    intensifier just before.
    """
    before = [
        tokens[index]
        for index in range(max(0, at - 3), at)
        if not _across(text, tokens[index][1], hit.start)
    ]
    said = text[hit.start : hit.end].casefold()
    negated = any(word in lexicon.negations for _, _, word in before) and len(said.split()) == 1
    weight, why = hit.weight, f"{_end_of(hit.scale, hit.weight)}: in the list"
    if negated and hit.scale in NEGATED:
        weight, why = (
            -0.5 * weight,
            f"{_end_of(hit.scale, -weight)}: in the list of the other end, negated",
        )
    elif negated and hit.scale == "urgency":
        weight, why = 0.0, "negated"
    elif before and before[-1][2] in lexicon.intensifiers:
        weight, why = 1.5 * weight, f"{why}, strengthened"
    return replace(hit, weight=weight, why=why, slight=hit.slight and abs(weight) <= 1)


def _of_rules(text: str, tokens: Sequence[tuple[int, int, str]]) -> Iterator[Hit]:
    for start, end, word in tokens:
        if _CONTRACTION.search(word):
            yield Hit(start, end, "formality", -0.7, "informal: a contraction")
        written = text[start:end]
        if len(written) > 3 and written.isupper() and written.isalpha():
            yield Hit(start, end, "urgency", 1.0, "urgent: capitals")
    for found in _SHOUT.finditer(text):
        yield Hit(found.start(), found.end(), "urgency", 1.0, "urgent: several exclamation marks")
        yield Hit(
            found.start(), found.end(), "formality", -1.0, "informal: several exclamation marks"
        )
    for found in _WITHIN.finditer(text):
        yield Hit(found.start(), found.end(), "urgency", 2.0, "urgent: a time limit")
    first = tokens[0] if tokens else None
    if first is not None and text[first[0]].islower() and text[first[0] : first[1]].isascii():
        yield Hit(first[0], first[1], "formality", -1.5, "informal: begins with a small letter")


def _end_of(scale: str, weight: float) -> str:
    return ENDS[scale][0 if weight > 0 else 1]


ENDS: Mapping[str, tuple[str, str]] = {
    "formality": ("formal", "informal"),
    "warmth": ("warm", "cold"),
    "positivity": ("positive", "negative"),
    "urgency": ("high", "low"),
    "hedging": ("high", "low"),
}
"""What the upper and the lower end of a scale are called; between them, and on the lower end of a
one-sided scale, it is neutral or low.
"""


def score(hits: Sequence[Hit], scale: str, words: int) -> int:
    """The scale's score: the sum of its hits against the text's length, drawn to -100 or 100 and
    never reaching beyond.

    A single slight place ("us", "please") is never clearly an end.
    """
    mine = [hit for hit in hits if hit.scale == scale]
    total = sum(hit.weight for hit in mine)
    if scale in ONE_SIDED:
        total = max(0.0, total)
    points = round(100 * total / (abs(total) + _BASE + words / _WORDS_PER_POINT))
    return max(1 - CLEAR, min(CLEAR - 1, points)) if len(mine) == 1 and mine[0].slight else points


def label(scale: str, points: int) -> str:
    """The name of the end that a score is clearly at; else ``neutral``, or ``low`` on a one-sided
    scale.
    """
    upper, lower = ENDS[scale]
    if points >= CLEAR:
        return upper
    return lower if points <= -CLEAR or scale in ONE_SIDED else "neutral"


def readability(text: str) -> Readability | None:
    """How hard a text is to read; None for a text without words."""
    words = _WORD.findall(text)
    if not words:
        return None
    sentences = max(1, sum(1 for found in _SENTENCE.findall(text) if _WORD.search(found)))
    letters = sum(len(word) for word in words)
    return Readability(
        round(4.71 * letters / len(words) + 0.5 * len(words) / sentences - 21.43, 1),
        len(words),
        sentences,
    )
