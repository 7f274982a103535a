"""An OpenAI-compatible endpoint that answers what it is told and keeps what it was asked; as events
where it is asked to stream.
"""

import json
import threading
import time
from types import TracebackType
from typing import Any, Self

from tests.loopback import QuietHandler, QuietServer


class ModelEndpoint:
    """Answers with the queued messages in order; ``asked`` are the requests' bodies as they came.

    ``models`` are what it lists at ``/v1/models``; empty: it has no such path; a ``wanted_key`` has
    to be shown for it. A request with the field ``refuses`` is refused; ``locked``: every call is.
    A stream has pieces of ``piece_chars`` characters with ``piece_s`` seconds after each; ``streams
    = False`` answers whole all the same.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.answers: list[Any] = []
        self.streams = True
        self.piece_chars = 12
        self.piece_s = 0.0
        self.models: list[dict[str, Any]] = []
        self.wanted_key = self.refuses = ""
        self.locked = False
        endpoint = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                endpoint.asked.append(
                    json.loads(self.rfile.read(int(self.headers["content-length"])))
                )
                endpoint.keys.append(self.headers.get("authorization", ""))
                if endpoint.locked:
                    self.whole(401, {"error": {"message": "no such key"}})
                    return
                if endpoint.refuses and endpoint.refuses in endpoint.asked[-1]:
                    self.whole(400, {"error": {"message": f"unknown field {endpoint.refuses}"}})
                    return
                answer = endpoint.answers.pop(0)
                content = answer if isinstance(answer, str) else json.dumps(answer)
                usage = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
                if endpoint.streams and endpoint.asked[-1].get("stream"):
                    self.stream(content, usage)
                    return
                body = {
                    "model": "fake-1",
                    "choices": [{"message": {"content": content}, "finish_reason": "stop"}],
                    "usage": usage,
                }
                self.whole(200, body)

            def do_GET(self) -> None:
                if (
                    endpoint.wanted_key
                    and self.headers.get("authorization") != f"Bearer {endpoint.wanted_key}"
                ):
                    self.whole(401, {"error": {"message": "no such key"}})
                    return
                there = self.path == "/v1/models" and bool(endpoint.models)
                self.whole(
                    200 if there else 404,
                    {"object": "list", "data": endpoint.models} if there else {},
                )

            def whole(self, status: int, body: dict[str, Any]) -> None:
                encoded = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(encoded)))
                self.end_headers()
                self.wfile.write(encoded)

            def stream(self, content: str, usage: dict[str, int]) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for start in range(0, len(content), endpoint.piece_chars):
                    self.event(
                        [
                            {
                                "index": 0,
                                "delta": {"content": content[start : start + endpoint.piece_chars]},
                                "finish_reason": None,
                            }
                        ]
                    )
                    time.sleep(endpoint.piece_s)
                self.event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
                self.event([], usage=usage)
                self.chunk(b"data: [DONE]\n\n")
                self.chunk(b"")

            def event(self, choices: list[Any], **more: Any) -> None:
                self.chunk(
                    b"data: "
                    + json.dumps({"model": "fake-1", "choices": choices, **more}).encode()
                    + b"\n\n"
                )

            def chunk(self, data: bytes) -> None:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

        self._server = QuietServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def will_answer(self, *answers: Any) -> None:
        """Forget what was asked, and answer these."""
        self.asked.clear()
        self.keys.clear()
        self.answers[:] = answers

    def prompt(self, number: int) -> str:
        """Everything the model was shown in one request."""
        return "\n".join(message["content"] for message in self.asked[number]["messages"])

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
