"""An operator's answer is mail for a wait, and never an approver's word."""

from __future__ import annotations

import pytest

from ordain.errors import Conflict
from ordain.journal.records import IntentBody, RecordKind
from ordain.rules.approve import ApprovalState
from ordain.runtime.answers import answered
from ordain.runtime.mail import AnswerBody
from tests.unit.runtime.office import Office, post


@pytest.mark.parametrize("value", [True, "yes", {"approve": True}])
async def test_no_answer_is_a_yes(value: object) -> None:
    """Whatever it says, it is refused, nothing is sent, and the approval stays open."""
    with Office() as office:
        view = await office.asked(post())
        stored = office.stored(view.row.run)
        with pytest.raises(Conflict) as refused:
            await answered(
                office.services, stored, view.row.addr, AnswerBody(value=value, by="local:ben")
            )
        assert refused.value.code == "approval_required"
        await office.answer(stored.id, view.row.addr, value)  # by whatever way it got there
        await office.drive(stored.id)
        assert office.did == []
        assert await office.state(view) is ApprovalState.OPEN


async def test_other_effects_are_answered_as_before() -> None:
    """What is no wait for an approver gets its mail."""
    with Office() as office:
        view = await office.asked(post())
        stored = office.stored(view.row.run)
        assert (
            await answered(
                office.services, stored, view.row.addr + 1, AnswerBody(value="x", by="local:ben")
            )
            == "sent"
        )
        assert [
            body.addr
            for body in office.bodies(stored.id, RecordKind.INTENT)
            if isinstance(body, IntentBody)
        ] == [view.row.addr]
