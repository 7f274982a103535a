"""An idempotent call that is cut off by a crash, and repeats that come to nothing: nobody knows
whether it happened, and that is what stands on record, until a repeat runs or a person says so.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.process import Server, fixed_port

VERB = """\
name: notes.put
description: Put a note down.
effect: private
arguments: {{text: {{role: content}}}}
idempotent: true
timeout_ms: 20000
retry: {{max_attempts: 3}}
http:
  method: PUT
  url: "http://127.0.0.1:{port}/notes"
  hosts: [127.0.0.1]
  private: true
  idempotency_header: Idempotency-Key
input_schema:
  type: object
  properties:
    text: {{type: string, maxLength: 200, description: The note.}}
  required: [text]
  additionalProperties: false
output_schema:
  type: object
  properties:
    receipt: {{type: string, maxLength: 200}}
  required: [receipt]
"""
POLICY = "[verbs]\nretry_wait_ms = 20\n"


class Notes:
    """A server of notes. ``answers`` are the statuses of the requests after the first, which kills
    who sends it; behind the last one nobody listens any more.
    """

    def __init__(self, port: int, caller: Server, answers: list[int]) -> None:
        self.port, self.caller, self.answers = port, caller, answers
        self.keys: list[str] = []
        self.died = threading.Event()

    @contextmanager
    def listening(self) -> Iterator[None]:
        notes = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                notes.keys.append(self.headers["Idempotency-Key"])
                self.rfile.read(int(self.headers["Content-Length"]))
                if len(notes.keys) == 1:
                    notes.caller.process.kill()
                    notes.died.set()
                    return
                body = b'{"receipt": "noted"}'
                self.send_response(notes.answers.pop(0))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Say nothing."""

        with ThreadingHTTPServer(("127.0.0.1", self.port), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path).policy(POLICY)
    yield server
    server.end()


def cut_off(server: Server, answers: list[int], *, ends: bool = True) -> tuple[Notes, str]:
    """The process dies while its call is with the notes; another takes the run up, and repeats it
    before these answers. The run, at its end; ``ends``: it is waited for.
    """
    notes = Notes(fixed_port(), server, answers)
    server.verb("notes.put", VERB.format(port=notes.port))
    listens = bool(answers)
    server.start()
    with notes.listening():
        sent = server.http.post(
            "/verbs/execute",
            json={"verb_id": "notes.put", "payload": {"text": "milk"}},
            headers={"Prefer": "respond-async"},
        ).json()
        assert notes.died.wait(30)
        server.kill()
        if listens:
            server.start()
            server.until(sent["run_id"], "completed", "failed")
    if not listens:
        server.start()
        if ends:
            server.until(sent["run_id"], "failed")
    return notes, sent["run_id"]


def results(server: Server, run: str) -> list[dict[str, Any]]:
    return [
        record["body"]["result"]
        for record in server.journal(run)
        if (record["kind"], record["name"]) == ("observation", "verb_call")
    ]


def replays(server: Server, run: str) -> str:
    return server.cli("replay", run).stdout.decode()


def test_repeats_that_never_connect_leave_the_doubt(server: Server) -> None:
    """The connection is refused until every attempt is used up: each is made, under one key, and
    the call ends as one of which nobody knows; who says that it happened settles it.
    """
    notes, run = cut_off(server, [])
    ended = server.until(run, "failed")
    found = results(server, run)
    assert [one["result"] for one in found] == ["outcome_unknown"] * 3
    assert [one["repeat"]["code"] for one in found] == ["not_connected"] * 3
    assert (ended["verdict"], len(ended["unknown_effects"])) == ("unknown", 1)
    assert len(notes.keys) == 1
    assert "equal" in replays(server, run)
    (effect,) = ended["unknown_effects"]
    told = {"effect": effect, "happened": True, "why": "it is on the list"}
    assert server.http.post(f"/runs/{run}/resolve", json=told).status_code == 200
    after = server.http.get(f"/runs/{run}").json()
    assert (after["unknown_effects"], after["verdict"]) == ([], "partial")


def test_a_repeat_that_runs_clears_the_doubt(server: Server) -> None:
    """A repeat that is put off and then one that succeeds, under the same key: the call has
    returned, and nothing is left for anybody to clear.
    """
    notes, run = cut_off(server, [429, 200])
    ended = server.until(run, "completed")
    assert [one["result"] for one in results(server, run)] == ["outcome_unknown", "returned"]
    assert (ended["verdict"], ended["unknown_effects"]) == ("ok", [])
    assert len(notes.keys) == 3
    assert len(set(notes.keys)) == 1
    assert "equal" in replays(server, run)


def test_a_crash_between_two_repeats_leaves_the_doubt(server: Server) -> None:
    """The process dies again while it waits for its next repeat: whoever takes the run up then still
    knows of the first attempt.
    """
    server.policy("[verbs]\nretry_wait_ms = 2000\n")
    notes, run = cut_off(server, [], ends=False)
    server.until_recorded(run, "observation", "verb_call")
    server.kill()
    server.start()
    ended = server.until(run, "failed")
    assert {one["result"] for one in results(server, run)} == {"outcome_unknown"}
    assert (ended["verdict"], len(ended["unknown_effects"])) == ("unknown", 1)
    assert len(notes.keys) == 1
    assert "equal" in replays(server, run)


@pytest.mark.parametrize("status", [404, 409, 422])
def test_a_refusal_of_the_repeat_says_nothing_of_the_first(server: Server, status: int) -> None:
    """An endpoint that refuses the repeat may have taken the first: nobody knows."""
    _, run = cut_off(server, [status])
    ended = server.until(run, "failed")
    (found,) = results(server, run)
    assert (found["result"], found["repeat"]["code"]) == ("outcome_unknown", f"http_{status}")
    assert ended["verdict"] == "unknown"
