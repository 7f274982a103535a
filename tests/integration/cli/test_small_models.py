"""The command and the HTTP face before small endpoints: they write prose, and refuse a format, or
tools as well.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.process import Server
from tests.integration.models.prose_server import FACTS, PROSE, ProseEndpoint, prose_endpoint

QUOTED = "\n".join(f"> {line}" for line in PROSE.split("\n"))
MESSAGE = {"session_id": "s1", "user_id": "ada", "message": {"text": "What is the sea like?"}}
REFUSING = [
    pytest.param((), id="prose"),
    pytest.param(("response_format",), id="no format"),
    pytest.param(("response_format", "tools"), id="no tools"),
]


@pytest.fixture(params=REFUSING)
def endpoint(request: pytest.FixtureRequest) -> Iterator[ProseEndpoint]:
    with prose_endpoint(*request.param, plans=False) as found:
        yield found


@pytest.fixture
def server(tmp_path: Path, endpoint: ProseEndpoint) -> Iterator[Server]:
    """A server over a folder whose only model is the endpoint, which each test may start or not."""
    server = Server(
        tmp_path / "home",
        environment={"OPENAI_BASE_URL": endpoint.url, "OPENAI_API_KEY": "sk-none"},
    )
    yield server
    server.end()


def test_ordain_chat_answers_in_words(server: Server, endpoint: ProseEndpoint) -> None:
    """One request, no JSON asked for; each line of it stands behind its mark. In agent mode it says
    that the model could not plan.
    """
    done = server.cli("chat", "What is the sea like?")
    assert done.returncode == 0, done.stderr
    header, _, narrative = done.stdout.decode().partition("\n\n")
    assert (header.splitlines()[0].partition(" · ")[0], narrative) == ("✓ small", f"{QUOTED}\n\n")
    assert endpoint.ways() == ["plain"]
    agent = server.cli("chat", "--mode", "agent", "What is 6 * 7?")
    assert agent.stdout.decode().startswith("✗ ")
    assert "\n\n> This was not done: the model could not plan: " in agent.stdout.decode()


def test_messages_are_answered_in_words_and_what_was_learnt_is_shown(
    server: Server, endpoint: ProseEndpoint
) -> None:
    """`POST /messages` in both modes; after that `ordain models list` says, beside the running
    server, how answers are held and why.
    """
    before = json.loads(server.cli("models", "list", "--json").stdout)["models"][0]
    assert (before["structured"], before["held"], before["learnt"]) == ("native", "native", {})
    server.start()
    told = server.http.post("/messages", params={"wait": "true"}, json=MESSAGE).json()
    assert (told["reply"]["ok"], told["reply"]["narrative"]) == (True, PROSE)
    hints = {"routing_hints": {"mode": "agent"}}
    planned = server.http.post(
        "/messages", params={"wait": "true"}, json={**MESSAGE, "session_id": "s2", "context": hints}
    ).json()
    assert not planned["reply"]["ok"]
    assert planned["reply"]["narrative"].startswith(
        "This was not done: the model could not plan: 2 of its proposals were no step of a plan."
    )
    assert endpoint.ways() == ["plain", "native", "tool", "text", "text"]
    why = {
        way: "refused" if field in endpoint.refuses else "ignored"
        for way, field in (("native", "response_format"), ("tool", "tools"))
    }
    after = json.loads(server.cli("models", "list", "--json").stdout)["models"][0]
    assert (after["structured"], after["held"], after["learnt"]) == ("native", "text", why)
    shown = " ".join(server.cli("models", "list").stdout.decode().split())
    assert f"text (native {why['native']}, tool {why['tool']})" in shown


def test_it_is_known_after_a_kill(server: Server, endpoint: ProseEndpoint) -> None:
    """What a process learnt before it was killed the next one begins with."""
    server.start()
    call = {"verb_id": "extract_facts", "payload": {"text": "The lamp is red."}}
    assert server.http.post("/verbs/execute", json=call).json()["ok"] is False
    assert endpoint.ways() == ["native", "tool", "text"]
    server.kill()
    endpoint.asked.clear()
    endpoint.plans = True
    server.start()
    done = server.http.post("/verbs/execute", json=call).json()
    assert (done["ok"], done["output"], endpoint.ways()) == (True, FACTS, ["text"])


def test_a_profile_is_judged_alike_whoever_asks(server: Server, endpoint: ProseEndpoint) -> None:
    """An endpoint that keeps to no schema can chat all the same: `ordain models test` says so
    before runs have learnt it and after, and `models add` and `init` say the same.
    """
    first = json.loads(server.cli("models", "test", "--json").stdout)["verdicts"][0]
    server.cli("chat", "--mode", "agent", "What is 6 * 7?")
    then = json.loads(server.cli("models", "test", "--json").stdout)["verdicts"][0]
    told = ("--provider", "openai", "--model", "m", "--base-url", endpoint.url)
    added = json.loads(server.cli("models", "add", "again", *told, "--json").stdout)["verdict"]
    begun = ("init", "--use", "endpoint", *told[2:], "--replace", "--yes", "--json")
    begun_with = json.loads(server.cli(*begun).stdout)["verdict"]
    for verdict in (first, then, added, begun_with):
        assert (verdict["ok"], verdict["message"]) == (True, "talks, and keeps to no schema")
        assert "agents and plans will often fail" in verdict["advice"]
