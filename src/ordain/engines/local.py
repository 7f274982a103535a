"""The local engine: one process, one event loop, a bounded number of runs driven at once, one timer.

It holds nothing authoritative: what is ready, waiting or due stands in the store, and a new engine finds it there.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress

from ordain.engines.heartbeat import Heartbeat
from ordain.engines.timers import Timers
from ordain.errors import RUN_MOVED_ON, JournalDiverged, LeaseLost, OrdainError, StorageUnavailable
from ordain.journal.records import SETTLED, Status
from ordain.ports.lease import Lease
from ordain.ports.store import Append
from ordain.runtime.drive import Drive, Driven
from ordain.runtime.foreign_code import class_of, sent_by_signal
from ordain.runtime.recovery import Recovery
from ordain.runtime.services import Services
from ordain.runtime.upkeep import DAY_US, swept
from ordain.runtime.waiters import Waiters

LOG = logging.getLogger("ordain.engine")
TRY_AGAIN_US = 500_000
TRY_AGAIN_AT_MOST_US = 60_000_000
TRIES_OF_A_DEFECT = 5
"""So often a run is driven again that a defect keeps from being driven; then it stops, until somebody resumes it after the fix."""


class LocalEngine:
    """Wakes runs; ``waiters`` hear of every run that came to rest settled or stopped."""

    def __init__(self, services: Services, lease: Lease) -> None:
        """Nothing happens before ``start``."""
        self._services = services
        self._heart = Heartbeat(services, lease, driving=lambda: self.driving, found=self._arm)
        self._beating: asyncio.Task[None] | None = None
        self.waiters = Waiters()
        self._active: dict[str, tuple[Drive, asyncio.Task[None]]] = {}
        self._again: dict[str, str | None] = {}
        self._ready: deque[tuple[str, str | None]] = deque()
        self._queued: set[str] = set()
        self._tries: dict[str, int] = {}
        self._timers = Timers()
        self._timer: asyncio.TimerHandle | None = None
        self._alone: dict[str, int] = {}
        self._lone: str | None = None
        self._lone_epoch = 0
        self.accepting = False
        self.lost: asyncio.Event = asyncio.Event()

    @property
    def driving(self) -> int:
        """Runs driven now."""
        return len(self._active)

    @property
    def ready_runs(self) -> int:
        """Runs ready that wait for a place."""
        return len(self._ready)

    async def start(self) -> None:
        """Take up every unsettled run, and listen for mail."""
        self._services.store.listen(self.heard)
        await self._heart.begin()
        recovery = Recovery(self._services)
        plan = await recovery.plan()
        self.accepting = True
        self._beating = asyncio.ensure_future(self._keep_beating())
        for run, wake_at in plan.timers:
            self._at(wake_at, run)
        for run in plan.wake:
            self.wake(run)
        self._alone.update(plan.alone)
        self._next_alone()

    async def _keep_beating(self) -> None:
        try:
            await self._heart.keep_beating()
        except LeaseLost as error:
            self._lost("", error)

    def heard(self, run: str) -> None:
        """The run was opened or has mail."""
        active = self._active.get(run)
        if active is not None:
            self._again.setdefault(run, None)
            active[0].heard()
        else:
            self.wake(run)

    def holds(self, run: str) -> bool:
        """Whether the run is being driven or waits for its turn; a run that suspends is let go of."""
        return run in self._active or run in self._queued

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        """Drive the run as soon as there is a place."""
        if not self.accepting or run in self._queued or run in self._alone:
            return
        if run in self._active:
            self._again[run] = resumed_by or self._again.get(run)
            return
        self._queued.add(run)
        self._ready.append((run, resumed_by))
        self._fill()

    def hurry(self, run: str) -> None:
        """Drive a waiting run at once, however many are being driven: for what only tells, and is over in milliseconds."""
        if self.accepting and run in self._queued:
            self._ready = deque(waiting for waiting in self._ready if waiting[0] != run)
            self._begin(run, None)

    def _fill(self) -> None:
        limit = self._services.catalogs.current.policy.engine.max_running
        while self.accepting and self._ready and len(self._active) < limit:
            self._begin(*self._ready.popleft())

    def _begin(self, run: str, resumed_by: str | None) -> None:
        self._queued.discard(run)
        self._timers.forget(run)  # it says anew when it is to be woken, if it is
        drive = Drive(self._services, run, resumed_by=resumed_by)
        self._active[run] = (drive, asyncio.ensure_future(self._drive(drive)))

    async def _drive(self, drive: Drive) -> None:
        driven: Driven | None = None
        try:
            if drive.run == self._lone:  # whoever the process dies on is the one that is marked
                await self._services.store.submit(Append(run=drive.run, epoch=self._lone_epoch, status=Status.RUNNING))
            driven = await drive.to_rest()
        except LeaseLost as error:
            self._lost(drive.run, error)
        except StorageUnavailable as error:  # it comes back, and no run is to blame
            LOG.error("run=%s could not be driven: %s", drive.run, error.message)
        except BaseException as error:  # one run's defect, or what its kind raises, must not keep the others from being driven
            if not self._goes_on(error):
                raise
            LOG.exception("run=%s could not be driven", drive.run)
            if self._tries.get(drive.run, 0) >= TRIES_OF_A_DEFECT:
                driven = await self._given_up(drive, error)
        finally:
            self._active.pop(drive.run, None)
        self._rested(drive.run, driven)
        self._fill()

    def _goes_on(self, error: BaseException) -> bool:
        """Whether the engine does: a cancellation is a stopping engine's, or that of a kind that has cancelled the task it was asked in."""
        if isinstance(error, GeneratorExit) or sent_by_signal(error) or (isinstance(error, asyncio.CancelledError) and not self.accepting):
            return False
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()
        return True

    async def _given_up(self, drive: Drive, defect: BaseException) -> Driven | None:
        try:
            return await drive.stop(JournalDiverged(f"run {drive.run} could not be driven: {class_of(defect)}"))
        except Exception:  # as above: it is tried again
            LOG.exception("run=%s could not be stopped", drive.run)
            return None

    def _lost(self, run: str, error: LeaseLost) -> None:
        """Stop where another engine holds the store; a single run that has moved on is driven again from what is durable."""
        if error.code == RUN_MOVED_ON:
            LOG.warning("run=%s is driven again: %s", run, error.message)
            self._again.setdefault(run, None)
            return
        LOG.error("lease lost: %s", error.message)
        self.accepting = False
        self.lost.set()

    def _rested(self, run: str, driven: Driven | None) -> None:
        again = run in self._again
        resumed_by = self._again.pop(run, None)
        if driven is None:
            self._try_again(run, resumed_by, at_once=again)
        else:
            self._tries.pop(run, None)
            if driven.status is not Status.WAITING:
                self.waiters.ended(run, driven.settled or driven.status)
            if driven.root not in ("", run):
                self.waiters.ended(driven.root, driven.status)
            if again and driven.status not in SETTLED:
                self.wake(run, resumed_by)
            elif driven.status is Status.WAITING and driven.wake_at is not None:
                self._at(driven.wake_at, run)
        if run == self._lone:
            self._lone = None
            self._next_alone()

    def _try_again(self, run: str, resumed_by: str | None, *, at_once: bool) -> None:
        """A run that could not be driven, for example because it could not be read, is tried again, ever more rarely."""
        if not self.accepting:
            self.waiters.ended(run, Status.RUNNING)
            return
        tries = self._tries[run] = self._tries.get(run, 0) + 1
        if at_once and tries <= TRIES_OF_A_DEFECT:
            self.wake(run, resumed_by)
        else:
            self._at(self._services.clock.now() + min(TRY_AGAIN_US * 2**tries, TRY_AGAIN_AT_MOST_US), run)

    # --- time -------------------------------------------------------------------------------------------------------------------

    def _at(self, wake_at: int, run: str) -> None:
        self._timers.put(wake_at, run)
        self._arm()

    def _arm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if (first := self._timers.first()) is not None:
            left = (first - self._services.clock.now()) / 1e6
            self._timer = asyncio.get_running_loop().call_later(min(max(left, 0.0), 3600.0), self._due)

    def _due(self) -> None:
        for run in self._timers.due(self._services.clock.now()):
            self.wake(run)
        self._arm()

    def _next_alone(self) -> None:
        """Runs that died with the process at the same place before are driven one at a time."""
        if self._alone and self._lone is None:
            self._lone = next(iter(self._alone))
            self._lone_epoch = self._alone.pop(self._lone)
            self.wake(self._lone)

    # --- stopping ---------------------------------------------------------------------------------------------------------------

    async def stop(self, grace_s: float = 10.0) -> None:
        """Drain: take nothing new, abandon model calls and waits, give running verbs until ``grace_s`` seconds to end."""
        self.accepting = False
        if self._timer is not None:
            self._timer.cancel()
        for drive, task in list(self._active.values()):
            if drive.live is None or not drive.live.in_verb:
                task.cancel()
        tasks = [task for _, task in self._active.values()]
        if tasks:
            for drive, _ in list(self._active.values()):
                if drive.live is not None:
                    drive.live.stop_after_verb()
            _, late = await asyncio.wait(tasks, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)
            with suppress(OrdainError):  # whoever lost the lease is not at work
                await self._heart.beat(last=True)

    async def sweep(self) -> dict[str, int]:
        """Erase what policy keeps no longer, and more (``runtime.upkeep.swept``)."""
        return await swept(self._services.upkeep, self._services.catalogs.current.policy, self._services.clock.now())

    async def sweep_daily(self) -> None:
        """For ever: sweep now, and again every day. Storage that is away is tried again the next day."""
        while True:
            try:
                await self.sweep()
            except OrdainError as error:
                LOG.error("sweep failed: %s", error.message)
            await asyncio.sleep(DAY_US / 1e6)
