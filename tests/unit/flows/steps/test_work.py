"""The whole loop of a worker: it answers by a validated directive, and ends typed at every bound
that it has.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.flows.context import FlowContext
from ordain.flows.planner.prompt import PROMPT
from ordain.flows.steps.work import Worked, Working, work
from ordain.rules.safety import SafetyLimits
from ordain.testing import (
    Played,
    ScriptedEffects,
    after,
    call,
    failed,
    fails,
    finish,
    interrupt,
    kind_of,
    returned,
    says,
)
from tests.unit.flows.house import shipped

SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True})
DONE = finish("It is 42.", {"sum": 42})
ANSWER = {"content": "It is 42.", "structured": {"sum": 42}}


def play(
    *script: Any,
    how: Working | None = None,
    tools: tuple[str, ...] = ("math.evaluate",),
    **limits: Any,
) -> Played[Worked]:
    async def worker(context: FlowContext, request: PlannerRequest) -> Worked:
        return await work(context, request, PROMPT, how)

    request = {
        "goal": {"type": "chat", "description": "x"},
        "toolset": [{"tool_id": tool} for tool in tools],
        "limits": limits,
    }
    kind = kind_of(
        worker,
        prompts=(PROMPT,),
        verbs=("math.evaluate",),
        decode=lambda data: PlannerRequest.model_validate_json(bytes(data)),
    )
    played = ScriptedEffects(kind, shipped()).play(PlannerRequest.model_validate(request), script)
    assert played.replayed().equal
    return played


def out(played: Played[Worked]) -> Worked:
    assert played.output is not None
    return played.output


def test_it_acts_and_answers() -> None:
    """The accepted answer, what was called for it, and the directive that led there."""
    done = out(play(SUM, RESULT, DONE))
    assert (done.ok, done.error, done.output) == (True, "", ANSWER)
    assert [(step.step_name, step.order, step.ok) for step in done.steps] == [
        ("math.evaluate", 0, True)
    ]
    assert (
        done.planner_raw["directive"]["finish"],
        done.planner_raw["directive"]["final_answer"],
    ) == (True, ANSWER)


def test_a_model_is_asked_as_the_worker() -> None:
    """Its role stands in every call."""
    played = play(SUM, RESULT, DONE, how=Working(role="finance_agent"))
    assert [one.role for one in played.model_calls] == ["finance_agent", "finance_agent"]


def test_a_failed_call_is_told_and_the_work_goes_on() -> None:
    """What failed stands among the steps; whether that is well the verdict says, and not the
    worker.
    """
    done = out(play(SUM, failed("overflow"), DONE))
    assert (done.ok, [(step.ok, step.error) for step in done.steps]) == (
        True,
        [(False, "overflow")],
    )


def test_a_call_that_the_door_refused_is_told_apart_from_what_was_made() -> None:
    """It stands among the steps as skipped, and apart it counts as one that code did not let be
    made.
    """
    done = out(
        play(call("extract_facts", text="x"), DONE, tools=("math.evaluate", "extract_facts"))
    )
    assert ([step.skipped for step in done.steps], done.refused) == ([True], 0)
    assert (done.apart.steps, done.apart.refused) == ((), 1)
    made = out(play(SUM, RESULT, DONE))
    assert made.apart == made


@pytest.mark.parametrize(
    "refused", [says("The answer is 42."), finish(""), call("no.such"), says('"maybe"')]
)
def test_what_is_no_directive_never_ends_it_well(refused: Any) -> None:
    """One more try, then it fails with the first reason: prose is never an answer."""
    assert out(play(refused, DONE)).ok
    played = play(refused, refused)
    assert (out(played).ok, out(played).output, out(played).planner_raw) == (False, None, {})
    assert out(played).error == str(played.decided("step")[0].reason)


def test_a_toolset_that_cannot_be_had_ends_it_before_the_first_question() -> None:
    """With the rule's code."""
    played = play(tools=("no.such",))
    assert (out(played).ok, played.asked) == (False, ())


@pytest.mark.parametrize(
    ("script", "limits", "code"),
    [
        ((SUM, RESULT), {"max_steps": 1}, "max_steps_exhausted"),
        ((SUM.used(10, 9000), RESULT), {}, "token_limit"),
        ((DONE.used(10, 9000),), {}, "token_limit"),
        ((SUM, after(2_000, RESULT)), {"timeout_seconds": 1}, "timed_out"),
        ((after(2_000, DONE),), {"timeout_seconds": 1}, "timed_out"),
        ((fails("rejected"),), {}, "rejected"),
    ],
)
def test_each_bound_of_its_request_ends_it(
    script: tuple[Any, ...], limits: dict[str, Any], code: str
) -> None:
    """With a code of its own and without an answer."""
    done = out(play(*script, **limits))
    assert (done.ok, done.error, done.output) == (False, code, None)


@pytest.mark.parametrize(
    ("script", "limits", "reason"),
    [
        ((SUM, RESULT, SUM), SafetyLimits(tool_calls=1), "tool_call_limit"),
        ((after(2_000, DONE),), SafetyLimits(ms=1_000), "run_time_limit"),
        ((SUM, after(2_000, RESULT)), SafetyLimits(ms=2_000), "run_time_limit"),
    ],
)
def test_its_safety_limits_end_it_before_more_is_done(
    script: tuple[Any, ...], limits: SafetyLimits, reason: str
) -> None:
    """Typed with the source's reason, and the call that would be beyond one is not made."""
    played = play(*script, how=Working(limits=limits))
    assert (out(played).error, out(played).message) == ("safety_limit_exceeded", reason)
    assert [line.what for line in played.lines if line.reason.startswith("safety")] == [
        f"safety limit: {reason}"
    ]


def test_interrupted_it_says_so() -> None:
    """With what was done until then."""
    done = out(play(SUM, RESULT, interrupt()))
    assert (done.error, len(done.steps)) == ("cancelled", 1)
