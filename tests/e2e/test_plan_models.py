"""The planner over a real HTTP model endpoint: what the model is shown, how it is chosen, what its
tokens count for.
"""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from ordain.contracts.model_policy import ModelErrorCode
from ordain.contracts.remedies import REMEDIES
from ordain.settings import load_settings
from tests.e2e.model_endpoint import ModelEndpoint
from tests.e2e.process import Server, fixed_port, nobody
from tests.e2e.proposals import act, add, ask, finish, seed

KEY = "sk-a-key-nobody-sees"
FACTS = {
    "facts": [{"text": "A is B.", "subject": "A", "predicate": "is", "object": "B"}],
    "method": "analysed",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ModelEndpoint]:
    with ModelEndpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def server(endpoint: ModelEndpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on the endpoint, its port from the environment."""
    port = fixed_port()
    environment = {
        "OPENAI_BASE_URL": endpoint.url,
        "OPENAI_API_KEY": KEY,
        "PLANNER_PORT": str(port),
    }
    with Server(tmp_path_factory.mktemp("models"), environment=environment, arguments=()) as server:
        assert server.port == port
        yield server


def test_the_model_sees_tools_and_context_only(server: Server, endpoint: ModelEndpoint) -> None:
    """PLN-39 "Planner knows only: tool id/description/input schema": nothing of how a verb works,
    of policy or of other verbs.
    PLN-27 "every tool call and every LLM reasoning step is in `trace`"
    """
    endpoint.will_answer(act("extract_facts", text="A is B."), FACTS, finish("A is B."))
    body = server.plan(ask("any", "extract_facts"))
    assert body["status"] == "ok"
    planner, verb, _ = (endpoint.prompt(number) for number in range(3))
    spec = server.http.get("/verbs/extract_facts").json()
    assert spec["description"] in planner
    assert all(name in planner for name in ("extract_facts", *spec["input_schema"]["properties"]))
    hidden = [
        "summarize_facts",
        "math.evaluate",
        *(step["name"] for step in spec["plan"]),
        *spec["services"],
        KEY,
        "max_tokens",
    ]
    assert not [word for word in hidden if word in planner]
    assert "A is B." in verb
    assert '"ok":true' in endpoint.prompt(2).replace(" ", "")


def test_the_registry_fills_a_tool_named_by_its_id(server: Server, endpoint: ModelEndpoint) -> None:
    """PLN-17 "tool descriptions/schemas (watcher form)": of a tool that carries only its id the
    model sees the registry's words.
    """
    endpoint.will_answer(finish("Done."))
    assert server.plan({**ask("any"), "toolset": [{"tool_id": "math.evaluate"}]})["status"] == "ok"
    shown = endpoint.prompt(0)
    assert "Calculate an arithmetic expression exactly" in shown
    assert '"expression"' in shown


def test_the_step_contract_goes_to_the_model(server: Server, endpoint: ModelEndpoint) -> None:
    """PLN-29 "Each LLM step returns JSON": the endpoint is sent the directive's schema, and the
    same schema is published.
    """
    endpoint.will_answer(finish("Done."))
    server.plan(ask("any"))
    sent = endpoint.asked[0]["response_format"]["json_schema"]
    assert sent["name"] == "planner_step"
    published = server.http.get("/schemas/planner-step").json()
    assert published["discriminator"]["propertyName"] == "finish"
    assert {"thought", "finish", "action", "final_answer"} == set(
        published["$defs"]["ActStep"]["properties"]
    )


def test_the_model_is_named_by_the_environment(
    server: Server, endpoint: ModelEndpoint, tmp_path: Path
) -> None:
    """PLN-40 "Planner model via `PLANNER_MODEL`, default `llama-3-8b-instruct-q4_k_m`": the
    endpoint is asked for exactly that one.
    """
    endpoint.will_answer(finish("Done."))
    assert "llama-3-8b-instruct-q4_k_m" not in server.plan(ask("any"))["header"]
    assert endpoint.asked[0]["model"] == "llama-3-8b-instruct-q4_k_m"
    environment = {"OPENAI_BASE_URL": endpoint.url, "PLANNER_MODEL": "another-model"}
    with Server(tmp_path, environment=environment) as other:
        endpoint.will_answer(finish("Done."))
        assert "fake-1" in other.plan(ask("any"))["header"]
    assert endpoint.asked[0]["model"] == "another-model"


def test_the_port_is_set_by_the_environment(server: Server) -> None:
    """PLN-41 "HTTP port `PLANNER_PORT`, default 8090": the server listens there; without it the
    port is the default.
    """
    assert server.port == int(server.environment["PLANNER_PORT"])
    assert load_settings(environment={}).port == 8090


def test_the_backend_changes_and_the_ids_do_not(
    server: Server, endpoint: ModelEndpoint, tmp_path: Path
) -> None:
    """PLN-43 "Planner backend is configurable but always speaks ontology verb IDs": an endpoint and
    a script give the same trace.
    """
    endpoint.will_answer(add(), finish("2"))
    over_endpoint = server.plan(ask("any"))
    with Server(tmp_path).play({"planner": [add(), finish("2")]}) as scripted:
        by_script = scripted.plan(ask("any"))
    assert [step["action"] for step in over_endpoint["trace"]] == [
        step["action"] for step in by_script["trace"]
    ]
    assert (
        over_endpoint["usage"]["tools_called"]
        == by_script["usage"]["tools_called"]
        == ["math.evaluate"]
    )


def test_reported_tokens_are_booked_where_they_belong(
    server: Server, endpoint: ModelEndpoint
) -> None:
    """B-42 "reason = completion tokens of non-finishing planner calls, answer = those of the
    finishing call": verbs' calls count for neither.
    """
    endpoint.will_answer(act("extract_facts", text="A is B."), FACTS, finish("A is B."))
    usage = server.plan(ask("any", "extract_facts"))["usage"]
    assert (usage["tokens_reason"], usage["tokens_answer"], usage["estimated"]) == (7, 7, False)


def test_token_limits_are_the_runs_and_a_call_gets_what_is_left(
    server: Server, endpoint: ModelEndpoint
) -> None:
    """Of what a run may still think and answer a planner's call is given the greater part; what a
    verb's own model call used is the run's and neither's.

    B-42 "`max_tokens_reason`/`max_tokens_answer` are per run"
    B-42 "A call is given max(left_reason, left_answer); its tokens are booked where they belong"
    B-42 "Model calls of prompt-plan verbs count for the run's budget, not for these two."
    """
    endpoint.will_answer(act("extract_facts", text="A is B."), FACTS, finish("A is B."))
    body = server.plan(
        ask("any", "extract_facts", limits={"max_tokens_reason": 100, "max_tokens_answer": 60})
    )
    assert [endpoint.asked[number]["max_tokens"] for number in (0, 2)] == [100, 93]
    assert (body["status"], body["usage"]["tokens_reason"], body["usage"]["tokens_answer"]) == (
        "ok",
        7,
        7,
    )
    assert "3 model calls" in body["header"]
    assert "+21 tokens" in body["header"]
    endpoint.will_answer(act("extract_facts", text="A is B."), FACTS, finish("A is B."))
    server.plan(
        ask("any", "extract_facts", limits={"max_tokens_reason": 40, "max_tokens_answer": 60})
    )
    assert [endpoint.asked[number]["max_tokens"] for number in (0, 2)] == [60, 60]


def test_the_smoke_test_goes_to_the_planners_port(server: Server, endpoint: ModelEndpoint) -> None:
    """The port is the environment's, without it 8090, and there the sources' example is answered.

    TST-01 "Smoke test: POST the S3 §8 payload to
    `http://localhost:${PLANNER_PORT:-8090}/plan/react`"
    """
    assert (
        load_settings(environment={}).port,
        load_settings(environment={"PLANNER_PORT": "9"}).port,
    ) == (8090, 9)
    endpoint.will_answer(act("extract_facts", text="A is B."), FACTS, finish("A is B."))
    response = httpx2.post(
        f"http://localhost:{server.port}/plan/react",
        json=seed("extract_facts_plan_minimal"),
        timeout=60,
        trust_env=False,
    )
    assert (response.status_code, response.json()["status"], response.json()["usage"]["steps"]) == (
        200,
        "ok",
        2,
    )


def test_a_key_is_sent_and_never_shown(server: Server, endpoint: ModelEndpoint) -> None:
    """The API key reaches the endpoint, and neither journal, header, log nor any page."""
    endpoint.will_answer(finish("Done."))
    run = server.plan(ask("any"))["run_id"]
    assert endpoint.keys == [f"Bearer {KEY}"]
    pages = [
        server.http.get(page).text
        for page in (f"/runs/{run}", f"/runs/{run}/journal", "/metrics", "/verbs", "/openapi.json")
    ]
    assert not [page for page in [*pages, server.log()] if KEY in page]
    assert KEY.encode() not in b"".join(
        path.read_bytes() for path in server.home.glob("ordain.db*")
    )


def test_an_unreachable_endpoint_is_an_error(tmp_path: Path) -> None:
    """VRB-10 "offline orch produce typed error/timeout behaviour": no endpoint means a typed error,
    never the offline provider's answer.
    """
    with (
        nobody() as port,
        Server(tmp_path, environment={"OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1"}) as server,
    ):
        body = server.plan(ask("any"))
    assert (body["status"], body["error"]["code"], body["final_answer"]) == (
        "error",
        "connection",
        None,
    )
    assert body["error"]["remedy"] == REMEDIES[ModelErrorCode.CONNECTION]
    assert "fallback.unanswered" in body["header"]
