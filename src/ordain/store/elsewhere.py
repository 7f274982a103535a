"""What other processes have committed: noticed by looking, and announced as what this one
commits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from ordain.ports.store import Change
from ordain.store.writer import Writer

POLL_S = 0.1
_FROM_OTHERS = (
    "SELECT r.id FROM mailbox m JOIN runs r ON r.no = m.run WHERE m.taken IS NULL AND m.id > ?"
    " UNION SELECT id FROM runs WHERE status = 'ready' AND holder = 0"
)
"""Mail from other processes, and runs that a guest opened and nobody drives yet."""


class Elsewhere:
    """How far this process has looked."""

    def __init__(
        self, reads: sqlite3.Connection, writer: Writer, forget: Callable[[], None]
    ) -> None:
        """Nothing yet. ``forget`` what is remembered here of content."""
        self._reads, self._writer, self._forget = reads, writer, forget
        self._version = self._mail = 0
        self._entry: int | None = None  # not looked yet

    def look(self) -> None:
        """Announce what is new. Raises SQLite's errors, and whatever a listener does: then it is
        announced again.
        """
        (mail,) = self._reads.execute("SELECT coalesce(max(id), 0) FROM mailbox").fetchone()
        (entry,) = self._reads.execute("SELECT coalesce(max(no), 0) FROM transcript").fetchone()
        # asked last: whatever comes from now on changes it
        (version,) = self._reads.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._forget()
            rows = self._reads.execute(_FROM_OTHERS, (self._mail,)).fetchall()
            grown = tuple(self._grown())
            if rows or grown:
                self._writer.announce(Change(runs=tuple(run for (run,) in rows), sessions=grown))
        if self._writer.own_entries:
            self._writer.own_entries.clear()
        # mail is announced once: what a run leaves lying is not for it now
        self._version, self._mail, self._entry = version, mail, entry

    def _grown(self) -> Iterable[tuple[str, str]]:
        """Sessions to whose transcripts others have added since the last look."""
        if self._entry is None:
            return ()
        rows = self._reads.execute(
            "SELECT t.no, s.workspace, s.id FROM transcript t JOIN sessions s ON s.no = t.session "
            "WHERE t.no > ?",
            (self._entry,),
        ).fetchall()
        own = self._writer.own_entries or ()
        return dict.fromkeys(
            (workspace, session) for no, workspace, session in rows if no not in own
        )
