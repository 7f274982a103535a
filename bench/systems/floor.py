"""The floor: a bare HTTP client and one SQLite commit per step, with nothing around them.

The messages grow as an agent's do, and each step writes what it added. Nothing is checked, decided,
resumed or bounded.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from bench import work
from bench.ready import Ready

_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": work.TOOL_NAME,
            "description": work.TOOL_DESCRIPTION,
            "parameters": work.TOOL_SCHEMA,
        },
    }
]
Ask = Callable[[list[dict[str, Any]]], Awaitable[dict[str, Any]]]


async def _scripted(messages: list[dict[str, Any]]) -> dict[str, Any]:
    index = sum(message["role"] == "tool" for message in messages)
    if index >= work.CALLS:
        return {"role": "assistant", "content": work.ANSWER}
    function = {"name": work.TOOL_NAME, "arguments": json.dumps({"record": work.ASKED[index]})}
    calls = [{"id": f"call_{index}", "type": "function", "function": function}]
    return {"role": "assistant", "content": work.THOUGHTS[index], "tool_calls": calls}


def _over_http(client: httpx2.AsyncClient, url: str) -> Ask:
    async def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
        answer = await client.post(
            f"{url}/chat/completions",
            json={"model": work.MODEL, "messages": messages, "tools": _TOOLS},
        )
        return answer.json()["choices"][0]["message"]

    return ask


@asynccontextmanager
async def opened(home: Path, url: str | None) -> AsyncIterator[Ready]:
    """One connection to the database, one client."""
    db = sqlite3.connect(home / "floor.db", isolation_level=None)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("PRAGMA synchronous=FULL")
    db.execute(
        "CREATE TABLE IF NOT EXISTS steps(turn INTEGER, step INTEGER, body TEXT, PRIMARY KEY "
        "(turn, step))"
    )
    turns = count()
    limits = httpx2.Limits(max_connections=100, max_keepalive_connections=100)
    async with httpx2.AsyncClient(limits=limits, timeout=60) as client:
        ask = _scripted if url is None else _over_http(client, url)

        async def turn() -> str:
            number, steps = next(turns), count()

            def commit(added: dict[str, Any]) -> None:
                messages.append(added)
                db.execute(
                    "INSERT INTO steps VALUES (?,?,?)", (number, next(steps), json.dumps(added))
                )

            messages: list[dict[str, Any]] = [
                {"role": "system", "content": work.INSTRUCTIONS},
                {"role": "user", "content": work.QUESTION},
            ]
            while True:
                said = await ask(messages)
                commit(said)
                for call in said.get("tool_calls") or ():
                    found = work.looked_up(**json.loads(call["function"]["arguments"]))
                    commit({"role": "tool", "tool_call_id": call["id"], "content": found})
                if not said.get("tool_calls"):
                    return said["content"]

        yield Ready(turn=turn)
    db.close()
