"""``ordain chat --url``: a server somewhere else, by its address and a token."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from ordain.engines.clock import SystemClock
from ordain.runtime.tokens import fresh_token
from tests.e2e.process import Server, run_cli
from tests.integration.cli.chat_script import play
from tests.integration.cli.terminal import chatting
from tests.loopback import QuietHandler, QuietServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that demands a token of everybody."""
    home = tmp_path / "there"
    environment = play(home)
    (home / "ordain.toml").write_text("[server]\nrequire_token = true\n", encoding="utf-8")
    with Server(home, environment=environment) as server:
        yield server


@pytest.fixture
def token(server: Server, tmp_path: Path) -> Path:
    """A token of it that may talk, in a file."""
    made = json.loads(server.cli("token", "create", "laptop", "--scope", "chat", "--json").stdout)
    file = tmp_path / "token"
    file.write_text(made["token"] + "\n", encoding="utf-8")
    file.chmod(0o600)
    return file


def url(server: Server) -> str:
    """Its address."""
    return str(server.http.base_url)


def test_words_are_sent_elsewhere(server: Server, token: Path, tmp_path: Path) -> None:
    """With the token of a file or of the environment; no folder is made here, and the principal is
    the token's.
    """
    here = tmp_path / "here"
    for more, environment in (
        (("--token-file", str(token)), {}),
        ((), {"ORDAIN_TOKEN": token.read_text().strip()}),
    ):
        done = run_cli(
            "chat", "--url", url(server), *more, "hello", home=here, environment=environment
        )
        assert (done.returncode, b"Hello to you." in done.stdout) == (0, True), done.stderr
    assert not here.exists()
    runs = json.loads(server.cli("runs", "list", "--json").stdout)["runs"]
    assert {run["principal"] for run in runs} == {"token:laptop"}


@pytest.mark.parametrize("end", ["/v1", "/v1/"])
def test_the_address_of_openais_clients_is_a_servers(
    server: Server, token: Path, tmp_path: Path, end: str
) -> None:
    """What is copied from there, which ends in /v1, is the address of the same server."""
    done = run_cli(
        "chat",
        "--url",
        url(server).rstrip("/") + end,
        "--token-file",
        str(token),
        "hello",
        home=tmp_path / "here",
        environment={},
    )
    assert (done.returncode, b"Hello to you." in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_no_proxy_is_asked_for_this_machine(
    server: Server, token: Path, tmp_path: Path, name: str
) -> None:
    """Whatever the environment says of proxies: none of them is sent the token or a word that goes
    to this machine.
    """
    heard = list[str]()
    with stranger(heard) as proxy:
        environment = {name: proxy, "NO_PROXY": "", "no_proxy": ""}
        done = run_cli(
            "chat",
            "--url",
            url(server),
            "--token-file",
            str(token),
            "hello",
            home=tmp_path / "here",
            environment=environment,
        )
    assert (done.returncode, heard) == (0, []), done.stderr


def test_a_terminal_talks_to_a_server_elsewhere(
    server: Server, token: Path, tmp_path: Path
) -> None:
    """As it does to one here: an answer as it is written, then the reply, and the session is taken
    up again.
    """
    arguments = ("--url", url(server), "--token-file", str(token))
    for session in ((), ("--session", "last")):
        with chatting(None, *arguments, *session, ORDAIN_HOME=str(tmp_path / "here")) as terminal:
            terminal.until("/help")
            terminal.type("hello")
            terminal.until_answered("Hello to you.")
            terminal.type("\x04", enter=False)
            assert terminal.end() == 0
    assert not (tmp_path / "here").exists()


def test_without_a_good_token_nothing_is_said(server: Server, tmp_path: Path) -> None:
    """The server's refusal is one line."""
    other, _ = fresh_token(SystemClock())
    for environment in ({}, {"ORDAIN_TOKEN": other}):
        done = run_cli(
            "chat", "--url", url(server), "hello", home=tmp_path / "here", environment=environment
        )
        assert (done.returncode, done.stdout) == (2, b"")
        (told,) = done.stderr.decode().splitlines()
        assert told.endswith("[unauthenticated]")


def test_a_token_that_lacks_something_is_wrong_as_one_that_is_not_good_is(
    server: Server, token: Path, tmp_path: Path
) -> None:
    """Revoked, without the scope, or of another workspace: exit code 2 of each, and nothing is
    said.
    """
    bare = json.loads(
        server.cli("token", "create", "watch", "--scope", "metrics", "--json").stdout
    )["token"]
    afar = json.loads(
        server.cli(
            "token", "create", "afar", "--scope", "chat", "--workspace", "other", "--json"
        ).stdout
    )["token"]
    assert server.cli("token", "revoke", "laptop").returncode == 0
    for secret, code in (
        (token.read_text().strip(), "unauthenticated"),
        (bare, "forbidden"),
        (afar, "forbidden"),
    ):
        done = run_cli(
            "chat",
            "--url",
            url(server),
            "hello",
            home=tmp_path / "here",
            environment={"ORDAIN_TOKEN": secret},
        )
        assert (done.returncode, done.stdout) == (2, b""), code
        assert done.stderr.decode().strip().endswith(f"[{code}]")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--url", "http://203.0.113.7:8090"), "token_in_clear"),
        (("--url", "ftp://203.0.113.7"), "invalid_url"),
        (("--url", "https://ada:secret@203.0.113.7"), "invalid_url"),
        (("--url", "https://203.0.113.7/?token=x"), "invalid_url"),
        (("--url", "nonsense"), "invalid_url"),
        (("--url", "http://127.0.0.1:9", "--data-dir", "here"), "usage"),
        (("--token-file", "none"), "usage"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, arguments: Sequence[str], code: str
) -> None:
    """Before anything is sent: a token never goes over the net for everybody to read."""
    own, _ = fresh_token(SystemClock())
    done = run_cli(
        "chat", *arguments, "hello", home=tmp_path / "here", environment={"ORDAIN_TOKEN": own}
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines()[-1].endswith(f"[{code}]")


@contextmanager
def stranger(heard: list[str]) -> Iterator[str]:
    """A web server that is no Ordain; what it was sent."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.requestline}\n{self.headers}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html>welcome</html>")

    web = QuietServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=web.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{web.server_port}"
    finally:
        web.shutdown()
        web.server_close()


def test_a_stranger_learns_nothing(tmp_path: Path) -> None:
    """Whoever answers there and is no Ordain is sent no token, and no word."""
    own, heard = fresh_token(SystemClock())[0], list[str]()
    with stranger(heard) as address:
        done = run_cli(
            "chat",
            "--url",
            address,
            "hello",
            home=tmp_path / "here",
            environment={"ORDAIN_TOKEN": own},
        )
    assert (
        done.returncode,
        done.stderr.decode().splitlines()[-1].endswith("is no Ordain [server_gone]"),
    ) == (3, True)
    assert [one.partition(" HTTP")[0] for one in heard] == ["GET /health"]
    assert not any(own in one or "hello" in one for one in heard)
