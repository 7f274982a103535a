"""The planner's step: what is begun, proposed, refused, carried out and counted, whatever loop
drives it.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.planner import PlannerRequest
from ordain.effects.results import VerbReturned
from ordain.flows.ask import AskFailed
from ordain.flows.context import FlowContext
from ordain.flows.planner.prompt import PROMPT
from ordain.flows.steps.bounds import bound_met
from ordain.flows.steps.steps import (
    ProposedCall,
    ProposedFinish,
    RefusedStep,
    begin,
    carry_out,
    next_step,
)
from ordain.testing import (
    Played,
    ScriptedEffects,
    call,
    fails,
    finish,
    kind_of,
    proposes,
    returned,
    says,
)
from tests.unit.flows.house import shipped

SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True})


async def _one(context: FlowContext, request: PlannerRequest) -> dict[str, Any]:
    """One step, carried out where it can be, and whether the loop would go on."""
    context, progress, refused = begin(context, request, PROMPT)
    if refused is not None:
        return {"refused": refused.code}
    step = await next_step(context, progress)
    if isinstance(step, AskFailed):
        return {"failed": step.code}
    if isinstance(step, ProposedCall):
        acted = await carry_out(context, progress, step)
        met = bound_met(context, progress)
        return {
            "acted": isinstance(acted.result, VerbReturned),
            "step": progress.steps[0].wire,
            "bound": met,
            "tools": progress.tools_called,
        }
    if isinstance(step, ProposedFinish):
        met = bound_met(context, progress, answered=True)
        return {
            "final": step.final_answer,
            "tokens": [progress.tokens_reason, progress.tokens_answer],
            "bound": met,
        }
    assert isinstance(step, RefusedStep)
    return {"reason": str(step.reason), "thought": step.thought}


def play(
    *script: Any, tools: tuple[str, ...] = ("math.evaluate",), **limits: Any
) -> Played[dict[str, Any]]:
    request = {
        "goal": {"type": "chat", "description": "x"},
        "toolset": [{"tool_id": tool} for tool in tools],
        "limits": limits,
    }
    kind = kind_of(
        _one,
        prompts=(PROMPT,),
        verbs=("math.evaluate",),
        decode=lambda data: PlannerRequest.model_validate_json(bytes(data)),
    )
    played = ScriptedEffects(kind, shipped()).play(PlannerRequest.model_validate(request), script)
    assert played.replayed().equal
    return played


def out(played: Played[dict[str, Any]]) -> dict[str, Any]:
    assert played.output is not None
    return played.output


def test_a_proposed_call_is_carried_out_and_added() -> None:
    """In the form that the wire and the next prompt show."""
    done = out(play(SUM, RESULT))
    assert (done["acted"], done["tools"], done["bound"]) == (True, ["math.evaluate"], None)
    assert done["step"]["action"] == {"tool_id": "math.evaluate", "input": {"expression": "6 * 7"}}
    assert done["step"]["observation"]["output"]["result"] == "42"


def test_a_call_that_may_not_run_is_a_step_without_a_tool() -> None:
    """It is told as refused, and is no tool that was called."""
    done = out(play(call("extract_facts", text="a"), tools=("math.evaluate", "extract_facts")))
    assert (done["acted"], done["tools"], done["step"]["observation"]["ok"]) == (False, [], False)


def test_a_final_answer_is_counted_as_one() -> None:
    """Its tokens are the answer's, and no others are."""
    done = out(play(finish("42").used(100, 7)))
    assert (done["final"], done["tokens"], done["bound"]) == (
        {"content": "42", "structured": {}},
        [0, 7],
        None,
    )


@pytest.mark.parametrize(
    "answer",
    [
        says("no JSON"),
        call("no.such"),
        call("math.evaluate", no="such"),
        finish(""),
        proposes("planner", {"thought": "and now"}),
    ],
)
def test_what_is_not_executable_is_refused(answer: Any) -> None:
    """With a reason of rule ``step``, and nothing is executed."""
    played = play(answer)
    assert out(played)["reason"] == str(played.decided("step")[0].reason)
    assert played.calls == ()


def test_a_failed_ask_is_no_step() -> None:
    """It comes back as it is."""
    assert out(play(fails("rejected"))) == {"failed": "rejected"}


def test_a_toolset_that_cannot_be_had_ends_before_the_first_question() -> None:
    """With the rule's code."""
    played = play(tools=("no.such",))
    assert ("refused" in out(played), played.asked) == (True, ())


@given(st.integers(1, 50), st.floats(1, 1200), st.integers(1, 60_000))
def test_a_request_only_lowers_what_the_server_permits(
    steps: int, seconds: float, tokens: int
) -> None:
    """Limits are the lesser of both, and the loop's time is the run's at most."""
    played = play(
        fails("rejected"), max_steps=steps, timeout_seconds=seconds, max_tokens_reason=tokens
    )
    limits, policy = played.decided("limits")[0].outcome, played.catalog.policy.limits
    assert limits.max_steps == min(steps, policy.max_steps)
    assert limits.max_tokens_reason == min(tokens, policy.max_tokens_reason)
    assert limits.timeout_ms <= min(seconds, policy.timeout_seconds) * 1000 + 1
    assert played.model_calls[0].deadline <= played.stored.records[0].at + 3_600_000_000
