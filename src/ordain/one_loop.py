"""One event loop of one process: what belongs to it is not asked from another one, where callbacks
would never come and two threads would write at once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from typing import Any, Self, TypeVar

from ordain.errors import Conflict

T = TypeVar("T")
LOOK_S = 1.0
"""So often a thread that waits looks whether there is still a loop to wait for."""
_process = object()
"""Stands for this process, a copy of it has another: every unit of every run asks, and to ask the
system is slow.
"""


def _copy() -> None:
    global _process  # noqa: PLW0603 - what a copied process has of it is another one
    _process = object()


os.register_at_fork(after_in_child=_copy)


class OneLoop:
    """The event loop and the process that something works in, found at its first use."""

    def __init__(self, *, moves: bool = False) -> None:
        """Nobody's yet; ``moves``: once its loop is closed the next one may have it."""
        self._moves = moves
        self._loop: asyncio.AbstractEventLoop | None = None
        self._process = _process

    @classmethod
    def here(cls) -> Self:
        """The loop that runs here, and none that asks before it is known.

        Raises:
            Conflict: none of asyncio's runs here (``another_loop``).
        """
        if asyncio._get_running_loop() is None:  # noqa: SLF001 - see ``elsewhere``
            raise Conflict(
                "Ordain works in an event loop of asyncio, and none runs here (of anyio, the "
                "backend asyncio has one)",
                code="another_loop",
            )
        found = cls()
        found.elsewhere()
        return found

    @property
    def is_gone(self) -> bool:
        """Whether the loop is closed, in this process: nothing goes on there."""
        return not self.copied and self._loop is not None and self._loop.is_closed()

    @property
    def copied(self) -> bool:
        """Whether this process is a copy of the one that this belongs to."""
        return _process is not self._process

    def elsewhere(self) -> str:
        """Why whoever asks here is not where this belongs; "" where they are. Outside of any loop
        nothing can be awaited, so that is no elsewhere.
        """
        return self.asked()[1]

    def asked(self) -> tuple[asyncio.AbstractEventLoop | None, str]:
        """The loop that runs here, with ``elsewhere``: who needs both asks once, since asyncio asks
        the system each time which process this is.
        """
        loop = asyncio._get_running_loop()  # noqa: SLF001 - asyncio's own way to ask without an exception
        if _process is not self._process:  # ``copied``, without a call more
            return loop, (
                "what is asked here works in another process, of which this one is a copy (fork)"
            )
        if loop is None or loop is self._loop:
            return loop, ""
        if self._loop is None or (self._moves and self._loop.is_closed()):
            self._loop = loop
            return loop, ""
        if self._loop.is_closed():
            return loop, "what is asked here worked in an event loop that is closed"
        return loop, "what is asked here works in another event loop"

    def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work comes to in this loop; called in a thread that has none.

        Raises: as ``work``; TypeError: it is no coroutine; Conflict: there is no loop to wait for
            (``not_started``), or this is not where one may wait for it (``another_loop``): another
            process, or an event loop's own thread, which would stand still.
        """
        if not asyncio.iscoroutine(work):
            raise TypeError(
                f"a coroutine is awaited, such as ordain.plan(...), and no {type(work).__name__}"
            )
        try:
            handed = asyncio.run_coroutine_threadsafe(work, self._to_wait_for())
        except BaseException:  # whatever it was: nobody else would await it
            work.close()
            raise
        while True:
            try:
                return handed.result(LOOK_S)
            except TimeoutError:  # nobody ends what a loop still had when it was closed
                if handed.done() or self._loop is None or self._loop.is_closed():
                    raise
            except BaseException:
                # its own error, or this thread is to end: then so is the work, in its loop
                handed.cancel()
                raise

    def _to_wait_for(self) -> asyncio.AbstractEventLoop:
        if self.copied or asyncio._get_running_loop() is not None:  # noqa: SLF001 - see above
            raise Conflict(
                self.elsewhere() or "an event loop runs here, which would stand still: await it",
                code="another_loop",
            )
        if self._loop is None or not self._loop.is_running():
            raise Conflict(
                "nothing runs whose event loop could be waited for: it was not started, or its "
                "loop stands still; keep one running in a thread, and start and stop it there",
                code="not_started",
            )
        return self._loop
