"""What insists and says nothing by itself: *right now*, *for heaven's sake*, a word said twice, a
pair of quotation marks around all of it.

Taken off a message, the rest is the order that it stresses. Nothing is taken off that negates, and
nothing is read into what is left: the engine before reads that as any other message.
"""

# ruff: noqa: RUF001 (quotation marks of many languages)
from __future__ import annotations

import re
from typing import Final

from ordain.wording.engine_1.folding import fold, tokens
from ordain.wording.engine_1.look import Look
from ordain.wording.engine_1.phrases import keys
from ordain.wording.table import Table

INSISTENCE: Final = "insistence"
"""The list of what insists."""
INSISTING_TOKENS: Final = 14
"""Most tokens of a message that is looked at like this."""
QUOTED_CHARS: Final = 40
_BREAKS: Final = frozenset(",.!;:\n")
_MARKS: Final = "'’‘\"“”„‟«»‹›「」『』`"
_MARKED: Final = re.compile(f"[{_MARKS}]")
_QUOTED: Final = re.compile(
    rf"(?<!\w)[{_MARKS}](?P<said>[^\"“”„‟«»‹›「」『』`?\n]{{1,{QUOTED_CHARS}}}?)[{_MARKS}](?!\w)"
)


class Insistence:
    """The list of one table, compiled."""

    __slots__ = ("_longest", "_said")

    def __init__(self, table: Table) -> None:
        """Compile the list, and courtesies with it."""
        said = (*table.lists.get(INSISTENCE, ()), *table.lists.get("courtesies", ()))
        self._said = frozenset(key for phrase in said for key in keys(phrase))
        self._longest = max(map(len, self._said), default=0)

    def without(self, look: Look) -> str:
        """The message without what insists; "" where nothing insists, nothing else is said, or too
        much is.
        """
        text = look.text
        if len(look.tokens) > INSISTING_TOKENS and look.is_all and _MARKED.search(text) is None:
            return ""
        unquoted = self._unquoted(text)
        found = tokens(fold(unquoted))
        if not found or len(found) > INSISTING_TOKENS:
            return ""
        kept = self._kept(found)
        return " ".join(kept) if kept and (kept != found or unquoted != text) else ""

    def _unquoted(self, text: str) -> str:
        """What stands in the one pair of marks, where all beside it insists: *I said "stop"*."""
        found = _QUOTED.search(text)
        if found is None:
            return text
        around = tokens(fold(f"{text[: found.start()]} , {text[found.end() :]}"))
        return text if self._kept(around) else found["said"].strip()

    def _kept(self, found: list[str]) -> list[str]:
        """The tokens without what insists, without a word that follows itself, and without breaks
        at the ends.
        """
        kept: list[str] = []
        at = 0
        while at < len(found):
            size = next(
                (
                    size
                    for size in range(min(self._longest, len(found) - at), 0, -1)
                    if tuple(found[at : at + size]) in self._said
                ),
                0,
            )
            if size:
                at += size
                continue
            spoken = [token for token in kept if token[0] not in _BREAKS]
            if not (spoken and spoken[-1] == found[at]) and (kept or found[at][0] not in _BREAKS):
                kept.append(found[at])
            at += 1
        while kept and kept[-1][0] in _BREAKS:
            kept.pop()
        return kept
