"""Storage that fails under a running server: nothing new is accepted, reads go on, nothing is lost, and it recovers by itself."""

from __future__ import annotations

import resource
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    """While no file can grow, a plan is refused 503 storage_unavailable and finished runs are still read; with room again plans run."""
    first = server.http.post("/plan/react", json=ask("one", request_id="first")).json()
    assert first["status"] == "ok"
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    refused = server.http.post("/plan/react", json=ask("one", request_id="second"))
    assert (refused.status_code, refused.json()["code"]) == (503, "storage_unavailable")
    assert refused.headers["content-type"] == "application/problem+json"
    assert server.http.get(f"/runs/{first['run_id']}").json()["header"] == first["header"]
    assert server.http.get("/health").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
    assert server.http.post("/plan/react", json=ask("one", request_id="second")).json()["status"] == "ok"
    assert server.http.post("/plan/react", json=ask("one", request_id="first")).json()["run_id"] == first["run_id"]


def test_a_full_disk_is_not_ready(server: Server) -> None:
    """While no file can grow, /ready says that the storage takes no write; afterwards it is ready again."""
    assert server.http.get("/ready").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
    seen = server.http.get("/ready")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
    assert (seen.status_code, seen.json()["checks"]["storage"]) == (503, False)
    assert server.http.get("/ready").status_code == 200


def test_a_read_only_folder_is_read_and_not_served(server: Server) -> None:
    """On storage that cannot be written, serving is refused as storage_unavailable, and finished runs are listed, shown and replayed."""
    first = server.plan(ask("one"))
    server.end()
    if subprocess.run(("unshare", "-rm", "true"), capture_output=True, check=False).returncode:
        pytest.skip("this machine refuses mount namespaces (unshare -rm): a read-only folder is not shown here")
    mounted = f"mount --bind {server.home} {server.home} && mount -o remount,ro,bind {server.home} && "

    def ordain(arguments: str) -> subprocess.CompletedProcess[str]:
        command = f"{mounted}{sys.executable} -m ordain {arguments} --data-dir {server.home}"
        return subprocess.run(("unshare", "-rm", "sh", "-c", command), capture_output=True, text=True, timeout=60, check=False)

    refused = ordain("serve --port 0")
    assert (refused.returncode, "[storage_unavailable]" in refused.stderr) == (3, True), refused.stderr
    assert first["run_id"] in ordain("runs list").stdout
    assert first["header"] in ordain(f"runs show {first['run_id']}").stdout
    assert "1 of 1 runs replay equal" in ordain("replay --all").stdout


def test_a_run_under_way_survives_a_full_disk(tmp_path: Path) -> None:
    """A run that is being driven when the disk fills up waits for room and then ends as if nothing had been, its verb called once."""
    answers: list[dict[str, object]] = []
    with Server(tmp_path / "home").play({"planner": [slow(add(), round(LONG_S * 1000)), finish()]}) as server:
        waiting = threading.Thread(target=lambda: answers.append(server.plan(ask("one", request_id="under way"))))
        waiting.start()
        server.until_some_run("running")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        waiting.join(LONG_S + 0.8)
        assert waiting.is_alive()
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, NO_LIMIT)
        waiting.join(PATIENCE_S)
    (answer,) = answers
    assert (answer["status"], answer["usage"]["tools_called"]) == ("ok", ["math.evaluate"])
