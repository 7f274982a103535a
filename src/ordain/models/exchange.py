"""One POST to one address over kept connections, with a bound on what is read back.

This stands on httpcore2, the engine of httpx2, and not on ``httpx2.AsyncClient``: measured on one
machine with the answer decoded, the client costs 650 µs of CPU per call (1.3 ms at 16 at a time,
where its pool polls every idle connection before every request), a connection taken from a
last-in-first-out stack 200-250 µs at any number. The last used connection is the likeliest to be
alive.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Protocol, cast
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
from msgspec import Struct

from ordain.contracts.hosted import LOOPBACK
from ordain.errors import ConfigurationError
from ordain.models.certificates import loaded
from ordain.models.pace import TOO_FINE, Pace
from ordain.runtime.time_limit import TimeLimit

ANSWER_BYTES = 4 * 1024 * 1024
KEPT_CONNECTIONS = 64
KEPT_S = 4.0
"""So long a connection is kept that nothing is asked over: many servers close theirs after five
seconds, and a request sent at that moment is lost.
"""
REST_S = 0.1
EVENTS = b"text/event-stream"
USER_AGENT = b"ordain"


class TooFine(httpcore2.RemoteProtocolError):
    """The body comes in more and smaller chunks than an answer does."""


class Stalled(httpcore2.NetworkError):
    """The body stopped in the midst: nothing came for longer than its listener waits."""


class HttpAnswer(Struct, frozen=True):
    """Status, headers by lower-case name (the last of several wins) and body; None where the body
    is larger than ``ANSWER_BYTES``.
    """

    status: int
    headers: Mapping[bytes, bytes]
    body: bytes | None


class Listener(Protocol):
    """Takes the body of a success while it arrives, instead of having it collected."""

    @property
    def patience_s(self) -> float | None:
        """How long the next bytes may take, in seconds; None: nothing bounds that here. Asked
        before each.
        """
        ...

    def wants(self, media_type: bytes) -> bool:
        """Asked once, with the answer's media type ("" where it has none)."""
        ...

    def take(self, chunk: bytes) -> bool:
        """The next bytes; False when it needs no more. Must be cheap."""
        ...

    def suffices(self, *, silent: bool) -> bool:
        """Whether what came is an answer although the body broke off, or fell silent for as long as
        this waits.
        """
        ...


class Exchange:
    """Posts JSON to one URL. Follows no redirect, keeps no cookie, asks for no compression. One
    event loop only.

    The usual variables (``HTTPS_PROXY``, ``NO_PROXY``, ``SSL_CERT_FILE``) are honoured as they are
    when this is made.
    """

    def __init__(
        self, url: str, headers: list[tuple[bytes, bytes]], *, keeps_streams: bool = True
    ) -> None:
        """``headers`` are sent besides host, length and media type. Without ``keeps_streams`` a
        connection ends with a stream of events that came over it.

        Raises:
            ConfigurationError: ``url`` is no plain http or https address.
        """
        parts = checked_url(url)
        default = 443 if parts.scheme == "https" else 80
        host = cast("str", parts.hostname).encode("idna")
        port = parts.port or default
        shown = b"[" + host + b"]" if b":" in host else host
        self.url = url
        self._target = httpcore2.URL(
            scheme=parts.scheme.encode(), host=host, port=port, target=parts.path.encode() or b"/"
        )
        self._headers = [
            (b"host", shown if port == default else shown + f":{port}".encode()),
            (b"user-agent", USER_AGENT),
            (b"accept", b"application/json"),
            (b"accept-encoding", b"identity"),
            (b"content-type", b"application/json"),
            *headers,
        ]
        https = parts.scheme == "https"
        self._tls = loaded(httpcore2.default_ssl_context) if https else None
        self._idle: list[httpcore2.AsyncHTTPConnection] = []
        self._keeps_streams = keeps_streams
        self._proxy = _proxy(parts, self._tls)
        self._closed = False

    async def post(self, body: bytes, listener: Listener | None = None) -> HttpAnswer:
        """Send once and read the whole answer, whose body is empty where the listener took it.
        Cancelling closes the connection.

        Raises:
            OSError, and the classes of httpcore2: the caller maps them.
        """
        request = httpcore2.Request(
            b"POST",
            self._target,
            headers=[*self._headers, (b"content-length", str(len(body)).encode())],
            content=body,
        )
        if self._proxy is not None:
            return await _read(await self._proxy.handle_async_request(request), listener)
        connection, answer = await self._take(), None
        try:
            answer = await _read(await connection.handle_async_request(request), listener)
            return answer
        finally:
            if (
                self._keeps(answer)
                and connection.is_available()
                and not self._closed
                and len(self._idle) < KEPT_CONNECTIONS
            ):
                self._idle.append(connection)
            else:
                await connection.aclose()

    def _keeps(self, answer: HttpAnswer | None) -> bool:
        return answer is not None and (
            self._keeps_streams or not is_events(answer.headers.get(b"content-type", b""))
        )

    async def _take(self) -> httpcore2.AsyncHTTPConnection:
        while self._idle:
            connection = self._idle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return httpcore2.AsyncHTTPConnection(
            self._target.origin, ssl_context=self._tls, keepalive_expiry=KEPT_S
        )

    async def close(self) -> None:
        """Close idle connections now and busy ones when they end; idempotent."""
        self._closed = True
        while self._idle:
            await self._idle.pop().aclose()
        if self._proxy is not None:
            await self._proxy.aclose()


