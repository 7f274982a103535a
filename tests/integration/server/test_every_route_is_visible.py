"""Whatever a user, a model or a tool says, no route passes it on so that it controls, hides or
reorders.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
import pytest

from ordain.contracts.events import ReplyEvent
from ordain.contracts.verbs import Argument, ArgumentRole
from ordain.contracts.visible import visible
from ordain.server import Face, build_app
from ordain.server.feed import Feed
from ordain.server.resource import DeclaredRoute
from ordain.server.transcripts import TranscriptResponse
from ordain.testing import call, finish, output
from ordain.verbs.functions import VerbError, verb
from tests.integration.server.test_socket import serving
from tests.shapes.lines import asks, script_of, steps
from tests.shapes.talk import House
from tests.unit.contracts.test_visible import hidden, strings

POISON = "p\x1b[2J\x1b]0;x\x07q\x00\x7f\u202e\u2066\u200bz"
PLACE = quote(POISON, safe="")
EXACT: Mapping[str, tuple[str, ...]] = {
    "GET /runs/{run}/journal": ("records", "raw_cortex"),
    "GET /runs/{run}/events": ("body",),
    "GET /runs/{run}": ("response.output", "response.final_answer.structured"),
    "POST /plan/react": ("final_answer.structured",),
    "POST /verbs/execute": ("output",),
    **dict.fromkeys(
        (
            "GET /approvals/{approval}",
            *(
                f"POST /approvals/{{approval}}/{word}"
                for word in ("claim", "release", "approve", "deny", "resubmit")
            ),
        ),
        ("calls.args", "detail"),
    ),
}
"""What is given as it was recorded, by route; everywhere else no text does anything."""
STATIC = {"GET /openapi.json", "GET /schemas", "GET /schemas/{name}", "GET /metrics"}
"""What nobody's words stand in."""


@verb(effect="read", arguments={"text": ArgumentRole.CONTENT})
def echo_it(text: str) -> dict[str, str]:
    """Give back what was given."""
    return {"text": text, text: "key"}


@verb(effect="read", arguments={"text": ArgumentRole.CONTENT})
def break_it(text: str) -> dict[str, str]:
    """Fail with what was given."""
    raise VerbError("no_service", text)


@verb(
    effect="send",
    arguments={
        "to": Argument(role=ArgumentRole.RECIPIENT),
        "text": Argument(role=ArgumentRole.CONTENT),
    },
)
def send_it(to: str, text: str) -> dict[str, str]:
    """Send it nowhere."""
    return {"text": f"{to}: {text}"}


SAYS = script_of(
    asks("which", "freeform"),
    steps(
        call("break_it", text=POISON),
        finish(POISON),
        when=lambda request: "break" in str(request.inputs),
    ),
    steps(call("echo_it", text=POISON), finish(POISON)),
).on("verb", output(content=POISON))


@dataclass
class Visitor:
    """Asks, keeps what was answered, and remembers where it has been."""

    http: httpx2.AsyncClient
    been: set[str] = field(default_factory=set[str])

    async def go(
        self,
        route: str,
        expect: int = 200,
        content: bytes | None = None,
        given: Any = None,
        **more: Any,
    ) -> Any:
        """One request to a route, with what stands in its place's braces; its answer is looked
        at.
        """
        method, _, path = route.partition(" ")
        places = {name: more.pop(name) for name in list(more) if f"{{{name}}}" in path}
        headers = {"Content-Type": "application/json", **more.pop("headers", {})}
        body = (
            content
            if content is not None
            else None
            if given is None
            else json.dumps(given).encode()
        )
        response = await self.http.request(
            method, path.format(**places), content=body, headers=headers, params=more
        )
        assert response.status_code == expect, (route, response.status_code, response.text)
        self.been.add(route)
        look_at(route, response.text)
        if response.headers["content-type"].startswith("text/event-stream"):
            return response.text
        return response.json()


def look_at(route: str, text: str) -> None:
    """Nothing hidden stands in the bytes; nor in what they mean, where that has not to be exact."""
    assert not hidden(text), route
    for line in text.splitlines():
        plain = line.removeprefix("data: ")
        if plain.startswith(("{", "[")) and plain != "[DONE]":
            value = json.loads(plain)
            for path in EXACT.get(route, ()):
                value = without(value, path.split("."))
            assert not {one for said in strings(value) for one in hidden(said)}, (route, plain)


