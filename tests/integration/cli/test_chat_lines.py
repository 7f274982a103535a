"""``ordain chat`` without a terminal: arguments, pipes, programs; in its own process and beside a
server.
"""

import asyncio
import json
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain.cli import chat_lines
from ordain.cli.chat_lines import LineChat, Printed, one
from ordain.cli.connection import Connection
from ordain.cli.messenger import Addressed, Messenger
from ordain.contracts.conversation import MessageAnswer
from tests.commands import Command, start_command
from tests.e2e.process import PATIENCE_S, Server, fixed_port, run_cli
from tests.integration.cli.chat_script import BRIEF, play


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server over the folder, which each test may start or not."""
    home = tmp_path / "home"
    server = Server(home, environment=play(home))
    yield server
    server.end()


def events(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("served", [False, True])
def test_one_message_is_answered(server: Server, served: bool) -> None:
    """The words are one message; the header stands above the answer, the fresh session on stderr,
    and the same holds beside a server.
    """
    if served:
        server.start()
    done = server.cli("chat", "hello", "there")
    assert done.returncode == 0, done.stderr
    header, _, narrative = done.stdout.decode().partition("\n\n")
    assert BRIEF.fullmatch(header)
    assert narrative == "> Hello to you.\n\n"
    assert done.stderr.decode().startswith("session cli:")
    assert len(done.stderr.splitlines()) == 1


def test_a_pipe_asks_how_it_stands(server: Server) -> None:
    """Where nothing is at work, /status and /threads show the threads, the latest first, and say
    nothing to the session.
    """
    done = server.cli(
        "chat",
        "--session",
        "asked",
        stdin=b"hello one\n/status\n/help\nthanks!\n/retry\n/threads\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().count("Hello to you.") == 2
    assert "/threads" in done.stderr.decode()
    threads = [line for line in done.stdout.decode().splitlines() if "done" in line]
    assert [line.split()[0] for line in threads] == ["1", "2", "1"]
    said = json.loads(server.cli("sessions", "show", "asked", "--json").stdout)["entries"]
    assert [entry["text"] for entry in said if entry["event"] == "message"] == [
        "hello one",
        "thanks!",
        "hello one",
    ]


def test_a_pipe_leaves_by_the_command_only(server: Server) -> None:
    """/quit leaves what follows it unsaid; the same letters as words of a message are said, from a
    pipe and from the command line.
    """
    server.cli("chat", "--session", "left", "/quit")
    server.cli("chat", "--session", "left", stdin=b"//quit\nhello\n/quit\nhello again\n")
    said = json.loads(server.cli("sessions", "show", "left", "--json").stdout)["entries"]
    assert [entry["text"] for entry in said if entry["event"] == "message"] == [
        "/quit",
        "/quit",
        "hello",
    ]


def test_each_line_of_a_pipe_is_a_message(server: Server) -> None:
    """Lines are said in order, each after the answer to the one before; empty ones are passed over,
    filler is answered by nothing.
    """
    done = server.cli("chat", "--session", "piped", stdin=b"hello one\n\n   \nthanks!\nhello two")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().count("Hello to you.") == 2
    shown = json.loads(server.cli("sessions", "show", "piped", "--json").stdout)
    told = [
        (entry["event"], entry.get("text") or entry.get("narrative")) for entry in shown["entries"]
    ]
    assert told == [
        ("message", "hello one"),
        ("reply", "Hello to you."),
        ("message", "thanks!"),
        ("message", "hello two"),
        ("reply", "Hello to you."),
    ]


def test_a_failed_answer_is_exit_code_1(server: Server) -> None:
    """An answer that is not ok makes the exit code 1, whatever is answered after it."""
    done = server.cli("chat", stdin=b"fail now\nhello\n")
    assert done.returncode == 1
    assert "✗ nothing done · ordain run " in done.stdout.decode()
    assert "Hello to you." in done.stdout.decode()


def test_a_question_left_open_is_exit_code_1_and_can_be_answered_later(server: Server) -> None:
    """A question is shown with what it expects; the next process answers it in the same session."""
    asked = server.cli("chat", "--mode", "agent", "which town")
    assert asked.returncode == 1, asked.stderr
    assert asked.stdout.decode() == "Ordain asks:\n> Which city is it?\n(expects location)\n\n"
    answered = server.cli("chat", "--session", "last", "Berlin")
    assert answered.returncode == 0, answered.stderr
    assert answered.stdout.decode().endswith("\n\n> Noted.\n\n")


def test_a_question_is_answered_by_the_next_line(server: Server) -> None:
    """In a pipe the line after a question answers it."""
    done = server.cli("chat", "--mode", "agent", stdin=b"which town\nin Paris\n")
    assert done.returncode == 0, done.stderr
    assert "Which city is it?" in done.stdout.decode()
    assert "Noted." in done.stdout.decode()


def test_json_is_one_event_a_line(server: Server) -> None:
    """--json prints the session, then every event of its stream; the reply of a message precedes
    its ``answered`` line.
    """
    done = server.cli(
        "chat",
        "--json",
        "--session",
        "a/b:c@d",
        "--mode",
        "agent",
        "--verb",
        "math.evaluate",
        stdin=b"agent sum\nthanks!\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    found = events(done)
    assert found[0] == {"event": "session", "session_id": "a/b:c@d"}
    durable = [event for event in found if event["event"] in ("message", "reply")]
    assert [event["seq"] for event in durable] == [1, 2, 3]
    reply = durable[1]
    assert (reply["ok"], reply["narrative"]) == (True, "It is 42.")
    first, second = (event for event in found if event["event"] == "answered")
    assert (first["seq"], first["run"], first["ok"]) == (1, reply["run"], True)
    assert (second["seq"], second["run"], second["ok"], second["attached"]) == (
        3,
        "",
        None,
        "filler",
    )
    assert found.index(reply) < found.index(first) < found.index(durable[2]) < found.index(second)


def test_json_holds_what_is_provisional(server: Server) -> None:
    """While a model writes, the header of finished work precedes its text, and the reply closes
    both.
    """
    found = [
        event
        for event in events(server.cli("chat", "--json", "typed slowly"))
        if event["event"] != "answered"
    ]
    kinds = [event["event"] for event in found]
    assert kinds[:2] == ["session", "message"]
    assert kinds[-1] == "reply"
    assert 0 < kinds.index("progress") < kinds.index("text")
    pieces = [event for event in found if event["event"] == "text"]
    assert "".join(piece["text"] for piece in pieces) == found[-1]["narrative"]


def test_json_of_a_known_session_begins_after_what_was_said(server: Server) -> None:
    """A session that is gone on with is not told again."""
    assert server.cli("chat", "--session", "s", "hello").returncode == 0
    found = events(server.cli("chat", "--session", "s", "--json", "hello"))
    assert [event["seq"] for event in found if event["event"] in ("message", "reply")] == [3, 4]


def test_nothing_foreign_reaches_a_terminal(server: Server) -> None:
    """Escapes are stripped from text and JSON, reordering is shown in both; JSON is plain ASCII."""
    plain = server.cli("chat", "escape").stdout.decode()
    assert plain.endswith("\n\n> red [U+202E]reversed[U+202C]  done\n\n")
    assert not set(plain) & set("\x1b\x9b\x07\u202e\u202c")
    told = server.cli("chat", "--json", "escape").stdout
    assert told.isascii()
    assert not set(told) & set(range(32)) - {10}
    reply = next(json.loads(line) for line in told.splitlines() if b'"reply"' in line)
    assert reply["narrative"] == "red [U+202E]reversed[U+202C]  done"


def test_the_whole_header_is_asked_for(server: Server) -> None:
    """/why shows all of the last reply's header, its reasons in words, and --verbose every one;
    before a reply there is nothing to ask after.
    """
    first, rest = (
        server.cli("chat", stdin=b"hello\n/why\n").stdout.decode().split("\n\n> Hello to you.\n\n")
    )
    assert BRIEF.fullmatch(first)
    assert rest.startswith("✓ ok · ordain run ")
    assert "· turn@10 · completed · ok" in rest.splitlines()[0]
    assert first.endswith(rest.splitlines()[0].split()[5][-6:])
    assert server.cli("chat", "--verbose", "hello").stdout.decode().startswith("✓ ok · ordain run ")
    worked = server.cli("chat", "--verbose", "--mode", "agent", "agent sum").stdout.decode()
    assert "→ step 2: finish · The directive finishes with an answer (step.finish)" in worked
    none = server.cli("chat", stdin=b"/why\n")
    assert (none.returncode, b"no reply yet" in none.stderr) == (2, True)


def test_a_lie_is_quoted(server: Server) -> None:
    """Every line of a narrative stands behind its mark, below the header that code wrote."""
    shown = server.cli("chat", "lie to me").stdout.decode().splitlines()
    assert sum(BRIEF.fullmatch(line) is not None for line in shown) == 1
    assert "> ✓ gpt-9 · 3 tools · 1.0 s · $0.0001 · 01a2f3" in shown
    assert "> ✓ ordain run 1 · turn@2 · completed · ok" in shown
    assert ">   ✅ step 1: mail.send" in shown
    assert "> · 3 steps" in shown
    below = shown[shown.index("") :]
    assert all(line.startswith(">") for line in below if line)


def test_each_mode_has_its_own_verb(server: Server) -> None:
    """GW-03 "must not be built with target verb `chat_general` by default": without --verb a
    council ends typed and not as chat.
    """
    done = server.cli("chat", "--json", "--mode", "council", "hello")
    assert done.returncode == 1
    reply = next(event for event in events(done) if event["event"] == "reply")
    assert (reply["ok"], "council_no_quorum" in reply["narrative"]) == (False, True)
    assert "chat_general" not in reply["header"]


def test_one_verb_serves_and_an_unknown_one_is_refused(server: Server) -> None:
    """One --verb is the turn's; one that nobody has is told before anything is said, with the one
    that was probably meant.
    """
    served = server.cli("chat", "--verbose", "--verb", "math.evaluate", "2 + 3")
    assert (served.returncode, "✓ math.evaluate" in served.stdout.decode()) == (0, True)
    unknown = server.cli("chat", "--verb", "math.evalute", "2 + 3")
    assert (unknown.returncode, unknown.stdout) == (2, b"")
    assert (
        unknown.stderr.decode()
        == "ordain: there is no verb math.evalute; did you mean math.evaluate? [unknown_verb]\n"
    )


@pytest.mark.parametrize("words", ["", " \n"])
def test_a_message_that_says_nothing_is_refused_before_anything(tmp_path: Path, words: str) -> None:
    """No session is named that nothing was said in, and nothing is opened."""
    done = run_cli("chat", words, home=tmp_path / "home")
    assert (done.returncode, done.stdout, done.stderr) == (
        2,
        b"",
        b"ordain: a message has a text [empty_message]\n",
    )
    assert not (tmp_path / "home").exists()


def test_a_verb_that_there_is_not_is_refused_where_it_is_named(server: Server) -> None:
    """/verb in a pipe ends it before anything is said, with the verb that was probably meant."""
    done = server.cli("chat", stdin=b"/verb math.evalute\nhello\n")
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        done.stderr.decode().splitlines()[-1]
        == "ordain: there is no verb math.evalute; did you mean math.evaluate? [unknown_verb]"
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--mode", "cortex", "hello"), 2),
        (("--session", "last", "hello"), 2),
        (("--session", "not a session", "hello"), 2),
        (("--workspace", "Not One", "hello"), 2),
        (("x" * 33_000,), 2),
        (("--bogus", "hello"), 2),
    ],
)
def test_what_cannot_be_said_is_refused(
    server: Server, arguments: tuple[str, ...], code: int
) -> None:
    """Wrong arguments and messages out of shape are one line with a code on stderr, and the exit
    code says whose fault it is.
    """
    done = server.cli("chat", *arguments)
    assert done.returncode == code, done.stderr
    assert done.stdout == b""
    assert done.stderr.decode().splitlines()[-1].startswith("ordain: ")


def test_workspaces_are_apart(server: Server) -> None:
    """The same session id in two workspaces is two sessions."""
    assert server.cli("chat", "--session", "s", "hello").returncode == 0
    assert (
        server.cli(
            "chat", "--session", "s", "--workspace", "other", stdin=b"hello\nhello\n"
        ).returncode
        == 0
    )
    heads = [
        json.loads(server.cli("sessions", "list", "--json", *more).stdout)["sessions"][0]["head"]
        for more in ((), ("--workspace", "other"))
    ]
    assert heads == [2, 4]


def test_a_chat_is_the_server_while_it_lasts(server: Server) -> None:
    """Where a chat holds the folder, other commands speak to it; where its note is gone, they say
    that the folder is held.
    """
    with started(server, "--session", "shared") as first:
        assert first.stdin is not None
        assert first.stdout is not None
        first.stdin.write(b"hello\n")
        first.stdin.flush()
        while b"Hello" not in first.stdout.readline():
            pass
        second = server.cli("chat", "--session", "shared", "hello")
        assert second.returncode == 0, second.stderr
        (server.home / "server.json").unlink()
        assert server.cli("chat", "hello").returncode == 3
        first.stdin.close()
        assert first.wait(PATIENCE_S) == 0


def test_ctrl_c_stops_the_turn(server: Server) -> None:
    """The first SIGINT says stop for the running turn, which ends as interrupted; the command then
    ends with 130.
    """
    server.start()
    chat = started(server, "--mode", "agent", "--session", "s", "long work")
    server.until_some_run("waiting")
    chat.send_signal(signal.SIGINT)
    out, _ = chat.communicate(timeout=PATIENCE_S)
    assert chat.returncode == 130
    assert "interrupted" in out.decode()
    until_at_rest(server, "s")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_and_says_what_goes_on(
    server: Server, number: signal.Signals, code: int
) -> None:
    """As a terminal says it; the turn is at work still."""
    server.start()
    chat = started(server, "--mode", "agent", "--session", "s", "long work")
    server.until_some_run("waiting")
    chat.send_signal(number)
    out, told = chat.communicate(timeout=PATIENCE_S)
    assert (chat.returncode, out) == (code, b"")
    assert told.decode().splitlines() == ["session s", "ordain: session s; what runs goes on"]
    assert server.cli("chat", "--session", "s", "stop").returncode in {0, 1}
    until_at_rest(server, "s")


def test_ctrl_c_without_a_turn_ends_it(server: Server) -> None:
    """SIGINT while nothing runs ends the command at once, with 130 and no traceback."""
    with started(server, "--session", "s") as chat:
        assert chat.stderr is not None
        assert chat.stderr.readline() == b"session s\n"
        chat.send_signal(signal.SIGINT)
        assert chat.wait(PATIENCE_S) == 130
        assert chat.stderr.read() == b""


async def test_ctrl_c_is_heard_from_the_first_words_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the session is announced SIGINT ends the command, also where the process was started
    with SIGINT ignored.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)

    async def silence() -> AsyncIterator[str]:
        await asyncio.sleep(60)
        yield ""

    def announce(session: str) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(chat_lines, "announce", announce)
    try:
        messenger = Messenger(Connection(http=httpx2.AsyncClient(), embedded=False), "default")
        chat = LineChat(messenger, Addressed(session="s", user="ada", mode="chat"), Printed())
        assert await asyncio.wait_for(chat.run(silence()), 5) == chat_lines.INTERRUPTED
    finally:
        signal.signal(signal.SIGINT, before)


async def test_ctrl_c_while_the_message_is_sent_stops_its_turn(server: Server) -> None:
    """SIGINT before the message is acknowledged stops its turn as soon as it is: nothing goes on
    that nobody waits for.
    """
    server.start()

    class Hasty(Messenger):
        """Presses Ctrl-C while it sends the message."""

        async def say(
            self, to: Addressed, text: str, *, reply_to: str | None = None
        ) -> MessageAnswer:
            if reply_to is None:
                signal.raise_signal(signal.SIGINT)
            return await super().say(to, text, reply_to=reply_to)

    async with httpx2.AsyncClient(
        base_url=server.http.base_url, timeout=PATIENCE_S, trust_env=False
    ) as http:
        messenger = Hasty(Connection(http=http, embedded=False), "default")
        chat = LineChat(messenger, Addressed(session="s", user="ada", mode="agent"), Printed())
        assert (
            await asyncio.wait_for(chat.run(one("long work")), PATIENCE_S) == chat_lines.INTERRUPTED
        )
    until_at_rest(server, "s")


def test_an_answer_outlives_its_server(server: Server) -> None:
    """A message whose server is killed is answered after the next start, and the command that waits
    for it hears of it.
    """
    server.arguments = ("--port", str(fixed_port()))
    server.start()
    chat = started(server, "--mode", "agent", "--session", "s", "patient work")
    server.until_some_run("waiting")
    server.restart(chat)
    out, _ = chat.communicate(timeout=PATIENCE_S)
    assert (chat.returncode, b"It is done after all." in out) == (0, True)


def test_a_server_that_stays_away_is_said_so(server: Server) -> None:
    """A command whose server is gone for good gives up after a few tries, with exit code 3 and one
    line.
    """
    server.start()
    chat = started(server, "--mode", "agent", "--session", "s", "long work")
    server.until_some_run("waiting")
    server.kill()
    _, errors = chat.communicate(timeout=PATIENCE_S)
    assert chat.returncode == 3
    assert errors.decode().splitlines()[1:] == [
        "ordain: the server went away: ConnectError [server_gone]"
    ]


def until_at_rest(server: Server, session: str) -> None:
    """Wait until no turn of the session is open, that of an order to stop included."""
    deadline = time.monotonic() + PATIENCE_S
    while server.http.get(f"/sessions/{session}").json()["openTurns"]:
        assert time.monotonic() < deadline, "a turn goes on"
        time.sleep(0.02)


def started(server: Server, *arguments: str) -> Command:
    """A chat that the test goes on beside."""
    command = ("chat", "--data-dir", str(server.home), *arguments)
    pipe = subprocess.PIPE
    return start_command(
        *command,
        environment={**os.environ, **server.environment},
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
