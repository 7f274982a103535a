"""The server as a process: killed, resumed, drained, refused; and the offline default."""

import json
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx2
import pytest

from ordain.cli.server import SWITCH_S
from tests.e2e.process import PATIENCE_S, Server, run_cli
from tests.e2e.proposals import add, ask, case, finish, seed, slow
from tests.shapes.stored_journal import journal_of

SLOW = {
    "cases": [
        case("slow", add("1 + 1"), slow(add("2 + 2"), 400), finish("Four.")),
        case("simple", finish("Fine.")),
    ]
}
HANGING = {
    "cases": [
        case("slow", add("1 + 1"), slow(add("2 + 2"), 60_000), finish("Four.")),
        case("simple", finish("Fine.")),
    ]
}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Server]:
    """A server that a test starts, kills and stops as it likes, and that ends with the test."""
    server = Server(tmp_path)
    yield server
    server.end()


def begin(server: Server, name: str) -> str:
    return server.http.post(
        "/plan/react", json=ask(name, request_id=name), headers={"Prefer": "respond-async"}
    ).json()["run_id"]


def test_a_killed_run_goes_on_and_replays_equal(house: Server) -> None:
    """After kill -9 in the middle of a model call the run is resumed, repeats no observed verb
    call, and replays equal.
    """
    server = house.play(HANGING).start()
    run = begin(server, "slow")
    server.until_recorded(run, "observation", "verb_call")
    server.kill()
    with server.play(SLOW) as again:
        body = again.plan(ask("slow", request_id="slow"))
        assert (body["run_id"], body["status"], body["final_answer"]["content"]) == (
            run,
            "ok",
            "Four.",
        )
        calls = [
            r["body"]["effect"]["authorized"]["call"]["args"]
            for r in again.journal(run)
            if (r["kind"], r["name"]) == ("intent", "verb_call")
        ]
        assert calls == [{"expression": "1 + 1"}, {"expression": "2 + 2"}]
        assert "lost" in body["header"]
        replayed = again.cli("replay", "--all", "--json")
        assert (
            replayed.returncode,
            [one["verdict"] for one in json.loads(replayed.stdout)["runs"]],
        ) == (0, ["equal"])


def test_sigterm_drains(house: Server, tmp_path: Path) -> None:
    """On SIGTERM a waiting caller is told where its run is kept, the process ends with 0, and the
    next one finishes the run.
    """
    server = house.play(HANGING).start()
    answers: list[httpx2.Response] = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            server.http.post("/plan/react", json=ask("slow", request_id="slow"))
        )
    )
    waiting.start()
    while not (found := server.http.get("/runs").json()["runs"]):
        time.sleep(0.02)
    run = found[0]["run_id"]
    server.until_recorded(run, "observation", "verb_call")
    assert server.stop(waiting) == 0
    assert (answers[0].status_code, answers[0].json()["code"], answers[0].json()["location"]) == (
        503,
        "stopping",
        f"/runs/{run}",
    )
    assert "retry-after" in answers[0].headers
    assert not (tmp_path / "server.json").exists()
    with server.play(SLOW) as again:
        assert again.plan(ask("slow", request_id="slow"))["run_id"] == run


@pytest.mark.parametrize("method", ["POST", "PUT", "GET"])
def test_half_begun_connections_do_not_keep_it_from_ending(house: Server, method: str) -> None:
    """A WebSocket may begin with GET only, anything else is refused at once; who says no more than
    that changes nothing of a clean end.
    """
    server = house.play(HANGING).start()
    head = (
        "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\n"
    )
    key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    with (
        socket.create_connection(("127.0.0.1", server.port)) as upgraded,
        socket.create_connection(("127.0.0.1", server.port)) as half,
    ):
        upgraded.settimeout(30)
        upgraded.sendall(f"{method} /ws HTTP/1.1\r\n{head}{key}\r\n".encode())
        half.sendall(
            b"POST /messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 500\r\n\r\n{"
        )
        assert upgraded.recv(4096).split()[1] == (b"101" if method == "GET" else b"405")
        server.process.terminate()
        assert server.process.wait(30) == 0
    server.http.close()


