"""A model server without latency that speaks every provider's wire: the same answer in each, whole
or as events. Prints its port.
"""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache
from typing import Any

import httptools
import uvloop

from bench.model_server import serve

ANSWER = {
    "content": (
        "Wednesday comes after Tuesday; that is so in every week of the year, and nobody has to "
        "look it up."
    )
}
TEXT = json.dumps(ANSWER)
PIECES = [TEXT[at : at + 24] for at in range(0, len(TEXT), 24)]
MODEL = "bench-1"


def chat() -> dict[str, Any]:
    """A chat completion."""
    message = {"role": "assistant", "content": TEXT}
    usage = {"prompt_tokens": 160, "completion_tokens": 30, "total_tokens": 190}
    return {
        "id": "c",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }


def response() -> dict[str, Any]:
    """A response."""
    message = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": TEXT}],
    }
    return {
        "id": "r",
        "object": "response",
        "status": "completed",
        "model": MODEL,
        "output": [message],
        "usage": {"input_tokens": 160, "output_tokens": 30},
    }


def message() -> dict[str, Any]:
    """A message of Anthropic's."""
    said: dict[str, Any] = {
        "content": [{"type": "text", "text": TEXT}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
    }
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        **said,
        "usage": {"input_tokens": 160, "output_tokens": 30},
    }


def content(text: str = TEXT, finish: str | None = "STOP") -> dict[str, Any]:
    """A content of Gemini's."""
    candidate = {
        "content": {"role": "model", "parts": [{"text": text}]},
        "index": 0,
        **({"finishReason": finish} if finish else {}),
    }
    usage = {"promptTokenCount": 160, "candidatesTokenCount": 30, "totalTokenCount": 190}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}


def events(path: str) -> list[dict[str, Any]]:
    """The same as events."""
    if "/responses" in path:
        deltas = [
            {"type": "response.output_text.delta", "output_index": 0, "delta": piece}
            for piece in PIECES
        ]
        return [*deltas, {"type": "response.completed", "response": response()}]
    if "/models/" in path:
        return [*(content(piece, None) for piece in PIECES[:-1]), content(PIECES[-1])]
    if "/messages" in path:
        start = {
            "type": "message_start",
            "message": {**message(), "content": [], "stop_reason": None},
        }
        block = {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": ""},
        }
        deltas = [
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            }
            for piece in PIECES
        ]
        end = {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 30},
        }
        return [
            start,
            block,
            *deltas,
            {"type": "content_block_stop", "index": 0},
            end,
            {"type": "message_stop"},
        ]
    parts = [
        {
            "model": MODEL,
            "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}],
        }
        for piece in PIECES
    ]
    end = {
        "model": MODEL,
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": chat()["usage"],
    }
    return [*parts, end]


@lru_cache
def answer(path: str, *, streams: bool) -> bytes:
    """The whole HTTP answer for a path."""
    if not streams:
        made = (
            response
            if "/responses" in path
            else content
            if "/models/" in path
            else message
            if "/messages" in path
            else chat
        )
        return _http(json.dumps(made()).encode(), b"application/json")
    lines = [
        f"event: {event.get('type')}\n" * ("/messages" in path) + f"data: {json.dumps(event)}\n\n"
        for event in events(path)
    ]
    return _http("".join(lines).encode(), b"text/event-stream")


def _http(body: bytes, media_type: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-type: %b\r\ncontent-length: %d\r\n\r\n%b" % (
        media_type,
        len(body),
        body,
    )


class _Connection(asyncio.Protocol):
    """One kept connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._path, self._body = "", b""

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self._path = url.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        streams = ":streamGenerateContent" in self._path or b'"stream":true' in self._body.replace(
            b" ", b""
        )
        self._body = b""
        self._transport.write(answer(self._path, streams=streams))  # type: ignore[attr-defined] - a TCP transport


if __name__ == "__main__":
    uvloop.run(serve(_Connection))
