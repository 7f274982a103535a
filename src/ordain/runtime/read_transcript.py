"""What a run's prompts say of its session, read before it is asked for: prompts are made by pure
code, and a storage may be elsewhere.

Whoever makes a prompt asks for entries at once. What is not there yet is noted and refused; whoever
drives or replays the run reads it, and has it made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ordain.errors import JournalCorrupt, JournalError
from ordain.ports.sessions import EntryText, Sessions

T = TypeVar("T")


class ReadTranscript:
    """Implements ``TranscriptReader`` over one workspace's sessions. What it has read it keeps:
    entries do not change while a run refers to them.
    """

    def __init__(self, sessions: Sessions, workspace: str) -> None:
        """Nothing is read yet."""
        self._sessions, self._workspace = sessions, workspace
        self._read: dict[tuple[str, int, int], Sequence[EntryText]] = {}
        self._missing: dict[tuple[str, int, int], None] = {}

    def __call__(self, session: str, first: int, last: int) -> Sequence[EntryText]:
        """The entries, where they are read.

        Raises:
            JournalCorrupt: they are not; ``fetch`` reads them.
        """
        found = self._read.get((session, first, last))
        if found is None:
            self._missing[session, first, last] = None
            raise JournalCorrupt(f"entries {first}-{last} of session {session} are not read yet")
        return found

    async def fetch(self) -> bool:
        """Read what was asked for since and was not there; whether there was anything."""
        missing, self._missing = self._missing, {}
        for session, first, last in missing:
            self._read[session, first, last] = await self._sessions.texts(
                self._workspace, session, first=first, last=last
            )
        return bool(missing)

    async def having(self, work: Callable[[], T]) -> T:
        """What ``work`` gives once all is read that it asks for: it is done again for what was not.
        Raises as ``work``.
        """
        while True:
            try:
                made = work()
            except JournalError:
                if not await self.fetch():
                    raise
            else:
                if not await self.fetch():  # foreign code may have swallowed what it was refused
                    return made
