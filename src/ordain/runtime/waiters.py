"""Who waits in this process for a run to come to rest."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from contextlib import contextmanager

from ordain.journal.records import Status
from ordain.ports.store import StoredRun

__all__ = ["Waiters"]


class Waiters:
    """Futures by run: the engine tells of ends, the door waits for them. Belongs to one event loop;
    holds no truth, only who asked.
    """

    def __init__(self) -> None:
        """Nobody waits."""
        self._waiting: dict[str, list[asyncio.Future[Status | StoredRun]]] = {}

    @contextmanager
    def waiting(self, run: str) -> Generator[asyncio.Future[Status | StoredRun]]:
        """A future of the status in which the run next comes to rest, or of the whole run where who
        drove it to its end has that.

        ``Status.RUNNING`` where nobody will hear of that any more.
        """
        future: asyncio.Future[Status | StoredRun] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(run, []).append(future)
        try:
            yield future
        finally:
            waiting = self._waiting.get(run, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._waiting.pop(run, None)

    def ended(self, run: str, status: Status | StoredRun) -> None:
        """The engine says that a run came to rest, and how it is stored where it knows that."""
        for future in self._waiting.pop(run, []):
            if not future.done():
                future.set_result(status)

    def release(self) -> None:
        """The engine is gone: nobody who waits here will hear of an end."""
        for run in list(self._waiting):
            self.ended(run, Status.RUNNING)
