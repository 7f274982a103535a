"""The writing half of a driven run: one unit for each barrier, everything in it, and offered until
storage takes it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordain.errors import StorageUnavailable
from ordain.flows.context import FlowContext
from ordain.journal.lost_time import Pause
from ordain.journal.records import ENCODER, NoteBody, RecordKind, Status
from ordain.ports.sessions import EntryKind, NewEntry, ThreadChange
from ordain.ports.store import Append, Mail, Outcome, Unit
from ordain.ports.writes import MailKind, NewMail, OutboxRow, Refund, TakenMail
from ordain.runtime import pen as pen_module
from ordain.runtime.opening import root_run
from ordain.runtime.pen import Pen
from ordain.testing import kind_of
from tests.unit.runtime.house import BEGAN, SECOND, House


async def _nothing(context: FlowContext, given: Any) -> None:
    return None


KIND = kind_of(_nothing)


class Offered:
    """The submitting part of ``JournalStore``: it is away so many times, and refuses what it is
    told to.
    """

    def __init__(self, away: int = 0, refuses: str = "") -> None:
        self.away, self.refuses = away, refuses
        self.units: list[Unit] = []

    async def submit(self, unit: Unit) -> Outcome:
        self.units.append(unit)
        if self.away:
            self.away -= 1
            raise StorageUnavailable("storage is full")
        return Outcome(refused=self.refuses)


async def pen(house: House, store: Any) -> Pen:
    """Of a run that is ready; what it offers goes to ``store``."""
    run = await house.open(KIND)
    house.services.store = store
    return Pen(house.services, house.stored(run))


def note(writing: Pen, why: str) -> None:
    writing.write(RecordKind.NOTE, "note", NoteBody(by="x", action="note", why=why))


async def test_everything_since_the_last_barrier_is_one_unit() -> None:
    """Whole, in order, and once: the next unit begins empty."""
    store = Offered()
    with House(KIND) as house:
        writing = await pen(house, store)
        mail = NewMail(run="r", kind=MailKind.CHILD, key="k", body=b"{}", at=1)
        taken = Mail(id=4, kind=MailKind.ANSWER, key="k", addr=0, body=b"{}", at=1)
        entry = NewEntry(kind=EntryKind.SAID, body=b"{}", size=2, at=1, message_id="m")
        say, refund, change = (
            OutboxRow(addr=0, text="x", at=1),
            Refund(account="day", tokens=1, usd_micros=0),
            ThreadChange(id=1),
        )
        child = root_run(KIND, house.opening(None), house.catalog)
        note(writing, "a")
        note(writing, "b")
        writing.beside(mail, child)
        writing.beside(say, refund, entry, change)
        writing.take(taken, 2)
        assert writing.unwritten == 2
        await writing.barrier()
        (unit,) = store.units
        assert isinstance(unit, Append)
        assert unit.records == tuple(writing.records[-2:])
        assert unit.writes == (mail, child, say, refund, entry, change, TakenMail(mail=4, seq=2))
        assert (unit.epoch, writing.unwritten) == (writing.stored.epoch, 0)
        assert ENCODER.encode(writing.unit()) == ENCODER.encode(
            Append(run=writing.id, epoch=writing.stored.epoch)
        )


async def test_a_barrier_with_nothing_before_it_costs_nothing() -> None:
    """Unless the run's status is to change."""
    store = Offered()
    with House(KIND) as house:
        writing = await pen(house, store)
        await writing.barrier()
        assert store.units == []
        await writing.barrier(status=Status.FAULTED, reason="faulted")
        (unit,) = store.units
        assert isinstance(unit, Append)
        assert (unit.status, unit.reason, unit.records) == (Status.FAULTED, "faulted", ())


async def test_storage_that_is_away_gets_the_same_unit_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However often: what was observed is lost only with the process."""
    monkeypatch.setattr(pen_module, "STORAGE_RETRY_S", 0.001)
    store = Offered(away=3)
    with House(KIND) as house:
        writing = await pen(house, store)
        note(writing, "a")
        await asyncio.wait_for(writing.barrier(), 30)
        assert len(store.units) == 4
        assert all(unit is store.units[0] for unit in store.units)


async def test_time_in_which_storage_takes_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the first refusal on, until it takes the unit; where it takes it at once nothing is."""
    monkeypatch.setattr(pen_module, "STORAGE_RETRY_S", 0.001)
    with House(KIND) as house:
        house.services.lost.begin(house.clock.now, None, ())

        class Filled(Offered):
            async def submit(self, unit: Unit) -> Outcome:
                house.clock.pass_s(10)
                return await super().submit(unit)

        writing = await pen(house, Filled(away=2))
        note(writing, "a")
        await asyncio.wait_for(writing.barrier(), 30)
        assert list(house.services.lost.since(0)) == [
            Pause(BEGAN + 10 * SECOND, BEGAN + 30 * SECOND)
        ]
        note(writing, "b")
        await asyncio.wait_for(writing.barrier(), 30)
        assert len(house.services.lost.since(0)) == 1


async def test_a_run_is_at_work_from_its_first_commit_on() -> None:
    """Said once; a unit that was refused did not say it."""
    store = Offered(refuses="mail")
    with House(KIND) as house:
        writing = await pen(house, store)
        note(writing, "a")
        assert await writing.offer(writing.unit()) is False
        store.refuses = ""
        for why in "bc":
            note(writing, why)
            assert await writing.offer(writing.unit()) is True
        assert [unit.status for unit in store.units if isinstance(unit, Append)] == [
            Status.RUNNING,
            Status.RUNNING,
            None,
        ]


async def test_what_the_pen_writes_a_store_takes() -> None:
    """Record after record, with its chain, and counted."""
    with House(KIND) as house:
        run = await house.open(KIND)
        writing = Pen(house.services, house.stored(run))
        for why in "abc":
            note(writing, why)
            await writing.barrier()
        assert house.stored(run).records == tuple(writing.records)
        assert house.services.counters.records == 3


async def test_a_settled_run_is_told_as_it_is_stored() -> None:
    """Whoever waited for it gets what the store would give, and no body is read otherwise than from
    its record.
    """
    with House(KIND) as house:
        run = await house.open(KIND)
        driven = await house.drive(run)
        assert driven.settled is not None
        assert driven.settled == house.stored(run)


async def test_a_record_that_is_taken_back_is_not_read_again() -> None:
    """What takes its place has a body of its own."""
    with House(KIND) as house:
        writing = await pen(house, Offered())
        note(writing, "kept")
        mark = writing.scribe.mark()
        note(writing, "taken back")
        writing.take_back(mark)
        written = writing.scribe.write(
            RecordKind.NOTE, "note", NoteBody(by="x", action="note", why="another"), 1
        )
        assert writing.read(written) == NoteBody(by="x", action="note", why="another")
        assert writing.read(writing.records[-1]) == NoteBody(by="x", action="note", why="kept")


async def test_a_large_body_is_not_held_twice() -> None:
    """It is read from its record, and says the same."""
    with House(KIND) as house:
        writing = await pen(house, Offered())
        for why in ("short", "long" * pen_module.KEPT_BODY_BYTES):
            note(writing, why)
            assert writing.read(writing.records[-1]) == NoteBody(by="x", action="note", why=why)
        short, long = writing.records[-2:]
        assert writing.read(short) is writing.read(short)
        assert writing.read(long) is not writing.read(long)
