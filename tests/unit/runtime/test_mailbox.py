"""A run's mailbox: what an engine that lost a run still saw of its calls is taken by whoever drives
the run after it, where it came in time.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ordain import verb
from ordain.effects.calls import Call
from ordain.errors import RunLost, StorageUnavailable
from ordain.flows.act import act
from ordain.flows.context import FlowContext
from ordain.journal.records import RecordKind, Status
from ordain.ports.leases import Lease
from ordain.ports.store import Append, Arrive
from ordain.ports.writes import MailKind
from ordain.runtime import pen as pen_module
from ordain.runtime.drive import Drive, Driven
from ordain.store.leases import SqliteLeases
from ordain.testing import kind_of
from tests.replayed import replayed
from tests.unit.runtime.house import House, bodies


class Gate:
    """Where a call stands until it is let through; ``calls`` counts them."""

    def __init__(self) -> None:
        self.entered, self.open, self.calls = asyncio.Event(), asyncio.Event(), 0


GATES: list[Gate] = []


@verb(name="shelf.put", effect="private", timeout_ms=60_000)
async def put() -> str:
    """Put a book on the shelf, which nobody can see afterwards."""
    gate = GATES[-1]
    gate.calls += 1
    gate.entered.set()
    await gate.open.wait()
    return "done"


async def _puts(context: FlowContext, _: Any) -> str:
    return type((await act(context, Call(verb="shelf.put", args={}))).result).__name__


KIND = kind_of(_puts, verbs=("shelf.put",))


async def begun(house: House) -> tuple[str, asyncio.Task[Driven]]:
    """A run in the midst of its call."""
    GATES.append(Gate())
    run = await house.open(KIND)
    first = asyncio.create_task(house.drive(run))
    await GATES[-1].entered.wait()
    return run, first


async def taken_by_another(house: House, run: str) -> None:
    (held,) = await SqliteLeases(house.store, house.clock.now).hold(
        Lease(engine=2), limit=1, flows=None, only=(run,)
    )
    assert held.id == run


async def lost(first: asyncio.Task[Driven]) -> None:
    """The first engine's call comes back, and it cannot write that."""
    GATES[-1].open.set()
    with pytest.raises(RunLost):
        await first


async def test_what_came_back_to_an_engine_that_lost_its_run_is_known() -> None:
    """The call is not made again, nobody says that its outcome is unknown, and the record
    replays.
    """
    with House(KIND, verbs=(put,)) as house:
        run, first = await begun(house)
        await taken_by_another(house, run)
        await lost(first)
        assert [(mail.kind, mail.key) for mail in house.store.untaken(run)] == [
            (MailKind.LATE, "late:0:0")
        ]
        assert (await house.drive(run)).status is Status.COMPLETED
        stored = house.stored(run)
        assert GATES[-1].calls == 1
        assert bytes(bodies(stored, RecordKind.ENDED)[0].result) == b'"VerbReturned"'
        assert house.store.untaken(run) == []
        assert replayed(house.services, stored).equal


async def test_what_came_back_is_told_once_storage_is_there_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two troubles at once: the run is another's, and nothing can be written for a while. What
    became of the call is not lost by that.
    """
    monkeypatch.setattr(pen_module, "STORAGE_RETRY_S", 0.001)
    with House(KIND, verbs=(put,)) as house:
        run, first = await begun(house)
        await taken_by_another(house, run)
        submit, away = house.store.submit, [StorageUnavailable("away")] * 3

        async def unavailable(unit: Any) -> Any:
            if isinstance(unit, Arrive) and away:
                raise away.pop()
            return await submit(unit)

        house.store.submit = unavailable  # type: ignore[method-assign] - storage that stays away for a while
        await lost(first)
        assert ([mail.key for mail in house.store.untaken(run)], away) == (["late:0:0"], [])


async def test_what_comes_when_all_is_said_changes_nothing() -> None:
    """Whoever drives the run has recorded that nobody knows: that stands, and a settled run takes
    no mail.
    """
    with House(KIND, verbs=(put,)) as house:
        run, first = await begun(house)
        await taken_by_another(house, run)
        assert (await house.drive(run)).status is Status.COMPLETED
        before = house.stored(run)
        assert bytes(bodies(before, RecordKind.ENDED)[0].result) == b'"VerbUnknown"'
        await lost(first)
        assert house.stored(run) == before
        assert house.store.untaken(run) == []


async def test_of_a_call_that_was_given_up_before_it_began_nothing_is_told() -> None:
    """An interrupt came while its intent was written, and then the run was another engine's: that
    one finds the interrupt, and no word of a call.
    """
    with House(KIND, verbs=(put,)) as house:
        GATES.append(Gate())
        run = await house.open(KIND)
        drive, submit = Drive(house.services, house.held(run)), house.store.submit

        async def told_late(unit: Append) -> Any:
            outcome = await submit(unit)
            await house.interrupt(run)
            drive.heard()
            await asyncio.sleep(0)
            await taken_by_another(house, run)
            return outcome

        def meanwhile(unit: Any) -> Any:
            announces = isinstance(unit, Append) and unit.records[-1].kind is RecordKind.INTENT
            return asyncio.ensure_future(told_late(unit)) if announces else submit(unit)

        house.store.submit = meanwhile  # type: ignore[method-assign] - something comes in between
        with pytest.raises(RunLost):
            await drive.to_rest()
        assert GATES[-1].calls == 0
        assert [mail.kind for mail in house.store.untaken(run)] == [MailKind.INTERRUPT]


async def test_mail_is_looked_for_beside_the_run() -> None:
    """Once for any number of hints that come meanwhile, and again for one that comes during a
    look.
    """
    with House(KIND, verbs=(put,)) as house:
        run, first = await begun(house)
        looks = 0
        mail = house.store.mail

        async def counted(asked: str) -> Any:
            nonlocal looks
            looks += 1
            await asyncio.sleep(0)
            return await mail(asked)

        house.store.mail = counted  # type: ignore[method-assign] - it counts
        drive = Drive(house.services, house.held(run))
        other = asyncio.create_task(drive.to_rest())
        for _ in range(5):
            await asyncio.sleep(0)
        assert drive.live is not None
        before = looks  # whether the call that was cut off may be made again
        for _ in range(3):
            drive.heard()
        await asyncio.sleep(0)
        drive.heard()
        for _ in range(5):
            await asyncio.sleep(0)
        assert looks - before == 2
        other.cancel()
        GATES[-1].open.set()
        await asyncio.gather(first, other, return_exceptions=True)
