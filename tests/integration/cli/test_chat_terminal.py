"""``ordain chat`` at a terminal: what is typed while a turn runs, what stands on the screen, and
how it is left.
"""

import json
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ordain.cli.places import ServerNote, write_note
from ordain.cli.screen import WITHIN
from ordain.rules.plain_reply import QUOTE
from tests.e2e.process import Server, fixed_port
from tests.integration.cli.chat_script import BRIEF, play
from tests.integration.cli.terminal import Terminal, chatting
from tests.shapes.pictures import PNG

AGENT = ("--mode", "agent", "--verb", "math.evaluate", "--verb", "ask_user")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A data folder."""
    return tmp_path / "home"


@pytest.fixture
def agent(home: Path) -> Iterator[Terminal]:
    """A chat in mode agent that has asked for long work, whose first step is done."""
    with chatting(home, *AGENT, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("long work")
        terminal.until("→ step 1: math.evaluate")
        yield terminal


def below(terminal: Terminal, words: str) -> list[str]:
    """The lines below the last one with these words."""
    lines = terminal.screen.lines
    at = max(index for index, line in enumerate(lines) if words in line)
    return lines[at + 1 :]


def leave(terminal: Terminal) -> None:
    """Ctrl-D, and all is well."""
    terminal.type("\x04", enter=False)
    assert terminal.end() == 0


def said_in(home: Path) -> list[tuple[str, str]]:
    """What people said there, oldest first, and in which session."""
    with closing(sqlite3.connect(home / "ordain.db")) as db:
        found = db.execute(
            "SELECT s.id, t.body FROM transcript t JOIN sessions s ON s.no = t.session WHERE "
            "t.kind = 'message' ORDER BY t.seq"
        ).fetchall()
    return [(session, json.loads(body)["text"]) for session, body in found]


def test_header_then_answer(home: Path) -> None:
    """Text comes piece by piece under the header so far; at last the reply stands there once:
    header, empty line, narrative, prompt.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("typed slowly")
        partial = terminal.until("One word after")
        assert partial.index("· in progress · ") < partial.index("One word after")
        assert not partial.endswith("to the screen. ")
        terminal.until("✓ scripted · no tool · ")
        whole = terminal.until_prompt("chat >")
        assert "in progress" not in whole
        lines = [line for line in below(terminal, "chat > typed slowly") if line]
        assert BRIEF.fullmatch(lines[0])
        said = " ".join(line.removeprefix("> ") for line in lines if line.startswith("> "))
        assert said == ("One word after the other comes to the screen. " * 4).strip()
        assert lines[-1] == "chat >"
        terminal.type("/why")
        terminal.until("✓ ok · ordain run ")
        leave(terminal)
        assert "what runs goes on" not in terminal.screen.text


def test_a_nudge_is_answered_while_the_turn_runs(agent: Terminal) -> None:
    """/status is answered from the journal at once; the turn goes on."""
    agent.type("/status")
    shown = agent.until("status@2 · completed")
    assert "at work for" in agent.until("at work for")
    assert "math.evaluate" in shown
    agent.until_prompt("agent:math.evaluate+ask_user >")
    assert "“long work”" in agent.screen.lines[-2]
    leave(agent)


def test_an_override_is_typed_while_the_turn_runs(agent: Terminal) -> None:
    """A message that orders something else interrupts the turn; both replies stand there, each
    under the message it answers.
    """
    agent.type("no, compute the short instead")
    agent.until_answered("The short one is done.")
    assert "re “long work”" in agent.screen.text
    assert "re “no, compute the short instead”" in agent.screen.text
    assert "(interrupted)" in agent.screen.text
    leave(agent)
    assert "goes on" not in agent.screen.lines[-1]


def test_stop_is_anchored_and_code_decides(agent: Terminal) -> None:
    """/stop interrupts what runs; where nothing runs nothing follows, and it is said so."""
    agent.type("/stop")
    agent.until(" · ordain run ")
    agent.until("status@2 · completed")
    agent.type("/stop")
    agent.until("(nothing follows from that: filler, attach.nothing_to_stop)")
    leave(agent)


