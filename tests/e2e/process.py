"""`ordain serve` as a process of its own, with a folder of its own, spoken to over real HTTP."""

import json
import os
import secrets
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from tests.commands import Command, run_command, start_command

PATIENCE_S = 60.0
GONE_S = 0.5
"""How long a server that is to come back is missed; its callers try for several seconds."""


class Server:
    """A server process over one data folder; may be killed and started again."""

    def __init__(
        self,
        home: Path,
        *,
        environment: dict[str, str] | None = None,
        arguments: tuple[str, ...] = ("--port", "0"),
    ) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.home = home
        self.environment = environment or {}
        self.arguments = arguments
        self.process: Command
        self.http: httpx2.Client

    def play(self, script: dict[str, Any]) -> Self:
        """Answer model calls from this script, from the next start on."""
        path = self.home / "script.json"
        path.write_text(json.dumps(script), encoding="utf-8")
        self.environment["ORDAIN_SCRIPT"] = str(path)
        return self

    def policy(self, text: str) -> Self:
        """Run under this policy, from the next start on."""
        (self.home / "policy.toml").write_text(f"version = 1\n{text}", encoding="utf-8")
        return self

    def verb(self, name: str, text: str, prompt: str = "Answer: {{ input | json }}") -> Self:
        """Have one more verb."""
        folder = self.home / "verbs"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        (folder / f"{name}_prompt.j2").write_text(f"Work.\n=====\n{prompt}\n", encoding="utf-8")
        return self

    def start(self) -> Self:
        """Start, and wait until it answers."""
        note = self.home / "server.json"
        note.unlink(missing_ok=True)
        command = ("serve", "--data-dir", str(self.home), *self.arguments)
        with (self.home / "log").open("ab") as log:
            self.process = start_command(
                *command, environment={**os.environ, **self.environment}, stderr=log
            )
        deadline = time.monotonic() + PATIENCE_S
        while not note.exists():
            assert self.process.poll() is None, self.log()
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.02)
        self.http = httpx2.Client(
            base_url=json.loads(note.read_text())["url"],
            timeout=PATIENCE_S,
            trust_env=False,
            verify=False,
        )
        return self

    @property
    def port(self) -> int:
        return httpx2.URL(str(self.http.base_url)).port or 0

    def log(self) -> str:
        """What it wrote on stderr."""
        return (self.home / "log").read_text(encoding="utf-8")

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()
        self.http.close()

    def restart(self, caller: Command) -> None:
        """Kill it and start it again. The caller stands still meanwhile: it does not wait for as
        long as a start may take.
        """
        self.kill()
        time.sleep(GONE_S)
        caller.send_signal(signal.SIGSTOP)
        try:
            self.start()
        finally:
            caller.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kill it if it still runs; what was open to it is closed in any case."""
        if hasattr(self, "process") and self.process.poll() is None:
            self.kill()
        if hasattr(self, "http"):
            self.http.close()

    def stop(self, *waiting: threading.Thread) -> int:
        """SIGTERM, and the exit code; ``waiting`` are threads that still have an answer to read."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE_S)
        for thread in waiting:
            thread.join()
        self.http.close()
        return code

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def plan(self, request: dict[str, Any], **headers: str) -> dict[str, Any]:
        """Send a planning request that must be accepted; its outcome."""
        response = self.http.post("/plan/react", json=request, headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    def execute(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a verb request that must be accepted; its reply."""
        response = self.http.post("/verbs/execute", json=request)
        assert response.status_code == 200, response.text
        return response.json()

    def journal(self, run: str) -> list[dict[str, Any]]:
        """A run's records."""
        return self.http.get(f"/runs/{run}/journal").json()["records"]

    def until_some_run(self, status: str) -> str:
        """Wait until a run has this status; its id."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := self.http.get("/runs", params={"status": status}).json()["runs"]):
            assert time.monotonic() < deadline, f"no run is {status}"
            time.sleep(0.01)
        return str(found[0]["run_id"])

    def until(self, run: str, *statuses: str) -> dict[str, Any]:
        """The run, once it has one of these statuses."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.http.get(f"/runs/{run}").json())["status"] not in statuses:
            assert time.monotonic() < deadline, found["status"]
            time.sleep(0.02)
        return found

    def until_recorded(self, run: str, kind: str, name: str) -> None:
        """Wait until the run's journal has such a record."""
        deadline = time.monotonic() + PATIENCE_S
        while not any(
            (record["kind"], record["name"]) == (kind, name) for record in self.journal(run)
        ):
            assert time.monotonic() < deadline, f"no {kind} {name}"
            time.sleep(0.02)

    def until_served(self) -> None:
        """Wait until there is room for a connection: that others have closed is not seen before the
        next turn of the server's loop.
        """
        deadline = time.monotonic() + PATIENCE_S
        while (found := self.http.get("/health")).status_code == 503:
            assert time.monotonic() < deadline, found.text
            time.sleep(0.02)

    def cli(
        self, *arguments: str, stdin: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command over the same folder."""
        return run_cli(*arguments, home=self.home, environment=self.environment, stdin=stdin)


def fixed_port() -> int:
    """A port for a server that comes back to the same one: below those that the system gives to
    whoever asks for any.
    """
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@contextmanager
def nobody() -> Iterator[int]:
    """A port on which nobody listens, and nobody else begins to meanwhile: it is taken."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def run_cli(
    *arguments: str,
    home: Path,
    environment: dict[str, str] | None = None,
    stdin: bytes | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run `ordain ARGUMENTS` to its end."""
    settings = {**os.environ, "ORDAIN_HOME": str(home), **(environment or {})}
    return run_command(*arguments, environment=settings, stdin=stdin, timeout=PATIENCE_S)
