"""What stands between an endpoint's first streamed token and the client's: the server's CPU, from
when the endpoint sends it until the client of ``/v1/chat/completions`` has it.

``python -m bench.first_token``. Endpoint and client are this process: the endpoint waits until the
server is at rest, reads its CPU, sends one token, and goes on when the client has it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httptools
import httpx2

from bench.served import Served

REST_S = 0.15
"""So long the server has nothing to do before the first token is sent."""
LOST_S = 1.0
WARM_UP = 5
"""Turns before what counts: of an endpoint that was never asked nothing is shown before its first
answer is whole, since it may begin within a thought.
"""
TOKEN, REST = "Wednesday", " comes after Tuesday, and nothing else does."
PROFILE = """[models.default]
provider = "openai"
model = "bench"
base_url = "{url}"
"""


class _Stream(asyncio.Protocol):
    """One kept connection of the endpoint."""

    def __init__(self, turn: FirstToken) -> None:
        self._turn = turn

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._turn.answering = asyncio.get_running_loop().create_task(self._answer())

    async def _answer(self) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        self._say({"role": "assistant", "content": ""})
        await asyncio.sleep(REST_S)
        self._turn.begun_s = self._turn.served.cpu_exactly_s()
        self._say({"content": TOKEN})
        with suppress(TimeoutError):
            await asyncio.wait_for(self._turn.seen.wait(), LOST_S)
        self._say({"content": REST})
        self._say({}, finish="stop")
        self._chunk(b"data: [DONE]\n\n")
        self._transport.write(b"0\r\n\r\n")

    def _say(self, delta: dict[str, str], finish: str | None = None) -> None:
        said = {
            "id": "chatcmpl-bench",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000,
            "model": "bench",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }
        self._chunk(b"data: " + json.dumps(said).encode() + b"\n\n")

    def _chunk(self, data: bytes) -> None:
        self._transport.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


class FirstToken:
    """One server, asked again and again."""

    def __init__(self, served: Served) -> None:
        """The endpoint is given its address later."""
        self.served = served
        self.seen = asyncio.Event()
        self.begun_s = 0.0
        self.answering: asyncio.Task[None] | None = None

    async def turn(self, http: httpx2.AsyncClient, number: int) -> float:
        """CPU seconds of the server between the two; -1 where the endpoint went on before."""
        self.seen.clear()
        spent, text = -1.0, ""
        body = {
            "model": "ordain",
            "user": f"ada-{number}",
            "stream": True,
            "messages": [{"role": "user", "content": "Which weekday comes after Tuesday?"}],
        }
        async with http.stream("POST", "/v1/chat/completions", json=body) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if not line.startswith("data: {"):
                    continue
                for choice in json.loads(line[6:])["choices"]:
                    text += choice["delta"].get("content") or ""
                if TOKEN in text and REST not in text and not self.seen.is_set():
                    spent = self.served.cpu_exactly_s() - self.begun_s
                    self.seen.set()
        assert TOKEN + REST in text, text
        return spent


async def measured(folder: Path, turns: int) -> dict[str, Any]:
    """Milliseconds of CPU: the median, and that of nine in ten."""
    held: list[FirstToken] = []
    loop = asyncio.get_running_loop()
    endpoint = await loop.create_server(lambda: _Stream(held[0]), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{endpoint.sockets[0].getsockname()[1]}/v1"
    (folder / "ordain.toml").write_text(PROFILE.format(url=url), encoding="utf-8")
    with Served(folder) as served:
        held.append(FirstToken(served))
        async with httpx2.AsyncClient(base_url=served.url, timeout=60, trust_env=False) as http:
            found = [await held[0].turn(http, number) * 1e3 for number in range(turns + WARM_UP)]
    endpoint.close()
    found = found[WARM_UP:]
    assert min(found) > 0, "the endpoint went on before its first token was there"
    return {
        "ms": round(median(found), 2),
        "ms_of_nine_in_ten": round(quantiles(found, n=10)[-1], 2),
        "turns": turns,
    }


def main() -> None:
    """One server, one line of figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_token", description=__doc__)
    parser.add_argument("--turns", type=int, default=40)
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="first-token-"))
    try:
        print(json.dumps(asyncio.run(measured(home, given.turns))))
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
