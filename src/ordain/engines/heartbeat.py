"""The engine's heartbeat: it looks often for time that was lost, and says on the store that it is
at work, so that the next start knows how long nobody was.
"""

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
"""Between beats, while runs are driven and while none is: what a crash makes unknown of the time
before it.
"""


class Heartbeat:
    """Of one engine."""

    def __init__(
        self,
        services: Services,
        leases: Leases,
        *,
        driving: Callable[[], int],
        found: Callable[[int], None],
    ) -> None:
        """``driving`` is how many runs are driven; ``found`` is called where time was lost, so that
        moments by the wall clock came early.

        It is also called where the clock was set back, with by how many microseconds (else 0): they
        would come late.
        """
        self._services, self._leases = services, leases
        self._lease: Lease | None = None
        self._driving, self._found = driving, found
        self._beaten = self._told = self._back_us = 0
        self._refused = dict[str, int]()

    async def begin(self, lease: Lease) -> None:
        """Find how long nobody was at work, before any run is taken up."""
        lost, clock = self._services.lost, self._services.clock
        self._lease = lease
        lost.begin(self._now, lease.last_beat, lease.pauses)
        self._told, self._back_us = lost.found, lost.back_us
        await self._save(clock.now())

    def _now(self) -> int:
        return self._services.clock.now()

    def refused(self, run: str) -> None:
        """The storage did not let a run be taken hold of."""
        self._refused.setdefault(run, self._now())

    def went_on(self, run: str) -> None:
        """A run was taken hold of: until now that could not be where it was refused before, and
        that time was lost.
        """
        if (began := self._refused.pop(run, None)) is not None:
            self._services.lost.refused(began, self._now())

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
            LOG.warning(
                "nobody could work for %.1f s: the process was stopped or asleep, or the clock "
                "was set forward",
                lost.last_us / 1e6,
            )
            self._found(0)
        if back_us := lost.back_us - self._back_us:
            self._back_us = lost.back_us
            LOG.warning(
                "the clock was set back by %.1f s: runs that wait are woken as much earlier",
                back_us / 1e6,
            )
            self._found(back_us)
        assert self._lease is not None
        every = BEAT_US if self._driving() or not self._lease.alone else IDLE_BEAT_US
        if last or lost.unsaved or lost.cut_at is not None or not 0 <= now - self._beaten < every:
            await self._save(now)

    async def _save(self, now: int) -> None:
        assert self._lease is not None
        lost = self._services.lost
        told, back, back_us = (
            tuple(Pause(began, ended) for began, ended in lost.unsaved),
            lost.cut_at,
            lost.unsaved_back_us,
        )
        try:
            await self._leases.beat(
                self._lease, Beat(at=now, pauses=told, clock_back=back, back_us=back_us)
            )
        except LeaseLost:
            raise
        except OrdainError as error:
            LOG.debug("the heartbeat could not be written: %s", error.message)
        else:
            del lost.unsaved[: len(told)]
            lost.unsaved_back_us -= back_us
            if lost.cut_at == back:
                lost.cut_at = None
        self._beaten = now
