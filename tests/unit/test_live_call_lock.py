"""The live-call lock holds for every way out."""

import asyncio
import socket
from pathlib import Path

import httpx2
import pytest

BEYOND = "192.0.2.1"  # reserved for documentation: nobody answers there
REFUSED = pytest.raises(pytest.fail.Exception, match="live-call lock")


def test_sockets_do_not_connect_beyond_loopback() -> None:
    """A socket is refused an address that is not loopback, connected or not."""
    with socket.socket() as stream, REFUSED:
        stream.connect((BEYOND, 80))
    with socket.socket() as stream, REFUSED:
        stream.connect_ex((BEYOND, 80))
    with socket.socket(type=socket.SOCK_DGRAM) as datagram, REFUSED:
        datagram.sendto(b"", (BEYOND, 53))


def test_names_are_not_resolved() -> None:
    """A host name never reaches a resolver."""
    with REFUSED:
        socket.getaddrinfo("example.org", 443)


async def test_clients_are_refused_through_their_libraries() -> None:
    """The refusal passes through asyncio and httpx2, which turn other errors into their own."""
    with REFUSED:
        await asyncio.open_connection(BEYOND, 80)
    async with httpx2.AsyncClient() as client:
        with pytest.RaisesGroup(pytest.RaisesExc(pytest.fail.Exception, match="live-call lock")):
            await client.get(f"http://{BEYOND}/")


async def test_loopback_is_open(tmp_path: Path) -> None:
    """Loopback by address or name, and sockets of the file system, are reached."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        for host in ("127.0.0.1", "localhost"):
            _, writer = await asyncio.open_connection(host, port)
            writer.close()
            await writer.wait_closed()
    local = await asyncio.start_unix_server(
        lambda reader, writer: writer.close(), tmp_path / "socket"
    )
    async with local:
        _, writer = await asyncio.open_unix_connection(tmp_path / "socket")
        writer.close()
        await writer.wait_closed()
