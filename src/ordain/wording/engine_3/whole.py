"""Whole messages: what consists, from its first word to its last, of phrases of closed lists, and
so says that and nothing beside it.

Nothing is looked for inside a message. What a person lengthens (*suuure*), quotes, asks, breaks off
with dots or says with a face that may mock is not covered by any list, whatever words it consists
of.
"""

# ruff: noqa: RUF001 (quotation marks of many languages)
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntFlag
from typing import Final

from ordain.wording.engine_1.folding import fold, is_lengthened, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import keys
from ordain.wording.one_reading import made_once
from ordain.wording.table import Table

WHOLE_TOKENS: Final = 12
"""Most words and breaks of a message that says one thing whole."""
_BREAKS: Final = frozenset(",.!\n")
_BROKEN_OFF: Final = re.compile(r"\.{2,}|…|[\"“”„‟«»‹›「」『』`]")
_SMILE: Final = re.compile(r"(?<!\S)[:=]-?\)(?!\S)")


class Part(IntFlag):
    """What a phrase of a closed list says."""

    COURTESY = 0
    CONSENT = 1
    REFUSAL = 2
    HOLD = 4


LISTS: Final[Mapping[str, Part]] = {
    "consents": Part.CONSENT,
    "refusals": Part.REFUSAL,
    "courtesies": Part.COURTESY,
    "holds": Part.HOLD,
}
"""The closed lists of a table, and what a phrase of each says."""
OWN_SIGNS: Final[Mapping[str, tuple[str, Part]]] = {
    "yes": ("consents", Part.CONSENT),
    "no": ("refusals", Part.REFUSAL),
}
"""Signs whose phrases are a closed list where an operator's own files say them."""
LEADING: Final = "leading"
"""The list of what is a yes only where a message begins with it: *sí*, which without its accent is
*if*.
"""


class ClosedLists:
    """The closed lists of one table, compiled."""

    __slots__ = ("_known", "_leading", "_longest")

    def __init__(
        self, lists: Mapping[str, Iterable[str]], claims: Sequence[tuple[str, Iterable[str]]] = ()
    ) -> None:
        """Compile them; a phrase that two lists name means both, and so nothing.

        ``claims`` are the table's: an operator's own phrases for yes and no, which come before the
        shipped ones, are a closed list, too.
        """
        self._known: dict[tuple[str, ...], Part] = {}
        self._claim(lists, claims)
        for name, part in LISTS.items():
            for phrase in lists.get(name, ()):
                for key in keys(phrase):
                    before = self._known.get(key)
                    self._known[key] = part if before is None else before | part
        self._leading = frozenset(key for phrase in lists.get(LEADING, ()) for key in keys(phrase))
        self._longest = max(map(len, self._known), default=1)

    def _claim(
        self, lists: Mapping[str, Iterable[str]], claims: Sequence[tuple[str, Iterable[str]]]
    ) -> None:
        """Own phrases for yes and no, as far as no earlier claim keeps them; a table without closed
        lists is all of somebody's own.
        """
        said = {
            sign: [at for at, (claimed, _) in enumerate(claims) if claimed == sign]
            for sign in OWN_SIGNS
        }
        own = {
            at
            for sign, found in said.items()
            for at in (found[:-1] if lists.get(OWN_SIGNS[sign][0]) else found)
        }
        seen: set[tuple[str, ...]] = set()
        for at, (sign, phrases) in enumerate(claims[: max(own, default=-1) + 1]):
            named = {key for phrase in phrases for key in keys(phrase)}
            if at in own:
                self._known.update(dict.fromkeys(named - seen, OWN_SIGNS[sign][1]))
            seen |= named

    def ways(self, text: str) -> frozenset[Part]:
        """What the message says in each way to cut all of it into known phrases; none where there
        is no such way.
        """
        return self.ways_of(made_once(_whole_tokens, text))

    def ways_of(self, found: tuple[str, ...]) -> frozenset[Part]:
        """The same of the tokens of a message that may say one thing whole."""
        if not found:
            return frozenset()
        reached: list[set[Part]] = [{Part.COURTESY}, *(set[Part]() for _ in found)]
        for at, token in enumerate(found):
            if not reached[at]:
                continue
            if token[0] in _BREAKS:
                reached[at + 1] |= reached[at]
                continue
            for end in range(at + 1, min(at + self._longest, len(found)) + 1):
                key = found[at:end]
                part = Part.CONSENT if at == 0 and key in self._leading else self._known.get(key)
                if part is not None and not (part & Part.CONSENT and _said_before(found[:at], key)):
                    reached[end] |= {said | part for said in reached[at]}
        return frozenset(reached[-1])

    def trimmed(self, found: list[str]) -> list[str]:
        """The tokens without breaks and courtesies; what is left is the message's own matter."""
        left: list[str] = []
        at = 0
        while at < len(found):
            if found[at][0] in _BREAKS:
                at += 1
                continue
            for end in range(min(at + self._longest, len(found)), at, -1):
                if self._known.get(tuple(found[at:end])) is Part.COURTESY:
                    at = end
                    break
            else:
                left.append(found[at])
                at += 1
        return left


