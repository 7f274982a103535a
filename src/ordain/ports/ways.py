"""WaysStore: where what was learnt of models' endpoints is kept across restarts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from ordain.contracts.profiles import Structured
from ordain.ports.model import Leave


class Learnt(StrEnum):
    """Why an endpoint is not asked to hold its answers in a way."""

    REFUSED = "refused"
    """It refused such a request, and took the same one in a lower way."""
    IGNORED = "ignored"
    """It took such a request, and answered in words."""


class LearntWays(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What was learnt of one profile: of which endpoint (a digest of what the profile says of it),
    and when last, in microseconds since 1970.

    ``left`` is what its requests do without. ``words_first`` is whether its plain text begins with
    words; False once one began within a thought. ``answered``: it has said something once at least.
    """

    endpoint: str
    at: int
    ways: Mapping[Structured, Learnt]
    left: frozenset[Leave] = frozenset()
    words_first: bool | None = None
    answered: bool = False


class WaysStore(Protocol):
    """Keeps what was learnt, by profile. Nothing is granted by it, and what is lost is learnt
    again.

    ``write`` replaces everything, whole or not at all; the last writer wins.
    """

    def read(self) -> Mapping[str, LearntWays]:
        """What is kept; nothing where there is none, or nothing that can be read. Never raises."""
        ...

    def write(self, learnt: Mapping[str, LearntWays]) -> None:
        """Keep this.

        Raises:
            OSError: storage takes it not.
        """
        ...
