"""A wait for an approver: its row, what mail and other ends make of it, and when a template's change closes it."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.approvals import Subject, Tier
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked, Wait, WaitFor
from ordain.effects.results import Abandoned, AnyResult, Approved, Expired, NotApproved, Resubmitted
from ordain.errors import FlowFault
from ordain.journal.digests import approval_digest, approval_id
from ordain.journal.records import ENCODER
from ordain.rules.approve import ApprovalState
from ordain.runtime.approval_wait import ApprovalMail, asking, closing, heard
from ordain.runtime.asking_run import wait_at
from tests.unit.runtime.office import Office, post

CALL = Call(verb="post.out", args={"to": "x@example.org", "text": "hello"})


def mail(state: ApprovalState, **more: Any) -> bytes:
    return ENCODER.encode(ApprovalMail(state=state, by="local:ben", why="so", **more))


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (mail(ApprovalState.APPROVED), Approved(approval="a", by="local:ben", why="so")),
        (mail(ApprovalState.DENIED), NotApproved(approval="a", by="local:ben", why="so")),
        (mail(ApprovalState.SUPERSEDED, call=CALL), Resubmitted(approval="a", by="local:ben", why="so", call=CALL)),
        (mail(ApprovalState.SUPERSEDED), NotApproved(approval="a", by="local:ben", why="so")),
        (mail(ApprovalState.WITHDRAWN), Expired(why="so")),
    ],
)
def test_an_approvers_mail_is_what_it_says(body: bytes, result: AnyResult) -> None:
    """Only an approval is a yes; what is neither a yes nor another call is a no, and what was withdrawn is over, with why."""
    assert heard("a", body) == result


@pytest.mark.parametrize(
    ("result", "state"),
    [
        (Approved(approval="a", by="x"), None),
        (NotApproved(approval="a", by="x"), None),
        (Resubmitted(approval="a", by="x", call=CALL), None),
        (Expired(), ApprovalState.EXPIRED),
        (Abandoned(), ApprovalState.WITHDRAWN),
    ],
)
async def test_a_wait_that_nobody_ended_closes_its_row(result: AnyResult, state: ApprovalState | None) -> None:
    """What an approver decided is written with that; the rest with the wait's end."""
    with Office() as office:
        view = await office.asked(post())
        closed = closing(office.stored(view.row.run), view.row.addr, result, 7)
        assert [(one.id, one.state, one.by) for one in closed] == ([] if state is None else [(view.row.id, state, "")])  # type: ignore[union-attr]


async def test_a_row_is_known_by_its_run_effect_and_exact_content() -> None:
    """Its id by where it stands, its digest by what is asked under the run's key; found again in the intent it is the same."""
    with Office() as office:
        view = await office.asked(post())
        stored = office.stored(view.row.run)
        wait = wait_at(stored, view.row.addr)
        assert wait is not None
        assert wait.approval == view.asked
        assert stored.key is not None
        assert view.asked is not None
        row = asking(stored, view.row.addr, wait, 1, 2)
        assert (row.id, row.digest) == (view.row.id, view.row.digest)
        assert row.id == approval_id(stored.id, view.row.addr)
        assert row.digest == approval_digest(stored.key, row.id, view.asked)
        assert wait_at(stored, view.row.addr + 1) is None


@pytest.mark.parametrize("changed", [{"calls": ()}, {"subject": Subject.PLAN}, {"detail": {"a": 1}}])
def test_whatever_is_asked_otherwise_has_another_digest(changed: dict[str, Any]) -> None:
    """Calls, subject and detail; the tier follows from the calls. So has the very same of another wait."""
    given: dict[str, Any] = {"subject": Subject.CALL, "calls": (CALL,), "tier": Tier.WRITE, "detail": {}}
    first = approval_digest(b"k" * 32, "a" * 32, ApprovalAsked(**given))
    assert first != approval_digest(b"k" * 32, "a" * 32, ApprovalAsked(**{**given, **changed}))
    assert first != approval_digest(b"k" * 32, "b" * 32, ApprovalAsked(**given))


async def test_a_wait_that_asks_nobody_is_no_approval() -> None:
    """It has no row."""
    with Office() as office:
        view = await office.asked(post())
        with pytest.raises(FlowFault):
            asking(office.stored(view.row.run), 0, Wait(what=WaitFor.ANSWER, about="x", deadline=1), 1, 2)