def closed_lists(table: Table) -> ClosedLists:
    """Those of a whole table."""
    return ClosedLists(table.lists, table.phrases)


def listed_phrases(table: Table) -> Iterator[str]:
    """Every phrase of a table's lists."""
    return (phrase for phrases in table.lists.values() for phrase in phrases)


def answering_phrases(table: Table) -> Iterator[str]:
    """What is said for yes and no, and every phrase of a table's lists."""
    for sign, phrases in table.phrases:
        if sign in OWN_SIGNS:
            yield from phrases
    yield from listed_phrases(table)


def whole_tokens(look: Look) -> tuple[str, ...]:
    """The tokens of a message that may say one thing whole; none of any other."""
    if len(look.tokens) > WHOLE_TOKENS and look.is_all and ")" not in look.text:
        return ()  # as of most: what a smile is drawn with may be fewer tokens
    return made_once(_whole_tokens, look.text)


def _whole_tokens(text: str) -> tuple[str, ...]:
    if not is_plain(text):
        return ()
    found = tokens(fold(with_smiles(text, "🙂")))
    return tuple(found) if len(found) <= WHOLE_TOKENS else ()


def _said_before(before: Sequence[str], key: tuple[str, ...]) -> bool:
    """Whether the words just before are the same: *ja ja* and *sure, sure* agree to nothing."""
    said = [token for token in before if token[0] not in _BREAKS]
    return tuple(said[-len(key) :]) == key


def is_plain(text: str) -> bool:
    """Whether nothing of it is lengthened, quoted or broken off."""
    return made_once(_is_plain, text)


def _is_plain(text: str) -> bool:
    if is_lengthened(text):
        return False
    if text.isascii():
        return not (".." in text or '"' in text or "`" in text)
    return _BROKEN_OFF.search(text) is None


def with_smiles(text: str, drawn: str) -> str:
    """The text with this for each smile that is written in marks."""
    return _SMILE.sub(drawn, text) if ")" in text else text


def says_yes(ways: frozenset[Part]) -> bool:
    """Whether a message is a yes, thanks and courtesies aside: in one way it is that alone, and in
    none it also refuses or waits.
    """
    return (
        bool(ways)
        and Part.CONSENT in ways
        and not any(way & (Part.REFUSAL | Part.HOLD) for way in ways)
    )


def says_no(ways: frozenset[Part]) -> bool:
    """Whether it is a no: in one way it is that alone, and in none a yes alone."""
    return bool(ways) and Part.REFUSAL in ways and Part.CONSENT not in ways


def says_hold(ways: frozenset[Part]) -> bool:
    """Whether it says *wait* and nothing beside that but a yes or a no to it."""
    return any(
        way in (Part.HOLD, Part.HOLD | Part.REFUSAL, Part.HOLD | Part.CONSENT) for way in ways
    )
