"""A wait for an approver: its row, what mail and other ends make of it, and when a template's
change closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ordain.contracts.approvals import Subject, Tier
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.workflow import WorkflowTemplate
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked, Wait, WaitFor
from ordain.effects.results import (
    Abandoned,
    AnyResult,
    Approved,
    Expired,
    NotApproved,
    Resubmitted,
    withdrawn_wait,
)
from ordain.errors import FlowFault
from ordain.flows.workflow_run import WorkflowInput, WorkflowOutput
from ordain.journal.digests import approval_digest, approval_id
from ordain.journal.records import ENCODER, RecordKind
from ordain.rules.approve import ApprovalState
from ordain.runtime.approval_wait import ApprovalMail, asking, closing, heard
from ordain.runtime.asking_run import wait_at
from ordain.runtime.consent_policy import YES_OVER
from ordain.runtime.replay import replay
from tests.unit.runtime.office import WORKFLOWS, Office, post

CALL = Call(verb="post.out", args={"to": "x@example.org", "text": "hello"})


def mail(state: ApprovalState, **more: Any) -> bytes:
    return ENCODER.encode(ApprovalMail(state=state, by="local:ben", why="so", **more))


@pytest.mark.parametrize(
    ("body", "result"),
    [
        (mail(ApprovalState.APPROVED), Approved(approval="a", by="local:ben", why="so")),
        (mail(ApprovalState.DENIED), NotApproved(approval="a", by="local:ben", why="so")),
        (
            mail(ApprovalState.SUPERSEDED, call=CALL),
            Resubmitted(approval="a", by="local:ben", why="so", call=CALL),
        ),
        (mail(ApprovalState.SUPERSEDED), NotApproved(approval="a", by="local:ben", why="so")),
        (mail(ApprovalState.WITHDRAWN), withdrawn_wait("so")),
    ],
)
def test_an_approvers_mail_is_what_it_says(body: bytes, result: AnyResult) -> None:
    """Only an approval is a yes; what is neither a yes nor another call is a no, and what was
    withdrawn is over, with why.
    """
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
async def test_a_wait_that_nobody_ended_closes_its_row(
    result: AnyResult, state: ApprovalState | None
) -> None:
    """What an approver decided is written with that; the rest with the wait's end."""
    with Office() as office:
        view = await office.asked(post())
        closed = closing(office.stored(view.row.run), view.row.addr, result, 7)
        assert [(one.id, one.state, one.by) for one in closed] == (
            [] if state is None else [(view.row.id, state, "")]
        )  # type: ignore[union-attr]


async def test_a_row_is_known_by_its_run_effect_and_exact_content() -> None:
    """Its id by where it stands, its digest by what is asked under the run's key; found again in
    the intent it is the same.
    """
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


@pytest.mark.parametrize(
    "changed", [{"calls": ()}, {"subject": Subject.PLAN}, {"detail": {"a": 1}}]
)
def test_whatever_is_asked_otherwise_has_another_digest(changed: dict[str, Any]) -> None:
    """Calls, subject and detail; the tier follows from the calls. So has the very same of another
    wait.
    """
    given: dict[str, Any] = {
        "subject": Subject.CALL,
        "calls": (CALL,),
        "tier": Tier.WRITE,
        "detail": {},
    }
    first = approval_digest(b"k" * 32, "a" * 32, ApprovalAsked(**given))
    assert first != approval_digest(b"k" * 32, "a" * 32, ApprovalAsked(**{**given, **changed}))
    assert first != approval_digest(b"k" * 32, "b" * 32, ApprovalAsked(**given))


async def test_a_wait_that_asks_nobody_is_no_approval() -> None:
    """It has no row."""
    with Office() as office:
        view = await office.asked(post())
        with pytest.raises(FlowFault):
            asking(
                office.stored(view.row.run),
                0,
                Wait(what=WaitFor.ANSWER, about="x", deadline=1),
                1,
                2,
            )


