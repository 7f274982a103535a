"""A table of phrases: what each sign is said with, and lists of words that stand inside patterns.
Content-addressed; which engine reads it stands beside it.

Where two signs claim one phrase, the claim that comes first keeps it: a table *is* its own order of
precedence. Within a claim the order says nothing, so the phrases are sorted, and a file that only
moved lines makes no other table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Self, TypeVar

import msgspec
from msgspec import Struct

from ordain.errors import ConfigurationError

T = TypeVar("T")
PhraseClaim = tuple[str, tuple[str, ...]]
"""A sign's name, and phrases for it."""


class Table(Struct, frozen=True, kw_only=True, dict=True):
    """Phrases by sign, in order of precedence, and the word lists. Made by ``of``; as it stands
    here it is what is stored.
    """

    phrases: tuple[PhraseClaim, ...]
    lists: dict[str, tuple[str, ...]] = {}

    @classmethod
    def of(
        cls,
        claims: Iterable[tuple[str, Iterable[str]]],
        lists: Mapping[str, Iterable[str]] | None = None,
    ) -> Self:
        """A table of these claims, the first one first; without phrases named twice in one claim,
        and without empty claims.
        """
        sorted_claims = ((sign, tuple(sorted(set(phrases)))) for sign, phrases in claims)
        sorted_lists = {
            name: tuple(sorted(set(words))) for name, words in sorted((lists or {}).items())
        }
        return cls(
            phrases=tuple(claim for claim in sorted_claims if claim[1]),
            lists={name: words for name, words in sorted_lists.items() if words},
        )

    @classmethod
    def from_bytes(cls, encoded: bytes) -> Self:
        """Read what ``encoded`` gave.

        Raises:
            ConfigurationError: it is no table.
        """
        try:
            return msgspec.json.decode(encoded, type=cls)
        except msgspec.MsgspecError as error:
            raise ConfigurationError(
                f"this is no table of phrases: {error}", code="invalid_wording"
            ) from error

    def once(self, make: Callable[[Self], T]) -> T:
        """What ``make``, which is pure, makes of this table: the first time it is asked for.
        Engines stand on one another, and each would make the same again.
        """
        if make not in self._made:
            self._made[make] = make(self)
        return self._made[make]

    @cached_property
    def _made(self) -> dict[Callable[[Self], Any], Any]:
        return {}

    @cached_property
    def encoded(self) -> bytes:
        """Canonical JSON."""
        return msgspec.json.encode(self)

    @cached_property
    def digest(self) -> str:
        """Content address."""
        return hashlib.sha256(self.encoded).hexdigest()
