"""Experiments under ``preferences`` in a whole house: what a caller is answered where an answer was
to be looked at and was not.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.errors import InvalidRequest
from ordain.runtime.replay import replay
from ordain.testing import ModelScript, fails, finish
from tests.shapes.talk import PRINCIPAL, House

FINDINGS = [
    {
        "quote": None,
        "kind": "wrong",
        "severity": "high",
        "problem": "It is wrong.",
        "fix": "Say 42.",
    }
]
ANSWERS = (
    ModelScript().on("planner", finish("About 40."), index=0).on("planner", finish("It is 42."))
)


async def planned(house: House, **more: Any) -> dict[str, Any]:
    """What a plan is answered whose answer is to be criticised; its run replays equal."""
    goal = {"type": "analysis", "description": "How much is 6 * 7?"}
    body = {
        "request_id": "r",
        "caller": "test",
        "goal": goal,
        "toolset": [{"tool_id": "math.evaluate"}],
    }
    request = PlannerRequest.model_validate(
        {**body, "preferences": {"self_critique": True}, **more}
    )
    view = await house.ordain.runtime.wait(
        (await house.ordain.runtime.accept(request, PRINCIPAL)).run
    )
    assert replay(view.stored, house.ordain.catalog, house.ordain.kinds).equal
    answer: dict[str, Any] = house.ordain.runtime.response(view, PlannerRequest)
    return answer


@pytest.mark.parametrize(
    "said", [{"verdict": "maybe", "findings": []}, "It is fine.", fails("rejected")]
)
async def test_an_answer_whose_critic_failed_is_none(said: Any) -> None:
    """A typed error beside the answer as salvaged, as where a council comes to none; the header has
    why the critic failed.
    """
    async with House(script=ANSWERS.on("verb", said)) as house:
        answer = await planned(house)
    assert (answer["status"], answer["verdict"], answer["error"]["code"]) == (
        "error",
        "partial",
        "not_criticised",
    )
    assert "self_critique failed: " in answer["error"]["message"]
    assert answer["final_answer"]["content"] == "About 40."
    assert answer["final_answer"]["structured"] == {
        "salvaged": True,
        "stop_reason": "not_criticised",
    }


async def test_an_answer_that_was_criticised_counts() -> None:
    """Bettered by what the critic found; and one for whose critique no step was left stands, which
    the header tells.
    """
    async with House(
        script=ANSWERS.on("verb", {"verdict": "revise", "findings": FINDINGS})
    ) as house:
        answer = await planned(house)
        assert (answer["status"], answer["error"], answer["final_answer"]["content"]) == (
            "ok",
            None,
            "It is 42.",
        )
        last = await planned(house, request_id="last", limits={"max_steps": 1})
        assert (last["status"], last["final_answer"]["content"]) == ("ok", "About 40.")
        assert "second_look.no_step" in last["header"]


async def test_a_council_is_asked_for_no_answer_in_a_schema() -> None:
    """A council answers in words, and a chain that it calls for knows no schema either: a request
    that wants both is refused by name, where its answer would be ok and fit no schema.
    """
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with House(script=ANSWERS) as house:
        with pytest.raises(InvalidRequest, match=r"a council answers in words") as refused:
            await planned(house, preferences={"council": True}, answer_schema=schema)
    assert refused.value.details["errors"][0]["place"] == "/preferences/council"