def without(value: Any, path: list[str]) -> Any:
    """A value without what stands at a path; of a list, in each."""
    if isinstance(value, list):
        return [without(one, path) for one in value]
    if not isinstance(value, dict) or path[0] not in value:
        return value
    rest = {} if len(path) == 1 else {path[0]: without(value[path[0]], path[1:])}
    return {**{key: one for key, one in value.items() if key != path[0]}, **rest}


def routes(app: Any) -> Iterator[str]:
    """Each route of the app that answers with a body of its own."""
    for one in (one for resource in app.resources for one in resource.declared):
        if isinstance(one, DeclaredRoute) and one.path != "/ws":
            yield f"{one.method} {one.path}"


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with House(script=SAYS, verbs=[echo_it, break_it, send_it]) as opened:
        yield opened


@pytest.fixture
async def visitor(house: House) -> AsyncIterator[Visitor]:
    app = build_app(Face(runtime=house.ordain.runtime, principal="local:ada"))
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app, raise_app_exceptions=False), base_url="http://localhost"
    ) as http:
        yield Visitor(http)


def message(text: str, session: str, **hints: Any) -> dict[str, Any]:
    said = {
        "text": f"{text} {POISON}",
        "metadata": {POISON: POISON},
        "attachments": [{"name": POISON, "url": POISON}],
    }
    return {
        "sessionId": session,
        "userId": POISON,
        "messageId": f"{POISON}{text}",
        "message": said,
        "context": {"routingHints": hints},
    }


async def talk(visitor: Visitor) -> dict[str, Any]:
    """Conversations of every kind; the run of the one whose tool failed."""
    said = await visitor.go("POST /messages", given=message("hello", "s1"))
    assert said["reply"]["narrative"] == visible(POISON), said
    failed = await visitor.go(
        "POST /messages", given=message("break", "s2", mode="agent", allowedVerbs=["break_it"])
    )
    asked = await visitor.go(
        "POST /messages", given=message("which", "s3", mode="agent", allowedVerbs=["ask_user"])
    )
    assert asked["question"], asked
    hub = {"text_input": f"hi {POISON}", "mode": "brain", "session_id": "s4", "user_id": POISON}
    await visitor.go("POST /api/chat", given=hub)
    cortex = {
        "prompt": f"hi {POISON}",
        "mode": "agent",
        "session_id": "s5",
        "user_id": POISON,
        "metadata": {POISON: POISON},
    }
    await visitor.go("POST /v1/cortex/chat", given=cortex)
    await visitor.go("GET /sessions")
    for session in ("s1", "s2", "s3", "s4", "s5"):
        await visitor.go("GET /sessions/{session}", session=session)
        await visitor.go("GET /sessions/{session}/messages", session=session)
        await visitor.go("GET /sessions/{session}/messages/{seq}", session=session, seq="1")
    return failed


async def look(visitor: Visitor) -> None:
    """Every run there is."""
    for run in (await visitor.go("GET /runs", all="true"))["runs"]:
        found = await visitor.go("GET /runs/{run}", run=run["run_id"], debug="true")
        await visitor.go("GET /runs/{run}/journal", run=run["run_id"], debug="true")
        await visitor.go("GET /runs/{run}/tree", run=run["run_id"])
        if found["at_rest"]:
            told = await visitor.go("GET /runs/{run}/events", run=run["run_id"])
            assert "event: rest" in told


