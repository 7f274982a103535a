"""A yes to a workflow that nobody has begun to carry out: it is none any more once the template is another one, or its time is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.workflow import WorkflowTemplate
from ordain.flows.workflow_run import WorkflowInput, WorkflowOutput
from ordain.journal.records import RecordKind
from ordain.rules.approve import ApprovalState
from ordain.runtime.consent_policy import YES_OVER
from ordain.runtime.replay import replay
from tests.unit.runtime.office import WORKFLOWS, Office

STEPS: list[dict[str, Any]] = [
    {"verb": "look.up", "args": {"text": "first"}},
    {"verb": "post.out", "args": {"to": "ben", "text": "first"}},
    {"verb": "post.out", "args": {"to": "ben", "text": "second"}},
]


def use_template(office: Office, steps: list[dict[str, Any]] | None, version: int = 1) -> None:
    """The one template that there is, or none."""
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    made = {"id": "inform", "version": version, "description": "Inform Ben.", "schema": schema, "steps": steps}
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
    "a verb is off": lambda office: office.use_policy({"verbs": {"default": {"deny": ["post.out"]}}}),
}


@pytest.mark.parametrize("change", CHANGES)
async def test_what_was_changed_after_the_yes_does_not_begin(change: str) -> None:
    """No step of it runs, one that needs nobody's yes neither; it ends as withdrawn, once, with why."""
    with Office() as office:
        run = await agreed(office)
        CHANGES[change](office)
        await office.drive(run)
        ended = came_to(office, run)
        assert (ended.ok, ended.error, office.did) == (False, "withdrawn", [])
        assert ended.message
        assert "withdrawn" not in ended.message
        assert [row.row.state for row in await office.desk.listed(DEFAULT_WORKSPACE, states=())] == [ApprovalState.APPROVED]


@pytest.mark.parametrize(("late_us", "begins"), [(-1, True), (0, False)])
async def test_a_workflow_does_not_begin_after_the_end_of_the_yes(late_us: int, *, begins: bool) -> None:
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
    """Its template changes while a step is at work: the steps that were approved go on. A verb that is switched off then is called no more."""
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