def test_ctrl_c_stops_then_leaves(agent: Terminal) -> None:
    """Ctrl-C while a turn runs is /stop; once nothing runs it leaves with exit code 0."""
    agent.type("\x03", enter=False)
    agent.until("agent:math.evaluate+ask_user > stop")
    agent.until("status@2 · completed")
    agent.type("\x03", enter=False)
    assert agent.end() == 0


def test_a_pasted_block_is_one_message(home: Path) -> None:
    """Its lines are typed, not sent one by one; nothing in it is a key or commands, and what is not
    seen is drawn by its number.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.paste("hello\r\nsecond\x03 line\rthird\u202e\x1b[2Jx\ty")
        terminal.until("third[U+202E]x    y")
        assert below(terminal, "/help lists") == [
            "",
            "chat > hello",
            "second␃ line",
            "third[U+202E]x    y",
        ]
        terminal.type("")
        terminal.until_answered("Hello to you.")
        assert below(terminal, "/help lists")[1:4] == [
            "chat > hello",
            "second␃ line",
            "third[U+202E]x    y",
        ]
        assert sum("✓ scripted" in line for line in terminal.screen.lines) == 1
        terminal.type("\x1b\r", enter=False)
        terminal.type("\x04", enter=False)
        terminal.type("\x03\x04", enter=False)
        assert terminal.end() == 0


def test_ctrl_c_clears_what_is_typed_first(home: Path) -> None:
    """Then it leaves; nothing was sent."""
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("hello", enter=False)
        terminal.until_prompt("chat > hello")
        terminal.type("\x03", enter=False)
        terminal.until_prompt("chat >")
        os.kill(terminal.process.pid, signal.SIGINT)
        assert terminal.end() == 0
        assert "Hello to you." not in terminal.screen.text


@pytest.mark.parametrize(
    ("typed", "made"),
    [
        ("/mod", "/mode"),
        ("/mode co", "/mode council"),
        ("/verb math.e", "/verb math.evaluate"),
        ("/verb math.evaluate math.e", "/verb math.evaluate math.e"),
        ("/session tele", "/session telegram:1"),
        ("hel", "hel"),
        ("//mod", "//mod"),
    ],
)
def test_tab_completes(home: Path, typed: str, made: str) -> None:
    """Commands, modes, verbs and sessions; of a message nothing."""
    with Server(home, environment=play(home)) as server, chatting(home, **play(home)) as terminal:
        body = {"sessionId": "telegram:1", "userId": "eve", "message": {"text": "hello"}}
        assert server.http.post("/messages", json=body).status_code == 200
        terminal.until("/help")
        terminal.type(f"{typed}\t", enter=False)
        terminal.until_prompt(f"chat > {made}")
        terminal.type("\x03\x04", enter=False)
        assert terminal.end() == 0


def test_tab_offers_what_is_possible(home: Path) -> None:
    """Several commands stand below the line with what they do; Tab goes through them, and Enter
    takes one.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("/s\t", enter=False)
        assert "/session  show this session, or go to another" in terminal.until("/status")
        terminal.type("\t\t\t", enter=False)
        terminal.until("chat > /session")
        terminal.type("")
        terminal.until("(session cli:")
        leave(terminal)


