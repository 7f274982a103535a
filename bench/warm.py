"""A measured system in a warm process of its own, and how much work a cell of a round gives it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

WARM_TURNS = 64


class Worker:
    """One system in one mode, in a process of its own."""

    def __init__(self, system: str, home: Path, url: str | None) -> None:
        home.mkdir(parents=True)
        self.home = home
        command = [
            sys.executable,
            "-m",
            "bench.worker",
            system,
            str(home),
            *([] if url is None else [url]),
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.turns = 0
        self.first = self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.home.name} ended with {self._process.wait()}")
        return json.loads(line)

    def measured(self, turns: int, concurrency: int) -> dict[str, Any]:
        """Have it do so many turns, so many of them at once."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"turns": turns, "concurrency": concurrency}) + "\n")
        self._process.stdin.flush()
        self.turns += turns
        return self._read()

    def close(self) -> None:
        """End it, so that what it stored is whole."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        if self._process.wait(60):
            raise RuntimeError(f"{self.home.name} ended with {self._process.returncode}")

    @property
    def stored_bytes_per_turn(self) -> float:
        """What it left on disk, by turn."""
        return sum(file.stat().st_size for file in self.home.glob("*.db*")) / self.turns


def calibrated(worker: Worker, concurrency: int, seconds: float) -> int:
    """How many turns take about ``seconds``; the turns of finding out warm the worker."""
    worker.measured(WARM_TURNS if concurrency == 1 else 2 * concurrency, concurrency)
    said = worker.measured(max(8, concurrency), concurrency)
    return max(2 * concurrency, 10, round(said["turns"] / said["wall_s"] * seconds))


def printed(module: str, *arguments: object) -> Any:
    """What a measuring module prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
