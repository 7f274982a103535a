"""The end of a run: who was told before it that the run is to stop has that on record."""

from __future__ import annotations

import pytest
from msgspec import structs

from ordain.effects.effect import Say
from ordain.flows.context import FlowContext
from ordain.journal.records import EndedBody, RecordKind, Status
from ordain.ports.store import Append, Outcome
from ordain.ports.writes import ERASED_MAIL
from ordain.runtime.mailbox import Mailbox
from ordain.testing import kind_of
from tests.unit.runtime.house import House
from tests.unit.runtime.waiting import kinds, replays, result


async def _speaks(context: FlowContext, text: str) -> str:
    await context.fx.perform(Say(text=text))
    return text


async def _returns(context: FlowContext, text: str) -> str:
    return text


SPEAKS, RETURNS = (kind_of(flow, charged=False) for flow in (_speaks, _returns))


@pytest.mark.parametrize("asked", [1, 2])
async def test_a_stop_that_was_faster_than_the_end_is_on_record(
    asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing left to stop: the run ends as it would have, and its journal and its header
    say who asked for it.
    """
    with House(SPEAKS) as house:
        run = await house.open(SPEAKS, "done")
        submit, users = house.store.submit, [f"user:{name}" for name in ("ada", "bob")[:asked]]
        left = list(users)

        async def late(unit: Append) -> Outcome:
            if left and unit.status is Status.COMPLETED:
                monkeypatch.setattr(house.store, "submit", submit)
                await house.interrupt(run, by=left.pop(0))
                monkeypatch.setattr(house.store, "submit", late)
            return await submit(unit)

        monkeypatch.setattr(house.store, "submit", late)
        assert (await house.drive(run)).status is Status.COMPLETED
        names = kinds(house, run)
        assert names[-1 - asked :] == ["note cancel"] * asked + ["ended completed"]
        assert [note.by for note in house.bodies(run, RecordKind.NOTE)] == users
        assert not house.store.untaken(run)
        (ended,) = house.bodies(run, RecordKind.ENDED)
        assert isinstance(ended, EndedBody)
        assert all(f"cancel by {user}" in ended.header for user in users)
        assert result(house, run) == "done"
        assert replays(house, run)


async def test_a_stop_that_cannot_be_read_keeps_no_run_from_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its words were erased, and nobody can say who asked; the flow has no effect that it could
    take the place of.
    """

    async def erased(mailbox: Mailbox) -> None:
        mailbox.interrupts = [structs.replace(one, body=ERASED_MAIL) for one in mailbox.interrupts]

    monkeypatch.setattr(Mailbox, "look", erased)
    with House(RETURNS) as house:
        run = await house.open(RETURNS, "done")
        await house.interrupt(run)
        assert (await house.drive(run)).status is Status.COMPLETED
        assert kinds(house, run)[1:] == ["ended completed"]
