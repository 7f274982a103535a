"""One step contract, two drivers: the planner's own loop, and a flow that asks for one step and
executes it itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.profiles import ModelProfile
from ordain.journal.codec import decode
from ordain.journal.records import DecisionBody
from ordain.models.scripted import ScriptedModel, make_script
from ordain.runtime.run_view import RunView
from ordain.settings import load_settings
from tests.replay.golden import SUM, act, finish, request
from tests.shapes.flows import DELEGATED

PROFILE = ModelProfile(provider="scripted", model="scripted", script="in memory")
PROPOSALS: dict[str, Any] = {
    "call": act("math.evaluate", SUM),
    "finish": finish("done"),
    "prose": "I would rather talk about it.",
    "unknown tool": act("no_such_tool", {}),
    "bad input": act("math.evaluate", {"expression": 4}),
    "finish with action": {**act("math.evaluate", SUM), "finish": True},
}


async def opened(ordain: Ordain, kind: str) -> RunView:
    """A run of this kind for a planning request, at its end."""
    wire = ordain.kinds.answering(PlannerRequest).wire
    assert wire is not None
    given = wire.take(
        PlannerRequest.model_validate(request("math.evaluate")), ordain.catalog, "r"
    ).input
    return await ordain.runtime.wait((await ordain.runtime.open(kind, given, "local:test")).run)


async def judged(home: Path, proposal: object, kind: str) -> tuple[str, str]:
    """The outcome and reason of rule step on the first proposal, under one of the two drivers."""
    settings = load_settings({}, home).model_copy(update={"profiles": {"default": PROFILE}})
    script = make_script(planner=[proposal, finish("done"), finish("done")], verbs={})
    extras = Extras(models={"default": ScriptedModel(script)}, memory=True, kinds=(DELEGATED,))
    async with Ordain(settings, extras=extras) as ordain:
        view = await opened(ordain, kind)
        body = decode(next(record for record in view.stored.records if record.name == "step"))
        assert isinstance(body, DecisionBody)
        return bytes(body.outcome).decode(), body.reason


@pytest.mark.parametrize("name", PROPOSALS)
async def test_both_drivers_judge_alike(name: str, tmp_path: Path) -> None:
    """B-02 "Same validator in both": the loop and a delegated driver come to the same outcome and
    reason on the same proposal.
    """
    loop = await judged(tmp_path / "loop", PROPOSALS[name], "planner")
    assert await judged(tmp_path / "delegated", PROPOSALS[name], "delegated") == loop


async def test_a_delegated_driver_executes_the_step_itself(tmp_path: Path) -> None:
    """B-02 "One step contract, two drivers": a delegated driver executes the proposed call through
    the same door and records it.
    """
    settings = load_settings({}, tmp_path).model_copy(update={"profiles": {"default": PROFILE}})
    extras = Extras(
        models={"default": ScriptedModel(make_script(planner=[PROPOSALS["call"]], verbs={}))},
        memory=True,
        kinds=(DELEGATED,),
    )
    async with Ordain(settings, extras=extras) as ordain:
        view = await opened(ordain, "delegated")
        assert b"math.evaluate: returned" in bytes(view.result)
        assert [record.name for record in view.stored.records if record.kind == "intent"] == [
            "model_call",
            "verb_call",
        ]
