"""Refusals: what the process runs out of is nobody's mistake, and is told as such."""

from __future__ import annotations

import errno
import json

import pytest
from starlette.types import Message, Receive, Scope, Send

from ordain.server.problems import BugsAnswered, out_of_resources, unforeseen


def because(cause: BaseException) -> Exception:
    """An error that came of another one."""
    try:
        try:
            raise cause
        except BaseException:
            raise RuntimeError("it did not work")  # noqa: B904 - as a library does that says no cause
    except RuntimeError as error:
        return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EMFILE, ""),
        OSError(errno.ENFILE, ""),
        OSError(errno.ENOMEM, ""),
        because(MemoryError()),
    ],
)
def test_what_is_used_up_is_unavailable(error: Exception) -> None:
    """503 with a delay, whether it says so itself or came of it."""
    assert out_of_resources(error)
    answer = unforeseen(error)
    assert (
        answer.status_code,
        json.loads(bytes(answer.body))["code"],
        "retry-after" in answer.headers,
    ) == (503, "out_of_resources", True)


@pytest.mark.parametrize(
    "error", [OSError(errno.EACCES, ""), FileNotFoundError(), because(ValueError())]
)
def test_anything_else_is_a_bug(error: Exception) -> None:
    """500, as of every error that nobody expected."""
    assert not out_of_resources(error)
    assert unforeseen(error).status_code == 500


@pytest.mark.parametrize(
    ("kind", "begins", "told"),
    [
        ("http", "", ["http.response.start", "http.response.body"]),
        ("websocket", "", ["websocket.http.response.start", "websocket.http.response.body"]),
        ("http", "http.response.start", ["http.response.start"]),
        ("websocket", "websocket.accept", ["websocket.accept"]),
        ("lifespan", "", []),
    ],
)
async def test_a_bug_has_an_answer_where_none_has_begun(
    kind: str, begins: str, told: list[str]
) -> None:
    """A request's and a handshake's; what has begun, and what is no request, is the server's."""
    sent: list[Message] = []

    async def broken(_: Scope, __: Receive, send: Send) -> None:
        if begins:
            await send({"type": begins, "status": 200, "headers": []})
        raise KeyError("a bug")

    async def receive() -> Message:
        return {"type": f"{kind}.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    app = BugsAnswered(broken)
    scope = {
        "type": kind,
        "path": "/",
        "headers": [],
        "extensions": {"websocket.http.response": {}},
    }
    if begins or kind == "lifespan":
        with pytest.raises(KeyError):
            await app(scope, receive, send)
    else:
        await app(scope, receive, send)
        assert sent[0]["status"] == 500
        assert json.loads(sent[1]["body"])["code"] == "internal"
    assert [message["type"] for message in sent] == told
