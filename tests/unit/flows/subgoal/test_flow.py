"""Flow ``subgoal``: part of a goal is planned for itself, with some of the caller's verbs, and only
a validated answer ends it well.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.subgoal import SubgoalRequest
from ordain.effects.effect import Children
from ordain.flows.carried import VerbPlanInput, VerbPlanOutput
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.flows.subgoal.kind import SUBGOAL
from ordain.testing import (
    Played,
    Standing,
    call,
    child_failed,
    completed,
    fails,
    finish,
    joined,
    returned,
    says,
)
from tests.unit.flows.house import play, shipped

TOOLS = ("extract_facts", "math.evaluate", "plan.subgoal")
SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True})
GIVEN: dict[str, Any] = {"goal": "What is 6 * 7?", "tools": list(TOOLS)}


def below(depth: int) -> Standing:
    """A run that carries out the verb, nested in so many calls."""
    return Standing(child=True, depth=depth, scope=TOOLS)


def subgoal(*script: Any, depth: int = 1, **args: Any) -> Played[VerbPlanOutput]:
    return play(
        SUBGOAL,
        VerbPlanInput(verb="plan.subgoal", args={**GIVEN, **args}),
        *script,
        standing=below(depth),
    )


def out(played: Played[Any]) -> VerbPlanOutput:
    assert played.output is not None
    return played.output


def test_it_works_for_itself_and_answers() -> None:
    """Its model sees its goal, its facts and its verbs, and is asked as ``subgoal``; its answer is
    the verb's output.

    FUT-02 "Hierarchical tools: tools that call the planner recursively for subgoals."
    """
    played = subgoal(SUM, RESULT, finish("It is 42."), facts="Six times seven is asked for.")
    assert out(played).output == {"content": "It is 42.", "structured": {}}
    assert shipped().verbs["plan.subgoal"].output.accepts(out(played).output)
    assert {one.role for one in played.model_calls} == {"subgoal"}
    assert "Six times seven is asked for." in played.requests[0].user


@pytest.mark.parametrize(
    ("args", "script", "code"),
    [
        ({}, (says("It is 42, done."), says('"maybe"')), "step.syntax.prose"),
        ({"max_steps": 1}, (SUM, RESULT), "max_steps_exhausted"),
        ({"tools": ["no.such"]}, (), "unknown_verb"),
        ({}, (fails("rejected"),), "rejected"),
    ],
)
def test_nothing_else_ends_it_well(
    args: dict[str, Any], script: tuple[Any, ...], code: str
) -> None:
    """Prose, a bound that is met, a verb that is none: typed, without an output."""
    done = out(subgoal(*script, **args))
    assert (done.ok, done.output) == (False, None)
    assert str(done.error) == code


def test_it_may_be_nested_as_deep_as_it_is_declared() -> None:
    """Below a subgoal another may be begun, and verbs that are prompts may be called; below that
    one neither, and leaves still may.

    FUT-02 "Hierarchical tools: tools that call the planner recursively for subgoals." B-32
    "`max_recursion_depth` from verb YAML (FUT-02 raises it explicitly)"
    """
    again, facts = (
        call("plan.subgoal", **GIVEN),
        call("extract_facts", text="Ada was born in 1815."),
    )
    answer = completed({"ok": True, "output": {"content": "42", "structured": {}}})
    assert shipped().verbs["plan.subgoal"].spec.max_recursion_depth == 2
    assert [
        str(one.reason) for one in subgoal(again, joined(answer), finish("42")).decided("authorize")
    ] == ["authorize.read"]
    assert [
        str(one.reason) for one in subgoal(facts, joined(answer), finish("42")).decided("authorize")
    ] == ["authorize.read"]
    for asked in (again, facts):
        assert [
            str(one.reason) for one in subgoal(asked, finish("42"), depth=2).decided("authorize")
        ] == ["authorize.depth"]
    assert [
        str(one.reason) for one in subgoal(SUM, RESULT, finish("42"), depth=2).decided("authorize")
    ] == ["authorize.read"]


def test_an_answer_behind_calls_that_the_door_refused_is_none() -> None:
    """A call that is too deep is not made: what is said after it alone is no answer, as after a
    call that had no shape; after one that was made it is.
    """
    again = call("plan.subgoal", **GIVEN)
    vain = subgoal(again, finish("42"), depth=2)
    assert vain.output is not None
    assert (vain.output.ok, vain.output.error) == (False, "no_tool_succeeded")
    assert [step.skipped for step in vain.output.step_results] == [True]
    made = subgoal(again, SUM, RESULT, finish("42"), depth=2)
    assert made.output is not None
    assert made.output.ok


def test_a_planner_calls_it_with_some_of_its_own_verbs() -> None:
    """It is one call of a verb like any other: one permit, one child with no more than the caller's
    verbs, and a failure is an observation.
    """
    given = PlannerRequest.model_validate(
        {
            "goal": {"type": "chat", "description": "Work it out."},
            "toolset": [{"tool_id": "plan.subgoal"}, {"tool_id": "math.evaluate"}],
        }
    )
    asked = call("plan.subgoal", goal="What is 6 * 7?", tools=["math.evaluate"])
    answer = completed({"ok": True, "output": {"content": "It is 42.", "structured": {}}})
    played: Played[PlannerOutcome] = play(PLANNER, given, asked, joined(answer), finish("42"))
    (join,) = [one for one in played.asked if isinstance(one, Children)]
    assert [(spawn.flow, spawn.scope) for spawn in join.spawns] == [
        ("subgoal", ("math.evaluate", "plan.subgoal"))
    ]
    assert "It is 42." in played.requests[1].user
    failed = play(
        PLANNER,
        given,
        asked,
        joined(child_failed("max_steps_exhausted", None)),
        finish("I could not."),
    )
    assert failed.output is not None
    assert failed.output.error is None
    assert "max_steps_exhausted" in failed.requests[1].user


def test_the_verbs_schema_and_the_contract_are_of_one_shape() -> None:
    """The same names, the same one that is required."""
    spec, contract = shipped().verbs["plan.subgoal"].spec, SubgoalRequest.model_json_schema()
    properties: Any = spec.input_schema["properties"]
    assert properties.keys() == contract["properties"].keys()
    assert spec.input_schema["required"] == contract["required"] == ["goal"]
