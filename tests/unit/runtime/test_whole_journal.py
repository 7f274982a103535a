"""A stored run is held to its own row: how many records it has, and how it ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from ordain.effects.effect import Say, Wait, WaitFor
from ordain.errors import JournalCorrupt
from ordain.flows.context import FlowContext
from ordain.journal.codec import Scribe
from ordain.journal.records import FaultedBody, NoteBody, RecordKind, Status
from ordain.ports.store import StoredRun
from ordain.rules.header import render_header
from ordain.runtime.replay import replay
from ordain.runtime.whole_journal import check_end, check_whole
from ordain.testing import kind_of
from tests.shapes.stored_journal import journal_of
from tests.unit.runtime.house import SECOND, House


async def _says(context: FlowContext, given: Any) -> str:
    for number in range(5):
        await context.fx.perform(Say(text=str(number)))
    return "said"


async def _waits(context: FlowContext, given: Any) -> str:
    await context.fx.perform(Say(text="before"))
    await context.fx.perform(Wait(what=WaitFor.ANSWER, about="x", deadline=context.now() + SECOND))
    return "waited"


async def _breaks(context: FlowContext, given: Any) -> str:
    raise ValueError("broken")


SAYS = kind_of(_says)
WAITS, BREAKS = replace(kind_of(_waits), name="waits"), replace(kind_of(_breaks), name="breaks")
CHANGE = msgspec.structs.replace


def with_record(stored: StoredRun, kind: RecordKind, name: str, body: Any) -> StoredRun:
    """The run with one more record, as its row counts it."""
    record = Scribe(stored.id, stored.key or b"", stored.records[-1]).write(
        kind, name, body, stored.records[-1].at
    )
    return CHANGE(stored, records=(*stored.records, record), head=record.seq)


def refused_at(stored: StoredRun) -> object:
    with pytest.raises(JournalCorrupt) as refused:
        check_end(stored)
    return refused.value.details["seq"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [(SAYS, Status.COMPLETED), (WAITS, Status.WAITING), (BREAKS, Status.FAULTED)],
    ids=["says", "waits", "breaks"],
)
async def test_what_a_drive_leaves_is_whole(kind: Any, status: Status) -> None:
    """However a run was left, its row and its journal agree; a note after it changes nothing."""
    with House(SAYS, WAITS, BREAKS) as house:
        stored = await house.played(kind)
        assert (stored.status, stored.head) == (status, len(stored.records) - 1)
        check_whole(stored)
        check_whole(
            with_record(stored, RecordKind.NOTE, "erase", NoteBody(by="x", action="erase", why="x"))
        )


@pytest.mark.parametrize("kind", [SAYS, WAITS, BREAKS], ids=["says", "waits", "breaks"])
async def test_no_end_can_be_cut_off(kind: Any) -> None:
    """However many records are gone, the first that is missing is named, and replay does not call
    the rest equal.
    """
    with House(SAYS, WAITS, BREAKS) as house:
        stored = await house.played(kind)
        for length in range(1, len(stored.records)):
            cut = CHANGE(stored, records=stored.records[:length])
            assert refused_at(cut) == length
            report = replay(cut, house.catalog, house.kinds)
            assert (report.verdict, report.differences[0].place) == ("journal_corrupt", str(length))
        assert refused_at(CHANGE(stored, head=len(stored.records) - 2)) == len(stored.records) - 1


async def test_a_shorter_journal_that_its_row_agrees_with_has_no_end() -> None:
    """Who cuts the row's count as well cannot say how the run ended; whether it was left there
    nobody can see.
    """
    with House(SAYS) as house:
        stored = await house.played(SAYS)
        cut = CHANGE(stored, records=stored.records[:-3], head=len(stored.records) - 4)
        assert refused_at(cut) == len(stored.records) - 4
        check_end(CHANGE(cut, status=Status.RUNNING))


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.COMPLETED])
async def test_an_end_is_the_rows_status(status: Status) -> None:
    """No other status or reason stands over a run that has ended; erased, its name still says
    how.
    """
    with House(SAYS) as house:
        stored = await house.played(SAYS)
        bare = tuple(CHANGE(record, body=None) for record in stored.records)
        for one in (stored, CHANGE(stored, key=None, records=bare)):
            check_whole(one)
            assert refused_at(CHANGE(one, status=status)) == stored.head
        assert refused_at(CHANGE(stored, reason="another")) == stored.head
        assert (
            replay(CHANGE(stored, status=status), house.catalog, house.kinds).verdict
            == "journal_corrupt"
        )


async def test_a_fault_is_the_last_word_of_a_run_that_stopped() -> None:
    """A row that says `faulted` has that record, and after it no run is at work that nobody
    resumed.
    """
    with House(WAITS, BREAKS) as house:
        broken, waiting = await house.played(BREAKS), await house.played(WAITS)
        for status in (Status.DIVERGED, Status.QUARANTINED, Status.FLOW_UNAVAILABLE):
            check_end(CHANGE(broken, status=status))
            check_end(CHANGE(waiting, status=status))
        for status in (Status.RUNNING, Status.READY, Status.WAITING, Status.COMPLETED):
            assert refused_at(CHANGE(broken, status=status)) == broken.head
        assert refused_at(CHANGE(waiting, status=Status.FAULTED)) == waiting.head
        check_end(
            CHANGE(
                with_record(
                    waiting, RecordKind.FAULTED, "fault", FaultedBody(error="X", where="y")
                ),
                status=Status.FAULTED,
            )
        )


async def test_a_journal_without_a_row_is_held_to_none() -> None:
    """A journal that was kept by itself has nothing that says how long it is."""
    with House(SAYS) as house:
        stored = await house.played(SAYS)
        check_end(CHANGE(stored, records=stored.records[:2], head=None))


async def test_a_cut_run_is_not_driven_and_its_header_says_so() -> None:
    """What is left of it is not gone on from, and who looks is told that it is not all."""
    with House(WAITS) as house:
        stored = await house.played(WAITS)
        journal_of(house.store._db).execute("DELETE FROM journal WHERE seq >= 2")
        driven = await house.drive(stored.id)
        now = house.store.stored(stored.id)
        assert (driven.status, now.status, now.reason) == (
            Status.DIVERGED,
            Status.DIVERGED,
            "journal_corrupt",
        )
        assert len(now.records) == 2
        assert "whose records cannot be read" in render_header(house.services.headers.own(now))
