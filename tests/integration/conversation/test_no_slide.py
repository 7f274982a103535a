"""No agent or council turn slides into chat, whatever planner, router or supervisor model say: it
does what was decided, or fails typed.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.testing import ModelScript, call, fails, finish, moves, output, routes
from tests.shapes.council import judgement, verdict
from tests.shapes.lines import steps
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of
from tests.shapes.talk import House

SUM = call("math.evaluate", expression="6 * 7")
UNASKED = ModelScript()


async def told(
    script: ModelScript,
    policy: dict[str, dict[str, Any]] | None = None,
    *,
    asks: bool = True,
    **hints: Any,
) -> tuple[MessageAnswer, dict[str, Any]]:
    """What becomes of one message, and the turn's result; all laws hold, nothing of it was chat,
    and a model was asked where it ``asks``.
    """
    async with House(script=script, policy=policy) as house:
        answer = await house.say("please work this out", **hints)
        result = json.loads(bytes((await house.ordain.runtime.view(answer.run_id or "")).result))
        records = house.query(
            "SELECT CAST(coalesce(r.body, p.bytes) AS TEXT) FROM journal r LEFT JOIN payloads p "
            "ON p.id = r.payload"
        )
        assert "mode" not in hints or not [body for (body,) in records if '"chat_general"' in body]
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'verb_plan'") == [(0,)]
        assert not house.puppet.asked("verb")
        assert bool(house.puppet.requests) == asks
        assert not broken_now(rows_of(house.ordain), max_active=4)
        assert not broken_at_rest(house.ordain)
    return answer, result


PROSE = "The answer is 42, and everything went well."
EMPTY = {"thought": "hm", "finish": False, "action": None, "final_answer": None}
HALF = {"thought": "done", "finish": True, "action": None, "final_answer": None}


@pytest.mark.parametrize(
    ("planner", "code"),
    [
        (PROSE, "step.syntax.prose"),
        (EMPTY, "step.consistency.act_without_action"),
        (HALF, "step.consistency.finish_without_answer"),
        ({"text": PROSE}, "step.shape"),
        ({**EMPTY, "action": {"tool_id": "agent_chain", "input": {}}}, "step.tool.outside_toolset"),
        ({**EMPTY, "action": {"tool_id": "chat_general_", "input": {}}}, "step.tool.unknown"),
        (fails("rejected"), "rejected"),
        (fails("timed_out"), "timed_out"),
        ("", "step.syntax.empty"),
    ],
)
async def test_a_planner_without_directive_fails_the_turn(planner: Any, code: str) -> None:
    """Prose, a missing action with a missing answer, or a planner step that is not ok, is a typed
    failure.

    EXE-06 "Missing action + missing final, or a planner step whose status is not ok, must not end
    the loop softly and slide into AgentChain prose"
    FAIL-04 "never a silent fallback claiming success"
    """
    answer, result = await told(steps(planner), mode="agent")
    assert answer.reply is not None
    assert not answer.reply.ok
    assert not result["ok"]
    assert (
        code in result["error"]["code"]
        or code in result["error"]["message"]
        or code in answer.reply.header
    )
    assert PROSE not in answer.reply.narrative


async def test_prose_after_a_good_step_is_no_answer() -> None:
    """A planner that slides into prose after a successful call has not finished."""
    answer, result = await told(steps(SUM, PROSE), mode="agent")
    assert answer.reply is not None
    assert not answer.reply.ok
    assert result["steps"][0]["ok"]
    assert PROSE not in answer.reply.narrative


async def test_an_agent_turn_enters_by_its_own_verb() -> None:
    """ING-10 "route to a mode-specific canonical entry verb": without a verb an agent turn enters
    by agent_runtime and is supervised.
    """
    answer, result = await told(steps(SUM, finish("42")), mode="agent")
    assert answer.reply is not None
    assert answer.reply.ok
    assert (result["verb"], result["path"], result["outcome"]) == (
        "agent_runtime",
        "react_lite",
        "direct",
    )


async def test_a_react_lite_turn_is_made_of_directives() -> None:
    """On this path each answer of the model is judged before anything follows from it: the call
    with its input is made, the finish with its text is the reply.

    EXE-13 "**C ReAct-lite**: every iteration emits a validated step directive `{tool_id,input}` or
    `{finish:true,final_text}`."
    """
    async with House(script=steps(SUM, finish("It is 42."))) as house:
        answer = await house.say("please work this out", mode="agent")
        view = await house.ordain.runtime.view(answer.run_id or "")
        assert json.loads(bytes(view.result))["path"] == "react_lite"
        told = (
            "SELECT CAST(coalesce(r.body, p.bytes) AS TEXT) FROM journal r LEFT JOIN payloads p "
            "ON p.id = r.payload WHERE r.name = ?"
        )
        judged = [
            json.loads(body)
            for (body,) in house.query(f"{told} AND r.kind = 'decision' ORDER BY r.seq", "step")
        ]
        called = [
            json.loads(body)["effect"]["authorized"]["call"]
            for (body,) in house.query(f"{told} AND r.kind = 'intent'", "verb_call")
        ]
    assert [(one["outcome"]["type"], one["reason"]) for one in judged] == [
        ("call_tool", "step.call"),
        ("finish", "step.finish"),
    ]
    assert [(one["verb"], one["args"]) for one in called] == [
        ("math.evaluate", {"expression": "6 * 7"})
    ]
    assert answer.reply is not None
    assert answer.reply.narrative == "It is 42."


def counselled(action: str = "accept", says: Any = None) -> ModelScript:
    """A council whose auditor says this."""
    said = verdict(action) if says is None else says
    return (
        ModelScript()
        .on("seat", {"text": "I think so."})
        .on("chair", judgement("Yes, on Sundays."))
        .on("auditor", said)
    )


async def test_a_council_turn_begins_with_a_checkpoint() -> None:
    """It enters by its own verb, the supervisor's first move is the council, and its accepted text
    is the answer.

    EXE-02 "Router puts `plan.verb_name` in context; `mode∈{agent,council}` or `extra.supervised` →
    supervisor path."
    CNC-04 "Council reachable by `mode=council`"
    """
    answer, result = await told(counselled(), mode="council")
    assert answer.reply is not None
    assert (answer.reply.ok, result["verb"], result["path"]) == (True, "council_runtime", "council")
    assert answer.reply.narrative == "Yes, on Sundays."
    assert "supervisor: checkpoint_council" in answer.reply.header


LONGER = {
    "thought": "longer",
    "finish": True,
    "action": None,
    "final_answer": {"content": "After longer work: yes.", "structured": {}},
}


@pytest.mark.parametrize(
    ("script", "ok", "code"),
    [
        (counselled("accept"), True, ""),
        (counselled("delegate").on("planner", LONGER, role="agent_chain"), True, ""),
        (
            counselled("delegate").on("planner", "After longer work: yes."),
            False,
            "step.syntax.prose",
        ),
        (counselled("revise_same_round"), False, "council_unresolved"),
        (counselled("new_round"), False, "council_unresolved"),
        (counselled(says="maybe"), False, "council_verdict_invalid"),
        (counselled("maybe"), False, "council_verdict_invalid"),
        (counselled(says={}), False, "council_verdict_invalid"),
        (ModelScript().on("seat", "prose"), False, "council_no_quorum"),
        (
            ModelScript().on("seat", {"text": "So."}).on("chair", "Yes, on Sundays."),
            False,
            "council_verdict_invalid",
        ),
    ],
)
async def test_a_councils_word_is_a_directive(script: ModelScript, ok: bool, code: str) -> None:
    """Each of its words leads where the table says, and text alone nowhere: what is no verdict
    fails the turn typed. What is left open at the last round is shown as that.

    EXE-08 "Council: `verdict.action` is consumed as an executable directive; `final_text` alone is
    never the sole signal."
    EXE-15 "**D council bridge**: `CouncilResult.verdict.action` → Exec enum
    `accept_text|revise|delegate_chain|new_round`; branch transitions enforced."
    EXE-18 “Target verdict matrix: for PlannerReact, AgentChain and Council, "Exec enforces as
    decision" = Yes.”
    """
    answer, result = await told(script, mode="council")
    assert answer.reply is not None
    assert answer.reply.ok is ok
    assert (result.get("error") or {"code": ""})["code"] == code
    final, *attached = answer.reply.narrative.split("Proposed, and not final: ")
    assert ok == (("Yes, on Sundays." in final) or ("After longer work: yes." in final))
    assert attached == (
        ['"Yes, on Sundays." (council_unresolved).'] if code == "council_unresolved" else []
    )


@pytest.mark.parametrize("mode", ["agent", "council"])
@pytest.mark.parametrize(
    ("cause", "policy", "script"),
    [
        ("verb pinning", None, counselled().on("planner", finish("42"))),
        (
            "weak binding",
            {"supervisor": {"ask": "brain"}},
            counselled("maybe").on("planner", SUM).on("supervisor", PROSE),
        ),
        ("prose terminalisation", None, counselled(says=PROSE).on("planner", PROSE)),
    ],
)
async def test_each_cause_of_a_slide_into_chat_is_closed(
    mode: str, cause: str, policy: Any, script: ModelScript
) -> None:
    """A verb that nobody named, a decision that binds nothing, prose where a directive belongs: the
    turn is entered by its mode's own verb, and answers or fails typed.

    ORC-05 "There is no silent mode switch from agent/council to chat; degeneration causes (verb
    pinning, weak binding, prose terminalisation) must each have a regression test."
    """
    answer, result = await told(script, policy, mode=mode)
    assert answer.reply is not None
    assert (result["mode"], result["verb"]) == (mode, f"{mode}_runtime")
    assert answer.reply.ok == (cause == "verb pinning")
    assert answer.reply.ok or result["error"]["code"]
    assert PROSE not in answer.reply.narrative


@pytest.mark.parametrize(
    ("hints", "code"),
    [(["nobody"], "unknown_agent"), (["research_agent", "nobody"], "unknown_agent")],
)
async def test_agents_who_are_not_there_are_no_chat(hints: list[str], code: str) -> None:
    """B-41 "Workflow, delegate, fan-out are outcomes, never values of `path`": in brain mode they
    end typed, and no model is asked.
    """
    answer, result = await told(UNASKED, asks=False, delegates=hints)
    assert answer.reply is not None
    assert (answer.reply.ok, result["error"]["code"], result.get("path")) == (False, code, None)


@pytest.mark.parametrize(
    ("template", "code"),
    [
        ("no_such", "unknown_template"),
        ("search_web", "missing_argument"),
        ("delegate_to_agent", "missing_argument"),
    ],
)
async def test_a_workflow_that_cannot_be_is_no_chat(template: str, code: str) -> None:
    """It ends as what it is, and no model is asked."""
    answer, result = await told(UNASKED, asks=False, workflow={"template": template})
    assert answer.reply is not None
    assert (answer.reply.ok, result["error"]["code"], result.get("path")) == (False, code, None)


@pytest.mark.parametrize("path", ["agent_chain", "direct", "council", "warp", "react_lite"])
async def test_a_router_moves_an_agent_turn_within_its_mode(path: str) -> None:
    """EXE-10 "Exec validates and enforces it": a router's answer never takes an agent turn out of
    its mode.
    """
    script = steps(finish("42")).on("router", routes(path, confidence=1.0, budget_class="small"))
    answer, result = await told(script, {"router": {"ask": "local"}}, mode="agent")
    assert answer.reply is not None
    expected = "agent_chain" if path == "agent_chain" else "react_lite"
    assert result["path"] == expected
    assert answer.reply.ok
    assert ("agent_chain/AgentChainService" in result["plan"]) == (path == "agent_chain")


@pytest.mark.parametrize(
    ("decision", "planner", "ok", "code"),
    [
        (moves("finish"), finish("42"), True, ""),
        (moves("finish"), SUM, False, "supervisor_invalid"),
        (moves("execute_action"), finish("42"), False, "supervisor_invalid"),
        (moves("maybe"), finish("42"), False, "supervisor_invalid"),
        (PROSE, finish("42"), False, "supervisor_invalid"),
        (moves("escalate_agent_chain"), finish("42"), True, ""),
        (moves("escalate_agent_chain"), SUM, False, "step.tool.outside_toolset"),
        (moves("checkpoint_council"), SUM, False, "council_no_quorum"),
        (fails("rejected"), finish("42"), False, "supervisor_invalid"),
    ],
)
async def test_a_supervisor_model_binds_or_fails(
    decision: Any, planner: Any, ok: bool, code: str
) -> None:
    """EXE-12 "hard schema validation": a supervisor model's decision is executed as it stands, or
    fails the turn; nothing finishes beside it.
    """
    script = steps(planner).on("supervisor", decision)
    answer, result = await told(script, {"supervisor": {"ask": "brain"}}, mode="agent")
    assert answer.reply is not None
    assert answer.reply.ok is ok
    assert (result.get("error") or {"code": ""})["code"] == code


async def test_the_supervised_loop_is_capped_at_three_steps() -> None:
    """EXE-16 "Supervisor loop cap `max_steps = ctx.max_steps or 3`": a planner that never finishes
    is stopped after three steps, or as many as were asked for.
    """
    for asked, cap in ((None, 3), (2, 2)):
        answer, result = await told(steps(SUM), mode="agent", max_steps=asked)
        assert answer.reply is not None
        assert (answer.reply.ok, result["error"]["code"], len(result["steps"])) == (
            False,
            "max_steps_exhausted",
            cap,
        )


async def test_a_brain_turn_obeys_no_directive() -> None:
    """EXE-03 "have no effect there": directive-like fields in a verb's output call nothing on the
    unsupervised path.
    """
    directive = json.dumps({"next_verb": "math.evaluate", "action": json.loads(SUM.text)["action"]})
    async with House(script=ModelScript().on("verb", output(content=directive))) as house:
        answer = await house.say("please work this out")
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.query("SELECT count(*) FROM journal WHERE name = 'verb_call'") == [(0,)]


@pytest.mark.parametrize(
    ("verb", "code"),
    [
        ("nope", "unknown_verb"),
        ("agent_runtime", "reserved_verb"),
        ("council_runtime", "reserved_verb"),
    ],
)
async def test_a_named_verb_that_cannot_be_had_is_an_error(verb: str, code: str) -> None:
    """A verb that is named and unknown or reserved is a typed error: nothing else serves the
    turn.
    """
    answer, result = await told(UNASKED, asks=False, verb=verb)
    assert answer.reply is not None
    assert not answer.reply.ok
    assert result["error"]["code"].startswith(code)
