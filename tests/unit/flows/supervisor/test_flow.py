"""Flow ``supervisor``: every move, every bound, and what is never slid over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from ordain.flows.carried import StepResult, VerbPlanInput, VerbPlanOutput
from ordain.flows.supervisor.kind import SUPERVISOR
from ordain.journal.records import Status
from ordain.testing import (
    Played,
    Standing,
    after,
    call,
    child_failed,
    completed,
    failed,
    fails,
    finish,
    interrupt,
    joined,
    moves,
    returned,
    says,
)
from tests.unit.flows.house import play

TOOLS = ("math.evaluate", "ask_user")
IN_TURN = Standing(session="s1", child=True, depth=0, scope=TOOLS)
SUM = call("math.evaluate", expression="6 * 7")
RESULT = returned({"result": "42", "decimal": "42", "exact": True})
ASKING = {"supervisor": {"ask": "brain"}}
DONE = finish("It is 42.")


def run(
    *script: Any,
    policy: Any = None,
    steps: int = 3,
    scope: tuple[str, ...] = TOOLS,
    verb: str = "agent_runtime",
    **caps: Any,
) -> Played[VerbPlanOutput]:
    bounds = {
        "max_steps": steps,
        "max_tokens_reason": 4000,
        "max_tokens_answer": 2000,
        "timeout_ms": 60_000,
        **caps,
    }
    given = VerbPlanInput(
        verb=verb, args={"text": "What is 6 * 7?", "tools": list(TOOLS), **bounds}
    )
    return play(SUPERVISOR, given, *script, policy=policy, standing=replace(IN_TURN, scope=scope))


def out(played: Played[VerbPlanOutput]) -> VerbPlanOutput:
    assert played.output is not None
    return played.output


def test_it_executes_and_finishes() -> None:
    """By rule where nobody is asked: an action is carried out, a valid answer ends the turn."""
    played = run(SUM, RESULT, DONE)
    assert out(played).output == {"content": "It is 42.", "structured": {}}
    assert [(step.step_name, step.ok) for step in out(played).step_results] == [
        ("math.evaluate", True)
    ]


def test_a_failed_step_is_counted_and_the_loop_goes_on() -> None:
    """Whether the turn succeeded is its own to say."""
    played = run(SUM, failed("overflow"), DONE)
    assert [(step.ok, step.error) for step in out(played).step_results] == [(False, "overflow")]
    assert out(played).ok


def test_a_call_out_of_scope_is_a_failed_step() -> None:
    """What the turn does not have, its planner does not get."""
    played = run(call("extract_facts", text="a"), DONE)
    assert played.spawns == ()
    assert len(played.decided("supervise")) == 2


@pytest.mark.parametrize("refused", [says("no JSON"), finish("")])
def test_no_directive_is_planned_again_once(refused: Any) -> None:
    """Then it is a failure, and never becomes chat."""
    assert out(run(refused, DONE)).ok
    played = run(refused, refused)
    assert (out(played).ok, out(played).output) == (False, None)


def test_a_failed_planner_ends_it() -> None:
    """With the model's code."""
    assert out(run(fails("rejected"))).error == "rejected"


def test_a_model_may_ask_to_plan_again() -> None:
    """The proposal is not carried out, and the planner is told."""
    played = run(SUM, moves("request_replan"), DONE, moves("finish"), policy=ASKING)
    assert (out(played).ok, played.calls) == (True, ())
    assert "supervise.replan" in played.requests[2].user


