"""All figures of the conversation: ``python -m bench.conversation HOME [--quick]`` prints them as
JSON, ``--page`` as they stand in the docs.

Chat turns and the planner turn take turns in warm processes of their own, as the systems of
``bench.main`` do.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from bench.conversation.report import section
from bench.machine import fsync_ms
from bench.warm import Worker, calibrated, printed
from bench.worker import CHATS

CONCURRENCY = (1, 16, 64)
SYSTEMS = ("ordain", *CHATS)
AT_ONCE = 2000


def _turns(
    base: Path, rounds: int, seconds: float
) -> tuple[dict[str, list[dict[str, Any]]], list[float]]:
    workers = {system: Worker(system, base / system, None) for system in SYSTEMS}
    counts = {
        (system, at_once): calibrated(workers[system], at_once, seconds)
        for at_once in CONCURRENCY
        for system in SYSTEMS
    }
    cells: dict[str, list[dict[str, Any]]] = {}
    fsyncs: list[float] = []
    for number in range(rounds):
        fsyncs.append(fsync_ms(base))
        order = [*SYSTEMS][number % len(SYSTEMS) :] + [*SYSTEMS][: number % len(SYSTEMS)]
        for at_once in CONCURRENCY:
            for system in order:
                said = workers[system].measured(counts[system, at_once], at_once)
                cells.setdefault(f"{system}/{at_once}", []).append(said)
    for worker in workers.values():
        worker.close()
    return cells, fsyncs


def measured(base: Path, *, quick: bool) -> dict[str, Any]:
    """Everything, one after the other."""
    base.mkdir(parents=True)
    rounds, seconds = (1, 0.3) if quick else (7, 0.8)
    cells, fsyncs = _turns(base, rounds, seconds)
    return {
        "rounds": rounds,
        "cells": cells,
        "fsync_ms": fsyncs,
        "stored": {system: printed("bench.conversation.stored", base / system) for system in CHATS},
        "phases": {
            system: printed(
                "bench.phases", base / f"phases-{system}", 16, 160 if quick else 1600, system
            )
            for system in CHATS
        },
        "history": printed(
            "bench.conversation.history",
            base / "history",
            *((110, 210) if quick else (1010, 10_000)),
        ),
        "nudges": printed("bench.conversation.nudges", base / "nudges", 30 if quick else 500),
        "readers": printed(
            "bench.conversation.readers",
            base / "readers",
            5 if quick else 20,
            100 if quick else 1000,
        ),
        "served": printed("bench.streams", "--seconds", 5 if quick else 20),
        "crowd": [
            printed("bench.conversation.crowd", base / f"crowd-{number}", AT_ONCE)
            for number in range(1 if quick else 3)
        ],
    }


if __name__ == "__main__":
    figures = measured(Path(sys.argv[1]), quick="--quick" in sys.argv)
    print(section(figures) if "--page" in sys.argv else json.dumps(figures))
