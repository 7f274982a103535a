"""What the faces of the conversation owe to each other: they translate, the orchestrator decides,
and a chat is one session on all.
"""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

import ordain.server
from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.talking import SCRIPT, message, say, transcript

FACES = Path(ordain.server.__file__).parent
DECIDING = ("rules", "flows", "journal", "prompts", "store", "models", "verbs", "engines")
"""Where what is decided, and what is done about it, is at home."""
POLICY = """[supervisor]
tools = ["math.evaluate"]
[profile]
allowed_handoff_targets = ["creative_agent"]
"""
DECIDED = {
    "mode",
    "verb",
    "verbs",
    "attached",
    "path",
    "outcome",
    "supervised",
    "allowed_verbs",
    "budget_class",
}
"""What an adapter passes on and never looks at."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("faces")).play(SCRIPT).policy(POLICY) as server:
        yield server


def imported(tree: ast.AST) -> set[str]:
    """The rooms of Ordain that a module imports."""
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {name.split(".")[1] for name in names if name.startswith("ordain.")}


def looked_at(tree: ast.AST) -> set[str]:
    """The names that any branch of a module depends on directly."""
    found: set[str] = set()
    for node in ast.walk(tree):
        tests = (
            [node.test]
            if isinstance(node, ast.If | ast.IfExp | ast.While)
            else [node.subject]
            if isinstance(node, ast.Match)
            else []
        )
        for part in (part for test in tests for part in ast.walk(test)):
            found |= (
                {part.attr}
                if isinstance(part, ast.Attribute)
                else {part.id}
                if isinstance(part, ast.Name)
                else set()
            )
    return found


def test_what_a_deciding_adapter_would_look_like() -> None:
    """The reading of syntax trees below finds imports of a rule and branches on a mode."""
    tree = ast.parse(
        "from ordain import rules\nimport ordain.store.schema\ndef f(hub):\n"
        "    return 1 if hub.mode == 'agent' else 2"
    )
    assert imported(tree) == {"rules", "store"}
    assert looked_at(tree) & DECIDED == {"mode"}


@pytest.mark.parametrize("module", sorted(path.name for path in FACES.glob("*.py")))
def test_no_adapter_reaches_what_decides(module: str) -> None:
    """No module of the server imports a rule, a flow or the store; the addresses of the
    conversation branch on nothing that is decided.

    ING-05 "Endpoint adapters are transport-specific only; no business logic in them"
    """
    tree = ast.parse((FACES / module).read_text(encoding="utf-8"))
    assert not imported(tree) & set(DECIDING)
    if module in {
        "messages.py",
        "gateway.py",
        "socket.py",
        "transcripts.py",
        "answering.py",
        "feed.py",
    }:
        assert not looked_at(tree) & DECIDED


def by_message(server: Server, text: str, session: str, **hints: Any) -> str:
    """Over `POST /messages`."""
    camel = {"mode": "mode", "verb": "verb", "max_steps": "maxSteps", "supervised": "supervised"}
    return say(server, text, session, hints={camel[name]: value for name, value in hints.items()})[
        "runId"
    ]


def hub(text: str, session: str, **hints: Any) -> dict[str, Any]:
    """The hub's payload."""
    options = {name: hints.pop(name) for name in ("max_steps", "supervised") if name in hints}
    return {"text_input": text, "session_id": session, "options": options, **hints}


def by_hub(server: Server, text: str, session: str, **hints: Any) -> str:
    """Over `POST /api/chat`."""
    response = server.http.post("/api/chat", json=hub(text, session, **hints))
    assert response.status_code == 200, response.text
    return response.json()["run_id"]


def by_cortex(server: Server, text: str, session: str, **hints: Any) -> str:
    """Over `POST /v1/cortex/chat`."""
    given = hub(text, session, **hints)
    response = server.http.post(
        "/v1/cortex/chat", json={"prompt": given.pop("text_input"), **given}
    )
    assert response.status_code == 200, response.text
    return response.json()["cortex_result"]["run_id"]


def by_socket(server: Server, text: str, session: str, **hints: Any) -> str:
    """Over `WS /ws`."""
    with connect(f"ws://127.0.0.1:{server.port}/ws", proxy=None) as client:
        client.send(json.dumps(hub(text, session, **hints)))
        own = None
        while True:
            event = json.loads(client.recv(timeout=PATIENCE_S))
            assert event["event"] != "refused", event
            own = event["seq"] if event["event"] == "accepted" else own
            if event["event"] == "reply" and own is not None and event["seq"] > own:
                return event["run"]


