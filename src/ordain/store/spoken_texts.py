"""What prompts were made of last: a session's next turn shows nearly the same entries, and reads what
came since.

Kept for the connection that writes, where reads are its own: whatever it destroys it forgets here
before it commits, and what another process wrote changes the file's version, which is asked each
time. Whoever has the two apart reads everything.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

from ordain.ports.sessions import EntryText

KEPT_SESSIONS = 128
KEPT_BYTES = 64 * 1024
"""Of each; a history that is longer is read anew."""
KEPT_FROM = 8
"""Fewer entries are read in no time, and would take the place of more."""

ReadTexts = Callable[[int, int], list[EntryText]]
"""(first, last) -> the entries of a session, as they stand."""


class SpokenTexts:
    """The entries that were read last, by session, without a gap."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._read: dict[tuple[str, str], Sequence[EntryText]] = {}
        self._version = -1

    def forget(self) -> None:
        """Content is destroyed, or may have been."""
        self._read.clear()

    def of(
        self, db: sqlite3.Connection, place: tuple[str, str], part: tuple[int, int], read: ReadTexts
    ) -> Sequence[EntryText]:
        """The entries of a part, as ``read`` gives them. Raises as that, and as SQLite does."""
        (version,) = db.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self.forget()
            self._version = version
        first, last = part
        known = self._read.pop(place, None)
        if known is None or not known[0].seq <= first < known[-1].seq <= last:
            found = read(first, last)
            self._keep(place, found if len(found) >= KEPT_FROM else known)
            return found
        # from the last one that is known on: where that is as it was, so is what stands before it
        behind = read(known[-1].seq, last)
        if not behind or behind[0] != known[-1] or behind[0].body is None:
            found = read(first, last)
        else:
            found = [*known[first - known[0].seq :], *behind[1:]]
        self._keep(place, found)
        return found

    def _keep(self, place: tuple[str, str], found: Sequence[EntryText] | None) -> None:
        if not found:  # what was known may be gone by now
            return
        whole = found[-1].seq - found[0].seq == len(found) - 1
        if not whole or _size(found) > KEPT_BYTES:
            return
        if len(self._read) >= KEPT_SESSIONS:
            del self._read[next(iter(self._read))]
        self._read[place] = tuple(found)  # whoever reads has a list of its own


def _size(found: Sequence[EntryText]) -> int:
    return sum([len(one.body or b"") for one in found])
