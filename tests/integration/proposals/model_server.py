"""An OpenAI-compatible server that plays prepared answers: run by run, in order, whatever is asked.

``POST /script`` with ``{case: [answer, ...]}`` prepares; a completion request belongs to the case
that its prompt names as ``[case:...]`` and gets that case's next answer as the model's content;
``GET /calls`` says how many answers each case has given.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from typing import Any

CASE = re.compile(r"\[case:([\w/.-]+)\]")


class ModelServer:
    """The scripts and how far each has been played."""

    def __init__(self) -> None:
        self.scripts: dict[str, list[str]] = {}
        self.calls: Counter[str] = Counter()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        if method == "GET":
            return 200, self.calls
        given = json.loads(body)
        if path == "/script":
            self.scripts |= given
            return 200, len(self.scripts)
        named = CASE.search(given["messages"][-1]["content"])
        assert named
        case = named.group(1)
        place = self.calls[case]
        self.calls[case] += 1
        if place >= len(self.scripts[case]):
            return 500, {"error": {"message": "nothing left to play"}}
        message = {"role": "assistant", "content": self.scripts[case][place]}
        said = 5 + len(message["content"].encode(errors="replace")) // 64  # else it is not believed
        usage = {"prompt_tokens": 10, "completion_tokens": said, "total_tokens": 10 + said}
        return 200, {
            "model": "malformed",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage,
        }

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *fields = head.strip().split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (field.partition(":") for field in fields)
                }
                method, path, _ = line.split(" ")
                status, value = self.answer(
                    method, path, await reader.readexactly(int(headers.get("content-length", 0)))
                )
                body = json.dumps(value).encode()
                writer.write(
                    (
                        f"HTTP/1.1 {status} -\r\ncontent-type: application/json\r\n"
                        f"content-length: {len(body)}\r\n\r\n"
                    ).encode()
                    + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def main() -> None:
    server = await asyncio.start_server(ModelServer().serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
