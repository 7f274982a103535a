"""The outside world of the flow shapes: an HTTP server in a process of its own that counts what
reaches it, by idempotency key.

Everything stands under a case name, so that one server serves any number of cases at once::

    POST /CASE/note         idempotent: a key that was seen is answered again and not applied again
    POST /CASE/entry        not idempotent: every call that gets through is applied
    GET  /CASE/entry/KEY/N  whether a call with this key was applied; if not, none with attempt N or
    a lower one will be from now on GET  /CASE              every call of the case, in order of
    arrival PUT  /CASE              {"kill": {"when": "arrived|applied|answered", "n": 3}, "hold":
    true}: prepare the case DELETE /CASE            let go what is held

A call says in its headers which process makes it; at the prepared moment the server kills that
process with SIGKILL. ``n`` counts calls over the whole case, and one kill is made per case. A call
whose text begins with "hold" waits until it is let go; one whose text begins with "poison" kills
its caller every time.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HOLD_S = 60.0


@dataclass(slots=True)
class Case:
    """What one case has seen."""

    calls: list[dict[str, Any]] = field(default_factory=list)
    applied: set[str] = field(default_factory=set)
    voided: dict[str, int] = field(default_factory=dict)
    kill: dict[str, Any] | None = None
    hold: bool = False
    released: threading.Event = field(default_factory=threading.Event)


class Ledger(ThreadingHTTPServer):
    """The server with its cases."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.guard = threading.Lock()
        self.cases: dict[str, Case] = {}

    def case(self, name: str) -> Case:
        with self.guard:
            return self.cases.setdefault(name, Case())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed is what this server is for."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Ledger
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body leave in one packet: no delayed acknowledgement between them
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        name, verb = self.path.strip("/").split("/")
        case, body = self.server.case(name), self._body()
        key, boot, pid = (
            self.headers["Idempotency-Key"],
            int(self.headers["X-Boot"]),
            int(self.headers["X-Pid"]),
        )
        call = {
            "verb": verb,
            "key": key,
            "boot": boot,
            "text": body["text"],
            "applied": False,
            "answered": False,
        }
        with self.server.guard:
            case.calls.append(call)
            n = len(case.calls)
        if case.hold and body["text"].startswith("hold"):
            case.released.wait(HOLD_S)
            if self._gone():
                return
        if body["text"].startswith("poison"):
            self._poison(case, boot, pid)
            return
        if self._kills(case, "arrived", n, pid):
            return
        with self.server.guard:
            void = int(self.headers["X-Attempt"] or 1) <= case.voided.get(key, 0)
            call["applied"] = not void and not (verb == "note" and key in case.applied)
            if not void:
                case.applied.add(key)
        if self._kills(case, "applied", n, pid):
            return
        self._answer({"receipt": f"{verb} {body['text']}"})
        call["answered"] = True
        self._kills(case, "answered", n, pid)

    def _poison(self, case: Case, boot: int, pid: int) -> None:
        """Kill whoever calls with poison, once another call of the same process is held, or it is
        plain that none will come.
        """
        for _ in range(1000 if boot < 3 else 40):
            if any(call["boot"] == boot and call["text"].startswith("hold") for call in case.calls):
                break
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)

    def _gone(self) -> bool:
        """Whether the caller has died meanwhile: a ledger that can be asked afterwards must not
        apply after it was asked.
        """
        try:
            return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False

    def _kills(self, case: Case, when: str, n: int, pid: int) -> bool:
        with self.server.guard:
            if case.kill is None or case.kill["when"] != when or case.kill["n"] != n:
                return False
            case.kill = None
        os.kill(pid, signal.SIGKILL)
        return True

    def do_GET(self) -> None:
        name, *rest = self.path.strip("/").split("/")
        case = self.server.case(name)
        if rest:
            with self.server.guard:
                happened = rest[1] in case.applied
                if not happened:
                    case.voided[rest[1]] = int(rest[2])
            text = next((call["text"] for call in case.calls if call["key"] == rest[1]), "")
            self._answer(
                {
                    "happened": happened,
                    "output": {"receipt": f"{rest[0]} {text}"} if happened else {},
                }
            )
        else:
            self._answer({"calls": case.calls})

    def do_PUT(self) -> None:
        case, plan = self.server.case(self.path.strip("/")), self._body()
        case.kill, case.hold = plan.get("kill"), bool(plan.get("hold"))
        self._answer({})

    def do_DELETE(self) -> None:
        self.server.case(self.path.strip("/")).released.set()
        self._answer({})

    def _body(self) -> dict[str, Any]:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    def _answer(self, body: dict[str, Any]) -> None:
        encoded = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(encoded)))
        self.end_headers()
        self.wfile.write(encoded)
        self.wfile.flush()

    def log_message(self, *args: Any) -> None:
        """Say nothing: the calls are the log."""


if __name__ == "__main__":
    ledger = Ledger()
    os.write(1, f"{ledger.server_address[1]}\n".encode())
    threading.Thread(target=ledger.serve_forever, daemon=True).start()
    sys.stdin.read()  # ends with the process that started it
