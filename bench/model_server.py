"""A model server without latency: what it answers depends on the request alone, so any number of
turns may ask at once.

It speaks chat completions over HTTP/1.1 with kept connections, in a process of its own, and does
nothing else: the time that a measured system spends is its own. Prints its port when it listens.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from functools import lru_cache

import httptools
import msgspec
import uvloop

from bench import work

_STEPS_LEFT = re.compile(r"STEPS LEFT: (\d+)")


def answer(request: dict[str, object]) -> bytes:
    """The completion for one request: tool calls where tools are offered, else Ordain's
    directive.
    """
    messages: list[dict[str, object]] = request["messages"]  # type: ignore[assignment] - the servers' own clients send nothing else
    if "tools" in request:
        return _tool_answer(sum(message["role"] == "tool" for message in messages))
    found = _STEPS_LEFT.search(str(messages[-1]["content"]))
    if found is None:
        raise ValueError("neither tools nor a count of steps in the request")
    return _directive_answer(work.MAX_STEPS - int(found[1]))


@lru_cache
def _tool_answer(index: int) -> bytes:
    if index >= work.CALLS:
        return _completion({"role": "assistant", "content": work.ANSWER}, "stop")
    function = {"name": work.TOOL_NAME, "arguments": json.dumps({"record": work.ASKED[index]})}
    calls = [{"id": f"call_{index}", "type": "function", "function": function}]
    return _completion(
        {"role": "assistant", "content": work.THOUGHTS[index], "tool_calls": calls}, "tool_calls"
    )


@lru_cache
def _directive_answer(index: int) -> bytes:
    return _completion(
        {"role": "assistant", "content": json.dumps(work.directive(index), ensure_ascii=False)},
        "stop",
    )


def _completion(message: dict[str, object], finish: str) -> bytes:
    return msgspec.json.encode(
        {
            "id": "chatcmpl-bench",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": work.MODEL,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 60, "total_tokens": 760},
        }
    )


class _Connection(asyncio.Protocol):
    """One kept connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._body: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        body, self._body = b"".join(self._body), []
        said = answer(msgspec.json.decode(body))
        head = (
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
            f"content-length: {len(said)}\r\n\r\n"
        ).encode()
        self._transport.write(head + said)  # type: ignore[attr-defined] - a TCP transport


async def serve(connection: Callable[[], asyncio.Protocol]) -> None:
    """Answer on a port of the machine's choice, which is printed, until the process that started
    this one closes its end.
    """
    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # ends with the process that started it
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(serve(_Connection))
