"""Time-outs of attempts: by time in which this process could work, so that none is over because it
was stopped (B-23).

The system's timers all fire at once when a stopped process goes on, before anybody has read the
answer that has long been there. Two clocks find out for how long it stood still: a timer that comes
late tells of a stop, or of a loop that was held up, wall time that runs ahead of the loop's of a
sleep, in which that one stands.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any
from weakref import ref

SLICE_S = 0.5
LATE_S = 2.0
"""A timer may be late by so much: less than that is a busy machine, and counts."""
PAUSE_US = 500_000
"""What is late by less, in microseconds, is no pause."""
LEAST_S = 0.02
"""A slice that was lost is given again half as long, down to this: how long the process ran in it
before it stood still nobody knows, and one that stands still again and again has time-outs, too.
"""
LAST_LOOK_S = 0.25
"""Where time is over by a pause that counts, an answer may have come in it: it is looked for once,
for so long.
"""


class _Countdown:
    """Time that is counted in slices, one of which some was lost is given again. ``_over`` is what
    happens when none is left.
    """

    _loop: asyncio.AbstractEventLoop
    """Of whoever counts; kept, since asyncio asks the system each time which process this is."""

    def __init__(self, wall: Callable[[], int] | None = None) -> None:
        """Begins with ``_next``; ``wall`` is the wall clock, in microseconds."""
        self.left_s: float | None = None
        self._wall = wall
        self._began = self._lost = 0
        self._timer: asyncio.Handle | _Ticks | None = None
        self._slice_s = self._due = 0.0
        self._longest_s, self._looked = SLICE_S, False

    def lost_us(self) -> int:
        """Microseconds of all pauses, until now or the end; 0 where there is no clock."""
        if self._timer is None:
            return self._lost
        return self._lost + self._late_us(self._loop.time())

    def _over(self) -> None:
        raise NotImplementedError

    def _stop(self) -> None:
        """Time is no longer counted."""
        if (timer := self._timer) is None:
            return
        now = self._loop.time()
        if self._wall is not None:
            self._lost += self._late_us(now)
        if isinstance(timer, _Ticks):
            timer.forget(self)
        else:
            timer.cancel()
        self._timer = None
        left_s = self.left_s or 0.0
        self.left_s = max(0.0, left_s - self._slice_s + max(0.0, self._due - now))

    def _late_us(self, now: float) -> int:
        if self._wall is None or not self._slice_s:
            return 0
        here = int((now - self._due) * 1e6)
        late = max(here, self._wall() - self._began - int(self._slice_s * 1e6))
        return late if late >= PAUSE_US else 0

    def _next(self, left_s: float) -> None:
        loop = self._loop
        self.left_s = left_s
        if left_s <= 0:  # not at once: an answer that came in the same moment is taken
            self._slice_s = self._due = 0.0
            self._timer = loop.call_soon(self._ended)
            return
        now = loop.time()
        if left_s > 2 * SLICE_S and self._longest_s == SLICE_S:
            self._timer = ticks = _Ticks.of(loop)
            self._due = ticks.due(self, now)
            self._slice_s = self._due - now
        else:
            self._slice_s = min(self._longest_s, left_s)
            self._due = now + self._slice_s
            self._timer = loop.call_at(self._due, self.sliced)
        if self._wall is not None:
            self._began = self._wall()

    def sliced(self) -> None:
        """A slice has passed."""
        left_s = self.left_s or 0.0
        now = self._loop.time()
        self._lost += self._late_us(now)
        late_s = now - self._due
        if late_s > LATE_S:
            self._longest_s = max(LEAST_S, self._slice_s / 2)
            self._next(left_s)
            return
        self._longest_s = min(SLICE_S, 2 * self._longest_s)
        left_s -= self._slice_s + max(0.0, late_s)
        if left_s <= 0 and late_s * 1e6 >= PAUSE_US and not self._looked:
            self._looked, left_s = True, LAST_LOOK_S
        self._next(left_s)

    def _ended(self) -> None:
        self._timer = None
        self._over()


class _Ticks:
    """One timer of an event loop for all countdowns that have more than a slice or two to go:
    nearly every one is stopped long before it is over, and a timer of its own costs more than what
    it measures.

    All are told at each tick, so that whatever is late is late for all of them. They keep it while
    there is one.
    """

    _here = threading.local()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Nothing ticks before there is something to tell of it."""
        self.loop = loop
        self._timer: asyncio.TimerHandle | None = None
        self._at = 0.0
        self._due: dict[_Countdown, float] = {}

    @classmethod
    def of(cls, loop: asyncio.AbstractEventLoop) -> _Ticks:
        """Those of the loop that runs in this thread."""
        kept: Callable[[], _Ticks | None] | None = getattr(cls._here, "ticks", None)
        found = None if kept is None else kept()
        if found is None or found.loop is not loop:
            found = cls(loop)
            cls._here.ticks = ref(found)
        return found

    def due(self, countdown: _Countdown, now: float) -> float:
        """Tell the countdown once, within a slice from now; when that is, by the loop's clock."""
        if self._timer is None:
            self._begin(now + SLICE_S)
        # a tick that is late by now tells of what was lost before, and this one by the next
        due = self._due[countdown] = self._at if self._at > now else now + SLICE_S
        return due

    def forget(self, countdown: _Countdown) -> None:
        """It is not told any more."""
        self._due.pop(countdown, None)

    def _begin(self, at: float) -> None:
        self._at = at
        self._timer = self.loop.call_at(at, self._tick)

    def _tick(self) -> None:
        told = [countdown for countdown, due in self._due.items() if due <= self._at]
        self._timer = None
        if self._due:
            self._begin(max(self._at, self.loop.time()) + SLICE_S)
        for countdown in told:
            self._due.pop(countdown, None)
            try:
                countdown.sliced()
            except Exception as error:
                # its clock is foreign: as with a timer of its own, no other one hears of it
                self.loop.call_exception_handler(
                    {"message": "a time-out cannot be counted", "exception": error}
                )


