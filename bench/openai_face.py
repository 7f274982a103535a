"""What the OpenAI-compatible address costs beside ``/messages``: the server's CPU per message, one
way after the other in turns, in one process.

``python -m bench.openai_face``. By name: each conversation has a header. By content: each request
brings its whole conversation, as clients send it. Both ask the same scripted model the same.
Conversations are of ``TURNS`` messages.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any

import httpx2

from bench.served import Served

SCRIPT = {
    "verbs": {
        "chat_general": [{"content": "That is well said, and there is nothing to add to it."}]
    }
}
TURNS = 5
AT_ONCE = 8
Way = Callable[[httpx2.AsyncClient, str], Awaitable[None]]


async def by_messages(http: httpx2.AsyncClient, name: str) -> None:
    """The canonical message."""
    for turn in range(TURNS):
        body = {
            "sessionId": name,
            "userId": "ada",
            "message": {"text": f"please tell me about {turn}"},
        }
        (await http.post("/messages", json=body)).raise_for_status()


async def by_name(http: httpx2.AsyncClient, name: str) -> None:
    """A chat completion whose header names its conversation."""
    await _completed(http, {"Ordain-Session": name}, "")


async def by_content(http: httpx2.AsyncClient, name: str) -> None:
    """A chat completion that is found by what it brings."""
    await _completed(http, {}, name)


async def _completed(http: httpx2.AsyncClient, headers: dict[str, str], begin: str) -> None:
    turns: list[dict[str, Any]] = []
    for turn in range(TURNS):
        turns.append(
            {
                "role": "user",
                "content": f"please tell me about {turn}"
                if turn or not begin
                else f"please tell {begin}",
            }
        )
        answer = await http.post(
            "/v1/chat/completions",
            json={"model": "ordain", "user": "ada", "messages": turns},
            headers=headers,
        )
        answer.raise_for_status()
        turns.append(answer.json()["choices"][0]["message"])


def prepare(home: Path) -> None:
    """What the scripted model says."""
    (home / "script.json").write_text(json.dumps(SCRIPT))


async def measured(home: Path, rounds: int, talks: int) -> dict[str, Any]:
    """CPU per message in microseconds of each way, and the median of the ratios to ``/messages`` of
    the same round, which are there as well.
    """
    ways: dict[str, Way] = {"messages": by_messages, "by_name": by_name, "by_content": by_content}
    spent: dict[str, list[float]] = {name: [] for name in ways}
    with Served(home, home / "script.json") as served:
        async with httpx2.AsyncClient(base_url=served.url, timeout=120, trust_env=False) as http:
            for number in range(rounds + 1):
                for name, way in ways.items():
                    before = served.cpu_s()
                    for first in range(0, talks, AT_ONCE):
                        await asyncio.gather(
                            *(
                                way(http, f"{name}-{number}-{talk}")
                                for talk in range(first, min(talks, first + AT_ONCE))
                            )
                        )
                    if number:  # the first one warms up
                        spent[name].append((served.cpu_s() - before) / talks / TURNS)
    ratios = {
        name: [one / base for one, base in zip(each, spent["messages"], strict=True)]
        for name, each in spent.items()
    }
    return {
        "us_per_message": {name: round(median(each) * 1e6) for name, each in spent.items()},
        "to_messages": {name: round(median(each), 3) for name, each in ratios.items()},
        "ratios": ratios,
    }


def main() -> None:
    """One server, one line of figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.openai_face", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--talks", type=int, default=48, help="conversations of each way in a round"
    )
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="openai-face-"))
    try:
        prepare(home)
        print(json.dumps(asyncio.run(measured(home, given.rounds, given.talks))))
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
