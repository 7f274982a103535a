"""Flow ``planner`` with experiments under ``preferences``: an accepted answer is criticised, or a
council looks at it, before it counts.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.journal.records import Status
from ordain.testing import Played, call, child_failed, completed, finish, joined, says
from tests.shapes.council import auditor, chair, heard
from tests.unit.flows.house import play

FINDINGS = {
    "verdict": "revise",
    "findings": [
        {
            "quote": "42",
            "kind": "unclear",
            "severity": "low",
            "problem": "Of what?",
            "fix": "Say it.",
        }
    ],
}
CRITIQUE = joined(completed({"ok": True, "output": FINDINGS}))
FIRST, BETTER = finish("42"), finish("6 * 7 is 42.")
WORKED = {
    "mode": "council",
    "text": "It is 42.",
    "structured": {},
    "planner_raw": {
        "answer": 9,
        "directive": {
            "thought": None,
            "finish": True,
            "action": None,
            "final_answer": {"content": "It is 42.", "structured": {}},
        },
    },
}


def plan(
    *script: Any, max_steps: int = 8, policy: Any = None, tools: Any = (), **preferences: Any
) -> Played[PlannerOutcome]:
    given = PlannerRequest.model_validate(
        {
            "goal": {"type": "chat", "description": "What is 6 * 7?"},
            "limits": {"max_steps": max_steps},
            "toolset": [{"tool_id": tool} for tool in tools],
            "preferences": preferences,
        }
    )
    return play(PLANNER, given, *script, policy=policy)


def out(played: Played[PlannerOutcome]) -> PlannerOutcome:
    assert played.output is not None
    return played.output


def test_an_answer_is_criticised_once_and_bettered() -> None:
    """The critic is a verb like any other, with a permit; the planner sees draft and critique, and
    its next answer counts.

    FUT-04 "Experiment flags under `preferences` (council, self-critique, …) on the same contract."
    """
    played = plan(FIRST, CRITIQUE, BETTER, self_critique=True)
    assert (out(played).status, out(played).final_answer) == (
        "ok",
        {"content": "6 * 7 is 42.", "structured": {}},
    )
    assert out(played).usage["steps"] == 2
    (spawn,) = played.spawns
    assert spawn.authorized is not None
    assert spawn.authorized.call.verb == "self_critique"
    assert "Say it." in played.requests[1].user
    assert "self_critique" not in played.requests[1].system
    assert "the answer is criticised before it counts" in played.header


@pytest.mark.parametrize("given", [False, "yes", 1, "true", {"on": True}])
def test_anything_but_true_asks_for_nothing(given: Any) -> None:
    """Of what an earlier build took, which is refused by now: it goes on as it did.

    FUT-06 "Any extension keeps SAF-04 shapes and breaks no caller."
    """
    played = plan(FIRST, self_critique=given, council=given)
    assert out(played).final_answer == {"content": "42", "structured": {}}
    assert played.decided("second_look") == ()


def test_a_critic_that_fails_or_cannot_be_met_leaves_the_answer() -> None:
    """Each is told in the header: the failed call, or why there was none."""
    failed = plan(FIRST, joined(child_failed("rejected", None)), self_critique=True)
    assert out(failed).final_answer == {"content": "42", "structured": {}}
    assert "self_critique" in failed.header
    last = plan(FIRST, max_steps=1, self_critique=True)
    assert out(last).final_answer == {"content": "42", "structured": {}}
    assert "the answer is not criticised" in last.header
    assert [str(one.reason) for one in last.decided("second_look")] == ["second_look.no_step"]
    off = plan(
        FIRST, policy={"verbs": {"default": {"deny": ["self_critique"]}}}, self_critique=True
    )
    assert out(off).final_answer == {"content": "42", "structured": {}}
    assert "self_critique" in off.header


def test_what_comes_after_a_critique_is_judged_like_any_step() -> None:
    """Prose is none; the draft is given as salvaged, and never as the answer.

    B-01 "Exec never turns a salvaged answer into success."
    """
    played = plan(FIRST, CRITIQUE, says("Now it is right."), says("Really."), self_critique=True)
    assert (played.status, out(played).status) == (Status.FAILED, "error")
    answer = out(played).final_answer
    assert answer is not None
    assert (answer["content"], answer["structured"]["salvaged"]) == ("42", True)


def test_a_council_looks_at_the_answer() -> None:
    """Its accepted text is the answer; a council that comes to none fails the request, with the
    draft as salvaged.
    """
    played = plan(FIRST, heard(), chair("It is 42."), auditor(), council=True)
    answer = out(played).final_answer
    assert answer is not None
    assert (out(played).status, answer["content"]) == ("ok", "It is 42.")
    assert answer["structured"]["deliberation"]["rounds_used"] == 1
    assert "What would be answered:" in played.requests[1].user
    maybe = plan(FIRST, heard(), chair("It is 42."), auditor("maybe"), council=True)
    error, answer = out(maybe).error, out(maybe).final_answer
    assert error is not None
    assert answer is not None
    assert (error["code"], answer["content"], answer["structured"]["salvaged"]) == (
        "council_verdict_invalid",
        "42",
        True,
    )


def test_a_council_may_hand_over_to_longer_work() -> None:
    """The chain has the request's own tools and nothing else, and its text counts with its
    directive alone.

    ACH-03 "council `delegate_chain`"
    """
    script = (FIRST, heard(), chair("Hm."), auditor("delegate"))
    played = plan(
        *script,
        joined(completed({"ok": True, "output": WORKED})),
        tools=("math.evaluate",),
        council=True,
    )
    assert out(played).final_answer == {"content": "It is 42.", "structured": {}}
    chain = played.spawns[-1]
    assert chain.authorized is not None
    assert chain.authorized.call.args["tools"] == ["math.evaluate"]
    prose = plan(
        *script,
        joined(completed({"ok": True, "output": {**WORKED, "planner_raw": {}}})),
        council=True,
    )
    assert out(prose).status == "error"


@pytest.mark.parametrize("preferences", [{}, {"council": True}])
def test_no_model_enters_a_chain_by_naming_it(preferences: dict[str, Any]) -> None:
    """Whatever the toolset names: the call is refused, and the run goes on.

    ACH-03 "Agent chain is entered only through a validated path"
    """
    asked = call("agent_chain", text="again")
    script = (finish("42"), heard(), chair("42"), auditor()) if preferences else (finish("42"),)
    played = plan(asked, *script, tools=("agent_chain",), **preferences)
    assert [str(one.reason) for one in played.decided("authorize")] == ["authorize.out_of_scope"]
    assert out(played).status == "ok"