def test_a_stream_ends_with_the_server(house: Server) -> None:
    """An open event stream does not keep a draining server alive."""
    server = house.play(HANGING).start()
    run = begin(server, "slow")
    with server.http.stream("GET", f"/runs/{run}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("id: ")
        server.process.terminate()
        assert "event: rest" not in list(lines)
    assert server.process.wait(30) == 0
    server.http.close()


def test_over_capacity_is_429(tmp_path: Path) -> None:
    """Over the limit of accepted runs callers are told when to come back; a known request is still
    answered.
    """
    server = (
        Server(tmp_path).play(HANGING).policy("[engine]\nmax_accepted = 2\nretry_after_s = 7\n")
    )
    with server:
        run = begin(server, "slow")
        begin(server, "simple")
        server.until(server.http.get("/runs").json()["runs"][0]["run_id"], "completed")
        other = server.http.post(
            "/plan/react", json=ask("slow", request_id="other"), headers={"Prefer": "respond-async"}
        )
        assert other.status_code == 202
        refused = server.http.post("/plan/react", json=ask("simple"))
        assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (
            429,
            "busy",
            "7",
        )
        known = server.http.post(
            "/plan/react", json=ask("slow", request_id="slow"), headers={"Prefer": "respond-async"}
        )
        assert (known.status_code, known.json()["run_id"]) == (202, run)


def test_a_locked_database_refuses_and_recovers(tmp_path: Path) -> None:
    """While somebody else locks the database, intake is refused and nothing is ready; reads go on,
    and afterwards all is well.
    """
    with (
        Server(tmp_path).play(SLOW) as server,
        closing(journal_of(sqlite3.connect(tmp_path / "ordain.db", isolation_level=None))) as other,
    ):
        done = server.plan(ask("simple"))["run_id"]
        other.execute("BEGIN IMMEDIATE")
        probes: list[httpx2.Response] = []
        probing = threading.Thread(target=lambda: probes.append(server.http.get("/ready")))
        probing.start()
        refused = server.http.post("/plan/react", json=ask("simple", request_id="later"))
        probing.join()
        assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
        assert server.http.get(f"/runs/{done}").status_code == 200
        assert (
            probes[0].status_code,
            probes[0].json()["code"],
            probes[0].json()["checks"]["storage"],
        ) == (503, "not_ready", False)
        other.execute("ROLLBACK")
        assert server.plan(ask("simple", request_id="later"))["status"] == "ok"
        assert server.http.get("/ready").status_code == 200


def test_who_waits_for_what_cannot_be_written_is_told(tmp_path: Path) -> None:
    """A caller whose run has something to write that the storage does not take is not left without
    a word: after some seconds the answer is 503 with the run's address, and the same request is
    answered once the storage is back.
    """
    with (
        Server(tmp_path).play(SLOW) as server,
        closing(journal_of(sqlite3.connect(tmp_path / "ordain.db", isolation_level=None))) as other,
    ):
        answers: list[httpx2.Response] = []
        body = ask("slow", request_id="kept")
        waiting = threading.Thread(
            target=lambda: answers.append(server.http.post("/plan/react", json=body, timeout=60))
        )
        waiting.start()
        run = server.until_some_run("running")
        other.execute("BEGIN IMMEDIATE")
        waiting.join()
        other.execute("ROLLBACK")
        told = answers[0].json()
        assert (answers[0].status_code, told["code"]) == (503, "storage_unavailable")
        assert (told["run_id"], told["location"]) == (run, f"/runs/{run}")
        assert answers[0].headers["retry-after"]
        after = server.plan(body)
        assert (after["run_id"], after["status"]) == (run, "ok")


def test_a_corrupted_record_is_found(tmp_path: Path) -> None:
    """A record altered in the database fails replay with its code, and the run's neighbours do
    not.
    """
    with Server(tmp_path).play(SLOW) as server:
        first, second = server.plan(ask("simple"))["run_id"], server.plan(ask("simple"))["run_id"]
        with closing(
            journal_of(sqlite3.connect(tmp_path / "ordain.db", isolation_level=None))
        ) as database:
            database.execute(
                "UPDATE journal SET body = CAST(replace(CAST(body AS TEXT), 'Fine.', 'Evil.') AS "
                "BLOB) WHERE kind = 'observation'"
                " AND run = (SELECT no FROM runs WHERE id = ?)",
                (second,),
            )
        verdicts = {
            one["run"]: one["verdict"]
            for one in json.loads(server.cli("replay", "--all", "--json").stdout)["runs"]
        }
        assert verdicts == {first: "equal", second: "journal_corrupt"}
        assert server.cli("replay", second).returncode == 1


def test_a_stopped_run_is_resumed_by_an_operator(house: Server, tmp_path: Path) -> None:
    """A run whose record was altered stops as it is; once mended an operator resumes it, who and
    why are journalled, and it completes.
    """
    server = house.play(HANGING).start()
    run = begin(server, "slow")
    server.until_recorded(run, "observation", "verb_call")
    server.kill()
    place = (
        "kind = 'observation' AND name = 'verb_call' AND run = (SELECT no FROM runs WHERE id = ?)"
    )
    with closing(
        journal_of(sqlite3.connect(tmp_path / "ordain.db", isolation_level=None))
    ) as database:
        (kept,) = database.execute(f"SELECT body FROM journal WHERE {place}", (run,)).fetchone()
        database.execute(
            f"UPDATE journal SET body = ? WHERE {place}", (kept.replace(b'"2"', b'"3"'), run)
        )
        with server.play(SLOW) as again:
            assert again.until(run, "diverged")["reason"] == "journal_corrupt"
            database.execute(f"UPDATE journal SET body = ? WHERE {place}", (kept, run))
            done = again.http.post(f"/runs/{run}/resume", json={"why": "restored from a backup"})
            assert (done.status_code, done.json()["outcome"]) == (202, "resumed")
            again.until(run, "completed")
            resumed = next(
                record["body"] for record in again.journal(run) if record["kind"] == "resumed"
            )
            assert resumed["by"] == "http:loopback: restored from a backup"
            assert again.cli("replay", run).returncode == 0


def test_two_engines_do_not_share_a_folder(tmp_path: Path) -> None:
    """A second server on the same folder is refused with exit code 3."""
    with Server(tmp_path).play(SLOW):
        second = run_cli("serve", "--port", "0", home=tmp_path)
    assert (second.returncode, b"[lock_held]" in second.stderr, b"Traceback" in second.stderr) == (
        3,
        True,
        False,
    )


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.10", "example.org"])
def test_it_listens_on_loopback_only(tmp_path: Path, host: str) -> None:
    """Any other host is refused with exit code 2 and one line."""
    done = run_cli("serve", "--host", host, "--port", "0", home=tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"[not_loopback]" in done.stderr


def test_ipv6_loopback_is_served(tmp_path: Path) -> None:
    """--host ::1 listens there."""
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("no IPv6 loopback here")
    with Server(tmp_path, arguments=("--host", "::1", "--port", "0")) as server:
        assert str(server.http.base_url).startswith("http://[::1]:")
        assert server.http.get("/health").status_code == 200


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    """A port that is taken is exit code 3 and one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run_cli("serve", "--port", str(taken.getsockname()[1]), home=tmp_path)
    assert (done.returncode, done.stderr.count(b"\n")) == (3, 1)
    assert b"[address_unavailable]" in done.stderr


def test_the_offline_default_quotes_and_says_so(tmp_path: Path) -> None:
    """Without any configuration the sources' example is answered from its own sentences, marked as
    quoted, by a provider that names itself.
    """
    request = seed("extract_facts_plan_minimal")
    with Server(tmp_path) as server:
        body = server.plan(request)
    assert (body["status"], body["usage"]["tools_called"]) == ("ok", ["extract_facts"])
    assert "offline" in body["header"]
    text = request["context"]["external_facts"]["text"]
    bullets = [
        line.removeprefix("- ")
        for line in body["final_answer"]["content"].splitlines()
        if line.startswith("- ")
    ]
    assert bullets
    assert all(bullet in text for bullet in bullets)


SWITCH = '''
import sys

from ordain import verb


@verb(effect="read")
def switch_interval() -> float:
    """How long a thread that computes is left alone, in seconds."""
    return sys.getswitchinterval()
'''


def test_who_computes_in_a_thread_lets_the_loop_go_on(house: Server) -> None:
    """A server's threads give the interpreter back in half a millisecond: by default the loop would
    wait ten times as long, each time that SQLite lets go of it.
    """
    (house.home / "verbs").mkdir()
    (house.home / "verbs" / "switch_interval.py").write_text(SWITCH, encoding="utf-8")
    (house.home / "ordain.toml").write_text("[verbs]\npython = true\n", encoding="utf-8")
    house.start()
    reply = house.execute({"verb_id": "switch_interval", "payload": {}})
    assert reply["output"] == {"result": pytest.approx(SWITCH_S)}
    assert sys.getswitchinterval() > 5 * SWITCH_S


def test_the_first_message_reads_no_template_engine(tmp_path: Path) -> None:
    """A server reads it by itself in a thread: the loop would stand still for the first message.
    Its compiled part stands in the map of a process that has imported nothing beforehand, before
    anything was asked.
    """
    command = [sys.executable, "-m", "ordain", "serve", "--data-dir", str(tmp_path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            loaded, deadline = Path(f"/proc/{server.pid}/maps"), time.monotonic() + PATIENCE_S
            while "/markupsafe/" not in loaded.read_text(encoding="utf-8"):
                assert time.monotonic() < deadline, "nobody reads it"
                time.sleep(0.05)
        finally:
            server.kill()
