"""Verbs over HTTP: the verb conversation (VRB-01..VRB-10), and what can be called."""

from collections.abc import Iterator

import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import add, ask, case, finish, prompt_plan, seed

REQUEST, REPLY = seed("verb_call_request"), seed("verb_call_reply")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("verbs"))
    verbs = {"steps.three": [{"n": 1}, {"n": 2}, {"n": 3}], "bad.output": [{"n": "one"}]}
    server.play({"verbs": verbs, "cases": [case("number", add("6 * 7"), finish("42"))]})
    server.verb("steps.three", prompt_plan("steps.three", steps=("llm_a", "llm_b", "llm_c")))
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    server.verb("bad.output", prompt_plan("bad.output", output_schema=schema))
    server.verb("switched.off", prompt_plan("switched.off"))
    server.policy('[verbs.default]\ndeny = ["switched.*"]\n')
    with server:
        yield server


def test_the_verb_pair_of_the_sources(server: Server) -> None:
    """VRB-02 “Verb API request `{verb_id, payload, request_id, caller:"planner-react"}`”: the
    sources' own request is accepted as it stands.
    VRB-03 "Verb API reply `{ok: bool, output: object, error: null|…}`"
    VRB-09 "`recall.fetch_context`"
    """
    assert (
        server.http.post("/memory", json={"text": "The library opens at nine."}).json()["outcome"]
        == "added"
    )
    reply = server.execute(REQUEST)
    assert (reply["ok"], reply["error"], reply["output"]["fragments"]) == (
        REPLY["ok"],
        REPLY["error"],
        [],
    )
    assert reply["request_id"] == REQUEST["request_id"]
    assert set(reply) == {*REPLY, "request_id", "run_id", "header", "verdict", "step_results"}
    asked = {**REQUEST, "payload": {"query": "when does the library open"}, "request_id": "another"}
    assert [one["text"] for one in server.execute(asked)["output"]["fragments"]] == [
        "The library opens at nine."
    ]


@pytest.mark.parametrize(
    "verb", ["no.such_verb", "math.evaluat", "MATH.EVALUATE", "math.evaluate "]
)
def test_an_unknown_verb_is_a_typed_reply(server: Server, verb: str) -> None:
    """VRB-10 "Bad verb name and offline orch produce typed error/timeout behaviour": ids are exact,
    the reply says unknown_verb.
    VRB-03 "Verb API reply `{ok: bool, output: object, error: null|…}`"
    """
    reply = server.execute({"verb_id": verb, "payload": {}})
    assert (reply["ok"], reply["output"], reply["error"]["code"]) == (False, None, "unknown_verb")
    assert "authorize.unknown_verb" in reply["header"]


def test_planner_and_callers_use_one_executor(server: Server) -> None:
    """VRB-01 “planner → "execute verb X with payload Y" → orch → tool service”: both journal the
    same decision and the same call.
    """
    plan = server.plan(ask("number"))
    reply = server.execute({"verb_id": "math.evaluate", "payload": {"expression": "6 * 7"}})
    assert reply["output"] == plan["trace"][0]["observation"]["output"]
    calls = []
    for run in (plan["run_id"], reply["run_id"]):
        journal = server.journal(run)
        decision = next(r["body"] for r in journal if r["name"] == "authorize")
        effect = next(
            r["body"]["effect"]
            for r in journal
            if (r["kind"], r["name"]) == ("intent", "verb_call")
        )
        authorized, allowed = (
            effect["authorized"],
            decision["outcome"]["call"],
        )  # a call's own digest is the one allowed, where it is not left out
        calls.append(
            (
                decision["reason"],
                decision["outcome"],
                authorized["call"],
                authorized.get("digest", allowed),
            )
        )
    assert calls[0] == calls[1]


def test_a_verb_is_the_file_of_its_name(server: Server) -> None:
    """VRB-06 "Orch loads `orion/cognition/verbs/<verb_name>.yaml`": what the file declares is what
    is listed and called.
    """
    listed = {verb["verb_id"]: verb for verb in server.http.get("/verbs").json()["verbs"]}
    assert {"extract_facts", "math.evaluate", "steps.three"} <= set(listed)
    assert (listed["steps.three"]["kind"], len(listed["steps.three"]["plan"])) == ("prompt plan", 3)
    assert server.http.get("/verbs/steps.three").json() == listed["steps.three"]
    missing = server.http.get("/verbs/steps.four")
    assert (missing.status_code, missing.json()["code"]) == (404, "unknown_verb")


def test_plan_steps_run_in_order(server: Server) -> None:
    """VRB-07 "runs the YAML plan steps in order": as many model calls as steps, in their order, the
    last answer is the output.
    VRB-08 "structured result with `step_results`"
    """
    reply = server.execute({"verb_id": "steps.three", "payload": {}})
    assert reply["output"] == {"n": 3}
    children = server.http.get("/runs", params={"all": True}).json()["runs"]
    child = next(run["run_id"] for run in children if run["parent"] == reply["run_id"])
    ended = server.http.get(f"/runs/{child}").json()["response"]
    assert [(step["step_name"], step["order"], step["ok"]) for step in ended["step_results"]] == [
        ("llm_a", 0, True),
        ("llm_b", 1, True),
        ("llm_c", 2, True),
    ]


def test_output_is_checked_against_its_schema(server: Server) -> None:
    """A prompt plan whose answer does not fit its declared output is a typed failure, not an
    output.
    """
    reply = server.execute({"verb_id": "bad.output", "payload": {}})
    assert (reply["ok"], reply["output"], reply["error"]["code"]) == (False, None, "bad_output")


def test_input_is_checked_before_anything_runs(server: Server) -> None:
    """A payload that does not fit the verb's schema is denied by rule authorize; nothing goes
    live.
    """
    reply = server.execute({"verb_id": "math.evaluate", "payload": {"expression": 1}})
    assert (reply["ok"], reply["error"]["code"]) == (False, "schema")
    assert not [record for record in server.journal(reply["run_id"]) if record["kind"] == "intent"]


def test_a_verb_that_is_switched_off_says_so(server: Server) -> None:
    """A denied verb is listed as inactive, and calling it is a typed reply."""
    assert server.http.get("/verbs/switched.off").json()["inactive"] == "denied"
    assert server.execute({"verb_id": "switched.off", "payload": {}})["error"]["code"] == "inactive"


def test_failing_verbs_reply_with_their_own_code(server: Server) -> None:
    """A verb's own failure is its code in the reply and in the header."""
    reply = server.execute({"verb_id": "math.evaluate", "payload": {"expression": "1 / 0"}})
    assert (reply["ok"], reply["error"]["code"]) == (False, "division_by_zero")
    assert "division_by_zero" in reply["header"]


def test_verb_requests_are_runs(server: Server) -> None:
    """A verb request is a run: it has a journal, it is found again by its request id, and it can be
    asked for without waiting.
    """
    request = {
        "verb_id": "math.evaluate",
        "payload": {"expression": "2 + 2"},
        "request_id": "twice",
    }
    first, second = server.execute(request), server.execute(request)
    assert first == second
    other = server.http.post("/verbs/execute", json=request | {"payload": {"expression": "3 + 3"}})
    assert (other.status_code, other.json()["code"]) == (409, "request_id_reused")
    accepted = server.http.post("/verbs/execute", json=request, headers={"Prefer": "respond-async"})
    assert (accepted.status_code, accepted.json()["run_id"]) == (202, first["run_id"])
