"""Storage that fails under a running server: nothing new is accepted, reads go on, nothing is lost,
and it recovers by itself.
"""

from __future__ import annotations

import json
import resource
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest

from ordain.runtime.brief import in_words
from ordain.runtime.reason_words import meanings
from tests.e2e.process import PATIENCE_S, Server
from tests.e2e.proposals import add, ask, finish, slow

NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
LONG_S = 2.0
"""How long a run is under way for whoever looks for it."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that finishes every plan at once."""
    with Server(tmp_path / "home").play({"planner": [add(), finish()]}) as started:
        yield started


def test_a_full_disk_refuses_intake_and_loses_nothing(server: Server) -> None:
    """While no file can grow, a plan is refused 503 storage_unavailable and finished runs are still
    read; with room again plans run.
    """
    first = server.http.post("/plan/react", json=ask("one", request_id="first")).json()
    assert first["status"] == "ok"
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    refused = server.http.post("/plan/react", json=ask("one", request_id="second"))
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert refused.headers["content-type"] == "application/problem+json"
    assert server.http.get(f"/runs/{first['run_id']}").json()["header"] == first["header"]
    assert server.http.get("/health").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
    assert (
        server.http.post("/plan/react", json=ask("one", request_id="second")).json()["status"]
        == "ok"
    )
    assert (
        server.http.post("/plan/react", json=ask("one", request_id="first")).json()["run_id"]
        == first["run_id"]
    )


def test_a_full_disk_is_not_ready(server: Server) -> None:
    """While no file can grow, /ready says that the storage takes no write; afterwards it is ready
    again.
    """
    assert server.http.get("/ready").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    seen = server.http.get("/ready")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
    assert (seen.status_code, seen.json()["checks"]["storage"]) == (503, False)
    assert server.http.get("/ready").status_code == 200


