"""Waits for an approver as a driver carries them: one commit, one row, and what ends them."""

from __future__ import annotations

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.journal.records import RecordKind, Status
from ordain.rules.authorize import AuthorizeReason
from tests.unit.runtime.house import HOUR, SECOND
from tests.unit.runtime.office import CALLS, Office, post


async def test_intent_and_row_are_one() -> None:
    """Whoever finds the intent durable finds the approval, open until the run's own end at the
    latest.
    """
    with Office() as office:
        view = await office.asked(post(), lasts=HOUR)
        assert len(office.bodies(view.row.run, RecordKind.INTENT)) == 1
        assert view.asked is not None
        assert (view.row.state, view.row.expires_at) == ("open", view.row.asked_at + HOUR)
        assert view.row.tier == view.asked.tier == "write"


async def test_waiting_costs_nothing_and_survives_its_process() -> None:
    """Driven again and again nothing is written twice, and the yes that came meanwhile counts."""
    with Office() as office:
        view = await office.asked(post())
        before = office.stored(view.row.run).records
        for _ in range(3):
            await office.drive(view.row.run)
        intents = [
            record
            for record in office.stored(view.row.run).records
            if record.kind is RecordKind.INTENT
        ]
        assert intents == [record for record in before if record.kind is RecordKind.INTENT]
        assert len(await office.desk.listed(DEFAULT_WORKSPACE, states=())) == 1
        office.clock.pass_s(60)
        assert await office.decide(view) == ""
        assert len(office.did) == 1


async def test_nobody_is_asked_for_what_may_not_be_done_any_more() -> None:
    """A verb that is switched off when the run gets there is refused, and there is no approval."""
    with Office() as office:
        run = await office.open(CALLS, [post()])
        office.use_policy({"verbs": {"default": {"deny": ["post.*"]}}})
        await office.drive(run)
        assert office.came_to(run) == [AuthorizeReason.APPROVAL_WITHDRAWN.value]
        assert await office.desk.listed(DEFAULT_WORKSPACE, states=()) == []


async def test_time_stands_still_for_people() -> None:
    """What the run waited for an approver is none of what it may take otherwise: the next approval
    stays open for as long.
    """
    with Office() as office:
        view = await office.asked(post("a"), post("b"), lasts=HOUR)
        office.clock.pass_s(1800)
        assert await office.decide(view) == ""
        (again,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert (
            again.row.asked_at - view.row.asked_at,
            again.row.expires_at - again.row.asked_at,
        ) == (1800 * SECOND, HOUR)


async def test_an_answer_that_came_before_is_passed_over_on_record() -> None:
    """It lies where the run comes to wait for an approver: the run notes who sent it, and waits."""
    with Office() as office:
        run = await office.open(CALLS, [post()])
        for addr in range(4):
            await office.answer(run, addr, {"approve": True}, by="local:eve")
        await office.drive(run)
        (note,) = office.bodies(run, RecordKind.NOTE)
        assert (office.stored(run).status, note.by, note.action) == (
            Status.WAITING,
            "local:eve",
            "answer",
        )
        assert office.did == []
