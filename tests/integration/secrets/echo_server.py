"""A model endpoint that gives away whatever it is given: key and prompt, in good answers, in
refusals, in headers, in a stream.

What the prompt says decides: ``echo-refusal`` is a 400 that quotes everything, ``echo-overload`` a
503, ``echo-cut`` a connection that ends within the answer, anything else a good answer with the key
in it. Everything that was sent here stands in ``asked``, headers apart.
"""

import base64
import json
import socketserver
import threading
from types import TracebackType
from typing import Any, Self

from tests.loopback import QuietHandler, QuietServer


class EchoServer:
    """Answers on loopback; ``asked`` are request lines and bodies, ``keys`` what stood in the
    header that is for them.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.keys: list[str] = []
        place = self

        class Handler(QuietHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"])).decode()
                key = (
                    self.headers.get("authorization")
                    or self.headers.get("x-api-key")
                    or self.headers.get("x-goog-api-key")
                    or ""
                )
                place.asked.append(f"{self.requestline}\n{body}")
                place.keys.append(key)
                if "echo-cut" in body:
                    self.send_response(200)
                    self.send_header("content-length", "10000")
                    self.end_headers()
                    self.wfile.write(f'{{"choices": [{{"message": {{"content": "{key}'.encode())
                    self.close_connection = True
                elif "echo-refusal" in body or "echo-overload" in body:
                    status = 400 if "echo-refusal" in body else 503
                    said = {
                        "error": {
                            "message": f"wrong key {key} for {body}",
                            "type": key,
                            "code": key.removeprefix("Bearer "),
                        }
                    }
                    self.answer(status, "application/json", json.dumps(said).encode(), key)
                elif json.loads(body).get("stream"):
                    parts = "".join(
                        self.event({"content": piece}, None) for piece in pieces(content(key))
                    )
                    self.answer(
                        200,
                        "text/event-stream",
                        (parts + self.event({}, "stop") + "data: [DONE]\n\n").encode(),
                        key,
                    )
                else:
                    choice = {"message": {"content": content(key)}, "finish_reason": "stop"}
                    said = {
                        "model": key,
                        "choices": [choice],
                        "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                    }
                    self.answer(200, "application/json", json.dumps(said).encode(), key)

            def do_GET(self) -> None:
                """What an HTTP verb asks for: its key comes back in the body, as value and as
                name.
                """
                key = self.headers.get("x-verb-key", "")
                place.keys.append(key)
                self.answer(
                    200,
                    "application/json",
                    json.dumps({"key": key, "again": [f"x{key}", basic(key)], key: 1}).encode(),
                    key,
                )

            @staticmethod
            def event(delta: dict[str, Any], finish: str | None) -> str:
                chunk = {
                    "model": "echo",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                }
                return f"data: {json.dumps(chunk)}\n\n"

            def answer(self, status: int, kind: str, body: bytes, key: str) -> None:
                self.send_response(status, f"no {key}")
                for name, value in (
                    ("content-type", kind),
                    ("content-length", str(len(body))),
                    ("x-key", key),
                    ("retry-after", key),
                ):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

        self._server = QuietServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

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


def basic(key: str) -> str:
    """The key as HTTP Basic has it."""
    return base64.b64encode(f"user:{key}".encode()).decode()


def content(key: str) -> str:
    """An answer of every contract's shape there is here, with the key in its words."""
    bare = key.removeprefix("Bearer ")
    return json.dumps(
        {"content": f"the key is {key}, and {bare} again, and Basic {basic(bare)}", "text": key}
    )


def pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


class EchoMailServer:
    """A mail server on loopback that refuses every login with all that it was told; ``logins`` are
    those.
    """

    def __init__(self) -> None:
        self.logins: list[str] = []
        place = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                self.wfile.write(b"220 echo\r\n")
                for line in self.rfile:
                    if line.startswith(b"AUTH PLAIN "):
                        told = base64.b64decode(line.split()[2]).decode().replace("\0", " ")
                        place.logins.append(told)
                        self.wfile.write(f"535 {line.decode().strip()} is {told}\r\n".encode())
                    else:
                        self.wfile.write(
                            b"221 bye\r\n"
                            if line.startswith(b"QUIT")
                            else b"250-echo\r\n250 AUTH PLAIN\r\n"
                        )

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

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
