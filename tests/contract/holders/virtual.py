"""An event loop whose time is virtual: where nothing is ready it is at once the moment of the next
timer. What runs on it is the same each time.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from hashlib import sha256
from typing import Any, TypeVar

T = TypeVar("T")
SECOND = 1_000_000
BEGAN = 20_000 * 24 * 3600 * SECOND


class NothingLeft(AssertionError):
    """Somebody waits, and nothing will ever happen."""


class _Leaps(selectors.SelectSelector):
    """Waits for nothing: the time that was to be waited has passed."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> Any:
        found = super().select(0)
        if not found and timeout is None:
            raise NothingLeft
        if not found and timeout:
            self.loop.passed += timeout
        return found


class VirtualLoop(asyncio.SelectorEventLoop):
    """Nothing on it may be done in a thread: time would not wait for it."""

    def __init__(self) -> None:
        self.passed = 0.0
        leaps = _Leaps()
        leaps.loop = self
        super().__init__(leaps)

    def time(self) -> float:
        return self.passed


class VirtualClock:
    """Implements ``Clock`` by the time of the loop it is made on; ids and keys follow from how many
    there were.
    """

    def __init__(self) -> None:
        # a flow that asks for the time has no loop
        self.made, self._loop = 0, asyncio.get_running_loop()

    def now(self) -> int:
        return BEGAN + round(self._loop.time() * SECOND)

    def new_key(self) -> bytes:
        self.made += 1
        return sha256(self.made.to_bytes(8, "big")).digest()

    def new_run_id(self) -> str:
        self.made += 1
        return f"{self.made:032x}"


def virtually(work: Coroutine[Any, Any, T], *, within_s: float = 3600) -> T:
    """What this gives, in no time; ``within_s`` seconds may pass meanwhile."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(_within(work, within_s))


async def _within(work: Coroutine[Any, Any, T], seconds: float) -> T:
    async with asyncio.timeout(seconds):
        return await work
