"""What a test's author gets wrong in a script is told: what was given, and what is expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.planner import PlannerRequest
from ordain.flows.context import FlowContext
from ordain.flows.planner.kind import PLANNER
from ordain.rules.lane import LANE, LaneFacts, LaneInputs
from ordain.testing import (
    ScriptedEffects,
    ScriptedModels,
    ScriptError,
    carved,
    catalog_of,
    claimed,
    completed,
    finish,
    interrupt,
    joined,
    kind_of,
    proposes,
    returned,
)
from tests.unit.flows.house import play, shipped

REQUEST = PlannerRequest.model_validate(
    {"goal": {"type": "chat", "description": "x"}, "toolset": []}
)
STEP = PLANNER.prompts[0].purpose


def scripted(script: Any, catalog: Any = None) -> Any:
    return ScriptedEffects(PLANNER, catalog or shipped()).play(REQUEST, script)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "an end that is none": (
        lambda: joined(5),
        r"joined\(…\) takes how children end: completed\(value\), .* was given 5 \(int\)",
    ),  # type: ignore[arg-type]
    "one of two": (
        lambda: joined(completed(1), "x"),
        r"joined\(…\) takes how children end: .* was given 'x' \(str\)",
    ),  # type: ignore[arg-type]
    "no order": (
        lambda: joined(completed(1), order=0),
        r"joined\(order=…\) takes the children's indexes .* was given 0 \(int\)",
    ),  # type: ignore[arg-type]
    "ends of an interrupt": (
        lambda: interrupt(ends=(7,)),
        r"interrupt\(ends=…\) takes how children end: .* was given 7 \(int\)",
    ),  # type: ignore[arg-type]
    "no output": (
        lambda: returned(5),
        r"returned\(…\) takes the verb's output, an object .* was given 5 \(int\)",
    ),  # type: ignore[arg-type]
    "no accounts": (
        lambda: carved(5),
        r"carved\(…\) takes amounts by account.* was given 5 \(int\)",
    ),  # type: ignore[arg-type]
    "no amount": (
        lambda: carved({"day": 5}),
        r"carved\(…\) for day takes a Spend, and was given 5 \(int\)",
    ),  # type: ignore[dict-item]
    "no facts": (
        lambda: claimed(5),
        r"claimed\(…\) takes the facts of the claimed rule, and was given 5 \(int\)",
    ),  # type: ignore[arg-type]
    "no script": (
        lambda: scripted(finish("x")),
        r"a script takes a list of answers in order, .* was given planner: .* \(Proposal\)",
    ),
    "no item": (
        lambda: scripted([5]),
        f"the flow asks for a model's answer for purpose '{STEP}' .* the script has 5",
    ),
    "a misspelt purpose": (
        lambda: scripted([proposes("plannr", {})]),
        f"the flow asks for a model's answer for purpose '{STEP}' .* the script has plannr: {{}}",
    ),
    "another's catalog": (
        lambda: scripted([finish("x")], catalog_of()),
        (
            f"kind planner@5 asks by template '{PLANNER.prompts[0].template}', and the catalog has "
            "none: make it by catalog_of"
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named(name: str) -> None:
    """With the place that took it."""
    give, told = WRONG[name]
    with pytest.raises(ScriptError, match=told):
        give()


def test_a_missing_template_is_told_though_its_flow_goes_on() -> None:
    """Live a catalog has what its kinds bring: it is no fault of the flow's, and no model's
    failure.
    """
    with pytest.raises(ScriptError, match="catalog_of"):
        ScriptedEffects(PLANNER, catalog_of()).play(REQUEST, [finish("x")], faults=True)
    request = play(PLANNER, REQUEST, finish("x")).model_calls[0]

    async def asks(context: FlowContext, given: Any) -> Any:
        facts = LaneFacts(purpose=STEP)
        context.fx.decide(LANE, facts, LaneInputs(by_purpose=PLANNER.prompts[0].lane))
        return await context.fx.perform(
            structs.replace(request, refs=(0,), deadline=context.deadline)
        )

    bare = kind_of(asks, prompts=PLANNER.prompts, charged=False)
    with pytest.raises(ScriptError, match="kind part@1 asks by template"):
        ScriptedEffects(bare, catalog_of()).play(REQUEST, [finish("x")])


async def test_a_scripted_models_purposes_are_told() -> None:
    """Whoever looks why nothing answered sees the misspelt one."""
    models = ScriptedModels(plannr=[finish("x")], router=["y"])
    request: Any = play(PLANNER, REQUEST, finish("x")).requests[0]
    error: Any = await models.attempt(request)
    told = f"nothing is scripted for {STEP} \\(call 0\\): the script has lines for plannr, router"
    with pytest.raises(ScriptError, match=told):
        models.check()
    assert "lines for plannr, router" in error.message
