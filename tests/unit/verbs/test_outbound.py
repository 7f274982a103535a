"""What goes out, where this process cannot even begin to send: no word has, whatever kept it from
that.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import httpx2
import pytest

from ordain.verbs.functions import VerbError
from ordain.verbs.mail_server import MailServer
from ordain.verbs.outbound import NoExchange, Outgoing, Reach, exchange
from ordain.verbs.smtp import deliver

NOTHING_LEFT = [
    RuntimeError("can't start new thread"),
    MemoryError(),
    OSError(24, "Too many open files"),
    UnicodeError("label too long"),
]
REQUEST = Outgoing(method="PUT", url=httpx2.URL("http://shelf.test/1"), headers={}, content=b"{}")
NEAR = Reach(private_hosts=frozenset({"shelf.test"}))


def failing(error: Exception) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    async def resolve(_: str, __: int) -> Sequence[str]:
        raise error

    return resolve


async def here(_: str, __: int) -> Sequence[str]:
    return ["127.0.0.1"]


async def nothing() -> None:
    """Nobody has anything against it."""


async def sent(resolver: Any) -> NoExchange:
    with pytest.raises(NoExchange) as failed:
        async with exchange(REQUEST, NEAR, resolver):
            raise AssertionError("nobody answers")
    return failed.value


@pytest.mark.parametrize("error", NOTHING_LEFT, ids=lambda error: type(error).__name__)
async def test_who_cannot_ask_for_an_address_has_sent_nothing(error: Exception) -> None:
    """No thread, memory or descriptor to ask with: a request and a mail certainly did not go
    out.
    """
    failed = await sent(failing(error))
    assert (failed.code, failed.retryable, failed.sent) == ("not_resolved", True, False)
    server = MailServer(
        host="mail.test", port=25, security="tls", sender="a@mail.test", resolver=failing(error)
    )
    with pytest.raises(VerbError) as mailed:
        await deliver(server, ["b@mail.test"], b"words", 5, nothing)
    assert (mailed.value.code, mailed.value.happened) == ("not_resolved", False)


@pytest.mark.parametrize("error", NOTHING_LEFT, ids=lambda error: type(error).__name__)
async def test_who_cannot_connect_has_sent_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the library fails with before the first word."""

    async def fails(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", fails)
    failed = await sent(here)
    assert (failed.code, failed.retryable, failed.sent) == ("not_connected", True, False)


@pytest.mark.parametrize("error", NOTHING_LEFT, ids=lambda error: type(error).__name__)
async def test_what_fails_behind_the_first_word_leaves_it_in_doubt(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From there on the other side may have all of it."""

    async def fails(_: Any, request: httpx2.Request) -> Any:
        await request.extensions["trace"]("http11.send_request_headers.started", {})
        raise error

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", fails)
    failed = await sent(here)
    assert (failed.code, failed.sent) == ("no_answer", True)
