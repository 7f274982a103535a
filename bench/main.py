"""Measures everything in one go and writes docs/benchmarks.md. Started by ``bench/run``.

Every system runs in a process of its own that stays warm; a round gives each of them the same work in turn, in an order that moves on
by one each round, so that a busy moment of the machine meets all of them alike. What is compared is compared within a round; the
figure shown is the median of the rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from bench import work
from bench.machine import described, fsync_ms
from bench.report import rendered
from bench.resume import measured as resumed
from bench.worker import MODULES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
MODES = ("scripted", "http")
CONCURRENCY = (1, 16, 64)
WARM_TURNS = 64
RUNS_RESUMED = 1000
TURNS_REPLAYED = 500


class Worker:
    """One system in one mode, in a process of its own."""

    def __init__(self, system: str, home: Path, url: str | None) -> None:
        home.mkdir(parents=True)
        self.home = home
        command = [sys.executable, "-m", "bench.worker", system, str(home), *([] if url is None else [url])]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.turns = 0
        self.first = self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.home.name} ended with {self._process.wait()}")
        return json.loads(line)

    def measured(self, turns: int, concurrency: int) -> dict[str, Any]:
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
        return sum(file.stat().st_size for file in self.home.glob("*.db*")) / self.turns


@contextmanager
def model_server() -> Iterator[str]:
    """The model server's address while it runs."""
    with subprocess.Popen([sys.executable, "-m", "bench.model_server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.stdin.close()


def calibrated(worker: Worker, concurrency: int, seconds: float) -> int:
    """How many turns take about ``seconds``; the turns of finding out warm the worker."""
    worker.measured(WARM_TURNS if concurrency == 1 else 2 * concurrency, concurrency)
    said = worker.measured(max(8, concurrency), concurrency)
    return max(2 * concurrency, 10, round(said["turns"] / said["wall_s"] * seconds))


def measure_turns(base: Path, url: str, rounds: int, seconds: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """All rounds of all cells; and what each worker stored. Cells are named ``mode/concurrency/system``."""
    cells: dict[str, list[dict[str, Any]]] = {}
    fsyncs: list[float] = []
    loads: list[float] = []
    workers = {
        (mode, system): Worker(system, base / f"{mode}-{system}", url if mode == "http" else None) for mode in MODES for system in MODULES
    }
    counts = {
        (mode, concurrency, system): calibrated(workers[mode, system], concurrency, seconds)
        for mode in MODES
        for concurrency in CONCURRENCY
        for system in MODULES
    }
    for number in range(rounds):
        fsyncs.append(fsync_ms(base))
        loads.append(os.getloadavg()[0])
        order = [*MODULES][number % len(MODULES) :] + [*MODULES][: number % len(MODULES)]
        for mode in MODES:
            for concurrency in CONCURRENCY:
                for system in order:
                    said = workers[mode, system].measured(counts[mode, concurrency, system], concurrency)
                    cells.setdefault(f"{mode}/{concurrency}/{system}", []).append(said)
        print(f"round {number + 1} of {rounds}: fsync {fsyncs[-1]:.2f} ms, load {loads[-1]:.1f}", flush=True)
    for worker in workers.values():
        worker.close()
    stored = {system: workers["scripted", system].stored_bytes_per_turn for system in MODULES}
    writers = {mode: workers[mode, "ordain"].first["fsync_s"] * 1000 for mode in MODES}
    return cells, {"stored": stored, "fsync_ms": fsyncs, "load": loads, "ordain_fsync_ms": writers}


def printed(module: str, *arguments: object) -> dict[str, Any]:
    """What a measuring module prints."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main() -> None:
    """All figures, then the page."""
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short round, printed and not written")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.8, help="how long one cell of a round should take")
    parser.add_argument("--figures", type=Path, help="also write all raw figures to this JSON file")
    asked = parser.parse_args()
    rounds, seconds = (1, 0.3) if asked.quick else (asked.rounds, asked.seconds)
    base = Path(tempfile.mkdtemp(prefix="data-", dir=ROOT / ".venv-bench"))  # beside the project: /tmp may be memory
    try:
        with ExitStack() as open_now:
            url = open_now.enter_context(model_server())
            cells, around = measure_turns(base, url, rounds, seconds)
        print("phases, journal, replay, resume ...", flush=True)
        figures = {
            "machine": described(),
            "rounds": rounds,
            "turn": {"model_calls": work.MODEL_CALLS, "tool_calls": work.CALLS, "steps": work.STEPS},
            "cells": cells,
            **around,
            "phases": printed("bench.phases", base / "phases", 64, 200 if asked.quick else 2000),
            "journal": printed("bench.journal", base / "scripted-ordain"),
            "replay": printed("bench.replays", base / "scripted-ordain", TURNS_REPLAYED),
            "resume": [resumed(base / f"resume-{number}", RUNS_RESUMED) for number in range(1 if asked.quick else 3)],
            "resumed_runs": RUNS_RESUMED,
        }
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if asked.figures is not None:
        asked.figures.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    page = rendered(figures)
    print(page)
    if not asked.quick:
        PAGE.write_text(page, encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
