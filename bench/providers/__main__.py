"""``python -m bench.providers [--quick]``: CPU and wall time per model call, by provider and by
way; printed and not written.

All ways of a provider take turns in one process, so that a busy moment of the machine meets them
alike; what is compared is compared within a round, and the figure shown is the median of the
rounds. The server's time is its own process's.
"""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.page import spread, table
from bench.providers.calls import AT_ONCE, PROVIDERS, Call, opened

Figures = dict[str, dict[str, list[tuple[float, float]]]]
TARGET_MS = {"chat": 2.0, "responses": 2.0, "anthropic": 8.0, "gemini": 8.0}


@contextmanager
def model_server() -> Iterator[str]:
    """The server's address while it runs."""
    command = [sys.executable, "-m", "bench.providers.server"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        server.stdin.close()


async def _timed(way: str, call: Call, calls: int) -> tuple[float, float]:
    left = iter(range(calls))

    async def work_on() -> None:
        for _ in left:
            await call()

    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(work_on() for _ in range(AT_ONCE if way.endswith("at once") else 1)))
    return (time.process_time() - cpu) * 1000 / calls, (time.perf_counter() - wall) * 1000 / calls


async def measured(url: str, base: Path, rounds: int, calls: int) -> Figures:
    """CPU and wall milliseconds per call of every round."""
    figures: Figures = {}
    for name in PROVIDERS:
        async with opened(name, url, base / name) as ways:
            for way, call in ways.items():
                await _timed(way, call, calls)  # warm
            found: dict[str, list[tuple[float, float]]] = {way: [] for way in ways}
            for number in range(rounds):
                order = [*ways][number % len(ways) :] + [*ways][: number % len(ways)]
                for way in order:
                    found[way].append(await _timed(way, ways[way], calls))
        figures[name] = found
    return figures


def share(found: dict[str, list[tuple[float, float]]], way: str) -> list[float]:
    """CPU milliseconds above the bare call's of the same round, or the call's of the provider's own
    library where there is one.
    """
    floor = "library" if "library" in found else "bare"
    floor = f"{floor}, {AT_ONCE} at once" if way.endswith("at once") else floor
    return [each[0] - below[0] for each, below in zip(found[way], found[floor], strict=True)]


def rendered(figures: Figures) -> str:
    """The table."""
    rows: list[list[str]] = []
    for name, found in figures.items():
        for way, rounds in found.items():
            cpu = [each[0] for each in rounds]
            ours = way.startswith(("adapter", "whole run"))
            above = f"{median(share(found, way)):+.2f}" if ours else "–"
            raw = median([each / below[0] for each, below in zip(cpu, found["bare"], strict=True)])
            met = (
                ""
                if way != "adapter"
                else "yes"
                if median(share(found, way)) <= TARGET_MS[name]
                else "NO"
            )
            wall = f"{median([each[1] for each in rounds]):.2f}"
            rows.append(
                [
                    f"{name}, {way}",
                    spread(cpu, 2),
                    wall,
                    f"{raw:.2f}",
                    above,
                    f"{TARGET_MS[name]:.0f}" if met else "",
                    met,
                ]
            )
    heading = [
        "",
        "CPU ms per call",
        "wall ms",
        "times bare httpx2",
        "CPU ms above the bare call, or the library where there is one",
        "at most",
        "met",
    ]
    return table(heading, rows)


def main() -> None:
    """Everything, one after the other."""
    rounds, calls = (2, 32) if "--quick" in sys.argv else (7, 96)
    with tempfile.TemporaryDirectory(dir=".", prefix=".bench-") as base, model_server() as url:
        figures = asyncio.run(measured(url, Path(base), rounds, calls))
    print(json.dumps(figures) if "--json" in sys.argv else rendered(figures))


if __name__ == "__main__":
    main()
