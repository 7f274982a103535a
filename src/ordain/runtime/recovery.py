"""Recovery: what a new engine finds unfinished, and how carefully it takes it up.

A run that the process died on twice at the same record is a suspect and is driven alone; at the third such death it is
quarantined: visible, and resumable by an operator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ordain.journal.records import Status
from ordain.ports.store import Append, Operation
from ordain.runtime.services import Services

SUSPECT = 2
QUARANTINE = 3


@dataclass(slots=True)
class RecoveryPlan:
    """Runs to wake at once, to wake one at a time, and timers (microseconds)."""

    wake: list[str] = field(default_factory=list[str])
    alone: list[str] = field(default_factory=list[str])
    timers: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


class Recovery:
    """Takes stock at start."""

    def __init__(self, services: Services) -> None:
        """Reads through the store's port."""
        self._services = services

    async def plan(self) -> RecoveryPlan:
        """Count this start for every run that was being driven, and sort the runs."""
        store, plan = self._services.store, RecoveryPlan()
        pending = store.pending()
        driven = [run.id for run in pending if run.status is Status.RUNNING]
        if driven:
            await store.submit(Operation(name="resumed", args={"runs": driven}))
        for run in store.pending() if driven else pending:
            if run.status is Status.RUNNING:
                if run.resumes >= QUARANTINE:
                    await store.submit(Append(run=run.id, records=(), status=Status.QUARANTINED, reason="quarantined"))
                elif run.resumes >= SUSPECT:
                    plan.alone.append(run.id)
                else:
                    plan.wake.append(run.id)
            elif run.status is Status.READY or run.mail:
                plan.wake.append(run.id)
            elif run.wake_at is not None:
                plan.timers.append((run.id, run.wake_at))
        return plan
