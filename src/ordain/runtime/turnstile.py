"""How long readers that are all woken at once work in one turn of the loop: who comes later goes on
in the next, and what is asked of the server meanwhile stands between them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter

TURN_S = 0.01
AT_ONCE = 8
"""So many of those that wait go on in a turn."""


class Turnstile:
    """Of one loop. In their order, so that nobody waits for ever."""

    def __init__(
        self,
        turn_s: float = TURN_S,
        at_once: int = AT_ONCE,
        now: Callable[[], float] = perf_counter,
    ) -> None:
        """``now`` counts seconds."""
        self._turn_s, self._at_once, self._now = turn_s, at_once, now
        self._until: float | None = None
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def passed(self) -> None:
        """Return in this turn of the loop, or where its time is used up in a later one."""
        if self._until is None:
            self._begin()
        elif self._waiting or self._now() >= self._until:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn

    def _begin(self) -> None:
        self._until = self._now() + self._turn_s
        asyncio.get_running_loop().call_soon(self._turned)

    def _turned(self) -> None:
        """The turn is over: some of those that wait go on in the next, before whoever comes."""
        self._until = None
        if not self._waiting:
            return
        for _ in range(min(self._at_once, len(self._waiting))):
            turn = self._waiting.popleft()
            if not turn.done():  # whoever waited may be gone
                turn.set_result(None)
        self._begin()
