"""Lint of an operator's own phrases: what is said twice, and what is said of one phrase under two
signs. Held against the shipped files, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from ordain.wording.engines import ENGINES, NEWEST, WordingEngine
from ordain.wording.languages import Language, shipped_languages

Key = tuple[str, ...]


class Severity(StrEnum):
    """Whether something is wrong or may be meant."""

    ERROR = "error"
    WARNING = "warning"


class FindingKind(StrEnum):
    """What is the matter."""

    CONTRADICTS = "contradicts"
    """One phrase, two signs."""
    SHADOWED = "shadowed"
    """Without it the table would be the same."""


class WordingFinding(Struct, frozen=True, kw_only=True):
    """One thing about one phrase, with the place of the other one that it is about."""

    found: FindingKind
    severity: Severity
    file: str
    line: int
    sign: str
    phrase: str
    message: str


class _Saying(Struct, frozen=True):
    """A phrase under a sign, in a file. ``rank`` orders them as the table does: the smallest that
    names a key keeps it; ``number`` as written.
    """

    rank: tuple[int, int]
    number: int
    sign: str
    phrase: str
    language: Language
    own: bool

    @property
    def place(self) -> str:
        return (
            f"{self.language.file.rpartition('/')[2]}:{self.language.line(self.sign, self.phrase)}"
        )


def lint(own: Sequence[Language]) -> list[WordingFinding]:
    """What there is to say of these files together, in their order."""
    engine = ENGINES[NEWEST]
    sayings = list(_sayings(own, engine, own=True))
    named: dict[Key, list[_Saying]] = {}
    for saying in sayings:
        for key in engine.keys(saying.phrase):
            named.setdefault(key, []).append(saying)
    shipped = _shipped()
    findings: list[WordingFinding] = []
    for saying in sayings:
        others = [
            [one for one in (*named[key], *shipped.get(key, ())) if one is not saying]
            for key in engine.keys(saying.phrase)
        ]
        if (
            finding := _contradicts_own(saying, others)
            or _shadowed(saying, others)
            or _contradicts_shipped(saying, others)
        ) is not None:
            findings.append(finding)
    return findings


def _contradicts_own(saying: _Saying, others: Sequence[Sequence[_Saying]]) -> WordingFinding | None:
    against = [one for named in others for one in named if one.own and one.sign != saying.sign]
    if not against:
        return None
    holds = min((saying, *against), key=lambda one: one.rank).sign
    message = (
        f"{against[0].place} says that it means {against[0].sign}, this that it means "
        f"{saying.sign}: {holds} holds"
    )
    return _about(saying, FindingKind.CONTRADICTS, Severity.ERROR, message)


def _shadowed(saying: _Saying, others: Sequence[Sequence[_Saying]]) -> WordingFinding | None:
    """Where everything that it names would mean the same without it; of two of ours that say so,
    the one that is written later.
    """
    without = [min(named, key=lambda one: one.rank, default=saying) for named in others]
    if any(
        first is saying or first.sign != saying.sign or (first.own and first.number > saying.number)
        for first in without
    ):
        return None
    return _about(
        saying,
        FindingKind.SHADOWED,
        Severity.WARNING,
        f"{without[0].place} says so already, of {without[0].phrase!r}",
    )


def _contradicts_shipped(
    saying: _Saying, others: Sequence[Sequence[_Saying]]
) -> WordingFinding | None:
    first = [min(named, key=lambda one: one.rank) for named in others if named]
    against = [one for one in first if one.sign != saying.sign and not one.own]
    if not against:
        return None
    message = f"as shipped ({against[0].place}) it means {against[0].sign}: what is said here holds"
    return _about(saying, FindingKind.CONTRADICTS, Severity.WARNING, message)


def _about(saying: _Saying, found: FindingKind, severity: Severity, message: str) -> WordingFinding:
    return WordingFinding(
        found=found,
        severity=severity,
        file=saying.language.file,
        line=saying.language.line(saying.sign, saying.phrase),
        sign=saying.sign,
        phrase=saying.phrase,
        message=message,
    )


def _sayings(
    languages: Sequence[Language], engine: WordingEngine, *, own: bool
) -> Iterator[_Saying]:
    order = {sign: number for number, sign in enumerate(engine.signs)}
    written = (
        (language, sign, phrase)
        for language in languages
        for sign in language.phrases
        for phrase in dict.fromkeys(language.phrases[sign])
    )
    for number, (language, sign, phrase) in enumerate(written):
        yield _Saying((0 if own else 1, order[sign]), number, sign, phrase, language, own)


@lru_cache(maxsize=1)
def _shipped() -> Mapping[Key, Sequence[_Saying]]:
    """The shipped phrases by key; read once, 0.1 s."""
    engine = ENGINES[NEWEST]
    found: dict[Key, list[_Saying]] = {}
    for saying in _sayings(shipped_languages(), engine, own=False):
        for key in engine.keys(saying.phrase):
            found.setdefault(key, []).append(saying)
    return found
