"""Time-outs of attempts: by time in which this process could work, so that none is over because it
was stopped (B-23).

The system's timers all fire at once when a stopped process goes on, before anybody has read the
answer that has long been there. Two clocks find out for how long it stood still: a timer that comes
late tells of a stop, or of a loop that was held up, wall time that runs ahead of the loop's of a
sleep, in which that one stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

SLICE_S = 0.5
LATE_S = 2.0
"""A timer may be late by so much: less than that is a busy machine, and counts."""
PAUSE_US = 500_000
"""What is late by less, in microseconds, is no pause."""


class TimeLimit:
    """``async with TimeLimit(seconds):`` as ``asyncio.timeout``; None is no limit. Time is counted
    in slices, and one of which some was lost is given again.

    With a clock it also tells how long the process stood still meanwhile (``lost_us``).
    """

    def __init__(self, seconds: float | None, wall: Callable[[], int] | None = None) -> None:
        """Begins when it is entered; ``wall`` is the wall clock, in microseconds."""
        self.left_s = seconds
        self._wall = wall
        self._began = self._lost = 0
        self._task: asyncio.Task[Any] | None = None
        self._cancels = 0
        self._timer: asyncio.Handle | None = None
        self._slice_s = self._due = 0.0
        self._over = False

    async def __aenter__(self) -> TimeLimit:
        """Begin."""
        if self.left_s is not None:
            self._task = task = asyncio.current_task()
            assert task is not None
            self._cancels = task.cancelling()
            self._next(self.left_s)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End.

        Raises:
            TimeoutError: the time was over, and what was under way has been cancelled.
        """
        task, self._task = self._task, None
        if task is None or self.left_s is None:
            return
        if self._timer is not None:
            now = asyncio.get_running_loop().time()
            self._lost += self._late_us(now)
            self._timer.cancel()
            self._timer = None
            self.left_s = max(0.0, self.left_s - self._slice_s + max(0.0, self._due - now))
        if self._over and task.uncancel() <= self._cancels and kind is asyncio.CancelledError:
            # else somebody else cancelled it, too
            raise TimeoutError from error

    def lost_us(self) -> int:
        """Microseconds of all pauses, until now or the end; 0 where there is no clock."""
        if self._timer is None:
            return self._lost
        return self._lost + self._late_us(asyncio.get_running_loop().time())

    def _late_us(self, now: float) -> int:
        if self._wall is None or not self._slice_s:
            return 0
        here = int((now - self._due) * 1e6)
        late = max(here, self._wall() - self._began - int(self._slice_s * 1e6))
        return late if late >= PAUSE_US else 0

    def _next(self, left_s: float) -> None:
        loop = asyncio.get_running_loop()
        self.left_s = left_s
        if left_s <= 0:  # not at once: an answer that came in the same moment is taken
            self._slice_s = self._due = 0.0
            self._timer = loop.call_soon(self._end)
            return
        self._slice_s = min(SLICE_S, left_s)
        self._due = loop.time() + self._slice_s
        if self._wall is not None:
            self._began = self._wall()
        self._timer = loop.call_at(self._due, self._sliced, left_s)

    def _sliced(self, left_s: float) -> None:
        now = asyncio.get_running_loop().time()
        self._lost += self._late_us(now)
        late_s = now - self._due
        self._next(left_s - self._slice_s - max(0.0, late_s) if late_s <= LATE_S else left_s)

    def _end(self) -> None:
        self._timer, self._over = None, True
        if self._task is not None:
            self._task.cancel()


async def ended_within(task: asyncio.Future[Any], seconds: float) -> bool:
    """Whether a task ends within the time; it is left alone whatever comes of it."""
    try:
        async with TimeLimit(seconds):
            await asyncio.wait((task,))
    except TimeoutError:
        pass
    return task.done()
