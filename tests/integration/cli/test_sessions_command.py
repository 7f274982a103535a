"""``ordain sessions``, ``ordain replay --all`` over transcripts, ``ordain doctor --probes``: one
process per case.
"""

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.process import Server, run_cli
from tests.integration.cli.chat_script import play


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which two sessions have been held; the second one's question is open."""
    home = tmp_path_factory.mktemp("spoken")
    environment = play(home)
    first = ("chat", "--session", "first", "--user", "ada")
    assert (
        run_cli(*first, home=home, environment=environment, stdin=b"hello\nescape\n").returncode
        == 0
    )
    second = ("chat", "--session", "telegram:chat:1/2", "--user", "bob", "--mode", "agent")
    assert (
        run_cli(*second, home=home, environment=environment, stdin=b"which town\n").returncode == 1
    )
    return home


@pytest.fixture
def server(spoken: Path, tmp_path: Path) -> Iterator[Server]:
    """A server over a copy of that folder, which each test may start or not."""
    home = tmp_path / "home"
    shutil.copytree(spoken, home)
    server = Server(home, environment=play(home))
    yield server
    server.end()


@pytest.mark.parametrize("served", [False, True])
def test_sessions_are_listed(server: Server, served: bool) -> None:
    """The most recently used comes first, beside a server and without one; pages follow each
    other.
    """
    if served:
        server.start()
    shown = server.cli("sessions", "list").stdout.decode().splitlines()
    assert [line.split()[:5] for line in shown[1:]] == [
        ["telegram:chat:1/2", "other", "bob", "2", "1"],
        ["first", "other", "ada", "4", "0"],
    ]
    assert [line.split("  ")[-1] for line in shown] == ["first words", "which town", "hello"]
    page = json.loads(server.cli("sessions", "list", "--limit", "1", "--json").stdout)
    assert [one["sessionId"] for one in page["sessions"]] == ["telegram:chat:1/2"]
    rest = json.loads(
        server.cli("sessions", "list", "--before", str(page["next"]), "--json").stdout
    )
    assert [one["sessionId"] for one in rest["sessions"]] == ["first"]


def test_a_session_is_shown(server: Server) -> None:
    """Threads, then what was said, cleaned; the JSON form holds every entry as the event it was."""
    shown = server.cli("sessions", "show", "first").stdout.decode()
    assert shown.startswith("session first, 4 entries, 0 open\n")
    assert "“hello”" in shown
    assert "“ada”: hello" in shown
    assert "Hello to you." in shown
    assert "\x1b" not in shown
    asked = json.loads(server.cli("sessions", "show", "telegram:chat:1/2", "--json").stdout)
    assert [entry["event"] for entry in asked["entries"]] == ["message", "question"]
    assert asked["threads"][0]["pendingQuestion"]["expectedType"] == "location"


