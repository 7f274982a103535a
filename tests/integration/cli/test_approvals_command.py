"""``ordain approvals``, ``ordain grants``, and ``/approve`` in a chat: beside a server and on the
folder, at a terminal and in a pipe.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.approving import announce, ask_to_send, furnish, open_approvals, sent
from tests.e2e.process import Server
from tests.e2e.proposals import act, finish
from tests.e2e.talking import says
from tests.integration.cli.terminal import Terminal, chatting

HOSTILE = "tea \u202e and more\n✓ ok"
WORKS = {
    "cases": [
        says(
            "tell Ada",
            planner=[act("note.send", to="ada@example.org", text="tea"), finish("It went out.")],
        )
    ]
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(furnish(tmp_path)).play(WORKS) as server:
        yield server


def said(server: Server, *arguments: str, code: int = 0) -> Any:
    """What a command prints as JSON."""
    done = server.cli(*arguments, "--json")
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout if code == 0 else done.stderr)


def text(server: Server, *arguments: str) -> str:
    """What a command prints for people."""
    done = server.cli(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_the_command_that_an_answer_names_shows_what_waits_and_how_to_say_yes(
    server: Server,
) -> None:
    """In a pipe, where nobody can be asked, it decides nothing: it shows all of it, and the whole
    command that approves exactly that.
    """
    announce(server, "s1", "tea")
    (item,) = open_approvals(server)
    for workspace in ((), ("--workspace", "default")):
        unseen = server.cli("approvals", "approve", item["approval_id"][-6:], *workspace)
        assert (unseen.returncode, b"[usage]" in unseen.stderr) == (2, True)
        assert '2. note.send {"text":"tea","to":"ada@example.org"}' in unseen.stdout.decode()
        assert open_approvals(server) == [item]
    ordain, *told = next(
        line for line in unseen.stdout.decode().splitlines() if " approvals approve " in line
    ).split()
    assert (ordain, told) == (
        "ordain",
        ["approvals", "approve", item["approval_id"], "--digest", item["digest"]],
    )
    assert "approved: " in text(server, *told)
    again = server.cli("approvals", "approve", item["approval_id"])
    assert (again.returncode, b"[already_decided]" in again.stderr) == (1, True)


def test_an_approval_is_listed_shown_and_decided(server: Server) -> None:
    """The table has a line for it; shown, nothing of its arguments controls or reorders; a yes says
    what was looked at.
    """
    announce(server, "s1", HOSTILE)
    (item,) = open_approvals(server)
    approval, digest = item["approval_id"], item["digest"]
    row = text(server, "approvals", "list").splitlines()[1].split()
    assert (row[:3], row[3:6], row[6]) == (
        [approval, "open", "write"],
        ["announce@1:", "mail.draft,", "note.send"],
        "http:loopback",
    )
    shown = text(server, "approvals", "show", approval)
    assert "\u202e" not in shown
    assert r'2. note.send {"text":"tea \u202e and more\n✓ ok","to":"ada@example.org"}' in shown
    assert not any(line.startswith("✓") for line in shown.splitlines())
    assert f"ordain approvals approve {approval} --digest {digest}" in shown
    blind = said(server, "approvals", "approve", approval, code=2)["error"]
    assert (
        blind["code"],
        f"--digest, as `ordain approvals show {approval}` tells it" in blind["message"],
    ) == ("usage", True)
    assert (
        said(server, "approvals", "approve", approval, "--digest", "00", code=1)["error"]["code"]
        == "approval_stale"
    )
    assert (
        said(server, "approvals", "show", "none", code=2)["error"]["code"] == "approval_not_found"
    )
    assert {
        said(server, "approvals", "show", given)["approval_id"]
        for given in (approval[-6:], approval[:12], "last")
    } == {approval}
    done = said(
        server,
        "approvals",
        "approve",
        approval[-6:],
        "--digest",
        digest,
        "--why",
        "right",
        "--grant-for",
        "1h",
        "--grant-uses",
        "3",
    )
    assert (done["state"], done["decided_by"]) == ("approved", f"local:{os.getuid()}")
    assert (
        said(server, "approvals", "approve", approval, "--digest", digest, code=1)["error"]["code"]
        == "already_decided"
    )
    (grant,) = said(server, "grants", "list")["grants"]
    assert (grant["grantId"], grant["usesLeft"], grant["audit"]["by"]) == (
        done["grant_id"],
        3,
        f"local:{os.getuid()}",
    )
    assert text(server, "grants", "revoke", grant["grantId"]).startswith("revoked: grant ")
    assert said(server, "grants", "list")["grants"] == []
    assert f"approved by local:{os.getuid()}" in text(server, "approvals", "show", approval)


def test_an_approval_is_claimed_and_released(server: Server) -> None:
    """Beside the server and on the folder, by who runs the command: list and show say who looks at
    it, also after a restart; given up, nobody does.
    """
    ask_to_send(server)
    (item,) = open_approvals(server)
    approval, me = item["approval_id"], f"local:{os.getuid()}"
    assert text(server, "approvals", "claim", approval[-6:]).startswith(
        f"note.send (approval {approval}): in review by {me} since "
    )
    assert said(server, "approvals", "claim", approval)["claimed_by"] == me
    assert f"open, in review by {me} since " in text(server, "approvals", "list")
    assert server.stop() == 0
    since = said(server, "approvals", "show", approval)["claimed_at"]
    assert since is not None
    assert f"in review by {me} since " in text(server, "approvals", "show", approval)
    assert said(server, "approvals", "claim", approval, "--take-over")["claimed_at"] == since
    assert "nobody says that they look at it" in text(server, "approvals", "release", approval)
    assert said(server, "approvals", "release", approval, code=1)["error"]["code"] == "not_claimed"
    assert (
        said(server, "approvals", "claim", "none", code=2)["error"]["code"] == "approval_not_found"
    )
    assert "in review" not in text(server, "approvals", "list") + text(
        server, "approvals", "show", approval
    )
    assert said(server, "approvals", "claim", approval)["claimed_by"] == me
    assert (
        said(server, "approvals", "deny", approval, "--digest", item["digest"])["claimed_by"]
        is None
    )


def test_without_a_server_the_run_goes_on_in_the_command(server: Server) -> None:
    """On the folder the same is seen; the yes is carried out before the command ends, a no ends
    what waits.
    """
    yes, no = ask_to_send(server, "tea"), ask_to_send(server, "coffee")
    denied, approved = open_approvals(server, 2)
    assert server.stop() == 0
    assert {one["approval_id"] for one in said(server, "approvals", "list")["approvals"]} == {
        denied["approval_id"],
        approved["approval_id"],
    }
    assert said(server, "approvals", "show", approved["approval_id"])["changed"] is False
    done = said(
        server, "approvals", "approve", approved["approval_id"], "--digest", approved["digest"]
    )
    assert (done["decided_by"], done["status"]) == (f"local:{os.getuid()}", "completed")
    deny = ("approvals", "deny", denied["approval_id"], "--why", "no coffee", "--digest")
    # alone: no line of a log before it
    assert said(server, *deny, "of something else", code=1)["error"]["code"] == "approval_stale"
    assert said(server, *deny, denied["digest"])["status"] == "failed"
    assert 'why: "no coffee"' in text(server, "approvals", "show", denied["approval_id"])
    assert sent(server.home) == ["ada@example.org: tea"]
    assert [said(server, "runs", "show", run)["status"] for run in (yes, no)] == [
        "completed",
        "failed",
    ]


def test_other_arguments_from_the_command_line(server: Server) -> None:
    """They are a JSON object; the run asks anew for exactly these."""
    ask_to_send(server)
    (item,) = open_approvals(server)
    assert (
        said(server, "approvals", "resubmit", item["approval_id"], "no JSON", code=2)["error"][
            "code"
        ]
        == "usage"
    )
    other = '{"to": "ben@example.org", "text": "tea"}'
    assert (
        said(server, "approvals", "resubmit", item["approval_id"], other)["state"] == "superseded"
    )
    (again,) = open_approvals(server)
    assert (
        said(server, "approvals", "show", again["approval_id"])["calls"][0]["args"]["to"]
        == "ben@example.org"
    )


def test_a_grant_from_the_command_line(server: Server) -> None:
    """To whom, for what, how long and how often; the table says all of it."""
    asked = (
        "--verb",
        "note.send",
        "--target",
        "ada@example.org",
        "--for",
        "30d",
        "--uses",
        "1",
        "--why",
        "tea time",
    )
    given = said(server, "grants", "give", "http:loopback", *asked)
    assert (given["scope"]["targets"], given["ttlSeconds"], given["riskLevel"]) == (
        ["ada@example.org"],
        30 * 86_400,
        "write",
    )
    assert given["grantId"] in text(server, "grants", "list")
    body = {"verb_id": "note.send", "payload": {"to": "ada@example.org", "text": "tea"}}
    assert [server.execute(body)["ok"] for _ in range(2)] == [True, False]
    assert text(server, "grants", "list").count("\n") == 1
    assert " over" in text(server, "grants", "list", "--all")
    assert said(server, "grants", "revoke", "none", code=2)["error"]["code"] == "grant_not_found"


@pytest.mark.parametrize(("typed", "becomes"), [("no", "open"), ("yes", "approved")])
def test_at_a_terminal_it_is_shown_and_asked(server: Server, typed: str, becomes: str) -> None:
    """Without a digest the command shows exactly what waits; a yes is the word."""
    ask_to_send(server)
    (item,) = open_approvals(server)
    arguments = ("approvals", "approve", item["approval_id"], "--data-dir", str(server.home))
    terminal = Terminal(arguments, {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8"}, 200)
    try:
        shown = terminal.until("Type yes:")
        assert '1. note.send {"text":"tea","to":"ada@example.org"}' in shown
        assert shown.count("to (recipient)") == 1, "once, and not also as other faces tell it"
        terminal.type(typed)
        assert terminal.end() == (0 if becomes == "approved" else 1)
    finally:
        terminal.close()
    assert said(server, "approvals", "show", item["approval_id"])["state"] == becomes


def test_a_chat_in_a_pipe_shows_it_and_decides(tmp_path: Path) -> None:
    """The message is answered with the approval, a yes in words with how it is given, /approve with
    the reply; an approval left open is exit code 1.
    """
    server = Server(furnish(tmp_path)).play(WORKS)
    begun = ("chat", "--mode", "agent", "--verb", "note.send")
    done = server.cli(
        *begun, stdin=b"tell Ada about the tea\nyes\n/approve no, wait\n/approve zzz\n/approve\n"
    )
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert out.count("that names no approval") == 2
    assert out.index('1. note.send {"text":"tea","to":"ada@example.org"}') < out.index(
        "No message is a yes or a no to that."
    )
    assert (
        out.index("No message is a yes or a no to that.")
        < out.index("approved: note.send, by local:")
        < out.index("It went out.")
    )
    assert sent(tmp_path) == ["ada@example.org: tea"]
    assert server.cli(*begun, "tell", "Ada", "about", "it").returncode == 1
    nothing = server.cli("chat", stdin=b"/deny\n").stdout
    assert b"no approval is open here" in nothing


def test_at_a_terminal_the_chat_shows_it_when_it_opens(tmp_path: Path) -> None:
    """With its exact arguments; /deny ends it, and what was denied is told in the reply."""
    environment = Server(furnish(tmp_path)).play(WORKS).environment
    with chatting(
        tmp_path, "--mode", "agent", "--verb", "note.send", columns=160, **environment
    ) as terminal:
        terminal.until("/help")
        terminal.type("tell Ada about the tea")
        shown = terminal.until("/approve says yes to exactly this")
        assert "Ordain waits for an approver (write):" in shown
        assert '1. note.send {"text":"tea","to":"ada@example.org"}' in shown
        terminal.type("/deny not today")
        terminal.until("denied: note.send, by local:")
        terminal.until("turn@10 · ")
        terminal.type("\x04", enter=False)
        assert terminal.end() == 0
    assert sent(tmp_path) == []