def test_every_move_is_a_line_of_the_header() -> None:
    """Below the proposal that it is about: an action that is not carried out is told as one, and a
    failed supervisor as a failure.
    """

    def told(played: Played[VerbPlanOutput]) -> list[tuple[str, str, str]]:
        return [
            (line.mark, line.what, line.reason)
            for line in played.lines
            if line.what.startswith(("supervisor", "step", "math"))
        ]

    replanned = run(SUM, moves("request_replan"), DONE, moves("finish"), policy=ASKING)
    assert told(replanned) == [
        ("proposal", "step 1: math.evaluate", "step.call"),
        ("info", "supervisor: request_replan", "supervise.suggested"),
        ("proposal", "step 2: finish", "step.finish"),
        ("info", "supervisor: finish", "supervise.suggested"),
    ]
    assert told(run(SUM, moves("dance"), policy=ASKING))[1:] == [
        ("fail", "supervisor: no move", "supervise.invalid")
    ]


def chained(text: str = "It is 42, after longer work.", **changes: Any) -> Any:
    """The end of a chain's run: its result, with the directive that led there unless ``changes``
    say otherwise.
    """
    directive = {
        "thought": None,
        "finish": True,
        "action": None,
        "final_answer": {"content": text, "structured": {}},
    }
    result = {
        "mode": "agent",
        "text": text,
        "structured": {},
        "planner_raw": {"directive": directive, "answer": 3},
        **changes,
    }
    step = StepResult(step_name="extract_facts", order=0, ok=True)
    return joined(completed(VerbPlanOutput(ok=True, output=result, step_results=(step,))))


def escalated(*script: Any, **more: Any) -> Played[VerbPlanOutput]:
    return run(
        *script,
        policy=ASKING,
        scope=(*TOOLS, "agent_chain", "extract_facts"),
        chain_tools=["extract_facts"],
        **more,
    )


def test_an_escalation_ends_with_the_chains_answer() -> None:
    """The pending step is not carried out; what was done before is told to the chain, and its steps
    stand among the turn's.

    EXE-12 "B output ∈
    `execute_action|request_replan|escalate_agent_chain|checkpoint_council|finish`"
    """
    played = escalated(
        SUM, moves("execute_action"), RESULT, DONE, moves("escalate_agent_chain"), chained()
    )
    assert out(played).output == {"content": "It is 42, after longer work.", "structured": {}}
    assert [step.step_name for step in out(played).step_results] == [
        "math.evaluate",
        "extract_facts",
        "agent_chain",
    ]
    (spawn,) = played.spawns
    given = msgspec.json.decode(spawn.input, type=VerbPlanInput)
    assert (spawn.flow, given.verb, given.args["tools"]) == (
        "agent_chain",
        "agent_chain",
        ["extract_facts"],
    )
    assert "math.evaluate: 42" in given.args["before"]
    assert ("extract_facts" in spawn.scope, "math.evaluate" in spawn.scope) == (True, True)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (chained(planner_raw={}), "agent_chain_unfinished"),
        (chained(planner_raw={"directive": {"finish": False}}), "agent_chain_unfinished"),
        (chained(text="All went well.", structured={"sum": 43}), "agent_chain_unfinished"),
        (
            joined(
                child_failed(
                    "max_steps_exhausted", VerbPlanOutput(ok=False, error="max_steps_exhausted")
                )
            ),
            "max_steps_exhausted",
        ),
    ],
)
def test_a_chains_text_alone_ends_nothing(end: Any, code: str) -> None:
    """Without the directive that led there it fails the turn, whatever it says.

    EXE-07 "AgentChain `text` is never accepted as terminal text without a validated decision that
    led there."
    """
    played = escalated(DONE, moves("escalate_agent_chain"), end)
    assert (out(played).error, out(played).output) == (code, None)


def test_a_chain_that_may_not_be_had_fails_the_turn() -> None:
    """What the turn was not given, an escalation does not get: typed, and nothing is called in its
    place.
    """
    played = run(DONE, moves("escalate_agent_chain"), policy=ASKING)
    assert (out(played).error, played.spawns) == ("out_of_scope", ())
    assert [step.skipped for step in out(played).step_results] == [True]


