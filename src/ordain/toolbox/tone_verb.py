"""``creative.tonecheck``: how a text sounds, by lexicon, with the places that make it so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from ordain import FunctionVerb, VerbError, verb
from ordain.toolbox.tone import ENDS, ONE_SIDED, SCALES, Hit, find_hits, label, readability, score

TEXT_MAX = 50_000
SPANS_MAX = 200
_WORD = re.compile(r"[^\W_]+")
_ENGLISH = frozenset({"the", "a", "an", "and", "or", "of", "to", "in", "on", "for", "with", "is",
    "are", "was", "be", "you", "we", "i", "it", "this", "that", "your", "my", "not", "have", "has",
    "at", "by", "from", "as"})  # fmt: skip
_ENGLISH_SHARE = 0.08
Points = Annotated[int, Field(ge=-100, le=100)]


@dataclass(frozen=True, slots=True)
class Target:
    """How the text is to sound, where that matters."""

    formality: Literal["formal", "neutral", "informal"] | None = None
    warmth: Literal["warm", "neutral", "cold"] | None = None
    positivity: Literal["positive", "neutral", "negative"] | None = None
    urgency: Literal["high", "low"] | None = None
    hedging: Literal["high", "low"] | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """One scale."""

    scale: Annotated[
        str, Field(max_length=20, description="formality, warmth, positivity, urgency or hedging.")
    ]
    score: Annotated[
        Points,
        Field(
            description=(
                "-100 to 100; urgency and hedging from 0. Around 0 nothing was found or it "
                "evens out."
            )
        ),
    ]
    label: Annotated[
        str,
        Field(
            max_length=20,
            description="Which end the text is clearly at (from 25 on); else neutral or low.",
        ),
    ]
    wanted: Annotated[
        str | None,
        Field(max_length=20, description="What target says; null where it says nothing."),
    ]
    fits: Annotated[
        bool | None,
        Field(description="Whether label is what target says; null where it says nothing."),
    ]


@dataclass(frozen=True, slots=True)
class ToneSpan:
    """One place that counts."""

    start: Annotated[int, Field(ge=0, description="First character, from 0.")]
    end: Annotated[int, Field(ge=0, description="The character after the last.")]
    text: Annotated[str, Field(max_length=200)]
    scale: Annotated[str, Field(max_length=20)]
    weight: Annotated[
        float,
        Field(description="Towards the upper end of its scale, or below 0 towards the lower."),
    ]
    why: Annotated[str, Field(max_length=100)]
    against_target: Annotated[
        bool, Field(description="Whether it pulls away from what target says.")
    ]


@dataclass(frozen=True, slots=True)
class Reading:
    """How hard the text is to read."""

    grade: Annotated[
        float, Field(description="Automated readability index: school years of the United States.")
    ]
    words: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Tone:
    """How a text sounds."""

    scales: Annotated[list[Scale], Field(max_length=5)]
    spans: Annotated[
        list[ToneSpan], Field(max_length=SPANS_MAX, description="In the order of the text.")
    ]
    more_spans: Annotated[int, Field(ge=0, description="Places that count too and are not listed.")]
    readability: Reading
    method: Annotated[
        Literal["lexicon"],
        Field(description="Words of a list are counted; what is meant is not understood."),
    ]
    language: Annotated[Literal["en"], Field(description="The language that the list is of.")]
    notice: Annotated[
        str | None,
        Field(
            max_length=200,
            description=(
                "What the scores should not be relied on for; null where nothing stands out."
            ),
        ),
    ]


def creative_tonecheck() -> FunctionVerb[Any, Any]:
    """The verb ``creative.tonecheck``."""
    return _tonecheck


@verb(
    name="creative.tonecheck",
    label="Tone check",
    effect="read",
    category="MetaCognition",
    tags=["creative", "text"],
    timeout_ms=10_000,
    idempotent=True,
    example={
        "input": {"text": "Hey, send me the figures ASAP!!", "target": {"formality": "formal"}}
    },
)
def _tonecheck(
    text: Annotated[str, Field(min_length=1, max_length=TEXT_MAX)], target: Target | None = None
) -> Tone:
    """Check how an English text sounds: formality, warmth, positivity, urgency, hedging, and how
    hard it is to read.

    Use it before a text is sent, with the tone it should have as target. Returns a score per scale,
    whether it fits the target, and the places (characters) that make it so. It counts words of a
    list: it sees neither irony nor what is implied, and other languages not at all.

    Args:
        text: the text.
        target: how it is to sound; scales that are left out do not matter.
    """
    read = readability(text)
    if read is None:
        raise VerbError("no_words", "the text holds no word")
    hits = find_hits(text)
    wanted: dict[str, str | None] = {scale: getattr(target, scale, None) for scale in SCALES}
    return Tone(
        scales=[_scale(scale, hits, read.words, wanted[scale]) for scale in SCALES],
        spans=[_span(text, hit, wanted[hit.scale]) for hit in hits[:SPANS_MAX]],
        more_spans=max(0, len(hits) - SPANS_MAX),
        readability=Reading(read.grade, read.words, read.sentences),
        method="lexicon",
        language="en",
        notice=_notice(text, read.words),
    )


def _scale(scale: str, hits: list[Hit], words: int, wanted: str | None) -> Scale:
    points = score(hits, scale, words)
    found = label(scale, points)
    return Scale(scale, points, found, wanted, None if wanted is None else found == wanted)


def _span(text: str, hit: Hit, wanted: str | None) -> ToneSpan:
    upper, lower = ENDS[hit.scale]
    against = hit.weight < 0 if wanted == upper else hit.weight > 0 if wanted == lower else False
    against = against or (wanted == "neutral" and bool(hit.weight))
    return ToneSpan(
        hit.start,
        hit.end,
        text[hit.start : hit.end][:200],
        hit.scale,
        round(hit.weight, 2),
        hit.why,
        against and not _harmless(hit),
    )


def _harmless(hit: Hit) -> bool:
    """What takes urgency or hedging away is not against having little of it, and weighs nothing
    alone.
    """
    return hit.scale in ONE_SIDED and hit.weight <= 0


def _notice(text: str, words: int) -> str | None:
    found: list[str] = _WORD.findall(text.casefold())
    if words >= 12 and sum(word in _ENGLISH for word in found) < _ENGLISH_SHARE * len(found):
        return "this does not look like English, and the list is English"
    return "too short to say much: fewer than 5 words" if words < 5 else None
