"""Flow ``roster``: a step's record says who had it, how often and where it came to; no more than
that.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ordain.contracts.roster import StepStatus
from ordain.flows.carried import VerbPlanInput
from ordain.flows.roster.kind import ROSTER_2, ROSTER_4
from ordain.testing import Played, child_cancelled, interrupt, joined
from tests.unit.flows.house import play
from tests.unit.flows.roster.test_flow import (
    CATALOG,
    IN_TURN,
    UNASKED,
    found,
    handed,
    not_found,
    out,
    plan,
    records,
    roster,
    step,
    structured,
)

ONE = {"profile": {"allowed_handoff_targets": ["creative_agent"]}, **UNASKED}


def told(played: Played[Any]) -> list[tuple[str, int]]:
    return [
        (event["event"], event["step"])
        for event in msgspec.to_builtins(structured(played)["events"])
    ]


def test_a_step_that_was_refused_was_handed_to_nobody() -> None:
    """No attempt, and nothing started; that it failed is told, and why."""
    played = roster(plan(step("creative_agent"), step("finance_agent")), policy=ONE)
    assert handed(played) == []
    assert [(one.status, one.attempts, one.executed_agent) for one in records(played)] == [
        (StepStatus.FAILED, 0, "")
    ] * 2
    assert told(played) == [("failed", 0), ("failed", 1)]
    before = play(
        ROSTER_2,
        VerbPlanInput(verb="roster_runtime", args={"text": "How did we do?"}),
        plan(step("creative_agent"), step("finance_agent")),
        policy=ONE,
        standing=IN_TURN,
        catalog=CATALOG,
    )
    assert [event["event"] for event in structured(before)["events"]] == ["started", "failed"] * 2


def test_a_plan_that_was_stopped_says_who_was_at_work() -> None:
    """The step that was done stays so, and makes the plan partial; the other names who had it when
    it was cancelled.
    """
    played = roster(
        plan(step("finance_agent"), step("creative_agent")), joined(found()), interrupt()
    )
    assert (structured(played)["status"], out(played).error) == ("partial", "cancelled")
    assert [(one.status, one.executed_agent) for one in records(played)] == [
        (StepStatus.COMPLETED, "finance_agent"),
        (StepStatus.CANCELLED, "creative_agent"),
    ]
    assert "plan step 2 of 2: creative_agent, cancelled" in played.header
    assert structured(roster(plan(step("finance_agent")), interrupt()))["status"] == "failed"


STOPPED = interrupt(
    in_flight=True, ends=[found("4 %"), child_cancelled(), not_found("prose", "It says prose.")]
)
THREE = ["finance_agent", "creative_agent", "research_agent"]


def test_what_agents_had_come_to_when_they_were_stopped_stands() -> None:
    """Beside each other one has done its step, one has failed, and one is stopped: only that is
    cancelled. What was found is in the answer, and nobody is asked again.
    """
    played = roster(STOPPED, agents=THREE)
    assert [(one.status, one.error) for one in records(played)] == [
        (StepStatus.COMPLETED, ""),
        (StepStatus.CANCELLED, ""),
        (StepStatus.FAILED, "prose"),
    ]
    assert (structured(played)["status"], out(played).error) == ("partial", "cancelled")
    assert "4 %" in (out(played).output or {})["content"]
    assert [(one.order, one.ok, one.skipped) for one in out(played).step_results] == [
        (0, True, False),
        (2, False, False),
    ]
    assert told(played)[-2:] == [("completed", 0), ("failed", 2)]
    assert len(handed(played)) == 1


def test_plans_of_before_told_all_of_it_as_cancelled() -> None:
    """Runs on record go on to say what they said."""
    given = VerbPlanInput(verb="roster_runtime", args={"text": "How did we do?", "agents": THREE})
    played = play(ROSTER_4, given, STOPPED, policy=UNASKED, standing=IN_TURN, catalog=CATALOG)
    assert {one["status"] for one in structured(played)["steps"]} == {StepStatus.CANCELLED}


def test_a_step_that_somebody_else_did_has_no_error() -> None:
    """Why it was handed on stands as the reason of that."""
    played = roster(
        plan(step("creative_agent")),
        joined(not_found("prose", "It says prose.")),
        joined(found("Done.")),
    )
    (record,) = records(played)
    assert (record.status, record.error, record.fallback_reason, record.attempts) == (
        StepStatus.COMPLETED,
        "",
        "prose",
        2,
    )
