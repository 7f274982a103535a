"""A session's events as one caller reads them: at most one waits here, whatever the caller does,
and whoever leaves leaves nothing behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from ordain.contracts.events import SessionEvent
from ordain.server.face import Face

HEARTBEAT_S = 15.0
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Feed:
    """Reads a session's events in a task of its own, one ahead. ``close`` it, however the reading
    ended.
    """

    def __init__(self, face: Face, workspace: str, session: str, after: int) -> None:
        """Begins after entry ``after``; needs a running loop."""
        self.over = False
        self._event: asyncio.Queue[SessionEvent] = asyncio.Queue(1)
        self._reading = asyncio.ensure_future(
            self._read(face.runtime.conversation.events(workspace, session, after))
        )
        self._stopping = asyncio.ensure_future(face.stopping.wait())
        self._next: asyncio.Task[SessionEvent] | None = None

    async def _read(self, events: AsyncGenerator[SessionEvent, None]) -> None:
        async with aclosing(events):
            async for event in events:
                await self._event.put(event)

    async def next(self, timeout_s: float | None = None) -> SessionEvent | None:
        """The next event; None where there was none for ``timeout_s``, or where ``over`` is set:
        the server stops, or the engine is gone.
        """
        following = self._next or asyncio.ensure_future(self._event.get())
        self._next = following
        waited = {following, self._stopping, self._reading}
        await asyncio.wait(waited, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if following.done():
            self._next = None
            return following.result()
        if self._reading.done():
            self._reading.result()
        self.over = self._stopping.done() or (self._reading.done() and self._event.empty())
        return None

    def close(self) -> None:
        """Stop reading; the reader in the runtime is gone as soon as the loop turns."""
        for task in (self._reading, self._stopping, self._next):
            if task is not None:
                task.cancel()
