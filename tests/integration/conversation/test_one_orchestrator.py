"""One orchestrator under everything: whatever a message asks for, one turn classifies it, and what
carries it out goes through the same executor, door and ledger.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from ordain.flows.carried import VerbPlanInput
from ordain.journal.codec import decode
from ordain.journal.records import DecisionBody, IntentBody, RecordKind, Started
from ordain.runtime.replay import replay
from ordain.testing import finish, says
from tests.shapes.council import judgement, verdict
from tests.shapes.handoffs import SCRIPT, UNASKED, write_cards
from tests.shapes.talk import House
from tests.shapes.workflows import Desk, write_templates

MODELS = (
    SCRIPT.on("planner", finish("It is noted."))
    .on("seat", {"text": "I think so."})
    .on("chair", judgement())
    .on("auditor", verdict())
    .on("synthesis", says("It is done."))
)
ASKED: list[tuple[dict[str, Any], str, set[str]]] = [
    ({}, "direct", {"verb_plan"}),
    ({"mode": "agent"}, "direct", {"supervisor"}),
    ({"mode": "council"}, "direct", {"supervisor", "seat"}),
    (
        {"workflow": {"template": "note_twice", "args": {"text": "tea"}}},
        "workflow_run",
        {"workflow"},
    ),
    ({"delegates": ["clerk"]}, "delegate", {"roster", "handoff", "synthesis"}),
    ({"delegates": ["clerk", "clerk", "babbler"]}, "fan_out", {"roster", "handoff", "synthesis"}),
]


@pytest.mark.parametrize(
    ("hints", "outcome", "below"),
    ASKED,
    ids=["brain", "agent", "council", "workflow", "delegate", "fan_out"],
)
async def test_one_turn_leads_to_all_of_it(
    tmp_path: Path, hints: dict[str, Any], outcome: str, below: set[str]
) -> None:
    """One of five outcomes, in one tree of runs; each call, and each child for one, was allowed by
    the one rule in its own run; the ledger holds every run.

    B-39 "Primary orchestrator: classify turn → lane → one of the 5 outcomes."
    B-39 "direct = brain verb plan; agent mode = supervisor + planner; council mode = council;
    workflow = template engine;"
    B-39 "One executor, one scope check, one run ledger under all."
    """
    write_cards(tmp_path)
    write_templates(tmp_path)
    desk = Desk()
    async with House(tmp_path, script=MODELS, policy=UNASKED, verbs=desk.verbs) as house:
        answer = await house.say("have it done", **hints)
        assert answer.reply is not None
        runs = [
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs ORDER BY no")
        ]
        turn = runs[0]
        assert turn is not None
        decided = [
            (record.name, msgspec.json.decode(body.outcome))
            for record in turn.records
            if isinstance(body := decode(record), DecisionBody)
        ]
        (classified,) = [found for name, found in decided if name == "outcome"]
        assert classified["outcome"] == outcome
        assert {run.flow for run in runs if run is not None} - {"turn"} - {"general_agent"} == below
        assert all(run is not None and run.root == turn.id for run in runs)
        gone_out = 0
        for run in runs:
            assert run is not None
            assert replay(run, house.ordain.catalog, house.ordain.kinds).equal
            bodies = [(record, decode(record)) for record in run.records]
            allowed = {
                body.addr
                for record, body in bodies
                if isinstance(body, DecisionBody)
                and record.name == "authorize"
                and b"allow" in bytes(body.outcome)
            }
            for record, body in bodies:
                if record.kind is RecordKind.INTENT and isinstance(body, IntentBody):
                    effect = msgspec.json.decode(body.effect)
                    asked = [effect, *effect.get("spawns", [])]
                    permits = [
                        one["authorized"]["decision"] for one in asked if one.get("authorized")
                    ]
                    assert set(permits) <= allowed
                    gone_out += len(permits)
        lanes = [
            body
            for run in runs
            if run is not None
            for record in run.records
            if record.name == "lane" and isinstance(body := decode(record), DecisionBody)
        ]
        assert lanes or outcome == "workflow_run"
        assert gone_out >= (1 if outcome != "direct" or "mode" not in hints else 0)
    assert desk.did == {
        "workflow_run": [("note_down", "tea"), ("note_down", "and again")],
        "delegate": [("note_down", "tea")],
        "fan_out": [("note_down", "tea")],
    }.get(outcome, [])


async def test_each_step_of_a_plan_is_a_handoff_of_its_own(tmp_path: Path) -> None:
    """Its run holds the envelope, may use what that says and nothing else, and called its tool as a
    verb within it.

    B-39 "each step executed as a typed handoff (HND-01) with its tools as verbs under the step's
    scope."
    """
    write_cards(tmp_path)
    desk = Desk()
    async with House(tmp_path, script=MODELS, policy=UNASKED, verbs=desk.verbs) as house:
        await house.say("have it done", delegates=["clerk", "babbler"])
        handoffs = [
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs WHERE flow = 'handoff' ORDER BY no")
        ]
        assert len(handoffs) >= 2
        for run in handoffs:
            assert run is not None
            started = decode(run.records[0])
            assert isinstance(started, Started)
            given = msgspec.json.decode(started.input, type=VerbPlanInput)
            assert given.handoff is not None
            assert started.grant is not None
            assert given.handoff.scope == started.grant.allowed
            called = [
                msgspec.json.decode(body.effect)
                for record in run.records
                if isinstance(body := decode(record), IntentBody) and record.name == "verb_call"
            ]
            assert {effect["authorized"]["call"]["verb"] for effect in called} <= set(
                given.handoff.scope
            )
            assert bool(called) == (given.verb == "agent.clerk")
