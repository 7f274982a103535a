"""The engine's heartbeat: it looks often for time that was lost, and says on the store that it is at work, so that the next start knows how long nobody was."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ordain.errors import LeaseLost, OrdainError
from ordain.journal.lost_time import Pause
from ordain.ports.leases import Beat, Lease, Leases
from ordain.runtime.lost_time import TICK_US
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.engine")
BEAT_US = 1_000_000
IDLE_BEAT_US = 10_000_000
"""Between beats, while runs are driven and while none is: what a crash makes unknown of the time before it."""


class Heartbeat:
    """Of one engine."""

    def __init__(self, services: Services, leases: Leases, *, driving: Callable[[], int], found: Callable[[], None]) -> None:
        """``driving`` is how many runs are driven; ``found`` is called where time was lost: moments by the wall clock came early."""
        self._services, self._leases = services, leases
        self._lease: Lease | None = None
        self._driving, self._found = driving, found
        self._beaten = self._told = 0

    async def begin(self, lease: Lease) -> None:
        """Find how long nobody was at work, before any run is taken up."""
        lost, clock = self._services.lost, self._services.clock
        self._lease = lease
        lost.begin(self._now, lease.last_beat, lease.pauses)
        self._told = lost.found
        await self._save(clock.now())

    def _now(self) -> int:
        return self._services.clock.now()

    async def keep_beating(self) -> None:
        """For ever; storage that is away is told later."""
        while True:
            await asyncio.sleep(TICK_US / 1e6)
            await self.beat()

    async def beat(self, *, last: bool = False) -> None:
        """Look, and write what there is to write; ``last``: the engine stops."""
        lost, now = self._services.lost, self._services.clock.now()
        lost.look()
        if lost.found != self._told:  # whoever looked first
            self._told = lost.found
            LOG.warning("nobody could work for %.1f s: the process was stopped or asleep, or the clock was set forward", lost.last_us / 1e6)
            self._found()
        assert self._lease is not None
        every = BEAT_US if self._driving() or not self._lease.alone else IDLE_BEAT_US
        if last or lost.unsaved or lost.cut_at is not None or not 0 <= now - self._beaten < every:
            await self._save(now)

    async def _save(self, now: int) -> None:
        assert self._lease is not None
        lost = self._services.lost
        told, back = tuple(Pause(began, ended) for began, ended in lost.unsaved), lost.cut_at
        try:
            await self._leases.beat(self._lease, Beat(at=now, pauses=told, clock_back=back))
        except LeaseLost:
            raise
        except OrdainError as error:
            LOG.debug("the heartbeat could not be written: %s", error.message)
        else:
            del lost.unsaved[: len(told)]
            if lost.cut_at == back:
                lost.cut_at = None
        self._beaten = now
