"""What counts as an attempt: runs at an endpoint that was down, at one that asks for a rest, and at
one that falls silent. Real HTTP.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.model_policy import ModelErrorCode, OnModelError
from ordain.models.openai import OpenAIModel
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.settings import load_settings
from tests.integration.runtime.test_gateway import PRICED, Model, house, stored
from tests.replay.golden import finish, request

Answer = tuple[int, str]
"""Status, and one more header line ("": none)."""


class Endpoint:
    """A chat-completions endpoint on loopback that counts who is at it at once; ``says`` what it
    answers to a request's body.
    """

    def __init__(
        self, says: Callable[[str], Answer] = lambda _: (200, ""), takes_s: float = 0.0
    ) -> None:
        """Not yet there."""
        self.says, self.takes_s, self.port = says, takes_s, 0
        self.asked = self.within = 0
        self.at_once: list[int] = []
        self.met = asyncio.Event()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where it is, or was, or will be."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def come(self) -> None:
        """Listen, from now on always at the same port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def go(self) -> None:
        """Refuse connections."""
        assert self._server is not None
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            asked = (await reader.readexactly(length)).decode()
            self.asked, self.within = self.asked + 1, self.within + 1
            self.at_once.append(self.within)
            self.met.set()
            status, header = self.says(asked)
            await asyncio.sleep(self.takes_s)
            self.within -= 1
            content = json.dumps(finish("done"))
            told = {
                "model": "m",
                "choices": [{"message": {"content": content}, "finish_reason": "stop"}],
            }
            body = json.dumps(told if status == 200 else {"error": {}}).encode()
            lines = [
                f"HTTP/1.1 {status} x",
                "content-type: application/json",
                "connection: close",
                f"content-length: {len(body)}",
            ]
            writer.write(
                ("\r\n".join([*lines, *([header] if header else [])]) + "\r\n\r\n").encode() + body
            )
            await writer.drain()
        finally:
            writer.close()


@asynccontextmanager
async def asking(home: Path, endpoint: Endpoint, **tables: Any) -> AsyncIterator[Any]:
    """An Ordain, shipped policy but for ``tables``, whose one model is the endpoint."""
    profile = PRICED.model_copy(update={"provider": "openai", "base_url": endpoint.url})
    async with house(
        home, {"only": OpenAIModel(endpoint.url)}, {"only": profile}, **tables
    ) as ordain:
        yield ordain


async def plans(ordain: Any, names: range) -> list[dict[str, Any]]:
    """So many runs at once; each replays equal."""
    told = await asyncio.gather(
        *(
            ordain.plan(
                request(
                    request_id=str(name),
                    goal={"type": "analysis", "description": f"Work out run-{name}."},
                )
            )
            for name in names
        )
    )
    for one in told:
        stored(ordain, one.run_id)
    return [one.wire for one in told]


def statuses(told: list[dict[str, Any]]) -> list[str]:
    """How they ended."""
    return [one["status"] for one in told]


async def test_runs_wait_for_an_endpoint_that_is_healthy_again(tmp_path: Path) -> None:
    """Ten runs meet an open circuit: none is the endpoint's failure, all wait for it, and a growing
    number goes to it at once.
    """
    endpoint = Endpoint(takes_s=0.05)
    await endpoint.come()
    await endpoint.go()
    async with asking(
        tmp_path,
        endpoint,
        breaker={"failures": 2, "open_s": 1},
        fallback={"backoff_ms": 1, "unanswered_max_ms": 1500},
    ) as ordain:
        assert statuses(await plans(ordain, range(1))) == ["error"]
        assert ordain.runtime.services.breakers.open()
        await endpoint.come()
        told = await plans(ordain, range(1, 11))
        assert statuses(told) == ["ok"] * 10
        assert not ordain.runtime.services.breakers.open()
    await endpoint.go()
    assert endpoint.asked == 10
    assert endpoint.at_once[0] == 1


async def test_a_model_server_that_starts_late_was_attempted_once(tmp_path: Path) -> None:
    """A connection that nobody took was no attempt, and the run that waits for one needs no more
    than policy's single attempt.
    """
    endpoint = Endpoint()
    await endpoint.come()
    await endpoint.go()
    async with asking(
        tmp_path,
        endpoint,
        breaker={"failures": 0},
        fallback={"attempts_per_profile": 1, "attempts_at_last": 0},
    ) as ordain:
        working = asyncio.ensure_future(plans(ordain, range(1)))
        await waiting(ordain)
        await endpoint.come()
        (told,) = await working
        assert statuses([told]) == ["ok"]
        assert "fallback.held" in {
            json.loads(one.body or b"{}").get("reason")
            for one in stored(ordain, told["run_id"]).records
        }
    await endpoint.go()
    assert endpoint.asked == 1


