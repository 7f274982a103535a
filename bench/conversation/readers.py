"""What live streams cost in process: 200 that stand still, and the pieces of a text that many
follow.

``python -m bench.conversation.readers HOME SECONDS PIECES``. Standing still: stretches of a few
seconds with and without the readers, in turn, each reader in a session of its own that was talked
in before. Following: one turn whose model says PIECES pieces, with a turn of the event loop between
two, and so many readers on its session; the pieces' own cost is that of the same turn without a
reader.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import Any

from bench.conversation.talk import HOLD, Talk, talking
from ordain.contracts.events import TextEvent

READERS = 200
FOLLOWERS = (0, 1, 50, 200)
STRETCH_S = 5.0
ROUNDS = 3
PIECE = "nine more "


async def _read(talk: Talk, session: str, seen: list[int]) -> None:
    async with aclosing(talk.ordain.stream(session)) as events:
        async for event in events:
            seen[0] += len(event.text) if isinstance(event, TextEvent) else 0
            seen[1] += 1


async def _begun(talk: Talk, sessions: list[str], seen: list[int]) -> list[asyncio.Task[None]]:
    """Readers of these sessions, once each has read what there was."""
    tasks = [asyncio.ensure_future(_read(talk, session, seen)) for session in sessions]
    for _ in range(20):
        await asyncio.sleep(0.01)
    return tasks


async def _gone(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _share(seconds: float) -> float:
    """CPU of this process per second of doing nothing."""
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - cpu) / (time.perf_counter() - began)


async def _idle(talk: Talk, seconds: float) -> dict[str, Any]:
    sessions = [f"idle-{number}" for number in range(READERS)]
    for session in sessions:
        await talk.turn(session)
    alone, watched = list[float](), list[float]()
    for _ in range(max(1, round(seconds / STRETCH_S))):
        alone.append(await _share(STRETCH_S))
        tasks = await _begun(talk, sessions, [0, 0])
        watched.append(await _share(STRETCH_S))
        await _gone(tasks)
    return {
        "readers": READERS,
        "seconds": len(watched) * STRETCH_S,
        "alone": alone,
        "watched": watched,
    }


async def _pieces(number: int) -> AsyncIterator[str]:
    for _ in range(number):
        yield PIECE
        await asyncio.sleep(0)


async def _followed(talk: Talk, session: str, followers: int, pieces: int) -> dict[str, float]:
    seen = [0, 0]
    tasks = await _begun(talk, [session] * followers, seen)
    talk.gate.pieces = _pieces(pieces)
    talk.gate.open.set()
    before, cpu, events = seen[0], time.process_time(), seen[1]
    said = await talk.say(session, f"{HOLD} Tell me more about the depot in Dijon, in many words.")
    cpu = time.process_time() - cpu
    await _gone(tasks)
    if said.reply is None or not said.reply.ok:
        raise AssertionError(f"not answered: {said}")
    if followers and seen[0] - before < followers * pieces * len(PIECE):
        raise AssertionError(
            f"{followers} readers have seen {seen[0] - before} characters of "
            f"{followers * pieces * len(PIECE)}"
        )
    return {"cpu_us": cpu * 1e6, "events": seen[1] - events}


async def _following(talk: Talk, pieces: int) -> list[dict[str, Any]]:
    found: dict[int, list[dict[str, float]]] = {followers: [] for followers in FOLLOWERS}
    for number in range(ROUNDS + 1):
        for followers in FOLLOWERS:
            took = await _followed(talk, f"followed-{number}", followers, pieces)
            if number:  # the first round warms
                found[followers].append(took)
    rows: list[dict[str, Any]] = []
    for followers, rounds in found.items():
        more = [
            (each["cpu_us"] - none["cpu_us"]) / pieces
            for each, none in zip(rounds, found[0], strict=True)
        ]
        rows.append(
            {
                "followers": followers,
                "us_per_piece": median(each["cpu_us"] for each in rounds) / pieces,
                "more_us": median(more),
            }
        )
    return rows


async def _main(home: Path, seconds: float, pieces: int) -> dict[str, Any]:
    async with talking(home) as talk:
        return {
            "idle": await _idle(talk, seconds),
            "pieces": pieces,
            "following": await _following(talk, pieces),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])))))