def test_what_was_said_before_is_found(home: Path) -> None:
    """Ctrl-R looks for it, the arrows go through it; also in a chat that takes a session up
    again.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        for text, answer in (("hello one", "Hello to you."), ("escape two", "[U+202E]reversed")):
            terminal.type(text)
            terminal.until_answered(answer)
        terminal.type("\x1b[A\x1b[A", enter=False)
        terminal.until_prompt("chat > hello one")
        terminal.type("\x03\x04", enter=False)
        assert terminal.end() == 0
    with chatting(home, "--session", "last", **play(home)) as terminal:
        terminal.until_answered("[U+202E]reversed")
        terminal.type("\x12one", enter=False)
        assert terminal.until("I-search backward: one")
        terminal.type("\r", enter=False)
        terminal.until_prompt("chat > hello one")
        terminal.type("\x03\x04", enter=False)
        assert terminal.end() == 0


def test_leaving_says_what_goes_on(agent: Terminal, home: Path) -> None:
    """A turn that still runs when the user leaves is named, with the session to come back to."""
    leave(agent)
    last = "".join(agent.screen.lines).rpartition("session cli:")[2]
    assert f"; what runs goes on with the next `ordain serve --data-dir {home}` or" in last


def test_a_session_is_taken_up_again(home: Path) -> None:
    """With --session last the next chat shows what was said, an open question included, and answers
    it; /retry sends the last request again.
    """
    with chatting(home, *AGENT, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("which town")
        terminal.until("(expects location)")
        leave(terminal)
    with chatting(home, *AGENT, "--session", "last", **play(home)) as terminal:
        terminal.until("Which city is it?")
        terminal.type("Berlin")
        terminal.until_answered("Noted.")
        terminal.type("/retry")
        terminal.until("agent:math.evaluate+ask_user > which town")
        leave(terminal)


def test_commands(home: Path) -> None:
    """Commands answer on the screen and send nothing; a wrong one says so; two slashes begin a
    text.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        for typed, seen in (
            ("/help", "/quit"),
            ("/bogus", "/bogus is no command"),
            ("/aprove", "did you mean /approve?"),
            ("/verb math.evalute", "did you mean math.evaluate?"),
            ("/verb", "(no verb named: each mode has its own)"),
            ("/mode agent", "agent >"),
            ("/mode cortex", "the modes are chat, agent, council"),
            ("/verb math.evaluate", "agent:math.evaluate >"),
            ("/verb -", "(no verb named: each mode has its own)"),
            ("/mode brain", "(mode chat)"),
            ("/session", "(session cli:"),
            ("/threads", "[session_not_found]"),
            ("/retry", "(there is no request to send again)"),
            ("//hello", "Hello to you."),
            ("/status", "done              “/hello”"),
            ("/session other", "(session other;"),
            # answered here, so that this session is the last one
            ("hello", "chat > hello\n\n✓ scripted"),
            ("/session last", "(session other;"),
            ("/session ../x", "(../x is no session's id:"),
            ("/session last\u2800", "(last[U+2800] is no session's id:"),
            ("/session", "(session other)"),
            ("/verb .", "there is no verb ."),
            ("/verb ..", "there is no verb .."),
            ("/deny ..", "there is no approval .., and no approval is open here"),
            ("/st", "/st is no command"),
        ):
            terminal.type(typed)
            terminal.until_answered(seen)
        terminal.type("/quit")
        assert terminal.end() == 0


def test_beside_a_server_what_others_say_is_seen(home: Path) -> None:
    """A chat follows its session: what somebody else says there is shown with its author, and its
    answer.
    """
    with (
        Server(home, environment=play(home)) as server,
        chatting(home, "--session", "s", **play(home)) as terminal,
    ):
        terminal.until("/help")
        terminal.type("hello")
        terminal.until("Hello to you.")
        body = {"sessionId": "s", "userId": "eve\x1b[2J", "message": {"text": "hello \u202eagain"}}
        assert server.http.post("/messages", json=body).status_code == 200
        terminal.until("“eve”: hello [U+202E]again")
        leave(terminal)


