"""Flow ``roster``: guardrails, scheduler and review write what they said of a step into its
record.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ordain.contracts.roster import GateName, StepGate, StepRecord, StepStatus
from ordain.flows.carried import VerbPlanInput
from ordain.flows.roster.kind import ROSTER, ROSTER_1
from ordain.testing import Played, approved, interrupt, joined, not_approved
from tests.unit.flows.house import play
from tests.unit.flows.roster.test_flow import (
    ASKED,
    CATALOG,
    IN_TURN,
    UNASKED,
    found,
    not_found,
    plan,
    records,
    roster,
    step,
    structured,
)

REVIEWED = {"approvals": {"delegation": "never"}, "guardrails": {"review_at": 0.0}}


def gates(record: StepRecord) -> list[tuple[str, str, str, str, int]]:
    return [
        (gate.gate, gate.agent, gate.decision, gate.reason.rpartition(".")[2], gate.wave)
        for gate in record.gates
    ]


def test_each_gate_writes_what_it_said_into_the_record_of_the_step() -> None:
    """In a plan of two waves, of which policy asks nobody: with the risk, and with the wave in
    which each had its turn.

    B-40 "Minimal real versions per C6, each writing the per-step record;"
    """
    played = roster(
        plan(step("finance_agent"), step("creative_agent")), joined(found()), joined(found())
    )
    passed = [("guardrail", "allow", "passed", 0), ("review", "not_wanted", "delegated", 0)]
    for number, record in enumerate(records(played), start=1):
        agent = record.planned_agent
        expected = [
            (gate, agent, word, why, wave)
            for gate, word, why, wave in (*passed, ("scheduler", "scheduled", "ready", number))
        ]
        assert gates(record) == expected
        assert record.gates[0].risk_score == 0.0


@pytest.mark.parametrize(
    ("word", "decision", "reason"),
    [(approved(), "approved", "approved"), (not_approved(), "denied", "not_approved")],
)
def test_what_a_person_said_stands_in_the_record_of_each_step(
    word: Any, decision: str, reason: str
) -> None:
    """A yes to both, and a no to both, by the one queue of approvals; after a no nobody was handed
    any of it.
    """
    script = (word, joined(found(), found())) if decision == "approved" else (word,)
    played = roster(
        plan(step("finance_agent"), step("creative_agent"), handoff_strategy="parallel"),
        *script,
        policy=ASKED,
    )
    for record in records(played):
        assert [gate[2:4] for gate in gates(record) if gate[0] == "review"] == [(decision, reason)]
        assert record.executed_agent == (record.planned_agent if decision == "approved" else "")
    assert ("handed to nobody" in played.header) == (decision == "denied")


def test_a_review_says_which_policy_wanted_it_and_at_which_risk() -> None:
    """The guardrails' word, the risk and the policy, then what came of the review."""
    played = roster(plan(step("finance_agent")), approved(), joined(found()), policy=REVIEWED)
    guardrail, review, _ = records(played)[0].gates
    wanted = StepGate(
        gate=GateName.GUARDRAIL,
        agent="finance_agent",
        decision="escalate" if guardrail.decision == "escalate" else "review",
        reason=guardrail.reason,
        risk_score=0.0,
        policy_ids=("compliance.high_risk",),
    )
    assert (guardrail, review.decision) == (wanted, "approved")


def test_a_prohibited_word_is_in_the_record_of_the_step_that_it_stops() -> None:
    """The guardrails deny, the door refuses, and nobody was handed it."""
    policy = {**UNASKED, "guardrails": {"prohibited": ["we do"]}}
    (record,) = records(roster(plan(step("finance_agent")), policy=policy))
    assert gates(record)[:2] == [
        ("guardrail", "finance_agent", "deny", "prohibited", 0),
        ("review", "finance_agent", "refused", "no_envelope", 0),
    ]
    assert (record.gates[0].policy_ids, record.executed_agent, record.status) == (
        ("compliance.prohibited_keywords",),
        "",
        "failed",
    )


def test_a_step_that_had_no_turn_says_why_and_names_nobody_who_did_it() -> None:
    """What it needs failed: it is not run, in the record and in the header, whoever it was planned
    for.
    """
    steps = plan(step("finance_agent"), step("creative_agent"), depends_on={"1": [0]})
    lost = (joined(not_found()), joined(not_found()), joined(not_found()))
    played = roster(steps, *lost)
    failed, never = records(played)
    assert gates(never)[-1] == ("scheduler", "creative_agent", "not_run", "failed", 0)
    assert (never.status, never.executed_agent, never.attempts) == (StepStatus.CANCELLED, "", 0)
    assert "plan step 2 of 2: creative_agent, handed to nobody, cancelled" in played.header
    assert [gate[1] for gate in gates(failed) if gate[0] == "scheduler"] == [
        "finance_agent",
        "enterprise_agent",
        "general_agent",
    ]


def test_a_plan_that_is_stopped_while_somebody_is_asked_says_so_of_each_step() -> None:
    """None of them had its turn."""
    played = roster(plan(step("finance_agent"), step("creative_agent")), interrupt(), policy=ASKED)
    assert [gates(record)[-1][2:4] for record in records(played)] == [("not_run", "cancelled")] * 2


def test_a_record_says_also_what_is_so_of_most_steps() -> None:
    """Every field that C6 has of each step is there, whatever it says."""
    played = roster(plan(step("creative_agent")), joined(found()))
    (told,) = msgspec.json.decode(msgspec.json.encode(structured(played)["steps"]))
    expected: dict[str, Any] = {
        "planned_tools": [],
        "planned_fallback_tools": [],
        "executed_tools": [],
        "fallback_applied": False,
    }
    assert {name: told[name] for name in expected} == expected


def test_the_version_before_says_what_it_said() -> None:
    """Of gates nothing, and of a step that never ran who would have had it."""
    steps = plan(step("finance_agent"), step("creative_agent"), depends_on={"1": [0]})

    def as_of(kind: Any) -> Played[Any]:
        given = VerbPlanInput(verb="roster_runtime", args={"text": "How did we do?"})
        lost = (joined(not_found()), joined(not_found()), joined(not_found()))
        return play(kind, given, steps, *lost, policy=UNASKED, standing=IN_TURN, catalog=CATALOG)

    before, now = (structured(as_of(kind))["steps"] for kind in (ROSTER_1, ROSTER))
    assert [("gates" in one, one.get("executed_agent")) for one in before] == [
        (False, "general_agent"),
        (False, "creative_agent"),
    ]
    assert [("gates" in one, one.get("executed_agent")) for one in now] == [
        (True, "general_agent"),
        (True, ""),
    ]
