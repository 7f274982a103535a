"""``run_tree``: what is below a run, each before what is below it, with how it came out and what it
cost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.council import DeliberationRequest
from ordain.contracts.planner import PlannerRequest
from ordain.runtime.run_tree import RunTree, run_tree
from ordain.testing import ModelScript, call, finish
from tests.shapes.council import QUESTION, judgement, verdict
from tests.shapes.talk import PRINCIPAL, House

BELOW, DEEPER = (
    call("plan.subgoal", goal=goal, tools=["plan.subgoal"])
    for goal in ("Work out 6 * 7.", "Deeper.")
)
SCRIPT = (
    ModelScript()
    .on("planner", DEEPER, role="subgoal", index=0, when=lambda one: '"Deeper.' not in one.user)
    .on("planner", finish("42"), role="subgoal")
    .on("planner", BELOW, index=0)
    .on("planner", finish("42"))
    .on("seat", {"text": "I think so."})
    .on("chair", judgement("42"))
    .on("auditor", verdict())
)


async def tree_of(house: House, request: Any, **more: int) -> RunTree:
    runtime = house.ordain.runtime
    view = await runtime.wait((await runtime.accept(request, PRINCIPAL)).run)
    return await run_tree(runtime.services, view.stored, **more)


def plan(**more: Any) -> PlannerRequest:
    tools = [{"tool_id": "plan.subgoal"}, {"tool_id": "math.evaluate"}]
    return PlannerRequest.model_validate(
        {"goal": {"type": "chat", "description": "6 * 7"}, "toolset": tools, **more}
    )


async def test_a_plan_and_what_it_had_done(tmp_path: Path) -> None:
    """Verbs that are runs, and runs below those, in order; the cost of each is with what is below
    it.
    """
    async with House(tmp_path / "home", script=SCRIPT) as house:
        tree = await tree_of(house, plan())
        assert tree.whole
        assert [(one.depth, one.flow, one.verb, one.verdict) for one in tree.runs] == [
            (1, "subgoal", "plan.subgoal", "ok"),
            (2, "subgoal", "plan.subgoal", "ok"),
        ]
        outer, inner = tree.runs
        assert (outer.model_calls, inner.model_calls) == (3, 1)
        assert outer.tokens > inner.tokens


async def test_a_council_has_a_run_for_each_seat() -> None:
    """None of them carries out a verb."""
    async with House(script=SCRIPT) as house:
        tree = await tree_of(house, DeliberationRequest(prompt=QUESTION))
        assert [(one.flow, one.verb) for one in tree.runs] == [("seat", "")] * 4


async def test_it_is_bounded() -> None:
    """What is left out is said to be."""
    async with House(script=SCRIPT) as house:
        tree = await tree_of(house, DeliberationRequest(prompt=QUESTION), most=2)
        assert (len(tree.runs), tree.whole) == (2, False)


async def test_of_an_erased_run_nothing_is_below() -> None:
    """Its records do not say any more what it opened."""
    async with House(script=SCRIPT) as house:
        runtime = house.ordain.runtime
        run = (await runtime.accept(plan(), PRINCIPAL)).run
        await runtime.wait(run)
        await runtime.operators.erase(run, by=PRINCIPAL, why="over")
        assert (await run_tree(runtime.services, (await runtime.view(run)).stored)).runs == ()
