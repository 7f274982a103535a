"""Recovery: what a new engine finds unfinished, and how carefully it takes it up.

A run that the process died on twice at the same record is a suspect and is driven alone; at the third such death it is
quarantined: visible, and resumable by an operator. Every run that a start takes up is counted, whatever its status: a run may
kill the process before its first commit. Only one that was being driven (``running``) is quarantined; suspects that wait for
their turn are put back to ``ready``, so that none pays for another.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ordain.journal.records import Status
from ordain.ports.store import Append, Operation, UnsettledRun
from ordain.runtime.drive import stop_unit
from ordain.runtime.services import Services

SUSPECT = 2
QUARANTINE = 3


@dataclass(slots=True)
class RecoveryPlan:
    """Runs to wake at once, to wake one at a time, with the epoch in which they are held, and timers (microseconds)."""

    wake: list[str] = field(default_factory=list[str])
    alone: dict[str, int] = field(default_factory=dict[str, int])
    timers: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


class Recovery:
    """Takes stock at start."""

    def __init__(self, services: Services) -> None:
        """Reads through the store's port."""
        self._services = services

    async def plan(self) -> RecoveryPlan:
        """Take hold of every run, count this start for those that it takes up, and sort them."""
        store, plan, now = self._services.store, RecoveryPlan(), self._services.clock.now()
        await store.submit(Operation(name="hold", args={}))
        pending = store.pending()
        taken_up = {run.id for run in pending if _due(run, now)}
        if taken_up:
            await store.submit(Operation(name="resumed", args={"runs": sorted(taken_up)}))
        for run in store.pending():
            if run.id in taken_up and run.resumes >= QUARANTINE and run.status is Status.RUNNING:
                await store.submit(stop_unit(self._services, run.id, Status.QUARANTINED, "quarantined"))
        for run in store.pending():  # again: what was set aside may have let the next turn of its thread begin
            if run.id not in taken_up and not _due(run, now):
                if run.wake_at is not None:
                    plan.timers.append((run.id, run.wake_at))
            elif run.resumes < SUSPECT:
                plan.wake.append(run.id)
            else:
                plan.alone[run.id] = run.epoch
                if run.status is Status.RUNNING:
                    await store.submit(Append(run=run.id, epoch=run.epoch, status=Status.READY))
        return plan


def _due(run: UnsettledRun, now: int) -> bool:
    """Whether there is something to do for the run now, as far as can be seen without driving it."""
    return run.status is not Status.WAITING or run.mail or (run.wake_at is not None and run.wake_at <= now)