@pytest.mark.parametrize(
    "move", [moves("finish"), moves("dance"), says("what?"), fails("rejected")]
)
def test_a_move_that_is_not_possible_ends_it(move: Any) -> None:
    """An action cannot be finished; what is no move is none; and a supervisor who does not answer
    decides nothing.
    """
    played = run(SUM, move, policy=ASKING)
    assert (out(played).error, played.calls) == ("supervisor_invalid", ())


def test_a_model_lets_it_finish() -> None:
    """Asked about a final answer, it may say so."""
    assert out(run(DONE, moves("finish"), policy=ASKING)).ok


def test_steps_are_bounded() -> None:
    """What was done stands in the results all the same."""
    played = run(SUM, RESULT, steps=1)
    assert (out(played).error, len(out(played).step_results)) == ("max_steps_exhausted", 1)


def test_time_is_bounded() -> None:
    """A model that takes longer than the turn has."""
    played = run(SUM, RESULT, after(90_000, DONE))
    assert (played.status, out(played).ok) == (Status.TIMED_OUT, False)


def test_tokens_are_bounded() -> None:
    """Those for reasoning after a step, those of the answer at its end."""
    assert out(run(SUM.used(10, 9000), RESULT)).error == "token_limit"
    assert out(run(DONE.used(10, 9000))).error == "token_limit"


def test_a_persons_time_is_not_the_turns() -> None:
    """Waiting for an answer for longer than the turn has does not end it."""
    question = call("ask_user", question="Which?", expected_type="freeform", key="which")
    answer = completed(VerbPlanOutput(ok=True, output={"answer": "red", "value": "red"}))
    played = run(question, after(500_000, joined(answer)), DONE)
    assert out(played).ok
    assert (played.spawns[0].flow, set(played.spawns[0].scope)) == ("question", set(TOOLS))


def test_a_question_nobody_answers_is_a_failed_step() -> None:
    """And the planner may go on without."""
    question = call("ask_user", question="Which?", expected_type="freeform", key="which")
    end = child_failed("question_expired", VerbPlanOutput(ok=False, error="question_expired"))
    assert [step.error for step in out(run(question, joined(end), DONE)).step_results] == [
        "question_expired"
    ]


@pytest.mark.parametrize("in_flight", [False, True])
@pytest.mark.parametrize("before", [(), (SUM, RESULT)])
def test_an_interrupt_ends_it_with_what_was_done(before: tuple[Any, ...], in_flight: bool) -> None:
    """Its header and results keep what had happened."""
    played = run(*before, interrupt("override", in_flight=in_flight))
    assert (played.status, out(played).error) == (Status.CANCELLED, "cancelled")
    assert len(out(played).step_results) == bool(before)


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        (
            (says("prose"), says("more prose")),
            "step.syntax.prose",
            "2 of its proposals were no step of a plan. The answer holds no JSON object.",
        ),
        (
            (call("math.evaluate", expression=5),),
            "step.input.invalid",
            (
                "its proposal was no step of a plan. The tool's input does not fit its schema. "
                "action.input /expression: Type."
            ),
        ),
        (
            (says("prose"),),
            "step.syntax.prose",
            "its proposal was no step of a plan. The answer holds no JSON object.",
        ),
        (
            (fails("truncated", "the answer was cut"),) * 2,
            "truncated",
            "it gave no whole step, the answer was cut.",
        ),
    ],
)
def test_a_model_that_cannot_plan_is_told_as_such(
    script: tuple[Any, ...], code: str, said: str
) -> None:
    """No directive is a failure; a person is told that the model could not plan, and what does
    without.
    """
    played = run(
        *script, policy={"fallback": {"on_error": {"truncated": "retry"}}}, steps=len(script)
    )
    assert out(played).error == code
    assert out(played).message.startswith(
        f"the model could not plan: {said} Plain chat needs no plan"
    )


def test_a_provider_that_is_down_is_no_model_that_cannot_plan() -> None:
    """What has nothing to do with planning is told as it is."""
    assert out(run(fails("authentication", "status 401"))).message == "status 401"