async def test_no_route_passes_on_what_controls(house: House, visitor: Visitor) -> None:
    """Each route is visited with poison in all that users, models and tools say of anything; in no
    answer does any of it control, hide or reorder.
    """
    failed = await talk(visitor)
    plan = {
        "caller": "hub",
        "goal": {"type": "chat", "description": POISON, "metadata": {"tags": [POISON]}},
    }
    planned = await visitor.go(
        "POST /plan/react",
        given={**plan, "toolset": [{"tool_id": "echo_it"}], "preferences": {"return_trace": True}},
    )
    assert planned["final_answer"]["content"] == visible(POISON)
    body = {"verb_id": "echo_it", "payload": {"text": POISON}}
    assert (await visitor.go("POST /verbs/execute", given=body))["output"] == {
        "text": POISON,
        POISON: "key",
    }
    await visitor.go(
        "POST /verbs/execute", given={"verb_id": "break_it", "payload": {"text": POISON}}
    )
    await visitor.go("POST /verbs/execute", given={"verb_id": POISON, "payload": {}})
    await approve(house, visitor)
    await remember(visitor)
    await look(visitor)
    await operate(visitor, failed["runId"])
    for route in (
        "GET /api/verbs",
        "GET /verbs",
        "GET /workflows",
        "GET /cards",
        "GET /models",
        "GET /models/cost",
        "GET /health",
        "GET /ready",
    ):
        await visitor.go(route)
    await visitor.go("GET /cards/{name}", name="general_agent")
    await visitor.go("POST /verbs/reload")
    await visitor.go("GET /tokens")
    await visitor.go("GET /tokens/audit")
    await openai(visitor)
    await refused(visitor)
    assert set(routes(build_app(Face(runtime=house.ordain.runtime)))) - STATIC - visitor.been == {
        "GET /sessions/{session}/events"
    }  # without end: below


async def openai(visitor: Visitor) -> None:
    """The address for OpenAI's clients: whole and streamed, what it gives and what it refuses."""
    await visitor.go("GET /v1/models")
    await visitor.go("GET /v1/models/{model}", model="ordain-agent")
    await visitor.go("GET /v1/models/{model}", 404, model="none")
    asked: dict[str, Any] = {
        "model": "ordain-agent",
        "messages": [{"role": "user", "content": POISON}],
        "user": POISON,
    }
    told = {"model": "ordain-agent", "input": POISON, "user": POISON}
    for streams in (False, True):
        await visitor.go("POST /v1/chat/completions", given={**asked, "stream": streams})
        await visitor.go("POST /v1/responses", given={**told, "stream": streams})
    await visitor.go("POST /v1/chat/completions", 404, given={**asked, "model": POISON})
    await visitor.go("POST /v1/responses", 404, given={**told, "model": POISON})
    await visitor.go(
        "POST /v1/chat/completions",
        422,
        given={**asked, "messages": [{"role": POISON, "content": POISON}]},
    )


async def approve(house: House, visitor: Visitor) -> None:
    """What waits for a yes: its exact arguments are exact, all else is not; grants likewise."""
    later = {"Prefer": "respond-async"}
    for _ in range(3):
        await visitor.go(
            "POST /verbs/execute",
            202,
            given={"verb_id": "send_it", "payload": {"to": POISON, "text": POISON}},
            headers=later,
        )
    await house.quiet()
    found = (await visitor.go("GET /approvals"))["approvals"]
    shown = await visitor.go("GET /approvals/{approval}", approval=found[0]["approval_id"])
    assert shown["calls"][0]["args"] == {"to": POISON, "text": POISON}
    for word in ("claim", "release"):
        await visitor.go(
            f"POST /approvals/{{approval}}/{word}", approval=found[0]["approval_id"], given={}
        )
    words: dict[str, Any] = {"approve": {"why": POISON}, "deny": {"why": POISON}}
    for item, (word, more) in zip(found[:2], words.items(), strict=True):
        given = {"digest": item["digest"], **more}
        await visitor.go(
            f"POST /approvals/{{approval}}/{word}", approval=item["approval_id"], given=given
        )
    other = {"args": {"to": "ada@example.org", "text": f"{POISON}!"}}
    await visitor.go(
        "POST /approvals/{approval}/resubmit", approval=found[2]["approval_id"], given=other
    )
    offer = {
        "principal": "token:web",
        "scope": {"capabilities": ["send_it"], "targets": [POISON]},
        "ttlSeconds": 60,
        "reason": POISON,
    }
    grant = await visitor.go("POST /grants", given=offer)
    await visitor.go("POST /grants/{grant}/revoke", grant=grant["grantId"], given={"why": POISON})
    await visitor.go("GET /grants", all="true")