def test_a_read_only_folder_is_read_and_not_served(server: Server) -> None:
    """On storage that cannot be written, serving is refused as storage_unavailable, and finished
    runs are listed, shown and replayed.
    """
    first = server.plan(ask("one"))
    server.end()
    if subprocess.run(("unshare", "-rm", "true"), capture_output=True, check=False).returncode:
        pytest.skip(
            "this machine refuses mount namespaces (unshare -rm): a read-only folder is not "
            "shown here"
        )
    mounted = (
        f"mount --bind {server.home} {server.home} && mount -o remount,ro,bind {server.home} && "
    )

    def ordain(*commands: str) -> subprocess.CompletedProcess[str]:
        """One command after the other in one process, which begins only where the folder is
        read-only; the last one's exit code.
        """
        given = [[*command.split(), "--data-dir", str(server.home)] for command in commands]
        program = (
            f"import sys\nfrom ordain.cli import main\nfor one in {given}:\n    code = main(one)\n"
            "sys.exit(code)"
        )
        command = f"{mounted}{shlex.join((sys.executable, '-c', program))}"
        return subprocess.run(
            ("unshare", "-rm", "sh", "-c", command),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    refused = ordain("serve --port 0")
    assert (refused.returncode, "[storage_unavailable]" in refused.stderr) == (3, True), (
        refused.stderr
    )
    read = ordain("runs list --json", f"runs show {first['run_id']}", "replay --all")
    assert read.returncode == 0, read.stderr
    assert f'"{first["run_id"]}"' in read.stdout
    assert in_words(first["header"], meanings()) in read.stdout
    assert "1 of 1 runs replay equal" in read.stdout


def test_a_run_under_way_survives_a_full_disk(tmp_path: Path) -> None:
    """A run that is being driven when the disk fills up waits for room and then ends as if nothing
    had been, its verb called once.
    """
    answers: list[dict[str, object]] = []
    with Server(tmp_path / "home").play(
        {"planner": [slow(add(), round(LONG_S * 1000)), finish()]}
    ) as server:
        waiting = threading.Thread(
            target=lambda: answers.append(server.plan(ask("one", request_id="under way")))
        )
        waiting.start()
        server.until_some_run("running")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        waiting.join(LONG_S + 0.8)
        assert waiting.is_alive()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
        waiting.join(PATIENCE_S)
    (answer,) = answers
    assert (answer["status"], answer["usage"]["tools_called"]) == ("ok", ["math.evaluate"])


def test_a_disk_without_room_is_not_ready(tmp_path: Path) -> None:
    """On a full disk /ready says so although the log has room left in its own file, and says why;
    with room again it is ready.
    """
    if subprocess.run(("unshare", "-rm", "true"), capture_output=True, check=False).returncode:
        pytest.skip(
            "this machine refuses mount namespaces (unshare -rm): a full disk is not shown here"
        )
    home = tmp_path / "home"
    home.mkdir()
    mounted = (
        f"mount -t tmpfs -o size=16m none {home} && exec {sys.executable} -m ordain serve --port "
        f"0 --json --data-dir {home}"
    )
    with subprocess.Popen(
        ("unshare", "-rm", "sh", "-c", mounted), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        try:
            url = json.loads(
                "".join(
                    iter(
                        lambda: (
                            process.stdout.readline().decode().rstrip("\n")
                            if process.stdout
                            else ""
                        ),
                        "}",
                    )
                )
                + "}"
            )["url"]
            inside = Path(f"/proc/{process.pid}/root{home}")
            with httpx2.Client(
                base_url=url, timeout=PATIENCE_S, trust_env=False, verify=False
            ) as http:
                for number in range(20):
                    http.post(
                        "/verbs/execute",
                        json={
                            "verb_id": "math.evaluate",
                            "payload": {"expression": f"{number} + 1"},
                        },
                    ).raise_for_status()
                assert http.get("/ready").status_code == 200
                with suppress(OSError), (inside / "filler").open("wb", buffering=0) as filler:
                    while filler.write(bytes(4096)):
                        pass
                seen = http.get("/ready")
                assert (seen.status_code, seen.json()["checks"]["storage"]) == (503, False)
                assert "room" in seen.json()["detail"] or "full" in seen.json()["detail"]
                assert http.get("/health").status_code == 200
                (inside / "filler").unlink()
                assert http.get("/ready").status_code == 200
        finally:
            process.kill()


def test_a_log_that_is_taken_away_is_said_and_costs_nothing(server: Server) -> None:
    """Readiness goes, writes are refused, the log says it once, and after a restart every finished
    run is there.
    """
    first = server.plan(ask("one"))
    (server.home / "ordain.db-wal").unlink()
    seen = server.http.get("/ready")
    assert (seen.status_code, "ordain.db-wal" in seen.json()["detail"]) == (503, True)
    refused = server.http.post("/plan/react", json=ask("one", request_id="later"))
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert server.log().count("was saved into") == 1
    server.kill()
    server.start()
    assert server.http.get(f"/runs/{first['run_id']}").json()["header"] == first["header"]
    assert (
        server.http.post("/plan/react", json=ask("one", request_id="later")).json()["status"]
        == "ok"
    )


def test_who_holds_the_folder_is_said(server: Server) -> None:
    """A second server is refused with the process and the address of the first."""
    second = server.cli("serve", "--port", "0")
    assert second.returncode == 3
    assert (
        f"process {server.process.pid}, at http://127.0.0.1:{server.port}".encode() in second.stderr
    )
    assert b"[lock_held]" in second.stderr


def test_without_descriptors_callers_are_told(server: Server) -> None:
    """More connections than files may be opened: each is answered, 503 beyond what can be kept;
    when they have gone everything is as before.
    """
    held = server.http.get("/health")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (160, 4096))
    callers = [
        httpx2.Client(
            base_url=server.http.base_url, timeout=PATIENCE_S, trust_env=False, verify=False
        )
        for _ in range(100)
    ]
    try:
        answers = [caller.get("/health") for caller in callers]
        assert {answer.status_code for answer in answers} == {200, 503}
        assert {answer.json()["code"] for answer in answers if answer.status_code == 503} == {
            "too_many_connections"
        }
        assert server.http.get("/health").status_code == held.status_code
        assert server.plan(ask("one"))["status"] == "ok"
    finally:
        for caller in callers:
            caller.close()
    server.until_served()
    assert (
        httpx2.get(
            f"{server.http.base_url}/ready", timeout=PATIENCE_S, trust_env=False, verify=False
        ).status_code
        == 200
    )


def sent(
    server: Server, request: str, body: str = "", *, length: int | None = None, ended: bool = False
) -> socket.socket:
    """A connection on which this was sent, and nothing more is where it has ``ended`` its side."""
    line = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
    head = (
        f"{request} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length or len(body)}\r\n\r\n"
    )
    with suppress(ConnectionError):
        # it was told at once that there is no room, and what is sent after that is refused
        line.sendall((head + body).encode())
        if ended:
            line.shutdown(socket.SHUT_WR)
    return line


def answered(line: socket.socket) -> bytes:
    """How what a connection is told begins; nothing where it is reset."""
    with line, suppress(ConnectionError):
        return line.recv(12)
    return b""


def test_descriptors_are_kept_however_connections_are_used(server: Server) -> None:
    """Bodies that do not come to their end, more of them than files may be opened: whoever comes
    then is told, and the runs that go on have what they need.
    """
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (160, 4096))
    unfinished = [sent(server, "POST /messages", "{", length=100) for _ in range(200)]
    try:
        assert {answered(sent(server, "GET /health")) for _ in range(20)} == {b"HTTP/1.1 503"}
    finally:
        for line in unfinished:
            line.close()
    server.until_served()
    assert server.plan(ask("one"))["status"] == "ok"