def by_command(server: Server, text: str, session: str, **hints: Any) -> str:
    """By `ordain chat`."""
    given = [part for name, value in hints.items() for part in (f"--{name}", str(value))]
    done = server.cli("chat", "--json", "--session", session, *given, text)
    (reply,) = [
        event
        for event in map(json.loads, done.stdout.decode().splitlines())
        if event["event"] == "reply"
    ]
    return reply["run"]


Way = Callable[..., str]
WAYS: dict[str, Way] = {
    "messages": by_message,
    "hub": by_hub,
    "cortex": by_cortex,
    "socket": by_socket,
    "command": by_command,
}


def decided(server: Server, run: str) -> list[Any]:
    """What was decided of a turn, and from which facts."""
    return [
        (
            record["name"],
            record["body"]["outcome"],
            record["body"]["reason"],
            record["body"]["facts"],
        )
        for record in server.journal(run)
        if record["kind"] == "decision"
        and record["name"] in ("entry", "outcome", "route", "authorize")
    ]


@pytest.mark.parametrize(
    ("hints", "verb", "code"),
    [
        ({}, "chat_general", "ok"),
        ({"mode": "agent"}, "agent_runtime", "ok"),
        ({"mode": "council"}, "council_runtime", "council_no_quorum"),
        ({"verb": "no_such_verb"}, "", "unknown_verb"),
        ({"mode": "agent", "verb": "math.evaluate"}, "math.evaluate", "ok"),
        ({"mode": "agent", "verb": "council_runtime"}, "", "reserved_verb:council_runtime"),
    ],
    ids=str,
)
def test_every_way_leads_to_the_one_orchestrator(
    server: Server, hints: dict[str, Any], verb: str, code: str
) -> None:
    """The same words by any address, socket or command become a turn with the same decisions from
    the same facts.

    ING-05 "Endpoint adapters are transport-specific only; no business logic in them"
    ING-08 "Entry point is always the server-side primary chat orchestrator"
    ING-10 "route to a mode-specific canonical entry verb"
    """
    found: dict[str, Any] = {}
    for name, way in WAYS.items():
        if (name, code) == ("command", "unknown_verb"):
            continue  # the command refuses it before anything is said: test_chat_terminal.py
        run = way(server, "either way", f"{name}/{'-'.join(hints.values())}", **hints)
        view = server.http.get(f"/runs/{run}").json()
        assert (view["flow"], view["parent"]) == ("turn", None)
        assert (view["response"].get("verb", ""), view["reason"]) == (verb, code)
        found[name] = decided(server, run)
        assert [rule for rule, *_ in found[name]][:1] == ["entry"]
    assert [name for name, what in found.items() if what != found["messages"]] == []


@pytest.mark.parametrize(
    "aside",
    [
        {"flow": "supervisor"},
        {"trace_verb": "agent_runtime"},
        {"run": "x", "action": {"tool_id": "math.evaluate"}},
    ],
    ids=str,
)
def test_nobody_enters_beside_the_orchestrator(server: Server, aside: dict[str, Any]) -> None:
    """Words of a client for flows, labels or actions enter nothing: an open payload is served by a
    turn all the same, a strict one is refused.

    ING-08 "Entry point is always the server-side primary chat orchestrator"
    """
    shown = server.http.post("/api/chat", json={"text_input": "quick", **aside}).json()
    view = server.http.get(f"/runs/{shown['run_id']}").json()
    assert (view["flow"], view["response"]["executed"]) == ("turn", ["chat_general"])
    before = server.http.get("/runs", params={"limit": 500}).json()
    assert (
        server.http.post("/messages", json={**message("quick", "aside"), **aside}).status_code
        == 422
    )
    assert server.http.post("/v1/cortex/chat", json={"prompt": "quick", **aside}).status_code == 422
    assert server.http.get("/runs", params={"limit": 500}).json() == before


def test_a_chat_is_one_session_on_every_way_and_after_a_kill(tmp_path: Path) -> None:
    """Whatever way a chat's messages come, whoever writes them, whatever they refer to, and over a
    kill, it is the one session of its id.

    ING-07 "Session identity stays stable per chat"
    ING-06 "Transport reply/thread IDs are anchoring metadata"
    """
    server, chat = Server(tmp_path).play(SCRIPT), "telegram:chat:-42"
    try:
        server.start()
        for reference in ("telegram:reply:1", "telegram:reply:2"):
            context = {"threadRef": reference, "replyTo": reference}
            sent = {
                "sessionId": chat,
                "userId": reference,
                "channel": "telegram",
                "message": {"text": "quick"},
                "context": context,
            }
            assert server.http.post("/messages", json=sent).json()["sessionId"] == chat
        before = server.http.get("/sessions").json()["sessions"]
        server.kill()
        server.start()
        assert server.http.get("/sessions").json()["sessions"] == before
        for way in WAYS.values():
            way(server, "quick", chat)
        (session,) = server.http.get("/sessions").json()["sessions"]
        entries = transcript(server, chat)
    finally:
        server.end()
    assert session["sessionId"] == chat
    assert [entry["seq"] for entry in entries] == list(range(1, 2 * (2 + len(WAYS)) + 1))
    assert [entry["event"] for entry in entries] == ["message", "reply"] * (2 + len(WAYS))