class TimeLimit(_Countdown):
    """``async with TimeLimit(seconds):`` as ``asyncio.timeout``; None is no limit.

    With a clock it also tells how long the process stood still meanwhile (``lost_us``).
    """

    def __init__(self, seconds: float | None, wall: Callable[[], int] | None = None) -> None:
        """Begins when it is entered; ``wall`` is the wall clock, in microseconds."""
        super().__init__(wall)
        self.left_s = seconds
        self._task: asyncio.Task[Any] | None = None
        self._cancels = 0
        self._is_over = False

    async def __aenter__(self) -> TimeLimit:
        """Begin."""
        if self.left_s is not None:
            self._loop = asyncio.get_running_loop()
            self._task = task = asyncio.current_task(self._loop)
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
        if task is None:
            return
        self._stop()
        if self._is_over and task.uncancel() <= self._cancels and kind is asyncio.CancelledError:
            # else somebody else cancelled it, too
            raise TimeoutError from error

    def _over(self) -> None:
        self._is_over = True
        if self._task is not None:
            self._task.cancel()


class _Awaited(_Countdown):
    """Until a task has ended, or the time is over: then ``told`` is done."""

    def __init__(self, task: asyncio.Future[Any], seconds: float) -> None:
        super().__init__()
        self._loop = task.get_loop()
        self.told: asyncio.Future[None] = self._loop.create_future()
        self._task = task
        task.add_done_callback(self._tell)
        self._next(seconds)

    def stop(self) -> None:
        """Nobody awaits it any more."""
        self._stop()
        self._task.remove_done_callback(self._tell)

    def _tell(self, _: object) -> None:
        if not self.told.done():
            self.told.set_result(None)

    def _over(self) -> None:
        self._tell(None)


async def ended_within(task: asyncio.Future[Any], seconds: float) -> bool:
    """Whether a task ends within the time; it is left alone whatever comes of it."""
    if not task.done():
        awaited = _Awaited(task, seconds)
        try:
            await awaited.told
        finally:
            awaited.stop()
    return task.done()
