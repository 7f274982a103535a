"""Upkeep: what is destroyed and given back without anybody waiting for it, in slices so small that
everybody else goes on between two.

A slice is one unit of the one writer, bounded in rows and in bytes of content. Whoever calls asks
for slice after slice, each ``after`` the one before it, and lets others go on in between. A crash
between two loses nothing: what was begun is taken up by the next slice that begins anew (``after``
None).
"""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

Reached = tuple[int | str, ...]
"""Where a slice ended, in the adapter's own terms."""


class Slice(Struct, frozen=True, kw_only=True):
    """What one slice did: ``rows`` it emptied, dropped or gave back; ``after`` is where the next
    one begins, None where nothing is left.
    """

    rows: int
    after: Reached | None


class OldContent(Struct, frozen=True, kw_only=True):
    """Content of one retention class (input, model, verb, result) in runs that ended, and of
    entries written, ``before``; both in microseconds.

    How far that got is kept: content of a run that was passed is not looked at again, until
    ``before`` goes back behind it.
    """

    content_class: str
    before: int
    at: int


class EndedPeriods(Struct, frozen=True, kw_only=True):
    """Accounts of these ``kinds`` whose day or month, with which their names end, is ``before`` the
    one named of the same form.
    """

    kinds: tuple[str, ...]
    before: tuple[str, ...]


class BegunErasures(Struct, frozen=True, kw_only=True):
    """Erasures that were begun, by whomever, and not ended."""


class FreedSpace(Struct, frozen=True, kw_only=True):
    """Space in the store's files that nothing stands in any more; nothing happens where the store
    cannot give it back while it serves.
    """


UpkeepRule = OldContent | EndedPeriods | BegunErasures | FreedSpace


class Upkeep(Protocol):
    """Idempotent: a slice that was applied and is asked for again changes nothing. Errors:
    ``StorageUnavailable``, ``LeaseLost``.
    """

    async def erase(self, subject: int, after: Reached | None) -> Slice:
        """Destroy the rows of a subject whose key is destroyed (operation ``erase``, whose
        outcome's ``seq`` is its number). Nobody can read them by then.
        """
        ...

    async def sweep(self, rule: UpkeepRule, after: Reached | None) -> Slice:
        """Destroy, drop or give back what the rule names."""
        ...

    async def probe(self) -> None:
        """Write durably, where it needs room that was not there before; asked often, it writes four
        times a second.

        Raises:
            StorageUnavailable: the message says why.
        """
        ...
