"""A bounded set of threads for plain functions, in which a slot stays taken until its function has
really ended.

The threads are daemons of our own: a function that never returns must not keep the process from
ending, which the threads of ``concurrent.futures`` do.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from queue import SimpleQueue
from typing import Any

from msgspec import Struct

from ordain.runtime.time_limit import TimeLimit

LOG = logging.getLogger("ordain.verbs")


class Raised(Struct, frozen=True):
    """What a function raised, as a value: a thread's ``SystemExit`` must not travel into the event
    loop.
    """

    error: BaseException


class NoSlot(Exception):
    """The function was never started: no thread was free in time, or none could be made."""


class OutOfTime(Exception):
    """The function was started and has not ended in time; it still holds its slot."""


@dataclass(slots=True, eq=False)
class _Job:
    """One call. Whoever takes ``claim`` first owns its start: the thread that runs it, or the
    caller that gives it up.
    """

    function: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    ended: asyncio.Future[Any]
    deadline: float
    claim: threading.Lock = field(default_factory=threading.Lock)


class Threads:
    """At most ``size`` functions at once; more wait in order of arrival. Belongs to one event
    loop.
    """

    def __init__(self, size: int) -> None:
        """Start no thread before it is needed."""
        self._size, self._end_by = size, inf
        self._free = asyncio.Semaphore(size)
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        self._started = 0
        self._jobs: set[_Job] = set()

    async def run(self, function: Callable[[], Any], timeout_s: float) -> Any:
        """Run the function in a thread and return what it returns, or ``Raised``.

        Raises:
            NoSlot: it did not start within the time; it never will.
            OutOfTime: it started and still runs.
        """
        job: _Job | None = None
        loop = asyncio.get_running_loop()
        deadline = time.monotonic() + timeout_s
        try:
            async with TimeLimit(timeout_s):
                await self._free.acquire()
                job = self._start(_Job(function, loop, loop.create_future(), deadline))
                return await asyncio.shield(job.ended)
        except TimeoutError as error:
            if job is None or self._give_up(job):
                raise NoSlot from error
            if job.ended.done():
                return job.ended.result()
            raise OutOfTime from error
        except asyncio.CancelledError:
            if job is not None:
                self._give_up(job)
            raise

    def end_within(self, seconds: float) -> None:
        """``close`` waits so long from now on: nothing can stop a thread."""
        self._end_by = time.monotonic() + seconds

    async def close(self) -> None:
        """Wait for what still runs, each within its own time, and let the idle threads end; what is
        left behind then ends with the process. Idempotent.
        """
        now = time.monotonic()
        if waiting := [job for job in self._jobs if job.deadline > now]:
            until = min(max(job.deadline for job in waiting), self._end_by)
            ends = [job.ended for job in waiting]
            _, left = await asyncio.wait(ends, timeout=max(0.0, until - now))
            if left and self._started:
                LOG.error("plain verbs that still run are left in their threads: %d", len(left))
        for _ in range(self._started):
            self._queue.put(None)
        self._started = 0

    def _start(self, job: _Job) -> _Job:
        if self._started < min(self._size, len(self._jobs) + 1):
            try:
                threading.Thread(
                    target=self._work, name=f"ordain-verb-{self._started + 1}", daemon=True
                ).start()
            except RuntimeError as error:
                # the system gives no more threads now; the place is for whoever comes later
                self._free.release()
                raise NoSlot from error
            self._started += 1
        self._jobs.add(job)
        self._queue.put(job)
        return job

    def _give_up(self, job: _Job) -> bool:
        """Whether the job had not begun, and now never will."""
        if not job.claim.acquire(blocking=False):
            return False
        self._end(job, None)
        return True

    def _end(self, job: _Job, outcome: Any) -> None:
        self._jobs.discard(job)
        self._free.release()
        if not job.ended.done():
            job.ended.set_result(outcome)

    def _work(self) -> None:
        while (job := self._queue.get()) is not None:
            if not job.claim.acquire(blocking=False):
                continue
            try:
                outcome = job.function()
            except BaseException as error:
                # foreign code: even SystemExit is its failure and not the process's
                outcome = Raised(error)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                job.loop.call_soon_threadsafe(self._end, job, outcome)
            del job, outcome  # an idle thread keeps nobody's values alive
