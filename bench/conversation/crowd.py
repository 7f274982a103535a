"""Very many sessions at once: each sends one message in the same moment and waits for its answer.

``python -m bench.conversation.crowd HOME SESSIONS``, under the shipped policy.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from bench import work
from bench.conversation.talk import Talk, talking
from ordain.errors import OrdainError


async def _one(talk: Talk, session: str, took: list[float]) -> str:
    began = time.perf_counter()
    try:
        sent = await talk.send(session, talk.question())
    except OrdainError as error:
        return error.code
    took.append(time.perf_counter() - began)
    said = await talk.answer(sent)
    return (
        "ok"
        if said.reply is not None and said.reply.ok and said.reply.narrative == work.ANSWER
        else "wrong"
    )


async def _main(home: Path, sessions: int) -> dict[str, Any]:
    async with talking(home) as talk:
        engine = talk.ordain.settings.policy.engine
        for _ in range(60):
            await talk.turn("warm")
        commits, began, cpu = (
            talk.ordain.store.writer.commits,
            time.perf_counter(),
            time.process_time(),
        )
        took: list[float] = []
        ends = await asyncio.gather(
            *(_one(talk, f"crowd-{number}", took) for number in range(sessions))
        )
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        counts = await talk.ordain.runtime.search.counts()
        unsettled = sum(
            counts.get(status, 0) for status in ("ready", "running", "waiting", "queued")
        )
        return {
            "sessions": sessions,
            "max_accepted": engine.max_accepted,
            "max_running": engine.max_running,
            "ends": {end: ends.count(end) for end in sorted(set(ends))},
            "wall_s": wall,
            "cpu_s": cpu,
            "acknowledged_s": max(took),
            "commits": talk.ordain.store.writer.commits - commits,
            "unsettled": unsettled,
            "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2])))))