# --- a yes to a workflow that nobody has begun to carry out ---------------------------------------

STEPS: list[dict[str, Any]] = [
    {"verb": "look.up", "args": {"text": "first"}},
    {"verb": "post.out", "args": {"to": "ben", "text": "first"}},
    {"verb": "post.out", "args": {"to": "ben", "text": "second"}},
]


def use_template(office: Office, steps: list[dict[str, Any]] | None, version: int = 1) -> None:
    """The one template that there is, or none."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    made = {
        "id": "inform",
        "version": version,
        "description": "Inform Ben.",
        "schema": schema,
        "steps": steps,
    }
    workflows = {} if steps is None else {"inform": WorkflowTemplate.model_validate(made)}
    office.services.catalogs.swap(office.services.catalogs.current.changed(workflows=workflows))


async def agreed(office: Office) -> str:
    """A workflow that somebody said yes to, and that nobody has driven since."""
    use_template(office, STEPS)
    office.began = office.services.catalogs.current
    run = await office.open(WORKFLOWS, WorkflowInput(template="inform"))
    await office.drive(run)
    (view,) = await office.desk.listed(DEFAULT_WORKSPACE)
    assert await office.decide(view, drive=False) == ""
    return run


def came_to(office: Office, run: str) -> WorkflowOutput:
    """What became of it, which replays."""
    assert office.began is not None
    assert replay(office.stored(run), office.began, office.kinds).equal
    return msgspec.json.decode(office.bodies(run, RecordKind.ENDED)[0].result, type=WorkflowOutput)


CHANGES: dict[str, Callable[[Office], None]] = {
    "edited": lambda office: use_template(office, STEPS[:2], version=2),
    "taken away": lambda office: use_template(office, None),
    "a verb is off": lambda office: office.use_policy(
        {"verbs": {"default": {"deny": ["post.out"]}}}
    ),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_what_was_changed_after_the_yes_does_not_begin(change: str) -> None:
    """No step of it runs, one that needs nobody's yes neither; it ends as withdrawn, once, with
    why.
    """
    with Office() as office:
        run = await agreed(office)
        CHANGES[change](office)
        await office.drive(run)
        ended = came_to(office, run)
        assert (ended.ok, ended.error, office.did) == (False, "withdrawn", [])
        assert ended.message
        assert "withdrawn" not in ended.message
        assert [
            row.row.state for row in await office.desk.listed(DEFAULT_WORKSPACE, states=())
        ] == [ApprovalState.APPROVED]


@pytest.mark.parametrize(("late_us", "begins"), [(-1, True), (0, False)])
async def test_a_workflow_does_not_begin_after_the_end_of_the_yes(
    late_us: int, *, begins: bool
) -> None:
    """By the wall clock, also where nobody drove it meanwhile."""
    with Office() as office:
        run = await agreed(office)
        (view,) = await office.desk.listed(DEFAULT_WORKSPACE, states=())
        office.clock.at = view.row.expires_at + late_us
        await office.drive(run)
        ended = came_to(office, run)
        assert (ended.ok, ended.message) == ((True, "") if begins else (False, YES_OVER))
        assert bool(office.did) == begins


async def test_what_has_begun_is_what_was_approved_and_a_tightening_stops_it_all_the_same() -> None:
    """Its template changes while a step is at work: the steps that were approved go on. A verb that
    is switched off then is called no more.
    """
    with Office() as office:
        run = await agreed(office)
        office.meanwhile["first"] = lambda: use_template(office, [*STEPS, STEPS[1]], version=2)
        await office.drive(run)
        assert came_to(office, run).ok
        assert office.did == [("look.up", "first"), ("post.out", "first"), ("post.out", "second")]
    with Office() as office:
        run = await agreed(office)
        office.meanwhile["first"] = lambda: CHANGES["a verb is off"](office)
        await office.drive(run)
        ended = came_to(office, run)
        assert (ended.ok, ended.error) == (False, "withdrawn")
        assert office.did == [("look.up", "first")]
