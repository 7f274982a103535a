"""The WebSocket over a real connection to a server in this process, so that a test can also look at
what is left behind.
"""

import asyncio
import json
import logging
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from ordain.app import Extras, Ordain
from ordain.contracts.policy import SessionPolicy
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.server import Face, build_app
from ordain.server.bodies import BODY_VALUES, FILES_BYTES
from ordain.server.protocol import HttpProtocol
from ordain.server.socket import ENOUGH, GOING_AWAY, MALFORMED_MAX
from ordain.server.socket_protocol import socket_options
from ordain.settings import load_settings
from tests.replay.golden import request

PATIENCE_S = 60
SLOW = {"$delay_ms": 60_000, "$answer": {"content": "never"}}


class Quiet(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    @staticmethod
    def capture_signals() -> Any:
        @asynccontextmanager
        async def nothing() -> AsyncIterator[None]:
            yield

        class Signals:
            def __enter__(self) -> None: ...
            def __exit__(self, *_: object) -> None: ...

        return Signals()


class HastyEnd(HttpProtocol):
    """Waits no longer than a test for who has ended its side."""

    half_closed_s = 0.3


class Place:
    """A server that speaks WebSocket, and its face."""

    def __init__(self, face: Face, url: str) -> None:
        self.face, self.url = face, url

    def socket(self, query: str = "", **headers: str) -> connect:
        """A connection to make."""
        return connect(
            f"ws://{self.url}/ws{query}", additional_headers=headers, proxy=None, max_size=2**24
        )

    @property
    def http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=f"http://{self.url}", timeout=PATIENCE_S, trust_env=False, verify=False
        )

    @property
    def readers(self) -> int:
        """How many read a session's stream in the runtime now."""
        return sum(len(readers) for readers in self.face.runtime.services.streams._readers.values())

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that is not announced."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():  # noqa: ASYNC110 - what is waited for is announced to nobody
                await asyncio.sleep(0.01)


@asynccontextmanager
async def serving(home: Path, *answers: Any, **session: int) -> AsyncIterator[Place]:
    settings = load_settings({}, home)
    policy = settings.policy.model_copy(update={"session": SessionPolicy(**session)})
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    models = {
        "default": ScriptedModel(
            make_script(
                planner=answers, verbs={"chat_general": list(answers or [{"content": "Hello."}])}
            )
        )
    }
    settings = settings.model_copy(update={"policy": policy, "profiles": {"default": profile}})
    async with Ordain(settings, extras=Extras(models=models, memory=True)) as ordain:
        face = Face(runtime=ordain.runtime)
        config = uvicorn.Config(
            build_app(face),
            http=HastyEnd,
            lifespan="off",
            log_config=None,
            access_log=False,
            **socket_options(),
        )
        server = Quiet(config)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            task = asyncio.create_task(server.serve(sockets=[listener]))
            yield Place(face, f"127.0.0.1:{listener.getsockname()[1]}")
            face.stopping.set()
            server.should_exit = True
            await task


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with serving(tmp_path) as place:
        yield place


async def heard(client: ClientConnection) -> dict[str, Any]:
    return json.loads(await asyncio.wait_for(client.recv(), PATIENCE_S))


