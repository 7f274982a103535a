"""Flow ``planner``: each way in which a planning run can go on and end, by a script."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.flows.planner.kind import PLANNER
from ordain.flows.planner.outcome import PlannerOutcome
from ordain.journal.records import Status
from ordain.rules.spend import Spend
from ordain.testing import (
    Played,
    ScriptedEffects,
    after,
    call,
    carved,
    catalog_of,
    failed,
    fails,
    finish,
    interrupt,
    returned,
    says,
)

LOOK = VerbSpec(
    name="shelf.find",
    description="Say where a book is.",
    effect=VerbEffect.READ,
    input_schema={
        "type": "object",
        "properties": {"title": {"type": "string"}},
        "required": ["title"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
)
CATALOG = catalog_of(PLANNER, verbs=[LOOK])
FOUND = returned({"text": "lent until Thursday"}, verb="shelf.find")
ASK = call("shelf.find", title="atlas")


def plan(*script: Any, policy: Any = None, **limits: Any) -> Played[PlannerOutcome]:
    given = PlannerRequest.model_validate(
        {
            "goal": {"type": "chat", "description": "Is the atlas in?"},
            "toolset": [{"tool_id": "shelf.find"}],
            "limits": limits,
        }
    )
    played = ScriptedEffects(PLANNER, CATALOG, policy=policy).play(given, script)
    assert played.replayed().equal, played.replayed()
    return played


def asked_with(**more: Any) -> Played[PlannerOutcome]:
    """A request with something more in it, answered at once."""
    given = PlannerRequest.model_validate(
        {"goal": {"type": "chat", "description": "Is the atlas in?"}, **more}
    )
    played = ScriptedEffects(PLANNER, CATALOG).play(given, (finish("Yes."),))
    assert played.replayed().equal, played.replayed()
    return played


def out(played: Played[PlannerOutcome]) -> PlannerOutcome:
    assert played.output is not None
    return played.output


def test_a_run_looks_and_answers() -> None:
    """A tool is called with what the model proposed, and the accepted answer is the run's.

    PLN-32 "Loop: `trace=[]`; for step 0..max_steps-1: call LLM with `prior_trace`; if finish coerce
    final answer and stop; else call verb `tool_id` with `input`, normalise observation,"
    """
    played = plan(ASK, FOUND, finish("It is lent."))
    assert played.status is Status.COMPLETED
    assert out(played).final_answer == {"content": "It is lent.", "structured": {}}
    assert out(played).usage["tools_called"] == ["shelf.find"]
    assert [one.args for one in played.calls] == [{"title": "atlas"}]
    assert "TRACE" not in played.requests[0].user
    assert "lent until Thursday" in played.requests[1].user.partition("TRACE")[2]
    assert len(played.requests) == 2
    assert len(plan(ASK, FOUND, ASK, FOUND, ASK, FOUND, max_steps=3).requests) == 3


def test_an_unknown_tool_is_refused_before_anything_is_asked() -> None:
    """A toolset that cannot be had ends the run without a model call."""
    given = {"goal": {"type": "chat", "description": "x"}, "toolset": [{"tool_id": "no.such"}]}
    played = ScriptedEffects(PLANNER, CATALOG).play(PlannerRequest.model_validate(given))
    assert played.asked == ()
    assert played.status is Status.FAILED


def test_a_refused_step_is_asked_for_again() -> None:
    """An invalid directive is asked for once more with the reason, and what follows counts; a wrong
    input is none that a verb could fail by.

    B-25 "with the reason code in the prompt, counted as a step and traced with `action: null`, for
    every invalid directive, wrong tool input included"
    B-25 "B-04 covers only calls that were authorised."
    """
    wrong = call("shelf.find", shelf="atlas")
    for refused in (says("no JSON"), finish(""), call("no.such"), wrong):
        played = plan(refused, finish("It is lent."))
        assert played.status is Status.COMPLETED
        assert len(played.decided("reask")) == 1
        assert f"was refused: {played.decided('step')[0].reason}." in played.requests[1].user
        assert out(played).usage["steps"] == 2
        assert out(played).steps[0][1] is None
        shown = json.loads(
            played.requests[1].user.partition("TRACE (the latest steps)\n")[2].partition("\n")[0]
        )
        assert (shown["step_index"], shown["action"], shown["observation"]) == (0, None, None)
        assert (played.calls, played.decided("authorize")) == ((), ())


def test_a_second_refusal_ends_the_run_with_the_first_reason() -> None:
    """Policy's tries are spent: the run ends with why the first directive was refused."""
    played = plan(says("no JSON"), call("no.such"))
    assert played.status is Status.FAILED
    assert out(played).error is not None
    assert played.settlement is not None
    assert played.settlement.reason == str(played.decided("step")[0].reason)


def test_no_retry_where_policy_allows_none() -> None:
    """With no tries in policy the first invalid directive ends the run."""
    assert len(plan(says("no JSON"), policy={"step": {"reask": 0}}).requests) == 1


def test_a_failed_tool_is_a_step() -> None:
    """What a verb could not do stands in the trace, and the loop goes on."""
    played = plan(ASK, failed("no_shelf"), finish("I do not know."))
    assert played.status is Status.COMPLETED
    assert any(line.mark == "fail" and line.what == "shelf.find" for line in played.lines)


def test_steps_are_bounded() -> None:
    """After the last permitted step the run ends; what the last tool gave is salvaged and marked as
    no answer.
    """
    played = plan(ASK, FOUND, max_steps=1)
    assert played.settlement is not None
    assert played.settlement.reason == "max_steps_exhausted"
    salvaged = out(played).final_answer
    assert salvaged is not None
    assert salvaged["structured"] == {"salvaged": True, "stop_reason": "max_steps_exhausted"}
    assert salvaged["content"] == "lent until Thursday"


