"""Time that nobody could use, in a real process: stopped for longer than all its time-outs, and
away for longer than them.
"""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.process import Server
from tests.e2e.proposals import add, ask, case, finish, slow

RUNS = 20
AWAY_S = 5.0
SHORT = {"timeout_seconds": 3.0}
"""A whole run has this time: less than the process is away, and more than its work needs."""
WORK = {"cases": [case("steady", slow(add("1 + 1"), 600), slow(finish("Two."), 600))]}
NOTE = '''
import time
from pathlib import Path

from ordain import VerbContext, verb
from ordain.contracts.verbs import ArgumentRole


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT}, idempotent=True, timeout_ms=3000)
def put_note(text: str, context: VerbContext) -> str:
    """Put a note down, the first time slowly."""
    seen = Path(__file__).parent.parent / "seen"
    keys = seen.read_text().split() if seen.exists() else []
    seen.write_text(" ".join([*keys, context.key]))
    if not keys:
        time.sleep(60)
    return text
'''


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Server]:
    """A server that a test starts, stops and kills as it likes, and that ends with the test."""
    server = Server(tmp_path)
    yield server
    server.end()


def test_a_stopped_process_fails_no_run(house: Server) -> None:
    """B-23 "Time lost does not count for work": all of them are in the midst of a model call when
    the process is stopped for longer than a run has time, and all end well.
    """
    server = house.play(WORK).start()
    asked = [ask("steady", request_id=f"r{number}", limits=SHORT) for number in range(RUNS)]
    runs = [
        server.http.post("/plan/react", json=one, headers={"Prefer": "respond-async"}).json()[
            "run_id"
        ]
        for one in asked
    ]
    server.until_recorded(runs[-1], "intent", "model_call")
    server.process.send_signal(signal.SIGSTOP)
    time.sleep(AWAY_S)
    server.process.send_signal(signal.SIGCONT)
    ends = [server.until(run, "completed", "failed", "timed_out") for run in runs]
    assert [(end["status"], end["reason"]) for end in ends] == [("completed", "ok")] * RUNS
    assert any(
        record["kind"] == "resumed" and record["body"]["lost_us"] > 1e6
        for record in server.journal(runs[-1])
    )
    replayed = server.cli("replay", "--all", "--json")
    assert {one["verdict"] for one in json.loads(replayed.stdout)["runs"]} == {"equal"}


def test_a_call_that_can_be_repeated_is_repeated_however_long_nobody_was_there(
    house: Server, tmp_path: Path
) -> None:
    """The process dies in the midst of it and is away for longer than the call and the run have
    time: it is made again, with the same key.
    """
    (tmp_path / "verbs").mkdir()
    (tmp_path / "verbs" / "put_note.py").write_text(NOTE, encoding="utf-8")
    (tmp_path / "ordain.toml").write_text("[verbs]\npython = true\n", encoding="utf-8")
    server = house.policy("[limits]\ntimeout_seconds = 4\n").start()
    request = {"verb_id": "put_note", "payload": {"text": "milk"}, "caller": "test"}
    begun = server.http.post("/verbs/execute", json=request, headers={"Prefer": "respond-async"})
    assert begun.status_code == 202, begun.text
    run = begun.json()["run_id"]
    server.until_recorded(run, "intent", "verb_call")
    while not (tmp_path / "seen").exists():
        time.sleep(0.02)
    server.kill()
    time.sleep(AWAY_S)
    with server as again:
        end = again.until(run, "completed", "failed", "timed_out")
        assert (end["status"], end["reason"]) == ("completed", "ok")
        first, *others = (tmp_path / "seen").read_text().split()
        assert others == [first]
        replayed = again.cli("replay", "--all", "--json")
        assert {one["verdict"] for one in json.loads(replayed.stdout)["runs"]} == {"equal"}
