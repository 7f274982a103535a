"""Outages against a real endpoint: a restart in the midst of one ends no run that would have lived
through it, and whoever waits is there when it heals.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from uuid import uuid4

from ordain import Ordain
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.profiles import ModelProfile
from ordain.settings import Settings, load_settings
from tests.e2e.process import nobody
from tests.replay.golden import finish, request

SECONDS = 30
OPEN_S = 1


def settings(home: Path, *ports: int, **fallback: Any) -> Settings:
    """A lane of a model at each port; the circuit of one that fails is open for a second."""
    names = [f"m{number}" for number in range(len(ports))]
    profiles = {
        name: ModelProfile(
            provider="openai", model=name, base_url=f"http://127.0.0.1:{port}/v1", timeout_ms=5000
        )
        for name, port in zip(names, ports, strict=True)
    }
    made = load_settings({}, home)
    policy = made.policy
    lanes = policy.lanes.model_copy(
        update={"profiles": dict.fromkeys(policy.lanes.profiles, names)}
    )
    breaker = policy.breaker.model_copy(update={"open_s": OPEN_S})
    table = policy.fallback.model_copy(update=fallback)
    changed = {"lanes": lanes, "breaker": breaker, "fallback": table}
    return made.model_copy(
        update={"profiles": profiles, "policy": policy.model_copy(update=changed)}
    )


@asynccontextmanager
async def answering(port: int) -> AsyncIterator[None]:
    """An endpoint that answers whatever comes."""
    said = {
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"content": json.dumps(finish("so"))}}
        ],
        "model": "m",
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
    body = json.dumps(said).encode()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with closing(writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length:")[2].split("\r\n")[0]))
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
                b"content-length: %d\r\n\r\n%s" % (len(body), body)
            )
            await writer.drain()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    try:
        yield
    finally:
        server.close()


async def accepted(ordain: Ordain, runs: int, seconds: int = 20) -> list[str]:
    plan = PlannerRequest.model_validate(request(limits={"timeout_seconds": seconds}))
    each = [plan.model_copy(update={"request_id": uuid4().hex}) for _ in range(runs)]
    return [(await ordain.runtime.accept(one, "local:test")).run for one in each]


async def ends(ordain: Ordain, runs: list[str]) -> Counter[str]:
    """How they end, each equal when it is replayed."""
    views = await asyncio.gather(
        *(asyncio.wait_for(ordain.runtime.wait(run), SECONDS) for run in runs)
    )
    return Counter(str(view.stored.reason) for view in views)


async def test_a_restart_in_an_outage_ends_no_run(tmp_path: Path) -> None:
    """The endpoint has answered before; it is away while the process ends and another one begins,
    longer than a model is waited for that has never answered.
    """
    with nobody() as port:
        pass
    given = settings(tmp_path, port, unanswered_max_ms=500)
    async with answering(port), Ordain(given) as ordain:
        assert await ends(ordain, await accepted(ordain, 1)) == {"ok": 1}
    async with Ordain(given) as ordain:
        runs = await accepted(ordain, 8)
        await asyncio.sleep(0.3)
    async with Ordain(given) as ordain:
        await asyncio.sleep(1.5)
        async with answering(port):
            assert await ends(ordain, runs) == {"ok": 8}


async def test_whoever_is_held_back_is_there_when_it_heals(tmp_path: Path) -> None:
    """Thirty runs with ten seconds each; the endpoint is back after three: within a turn and the
    probes of it all of them have answers.
    """
    with nobody() as port:
        pass
    given = settings(tmp_path, port)
    async with Ordain(given) as ordain:
        async with answering(port):
            assert await ends(ordain, await accepted(ordain, 1)) == {"ok": 1}
        runs = await accepted(ordain, 30, seconds=10)
        await asyncio.sleep(3 * OPEN_S)
        async with answering(port):
            assert await ends(ordain, runs) == {"ok": 30}


async def test_of_two_models_that_are_away_the_one_that_comes_back_answers(
    tmp_path: Path,
) -> None:
    """The first has answered before; the second one, which never was asked, stays away for ever."""
    with nobody() as first, nobody() as second:
        pass
    given = settings(tmp_path, first, second, unanswered_max_ms=500)
    async with Ordain(given) as ordain:
        async with answering(first):
            assert await ends(ordain, await accepted(ordain, 1)) == {"ok": 1}
        runs = await accepted(ordain, 4)
        await asyncio.sleep(2.5 * OPEN_S)
        async with answering(first):
            assert await ends(ordain, runs) == {"ok": 4}


async def test_a_model_that_was_never_there_is_told_of_soon(tmp_path: Path) -> None:
    """Whatever time the run has."""
    with nobody() as port:
        given = settings(tmp_path, port, unanswered_max_ms=500)
        async with Ordain(given) as ordain:
            runs = await accepted(ordain, 3, seconds=300)
            found = await ends(ordain, runs)
            assert sum(found.values()) == 3
            assert "ok" not in found
