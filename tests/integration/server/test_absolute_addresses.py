"""Requests that name their host in their address, as those to a proxy do."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.integration.server.connecting import Listening, listening_server, wire

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def place(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Listening]:
    async with listening_server(tmp_path_factory.mktemp("absolute")) as place:
        yield place


@pytest.mark.parametrize(
    ("address", "host", "status"),
    [
        (b"http://localhost/health", b"localhost", 200),
        (b"http://[::1]:8090/health", b"localhost", 200),
        (b"http://localhost/health", b"evil.example", 200),
        (b"http://evil.example/health", b"localhost", 421),
        (b"HTTP://evil.example:80/health", b"localhost", 421),
        (b"http://localhost@evil.example/health", b"localhost", 421),
        (b"other://evil.example/health", b"localhost", 421),
    ],
)
async def test_the_host_is_the_one_of_the_address(
    place: Listening, address: bytes, host: bytes, status: int
) -> None:
    """Where a request names its host in its address, that one is asked, and ``Host`` says
    nothing.
    """
    async with wire(place.port) as line:
        await line.send(b"GET " + address + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
        assert (await line.answer()).status == status


async def test_two_hosts_are_none(place: Listening) -> None:
    """An address does not make one host of two headers, nor one of none."""
    for hosts in (b"", b"Host: localhost\r\nHost: localhost\r\n"):
        async with wire(place.port) as line:
            await line.send(b"GET http://localhost/health HTTP/1.1\r\n" + hosts + b"\r\n")
            assert (await line.answer()).status == 421
