"""The published OpenAPI document held to a running server: schemathesis over every operation, and
each declared success really happening.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect

from tests.e2e.approving import ask_to_send, furnish, open_approvals
from tests.e2e.openapi_truth import Truth
from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.proposals import act, ask, case, finish, slow
from tests.e2e.talking import ASKING, listening, message
from tests.lanes import sampled

HERE = Path(__file__).parent
PATHS_IN = 3
"""Of the paths one in so many, outside `--full`: which ones the seed says."""
EXAMPLES = 10
"""Cases that schemathesis makes for each operation beside those that cover the borders of each
schema.
"""
TIME_S = 300
WHY = {"why": "a test asked for it"}
SCRIPT = {
    "cases": [
        {"when": {"contains": "weather"}, "verbs": {"chat_general": []}, "planner": ASKING},
        case("simple", act("math.evaluate", expression="2 + 2"), finish("Fine.")),
        case("hanging", slow(finish("never"), 60_000)),
        {"when": {"contains": "hello"}, "verbs": {"chat_general": [{"content": "Hello."}]}},
    ]
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(furnish(tmp_path_factory.mktemp("openapi"))).play(SCRIPT) as server:
        yield server


@pytest.mark.timeout(TIME_S + 60)
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    """No server error, no undeclared status or media type, no drift from a schema, nothing wrong
    accepted and nothing right refused.
    """
    # streams never end: test_streams_are_as_declared reads them; what fails is printed with a curl
    # that asks again
    with Server(tmp_path) as server:
        server.execute({"verb_id": "math.evaluate", "payload": {"expression": "1 + 1"}})
        server.http.post(
            "/api/chat", json={"text_input": "Hello!", "session_id": "web:ada", "message_id": "m-0"}
        ).raise_for_status()
        command = [
            Path(sys.executable).with_name("schemathesis"),
            "--config-file",
            HERE / "schemathesis.toml",
            "--no-color",
            "run",
        ]
        command += [f"http://127.0.0.1:{server.port}/openapi.json", "--max-examples", str(EXAMPLES)]
        paths = [
            path
            for path in server.http.get("/openapi.json").json()["paths"]
            if not path.endswith("/events")
        ]
        command += [
            part
            for path in sampled(paths, PATHS_IN, "schemathesis")
            for part in ("--include-path", path)
        ]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(HERE.parents[1]), *sys.path]),
        }
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIME_S,
            check=False,
        )
        said = done.stdout[-20_000:] + done.stderr[-2_000:]
        assert done.returncode == 0, said
        assert "Tested: " in said, said
        assert server.http.get("/ready").status_code == 200
        assert "Traceback" not in server.log()


def waited(truth: Truth, run: str, *statuses: str) -> dict[str, Any]:
    """The run, once it has one of these statuses."""
    for _ in range(200):
        found = truth.ask("GET", f"/runs/{run}", params={"wait": 0.1}).json()
        if found["status"] in statuses:
            return found
    raise AssertionError(found["status"])


def test_every_declared_success_really_happens(server: Server) -> None:
    """Each status below 300 of each operation is given by a real call, and its body fits the schema
    declared for it.
    """
    truth = Truth(server.http)
    later = {"Prefer": "respond-async"}
    plain = [
        path
        for path, methods in truth.document["paths"].items()
        if "get" in methods and "{" not in path
    ]
    for address in (
        *plain,
        "/verbs/math.evaluate",
        "/workflows/complete_task",
        "/cards/finance_agent",
        "/v1/models/ordain",
        *(f"/schemas/{name}" for name in server.http.get("/schemas").json()["schemas"]),
    ):
        truth.ask("GET", address)
    # a plan
    run = truth.ask("POST", "/plan/react", json=ask("simple")).json()["run_id"]
    truth.ask("GET", "/runs", params={"status": "completed", "all": True})
    truth.ask("GET", f"/runs/{run}/journal")
    truth.ask("GET", f"/runs/{run}/tree")
    last = truth.ask("GET", f"/runs/{run}").json()["records"] - 1
    truth.ask("GET", f"/runs/{run}/events")
    truth.ask("GET", f"/runs/{run}/events", params={"after": last})
    truth.ask("POST", f"/runs/{run}/erase", json=WHY)
    erased = truth.ask("GET", f"/runs/{run}").json()
    assert (erased["erased"], erased["response"]["error"]["code"]) == (True, "erased")
    # one that is cancelled
    run = truth.ask("POST", "/plan/react", json=ask("hanging"), headers=later).json()["run_id"]
    truth.ask("POST", f"/runs/{run}/cancel", json=WHY)
    waited(truth, run, "cancelled")
    # verbs
    truth.ask(
        "POST",
        "/verbs/execute",
        json={"verb_id": "math.evaluate", "payload": {"expression": "1 / 3"}},
    )
    truth.ask(
        "POST",
        "/verbs/execute",
        json={"verb_id": "math.evaluate", "payload": {"expression": "1 / 3"}},
        headers=later,
    )
    truth.ask("POST", "/verbs/reload")
    # conversation, with a question that is answered
    truth.ask("POST", "/messages", json=message("hello", "web:ada"))
    truth.ask("POST", "/messages", json=message("hello", "web:ada"), headers=later)
    truth.ask("POST", "/api/chat", json={"text_input": "hello", "session_id": "web:hub"})
    truth.ask(
        "POST", "/api/chat", json={"text_input": "hello", "session_id": "web:hub"}, headers=later
    )
    truth.ask("POST", "/v1/cortex/chat", json={"prompt": "hello", "session_id": "web:cortex"})
    truth.ask(
        "POST",
        "/v1/chat/completions",
        json={"model": "ordain", "messages": [{"role": "user", "content": "hello"}]},
    )
    truth.ask("POST", "/v1/responses", json={"model": "ordain", "input": "hello"})
    asked = truth.ask(
        "POST", "/messages", json=message("weather", "web:q", hints={"mode": "agent"})
    ).json()
    assert asked["question"] is not None
    run = asked["runId"]
    truth.ask("GET", "/sessions/web:q")
    effect = waited(truth, run, "waiting")["waiting_at"]
    truth.ask("POST", f"/runs/{run}/answer", json={"effect": effect, "value": "Paris"})
    truth.ask("POST", "/messages", json=message("Paris", "web:q", hints={"mode": "agent"}))
    waited(truth, run, "completed")
    truth.ask("GET", "/sessions", params={"limit": 1})
    truth.ask("GET", "/sessions/web:ada/messages")
    truth.ask("GET", "/sessions/web:ada/messages/1", params={"wait": 10})
    truth.ask("POST", "/sessions/web:ada/erase", json=WHY)
    truth.ask("GET", "/sessions/web:ada")
    truth.ask("GET", "/sessions/web:ada/messages", params={"after": 0})
    # what waits for a yes
    secret = (
        server.cli("token", "create", "approver", "--scope", "approvals")
        .stdout.decode()
        .split()[-1]
    )
    for word in ("approve", "deny", "resubmit"):
        ask_to_send(server, word)
        (item,) = open_approvals(server)
        for sign in ("claim", "release"):
            truth.ask(
                "POST",
                f"/approvals/{item['approval_id']}/{sign}",
                json={},
                headers={"Authorization": f"Bearer {secret}"},
            )
        truth.ask("GET", f"/approvals/{item['approval_id']}")
        truth.ask("GET", "/approvals", params={"state": "open,denied", "limit": 1})
        body = (
            {"args": {"to": "ben@example.org", "text": word}}
            if word == "resubmit"
            else {"digest": item["digest"], "why": "a test"}
        )
        truth.ask("POST", f"/approvals/{item['approval_id']}/{word}", json=body)
    given = {
        "principal": "token:a",
        "scope": {"capabilities": ["note.*"], "constraints": {"note.*": {"maxCalls": 2}}},
        "ttlSeconds": 60,
    }
    grant = truth.ask("POST", "/grants", json=given).json()["grantId"]
    truth.ask("GET", "/grants", params={"all": True})
    truth.ask("POST", f"/grants/{grant}/revoke", json={"why": "it was sent"})
    truth.ask(
        "POST",
        "/messages",
        json=message(
            "tell",
            "web:waits",
            hints={"workflow": {"template": "announce", "args": {"text": "tea"}}},
        ),
    )
    truth.ask("GET", "/sessions/web:waits")
    truth.ask("GET", "/sessions/web:waits/messages", params={"after": 0})
    # what is remembered
    note = truth.ask("POST", "/memory", json={"text": "Ada drinks tea."}).json()["id"]
    truth.ask("POST", "/memory/search", json={"query": "Ada"})
    truth.ask("POST", "/memory/reindex")
    truth.ask("GET", "/memory")
    truth.ask("DELETE", f"/memory/{note}")
    octets = {"Content-Type": "application/octet-stream"}
    document = truth.ask(
        "POST", "/docs", params={"name": "a.md"}, content=b"# Pump\n\nIt stands.\n", headers=octets
    ).json()["id"]
    lines = truth.ask(
        "POST",
        "/docs",
        params={"name": "b.md"},
        content=b"# Tap\n\nIt drips.\n",
        headers={**octets, "Accept": "application/x-ndjson"},
    )
    assert json.loads(lines.text.splitlines()[-1])["event"] == "kept"
    truth.ask("GET", "/docs")
    truth.ask("GET", f"/docs/{document}")
    truth.ask("DELETE", f"/docs/{document}")
    wanted = {
        (operation["operationId"], status)
        for path in truth.document["paths"].values()
        for operation in path.values()
        for status in operation["responses"]
        if int(status) < 300
    }
    assert wanted - truth.seen == ELSEWHERE


ELSEWHERE = {("stream_session", "200"), ("resume_run", "202"), ("resolve_effect", "200")}
"""Streams without end are read below; a run that stops, or whose outcome is unknown, takes a broken
flow: `integration/server` has them.
"""


def test_streams_are_as_declared(server: Server) -> None:
    """Every event of a session's stream, provisional ones too, and of a run's fits the schema that
    the document names for it.
    """
    truth = Truth(server.http)
    declared = {
        one["operationId"]: one
        for path in truth.document["paths"].values()
        for one in path.values()
    }
    shape = {
        name: declared[name]["responses"]["200"]["content"]["text/event-stream"]["x-event-schema"]
        for name in ("stream_session", "stream_run")
    }
    said = server.http.post("/messages", json=message("hello", "web:stream")).json()
    with listening(server, "web:stream") as listener:
        server.http.post("/messages", json=message("hello", "web:stream"))
        events = [event for _ in range(2) for event in listener.until("reply")]
    assert {"message", "reply"} <= {event["event"] for event in events}
    for event in events:
        assert not truth.errors(shape["stream_session"], event), event
    with server.http.stream("GET", f"/runs/{said['runId']}/events") as response:
        blocks = [
            block
            for block in response.read().decode().split("\n\n")
            if block and not block.startswith(":")
        ]
    assert response.headers["content-type"].startswith("text/event-stream")
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        schema = (
            {"$ref": "#/components/schemas/Rest"}
            if fields["event"] == "rest"
            else shape["stream_run"]
        )
        assert not truth.errors(schema, json.loads(fields["data"])), block


async def test_a_socket_speaks_as_declared(server: Server) -> None:
    """Every frame of a WebSocket fits the shape that the document has for it."""
    truth, seen = Truth(server.http), list[dict[str, Any]]()
    shapes = {"accepted": "SocketAccepted", "refused": "SocketRefused"}
    async with connect(f"ws://127.0.0.1:{server.port}/ws?session=web:socket", proxy=None) as client:
        for frame in (
            '{"text_input": "hello"}',
            '{"text_input": ""}',
            "no JSON",
            '{"text_input": "hello", "session_id": "web:another"}',
        ):
            await client.send(frame)
        while (
            not {"refused": 3, "reply": 1}.items()
            <= Counter(event["event"] for event in seen).items()
        ):
            seen.append(json.loads(await asyncio.wait_for(client.recv(), PATIENCE_S)))
    for event in seen:
        schema = {"$ref": f"#/components/schemas/{shapes.get(event['event'], 'SessionEvent')}"}
        assert not truth.errors(schema, event), event
    assert {"accepted", "message", "reply"} <= {event["event"] for event in seen}


def test_only_those_with_a_token_are_answered_where_one_is_demanded(tmp_path: Path) -> None:
    """Where tokens are demanded each operation that says so refuses whoever has none, as declared;
    the others answer.
    """
    (tmp_path / "ordain.toml").write_text("[server]\nrequire_token = true\n", encoding="utf-8")
    with Server(tmp_path) as server:
        given = server.cli("token", "create", "all", "--scope", "all").stdout.decode().split()[-1]
        truth = Truth(
            httpx2.Client(
                base_url=server.http.base_url,
                headers={"Authorization": f"Bearer {given}"},
                trust_env=False,
                timeout=PATIENCE_S,
            )
        )
        for path, methods in truth.document["paths"].items():
            for method, operation in methods.items():
                address = path.replace("{run}", "f" * 32).replace("{seq}", "1")
                response = server.http.request(method, re.sub(r"\{\w+\}", "none", address))
                truth.check(response)
                assert (response.status_code == 401) == bool(operation["security"]), (
                    f"{method} {path}"
                )
        assert truth.ask("GET", "/runs").json()["runs"] == []
        truth.http.close()


def test_requests_that_are_published_are_taken(server: Server) -> None:
    """Each example of a body is accepted as it stands, by the operation that it is an example
    for.
    """
    for path, methods in Truth(server.http).document["paths"].items():
        for method, operation in methods.items():
            if "requestBody" in operation:
                ((kind, content),) = operation["requestBody"]["content"].items()
                body = (
                    json.dumps(content["example"])
                    if kind == "application/json"
                    else content["example"]
                )
                address = path.replace("{run}", "f" * 32).replace("{session}", "none")
                required = {
                    one["name"]: "a.md"
                    for one in operation["parameters"]
                    if one["required"] and one["in"] == "query"
                }
                response = server.http.request(
                    method,
                    address,
                    params=required,
                    content=body.encode(),
                    headers={"Content-Type": kind},
                )
                assert response.status_code in ({404} if "{" in path else {200, 202}), response.text
