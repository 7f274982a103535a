"""What an engine takes up: runs that nobody holds, as there are places for them, and those of its
own that it does not drive.

Whoever takes hold of runs may not be told of it, or may not come to look at all of them: the
acknowledgement is lost, the storage goes away in between. They are the engine's then, and are
offered to nobody. So after whatever broke off, and after each joining, it first asks what it holds.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from ordain.errors import EngineLost, LeaseLost, OrdainError
from ordain.ports.leases import Held, Lease, Leases
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.engine")
POLL_US = 1_000_000
"""How often an engine that is not alone looks for what nobody holds."""
TRY_AGAIN_US = 500_000


class Driver(Protocol):
    """The engine that is looked for."""

    def places(self) -> int:
        """How many runs more it may drive; none where it takes nothing."""
        ...

    def knows(self, run: str) -> bool:
        """Whether it drives this one of its own, or will."""
        ...

    async def took(self, held: Held) -> None:
        """Have the run driven."""
        ...

    def is_lost(self, run: str, error: LeaseLost) -> None:
        """The lease is; of no run in particular (""), or of one."""
        ...


class Uptake:
    """Of one engine. ``next_look`` is when to look again, by the wall clock in microseconds; None:
    not for a time's sake.
    """

    def __init__(
        self, services: Services, leases: Leases, driver: Driver, arm: Callable[[], None]
    ) -> None:
        """``arm`` is called where ``next_look`` was set."""
        self._services, self._leases, self._driver, self._arm = services, leases, driver, arm
        self._lease = Lease(engine=0)
        self._sure = False
        self._more = True
        self._looking: asyncio.Task[None] | None = None
        self._under_way = False
        self.next_look: int | None = None

    def begin(self, lease: Lease) -> None:
        """The engine has joined: nothing is known of what it holds."""
        self._lease, self._sure, self._more = lease, False, True

    @property
    def flows(self) -> Collection[tuple[str, int]] | None:
        """Those that the engine asks for; None: any."""
        return None if self._lease.alone else self._services.kinds.by_id.keys()

    @property
    def tasks(self) -> Sequence[asyncio.Task[None]]:
        """What looks now."""
        return () if self._looking is None else (self._looking,)

    def look(self, *, anew: bool = True) -> None:
        """Take up what nobody holds, once; where that is under way it goes on. Not ``anew``: unless
        it is known that there is no more.
        """
        self._more = self._more or anew
        idle = self._looking is None or self._looking.done()
        if self._more and idle and not self._under_way:
            self._looking = asyncio.ensure_future(self._look())

    async def take(self) -> None:
        """All that there are places for. Raises as ``Leases.hold``, and what ``Driver.took``
        raises: what it did not come to is looked at by the next one.
        """
        self._under_way = True
        try:
            if not self._sure:
                await self._take_own()
            while self._more and (places := self._driver.places()) > 0:
                await self._hold(places)
        finally:
            self._under_way = False
        if not self._more:
            due = await self._leases.next_due(self._lease, flows=self.flows)
            poll = self._services.clock.now() + POLL_US
            self.next_look = due if self._lease.alone else min(due or poll, poll)
            self._arm()

    async def _look(self) -> None:
        try:
            await self.take()
        except EngineLost as error:
            self._driver.is_lost("", error)
        except OrdainError as error:  # it comes back, or is that run's alone: all are asked again
            LOG.error("what is left could not be taken up: %s", error.message)
            self.next_look = self._services.clock.now() + TRY_AGAIN_US
            self._arm()

    async def _take_own(self) -> None:
        held = await self._leases.held(self._lease)
        if own := [run for run in held if not self._driver.knows(run)]:
            await self._hold(len(own), own)
        self._sure = True

    async def _hold(self, limit: int, only: Sequence[str] = ()) -> None:
        self._sure = False
        found = await self._leases.hold(self._lease, limit=limit, flows=self.flows, only=only)
        if not only:
            self._more = len(found) >= limit
        for held in found:
            await self._driver.took(held)
        self._sure = True
