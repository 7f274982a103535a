"""Recovery: how carefully a run is taken up that another engine held before.

A run that its engine died with twice at the same record is a suspect and is driven alone; at the third such death it is quarantined: visible, and resumable
by an operator. Every run that is taken from an engine that died is counted, whatever its status: a run may kill the process before its first commit. Only
one that was being driven (``running``) is quarantined; suspects that wait for their turn are put back to ``ready``, so that none pays for another.
"""

from __future__ import annotations

from enum import Enum

from ordain.errors import JournalCorrupt
from ordain.journal.records import Status
from ordain.ports.leases import Held
from ordain.ports.store import Append
from ordain.runtime.drive import stop_unit
from ordain.runtime.services import Services

SUSPECT = 2
QUARANTINE = 3


class TakenUp(Enum):
    """How a run is taken up."""

    DRIVEN = "driven"
    ALONE = "alone"
    SET_ASIDE = "set aside"


async def taken_up(services: Services, held: Held) -> TakenUp:
    """Say how, and write what that takes."""
    run = held.run
    resumes, running = (0, False) if isinstance(run, JournalCorrupt) else (run.resumes, run.status is Status.RUNNING)
    if isinstance(run, JournalCorrupt) or resumes < SUSPECT:
        return TakenUp.DRIVEN
    if running and resumes >= QUARANTINE:
        await services.store.submit(await stop_unit(services, held.id, Status.QUARANTINED, "quarantined"))
        return TakenUp.SET_ASIDE
    if running:
        await services.store.submit(Append(run=held.id, epoch=run.epoch, status=Status.READY))
    return TakenUp.ALONE
