"""Time-outs of attempts: by time in which this process could work, so that none is over because it was stopped (B-23).

The system's timers all fire at once when a stopped process goes on, before anybody has read the answer that has long been there.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Any

SLICE_S = 1.0
LATE_S = 2.0
"""A timer may be late by so much: less than that is a busy machine, and counts."""


class TimeLimit:
    """``async with TimeLimit(seconds):`` as ``asyncio.timeout``; None is no limit. Time is counted in slices, and one of which some was lost is given again."""

    def __init__(self, seconds: float | None) -> None:
        """Begins when it is entered."""
        self.left_s = seconds
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None
        self._slice_s = self._due = 0.0

    async def __aenter__(self) -> TimeLimit:
        """Begin."""
        await self._timeout.__aenter__()
        self._next()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End.

        Raises:
            TimeoutError: the time was over, and what was under way has been cancelled.
        """
        if self._timer is not None:
            self._timer.cancel()
            self.left_s = max(0.0, (self.left_s or 0.0) - self._slice_s + max(0.0, self._due - asyncio.get_running_loop().time()))
        await self._timeout.__aexit__(kind, error, trace)

    def _next(self) -> None:
        if self.left_s is None:
            return
        loop = asyncio.get_running_loop()
        if self.left_s <= 0:
            self._timer = None
            self._timeout.reschedule(loop.time())
            return
        self._slice_s = min(SLICE_S, self.left_s)
        self._due = loop.time() + self._slice_s
        self._timer = loop.call_at(self._due, self._over)

    def _over(self) -> None:
        late_s = asyncio.get_running_loop().time() - self._due
        if late_s <= LATE_S and self.left_s is not None:
            self.left_s -= self._slice_s + max(0.0, late_s)
        self._next()


async def ended_within(task: asyncio.Future[Any], seconds: float) -> bool:
    """Whether a task ends within the time; it is left alone whatever comes of it."""
    try:
        async with TimeLimit(seconds):
            await asyncio.wait((task,))
    except TimeoutError:
        pass
    return task.done()