async def remember(visitor: Visitor) -> None:
    """Notes and documents."""
    note = await visitor.go(
        "POST /memory", given={"text": f"tea {POISON}", "tags": [POISON], "user_id": POISON}
    )
    await visitor.go("GET /memory")
    await visitor.go("POST /memory/search", given={"query": f"tea {POISON}"})
    await visitor.go("POST /memory/reindex")
    await visitor.go("DELETE /memory/{note}", note=note["id"])
    octets = {"Content-Type": "application/octet-stream"}
    text = f"# tea\n\n{POISON}\n".replace("\0", "").encode()
    kept = await visitor.go(
        "POST /docs", content=text, headers=octets, name="tea.md", source=POISON
    )
    await visitor.go("GET /docs")
    await visitor.go("GET /docs/{document}", document=kept["id"])
    await visitor.go("DELETE /docs/{document}", document=kept["id"])


async def operate(visitor: Visitor, run: str) -> None:
    """What operators may do, or are told why not."""
    for word in ("cancel", "resume"):
        await visitor.go(f"POST /runs/{{run}}/{word}", 409, run=run, given={"why": POISON})
    await visitor.go(
        "POST /runs/{run}/resolve",
        409,
        run=run,
        given={"effect": 1, "happened": True, "why": POISON},
    )
    await visitor.go("POST /runs/{run}/answer", 409, run=run, given={"effect": 1, "value": POISON})
    await visitor.go("POST /runs/{run}/erase", run=run, given={"why": POISON})
    await visitor.go("POST /sessions/{session}/erase", session="s1", given={"why": POISON})


async def refused(visitor: Visitor) -> None:
    """A refusal names what it refuses, and does so visibly."""
    for name in ("run", "approval", "document", "verb_id", "template_id", "name", "session"):
        for route in [
            one
            for one in visitor.been | {"GET /workflows/{template_id}", "GET /verbs/{verb_id}"}
            if one.startswith("GET")
        ]:
            if route.endswith(f"{{{name}}}"):
                await visitor.go(route, 404, **{name: PLACE})
    await visitor.go("GET /runs", 422, status=POISON)
    await visitor.go("GET /approvals", 422, state=POISON)
    await visitor.go("POST /messages", 422, given={POISON: POISON})
    await visitor.go("POST /plan/react", 422, given={"goal": {POISON: 1}})
    unknown = f"unknown {POISON}"
    await visitor.go("POST /v1/cortex/chat", 422, given={"prompt": "x", "mode": unknown, POISON: 1})


async def test_no_stream_passes_on_what_controls(house: House, visitor: Visitor) -> None:
    """A session's events, provisional ones included, command nobody who shows them: in this
    process, as server-sent events, over the socket.
    """
    found, pieces = list[Any](), list[str]()
    face = Face(runtime=house.ordain.runtime)

    async def listen() -> None:
        async with aclosing(house.ordain.stream("s1")) as events:
            async for event in events:
                found.append(event)
                if isinstance(event, ReplyEvent):
                    return

    async def read() -> None:
        feed = Feed(face, "default", "s1", 0)
        with closing(feed):
            async for piece in TranscriptResponse(feed).body_iterator:
                pieces.append(piece if isinstance(piece, str) else bytes(piece).decode())
                if "event: reply" in pieces[-1]:
                    return

    both = asyncio.gather(listen(), read())
    await asyncio.sleep(0)
    await visitor.go("POST /messages", given=message("hello", "s1"))
    await both
    said = [
        one for event in found for one in strings({**msgspec.to_builtins(event), "message_id": ""})
    ]
    assert visible(POISON) in said
    assert not {one for text in said for one in hidden(text)}
    assert sum("event: text" in piece for piece in pieces) > 0
    for piece in pieces:
        look_at("GET /sessions/{session}/events", piece)


async def test_no_socket_passes_on_what_controls(tmp_path: Path) -> None:
    """Frames to a client, acknowledgements and refusals as well, hold nothing that commands."""
    told: list[str] = []
    async with (
        serving(tmp_path, {"content": POISON}) as place,
        place.socket("?session=s1") as client,
    ):
        await client.send(json.dumps({"text_input": POISON, "mode": POISON}))
        await client.send(
            json.dumps(
                {
                    "text_input": f"hello {POISON}",
                    "session_id": "s1",
                    "message_id": POISON,
                    "user_id": POISON,
                }
            )
        )
        while not told or json.loads(told[-1])["event"] != "reply":
            told.append(str(await client.recv()))
    assert {json.loads(one)["event"] for one in told} >= {"refused", "accepted", "message", "reply"}
    for frame in told:
        look_at("WS /ws", frame)
    assert json.loads(told[-1])["narrative"] == visible(POISON)
