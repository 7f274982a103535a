"""What answers on the port of a data folder's server gets neither token nor words, unless it proves
that it is that server.
"""

from __future__ import annotations

import json
import os
import secrets
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import httpx2
import pytest

from ordain.cli.connection import running_server
from ordain.cli.places import ServerNote, read_note, write_note
from ordain.cli.proven import ProvenTransport
from ordain.contracts.proof import CHALLENGE_HEADER, PROOF_HEADER, is_proven, prove
from ordain.engines.clock import SystemClock
from ordain.errors import Transient
from ordain.runtime.tokens import fresh_token
from tests.e2e.process import Server, run_cli
from tests.e2e.proposals import add, ask, case, finish
from tests.loopback import QuietHandler

SCRIPT = {"cases": [case("simple", add("6 * 7"), finish("It is 42."))]}


class Impostor(QuietHandler):
    """Repeats what it once heard the server say, and writes down what it is told."""

    protocol_version = "HTTP/1.1"
    health: ClassVar[bytes] = b""
    proofs: ClassVar[tuple[str, ...]] = ()
    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.heard.append(f"{self.command} {self.path}\n{self.headers}{body}")
        said = (
            self.health
            if self.path == "/health"
            else json.dumps({"runs": [], "next": None}).encode()
        )
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        for proof in self.proofs:
            self.send_header(PROOF_HEADER, proof)
        self.end_headers()
        self.wfile.write(said)


@contextmanager
def impostor(port: int, health: bytes, *proofs: str) -> Iterator[list[str]]:
    """Somebody else, on a port that a server has left; gives what it is told."""
    handler = type("OneImpostor", (Impostor,), {"health": health, "proofs": proofs, "heard": []})
    with _Listener(("127.0.0.1", port), handler) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield handler.heard
        listening.shutdown()
        thread.join()


class _Listener(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


@pytest.fixture
def left(tmp_path: Path) -> tuple[Server, bytes, str]:
    """A folder whose server was killed, what it said of itself, and a proof that it once gave
    somebody.
    """
    with Server(tmp_path / "home").play(SCRIPT) as server:
        health = server.http.get("/health", headers={CHALLENGE_HEADER: "ab" * 32})
        server.kill()
        return server, health.content, health.headers[PROOF_HEADER]


@pytest.mark.parametrize("command", ["runs list", "plan {file} --json", "chat hello"])
def test_an_impostor_learns_nothing(
    left: tuple[Server, bytes, str], tmp_path: Path, command: str
) -> None:
    """It repeats ``instance``, and a proof of another challenge: no command sends it a token, or a
    word of what it is asked.
    """
    server, health, proof = left
    token, _ = fresh_token(SystemClock())
    (tmp_path / "request.json").write_text(json.dumps(ask("simple")), encoding="utf-8")
    with impostor(server.port, health, proof) as heard:
        done = run_cli(
            *command.format(file=tmp_path / "request.json").split(),
            home=server.home,
            environment={**server.environment, "ORDAIN_TOKEN": token},
        )
    assert heard
    assert {one.partition("\n")[0] for one in heard} == {"GET /health"}
    assert not any(
        word in one
        for one in heard
        for word in (token, "authorization", "Authorization", "simple", "hello")
    )
    if command.startswith("plan"):
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ok")


async def test_each_connection_is_proven(left: tuple[Server, bytes, str]) -> None:
    """Also the second, where the server was there for the first: who takes its port between two
    learns nothing.
    """
    server, health, _ = left
    server.start()
    note = read_note(server.home)
    assert note is not None
    port = server.port
    transport = ProvenTransport(lambda: note.proof, 10)
    async with httpx2.AsyncClient(
        base_url=note.url, transport=transport, headers={"Authorization": "Bearer x"}
    ) as http:
        assert (await http.get("/runs", headers={"Connection": "close"})).status_code in {200, 401}
        server.kill()
        with impostor(port, health) as heard:
            with pytest.raises(Transient) as refused:
                await http.post("/plan/react", json=ask("simple"))
            assert refused.value.code == "server_unproven"
            assert len(heard) == 1
            assert heard[0].startswith("GET /health")
            assert "Bearer" not in heard[0]
        with pytest.raises(httpx2.ConnectError):
            await http.get("/runs")


@pytest.mark.parametrize("key", ["", "0" * 64])
async def test_a_note_without_the_key_is_not_believed(tmp_path: Path, key: str) -> None:
    """A server whose note holds no key, or another one, is not spoken to; the one that holds it
    is.
    """
    with Server(tmp_path) as server:
        note = read_note(server.home)
        assert note is not None
        assert await running_server(tmp_path) == note
        write_note(tmp_path, replace(note, proof=key))
        assert await running_server(tmp_path) is None


def test_a_proof_is_of_one_challenge_and_one_key() -> None:
    """It fits neither another challenge nor another key; nothing is said to what is no challenge;
    the key itself is never sent.
    """
    key, challenge = secrets.token_hex(32), secrets.token_hex(32)
    proof = prove(key, challenge)
    assert proof is not None
    assert is_proven(key, challenge, proof)
    assert key not in proof
    assert not is_proven(key, secrets.token_hex(32), proof)
    assert not is_proven(secrets.token_hex(32), challenge, proof)
    assert not is_proven("", challenge, proof)
    assert [prove(key, one) for one in ("", "ab", challenge.upper() + "g", challenge + "\n")] == [
        None
    ] * 4


def test_the_note_is_its_owners(tmp_path: Path) -> None:
    """The key stands in a file that nobody else can read, and in nothing that the server says or
    logs.
    """
    with Server(tmp_path) as server:
        note = read_note(tmp_path)
        assert note is not None
        assert (tmp_path / "server.json").stat().st_mode & 0o077 == 0
        said = server.http.get("/health", headers={CHALLENGE_HEADER: "ab" * 32})
        assert is_proven(note.proof, "ab" * 32, said.headers[PROOF_HEADER])
        assert PROOF_HEADER not in server.http.get("/health").headers
        assert note.proof not in said.text + str(said.headers) + server.log() + repr(note)


def test_a_note_that_somebody_else_may_have_written_is_none(tmp_path: Path) -> None:
    """In a folder of many, where nobody's file is replaced by others: another user's, one that
    others may write, a link, a pipe; whoever owns the folder is believed.
    """
    written = ServerNote(url="http://127.0.0.1:1", pid=1, instance="i", proof="p")
    write_note(tmp_path, written)
    file = tmp_path / "server.json"
    assert read_note(tmp_path) == written
    file.chmod(0o622)
    assert read_note(tmp_path) is None
    file.chmod(0o600)
    if os.geteuid() == 0:
        os.chown(file, 65_533, -1)
        assert read_note(tmp_path) is None
        os.chown(tmp_path, 65_533, -1)
        assert read_note(tmp_path) == written
    file.rename(tmp_path / "moved")
    file.symlink_to(tmp_path / "moved")
    assert read_note(tmp_path) is None
    file.unlink()
    os.mkfifo(file)
    assert read_note(tmp_path) is None
