"""Which pages may open a WebSocket."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.server.face import Exposure
from ordain.server.loopback import HostGuard

HOST = "chat.example:8090"
OURS = "https://app.example"
CLOSED = Exposure(demanded=True, origins=(OURS,))


async def answered(kind: str, exposure: Exposure, **headers: str) -> str:
    """Let through, or with which status it was refused."""
    said: list[str] = []

    async def app(*_: Any) -> None:
        said.append("let through")

    async def send(message: Any) -> None:
        if "status" in message:
            said.append(str(message["status"]))

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    named = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
    scope = {
        "type": kind,
        "method": "GET",
        "path": "/ws",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
        "extensions": {"websocket.http.response": {}},
    }
    await HostGuard(app, exposure)(scope, receive, send)
    return said[0]


@pytest.mark.parametrize(
    ("origin", "opens"),
    [
        ("https://evil.example", False),
        ("null", False),
        (f"https://{HOST}.evil.example", False),
        (f"https://{HOST}", True),
        (f"http://{HOST}", True),
        (OURS, True),
        ("", True),
    ],
)
async def test_a_token_lets_no_foreign_page_listen(origin: str, opens: bool) -> None:
    """No browser keeps from a page what comes over a WebSocket: its origin counts, token or not. A
    program names none; over HTTP the browser sees to it.
    """
    headers = {"authorization": "Bearer x"} | ({"origin": origin} if origin else {})
    told = await answered("websocket", CLOSED, **headers)
    assert told == ("let through" if opens else "403")
    assert await answered("http", CLOSED, **headers) == "let through"
