"""The WebSocket of `ordain serve`, over a real process: D11's turns, resuming, kills, and who may
open one.
"""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from socket import create_connection
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.talking import HANGING, SCRIPT, at_once, listening, transcript


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with Server(tmp_path_factory.mktemp("socket")).play(SCRIPT) as server:
        yield server


def socket(server: Server, query: str = "", **headers: str) -> ClientConnection:
    return connect(
        f"ws://127.0.0.1:{server.port}/ws{query}", additional_headers=headers, proxy=None
    )


def until(client: ClientConnection, kind: str) -> list[dict[str, Any]]:
    """What comes, up to and with the next of a kind."""
    found: list[dict[str, Any]] = []
    while not found or found[-1]["event"] != kind:
        found.append(json.loads(client.recv(timeout=PATIENCE_S)))
    return found


@pytest.mark.parametrize(
    ("mode", "verb", "narrative", "code"),
    [
        ("brain", "chat_general", "Chatted.", ""),
        ("agent", "agent_runtime", "Planned.", ""),
        ("council", "council_runtime", None, "council_no_quorum"),
    ],
)
def test_the_hubs_turns_of_each_mode(
    server: Server, mode: str, verb: str, narrative: str | None, code: str
) -> None:
    """The hub's frame of each mode is served by the mode's own verb and by no other.

    GW-03 "must not be built with target verb `chat_general` by default"
    HUB-08 "differ primarily by `mode`"
    """
    session = f"s1:{mode}"
    with socket(server) as client:
        client.send(json.dumps({"text_input": "either way", "mode": mode, "session_id": session}))
        reply = until(client, "reply")[-1]
    run = server.http.get(f"/runs/{reply['run']}").json()
    assert (run["header"], run["response"]["verb"], run["reason"]) == (
        reply["header"],
        verb,
        code or "ok",
    )
    if narrative is not None:
        assert reply["narrative"] == narrative
    assert ("chat_general" in str(server.journal(reply["run"]))) == (mode == "brain")


def test_a_killed_client_resumes_in_the_middle_of_a_text(server: Server) -> None:
    """A client whose connection breaks while text streams comes back with the last number it saw,
    and misses and repeats nothing.
    """
    with socket(server, "?session=ws/resume") as client:
        client.send(json.dumps({"text_input": "a story please"}))
        before = until(client, "text")
        client.socket.shutdown(2)
    last = max(event["seq"] for event in before if "at_ms" in event)
    with socket(server, f"?session=ws%2Fresume&after={last}") as client:
        after = until(client, "reply")
    assert [event for event in (*before, *after) if "at_ms" in event] == transcript(
        server, "ws/resume"
    )


def test_a_killed_server_answers_after_its_next_start(tmp_path: Path) -> None:
    """A message whose turn was under way when the server was killed is answered to the socket that
    is there after the next start.
    """
    server = Server(tmp_path).play(HANGING)
    try:
        server.start()
        with socket(server, "?session=crash") as client:
            client.send(json.dumps({"text_input": "dawdle", "message_id": "m"}))
            said = until(client, "message")[-1]
            server.until_recorded(said["run"], "intent", "children")
            server.kill()
            with pytest.raises(ConnectionClosed):
                until(client, "reply")
        server.play(SCRIPT).start()
        with socket(server, "?session=crash&after=1") as client:
            client.send(json.dumps({"text_input": "dawdle", "message_id": "m"}))
            heard = until(client, "accepted")
            reply = (
                next((one for one in heard if one["event"] == "reply"), None)
                or until(client, "reply")[-1]
            )
        assert (heard[-1]["duplicate"], heard[-1]["seq"]) == (True, 1)
        assert (reply["seq"], reply["run"], reply["narrative"]) == (2, said["run"], "At last.")
        assert len(transcript(server, "crash")) == 2
    finally:
        server.end()


def test_a_stopping_server_closes_its_sockets(tmp_path: Path) -> None:
    """SIGTERM closes sockets with the code that says to come back, and the server ends."""
    server = Server(tmp_path).play(SCRIPT).start()
    try:
        codes: list[int] = []
        with socket(server, "?session=s1") as client:
            client.send(json.dumps({"text_input": "for ever"}))
            until(client, "accepted")

            def follow() -> None:
                with pytest.raises(ConnectionClosed) as closed:
                    until(client, "reply")
                assert closed.value.rcvd is not None
                codes.append(closed.value.rcvd.code)

            following = threading.Thread(target=follow)
            following.start()
            assert server.stop(following) == 0
        assert codes == [1012]
    finally:
        server.end()


def test_an_erased_session_ends_its_sockets(server: Server) -> None:
    """Whoever speaks and reads there is told, and the socket is closed (1000); the next owner's
    messages go over another one.
    """
    with socket(server, "?session=gone:2") as client:
        client.send(json.dumps({"text_input": "either way", "mode": "brain"}))
        until(client, "reply")
        assert (
            server.http.post("/sessions/gone:2/erase", json={"why": "asked to"}).status_code == 200
        )
        server.http.post(
            "/messages",
            json={"sessionId": "gone:2", "userId": "bob", "message": {"text": "either way"}},
        )
        assert until(client, "session_erased")[-1] == {
            "event": "session_erased",
            "session": "gone:2",
        }
        with pytest.raises(ConnectionClosed) as closed:
            client.recv(timeout=PATIENCE_S)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1000


def test_deliveries_on_every_way_have_one_consequence(server: Server) -> None:
    """The same message over two sockets and two HTTP requests at once: one run, one reply, the same
    for everybody.
    """
    payload = {"text_input": "dawdle", "session_id": "ways", "message_id": "m"}

    def by_socket() -> str:
        with socket(server) as client:
            client.send(json.dumps(payload))
            return str(until(client, "reply")[-1]["run"])

    def by_http() -> str:
        return str(server.http.post("/api/chat", json=payload).json()["run_id"])

    runs = at_once(by_socket, by_http, by_socket, by_http)
    with listening(server, "ways") as listener:
        runs.append(listener.until("reply")[-1]["run"])
    assert len(set(runs)) == 1
    assert [entry["event"] for entry in transcript(server, "ways")] == ["message", "reply"]


def test_foreign_pages_and_names_open_no_socket(server: Server) -> None:
    """A page of another site, and a name that only points here, are refused by the process that
    serves.
    """
    with pytest.raises(InvalidStatus) as refusal, socket(server, Origin="http://evil.example"):
        pass
    assert (
        refusal.value.response.status_code,
        json.loads(refusal.value.response.body)["code"],
    ) == (403, "foreign_origin")
    with (
        pytest.raises(InvalidStatus) as refusal,
        create_connection(("127.0.0.1", server.port)) as raw,
        connect(f"ws://rebound.example:{server.port}/ws", sock=raw, proxy=None),
    ):
        pass
    assert (
        refusal.value.response.status_code,
        json.loads(refusal.value.response.body)["code"],
    ) == (421, "foreign_host")
    with socket(server, "?session=own", Origin=f"http://127.0.0.1:{server.port}") as client:
        client.send(json.dumps({"text_input": "quick"}))
        assert until(client, "reply")[-1]["ok"]