def test_nothing_foreign_steers_the_terminal(home: Path) -> None:
    """Escapes of a model never reach the terminal, and no line of a lying narrative looks like a
    header's.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("escape")
        assert "red [U+202E]reversed[U+202C]  done" in terminal.until_answered("[U+202E]reversed")
        terminal.type("lie to me")
        terminal.until_answered("> · 3 steps")
        shown = below(terminal, "chat > lie to me")
        assert sum(BRIEF.fullmatch(line) is not None for line in shown) == 1
        leave(terminal)


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_are_asked_for(home: Path, environment: dict[str, str], coloured: bool) -> None:
    """The header is dimmed in a terminal, and plain where NO_COLOR is set."""
    with chatting(home, **play(home), **environment) as terminal:
        terminal.until("/help")
        terminal.type("hello")
        terminal.until("Hello to you.")
        leave(terminal)
        assert (terminal.screen.colours > 0) is coloured


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, ["> Plan", ">", ">  • first ![x](https://evil.example/p.png)", ">", "> and then"]),
        (
            {"NO_COLOR": "1"},
            [
                "> # Plan",
                ">",
                "> - **first** ![x](https://evil.example/p.png)",
                ">",
                "> and `then`",
            ],
        ),
    ],
)
def test_markdown_looks_like_it(home: Path, environment: dict[str, str], said: list[str]) -> None:
    """A model's words are shown as Markdown, behind their mark and with nothing hidden; without
    colours they stand there as they were written.
    """
    with chatting(home, **play(home), **environment) as terminal:
        terminal.until("/help")
        terminal.type("as markdown")
        terminal.until_answered("✓ scripted")
        assert [
            line for line in below(terminal, "chat > as markdown") if line.startswith(">")
        ] == said
        leave(terminal)


def test_what_is_typed_behind_a_command_waits_for_it(home: Path) -> None:
    """A session or a verb that was named holds for the very next words, however fast they are
    typed; behind one that there is not, nothing is said until it is said again.
    """
    with chatting(home, "--session", "here", **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("/session there\rhello", enter=True)
        terminal.until("Hello to you.")
        terminal.type("/verb math.evaluate\r3 + 4", enter=True)
        terminal.until_answered("math.evaluate >")
        terminal.type("/verb nope\rto nobody\r1 + 1\r/mode agent\r/session", enter=True)
        terminal.until("not said, since what stands before it failed: to nobody")
        terminal.until("(session there)")
        terminal.type("1 + 1")
        terminal.until_answered('"result":"2"')
        terminal.type("\x04", enter=False)
        assert terminal.end() == 3
        shown = [line for line in terminal.screen.lines if line.startswith("not delivered: ")]
        assert shown == ["not delivered: “to nobody”", "not delivered: “/mode agent”"]
    assert said_in(home) == [("there", "hello"), ("there", "3 + 4"), ("there", "1 + 1")]


def test_whoever_leaves_behind_a_command_that_fails_has_left(home: Path) -> None:
    """Of what was typed behind it nothing is thrown away without a word, also where it was the
    server that had gone; behind /quit nothing is said.
    """
    with chatting(home, "--session", "here", **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("/verb nope\rto nobody\r/quit\rto nobody either", enter=True)
        assert terminal.end() == 3
        told = [line for line in terminal.screen.lines if line.startswith("not delivered: ")]
        assert told == ["not delivered: “to nobody”", "not delivered: “to nobody either”"]
    with (
        Server(home, environment=play(home)) as server,
        chatting(home, "--session", "s", **play(home)) as terminal,
    ):
        terminal.until("/help")
        server.kill()
        terminal.type("/session there\rto nobody\r/quit", enter=True)
        assert terminal.end() == 3
        assert [line for line in terminal.screen.lines if line.startswith("not delivered: ")] == [
            "not delivered: “to nobody”"
        ]
    assert said_in(home) == []


def test_a_name_is_looked_for_as_it_was_typed(home: Path) -> None:
    """What is not seen in it makes it another one, which is drawn so and refused; the session
    stays, and what is said has what was typed.
    """
    with chatting(home, "--session", "here", **play(home)) as terminal:
        terminal.until("/help")
        terminal.paste("/session ad\U000e0041min")
        terminal.until("/session ad[U+E0041]min")
        terminal.type("")
        terminal.until("(ad[U+E0041]min is no session's id")
        terminal.paste("hello\u200b there")
        terminal.until("hello[U+200B] there")
        terminal.type("\x7f" * 6, enter=False)  # the cursor stands where it is drawn
        terminal.until_prompt("chat > hello[U+200B]")
        terminal.type("")
        terminal.until_answered("Hello to you.")
        leave(terminal)
    assert said_in(home) == [("here", "hello\u200b")]


def test_a_dumb_terminal_gets_lines(home: Path) -> None:
    """TERM=dumb is spoken to in plain lines: no sequence at all is written."""
    with chatting(home, **play(home), TERM="dumb") as terminal:
        terminal.until("session cli:")
        terminal.type("hello")
        terminal.until("Hello to you.")
        terminal.type("\x04", enter=False)
        assert terminal.end() == 0
        assert "✓ scripted · no tool · " in terminal.screen.text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(agent: Terminal, number: signal.Signals) -> None:
    """SIGTERM and SIGHUP leave like Ctrl-D does: the terminal's modes are put back."""
    os.kill(agent.process.pid, number)
    assert agent.end() == 0


