"""The capability scope: which verbs a run may use, and within which bounds (C5). The server owns
it, and it only narrows.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from msgspec import Struct

GLOB_SIGNS = frozenset("*?[")


class Constraint(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, rename="camel"):
    """Bounds of one verb, or of all that a glob names; what is absent bounds nothing.
    ``max_amount`` is in the amount's own unit.
    """

    domains_allowlist: tuple[str, ...] | None = None
    paths: tuple[str, ...] | None = None
    max_amount: int | None = None
    max_calls: int | None = None

    def within(self, other: Constraint) -> bool:
        """Whether this is at most as wide as ``other``, bound by bound."""
        return (
            _part_of(self.domains_allowlist, other.domains_allowlist)
            and _part_of(self.paths, other.paths)
            and _at_most(self.max_amount, other.max_amount)
            and _at_most(self.max_calls, other.max_calls)
        )


class CapabilityScope(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """``allowed`` are verb ids and globs, ``constraints`` bounds by verb id or glob. An empty scope
    allows nothing.
    """

    allowed: tuple[str, ...] = ()
    constraints: dict[str, Constraint] = {}

    def permits(self, verb: str) -> bool:
        """Whether the verb is in scope."""
        return verb in self.allowed or any(
            fnmatchcase(verb, pattern) for pattern in self.allowed if _is_glob(pattern)
        )

    def narrowed(self, verbs: Iterable[str]) -> CapabilityScope:
        """What of these verbs is in scope, in order of their ids; bounds go with them. A glob among
        them stays where it is covered.
        """
        allowed = tuple(sorted({verb for verb in verbs if self._covers(verb)}))
        return CapabilityScope(allowed=allowed, constraints=self.constraints)

    def covers(self, other: CapabilityScope) -> bool:
        """Whether ``other`` allows nothing that this does not; a glob is covered by itself and by
        ``*`` alone.
        """
        return all(self._covers(pattern) for pattern in other.allowed) and all(
            (theirs := other.constraints.get(pattern)) is not None and theirs.within(ours)
            for pattern, ours in self.constraints.items()
        )

    def _covers(self, pattern: str) -> bool:
        return (
            pattern in self.allowed
            or "*" in self.allowed
            or (not _is_glob(pattern) and self.permits(pattern))
        )


def _is_glob(pattern: str) -> bool:
    return not GLOB_SIGNS.isdisjoint(pattern)


def _part_of(mine: tuple[str, ...] | None, theirs: tuple[str, ...] | None) -> bool:
    return theirs is None or (mine is not None and set(mine) <= set(theirs))


def _at_most(mine: int | None, theirs: int | None) -> bool:
    return theirs is None or (mine is not None and mine <= theirs)
