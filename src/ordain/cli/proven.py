"""Connections to the server of a data folder, each of which proves itself before anything is sent
over it: no token, and no word of a request.

The proof is asked for on the very connection that is used then, and of every new one: a server may
end between two, and another process take its port.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from contextlib import contextmanager
from typing import Any, cast

import httpcore2
import httpx2

from ordain.contracts.proof import CHALLENGE_HEADER, PROOF_HEADER, is_proven
from ordain.errors import Transient

KEPT = 8
"""Idle connections that are kept."""
_FAILED = (
    httpcore2.NetworkError,
    httpcore2.TimeoutException,
    httpcore2.ProtocolError,
    httpcore2.UnsupportedProtocol,
    OSError,
)


class _Proving(httpcore2.AsyncNetworkBackend):
    """Opens connections as ever, and hands on those alone that proved whose they are."""

    def __init__(self, key: Callable[[], str], patience_s: float) -> None:
        self._key, self._patience = key, {"read": patience_s, "write": patience_s}
        self._inner = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        stream = await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            await self._prove(stream, host, port)
        except BaseException:  # whatever was wrong with it, nothing else goes over it
            await stream.aclose()
            raise
        return stream

    async def _prove(self, stream: httpcore2.AsyncNetworkStream, host: str, port: int) -> None:
        url = httpcore2.URL(scheme=b"http", host=host.encode(), port=port, target=b"/health")
        asking, challenge = (
            httpcore2.AsyncHTTP11Connection(origin=url.origin, stream=stream),
            secrets.token_hex(32),
        )
        named = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        headers = [("Host", named), (CHALLENGE_HEADER, challenge)]
        async with asking.stream(
            "GET", url, headers=headers, extensions={"timeout": self._patience}
        ) as answer:
            proofs = [
                value
                for name, value in answer.headers
                if name.lower() == PROOF_HEADER.lower().encode()
            ]
            if len(proofs) != 1 or not is_proven(
                self._key(), challenge, proofs[0].decode("latin-1")
            ):
                raise Transient(
                    f"what answers on {named} does not prove that it is the server of the data "
                    "folder",
                    code="server_unproven",
                )
            await answer.aread()


class ProvenTransport(httpx2.AsyncBaseTransport):
    """What httpx2 sends through: connections that have proven to hold what ``key`` gives, asked for
    each, within ``patience_s`` seconds.

    Requests raise what httpx2 raises, and ``Transient`` with code ``server_unproven`` where
    something else answers.
    """

    def __init__(self, key: Callable[[], str], patience_s: float) -> None:
        """Nothing is connected yet."""
        self._pool = httpcore2.AsyncConnectionPool(
            max_connections=None,
            max_keepalive_connections=KEPT,
            network_backend=_Proving(key, patience_s),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send, and give the answer as it begins."""
        url, stream = request.url, request.stream
        assert isinstance(stream, httpx2.AsyncByteStream)  # what an asynchronous client makes
        asked = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=stream,
            extensions=request.extensions,
        )
        with _named():
            answer = await self._pool.handle_async_request(asked)
        return httpx2.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    async def aclose(self) -> None:
        """Close every connection."""
        with _named():
            await self._pool.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, answer: httpcore2.Response) -> None:
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _named():
            async for part in self._answer.aiter_stream():
                yield part

    async def aclose(self) -> None:
        with _named():
            await self._answer.aclose()


@contextmanager
def _named() -> Generator[None]:
    """Errors of httpx2, which has a class of the same name for each."""
    try:
        yield
    except _FAILED as error:
        raise getattr(httpx2, type(error).__name__, httpx2.TransportError)(str(error)) from error