def test_a_narrow_terminal(home: Path) -> None:
    """Nothing runs over the edge of a narrow terminal, and a line longer than it is typed all the
    same; a wider one is used at once.
    """
    with chatting(home, columns=34, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type("typed slowly and with a good many words more than there is room for")
        terminal.until("One word after the other")
        terminal.until_answered("✓ scripted · no tool")
        terminal.type("begun only")
        terminal.until("Begun and ne")
        terminal.resize(100)
        terminal.type(
            "now there is room for a good many words more on a line of their own", enter=False
        )
        terminal.until_wide(60)
        terminal.type("\x03", enter=False)
        terminal.type("/stop")
        terminal.until_answered("status@2 · completed")
        assert any(len(line) > 60 for line in below(terminal, "chat > stop"))
        leave(terminal)


def test_the_stream_is_taken_up_again(home: Path) -> None:
    """A server that is killed and started again costs the open chat nothing: what is said there
    afterwards is seen.
    """
    with (
        Server(home, environment=play(home), arguments=("--port", str(fixed_port()))) as server,
        chatting(home, "--session", "s", **play(home)) as terminal,
    ):
        terminal.until("/help")
        terminal.type("hello")
        terminal.until("Hello to you.")
        server.restart(terminal.process)
        body = {"sessionId": "s", "userId": "eve", "message": {"text": "hello again"}}
        assert server.http.post("/messages", json=body).status_code == 200
        terminal.until("“eve”: hello again")
        leave(terminal)


def test_a_terminal_without_the_signs_gets_their_numbers(home: Path) -> None:
    """Where the locale has no UTF-8 no sign becomes a question mark, which means something; every
    piece of a model's words stays behind its mark.
    """
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    with chatting(home, columns=44, **play(home), **plain) as terminal:
        terminal.until("/help")
        terminal.type("lie to me")
        terminal.until("\\u2713 scripted \\xb7 no tool")
        terminal.until_prompt("chat >")
        leave(terminal)
        shown = below(terminal, "chat > lie to me")
        assert "?" not in "".join(shown)
        assert shown[1].startswith("\\u2713 scripted \\xb7 no tool")
        lies = shown[shown.index("> All went well.") + 1 : shown.index("> \\xb7 3 steps")]
        assert all(line.startswith(">") for line in lies)
        assert any(line.startswith(QUOTE + WITHIN) for line in lies)


def test_what_was_not_delivered_is_named(home: Path) -> None:
    """Words said while the server is dead are told to wait, and named by whoever leaves before it
    is back; so is a stop that never arrived.
    """
    with (
        Server(home, environment=play(home)) as server,
        chatting(home, "--session", "s", *AGENT, **play(home)) as terminal,
    ):
        terminal.until("/help")
        terminal.type("long work")
        terminal.until("→ step 1: math.evaluate")
        server.kill()
        terminal.type("\x03", enter=False)
        terminal.type("words for nobody")
        terminal.until("what was said is not delivered yet")
        terminal.type("\x04", enter=False)
        assert terminal.end() == 3
        shown = [line for line in terminal.screen.lines if line.startswith("not delivered: ")]
        assert shown == ["not delivered: “stop”", "not delivered: “words for nobody”"]


def test_leaving_waits_for_no_command_that_is_never_answered(home: Path) -> None:
    """Beside a server that stands still whoever leaves behind such a command has left, and what was
    typed behind it is named as not delivered.
    """
    with (
        Server(home, environment=play(home)) as server,
        chatting(home, "--session", "s", **play(home)) as terminal,
    ):
        terminal.until("/help")
        server.process.send_signal(signal.SIGSTOP)
        try:
            terminal.type("/session there")
            terminal.type("words for nobody")
            terminal.type("\x04", enter=False)
            assert terminal.end() == 3
        finally:
            server.process.send_signal(signal.SIGCONT)
        assert [line for line in terminal.screen.lines if line.startswith("not delivered: ")] == [
            "not delivered: “words for nobody”"
        ]


def test_what_was_said_while_the_server_was_away_is_sent_again(home: Path) -> None:
    """However long it was: each message once and in its order, and what arrives late is told."""
    with (
        Server(home, environment=play(home), arguments=("--port", str(fixed_port()))) as server,
        chatting(home, "--session", "s", **play(home)) as terminal,
    ):
        terminal.until("/help")
        terminal.type("hello")
        terminal.until_answered("Hello to you.")
        server.kill()
        terminal.type("hello first")
        terminal.type("hello second")
        terminal.until("what was said is not delivered yet")
        server.start()
        terminal.until("(delivered: “hello first”)")
        terminal.until("(delivered: “hello second”)")
        entries = server.http.get("/sessions/s/messages").json()["entries"]
        assert [one["text"] for one in entries if one["event"] == "message"] == [
            "hello",
            "hello first",
            "hello second",
        ]
        leave(terminal)


@pytest.fixture
def silent(home: Path) -> Iterator[None]:
    """The folder's note names a server that does not answer: the chat waits for it a while, and
    then is one itself.
    """
    with Server(home) as server:
        server.stop()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        write_note(
            home,
            ServerNote(
                url=f"http://127.0.0.1:{listener.getsockname()[1]}",
                pid=os.getpid(),
                instance="i",
                proof="p",
            ),
        )
        yield


@pytest.mark.usefixtures("silent")
def test_what_is_typed_before_anybody_listens_is_said(home: Path) -> None:
    """The prompt is there before a server is: what is typed at it waits in sight, is said in its
    order, and commands among it do what they do.
    """
    with chatting(home, **play(home)) as terminal:
        terminal.until_prompt("chat >")
        terminal.type("hello first")
        terminal.until("chat > hello first\nchat >")
        assert "/help lists" not in terminal.screen.text
        terminal.type("/mode agent")
        terminal.type("hello second")
        terminal.until("agent > hello second")
        terminal.until("/help lists")
        leave(terminal)
    assert [text for _, text in said_in(home)] == ["hello first", "hello second"]


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize(("typed", "code"), [("", 0), ("hello", 3)])
def test_who_leaves_before_anybody_listens_is_told_what_was_not_said(
    home: Path, typed: str, code: int
) -> None:
    """Ctrl-D ends it at once; nothing was said, and of what was typed that is told."""
    with chatting(home, **play(home)) as terminal:
        terminal.until_prompt("chat >")
        if typed:
            terminal.type(typed)
            terminal.until("chat > hello\nchat >")
        terminal.type("\x04", enter=False)
        assert terminal.end() == code
        assert ("not delivered: “hello”" in terminal.screen.text) is bool(typed)
        assert "/help lists" not in terminal.screen.text


def test_what_cannot_begin_leaves_the_terminal_as_it_was(home: Path) -> None:
    """A refusal before the first message is one line and its exit code."""
    with chatting(home, "--workspace", "Not One", columns=400, **play(home)) as terminal:
        assert terminal.end() == 2
        assert "ordain: " in terminal.screen.text


def test_what_was_refused_with_its_file_can_be_said_again(home: Path, tmp_path: Path) -> None:
    """A file that lies is told of when it is attached, and nothing is attached; a message that is
    refused for one that no model sees is not lost: /retry says it without that.
    """
    (tmp_path / "lie.txt").write_bytes(PNG)
    (tmp_path / "roof.png").write_bytes(PNG)
    with chatting(home, **play(home)) as terminal:
        terminal.until("/help")
        terminal.type(f"/attach {tmp_path / 'lie.txt'}")
        terminal.until("[attachment_unlike]")
        terminal.type(f"/attach {tmp_path / 'roof.png'}")
        terminal.until("roof.png goes with the next message (1 file)")
        terminal.type("hello one")
        terminal.until("[attachment_unread]")
        terminal.type("/retry")
        terminal.until("Hello to you.")
        leave(terminal)
    assert [text for _, text in said_in(home)] == ["hello one"]
