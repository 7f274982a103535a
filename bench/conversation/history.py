"""What a turn costs late in a session. ``python -m bench.conversation.history HOME SHORT LONG``.

Two sessions of SHORT turns and one of LONG, in one process on one database. CPU of twenty turns at
a time: early ones (11 to 30) and late ones of the same session; and, since a machine's speed
changes meanwhile, each late turn beside one of the turns 11 to 30 of a session in a young database,
so that the two meet the same moment. Python's full garbage collections, which come every few
thousand turns and take as long as ten turns, are counted apart: into which twenty turns one falls
is chance. ``steps`` are those of SQLite's virtual machine, which no other work on the machine
changes; ``look_us`` is what the store's look for other processes' commits takes, ten times a
second, with that many runs.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from bench.conversation.talk import Talk, talking

EARLY, WINDOW = 10, 20
STEPS_COUNTED = 20


class _Collections:
    """CPU that this process spends on full garbage collections."""

    def __init__(self) -> None:
        self.ns, self.count, self._began = 0, 0, 0
        gc.callbacks.append(self._heard)

    def _heard(self, phase: str, about: dict[str, int]) -> None:
        if about["generation"] == 2 and phase == "start":
            self._began = time.process_time_ns()
        elif about["generation"] == 2:
            self.ns += time.process_time_ns() - self._began
            self.count += 1


FULL = _Collections()


async def _cpu_ms(talk: Talk, session: str) -> float:
    began = time.process_time_ns() - FULL.ns
    await talk.turn(session)
    return (time.process_time_ns() - FULL.ns - began) / 1e6


async def _window(talk: Talk, session: str) -> list[float]:
    return [await _cpu_ms(talk, session) for _ in range(WINDOW)]


async def _late(talk: Talk, session: str, home: Path) -> dict[str, float]:
    """The next turns of ``session``, each beside one of the turns 11 to 30 of a session in a
    database of its own.
    """
    late, beside = list[float](), list[float]()
    async with talking(home) as young:
        for _ in range(EARLY):
            await young.turn(session)
        for number in range(WINDOW):
            for one, into in (
                ((talk, late), (young, beside)) if number % 2 else ((young, beside), (talk, late))
            ):
                into.append(await _cpu_ms(one, session))
    return {"ms": sum(late) / WINDOW, "beside_ms": sum(beside) / WINDOW}


async def _session(talk: Talk, name: str, home: Path, ends: list[int]) -> dict[str, Any]:
    """Early turns, then the turns before each of ``ends``."""
    for _ in range(EARLY):
        await talk.turn(name)
    early = sum(await _window(talk, name)) / WINDOW
    made, found = EARLY + WINDOW, dict[str, Any]()
    for end in ends:
        for _ in range(end - WINDOW - made):
            await talk.turn(name)
        found[str(end)] = await _late(talk, name, home / f"{name}-{end}")
        made = end
    return {"early_ms": early, "late": found}


def _look_us(talk: Talk) -> float:
    store, times = talk.ordain.store, 50
    began = time.process_time_ns()
    for _ in range(times):
        store._elsewhere._version = -1
        store._elsewhere.look()
    return (time.process_time_ns() - began) / times / 1000


async def _steps(talk: Talk, session: str) -> int:
    """SQLite's steps per turn, the median of five times sixteen turns, in which older entries are
    summed up twice; the looks left out.
    """
    steps, store = 0, talk.ordain.store

    def counted() -> int:
        nonlocal steps
        steps += 1
        return 0

    look = store._elsewhere.look
    store._elsewhere.look = lambda: None  # type: ignore[method-assign] - this process only measures
    for connection in (store._db, store._reads):
        connection.set_progress_handler(counted, STEPS_COUNTED)
    windows: list[int] = []
    for _ in range(5):
        before = steps
        for _ in range(16):
            await talk.turn(session)
        windows.append((steps - before) * STEPS_COUNTED // 16)
    for connection in (store._db, store._reads):
        connection.set_progress_handler(None, 0)
    store._elsewhere.look = look  # type: ignore[method-assign] - see above
    return round(median(windows))


async def _main(home: Path, short: int, long: int) -> dict[str, Any]:
    async with talking(home) as talk:
        for _ in range(60):
            await talk.turn("warm")
        steps = [await _steps(talk, "warm")]
        began = FULL.ns, FULL.count, time.process_time_ns()
        sessions = [await _session(talk, f"session-{number}", home, [short]) for number in range(2)]
        longest = await _session(talk, "longest", home, [short, long])
        collected = {
            "ms": (FULL.ns - began[0]) / 1e6,
            "count": FULL.count - began[1],
            "of_ms": (time.process_time_ns() - began[2]) / 1e6,
        }
        steps.append(await _steps(talk, "longest"))
        counts = [
            talk.ordain.store.query(f"SELECT count(*) FROM {table}")[0][0]
            for table in ("transcript", "runs")
        ]
        look_us = _look_us(talk)
    return {
        "short": short,
        "long": long,
        "sessions": sessions,
        "longest": longest,
        "steps": steps,
        "entries": counts[0],
        "runs": counts[1],
        "look_us": look_us,
        "collected": collected,
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))))