def test_whoever_has_ended_its_side_and_waits_gives_way(tmp_path: Path) -> None:
    """More messages than files may be opened, whose model does not answer: everybody else is
    served, and nobody is asked for a token for want of files.
    """
    with socket.create_server(("127.0.0.1", 0), backlog=512) as model:
        model.settimeout(PATIENCE_S)
        address = f"http://127.0.0.1:{model.getsockname()[1]}/v1"
        text = (
            f'[models.default]\nprovider = "openai"\nmodel = "silent"\nbase_url = "{address}"\n'
            "context_tokens = 8192\n"
        )
        (tmp_path / "ordain.toml").write_text(text, encoding="utf-8")
        with Server(tmp_path) as server:
            resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (160, 4096))
            said = [
                json.dumps(
                    {"sessionId": f"s-{n}", "userId": "ada", "message": {"text": "What is tea?"}}
                )
                for n in range(200)
            ]
            waiting = [sent(server, "POST /messages", one, ended=True) for one in said]
            asked = [model.accept()[0] for _ in range(70)]
            statuses = [answered(sent(server, "GET /runs?limit=1")) for _ in range(20)]
            for line in (*waiting, *asked):
                line.close()
            assert set(statuses) == {b"HTTP/1.1 200"}


def test_an_emptied_database_is_refused(server: Server) -> None:
    """A database that lost its bytes is not begun anew: the server does not start, and says which
    file it is.
    """
    server.plan(ask("one"))
    server.stop()
    (server.home / "ordain.db").write_bytes(b"")
    again = server.cli("serve", "--port", "0")
    said = again.stderr.decode()
    assert (again.returncode, "[storage_lost]" in said, str(server.home / "ordain.db") in said) == (
        3,
        True,
        True,
    )


def test_a_store_is_compacted_where_nobody_serves_it(server: Server) -> None:
    """While it is served that is refused; afterwards it says what it takes and what became of
    it.
    """
    server.plan(ask("one"))
    refused = server.cli("store", "compact")
    assert (refused.returncode, b"[lock_held]" in refused.stderr) == (3, True)
    server.stop()
    done = server.cli("store", "compact")
    assert (done.returncode, b"compacting takes" in done.stdout, b"compacted:" in done.stdout) == (
        0,
        True,
        True,
    )


def test_a_server_that_may_open_too_few_files_does_not_begin(server: Server) -> None:
    """It says how many it takes and how to raise that."""
    server.stop()
    command = (
        f"ulimit -n 32 && exec {sys.executable} -m ordain serve --port 0 --data-dir {server.home}"
    )
    begun = subprocess.run(
        ("sh", "-c", command), capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert (
        begun.returncode,
        b"[too_few_descriptors]" in begun.stderr,
        b"ulimit -n" in begun.stderr,
    ) == (2, True, True)
