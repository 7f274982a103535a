"""Calls that a process left behind when it died: they stand in their run's journal, and nothing
says how they ended. Where the run is taken up again rule ``recover`` decides; until then, and where
it never is, nobody knows.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ordain.effects.results import VerbUnknown
from ordain.journal.records import ObservationBody, RecordKind, raw
from ordain.ports.store import StoredRun
from ordain.runtime.asking_run import cut_off_call
from ordain.runtime.doubted_calls import DIED
from ordain.runtime.pen import Pen
from ordain.runtime.services import Services


@contextmanager
def working(services: Services, run: StoredRun) -> Generator[None]:
    """While it lasts a run's calls are under way here, and none of them was cut off: but of a run
    that was taken up in the midst of one, whose calls count as cut off until it rests again.
    """
    if cut_off_call(run.records) is None:
        services.headers.at_work.add(run.id)
    try:
        yield
    finally:
        services.headers.at_work.discard(run.id)


def book_cut_off(closed: Pen) -> None:
    """Record of a run that is settled without its flow that nobody knows how its last call ended,
    where that was cut off: its header says so, and a person may find out.
    """
    addr = cut_off_call(closed.records)
    if addr is not None:
        unknown = ObservationBody(addr=addr, result=raw(VerbUnknown(message=DIED)))
        closed.write(RecordKind.OBSERVATION, "verb_call", unknown)