def test_what_is_salvaged_is_the_last_steps() -> None:
    """PLN-33 "On loop exit without a final answer: salvage from the last planner step": not an
    earlier one's, whichever bound ended the loop.
    """
    later = returned({"text": "back since Friday"}, verb="shelf.find")
    for played in (
        plan(ASK, FOUND, ASK, later, max_steps=2),
        plan(ASK, FOUND, ASK, later, after(20_000, ASK), timeout_seconds=10),
    ):
        salvaged = out(played).final_answer
        assert salvaged is not None
        assert salvaged["content"] == "back since Friday"
    assert out(plan(ASK, FOUND, ASK, failed("no_shelf"), max_steps=2)).final_answer is None


def test_the_state_snapshot_reaches_the_model() -> None:
    """Word for word, beside what it is.

    PLN-12 “`context.orion_state_snapshot{version:"v1", themes[], curiosity{theme:float},
    strain{theme:float}, notes}`”
    B-44 "`snapshot.version` is optional, default `v1`"
    """
    for given in ({}, {"orion_state_snapshot": {}}, {"orion_state_snapshot": {"version": "v1"}}):
        asked = PlannerRequest.model_validate(
            {"goal": {"type": "chat", "description": "Is the atlas in?"}, "context": given}
        )
        assert asked.context.orion_state_snapshot.version == "v1"
    state = {
        "themes": ["rest"],
        "curiosity": {"tea": 0.75},
        "strain": {"deadline": 0.5},
        "notes": "A quiet evening.",
    }
    told = [
        played.requests[0].user
        for played in (
            plan(finish("Yes.")),
            asked_with(context={"orion_state_snapshot": {"version": "v1", **state}}),
        )
    ]
    assert "STATE" not in told[0]
    assert json.loads(told[1].partition("\nSTATE\n")[2].partition("\n")[0]) == state


@pytest.mark.parametrize("style", ["warm", "technical", "neutral"])
def test_the_style_reaches_the_model(style: str) -> None:
    """PLN-45 "`style` and `return_trace` are output hints": the model is told which one, and no
    decision depends on it.
    """
    played = asked_with(preferences={"style": style})
    assert f"Style of final_answer.content: {style}." in played.requests[0].system
    assert [one.reason for one in played.decided("step")] == [
        one.reason for one in plan(finish("Yes.")).decided("step")
    ]


def test_a_thought_is_never_salvaged() -> None:
    """Where the last step gave nothing, there is no answer."""
    assert out(plan(ASK, failed("no_shelf"), max_steps=1)).final_answer is None


def test_time_is_bounded() -> None:
    """A step that takes longer than the run has ends it as timed out, with what was had."""
    played = plan(ASK, FOUND, after(20_000, ASK), timeout_seconds=10)
    assert played.status is Status.TIMED_OUT
    salvaged = out(played).final_answer
    assert salvaged is not None
    assert salvaged["structured"]["stop_reason"] == "timeout"


def test_tokens_for_reasoning_are_bounded() -> None:
    """Spent reasoning tokens end the run after the step that spent them."""
    played = plan(ASK.used(10, 500), FOUND, max_tokens_reason=100)
    assert played.settlement is not None
    assert played.settlement.reason == "token_limit"


def test_an_answer_beyond_its_tokens_is_salvaged_and_no_success() -> None:
    """An answer that cost more than the answer may is kept and marked."""
    played = plan(finish("It is lent.").used(10, 500), max_tokens_answer=100)
    assert played.status is Status.FAILED
    salvaged = out(played).final_answer
    assert salvaged is not None
    assert salvaged["structured"]["stop_reason"] == "token_limit"


def test_a_failed_model_ends_the_run_with_its_code() -> None:
    """An error that policy does not retry is the run's."""
    played = plan(fails("rejected"))
    assert played.settlement is not None
    assert played.settlement.reason == "rejected"


def test_a_budget_that_covers_no_call_asks_nothing() -> None:
    """A call that might not fit the run's budget does not start."""
    played = plan(policy={"budget": {"run_tokens": 10}})
    assert played.asked == ()
    assert played.settlement is not None
    assert played.settlement.reason == "budget_exceeded"


def test_a_shared_account_that_is_spent_refuses_the_run() -> None:
    """Nothing is asked where an account has nothing left; where it has a rest, the run may use
    that.
    """
    bounded = {"budget": {"day_tokens": 50_000}}
    day = "day:2024-10-04"
    refused = plan(carved({day: Spend(tokens=50_000)}), policy=bounded)
    assert refused.settlement is not None
    assert (refused.settlement.reason, refused.model_calls) == ("budget_exceeded", ())
    rest = plan(carved({day: Spend(tokens=10_000)}), finish("It is lent."), policy=bounded)
    assert rest.status is Status.COMPLETED
    assert rest.left.tokens + rest.spent.tokens == 40_000


@pytest.mark.parametrize("in_flight", [False, True])
@pytest.mark.parametrize("before", [(), (ASK, FOUND)])
def test_an_interrupt_cancels(before: tuple[Any, ...], in_flight: bool) -> None:
    """Stopped before or in a call, at first or later, the run ends as cancelled and asks nothing
    more.
    """
    played = plan(*before, interrupt(by="user:ada", in_flight=in_flight))
    assert played.status is Status.CANCELLED
    assert out(played).error == {"code": "cancelled", "message": "cancel by user:ada"}
    assert len(played.requests) == len(before) // 2 + in_flight
