"""The ReAct loop through HTTP: what a model proposes, what becomes of it, and what bounds it
(PLN-24..PLN-38, B-01, B-22..B-26).
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import act, add, ask, case, finish, prompt_plan, seed, slow

BOTH = finish("An answer.") | {"action": {"tool_id": "math.evaluate", "input": {"expression": "1"}}}
MUTATIONS: dict[str, tuple[Any, str]] = {
    "finish with action": (BOTH, "step.consistency.finish_with_action"),
    "finish without answer": (
        finish() | {"final_answer": None},
        "step.consistency.finish_without_answer",
    ),
    "act without action": (add() | {"action": None}, "step.consistency.act_without_action"),
    "act with answer": (
        add() | {"final_answer": {"content": "x", "structured": {}}},
        "step.consistency.act_with_answer",
    ),
    "tool outside": (act("summarize_facts", facts=[{"text": "a"}]), "step.tool.outside_toolset"),
    "the sources' example": (act("brain.chat", text="a"), "step.tool.outside_toolset"),
    "tool invented": (act("math.evaluator", expression="1"), "step.tool.unknown"),
    "tool by description": (act("Calculate", expression="1"), "step.tool.unknown"),
    "tool input wrong": (act("math.evaluate", expression=1), "step.input.invalid"),
    "prose": ("I think the answer is two.", "step.syntax.prose"),
    "broken": ('{"thought": "cut o', "step.syntax.broken"),
    "empty": ("", "step.syntax.empty"),
    "missing field": ({"finish": True, "final_answer": {"content": "x"}}, "step.shape.missing_key"),
    "string action": (add() | {"action": "math.evaluate"}, "step.shape.wrong_type"),
    "unknown key": (add() | {"confidence": 0.9}, "step.shape.unknown_key"),
    "thought alone": (
        {"thought": "The answer is two.", "finish": False, "action": None, "final_answer": None},
        "step.consistency.act_without_action",
    ),
}
FACTS = [{"text": "A is B.", "subject": "A", "predicate": "is", "object": "B"}]
CHAIN = (
    act("extract_facts", text="A is B."),
    act("summarize_facts", facts=[{"text": "A is B."}]),
    act("propose_next_steps", facts=[{"text": "A is B."}]),
)
VERBS: dict[str, list[Any]] = {
    "extract_facts": [{"facts": FACTS, "method": "analysed"}],
    "summarize_facts": [{"bullets": [{"text": "A is B."}], "method": "analysed"}],
    "propose_next_steps": [
        {"steps": [{"text": "Ask A.", "because": "A is B."}], "method": "analysed"}
    ],
    "rate_tone": [{"tone": "warm"}],
    "slow_verb": [slow({"a": 1}, 20_000)],
    "two_steps": [{"first": 1}, {"second": 2}],
}
CASES = [
    case("two tools", add("1 + 1"), add("2 + 2"), finish("4")),
    case("endless", *[add(f"{n} + 1", f"Thought {n}.") for n in range(12)]),
    case("slow", add(), slow(finish("late"), 20_000)),
    case("both slow", slow(add(), 1000), slow(finish("late"), 3500)),
    case("by itself", finish("Worked out without a tool.", thought="I can do this.")),
    case("one retry", "prose first", finish("Then an answer.")),
    case("two retries", "prose first", add() | {"action": None}, finish("never")),
    case("retries apart", "prose first", add(), "prose again", finish("never")),
    case("fenced", f"Here you are:\n```json\n{json.dumps(finish('From a fence.'))}\n```\n"),
    case("failing verb", add("1 / 0"), finish("It cannot be divided.")),
    case("chain", *CHAIN, finish("Chained.")),
    case("short chain", CHAIN[0], finish("Shorter.")),
    case("own verb", act("rate_tone", text="Hello!"), finish("Warm.")),
    case("slow verb", act("slow_verb", text="x"), finish("It was too slow.")),
    case("two steps", act("two_steps", text="x"), finish("Both.")),
    case("model down", {"$error": "rejected", "message": "no"}),
    case("long answer", finish("word " * 60)),
    case("long thoughts", add(thought="thinking " * 60), finish("never")),
    case(
        "private",
        add(thought="a secret thought"),
        finish("Public.", thought="another secret thought"),
    ),
    case("private prose", "secret prose", finish("Public.", thought=None)),
    case("sources step", seed("planner_step"), finish("Done.")),
    *[case(name, proposal, proposal, finish("never")) for name, (proposal, _) in MUTATIONS.items()],
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("loop")).play({"verbs": VERBS, "cases": CASES})
    server.verb(
        "rate_tone",
        prompt_plan(
            "rate_tone",
            output_schema={"type": "object", "properties": {"tone": {"type": "string"}}},
        ),
    )
    server.verb("slow_verb", prompt_plan("slow_verb", timeout_ms=150))
    server.verb("two_steps", prompt_plan("two_steps", steps=("llm_first", "llm_second")))
    with server:
        yield server


def decisions(server: Server, run: str, rule: str) -> list[dict[str, Any]]:
    return [r["body"] for r in server.journal(run) if (r["kind"], r["name"]) == ("decision", rule)]


def kinds(server: Server, run: str) -> list[tuple[str, str]]:
    return [(r["kind"], r["name"]) for r in server.journal(run)]


def child_of(body: dict[str, Any], step: int = 0) -> str:
    return body["trace"][step]["observation"]["step_meta"]["run_id"]


def test_the_loop_reasons_acts_observes_and_answers(server: Server) -> None:
    """PLN-01 "Role: reason → choose tool → act via cortex-orch → observe → … → final answer": in
    this order, twice, then the answer.
    PLN-32 "append `{step_index,thought,action,observation}`"
    PLN-27 "With `return_trace=true` every tool call and every LLM reasoning step is in `trace`"
    """
    body = server.plan(ask("two tools", preferences={"return_trace": True}))
    assert [step["step_index"] for step in body["trace"]] == [0, 1, 2]
    assert [step["thought"] for step in body["trace"]] == [
        "I need a number.",
        "I need a number.",
        "That is all.",
    ]
    assert [step["action"] and step["action"]["input"]["expression"] for step in body["trace"]] == [
        "1 + 1",
        "2 + 2",
        None,
    ]
    assert [
        step["observation"] and step["observation"]["output"]["result"] for step in body["trace"]
    ] == ["2", "4", None]
    assert body["final_answer"]["content"] == "4"
    live = [name for kind, name in kinds(server, body["run_id"]) if kind == "observation"]
    assert live == ["model_call", "verb_call", "model_call", "verb_call", "model_call"]


def test_the_planner_calls_nothing_by_itself(server: Server) -> None:
    """PLN-02 "Planner never executes tools directly; every call goes through cortex-orch with
    registry verb IDs": no call goes live without an allowing decision before it.
    EXE-19 "every model there proposes, Exec decides"
    """
    body = server.plan(ask("two tools"))
    allowed: set[str] = set()
    judged = 0
    for record in server.journal(body["run_id"]):
        if (record["kind"], record["name"]) == ("decision", "step"):
            judged += 1
        if (record["kind"], record["name"]) == ("decision", "authorize") and record["body"][
            "outcome"
        ]["type"] == "allow":
            allowed.add(record["body"]["addr"])
        if (record["kind"], record["name"]) == ("intent", "verb_call"):
            authorized = record["body"]["effect"]["authorized"]
            assert authorized["decision"] in allowed
            assert authorized["call"]["verb"] == "math.evaluate"
    assert (len(allowed), judged) == (2, 3)


def test_every_iteration_is_one_validated_directive(server: Server) -> None:
    """EXE-13 "every iteration emits a validated step directive": each model answer is judged by
    rule step before anything follows from it.
    PLN-29 "Each LLM step returns JSON `{thought, finish, action:{tool_id,input}|null,
    final_answer:{content,structured}|null}`"
    """
    body = server.plan(ask("two tools"))
    seen = kinds(server, body["run_id"])
    answers = [place for place, entry in enumerate(seen) if entry == ("observation", "model_call")]
    assert [
        next(name for kind, name in seen[place + 1 :] if name == "step") for place in answers
    ] == ["step"] * 3
    assert [d["reason"] for d in decisions(server, body["run_id"], "step")] == [
        "step.call",
        "step.call",
        "step.finish",
    ]


def test_the_sources_directive_is_valid(server: Server) -> None:
    """PLN-29 "Each LLM step returns JSON": the sources' own example of a step is carried out as it
    stands.
    """
    body = server.plan(ask("sources step", "extract_facts"))
    assert body["status"] == "ok"
    assert body["trace"][0]["action"] == seed("planner_step")["action"]


@pytest.mark.parametrize("name", list(MUTATIONS))
def test_an_invalid_directive_fails_the_run(server: Server, name: str) -> None:
    """EXE-14 "Absent/invalid directive = deterministic fail state, never silent prose fallback":
    typed, in API and header, twice the same.
    B-25 "a second one fails the run with the first reason"
    """
    reason = MUTATIONS[name][1]
    first, second = server.plan(ask(name)), server.plan(ask(name))
    assert (first["status"], first["error"]["code"], first["final_answer"]) == (
        "error",
        reason,
        None,
    )
    assert reason in first["header"]
    assert [step["action"] for step in first["trace"]] == [None, None]
    assert (second["status"], second["error"]) == (first["status"], first["error"])
    assert first["usage"]["tools_called"] == []


@pytest.mark.parametrize("name", ["finish with action", "finish without answer"])
def test_finishing_means_an_answer_and_no_action(server: Server, name: str) -> None:
    """PLN-30 "`finish==true` ⇒ `final_answer` non-null and `action` null" and PLN-30 "(validated in
    code per S1)": code refuses the rest.
    """
    assert server.plan(ask(name))["error"]["code"] == MUTATIONS[name][1]


@pytest.mark.parametrize("name", ["act without action", "act with answer", "tool outside"])
def test_acting_means_an_action_in_the_toolset(server: Server, name: str) -> None:
    """PLN-31 "`finish==false` ⇒ `action` non-null, `tool_id` in toolset, `final_answer` null" and
    PLN-31 "(validated in code)": code refuses the rest.
    """
    assert server.plan(ask(name))["error"]["code"] == MUTATIONS[name][1]


@pytest.mark.parametrize(
    "name", ["tool outside", "the sources' example", "tool invented", "tool by description"]
)
def test_tools_are_exact_and_of_this_run(server: Server, name: str) -> None:
    """PLN-26 "Only tools in this run's `toolset` may be used; tool IDs are never invented": near
    misses and others' tools are refused.
    B-24 "Illustrative only; PLN-26/31 win."
    B-25 "Exact match only; unknown id = invalid directive"
    """
    body = server.plan(ask(name))
    assert body["error"]["code"] == MUTATIONS[name][1]
    assert not [
        name
        for kind, name in kinds(server, body["run_id"])
        if kind == "intent" and name != "model_call"
    ]


def test_a_thought_alone_is_no_step(server: Server) -> None:
    """B-24 "Reasoning-only step = invalid directive unless finish": the thought never becomes the
    answer.
    B-26 "thought→answer"
    """
    body = server.plan(ask("thought alone"))
    assert (body["error"]["code"], body["final_answer"]) == (
        "step.consistency.act_without_action",
        None,
    )


@pytest.mark.parametrize("name", ["missing field", "string action", "unknown key"])
def test_nothing_is_invented_in_a_directive(server: Server, name: str) -> None:
    """B-26 "Not allowed: inventing missing fields, string→action": what is not there is refused,
    not repaired.
    B-25 "Unknown extra keys in a directive are refused"
    """
    assert server.plan(ask(name))["error"]["code"] == MUTATIONS[name][1]


def test_a_fence_is_stripped(server: Server) -> None:
    """B-26 "Allowed: strip fences/prose around one JSON object": the object inside is judged as it
    stands.
    """
    body = server.plan(ask("fenced"))
    assert (body["status"], body["final_answer"]["content"]) == ("ok", "From a fence.")


def test_one_more_try_is_a_step_with_its_reason(server: Server) -> None:
    """B-25 "counted as a step and traced with `action: null`": the re-ask shows in trace, usage and
    header; a third try never comes.
    """
    body = server.plan(ask("one retry"))
    assert (body["status"], body["usage"]["steps"], body["trace"][0]["action"]) == ("ok", 2, None)
    assert "step.syntax.prose" in body["header"]
    assert "reask.allowed" in body["header"]
    twice = server.plan(ask("two retries"))
    assert (twice["error"]["code"], twice["usage"]["steps"]) == ("step.syntax.prose", 2)


def test_one_reask_in_a_run(server: Server) -> None:
    """B-25 "One re-ask per run (policy `step.reask`, default 1": a good step in between brings no
    second one.
    """
    body = server.plan(ask("retries apart"))
    assert (body["status"], body["usage"]["steps"], body["usage"]["tools_called"]) == (
        "error",
        3,
        ["math.evaluate"],
    )


@pytest.mark.parametrize("most", [1, 3])
def test_steps_are_bounded_and_never_a_success(server: Server, most: int) -> None:
    """Exactly so many steps, then an error with the last observation marked as salvaged.

    B-01 “Planner at `max_steps` returns `status:"error"`, `error.code:"max_steps_exhausted"`, and
    MAY include `final_answer` salvaged from the last step with `structured.salvaged=true` +
    `stop_reason`.”
    B-01 “(Original returned status ok — the defect.)”
    PLN-33 "salvage from the last planner step"
    PLN-25 "Bounded: obeys `max_steps`"
    """
    body = server.plan(ask("endless", limits={"max_steps": most}))
    assert (body["status"], body["error"]["code"]) == ("error", "max_steps_exhausted")
    assert (body["usage"]["steps"], len(body["trace"]), len(body["usage"]["tools_called"])) == (
        most,
        most,
        most,
    )
    assert body["final_answer"]["structured"] == {
        "salvaged": True,
        "stop_reason": "max_steps_exhausted",
    }
    assert server.http.get(f"/runs/{body['run_id']}").json()["status"] == "failed"


def test_time_is_bounded(server: Server) -> None:
    """PLN-25 "obeys `max_steps` and `timeout_seconds`": a slow model ends the run as a time-out,
    its finished work kept.
    B-01 “Timeout → `status:"timeout"`”
    """
    body = server.plan(ask("slow", limits={"timeout_seconds": 4}))
    assert (body["status"], body["error"]["code"]) == ("timeout", "timeout")
    assert body["trace"][0]["observation"]["output"]["result"] == "2"
    assert body["final_answer"]["structured"]["salvaged"] is True


def test_the_deadline_is_the_runs_not_the_calls(server: Server) -> None:
    """B-23 "One deadline for the whole run in flow time": calls that each fit do not fit together.

    B-23 "each inner call gets the remaining time."
    """
    body = server.plan(ask("both slow", limits={"timeout_seconds": 4}))
    assert (body["status"], len(body["trace"])) == ("timeout", 1)
    records = server.journal(body["run_id"])
    calls = [
        record
        for record in records
        if record["kind"] == "intent" and record["name"] in ("model_call", "verb_call")
    ]
    untils = {call["body"]["effect"]["deadline"] for call in calls}
    began = datetime.fromisoformat(records[0]["at"])
    assert (len(calls), untils) == (
        3,
        {round((began + timedelta(seconds=4)).timestamp() * 1_000_000)},
    )


def test_statuses_map_one_to_one(server: Server) -> None:
    """B-22 "One mapping table": each of a planner's endings has its run status, the same on the
    wire, in the list and in the header.
    """
    expected = {
        "by itself": ("ok", "completed"),
        "prose": ("error", "failed"),
        "slow": ("timeout", "timed_out"),
    }
    for name, (status, stored) in expected.items():
        body = server.plan(ask(name, limits={"timeout_seconds": 1 if name == "slow" else 60}))
        listed = {
            run["run_id"]: run["status"]
            for run in server.http.get("/runs", params={"status": stored}).json()["runs"]
        }
        assert (body["status"], listed[body["run_id"]]) == (status, stored)
        assert stored in body["header"].splitlines()[0]


def test_limits_and_usage_hold_whatever_the_trace(server: Server) -> None:
    """The same fields come back, and usage counts what the trace shows, within the limits, however
    a run goes.

    PLN-24 "Deterministic API over non-deterministic internals: traces may differ, limits/usage
    always respected"
    """
    shapes = set[tuple[str, ...]]()
    for name in (
        "two tools",
        "endless",
        "one retry",
        "by itself",
        "failing verb",
        "prose",
        "model down",
    ):
        body = server.plan(ask(name, limits={"max_steps": 4}))
        shapes |= {(*sorted(body), *sorted(body["usage"]))}
        assert all(
            list(step) == ["step_index", "thought", "action", "observation"]
            for step in body["trace"]
        )
        assert body["usage"]["steps"] == len(body["trace"]) <= 4
        assert body["usage"]["tools_called"] == [
            step["action"]["tool_id"] for step in body["trace"] if step["action"]
        ]
    assert len(shapes) == 1


def test_the_last_step_may_do_the_work_itself(server: Server) -> None:
    """PLN-36 "The planner may do work itself (e.g. summarise) in the finishing step with no tool;
    that step appears in trace with null action/observation": a finish without a tool is a step with
    its thought.
    """
    body = server.plan(ask("by itself"))
    assert body["trace"] == [
        {"step_index": 0, "thought": "I can do this.", "action": None, "observation": None}
    ]


@pytest.mark.parametrize("name", ["by itself", "tool outside"])
def test_one_tool_leaves_two_choices(server: Server, name: str) -> None:
    """PLN-37 "With one tool the only choices are call it or finish": finishing passes, another tool
    is refused.
    """
    assert (server.plan(ask(name, "math.evaluate"))["status"] == "ok") is (name == "by itself")


def test_chains_emerge(server: Server) -> None:
    """PLN-35 "The payload never describes a step chain; chaining emerges from toolset + loop with
    `prior_trace` + LLM decisions; not hard-coded": a request with steps is refused; the same
    toolset gives chains of any length.
    PLN-38 "Multi-verb chain (e.g. `extract_facts`→`summarize_facts`→`propose_next_steps`)"
    FUT-05 "Multi-tool chaining verbs (`summarize_facts`, …)"
    """
    tools = ("extract_facts", "summarize_facts", "propose_next_steps")
    assert (
        server.http.post("/plan/react", json=ask("chain", *tools, steps=list(tools))).status_code
        == 422
    )
    whole, short = server.plan(ask("chain", *tools)), server.plan(ask("short chain", *tools))
    assert (whole["status"], whole["usage"]["tools_called"]) == ("ok", list(tools))
    assert (short["status"], short["usage"]["tools_called"]) == ("ok", ["extract_facts"])
    assert [step["observation"]["ok"] for step in whole["trace"][:3]] == [True] * 3


def test_a_new_verb_needs_a_file_and_an_entry(server: Server) -> None:
    """PLN-38 "needs only a new verb YAML + toolset entry; planner unchanged": a verb of the user's
    own runs like a shipped one.
    """
    body = server.plan(ask("own verb", "rate_tone"))
    assert (body["status"], body["trace"][0]["observation"]["output"]) == ("ok", {"tone": "warm"})


def test_a_failed_tool_is_an_observation(server: Server) -> None:
    """B-04 "A failed tool is an observation with `ok:false`, not an exception, and still counts a
    step": the run goes on.
    """
    body = server.plan(ask("failing verb"))
    seen = body["trace"][0]["observation"]
    assert (seen["ok"], seen["output"], seen["error"]["code"]) == (False, None, "division_by_zero")
    assert seen["error"]["category"] == "ToolValidationError"
    assert (body["status"], body["usage"]["steps"]) == ("ok", 2)
    assert "division_by_zero" in body["header"]


def test_a_verbs_own_time_bounds_its_step(server: Server) -> None:
    """EXE-17 "Each step call is bounded by `step.timeout_ms`": a verb over its own time is a
    timed-out observation, the run goes on.
    VRB-10 "produce typed error/timeout behaviour, testable"
    """
    body = server.plan(ask("slow verb", "slow_verb"))
    seen = body["trace"][0]["observation"]
    assert (seen["ok"], seen["error"]["code"], seen["error"]["category"]) == (
        False,
        "timed_out",
        "ToolTransientError",
    )
    assert body["status"] == "ok"


def test_prompt_plans_run_in_order(server: Server) -> None:
    """VRB-07 "Orch runs the YAML plan steps in order": each step asks the model once, the last
    answer is the output.
    VRB-08 "Orch publishes a structured result with `step_results`"
    """
    body = server.plan(ask("two steps", "two_steps"))
    seen = body["trace"][0]["observation"]
    assert seen["output"] == {"second": 2}
    assert [
        (one["step_name"], one["order"], one["ok"]) for one in seen["step_meta"]["step_results"]
    ] == [
        ("llm_first", 0, True),
        ("llm_second", 1, True),
    ]
    assert [name for kind, name in kinds(server, child_of(body)) if kind == "intent"] == [
        "model_call",
        "model_call",
    ]


def test_tool_calls_never_reenter_the_planner(server: Server) -> None:
    """B-32 "Tool calls run as direct verb plans with depth counter": the verb's run is a verb plan
    one level below, with no toolset of its own.
    """
    body = server.plan(ask("own verb", "rate_tone"))
    child = server.http.get(f"/runs/{child_of(body)}").json()
    started = server.journal(child_of(body))[0]["body"]
    assert (child["flow"], child["parent"], started["depth"], started.get("scope", [])) == (
        "verb_plan",
        body["run_id"],
        1,
        [],
    )


def test_a_model_that_refuses_is_a_typed_error(server: Server) -> None:
    """VRB-10 "produce typed error/timeout behaviour": the provider's error ends the run, and says
    so everywhere.
    """
    body = server.plan(ask("model down"))
    assert (body["status"], body["final_answer"], body["trace"]) == ("error", None, [])
    assert body["error"]["code"] in body["header"]


def test_answer_tokens_have_their_own_limit(server: Server) -> None:
    """B-42 “overdrawn = `status:"error"`, code `token_limit`, the text kept as salvaged”: an answer
    over its limit is no success.
    """
    body = server.plan(ask("long answer", limits={"max_tokens_answer": 100}))
    assert (body["status"], body["error"]["code"]) == ("error", "token_limit")
    assert body["final_answer"]["content"].startswith("word word")
    assert body["final_answer"]["structured"] == {"salvaged": True, "stop_reason": "token_limit"}
    assert (body["usage"]["tokens_reason"], body["usage"]["tokens_answer"] > 100) == (0, True)


def test_reason_tokens_have_theirs(server: Server) -> None:
    """B-42 "reason = completion tokens of non-finishing planner calls": thinking over the limit
    ends the run before the answer.
    B-42 "Missing usage = bytes of the answer, marked `estimated`"
    """
    body = server.plan(ask("long thoughts", limits={"max_tokens_reason": 100}))
    assert (body["error"]["code"], body["usage"]["tokens_answer"], body["usage"]["estimated"]) == (
        "token_limit",
        0,
        True,
    )
    assert "(estimated)" in body["header"]


def test_thoughts_may_be_kept_out_of_the_record(server: Server) -> None:
    """Every step stays, no thought is stored.

    B-37 "The step is always present in the returned trace; with false, thought text is replaced by
    null in logs and persisted records only (actions/observations stay)."
    PLN-45 "`allow_internal_thought_logging` governs whether thoughts may be logged"
    """
    kept = server.plan(ask("private"))
    body = server.plan(ask("private", preferences={"allow_internal_thought_logging": False}))
    assert [step["action"] is None for step in body["trace"]] == [False, True]
    assert "secret thought" in server.http.get(f"/runs/{kept['run_id']}/journal").text
    assert "secret thought" not in server.http.get(f"/runs/{body['run_id']}/journal").text
    assert "secret" not in server.log()


def test_what_does_not_parse_is_kept_out_too(server: Server) -> None:
    """B-37 "an answer that does not parse is then recorded as length, digest and parse reason": its
    words are nowhere.
    """
    body = server.plan(ask("private prose", preferences={"allow_internal_thought_logging": False}))
    journal = server.http.get(f"/runs/{body['run_id']}/journal").text
    assert "secret prose" not in journal
    assert '"size_bytes":12' in journal.replace(" ", "")
    assert "step.syntax.prose" in journal