async def waiting(ordain: Any) -> None:
    """Until a run waits."""
    while not ordain.store.query("SELECT 1 FROM runs WHERE status = 'waiting'"):  # noqa: ASYNC110 - announced to nobody
        await asyncio.sleep(0.01)


async def test_a_hiccup_of_the_only_model_fails_no_run(tmp_path: Path) -> None:
    """Under the shipped policy: three failures in a row, and a single run that meets them all."""
    endpoint = Endpoint()
    endpoint.says = lambda _: (500, "") if endpoint.asked <= 3 else (200, "")
    await endpoint.come()
    async with asking(tmp_path, endpoint) as ordain:
        assert statuses(await plans(ordain, range(1))) == ["ok"]
    await endpoint.go()
    assert endpoint.asked == 4


async def test_a_rest_that_was_asked_for_is_waited_for(tmp_path: Path) -> None:
    """Twenty runs that each meet one refusal with a delay: what one of them was told the others
    keep to, and no run fails by it.
    """
    met: set[str] = set()

    def says(asked: str) -> Answer:
        (run,) = set(re.findall(r"run-\d+", asked))
        if run in met:
            return 200, ""
        met.add(run)
        return 429, "Retry-After: 1"

    endpoint = Endpoint(says)
    await endpoint.come()
    async with asking(tmp_path, endpoint) as ordain:
        first = asyncio.ensure_future(plans(ordain, range(1)))
        await endpoint.met.wait()
        told = [*await plans(ordain, range(1, 20)), *await first]
    await endpoint.go()
    assert statuses(told) == ["ok"] * 20


async def test_a_provider_that_rests_seven_times_fails_no_run(tmp_path: Path) -> None:
    """Under the shipped policy: each answer names a delay, more often than there are attempts, and
    the run that has time for them is answered.
    """
    endpoint = Endpoint()
    endpoint.says = lambda _: (
        (503 if endpoint.asked % 2 else 429, "Retry-After: 1") if endpoint.asked <= 7 else (200, "")
    )
    await endpoint.come()
    async with asking(
        tmp_path, endpoint, breaker={"failures": 0}, fallback={"backoff_max_ms": 20}
    ) as ordain:
        assert statuses(await plans(ordain, range(1))) == ["ok"]
    await endpoint.go()
    assert endpoint.asked == 8


class Silent(Model):
    """A model that never answers; where ``stops``, the whole process stands still meanwhile, as it
    does while it is stopped.
    """

    def __init__(self, *, stops: bool) -> None:
        super().__init__(lambda _: 30.0)
        self._stops = stops

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        await asyncio.sleep(0)
        if self._stops:
            time.sleep(1.5)  # noqa: ASYNC251 - it is the stop
        return await super().attempt(request, heard)


@pytest.mark.parametrize("stops", [True, False], ids=["stopped", "silent"])
async def test_our_own_pause_opens_no_circuit(tmp_path: Path, stops: bool) -> None:
    """A time-out that came while this process stood still says nothing of the endpoint; one that
    came by itself does.
    """
    hurried = PRICED.model_copy(update={"timeout_ms": 1000})
    once = {"attempts_per_profile": 1, "attempts_at_last": 0}
    async with house(
        tmp_path,
        {"only": Silent(stops=stops)},
        {"only": hurried},
        breaker={"failures": 1},
        fallback=once,
    ) as ordain:
        told = (await ordain.plan(request())).wire
        assert told["status"] == "error"
        assert "timed_out" in told["header"]
        assert bool(ordain.runtime.services.breakers.open()) is not stops
        stored(ordain, told["run_id"])


async def test_a_408_is_tried_again_like_a_lost_connection(tmp_path: Path) -> None:
    """The endpoint gives up on the first request; the next one is answered, by the shipped
    policy.
    """
    times = iter([408, 200])
    endpoint = Endpoint(lambda _: (next(times), ""))
    await endpoint.come()
    async with asking(tmp_path, endpoint) as ordain:
        assert statuses(await plans(ordain, range(1))) == ["ok"]
    await endpoint.go()
    assert endpoint.asked == 2
    assert (
        load_settings({}, tmp_path).policy.fallback.on_error[ModelErrorCode.CONNECTION]
        is OnModelError.RETRY
    )
