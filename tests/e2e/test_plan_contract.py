"""The planner conversation on the wire: what a request may say and what a response is
(PLN-03..PLN-23, PLN-34, PLN-45).
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain
from tests.e2e.process import Server
from tests.e2e.proposals import EXAMPLES, add, ask, case, finish, seed

D1, D2, TRACE, WATCHER = (
    seed(n)
    for n in (
        "extract_facts_plan_full",
        "extract_facts_plan_minimal",
        "extract_facts_trace",
        "watcher_plan_request",
    )
)
CASES = [
    case("simple", finish("A plain answer.")),
    case("number", add("6 * 7"), finish("It is 42.", value=42)),
    case("watcher", finish("An entry.")),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("contract"))
    server.play({"planner": [finish("Any answer.")] * 2, "cases": CASES})
    with server:
        yield server


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose script answers the sources' own example."""
    with Server(
        tmp_path_factory.mktemp("facts"),
        environment={"ORDAIN_SCRIPT": str(EXAMPLES / "scripts" / "extract_facts.yaml")},
    ) as server:
        yield server


def shape(value: Any) -> Any:
    """A value's keys and types, without its content."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    return [shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__


def limits_of(server: Server, run: str) -> dict[str, Any]:
    return next(r["body"]["facts"] for r in server.journal(run) if r["name"] == "limits")


def given(server: Server, run: str) -> dict[str, Any]:
    return server.journal(run)[0]["body"]["input"]


def test_the_smoke_test_of_the_sources(facts: Server) -> None:
    """TST-01 "POST the S3 §8 payload": the minimal example calls its tool with its text, then
    finishes, in two counted steps.
    PLN-06 "`POST /plan/react`, `application/json`: one ReAct loop for one goal"
    """
    response = facts.http.post("/plan/react", json=D2)
    assert response.headers["content-type"] == "application/json"
    body = response.json()
    assert (response.status_code, body["status"]) == (200, "ok")
    assert body["trace"][0]["action"] == {
        "tool_id": "extract_facts",
        "input": {"text": D2["context"]["external_facts"]["text"]},
    }
    assert (body["usage"]["steps"], body["usage"]["tools_called"]) == (2, ["extract_facts"])
    assert (
        len(
            [
                run
                for run in facts.http.get("/runs").json()["runs"]
                if run["run_id"] == body["run_id"]
            ]
        )
        == 1
    )


def test_the_full_example_passes_unedited(facts: Server) -> None:
    """B-03 "S3 payload must pass verbatim": the example with unknown caller and goal words is
    accepted and keeps to its steps.
    PLN-15 "4/2048/1024/60 (S3)"
    """
    body = facts.plan(D1)
    assert body["status"] == "ok"
    assert body["usage"]["steps"] <= D1["limits"]["max_steps"]
    assert limits_of(facts, body["run_id"]) == {
        "max_steps": 4,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_ms": 60_000,
    }


def test_the_expected_trace_of_the_sources(facts: Server) -> None:
    """PLN-20 "`trace[]{step_index, thought, action: null|{tool_id,input}, observation:
    null|object}`": as in the sources' example.
    PLN-22 "normalised from the cortex reply"
    FUT-06 "Any extension keeps SAF-04 shapes and breaks no caller"
    """
    body = facts.plan(D2)
    first, second = body["trace"]
    expected_first, expected_second = TRACE["trace"]
    assert first["action"] == expected_first["action"]
    assert set(first) == set(expected_first) == set(second)
    assert set(expected_first["observation"]) <= set(first["observation"])
    assert first["observation"]["step_meta"]["verb_name"] == "extract_facts"
    assert first["observation"]["spark_meta"] is None
    assert isinstance(first["observation"]["llm_output"], str)
    assert (
        (second["action"], second["observation"])
        == (expected_second["action"], expected_second["observation"])
        == (None, None)
    )
    assert body["final_answer"] == TRACE["final_answer"]


def test_the_watchers_request_passes_unedited(server: Server) -> None:
    """PLN-12 "orion_state_snapshot": the watcher's request, its tools by id alone, is accepted with
    its own limits.
    """
    request = copy.deepcopy(WATCHER)
    body = server.plan(request)
    assert (body["status"], body["request_id"]) == ("ok", WATCHER["request_id"])
    assert (
        given(server, body["run_id"])["context"]["orion_state_snapshot"]
        == WATCHER["context"]["orion_state_snapshot"]
    )
    assert limits_of(server, body["run_id"]) == {
        "max_steps": 6,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_ms": 45_000,
    }


def test_a_snapshot_of_the_state_is_kept(server: Server) -> None:
    """PLN-12 "themes[], curiosity{theme:float}, strain{theme:float}, notes": a snapshot is accepted
    and journalled as it was sent.
    """
    snapshot = {
        "version": "v1",
        "themes": ["a"],
        "curiosity": {"a": 0.7},
        "strain": {"a": 0.1},
        "notes": "n",
    }
    body = server.plan(ask("simple", context={"orion_state_snapshot": snapshot}))
    assert given(server, body["run_id"])["context"]["orion_state_snapshot"] == snapshot
    refused = server.http.post(
        "/plan/react",
        json=ask("simple", context={"orion_state_snapshot": {"curiosity": {"a": "much"}}}),
    )
    assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
        422,
        "/context/orion_state_snapshot/curiosity/a",
    )


@pytest.mark.parametrize(
    "caller", ["hub", "agent-daemon", "test", "other", "debug-shell", "nightly-batch"]
)
def test_one_interface_for_every_caller(server: Server, caller: str) -> None:
    """PLN-03 "one shared interface": hub, watcher and callers yet unknown send the same request and
    get the same shape.
    PLN-08 "`caller` ∈ `hub|agent-daemon|test|other` (+ `debug-shell`, see B-03)"
    B-03 "accept any non-empty slug, unknown recorded"
    """
    body = server.plan(ask("simple", caller=caller))
    assert body["status"] == "ok"
    assert given(server, body["run_id"])["caller"] == caller


def test_a_caller_is_a_slug(server: Server) -> None:
    """B-03 "accept any non-empty slug": nothing else names a caller or a type of goal."""
    for caller in ("", "two words", "x" * 65):
        assert server.http.post("/plan/react", json=ask("simple", caller=caller)).status_code == 422


@pytest.mark.parametrize(
    "kind",
    [
        "chat",
        "agent_task",
        "spark_review",
        "system_maint",
        "other",
        "analysis",
        "routing",
        "planning",
        "later",
    ],
)
def test_goals_of_every_type(server: Server, kind: str) -> None:
    """PLN-09 "chat|agent_task|spark_review|system_maint|other": known types pass with their
    metadata, and so does a new one.
    B-03 "Known-value lists, accept any non-empty slug"
    """
    metadata = {"user_message": "hello", "mode": "brain", "tags": ["a"]}
    goal = {"type": kind, "description": "This is case simple.", "metadata": metadata}
    body = server.plan(ask("simple", goal=goal))
    assert body["status"] == "ok"
    assert given(server, body["run_id"])["goal"] == goal


@pytest.mark.parametrize("kept", [{}, {"tags": []}, {"mode": "brain"}, {"user_message": "hello"}])
@pytest.mark.parametrize("kind", ["chat", "analysis", "routing", "planning"])
def test_of_a_goals_metadata_each_part_may_be_absent(
    server: Server, kind: str, kept: dict[str, Any]
) -> None:
    """Each part of a goal's metadata stands by itself, and one of another type than its own is
    refused at its place.

    PLN-09 "`goal{type: chat|agent_task|spark_review|system_maint|other, description,
    metadata{user_message?, mode?, tags[]?}}`; S3 adds `analysis|routing|planning` (B-03)"
    """
    goal = {"type": kind, "description": "This is case simple.", "metadata": kept}
    assert server.plan(ask("simple", goal=goal))["status"] == "ok"
    for name, wrong in (("user_message", 1), ("mode", 1), ("tags", "a")):
        refused = server.http.post(
            "/plan/react", json=ask("simple", goal={**goal, "metadata": {name: wrong}})
        )
        assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
            422,
            f"/goal/metadata/{name}",
        )


@pytest.mark.parametrize("mode", ["brain", "council", "debug", "dream", "something-new"])
def test_modes_are_an_open_set(server: Server, mode: str) -> None:
    """PLN-10 "`goal.metadata.mode` open set `brain|council|debug|dream|…`": a mode is recorded and
    changes nothing else.
    """
    goal = {"type": "chat", "description": "This is case simple.", "metadata": {"mode": mode}}
    body = server.plan(ask("simple", goal=goal))
    assert body["status"] == "ok"
    assert given(server, body["run_id"])["goal"]["metadata"]["mode"] == mode


def test_the_history_has_three_roles(server: Server) -> None:
    """PLN-11 "`context.conversation_history[]{role: user|assistant|system, content}`": these three
    are accepted, others refused.
    """
    history = [{"role": role, "content": "words"} for role in ("user", "assistant", "system")]
    assert server.plan(ask("simple", context={"conversation_history": history}))["status"] == "ok"
    refused = server.http.post(
        "/plan/react",
        json=ask(
            "simple", context={"conversation_history": [{"role": "tool", "content": "words"}]}
        ),
    )
    assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
        422,
        "/context/conversation_history/0/role",
    )


def test_external_facts_are_free(server: Server) -> None:
    """PLN-13 "`context.external_facts`: free JSON; known keys `collapse_ids[]`, `dream_ids[]`,
    `other_ids[]`, `text`": known and unknown keys reach the run as they were sent.
    """
    external = {
        "collapse_ids": ["c"],
        "dream_ids": ["d"],
        "other_ids": ["o"],
        "text": "t",
        "weather": {"rain": [1, 2.5, None, True]},
    }
    body = server.plan(ask("simple", context={"external_facts": external}))
    assert given(server, body["run_id"])["context"]["external_facts"] == external
    for known in external.keys() - {"weather"}:
        refused = server.http.post(
            "/plan/react", json=ask("simple", context={"external_facts": {known: 7}})
        )
        assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
            422,
            f"/context/external_facts/{known}",
        )


def test_tools_are_verbs(server: Server) -> None:
    """PLN-14 "`tool_id` == verb name": a toolset names registered verbs, and a name that is none
    ends the run before any model is asked.
    VRB-04 "All tool use in planner traces refers to these verb IDs"
    """
    registered = {verb["verb_id"] for verb in server.http.get("/verbs").json()["verbs"]}
    body = server.plan(ask("number"))
    assert (
        {step["action"]["tool_id"] for step in body["trace"] if step["action"]}
        == {"math.evaluate"}
        <= registered
    )
    refused = server.plan(ask("number", "math.evaluate", "math.evaluat"))
    assert (refused["status"], refused["error"]["code"], refused["trace"]) == (
        "error",
        "unknown_verb",
        [],
    )
    assert not [
        record for record in server.journal(refused["run_id"]) if record["name"] == "model_call"
    ]


def test_a_tool_has_four_fields_and_need_not_be_called(server: Server) -> None:
    """A tool in full is taken as it is, one with another field or without an id is refused; a plan
    may end without a call of any.

    PLN-14 "`toolset[]{tool_id, description, input_schema, output_schema}`; tools the planner *may*
    call; `tool_id` == verb name"
    """
    verb = server.http.get("/verbs/math.evaluate").json()
    tool = {
        "tool_id": "math.evaluate",
        **{name: verb[name] for name in ("description", "input_schema", "output_schema")},
    }
    body = server.plan({**ask("simple"), "toolset": [tool]})
    assert (body["status"], body["usage"]["tools_called"]) == ("ok", [])
    assert given(server, body["run_id"])["toolset"] == [tool]
    for wrong, place in (
        ({**tool, "verb": "x"}, "/toolset/0/verb"),
        ({"description": "d"}, "/toolset/0/tool_id"),
    ):
        refused = server.http.post("/plan/react", json={**ask("simple"), "toolset": [wrong]})
        assert (refused.status_code, refused.json()["errors"][0]["place"]) == (422, place)


def test_what_a_request_may_leave_out(server: Server) -> None:
    """Without any of what is optional a request is the same request, and all of it may be left out
    at once.

    PLN-17 "Omittable: `request_id`, `goal.metadata`, `orion_state_snapshot`, `output_schema`, token
    limits, tool descriptions/schemas (watcher form)"
    """
    verb = server.http.get("/verbs/math.evaluate").json()
    tool = {
        "tool_id": "math.evaluate",
        **{name: verb[name] for name in ("description", "input_schema", "output_schema")},
    }
    goal = {"type": "chat", "description": "This is case number.", "metadata": {"mode": "brain"}}
    snapshot = {
        "orion_state_snapshot": {
            "version": "v1",
            "themes": ["t"],
            "curiosity": {"t": 0.5},
            "strain": {},
            "notes": "n",
        }
    }
    limits = {
        "max_steps": 4,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_seconds": 60,
    }
    optional: list[tuple[str, ...]] = [
        ("request_id",),
        ("goal", "metadata"),
        ("context", "orion_state_snapshot"),
        ("toolset", "output_schema"),
        ("limits", "max_tokens_reason"),
        ("limits", "max_tokens_answer"),
        ("toolset", "description"),
        ("toolset", "input_schema"),
    ]
    for number, left_out in enumerate([[], *([one] for one in optional), optional]):
        request = {
            "request_id": f"full-{number}",
            "caller": "test",
            "goal": goal,
            "context": snapshot,
            "toolset": [tool],
            "limits": limits,
        }
        sent = copy.deepcopy(request)
        for first, *rest in left_out:
            place = sent["toolset"][0] if first == "toolset" else sent[first] if rest else sent
            del place[rest[0] if rest else first]
        body = server.plan(sent)
        assert (body["status"], body["usage"]["tools_called"]) == ("ok", ["math.evaluate"]), (
            left_out
        )


def test_absent_limits_have_defaults(server: Server) -> None:
    """A request without limits runs under 8/2048/1024/60, one that names others under these.

    PLN-15 "`limits{max_steps, max_tokens_reason, max_tokens_answer, timeout_seconds}`; values in
    the sources 8/2048/1024/60 (S2), 4/2048/1024/60 (S3)"
    B-44 "`limits` absent = 8/2048/1024/60"
    """
    body = server.plan(ask("simple"))
    assert limits_of(server, body["run_id"]) == {
        "max_steps": 8,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_ms": 60_000,
    }
    later = {
        "max_steps": 4,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_seconds": 60,
    }
    asked = server.plan(ask("simple", limits=later))
    assert limits_of(server, asked["run_id"]) == {
        "max_steps": 4,
        "max_tokens_reason": 2048,
        "max_tokens_answer": 1024,
        "timeout_ms": 60_000,
    }


def test_server_caps_clamp_and_show(server: Server) -> None:
    """B-44 "server caps clamp, and the header shows it": larger limits are lowered, and the header
    names each.
    """
    body = server.plan(ask("simple", limits={"max_steps": 900, "timeout_seconds": 80_000}))
    assert body["status"] == "ok"
    assert "limits: max_steps, timeout_ms · limits.clamped" in body["header"]


def test_zero_steps_are_refused(server: Server) -> None:
    """B-44 "A `max_steps` of 0 is refused": before anything is accepted."""
    refused = server.http.post("/plan/react", json=ask("simple", limits={"max_steps": 0}))
    assert (refused.status_code, refused.json()["errors"][0]["place"]) == (422, "/limits/max_steps")


def test_open_maps_stay_open_and_others_closed(server: Server) -> None:
    """B-44 "Open maps: `orion_state_snapshot`, `goal.metadata`, `external_facts`, `preferences`
    keep unknown keys": no other part does.
    """
    more = {"unknown": {"key": [1]}}
    request = ask(
        "simple",
        goal={"type": "chat", "description": "This is case simple.", "metadata": more},
        context={"orion_state_snapshot": more, "external_facts": more},
        preferences=more,
    )
    kept = given(server, server.plan(request)["run_id"])
    assert (
        kept["goal"]["metadata"]
        == kept["context"]["orion_state_snapshot"]
        == kept["context"]["external_facts"]
        == kept["preferences"]
        == more
    )
    for closed in (
        {"unknown": 1},
        {"limits": more},
        {"context": more},
        {"goal": {"type": "chat", "description": "x", **more}},
    ):
        assert server.http.post("/plan/react", json=ask("simple", **closed)).status_code == 422


def test_preferences_are_of_their_types(server: Server) -> None:
    """PLN-16 "`preferences{style: warm|technical|neutral, allow_internal_thought_logging: bool,
    return_trace: bool}`": what is no truth value is none.
    """
    for name in ("allow_internal_thought_logging", "return_trace"):
        for value in (True, False):
            assert (
                given(server, server.plan(ask("simple", preferences={name: value}))["run_id"])[
                    "preferences"
                ][name]
                is value
            )
        for value in ("true", 1, None):
            refused = server.http.post("/plan/react", json=ask("simple", preferences={name: value}))
            assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
                422,
                f"/preferences/{name}",
            )
    refused = server.http.post("/plan/react", json=ask("simple", preferences={"style": "loud"}))
    assert (refused.status_code, refused.json()["errors"][0]["place"]) == (
        422,
        "/preferences/style",
    )


@pytest.mark.parametrize("name", ["council", "self_critique"])
def test_an_experiment_is_asked_for_with_a_truth_value(server: Server, name: str) -> None:
    """FUT-04 "on the same contract": what is no truth value is refused by name as any other
    preference is, and never taken for false.
    """
    for value in ("yes", "true", 1, None, {"on": True}, [True]):
        refused = server.http.post("/plan/react", json=ask("simple", preferences={name: value}))
        assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
        assert refused.json()["errors"][0]["place"] == f"/preferences/{name}"
        assert f"preferences.{name}" in refused.json()["detail"]
    assert (
        given(server, server.plan(ask("simple", preferences={name: False}))["run_id"])[
            "preferences"
        ][name]
        is False
    )


@pytest.mark.parametrize("style", ["warm", "technical", "neutral"])
def test_style_is_a_hint(server: Server, style: str) -> None:
    """PLN-16 "`preferences{style: warm|technical|neutral": each style is accepted.
    PLN-45 "`style` and `return_trace` are output hints"
    """
    plain, styled = (
        server.plan(ask("number")),
        server.plan(ask("number", preferences={"style": style})),
    )
    assert [step["action"] for step in styled["trace"]] == [
        step["action"] for step in plain["trace"]
    ]
    assert (
        server.http.post(
            "/plan/react", json=ask("simple", preferences={"style": "loud"})
        ).status_code
        == 422
    )


def test_the_trace_is_returned_on_request(server: Server) -> None:
    """PLN-34 "Response includes `trace` only if requested": without it everything else is the same.
    PLN-45 "`return_trace` are output hints"
    """
    shown, hidden = (
        server.plan(ask("number")),
        server.plan(ask("number", preferences={"return_trace": False})),
    )
    assert len(shown["trace"]) == 2
    assert hidden["trace"] is None
    assert hidden["final_answer"] == shown["final_answer"]
    assert hidden["usage"]["steps"] == 2


@pytest.mark.parametrize(
    "request_id",
    ["7d9c1a52-5c62-4c0e-9f0e-3f8f8e5a1a11", "not a uuid, still a name", "x", "ü" * 200],
)
def test_the_request_id_is_echoed(server: Server, request_id: str) -> None:
    """PLN-07 "`request_id`: optional uuid; echoed in the response.": given it comes back, absent it
    is the run's own id.

    B-46 "Any string of 1 to 200 printable characters; generated ones are ids of ours; echoed as
    given."
    """
    assert server.plan(ask("simple", request_id=request_id))["request_id"] == request_id
    unnamed = server.plan(ask("simple"))
    assert unnamed["request_id"] == unnamed["run_id"]


@pytest.mark.parametrize(
    "request_id", ["", "x" * 201, "a\nb", "\x00", "a\u202eb", "\u200b", "\x7f"]
)
def test_a_request_id_is_printable(server: Server, request_id: str) -> None:
    """B-46 "Any string of 1 to 200 printable characters": what a list or a log would show otherwise
    is refused, wherever one may be given.
    """
    asked = {"verb_id": "math.evaluate", "payload": {"expression": "1"}, "request_id": request_id}
    for path, body in (
        ("/plan/react", ask("simple", request_id=request_id)),
        ("/verbs/execute", asked),
    ):
        answer = server.http.post(path, json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_the_response_has_the_sources_shape(server: Server) -> None:
    """PLN-18 "Response `{request_id, status: ok|error|timeout, error{code,message}, final_answer,
    trace, usage}`": plus run and header.
    PLN-19 "`final_answer{content: str, structured: object}`"
    PLN-23 "`usage{steps, tokens_reason, tokens_answer, tools_called[], duration_ms}`"
    """
    body = server.plan(ask("number"))
    assert set(body) == {"request_id", "status", "error", "final_answer", "trace", "usage"} | {
        "run_id",
        "header",
        "verdict",
    }
    assert body["final_answer"] == {"content": "It is 42.", "structured": {"value": 42}}
    assert set(body["usage"]) == {
        "steps",
        "tokens_reason",
        "tokens_answer",
        "tools_called",
        "duration_ms",
    } | {"estimated"}
    assert (body["usage"]["steps"], body["usage"]["tools_called"]) == (2, ["math.evaluate"])
    failed = server.plan(ask("number", "no.such_verb"))
    assert (failed["status"], set(failed["error"]), failed["final_answer"]) == (
        "error",
        {"code", "message"},
        None,
    )


def test_an_observation_is_the_superset(server: Server) -> None:
    """PLN-21 "Contract observation shape `{ok, output}`": with the text, the source's other keys
    and what carried it out.
    B-04 "Superset: `{ok, output, error?, llm_output, spark_meta, step_meta, raw_cortex?}`"
    """
    seen = server.plan(ask("number"))["trace"][0]["observation"]
    assert (seen["ok"], seen["output"]["result"]) == (True, "42")
    assert set(seen) == {"ok", "output", "llm_output", "spark_meta", "step_meta"}
    assert seen["step_meta"]["verb_name"] == "math.evaluate"


async def test_the_shapes_do_not_depend_on_the_transport(server: Server, tmp_path: Path) -> None:
    """PLN-05 "message shapes may not": in process the same request gets the same response but for
    ids and times.
    """
    over_http = server.plan(ask("number"))
    async with Ordain(home=tmp_path, script=server.home / "script.json") as ordain:
        in_process = (await ordain.plan(ask("number"))).wire
    assert shape(in_process) == shape(over_http)
    assert in_process["final_answer"] == over_http["final_answer"]


def test_contracts_are_published_apart(server: Server) -> None:
    """PLN-04 "Contracts separate planning from tool execution and from scheduling": three
    contracts, none carrying another's words.
    """
    planner, verb = (
        server.http.get(f"/schemas/{name}").json()["properties"].keys()
        for name in ("planner-request", "verb-request")
    )
    assert not {"verb_id", "payload", "triggers", "schedule", "cron"} & set(planner)
    assert set(verb) == {"verb_id", "payload", "request_id", "caller"}
    for foreign in (
        {"triggers": {"time": []}},
        {"verb_id": "math.evaluate"},
        {"schedule": "daily"},
    ):
        assert server.http.post("/plan/react", json=ask("simple", **foreign)).status_code == 422
