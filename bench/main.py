"""Measures everything in one go and writes docs/benchmarks.md. Started by ``bench/run``.

Every system runs in a process of its own that stays warm; a round gives each of them the same work
in turn, in an order that moves on by one each round, so that a busy moment of the machine meets all
of them alike. What is compared is compared within a round; the figure shown is the median of the
rounds.
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
from bench.warm import Worker, calibrated, printed
from bench.worker import MODULES

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
MODES = ("scripted", "http")
CONCURRENCY = (1, 16, 64)
RUNS_RESUMED = 1000
TURNS_REPLAYED = 500


@contextmanager
def model_server() -> Iterator[str]:
    """The model server's address while it runs."""
    with subprocess.Popen(
        [sys.executable, "-m", "bench.model_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        server.stdin.close()


def measure_turns(
    base: Path, url: str, rounds: int, seconds: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """All rounds of all cells; and what each worker stored. Cells are named
    ``mode/concurrency/system``.
    """
    cells: dict[str, list[dict[str, Any]]] = {}
    fsyncs: list[float] = []
    loads: list[float] = []
    workers = {
        (mode, system): Worker(system, base / f"{mode}-{system}", url if mode == "http" else None)
        for mode in MODES
        for system in MODULES
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
                    said = workers[mode, system].measured(
                        counts[mode, concurrency, system], concurrency
                    )
                    cells.setdefault(f"{mode}/{concurrency}/{system}", []).append(said)
        print(
            f"round {number + 1} of {rounds}: fsync {fsyncs[-1]:.2f} ms, load {loads[-1]:.1f}",
            flush=True,
        )
    for worker in workers.values():
        worker.close()
    stored = {system: workers["scripted", system].stored_bytes_per_turn for system in MODULES}
    writers = {mode: workers[mode, "ordain"].first["fsync_s"] * 1000 for mode in MODES}
    return cells, {"stored": stored, "fsync_ms": fsyncs, "load": loads, "ordain_fsync_ms": writers}


def main() -> None:
    """All figures, then the page."""
    parser = argparse.ArgumentParser(prog="bench/run", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="one short round, printed and not written"
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--seconds", type=float, default=0.8, help="how long one cell of a round should take"
    )
    parser.add_argument("--figures", type=Path, help="also write all raw figures to this JSON file")
    asked = parser.parse_args()
    rounds, seconds = (1, 0.3) if asked.quick else (asked.rounds, asked.seconds)
    # beside the project: /tmp may be memory
    base = Path(tempfile.mkdtemp(prefix="data-", dir=ROOT / ".venv-bench"))
    try:
        with ExitStack() as open_now:
            url = open_now.enter_context(model_server())
            cells, around = measure_turns(base, url, rounds, seconds)
        print("phases, journal, replay, resume, conversation ...", flush=True)
        figures = {
            "machine": described(),
            "rounds": rounds,
            "turn": {
                "model_calls": work.MODEL_CALLS,
                "tool_calls": work.CALLS,
                "steps": work.STEPS,
            },
            "cells": cells,
            **around,
            "phases": printed("bench.phases", base / "phases", 64, 200 if asked.quick else 2000),
            "journal": printed("bench.journal", base / "scripted-ordain"),
            "replay": printed("bench.replays", base / "scripted-ordain", TURNS_REPLAYED),
            "resume": [
                resumed(base / f"resume-{number}", RUNS_RESUMED)
                for number in range(1 if asked.quick else 3)
            ],
            "resumed_runs": RUNS_RESUMED,
            "start": printed("bench.start", base / "start", 1 if asked.quick else 7),
            "faces": printed("bench.faces", base / "faces", *([1] if asked.quick else [])),
            "conversation": printed(
                "bench.conversation", base / "conversation", *(["--quick"] if asked.quick else [])
            ),
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
