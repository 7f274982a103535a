"""For how long this process stood still while something was under way: stopped, asleep with its
machine, or its event loop held up.

Two clocks find it out. A timer that comes late tells of a stop, wall time that runs ahead of the
loop's of a sleep, in which that one stands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

STEP_US = 500_000
"""How often the watch looks, in microseconds; what is late by less is no pause."""


class Pauses:
    """A watch over one call: ``with Pauses(clock.now) as pauses``, and at its end
    ``pauses.lost_us()``. One event loop.
    """

    def __init__(self, now: Callable[[], int]) -> None:
        """``now`` is the wall clock, in microseconds."""
        self._now = now
        self._lost = 0
        self._timer: asyncio.TimerHandle | None = None
        self._seen = (0.0, 0)

    def __enter__(self) -> Self:
        """Begin."""
        self._loop = asyncio.get_running_loop()
        self._look()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End; what was lost can still be asked for."""
        self._lost = self.lost_us()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def lost_us(self) -> int:
        """Microseconds of all pauses since the beginning, until now or the end."""
        return self._lost + (0 if self._timer is None else self._late())

    def _look(self) -> None:
        self._lost = self.lost_us()
        self._seen = self._loop.time(), self._now()
        self._timer = self._loop.call_later(STEP_US / 1e6, self._look)

    def _late(self) -> int:
        here, wall = self._seen
        late = max(int((self._loop.time() - here) * 1e6), self._now() - wall) - STEP_US
        return late if late >= STEP_US else 0
