"""Flow ``planner``: each way in which a planning run can go on and end, by a script."""

from __future__ import annotations

from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.journal.records import Status
from ordain.testing import (
    Played,
    ScriptedEffects,
    call,
    catalog_of,
    finish,
    returned,
)

LOOK = VerbSpec(
    name="shelf.find",
    description="Say where a book is.",
    effect=VerbEffect.READ,
    input_schema={"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"], "additionalProperties": False},
    output_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False},
)
CATALOG = catalog_of(PLANNER, verbs=[LOOK])
FOUND = returned({"text": "lent until Thursday"}, verb="shelf.find")
ASK = call("shelf.find", title="atlas")


def plan(*script: Any, policy: Any = None, **limits: Any) -> Played[PlannerOutcome]:
    given = PlannerRequest.model_validate(
        {"goal": {"type": "chat", "description": "Is the atlas in?"}, "toolset": [{"tool_id": "shelf.find"}], "limits": limits}
    )
    played = ScriptedEffects(PLANNER, CATALOG, policy=policy).play(given, script)
    assert played.replayed().equal, played.replayed()
    return played


def out(played: Played[PlannerOutcome]) -> PlannerOutcome:
    assert played.output is not None
    return played.output


def test_a_run_looks_and_answers() -> None:
    """A tool is called with what the model proposed, and the accepted answer is the run's."""
    played = plan(ASK, FOUND, finish("It is lent."))
    assert played.status is Status.COMPLETED
    assert out(played).final_answer == {"content": "It is lent.", "structured": {}}
    assert out(played).usage["tools_called"] == ["shelf.find"]
    assert [one.args for one in played.calls] == [{"title": "atlas"}]
    assert "lent until Thursday" in played.requests[1].user


def test_an_unknown_tool_is_refused_before_anything_is_asked() -> None:
    """A toolset that cannot be had ends the run without a model call."""
    given = {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "no.such"}]}
    played = ScriptedEffects(PLANNER, CATALOG).play(PlannerRequest.model_validate(given))
    assert played.asked == ()
    assert played.status is Status.FAILED
