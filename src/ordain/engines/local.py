"""The local engine: one process, one event loop, a bounded number of runs driven at once, one
timer.

It holds nothing authoritative: what is ready, waiting or due stands in the store, and a new engine
finds it there. It takes hold of a run before it drives it; what nobody holds it takes up as places
become free.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from contextvars import Context
from functools import partial

from msgspec import structs

from ordain.engines.heartbeat import Heartbeat
from ordain.engines.parking import PARKED_MAX, Driving, Parking
from ordain.engines.timers import Timers
from ordain.engines.uptake import POLL_US, TRY_AGAIN_US, Uptake
from ordain.errors import JournalDiverged, LeaseLost, OrdainError, RunLost, StorageUnavailable
from ordain.journal.records import SETTLED, Status
from ordain.ports.leases import Held, Lease, Leases
from ordain.ports.store import Append, Change, StoredRun
from ordain.runtime.descriptors import most_running
from ordain.runtime.drive import Drive, Driven
from ordain.runtime.foreign_code import class_of, sent_by_signal
from ordain.runtime.recovery import TakenUp, interrupted_above, taken_up
from ordain.runtime.services import Services
from ordain.runtime.upkeep import swept
from ordain.runtime.waiters import Waiters

LOG = logging.getLogger("ordain.engine")
TRY_AGAIN_AT_MOST_US = 60_000_000
TRIES_OF_A_DEFECT = 5
"""So often a run is driven again that a defect keeps from being driven; then it stops, until
somebody resumes it after the fix.
"""


class LocalEngine:
    """Wakes runs; ``waiters`` hear of every run that came to rest settled or stopped."""

    def __init__(
        self, services: Services, leases: Leases, build: str = "", *, parked: int = PARKED_MAX
    ) -> None:
        """Nothing happens before ``start``; ``build`` names this one to the store. ``parked`` is
        how many runs that wait keep their flow.
        """
        self._services, self._leases, self._build = services, leases, build
        self._lease = Lease(engine=0)
        self._heart = Heartbeat(services, leases, driving=lambda: self.driving, found=self._arm)
        self._beating: asyncio.Task[None] | None = None
        self.waiters = Waiters()
        self._active: dict[str, Driving] = {}
        self.parking = Parking(parked)
        self._held: dict[str, Held] = {}
        self._uptake = Uptake(services, leases, self, self._arm)
        self._again: dict[str, str | None] = {}
        self._ready: deque[tuple[str, str | None]] = deque()
        self._queued: set[str] = set()
        self._tries: dict[str, int] = {}
        self._timers = Timers()
        self._timer: asyncio.TimerHandle | None = None
        self._alone: dict[str, None] = {}
        self._lone: str | None = None
        self.accepting = False
        self._away = False
        self._coming_back: asyncio.Task[None] | None = None
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
        """Join the store, listen for mail, and take up what there are places for; the rest as they
        become free.
        """
        self._services.store.listen(self.changed)
        await self._join()
        self.accepting = True
        try:
            await self._uptake.take()
        except BaseException:  # whatever it was, nothing goes on beside what did not start
            await self.stop()
            raise

    async def _join(self) -> None:
        self._lease = await self._leases.join(self._build)
        self._uptake.begin(self._lease)
        await self._heart.begin(self._lease)
        self._beating = asyncio.ensure_future(self._keep_beating())

    def changed(self, change: Change) -> None:
        """Runs were opened or have mail, it seems."""
        for run in change.runs:
            self.heard(run)

    # --- taking up --------------------------------------------------------------------------------

    def knows(self, run: str) -> bool:
        """See ``Driver``: it is driven, in its turn, or when it is tried again."""
        known = (self._active, self._queued, self._alone, self._tries)
        return any(run in some for some in known) or self.parking.keeps(run)

    def places(self) -> int:
        """See ``Driver``."""
        most = most_running(self._services.catalogs.current.policy.engine)
        return most - len(self._active) - len(self._ready) if self.accepting else 0

    async def took(self, held: Held) -> None:
        """See ``Driver``."""
        match await taken_up(self._services, held):
            case TakenUp.DRIVEN:
                if held.id not in self._active:
                    self._held[held.id] = held
                self.wake(held.id)
            case TakenUp.ALONE:
                self._alone[held.id] = None
                self._next_alone()
            case TakenUp.SET_ASIDE:
                self._rested(held.id, Driven(status=Status.QUARANTINED))

    async def _keep_beating(self) -> None:
        try:
            await self._heart.keep_beating()
        except LeaseLost as error:
            self.is_lost("", error)

    def heard(self, run: str) -> None:
        """The run was opened or has mail."""
        self._held.pop(run, None)
        active = self._active.get(run)
        if active is not None:
            self._again.setdefault(run, None)
            if active.drive is not None:
                active.drive.heard()
        else:
            self.wake(run)

    def holds(self, run: str) -> bool:
        """Whether the run is being driven or waits for its turn; a run that suspends is let go
        of.
        """
        return run in self._active or run in self._queued

    def wake(self, run: str, resumed_by: str | None = None) -> None:
        """Drive the run as soon as there is a place."""
        if not self.accepting or self._away or run in self._queued or run in self._alone:
            return
        if run in self._active:
            self._again[run] = resumed_by or self._again.get(run)
            return
        self._queued.add(run)
        self._ready.append((run, resumed_by))
        self._fill()

    def hurry(self, run: str) -> None:
        """Drive a waiting run at once, however many are being driven: for what only tells, and is
        over in milliseconds.
        """
        if self.accepting and run in self._queued:
            self._ready = deque(waiting for waiting in self._ready if waiting[0] != run)
            self._begin(run, None)

    def _fill(self) -> None:
        while (
            self.accepting
            and not self._away
            and self._ready
            and self.places() + len(self._ready) > 0
        ):
            self._begin(*self._ready.popleft())
        if self.accepting and not self._away and not self._ready:
            self._uptake.look(anew=False)

    def _begin(self, run: str, resumed_by: str | None) -> None:
        self._queued.discard(run)
        self._timers.forget(run)  # it says anew when it is to be woken, if it is
        if (driving := self.parking.take(run)) is not None:
            self._active[run] = driving
            return
        driving = self._active[run] = Driving()
        # a run is nobody's request: it would see the context variables of whichever woke the engine
        drive = self._drive(driving, run, resumed_by)
        driving.task = asyncio.get_running_loop().create_task(drive, context=Context())

    async def _drive(self, driving: Driving, run: str, resumed_by: str | None) -> None:
        driven: Driven | None = None
        try:
            held = await self._hold(run)
            if held is None:  # somebody else's, whom it is announced to as well
                driven = Driven(status=Status.WAITING)
            else:
                park = partial(self._park, run) if self._lease.alone else None
                driving.drive = Drive(self._services, held, resumed_by=resumed_by, park=park)
                driven = await driving.drive.to_rest()
        except LeaseLost as error:
            self.is_lost(run, error)
        except StorageUnavailable as error:  # it comes back, and no run is to blame
            LOG.error("run=%s could not be driven: %s", run, error.message)
            self._heart.refused(run)
            self._tries.pop(run, None)
        except BaseException as error:
            # one run's defect, or what its kind raises, must not keep the others from being driven
            if not self._goes_on(error):
                raise
            cancelled = isinstance(error, asyncio.CancelledError)  # with every task of its loop
            why = ": its task was cancelled" if cancelled else ""
            LOG.error("run=%s could not be driven%s", run, why, exc_info=not cancelled)
            if driving.drive is not None and self._tries.get(run, 0) >= TRIES_OF_A_DEFECT:
                driven = await self._given_up(driving.drive, error)
        finally:
            if driving.parked is None:
                del self._active[run]
        if driving.parked is None:  # else it came to rest when it was parked
            if driving.live is not None and driving.live.time.still:
                self.parking.put_out_above(driving.live.stored)
            self._rested(run, driven)
            self._fill()

    async def _park(self, run: str, wake_at: int | None) -> bool:
        """The run waits, and that is durable: its place is free. Whether it was woken, and not put
        out.
        """
        if not self.accepting or self._away or not self.parking.has_room(self._active[run]):
            return False
        woken = self.parking.put(run, self._active.pop(run))
        self._rested(run, Driven(status=Status.WAITING, wake_at=wake_at))
        self._fill()
        return await woken

    async def _hold(self, run: str) -> Held | None:
        held = self._held.pop(run, None)
        if held is None:
            flows = self._uptake.flows
            found = await self._leases.hold(self._lease, limit=1, flows=flows, only=(run,))
            held = next(iter(found), None)
            self._heart.went_on(run)
        else:
            held = await interrupted_above(self._services, held)
        if held is not None and run == self._lone and isinstance(held.run, StoredRun):
            # the one that the process dies on is marked
            await self._services.store.submit(
                Append(run=run, epoch=held.epoch, status=Status.RUNNING)
            )
            held = structs.replace(held, run=structs.replace(held.run, status=Status.RUNNING))
        return held

    def _goes_on(self, error: BaseException) -> bool:
        """Whether the engine does: a cancellation is a stopping engine's, or that of a kind that
        has cancelled the task it was asked in.
        """
        given_up = not self.accepting or self._away
        if (
            isinstance(error, GeneratorExit)
            or sent_by_signal(error)
            or (isinstance(error, asyncio.CancelledError) and given_up)
        ):
            return False
        task = asyncio.current_task()
        while task is not None and task.cancelling():
            task.uncancel()
        return True

    async def _given_up(self, drive: Drive, defect: BaseException) -> Driven | None:
        try:
            return await drive.stop(
                JournalDiverged(f"run {drive.run} could not be driven: {class_of(defect)}")
            )
        except Exception:  # as above: it is tried again
            LOG.exception("run=%s could not be stopped", drive.run)
            return None

    def is_lost(self, run: str, error: LeaseLost) -> None:
        """Come back as another engine, or stop; a single run that has moved on is looked at again,
        and driven from what is durable.
        """
        if isinstance(error, RunLost):
            LOG.warning("run=%s is driven again: %s", run, error.message)
            self._again.setdefault(run, None)
            return
        if not self._away and self.accepting:
            LOG.error("lease lost: %s", error.message)
            self._away = True
            self._coming_back = asyncio.ensure_future(self._come_back())

    async def _come_back(self) -> None:
        """Let go of everything but verbs in flight, and join again: what was held here may be
        somebody else's by now.
        """
        ends = [
            task
            for task in (self._beating, *self._uptake.tasks, *self.parking.clear())
            if task is not None
        ]
        for one in self._active.values():
            if one.live is not None and one.live.in_verb:
                one.live.stop_after_verb()  # whoever has the run is told what becomes of the call
            else:
                ends.append(one.task)
        for task in ends:
            task.cancel()
        await asyncio.gather(*ends, return_exceptions=True)
        for forgotten in (self._ready, self._queued, self._held, self._alone, self._again):
            forgotten.clear()
        self._lone = None
        if await self._rejoined():
            self._away = False
            self._uptake.look()

    async def _rejoined(self) -> bool:
        """Storage that is away comes back, and a lease that lapses before its first beat is
        followed by another; whoever is refused one does not come back.
        """
        while True:
            before = self._lease
            try:
                await self._join()
            except OrdainError as error:
                if self._lease is before and not isinstance(error, StorageUnavailable):
                    LOG.error("this engine does not come back: %s", error.message)
                    self.accepting = False
                    self.lost.set()
                    return False
                LOG.error("this engine cannot come back yet: %s", error.message)
            else:
                return True
            await asyncio.sleep(TRY_AGAIN_US / 1e6)

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
        """A run that could not be driven, for example because it could not be read, is tried again,
        ever more rarely.
        """
        if not self.accepting:
            self.waiters.ended(run, Status.RUNNING)
            return
        tries = self._tries[run] = self._tries.get(run, 0) + 1
        if at_once and tries <= TRIES_OF_A_DEFECT:
            self.wake(run, resumed_by)
        else:
            self._at(
                self._services.clock.now() + min(TRY_AGAIN_US * 2**tries, TRY_AGAIN_AT_MOST_US), run
            )

    # --- time -------------------------------------------------------------------------------------

    def _at(self, wake_at: int, run: str) -> None:
        self._timers.put(wake_at, run)
        self._arm()

    def _arm(self, back_us: int = 0) -> None:
        if back_us:  # what the store says of moments is put right with the beat that tells it
            self._timers.sooner(back_us)
            self._uptake.next_look = self._services.clock.now() + POLL_US
        if self._timer is not None:
            self._timer.cancel()
        ahead = [at for at in (self._timers.first(), self._uptake.next_look) if at is not None]
        first = min(ahead, default=None)
        if first is not None:
            left = (first - self._services.clock.now()) / 1e6
            self._timer = asyncio.get_running_loop().call_later(
                min(max(left, 0.0), 3600.0), self._due
            )

    def _due(self) -> None:
        now = self._services.clock.now()
        for run in self._timers.due(now):
            self.wake(run)
        if (at := self._uptake.next_look) is not None and at <= now:
            self._uptake.next_look = None
            if self.accepting and not self._away:
                self._uptake.look()
        self._arm()

    def _next_alone(self) -> None:
        """Runs that died with the process at the same place before are driven one at a time."""
        if self._alone and self._lone is None:
            self._lone = next(iter(self._alone))
            del self._alone[self._lone]
            self.wake(self._lone)

    # --- stopping ---------------------------------------------------------------------------------

    async def stop(self, grace_s: float = 10.0) -> None:
        """Drain: take nothing new, abandon model calls and waits, give running verbs until
        ``grace_s`` seconds to end.
        """
        self.accepting = False
        if self._timer is not None:
            self._timer.cancel()
        if self._coming_back is not None:
            self._coming_back.cancel()
            await asyncio.gather(self._coming_back, return_exceptions=True)
        await asyncio.gather(*self.parking.clear(), return_exceptions=True)
        at_work = dict(self._active)
        for one in at_work.values():
            if one.live is None or not one.live.in_verb:
                one.task.cancel()
        if tasks := [one.task for one in at_work.values()]:
            for one in at_work.values():
                if one.live is not None:
                    one.live.stop_after_verb()
            _, late = await asyncio.wait(tasks, timeout=grace_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, *self._uptake.tasks, return_exceptions=True)
            with suppress(OrdainError):  # whoever lost the lease is not at work
                await self._leases.release(self._lease)
                await self._heart.beat(last=True)

    async def sweep(self) -> dict[str, int]:
        """Erase what policy keeps no longer, and more (``runtime.upkeep.swept``)."""
        return await swept(
            self._services.upkeep,
            self._services.catalogs.current.policy,
            self._services.clock.now(),
        )
