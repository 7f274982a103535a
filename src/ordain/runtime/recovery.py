"""Recovery: how carefully a run is taken up that another engine held before.

A run that its engine died with twice at the same record is a suspect: many may have been at work,
and nothing is proven. Suspects are driven one at a time, and when the engine has died twice more on
the one it is quarantined: visible, and resumable by an operator. Whoever kills the process from
outside looks the same from here, and meets the same run twice in the same place far more seldom. At
first every run that is taken from an engine that died is counted, whatever its status: a run may
kill the process before its first commit. Suspects that wait for their turn are put back to
``ready`` and not counted, so that none pays for another (``ports.leases.deaths``).
"""

from __future__ import annotations

from enum import Enum

from ordain.errors import JournalCorrupt
from ordain.journal.records import Status
from ordain.ports.leases import QUARANTINE, SUSPECT, Held
from ordain.ports.store import Append
from ordain.runtime.drive import stop_unit
from ordain.runtime.services import Services


class TakenUp(Enum):
    """How a run is taken up."""

    DRIVEN = "driven"
    ALONE = "alone"
    SET_ASIDE = "set aside"


async def taken_up(services: Services, held: Held) -> TakenUp:
    """Say how, and write what that takes."""
    run = held.run
    resumes, running = (
        (0, False)
        if isinstance(run, JournalCorrupt)
        else (run.resumes, run.status is Status.RUNNING)
    )
    if isinstance(run, JournalCorrupt) or resumes < SUSPECT:
        return TakenUp.DRIVEN
    if running and resumes >= QUARANTINE:
        await services.store.submit(
            await stop_unit(services, held, Status.QUARANTINED, "quarantined")
        )
        return TakenUp.SET_ASIDE
    if running:
        await services.store.submit(Append(run=held.id, epoch=held.epoch, status=Status.READY))
    return TakenUp.ALONE
