"""Recovery: how carefully a run is taken up that another engine held before.

A run that its engine died with twice at the same record is a suspect: many may have been at work,
and nothing is proven. Suspects are driven one at a time, and when the engine has died twice more on
the one it is quarantined: visible, and resumable by an operator. Whoever kills the process from
outside looks the same from here, and meets the same run twice in the same place far more seldom. At
first every run that is taken from an engine that died is counted, whatever its status: a run may
kill the process before its first commit. Suspects that wait for their turn are put back to
``ready`` and not counted, so that none pays for another (``ports.leases.deaths``).

A stop is told to all runs below in one commit. Builds before told them one after the other: what
was at work there when such a process ended is told first, and begins nothing more
(``interrupted_above``).
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum

from msgspec import structs

from ordain.errors import JournalCorrupt
from ordain.journal.records import SETTLED, RecordKind, Status
from ordain.ports.leases import QUARANTINE, SUSPECT, Held
from ordain.ports.store import Append, StoredRun, load_run
from ordain.ports.writes import MailKind, interrupt_of
from ordain.runtime.drive import stop_unit
from ordain.runtime.mail import posted
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


async def interrupted_above(services: Services, held: Held) -> Held:
    """The run with the interrupt that its parent is about to send it, where that, or a run above
    that, is being stopped; itself where none is.
    """
    run = held.run
    if isinstance(run, JournalCorrupt) or run.parent is None or run.status in SETTLED:
        return held
    if not await _is_stopped_above(services, run):
        return held
    mail = interrupt_of(run.parent, run.parent_addr, run.id, services.clock.now())
    await services.store.submit(posted(run.workspace, mail))
    return structs.replace(held, mail=tuple(await services.store.mail(run.id)))


async def _is_stopped_above(services: Services, run: StoredRun) -> bool:
    above: StoredRun | None = run
    with suppress(JournalCorrupt):  # what cannot be read stops nobody
        while above is not None and above.parent is not None:
            above = await load_run(services.store, above.parent)
            if above is not None and await _is_being_stopped(services, above):
                return True
    return False


async def _is_being_stopped(services: Services, run: StoredRun) -> bool:
    """Whether an interrupt lies there that its flow has not been told: it is told last, when all
    below it have ended.
    """
    if run.status in SETTLED or any(one.kind is RecordKind.DELIVERED for one in run.records):
        return False
    return any(one.kind is MailKind.INTERRUPT for one in await services.store.mail(run.id))