@pytest.mark.parametrize("served", [False, True])
def test_ids_are_typed_in_part(server: Server, served: bool) -> None:
    """A session and a run by the end or the beginning of their id, and the last one; also what is
    replayed.
    """
    if served:
        server.start()
    runs = [
        one["run_id"] for one in json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    ]
    assert (
        server.cli("sessions", "show", "irst")
        .stdout.decode()
        .startswith("session first, 4 entries")
    )
    assert (
        server.cli("sessions", "show", "last")
        .stdout.decode()
        .startswith("session telegram:chat:1/2, ")
    )
    for given, run in ((runs[1][-6:], runs[1]), ("last", runs[0])):
        assert json.loads(server.cli("runs", "show", given, "--json").stdout)["run_id"] == run
        assert run in server.cli("replay", given).stdout.decode().splitlines()[0]
    refused = server.cli("runs", "cancel", runs[0][:4], "--why", "x", "--json")
    assert (refused.returncode, json.loads(refused.stderr)["error"]["code"]) == (2, "ambiguous_id")
    assert all(run in refused.stderr.decode() for run in runs)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("show", "nobody"), 2),
        (("erase", "nobody", "--why", "x"), 2),
        (("erase", "first"), 2),
        (("erase", "telegram:chat:1/2", "--why", "x"), 1),
        (("list", "--limit", "0"), 2),
    ],
)
def test_what_cannot_be_done_is_said(server: Server, arguments: tuple[str, ...], code: int) -> None:
    """An unknown session, a missing reason and an open turn are refused on one line."""
    done = server.cli("sessions", *arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr


def test_an_erased_session_still_verifies(server: Server) -> None:
    """Erasing empties what was said and takes the id; the chain is still verified by replay, and
    another session begins under that id.
    """
    done = server.cli("sessions", "erase", "first", "--why", "asked for")
    assert (done.returncode, done.stdout.decode().startswith("erased: session first, ")) == (
        0,
        True,
    )
    assert server.cli("sessions", "show", "first").returncode == 2
    assert not re.search("^first ", server.cli("sessions", "list").stdout.decode(), re.MULTILINE)
    assert server.cli("chat", "--session", "first", "hello").returncode == 0
    replayed = server.cli("replay", "--all")
    assert replayed.returncode == 0, replayed.stdout
    assert re.search(
        r"erased +session erased:[0-9a-f]{32}  4 entries, 0 decisions, 4 erased",
        replayed.stdout.decode(),
    )
    assert "equal            session first  2 entries, 1 decisions" in replayed.stdout.decode()


def test_replay_verifies_transcripts(server: Server) -> None:
    """--all says how many sessions verify, and what it does not cover, as text and as JSON; a
    single run says nothing of either.
    """
    shown = server.cli("replay", "--all")
    assert shown.returncode == 0, shown.stdout
    assert shown.stdout.decode().splitlines()[-2:] == [
        "2 of 2 sessions verify, 3 messages attached again",
        (
            "not covered, since it is no record of what happened: tokens; mail that its run has "
            "taken, whose journal holds it;"
            " what shared decisions of kinds keep for the next of them;"
            " what engines note of their own work"
        ),
    ]
    told = json.loads(server.cli("replay", "--all", "--json").stdout)
    assert [(one["session"], one["verifies"], one["entries"]) for one in told["sessions"]] == [
        ("first", True, 4),
        ("telegram:chat:1/2", True, 2),
    ]
    one = json.loads(server.cli("replay", told["runs"][0]["run"], "--json").stdout)
    assert "sessions" not in one
    assert (told["not_covered"][0], len(told["not_covered"]), "not_covered" in one) == (
        "tokens",
        4,
        False,
    )


@pytest.mark.parametrize(
    "change",
    [
        (
            "UPDATE transcript SET body = CAST(replace(CAST(body AS TEXT), 'hello', 'hullo') AS "
            "BLOB) "
            "WHERE seq = 1"
        ),
        "UPDATE transcript SET at = at + 1 WHERE seq = 2",
        "DELETE FROM transcript WHERE seq = 4",
        "UPDATE transcript SET attached = 'filler' WHERE seq = 3",
    ],
)
def test_replay_finds_what_was_altered(server: Server, change: str) -> None:
    """Whatever somebody changes in the file, the session no longer verifies, and the exit code says
    so.
    """
    with closing(sqlite3.connect(server.home / "ordain.db")) as database, database:
        assert database.execute(f"{change} AND session = 1").rowcount == 1
    replayed = server.cli("replay", "--all")
    assert replayed.returncode == 1
    assert "journal_corrupt  session first" in replayed.stdout.decode()
    assert "1 of 2 sessions verify" in replayed.stdout.decode()


def test_doctor_runs_the_probes(tmp_path: Path) -> None:
    """The shipped policy's probes hold; doctor runs them before it asks any model."""
    only = run_cli("doctor", "--probes", home=tmp_path)
    assert (only.returncode, "routing probes: 14 of 14 hold" in only.stdout.decode()) == (0, True)
    assert "profile" not in only.stdout.decode()
    told = json.loads(run_cli("doctor", "--json", home=tmp_path).stdout)
    assert all(probe["holds"] for probe in told["probes"])
    assert [profile["profile"] for profile in told["profiles"]] == ["default"]


def test_doctor_names_the_probe_that_does_not_hold(tmp_path: Path) -> None:
    """A policy that does not do what its probe says is exit code 1, with the probe, what was wanted
    and what came; no model is asked.
    """
    policy = tmp_path / "mine.toml"
    policy.write_text(
        'version = 1\n[[probes]]\nmessage = { text = "hi", mode = "agent" }\n'
        'expect = { path = "direct" }\n',
        encoding="utf-8",
    )
    done = run_cli("doctor", "--policy", str(policy), home=tmp_path)
    assert done.returncode == 1
    shown = done.stdout.decode().splitlines()
    assert 'probes[0] "hi": path should be direct and is react_lite' in shown
    assert shown[-1] == "routing probes: 0 of 1 hold"


@pytest.mark.parametrize(
    ("probe", "key"),
    [
        ('message = { text = "hi" }\nexpect = { path = "derict" }', "probes.0.expect.path"),
        ('message = { txt = "hi" }', "probes.0.message.txt"),
    ],
)
def test_doctor_says_what_is_wrong_with_a_policy(tmp_path: Path, probe: str, key: str) -> None:
    """A probe that is none is exit code 2 and one line with file and key."""
    policy = tmp_path / "policy.toml"
    policy.write_text(f"version = 1\n[[probes]]\n{probe}\n", encoding="utf-8")
    for arguments in (("--policy", str(policy)), ("--probes",)):
        done = run_cli("doctor", *arguments, home=tmp_path)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        assert key in done.stderr.decode()
        assert str(tmp_path) in done.stderr.decode()
