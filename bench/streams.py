"""What idle streams cost the server: CPU of ``ordain serve`` while 200 clients of a session's
stream only wait, and what one event costs then.

Prints JSON. ``python -m bench.streams [--streams 200] [--seconds 20]``; PYTHONPATH must name the
project's ``src`` and the project.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
from websockets.asyncio.client import connect

from bench.served import Served

SESSION = "bench:streams"
SCRIPT = {"verbs": {"chat_general": [{"content": "Hello."}]}}
SETTLE_S = 2.0
EVENTS = 5


async def idle(served: Served, seconds: float) -> float:
    """Share of one core while nothing happens."""
    await asyncio.sleep(SETTLE_S)
    began, cpu = time.monotonic(), served.cpu_s()
    await asyncio.sleep(seconds)
    return (served.cpu_s() - cpu) / (time.monotonic() - began)


async def say(client: httpx2.AsyncClient) -> None:
    message = {"sessionId": SESSION, "userId": "bench", "message": {"text": "hello"}}
    (await client.post("/messages", json=message)).raise_for_status()


async def _listen(lines: Any, heard: asyncio.Semaphore) -> None:
    async for line in lines:
        if '"event":"reply"' in (line if isinstance(line, str) else line.decode()):
            heard.release()


async def over_sse(
    stack: AsyncExitStack, client: httpx2.AsyncClient, after: int, heard: asyncio.Semaphore
) -> asyncio.Task[None]:
    stream = client.stream("GET", f"/sessions/{SESSION}/events", params={"after": after})
    response = await stack.enter_async_context(stream)
    return asyncio.ensure_future(_listen(response.aiter_lines(), heard))


async def over_socket(
    stack: AsyncExitStack, client: httpx2.AsyncClient, after: int, heard: asyncio.Semaphore
) -> asyncio.Task[None]:
    url = str(client.base_url).replace("http", "ws", 1).rstrip("/")
    socket = await stack.enter_async_context(
        connect(f"{url}/ws?session={SESSION}&after={after}", proxy=None)
    )
    return asyncio.ensure_future(_listen(socket, heard))


Way = Callable[
    [AsyncExitStack, httpx2.AsyncClient, int, asyncio.Semaphore], Awaitable[asyncio.Task[None]]
]


async def measured(
    served: Served, client: httpx2.AsyncClient, way: Way, streams: int, seconds: float
) -> dict[str, float]:
    """Idle share with so many streams, and CPU per turn that all of them hear. Memory counts what
    the process grew by, so first come, first shown.
    """
    head = (await client.get(f"/sessions/{SESSION}")).json()["head"]
    heard, before_mb = asyncio.Semaphore(0), served.memory()["rss_mb"]
    async with AsyncExitStack() as stack:
        tasks = [await way(stack, client, head, heard) for _ in range(streams)]
        share = await idle(served, seconds)
        memory = served.memory()["rss_mb"] - before_mb
        cpu = served.cpu_s()
        for _ in range(EVENTS):
            await say(client)
            for _ in range(streams):
                await heard.acquire()
        cpu = served.cpu_s() - cpu
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return {
        "idle_share_of_a_core": share,
        "kb_per_stream": memory * 1000 / streams,
        "cpu_ms_per_turn_heard_by_all": cpu * 1000 / EVENTS,
    }


async def figures(served: Served, streams: int, seconds: float) -> dict[str, Any]:
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(
        base_url=served.url, timeout=60, trust_env=False, limits=limits
    ) as client:
        await say(client)
        return {
            "streams": streams,
            "seconds": seconds,
            "alone_share_of_a_core": await idle(served, seconds),
            "one_sse": await measured(served, client, over_sse, 1, seconds),
            "sse": await measured(served, client, over_sse, streams, seconds),
            "websocket": await measured(served, client, over_socket, streams, seconds),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="longer than a heartbeat (15 s)"
    )
    asked = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="streams-"))
    (home / "script.json").write_text(json.dumps(SCRIPT))
    try:
        with Served(home, home / "script.json") as served:
            print(json.dumps(asyncio.run(figures(served, asked.streams, asked.seconds)), indent=1))
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
