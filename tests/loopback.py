"""HTTP servers of the tests' own: on loopback, on a thread of their own, and without a word on
stderr.

``http.server`` prints a traceback wherever a client breaks its connection, which clients do when
they have what they wanted; in a test that stands amid what the command under test has printed.
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietServer(ThreadingHTTPServer):
    """A client that breaks its connection is no event; whatever else goes wrong here is told."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Called within the handler of the exception."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class QuietHandler(BaseHTTPRequestHandler):
    """Logs no request."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the library has it
        """Nothing is printed."""
