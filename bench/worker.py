"""One measured system in a process of its own: ``python -m bench.worker SYSTEM HOME [URL]``.

It prints a line when it is ready, then for each line ``{"turns", "concurrency"}`` on its input does
that many turns and prints what they took. Between the lines it stands still: reading the next one
blocks its event loop, so that an idle system costs the measured one nothing. Python's collector of
garbage has the same settings in all of them, those of ``ordain serve``.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench import work
from bench.ready import Ready
from ordain.collector import tune_collector

MODULES = {
    "ordain": "bench.systems.ordain_turn",
    "floor": "bench.systems.floor",
    "langgraph": "bench.systems.langgraph_turn",
    "agents": "bench.systems.agents_turn",
    "pydantic-ai": "bench.systems.pydantic_ai_turn",
}
CHATS = {
    "chat": "bench.conversation.long_chats",
    "first-message": "bench.conversation.first_messages",
}
"""Turns of Ordain's conversation; they are compared with its planner turn and not with peers."""


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def _measured(ready: Ready, turns: int, concurrency: int) -> dict[str, Any]:
    left = iter(range(turns))

    async def work_on() -> None:
        for _ in left:
            said = await ready.turn()
            if said != work.ANSWER:
                raise AssertionError(f"another answer: {said!r}")

    tune_collector()  # for every system alike, before each measurement
    before = ready.counted()
    cpu, began = _cpu_s(), time.perf_counter()
    await asyncio.gather(*(work_on() for _ in range(concurrency)))
    wall, cpu = time.perf_counter() - began, _cpu_s() - cpu
    counted = {name: value - before[name] for name, value in ready.counted().items()}
    return {
        "turns": turns,
        "concurrency": concurrency,
        "wall_s": wall,
        "cpu_s": cpu,
        "counted": counted,
    }


async def _serve(system: str, home: Path, url: str | None) -> None:
    async with importlib.import_module({**MODULES, **CHATS}[system]).opened(home, url) as ready:
        print(json.dumps({"ready": True, **ready.counted()}), flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            print(
                json.dumps(await _measured(ready, asked["turns"], asked["concurrency"])), flush=True
            )


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None))
