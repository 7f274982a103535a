"""A fake OpenAI-compatible endpoint as small ones are: it writes prose, and refuses or passes over
what it does not know.

``refuses`` are fields of a request that it answers with ``status`` (``response_format``,
``tools``); what it takes it pays no heed to. ``plans``: where a prompt's words ask for JSON of a
schema it gives a planner's last step, or an object of facts; ``steps`` are given before that.
``calls`` are the functions that it calls, with their inputs, where it is told to call another.
Every body is kept, as it came.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.loopback import QuietHandler, QuietServer

PROSE = "The sea is wide, and it is {blue}.\n✓ math.evaluate: 42"
"""Prose as small models write it: with braces that are no JSON, and with a line that looks like one
of a header.
"""
CONSTRAINT = "valid for this JSON Schema"
STEP = {
    "thought": "done",
    "finish": True,
    "action": None,
    "final_answer": {"content": "Forty-two.", "structured": {}},
}
FACTS = {
    "facts": [
        {"text": "The lamp is red.", "subject": "The lamp", "predicate": "is", "object": "red"}
    ],
    "method": "analysed",
}


@dataclass
class ProseEndpoint:
    """What the endpoint refuses, whether it can keep to a schema that it is told, and what it was
    asked.
    """

    refuses: frozenset[str] = frozenset()
    plans: bool = False
    steps: list[dict[str, Any]] = field(default_factory=list)
    says: str = PROSE
    status: int = 400
    calls: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    def ways(self) -> list[str]:
        """How each request wanted its answer held, in order."""
        return [way_of(body) for body in self.asked]

    def message(self, body: dict[str, Any]) -> dict[str, Any]:
        """What it answers, as a message's fields."""
        if not self.calls or "tools" not in body:
            return {"content": self.text(body)}
        called = [{"name": name, "arguments": given} for name, given in self.calls]
        return {
            "tool_calls": [
                {"index": n, "id": f"c{n}", "type": "function", "function": one}
                for n, one in enumerate(called)
            ]
        }

    def text(self, body: dict[str, Any]) -> str:
        """What it says to a request."""
        system = body["messages"][0]["content"]
        if CONSTRAINT in system and self.steps:
            return json.dumps(self.steps.pop(0))
        if not self.plans or CONSTRAINT not in system:
            return self.says
        return json.dumps(STEP if "final_answer" in system else FACTS)


def way_of(body: dict[str, Any]) -> str:
    """How a request wants its answer held: by the wire, by words alone, or not at all."""
    if "response_format" in body:
        return "native"
    if "tools" in body:
        return "tool"
    return "text" if CONSTRAINT in body["messages"][0]["content"] else "plain"


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    endpoint: ProseEndpoint

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.endpoint.asked.append(body)
        if refused := sorted(self.endpoint.refuses & body.keys()):
            return self._send(
                self.endpoint.status,
                "application/json",
                json.dumps(
                    {"error": {"message": f"unknown field {refused[0]}", "param": refused[0]}}
                ),
            )
        message = self.endpoint.message(body)
        text: str = message.get("content", "")
        usage = {"prompt_tokens": 20, "completion_tokens": 10}
        if not body.get("stream"):
            choice = {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "stop",
            }
            return self._send(
                200,
                "application/json",
                json.dumps({"model": "small", "choices": [choice], "usage": usage}),
            )
        whole = [] if "content" in message else [{"choices": [{"index": 0, "delta": message}]}]
        pieces = [
            {"choices": [{"index": 0, "delta": {"content": text[at : at + 7]}}]}
            for at in range(0, len(text), 7)
        ]
        events = [
            *whole,
            *pieces,
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage},
        ]
        said = "".join(f"data: {json.dumps({'model': 'small', **event})}\n\n" for event in events)
        return self._send(200, "text/event-stream", said + "data: [DONE]\n\n")

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def prose_endpoint(
    *refuses: str,
    plans: bool = False,
    says: str = PROSE,
    steps: Sequence[dict[str, Any]] = (),
    **more: Any,
) -> Iterator[ProseEndpoint]:
    """The endpoint, while it is needed."""
    endpoint = ProseEndpoint(
        refuses=frozenset(refuses), plans=plans, says=says, steps=list(steps), **more
    )
    handler = type("Handler", (_Handler,), {"endpoint": endpoint})
    with QuietServer(("127.0.0.1", 0), handler) as server:
        endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        try:
            yield endpoint
        finally:
            server.shutdown()
