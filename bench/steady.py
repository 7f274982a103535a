"""Memory under a load that stays the same: a real server, planning runs and chat turns at a steady
pace, its resident memory every few seconds.

``python -m bench.steady --minutes 30``. What matters is the slope after the warm-up: caches with a
bound fill up first, and then nothing grows any more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import httpx2

from bench.housekeeping import SCRIPT
from bench.served import Served

LOOK_S = 5.0
WARM = 0.4
"""The share of the time that is warm-up."""
SESSIONS = 200


async def loaded(url: str, until: float, pace: float, done: dict[str, int]) -> None:
    """Plans and messages, one after the other, so many a second together."""
    async with httpx2.AsyncClient(base_url=url, timeout=60, trust_env=False) as http:
        number, going = 0, set[asyncio.Task[None]]()

        async def one(n: int) -> None:
            if n % 2:
                body: dict[str, Any] = {
                    "goal": {"type": "analysis", "description": f"number {n}"},
                    "toolset": [{"tool_id": "math.evaluate"}],
                }
                answer = await http.post("/plan/react", json={**body, "request_id": f"r{n}"})
            else:
                answer = await http.post(
                    "/api/chat",
                    json={
                        "text_input": f"tell me about {n}",
                        "session_id": f"s{n // 2 % SESSIONS}",
                        "message_id": f"m{n}",
                    },
                )
            done[str(answer.status_code)] = done.get(str(answer.status_code), 0) + 1

        while time.monotonic() < until:
            task = asyncio.ensure_future(one(number))
            going.add(task)
            task.add_done_callback(going.discard)
            number += 1
            await asyncio.sleep(1 / pace)
        await asyncio.gather(*going)


def slope(seen: list[tuple[float, float]]) -> float:
    """By least squares, in units a minute."""
    x0, y0 = mean(x for x, _ in seen), mean(y for _, y in seen)
    spread = sum((x - x0) ** 2 for x, _ in seen)
    return 60 * sum((x - x0) * (y - y0) for x, y in seen) / spread if spread else 0.0


async def measured(home: Path, minutes: float, pace: float) -> dict[str, Any]:
    """The server's memory while the load goes on."""
    with Served(home, home / "script.json") as served:
        began = time.monotonic()
        until, done, seen = (
            began + minutes * 60,
            dict[str, int](),
            list[tuple[float, dict[str, float]]](),
        )
        load = asyncio.ensure_future(loaded(served.url, until, pace, done))
        while not load.done():
            await asyncio.wait({load}, timeout=LOOK_S)
            now = time.monotonic() - began
            seen.append((now, served.memory()))
            if len(seen) % 12 == 0:
                print(
                    f"{now:6.0f} s {json.dumps(seen[-1][1])} {done} "
                    f"{(home / 'ordain.db').stat().st_size / 1e6:.0f} MB",
                    flush=True,
                )
        await load
    kept = [(at, each) for at, each in seen if at >= WARM * minutes * 60]
    return {
        "answers": done,
        "warm_mb": round(kept[0][1]["rss_mb"], 1),
        "end_mb": round(kept[-1][1]["rss_mb"], 1),
        "rss_mb_per_minute": round(slope([(at, each["rss_mb"]) for at, each in kept]), 3),
        "anon_mb_per_minute": round(slope([(at, each["anon_mb"]) for at, each in kept]), 3),
        "files": [min(each["files"] for _, each in kept), max(each["files"] for _, each in kept)],
    }


def main() -> None:
    """One server, one load, one line of figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.steady", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--pace", type=float, default=20, help="requests a second")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="steady-"))
    try:
        (home / "script.json").write_text(json.dumps(SCRIPT))
        print(json.dumps(asyncio.run(measured(home, given.minutes, given.pace))))
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