async def until(client: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """What comes, up to and with the next of a kind."""
    found = [await heard(client)]
    while found[-1]["event"] != kind:
        found.append(await heard(client))
    return found


async def say(client: ClientConnection, text: str = "hi", **more: Any) -> None:
    await client.send(json.dumps({"text_input": text, **more}))


async def refused(client: ClientConnection) -> tuple[int, str]:
    said = await heard(client)
    assert said["event"] == "refused", said
    return said["problem"]["status"], said["problem"]["code"]


# --- speaking -------------------------------------------------------------------------------------


async def test_a_frame_is_acknowledged_and_answered(place: Place) -> None:
    """A frame is acknowledged once it is durable; then come the message, provisional events, and
    the reply.

    HUB-04 "WS backend reads `mode` (default `brain`)"
    """
    async with place.socket() as client:
        await say(client, session_id="s1", message_id="m1")
        accepted = await heard(client)
        assert accepted == {
            "event": "accepted",
            "session_id": "s1",
            "seq": 1,
            "message_id": "m1",
            "duplicate": False,
        }
        events = await until(client, "reply")
        durable = [event for event in events if "seq" in event]
        assert [(event["event"], event["seq"]) for event in durable] == [
            ("message", 1),
            ("reply", 2),
        ]
        assert {event["event"] for event in events} <= {"message", "progress", "text", "reply"}
        run = durable[-1]["run"]
        assert durable[-1]["header"] == (await place.face.runtime.view(run)).header
        assert "chat_general" in durable[-1]["header"]
        await say(client, "thanks!")
        assert [
            (event["event"], event["seq"]) for event in (await heard(client), await heard(client))
        ] == [("accepted", 3), ("message", 3)]


@pytest.mark.parametrize(
    ("mode", "label"),
    [
        ("brain", "chat_general"),
        ("agent", "task_execution"),
        ("council", "council_deliberation"),
        ("", "chat_general"),
    ],
)
async def test_the_label_of_a_frame_selects_nothing(place: Place, mode: str, label: str) -> None:
    """The label that a frame gets by its mode stands with its message; the turn enters by the
    mode's own verb.

    HUB-04 "WS backend reads `mode` (default `brain`) and derives a trace verb:
    brain→`chat_general`, agent→`task_execution`, council→`council_deliberation`"
    GW-01 "applies only to `mode=brain` with verb absent"
    HUB-05 "never selects execution"
    """
    async with place.socket("?session=s1") as client:
        await say(client, "hi", **({"mode": mode} if mode else {}))
        mode = mode or "brain"
        reply = (await until(client, "reply"))[-1]
        entry = (
            await place.face.runtime.conversation.transcript("default", "s1", after=0, limit=1)
        )[0]
        assert json.loads(entry.body or b"")["metadata"] == {"trace_verb": label}
        journal = b"".join(
            record.body or b""
            for record in (await place.face.runtime.view(reply["run"])).stored.records
        )
        assert (b"chat_general" in journal) == (mode == "brain")
        assert (mode.encode() + b"_runtime" in journal) == (mode != "brain")


async def test_every_door_leads_to_one_message(place: Place) -> None:
    """What is kept of a message is of one shape and says the same, whichever address it came by; of
    what a canonical message carries nothing is lost.

    ING-01 "All endpoints map to ONE canonical message of 5 parts: `sessionId`, `userId`, `channel`,
    `message`, `context`"
    ING-03 "`message` carries text, attachments, metadata"
    ING-04 "`context` carries reply references, locale, routing hints"
    """
    hints = {"mode": "brain", "max_steps": 2}
    doors: dict[str, tuple[str, dict[str, Any]]] = {
        "canonical": (
            "/messages",
            {"userId": "ada", "message": {"text": "hi"}, "context": {"routingHints": hints}},
        ),
        "hub": ("/api/chat", {"user_id": "ada", "text_input": "hi", "options": {"max_steps": 2}}),
        "gateway": (
            "/v1/cortex/chat",
            {"user_id": "ada", "prompt": "hi", "options": {"max_steps": 2}},
        ),
    }
    async with place.socket("?session=socket") as client, place.http as http:
        await say(client, "hi", user_id="ada", options={"max_steps": 2})
        await until(client, "reply")
        for session, (address, body) in doors.items():
            answered = await http.post(
                address,
                json={**body, "sessionId" if session == "canonical" else "session_id": session},
            )
            assert answered.status_code == 200
        whole = {
            "message": {
                "text": "quick",
                "attachments": [{"name": "a.png", "mediaType": "image/png", "sizeBytes": 3}],
                "metadata": {"k": [1]},
            },
            "context": {
                "replyTo": "t-0",
                "threadRef": "t:9",
                "locale": "de-AT",
                "routingHints": hints,
            },
        }
        await http.post(
            "/messages",
            json={"sessionId": "whole", "userId": "ada", "channel": "telegram", **whole},
        )
    kept = dict[str, Any]()
    for session in ("socket", *doors, "whole"):
        entry = (
            await place.face.runtime.conversation.transcript("default", session, after=0, limit=1)
        )[0]
        kept[session] = {
            "channel": entry.channel,
            "author": entry.author,
            **json.loads(entry.body or b""),
        }
    assert kept.pop("whole") == {
        "channel": "telegram",
        "author": "ada",
        "user": "ada",
        "text": "quick",
        "metadata": {"k": [1]},
        "attachments": [{"name": "a.png", "media_type": "image/png", "size_bytes": 3}],
        "context": {
            "reply_to": "t-0",
            "thread_ref": "t:9",
            "locale": "de-AT",
            "routing_hints": {"max_steps": 2},
        },
    }
    for one in kept.values():
        one.pop("metadata", None)  # a label of the hub's
    assert (
        list(kept.values())
        == [
            {
                "channel": "web",
                "author": "ada",
                "user": "ada",
                "text": "hi",
                "context": {"routing_hints": {"max_steps": 2}},
            }
        ]
        * 4
    )


@pytest.mark.parametrize("mode", ["brain", "agent", "council"])
async def test_each_door_says_which_it_was(place: Place, mode: str) -> None:
    """What is decided of a message, and its turn, name the door it came by: the socket, HTTP, or
    what a client of the gateway calls itself.

    HUB-06 “metadata:{source:"hub_ws", trace_verb}”
    """
    async with place.socket("?session=hub_ws") as client, place.http as http:
        await say(client, "hi", mode=mode)
        await until(client, "reply")
        await http.post(
            "/api/chat", json={"text_input": "hi", "mode": mode, "session_id": "hub_http"}
        )
        await http.post(
            "/v1/cortex/chat",
            json={
                "prompt": "hi",
                "mode": mode,
                "session_id": "mine",
                "metadata": {"source": "mine"},
            },
        )
    label = {"brain": "chat_general", "agent": "task_execution", "council": "council_deliberation"}[
        mode
    ]
    for door in ("hub_ws", "hub_http", "mine"):
        entry, reply = await place.face.runtime.conversation.transcript(
            "default", door, after=0, limit=2
        )
        assert json.loads(entry.decision or b"")["source"] == door
        started = (await place.face.runtime.view(reply.run)).stored.records[0].body or b""
        told = json.loads(started)["input"]["message"]
        assert (told["text"], told.get("mode", "brain"), told["source"]) == ("hi", mode, door)
        assert told["trace_verb"] == label


async def test_verbs_mean_the_same_as_over_http(place: Place) -> None:
    """One verb is the override, several restrict, two that disagree are refused: on the socket as
    on HTTP.

    B-33 "same on WS and HTTP (original WS ignored the single case)"
    """
    async with place.socket("?session=s1") as client:
        await say(client, "2 + 3", verbs=["math.evaluate"])
        reply = (await until(client, "reply"))[-1]
        async with place.http as http:
            other = (
                await http.post(
                    "/api/chat", json={"text_input": "2 + 3", "verbs": ["math.evaluate"]}
                )
            ).json()["reply"]
        assert (reply["narrative"], reply["ok"]) == (other["narrative"], other["ok"])
        assert "math.evaluate" in reply["header"]
        await say(client, "2 + 3", verb="a", verbs=["b"])
        assert await refused(client) == (422, "conflicting_verbs")


async def test_a_delivery_on_both_ways_is_one_message(place: Place) -> None:
    """The same message by WebSocket and by HTTP, at the same time and again, has one consequence;
    another content is refused.
    """
    payload = {"text_input": "hi", "session_id": "s1", "message_id": "m1", "mode": "brain"}
    async with place.socket() as client, place.http as http:
        await client.send(json.dumps(payload))
        answers = await asyncio.gather(*[http.post("/api/chat", json=payload) for _ in range(5)])
        accepted = await heard(client)
        assert accepted["event"] == "accepted"
        shown = [answer.json() for answer in answers]
        assert {(one["run_id"], one["text"]) for one in shown} == {(shown[0]["run_id"], "Hello.")}
        assert [accepted["duplicate"], *[one["duplicate"] for one in shown]].count(False) == 1
        await until(client, "reply")
        await client.send(json.dumps(payload))
        assert (await heard(client))["duplicate"] is True
        await client.send(json.dumps({**payload, "text_input": "other"}))
        assert await refused(client) == (409, "message_id_reused")
        assert [row.head for row in await place.face.runtime.conversation.sessions("default")] == [
            2
        ]


async def test_a_socket_speaks_with_one_session(place: Place) -> None:
    """The query or the first frame says which session it is; a frame that names another is refused,
    and nothing of it is kept.
    """
    async with place.socket("?session=s1") as client:
        await say(client, session_id="s2", message_id="m")
        said = await heard(client)
        assert (said["event"], said["problem"]["code"], said["message_id"]) == (
            "refused",
            "other_session",
            "m",
        )
        await say(client, session_id="s1")
        assert (await heard(client))["session_id"] == "s1"
    async with place.socket() as client:
        await say(client)
        own = (await heard(client))["session_id"]
        assert own.startswith("web:")
        await say(client, session_id=own)
        assert (await until(client, "accepted"))[-1]["session_id"] == own
    assert {row.id for row in await place.face.runtime.conversation.sessions("default")} == {
        "s1",
        own,
    }


async def test_a_busy_session_refuses_and_goes_on(tmp_path: Path) -> None:
    """What a session cannot take now is refused with when to come back, however often; the socket
    stays open.
    """
    async with (
        serving(tmp_path, SLOW, max_active=1) as place,
        place.socket("?session=s1") as client,
    ):
        await say(client, "write a long essay about rivers")
        await until(client, "progress")
        for _ in range(MALFORMED_MAX + 1):
            await say(client, "what is the tallest mountain on earth?")
            told = (await until(client, "refused"))[-1]["problem"]
            assert (told["status"], told["code"], told["retry_after_s"] > 0) == (
                429,
                "session_busy",
                True,
            )
        assert (await place.face.runtime.conversation.session("default", "s1")).head == 1


async def test_workspaces_are_apart(place: Place) -> None:
    """Header or query names the workspace, which browsers can only do in the query; the same
    session id elsewhere is another session.
    """
    async with (
        place.socket("?session=s1&workspace=mine") as mine,
        place.socket("?session=s1", **{"Ordain-Workspace": "theirs"}) as theirs,
    ):
        await say(mine)
        await until(mine, "reply")
        await say(theirs)
        assert (await heard(theirs))["seq"] == 1
        await until(theirs, "reply")
    assert [
        len(await place.face.runtime.conversation.sessions(name))
        for name in ("mine", "theirs", "default")
    ] == [1, 1, 0]


# --- bad frames -----------------------------------------------------------------------------------

BAD: dict[str, tuple[str | bytes, int, str]] = {
    "nothing": ("", 400, "malformed_json"),
    "prose": ("hi", 400, "malformed_json"),
    "cut off": ('{"text_input": "hi"', 400, "malformed_json"),
    "a key twice": ('{"text_input": "a", "text_input": "b"}', 400, "duplicate_key"),
    "no number": ('{"text_input": "a", "x": NaN}', 400, "not_finite"),
    "half a surrogate": ('{"text_input": "\\ud800"}', 400, "invalid_unicode"),
    "too deep": ("[" * 100, 400, "too_deep"),
    "a list": ("[1]", 422, "invalid_request"),
    "no text": ('{"mode": "brain"}', 422, "invalid_request"),
    "blanks": ('{"text_input": "  "}', 422, "invalid_request"),
    "a mode": ('{"text_input": "hi", "mode": "chat"}', 422, "invalid_request"),
    "a session": ('{"text_input": "hi", "session_id": "a b"}', 422, "invalid_request"),
    "a long text": (json.dumps({"text_input": "x" * 32_001}), 422, "invalid_request"),
    "an id of ours": ('{"text_input": "hi", "message_id": "ordain:1"}', 422, "message_id_reserved"),
    "a session that was erased": (
        '{"text_input": "hi", "session_id": "erased:1"}',
        422,
        "session_id_reserved",
    ),
    "bytes": (b'{"text_input": "hi"}', 415, "unsupported_media_type"),
    "many values": (
        json.dumps({"text_input": "hi", "pad": [[]] * BODY_VALUES}),
        413,
        "too_many_values",
    ),
    "a large frame": (json.dumps({"text_input": "hi", "pad": "x" * FILES_BYTES}), 413, "too_large"),
}


@pytest.mark.parametrize("name", list(BAD))
async def test_a_bad_frame_is_refused_and_the_socket_stays_open(place: Place, name: str) -> None:
    """B-45 "what is refused before acceptance (syntax, schema, authentication, limits)": each with
    its code, and the next frame is read.
    """
    frame, status, code = BAD[name]
    async with place.socket() as client:
        await client.send(frame)
        assert await refused(client) == (status, code)
        assert not await place.face.runtime.conversation.sessions("default")
        await say(client)
        assert (await heard(client))["event"] == "accepted"


async def test_too_many_malformed_frames_in_a_row_close_the_socket(place: Place) -> None:
    """The one before the last is still answered; a good frame between starts the count anew."""
    async with place.socket("?session=s1") as client:
        for _ in range(MALFORMED_MAX - 1):
            await client.send("{")
            assert await refused(client) == (400, "malformed_json")
        await say(client, "thanks!")
        await until(client, "message")
        for _ in range(MALFORMED_MAX):
            await client.send("{")
            assert await refused(client) == (400, "malformed_json")
        with pytest.raises(ConnectionClosed) as closed:
            await heard(client)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == ENOUGH
    await place.until(lambda: place.readers == 0)


async def test_a_frame_beyond_all_bounds_is_not_even_read(place: Place) -> None:
    """A frame larger than the protocol's bound closes the connection; nothing is left behind."""
    async with place.socket("?session=s1") as client:
        sending = asyncio.ensure_future(client.send("x" * (socket_options()["ws_max_size"] + 1)))
        with pytest.raises(ConnectionClosed) as closed:
            await heard(client)
        await asyncio.gather(sending, return_exceptions=True)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
    await place.until(lambda: place.readers == 0)


@pytest.mark.parametrize(
    ("query", "where"),
    [
        ("?session=a%20b", "/query/session"),
        ("?after=-1", "/query/after"),
        ("?after=x", "/query/after"),
        ("?workspace=No", "/query/workspace"),
    ],
)
async def test_a_handshake_that_does_not_fit_is_refused(
    place: Place, query: str, where: str
) -> None:
    """What the address says is checked before the socket opens, and refused as on HTTP."""
    with pytest.raises(InvalidStatus) as refusal:
        async with place.socket(query):
            pass
    told = json.loads(refusal.value.response.body)
    assert (refusal.value.response.status_code, told["code"], told["errors"][0]["place"]) == (
        422,
        "invalid_request",
        where,
    )


# --- who may --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Origin": "http://evil.example"}, 403, "foreign_origin"),
        ({"Origin": "null"}, 403, "foreign_origin"),
        ({"Origin": "http://127.0.0.1:1"}, 403, "foreign_origin"),
        ({"Sec-Fetch-Site": "cross-site"}, 403, "foreign_origin"),
        ({f"X-Padding-{number}": "x" * 8000 for number in range(9)}, 431, "headers_too_large"),
    ],
)
async def test_a_page_of_another_site_opens_no_socket(
    place: Place, headers: dict[str, str], status: int, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Browsers let any page open a WebSocket to this machine: a foreign origin is refused before
    anything is accepted, and fills no log.
    """
    with pytest.raises(InvalidStatus) as refusal:
        async with place.socket("?session=s1", **headers):
            pass
    told = json.loads(refusal.value.response.body)["code"]
    assert (refusal.value.response.status_code, told, place.readers) == (status, code, 0)
    assert [one for one in caplog.records if one.levelno >= logging.ERROR] == []


async def test_a_name_that_only_points_here_opens_no_socket(place: Place) -> None:
    """A page that rebinds its own name to this machine sends that name, and is refused by it."""
    port = int(place.url.rpartition(":")[2])
    with pytest.raises(InvalidStatus) as refusal:
        async with connect(
            f"ws://rebound.example:{port}/ws", host="127.0.0.1", port=port, proxy=None
        ):
            pass
    assert (
        refusal.value.response.status_code,
        json.loads(refusal.value.response.body)["code"],
    ) == (421, "foreign_host")


async def test_a_page_of_this_server_opens_one(place: Place) -> None:
    """The server's own pages, and programs, which send no origin, may."""
    async with place.socket(
        Origin=f"http://{place.url}", **{"Sec-Fetch-Site": "same-origin"}
    ) as client:
        await say(client)
        assert (await heard(client))["event"] == "accepted"


# --- coming and going -----------------------------------------------------------------------------


async def test_a_socket_resumes_after_what_was_seen(place: Place) -> None:
    """A client that comes back with `after` gets every later entry once, and none before."""
    async with place.socket("?session=a/b") as client:
        for _ in range(2):
            await say(client)
            await until(client, "reply")
    async with place.socket("?session=a/b&after=1") as client:
        events = [await heard(client) for _ in range(3)]
        assert [(event["event"], event["seq"]) for event in events] == [
            ("reply", 2),
            ("message", 3),
            ("reply", 4),
        ]
        await say(client)
        assert [
            event["seq"]
            for event in await until(client, "reply")
            if event["event"] in ("message", "reply")
        ] == [5, 6]


async def test_everybody_in_a_session_hears_the_same(place: Place) -> None:
    """Two sockets on one session hear each other's messages and both replies in one order."""
    async with place.socket("?session=s1") as one, place.socket("?session=s1") as other:
        await asyncio.gather(say(one, "hello from one"), say(other, "hello from another"))
        both = [
            [event for _ in range(2) for event in await until(client, "reply") if "at_ms" in event]
            for client in (one, other)
        ]
    assert both[0] == both[1]
    assert [event["seq"] for event in both[0]] == [1, 2, 3, 4]


async def test_who_leaves_leaves_nothing_behind(place: Place) -> None:
    """Clients that close, or whose connection breaks, before or after they said something: every
    reader in the runtime is gone.
    """
    for session in ("?session=s1", ""):
        for abrupt in (True, False):
            clients = [await place.socket(session) for _ in range(5)]
            await say(clients[0])
            await until(clients[0], "reply")
            expected = 5 if session else 1
            await place.until(lambda expected=expected: place.readers == expected)
            for client in clients:
                if abrupt:
                    client.transport.abort()
                else:
                    await client.close()
            await place.until(lambda: place.readers == 0)
    async with place.http as http:
        for _ in range(5):
            async with http.stream("GET", "/sessions/s1/events") as response:
                await anext(response.aiter_lines())
                await place.until(lambda: place.readers == 1)
            await place.until(lambda: place.readers == 0)


async def test_who_stops_waiting_for_an_answer_leaves_nothing_behind(tmp_path: Path) -> None:
    """A caller of POST /messages that goes away is forgotten; its turn goes on."""
    async with serving(tmp_path, SLOW) as place, place.http as http:
        message = {"sessionId": "s1", "userId": "u", "message": {"text": "hi"}}
        asking = asyncio.ensure_future(http.post("/messages", json=message))
        await place.until(lambda: place.readers == 1)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await place.until(lambda: place.readers == 0)
        assert (await place.face.runtime.conversation.session("default", "s1")).open == 1


async def test_who_stops_waiting_for_an_outcome_leaves_nothing_behind(tmp_path: Path) -> None:
    """A caller of POST /plan/react that goes away is forgotten, however often it comes back; its
    run goes on.
    """
    async with serving(tmp_path, SLOW) as place, place.http as http:
        for _ in range(3):
            asking = asyncio.ensure_future(http.post("/plan/react", json=request()))
            await place.until(lambda: bool(place.face.runtime.engine.waiters._waiting))
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await place.until(lambda: not place.face.runtime.engine.waiters._waiting)
        assert place.face.runtime.engine.driving == 1


async def test_a_slow_client_costs_nothing_and_loses_nothing(place: Place) -> None:
    """A client that does not read holds up nobody; what it missed meanwhile it gets in order,
    without a gap, when it reads again.
    """
    long = "x" * 30_000
    async with place.http as http:
        slow = connect(f"ws://{place.url}/ws?session=s1", proxy=None, max_queue=1, max_size=2**24)
        async with slow as client, place.socket("?session=s1") as quick:
            for number in range(60):
                await http.post(
                    "/messages",
                    json={
                        "sessionId": "s1",
                        "userId": "u",
                        "message": {"text": f"thanks! {number} {long}"},
                    },
                )
            heads = (await place.face.runtime.conversation.session("default", "s1")).head
            assert heads >= 60
            numbers: dict[str, list[int]] = {"quick": [], "slow": []}
            for name, one in (("quick", quick), ("slow", client)):
                while not numbers[name] or numbers[name][-1] < heads:
                    event = await heard(one)
                    if "seq" in event:
                        numbers[name].append(event["seq"])
            assert numbers["quick"] == numbers["slow"] == list(range(1, heads + 1))


async def test_a_stopping_server_says_goodbye(place: Place) -> None:
    """Sockets with and without a session are closed with a code that says to come back; no reader
    stays.
    """
    async with place.socket("?session=s1") as client, place.socket() as silent:
        await place.until(lambda: place.readers == 1)
        place.face.stopping.set()
        for one in (client, silent):
            with pytest.raises(ConnectionClosed) as closed:
                await heard(one)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == GOING_AWAY
        await place.until(lambda: place.readers == 0)


async def test_a_bug_ends_its_socket_only(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    """Where our own code breaks the socket is closed without details, the log has them, and others
    go on.
    """
    async with place.socket("?session=s1") as client, place.socket("?session=s2") as other:
        receive = place.face.runtime.receive
        place.face.runtime.receive = None  # type: ignore[assignment]
        await say(client)
        with pytest.raises(ConnectionClosed) as closed:
            await heard(client)
        assert closed.value.rcvd is not None
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1011, "")
        assert "internal error on a socket" in caplog.text
        place.face.runtime.receive = receive  # type: ignore[method-assign]
        await say(other)
        assert (await heard(other))["event"] == "accepted"


async def test_streams_wait_for_a_session_that_has_not_begun(place: Place) -> None:
    """Who listens first misses nothing: an event stream and a socket of a session without entries
    hear its first message.
    """
    async with place.socket("?session=new:1") as client, place.http as http:
        async with http.stream("GET", "/sessions/new:1/events") as response:
            assert response.status_code == 200
            assert (
                await http.post("/api/chat", json={"text_input": "hi", "session_id": "new:1"})
            ).status_code == 200
            heard_by_stream = [json.loads(line[6:]) async for line in _until_reply(response)]
        heard_by_socket = await until(client, "reply")
    durable = [event for event in heard_by_socket if "seq" in event]
    assert [event for event in heard_by_stream if "seq" in event] == durable
    assert [event["seq"] for event in durable] == [1, 2]


async def _until_reply(response: httpx2.Response) -> AsyncIterator[str]:
    async for line in response.aiter_lines():
        if line.startswith("data: "):
            yield line
            if json.loads(line[6:])["event"] == "reply":
                return


@pytest.mark.parametrize("session", ["none:1", "some:1"])
async def test_nothing_is_told_from_beyond_a_sessions_end(place: Place, session: str) -> None:
    """An entry that a session does not have is 409 beyond_head, for streams and sockets alike."""
    async with place.http as http:
        await http.post("/api/chat", json={"text_input": "hi", "session_id": "some:1"})
        refused = await http.get(f"/sessions/{session}/events", params={"after": 7})
    assert (refused.status_code, refused.json()["code"]) == (409, "beyond_head")
    with pytest.raises(InvalidStatus) as handshake:
        await place.socket(f"?session={session}&after=7")
    assert (
        handshake.value.response.status_code,
        json.loads(handshake.value.response.body)["code"],
    ) == (409, "beyond_head")


async def test_no_stream_waits_for_what_can_never_begin(place: Place) -> None:
    """What cannot be a session's id is not found."""
    async with place.http as http:
        refused = await http.get("/sessions/%00/events")
    assert (refused.status_code, refused.json()["code"]) == (404, "session_not_found")