@pytest.mark.parametrize(
    ("text", "hints", "code"),
    [
        ("prose", {"mode": "agent"}, "step"),
        ("mishap", {"mode": "agent"}, "partial"),
        ("quick", {"mode": "council"}, "council_no_quorum"),
        ("quick", {"verb": "no_such_verb"}, "unknown_verb"),
        ("unscripted", {"mode": "agent", "max_steps": 1}, ""),
    ],
    ids=str,
)
def test_a_failure_is_answered_the_same_each_time(
    server: Server, text: str, hints: dict[str, Any], code: str
) -> None:
    """A turn that fails is answered, as failed, with its typed reason, and each time by the same
    decisions.

    FAIL-04 "The user always gets a deterministic response path; never a silent fallback claiming
    success"
    """
    seen: list[Any] = []
    for number, name in enumerate(("messages", "hub", "cortex", "messages")):
        session = f"fails/{number}/{text}/{'-'.join(map(str, hints.values()))}"
        run = WAYS[name](server, text, session, **hints)
        view = server.http.get(f"/runs/{run}").json()
        _, reply = transcript(server, session)
        assert (reply["event"], reply["ok"], reply["header"]) == ("reply", False, view["header"])
        assert reply["header"].startswith("✗")
        assert view["reason"].startswith(code)
        seen.append((decided(server, run), view["reason"], reply["narrative"]))
    assert all(each == seen[0] for each in seen)


@pytest.mark.parametrize(
    ("text", "hints", "outcome", "path"),
    [
        ("quick", {}, "direct", "direct"),
        ("work", {"mode": "agent"}, "direct", "react_lite"),
        ("quick", {"delegates": ["creative_agent"]}, "delegate", None),
    ],
    ids=str,
)
def test_a_turn_has_its_outcome_first_and_a_path_only_where_that_is_direct(
    server: Server, text: str, hints: dict[str, Any], outcome: str, path: str | None
) -> None:
    """B-41 "Outcome first, then path" and B-41 "`rules/route` then picks EXE-10's path (four values)
    by B-10's table, for outcome direct only": so the journal has it, in this order.
    """
    session = f"outcome/{text}/{outcome}"
    server.http.post(
        "/messages",
        json=message(text, session, hints=hints),
        headers={"Prefer": "respond-async"},
    )
    run = transcript(server, session)[0]["run"]
    server.until(run, "completed", "failed", "waiting")
    found = [one for one in decided(server, run) if one[0] in ("outcome", "route")]
    assert found[0][0] == "outcome"
    assert found[0][1]["outcome"] == outcome
    assert [one[1]["path"] for one in found[1:]] == ([] if path is None else [path])


def names_in(value: Any) -> Iterator[str]:
    """Every key of a JSON value."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from names_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from names_in(one)


def test_each_wire_has_its_own_spelling(server: Server) -> None:
    """The canonical message is answered in camelCase, hub and cortex in snake_case, and neither of
    these reads the other spelling.

    B-12 "snake_case internally; S1 contract exposes camelCase aliases; each wire keeps its source's
    spelling"
    """
    canonical = say(server, "quick", "spelling:1")
    names = set(names_in([record["body"] for record in server.journal(canonical["runId"])]))
    assert {"user_message", "budget_class"} & names
    assert [name for name in names if name != name.lower()] == []
    assert {"sessionId", "messageId", "sessionSeq", "threadId", "runId"} <= canonical.keys()
    assert not [name for name in canonical if "_" in name]
    shown = server.http.post(
        "/api/chat", json={"text_input": "quick", "sessionId": "spelling:2"}
    ).json()
    assert shown["session_id"] != "spelling:2"
    for answer in (shown, shown["cortex_result"], shown["cortex_result"]["metadata"]):
        assert [name for name in answer if name != name.lower()] == []
    assert (
        server.http.post(
            "/v1/cortex/chat", json={"prompt": "quick", "sessionId": "spelling:2"}
        ).status_code
        == 422
    )