def is_events(media_type: bytes) -> bool:
    """Whether a body of this type is a stream of events."""
    return media_type.split(b";")[0].strip().lower() == EVENTS


async def _read(response: httpcore2.Response, listener: Listener | None) -> HttpAnswer:
    headers = {name.lower(): value for name, value in response.headers}
    if (
        listener is not None
        and 200 <= response.status < 300
        and listener.wants(headers.get(b"content-type", b""))
    ):
        await _pour(response, listener)
        return HttpAnswer(response.status, headers, b"")
    body = bytearray()
    try:
        async with aclosing(_chunks(response)) as stream:
            async for chunk in stream:
                body += chunk
                if len(body) > ANSWER_BYTES:
                    break
    except (httpcore2.NetworkError, httpcore2.RemoteProtocolError):
        if response.status < 400:
            raise
        body.clear()  # the status of a refusal says enough without its body
    finally:
        await response.aclose()
    return HttpAnswer(response.status, headers, None if len(body) > ANSWER_BYTES else bytes(body))


async def _chunks(response: httpcore2.Response) -> AsyncGenerator[bytes]:
    """The body as it comes, with a turn for others between many chunks that are there already.
    Raises ``TooFine``.
    """
    pace = Pace()
    async with aclosing(cast("Any", response.stream).__aiter__()) as stream:
        async for chunk in stream:
            if not await pace.keeps(chunk):
                raise TooFine(TOO_FINE)
            yield chunk


async def _pour(response: httpcore2.Response, listener: Listener) -> None:
    try:
        async with aclosing(_chunks(response)) as stream:
            while (chunk := await _next(stream, listener.patience_s)) is not None:
                if not listener.take(chunk):
                    await _rest(stream)
                    break
    except TooFine:
        raise
    except (httpcore2.NetworkError, httpcore2.RemoteProtocolError) as error:
        if not listener.suffices(silent=isinstance(error, Stalled)):
            raise
    finally:
        await response.aclose()


async def _next(stream: AsyncGenerator[bytes], patience_s: float | None) -> bytes | None:
    try:
        async with TimeLimit(patience_s):
            return await anext(stream, None)
    except TimeoutError as error:
        raise Stalled(stalled(patience_s)) from error


def stalled(patience_s: float | None) -> str:
    """What a stream that fell silent is told as."""
    return f"the answer stopped in the midst: nothing came for {patience_s or 0:.3g} s"


async def _rest(stream: AsyncGenerator[bytes]) -> None:
    """Read on to the end, which nearly always is there already: only then can the connection be
    kept. Nobody waits long for that.
    """
    try:
        async with asyncio.timeout(REST_S):
            async for _ in stream:
                pass
    except (
        TimeoutError,
        httpcore2.TimeoutException,
        httpcore2.NetworkError,
        httpcore2.ProtocolError,
    ):
        return  # all that counts had come


def checked_url(url: str) -> SplitResult:
    """Take a URL apart.

    Raises:
        ConfigurationError: not http or https, no host, or with a user, a query or a fragment, where
            secrets hide.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # which quotes what it took for the port: of a password, maybe
        raise ConfigurationError("base_url: not a URL") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise ConfigurationError(
            "base_url: must be http://host or https://host, with an optional port and path"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigurationError(
            "base_url: no user, query or fragment; the key belongs into its own setting"
        )
    if not (url.isascii() and url.isprintable()) or " " in url:
        raise ConfigurationError("base_url: write it in ASCII, percent-encoded")
    return parts


def checked_key(api_key: str | None) -> str:
    """The key as a header carries it; "" where there is none.

    Raises:
        ConfigurationError: it cannot stand in a header.
    """
    key = (api_key or "").strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigurationError("API key: it has characters that no HTTP header may carry")
    return key


def unusable_proxy() -> ConfigurationError:
    """That a proxy's address is none, without a word of it: a password in it that has a slash is
    taken for the port, and libraries say what they took.
    """
    return ConfigurationError(
        "proxy: the address in HTTPS_PROXY, HTTP_PROXY or ALL_PROXY cannot be used; what its user "
        "and password have beside letters and digits is written as in a URL (/ as %2F)"
    )


def _proxy(parts: SplitResult, tls: ssl.SSLContext | None) -> httpcore2.AsyncHTTPProxy | None:
    found = getproxies()
    address = found.get(parts.scheme) or found.get("all")
    host = parts.hostname or ""
    if not address or host in LOOPBACK or proxy_bypass(host):
        return None
    try:
        proxy = urlsplit(address if "://" in address else f"http://{address}")
        port = proxy.port or 80
    except ValueError:
        raise unusable_proxy() from None
    if proxy.scheme != "http" or not proxy.hostname:
        raise ConfigurationError("proxy: only http:// proxies are supported")
    auth = (unquote(proxy.username), unquote(proxy.password or "")) if proxy.username else None
    return httpcore2.AsyncHTTPProxy(
        f"http://{proxy.hostname}:{port}",
        proxy_auth=auth,
        ssl_context=tls,
        max_connections=None,
        keepalive_expiry=KEPT_S,
    )
