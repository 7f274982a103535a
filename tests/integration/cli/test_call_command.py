"""``ordain call``: one verb with its arguments, beside a server and on the folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.approving import furnish, sent
from tests.e2e.process import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server over a folder with a verb that needs a yes, which each test may start or not."""
    server = Server(furnish(tmp_path))
    yield server
    server.end()


@pytest.mark.parametrize("served", [False, True])
def test_a_call_is_a_run(server: Server, served: bool) -> None:
    """Its header on one line, what it gave as JSON behind its mark; the journal replays equal."""
    if served:
        server.start()
    done = server.cli("call", "math.evaluate", "expression=6 * 7")
    header, _, *output = done.stdout.decode().splitlines()
    assert (done.returncode, header[:22]) == (0, "✓ no model · 1 tool · ")
    assert json.loads("".join(line.removeprefix("> ") for line in output))["result"] == "42"
    reply = json.loads(
        server.cli(
            "call", "math.evaluate", "--input", '{"expression": "1"}', "expression=2", "--json"
        ).stdout
    )
    assert (reply["ok"], reply["output"]["result"]) == (True, "2")
    assert server.cli("replay", reply["run_id"]).stdout.decode().startswith("equal")


@pytest.mark.parametrize("served", [False, True])
def test_a_wrong_argument_begins_no_run(server: Server, served: bool) -> None:
    """It is named, with the one that was meant; so is a verb that there is not."""
    if served:
        server.start()
    wrong = server.cli("call", "math.evaluate", "expresion=1")
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr.decode() == (
        "ordain: expresion: there is no such argument; did you mean expression?; expression: it "
        "is missing [invalid_arguments]\n"
    )
    assert b"did you mean math.evaluate?" in server.cli("call", "math.evalute").stderr
    assert json.loads(server.cli("runs", "list", "--json").stdout)["runs"] == []


def test_a_call_that_fails_is_exit_code_1(server: Server) -> None:
    """All of its header stands there, and the error."""
    failed = server.cli("call", "math.evaluate", "expression=1/0")
    assert failed.returncode == 1
    assert "> error: division_by_zero" in failed.stdout.decode()
    assert failed.stdout.decode().startswith("✗ partial · ordain run ")


@pytest.mark.parametrize("served", [False, True])
def test_a_call_that_needs_a_yes_says_how_one_is_given(server: Server, served: bool) -> None:
    """It waits, shown exactly; the command that it tells carries it out, beside a server and
    without one.
    """
    if served:
        server.start()
    asked = server.cli("call", "note.send", "to=ada@example.org", "text=tea")
    assert (asked.returncode, sent(server.home)) == (1, []), asked.stderr
    lines = asked.stdout.decode().splitlines()
    assert any('{"text":"tea","to":"ada@example.org"}' in line for line in lines)
    (command,) = [line.split() for line in lines if line.startswith("ordain approvals approve ")]
    assert server.cli(*command[1:]).returncode == 0
    (run,) = [
        line.split()[-1]
        for line in lines
        if line.startswith("what came of it then: ordain runs show ")
    ]
    shown = json.loads(server.cli("runs", "show", run, "--json").stdout)
    if served:
        shown = server.until(run, "completed")
    assert (shown["status"], len(sent(server.home))) == ("completed", 1)
    waits = json.loads(
        server.cli("call", "note.send", "to=bob@example.org", "text=tea", "--json").stdout
    )
    assert (waits["status"], [one["state"] for one in waits["approvals"]]) == ("waiting", ["open"])
