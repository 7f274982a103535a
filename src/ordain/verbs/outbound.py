"""One HTTP request to a declared host: the only way out of a verb.

A name is resolved once, every address it has is checked, and the connection goes to a checked
address: a name that answers differently the second time (DNS rebinding) is never asked a second
time. The name stays in the Host header and in the TLS handshake, where it is verified. Proxies of
the environment are not used, because they would resolve the name themselves; nothing is followed by
itself.
"""

from __future__ import annotations

import asyncio
import codecs
import ipaddress
import logging
import re
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import httpx2
from msgspec import Struct, field

from ordain.ports.verb import WITHDRAWN, Withdrawing, nothing_withdrawn
from ordain.runtime.own_requests import HEADER, MARK
from ordain.verbs.http_access import Resolve, resolve
from ordain.verbs.own_addresses import OwnAddresses

CONNECT_S = 5.0
"""Longest wait for one address to take a connection, in seconds."""

ADDRESSES_MAX = 3
"""Most addresses of one name that are tried."""

BREATH = 32
"""Parts of a body after which others get their turn."""

PORTS = {"http": 80, "https": 443}
# the whole is bounded by the call's time
_LIMITS = httpx2.Timeout(None, connect=CONNECT_S).as_dict()
_CHARSETS = re.compile(
    r"utf-8|ascii|utf-16(?:-[lb]e)?|iso8859-\d{1,2}|cp125\d|koi8-[ru]|gb18030|gbk|big5|shift_jis|"
    r"euc_(?:jp|kr)"
)
_TEXT_TYPES = re.compile(
    r"text/[a-z0-9.+-]+|application/(?:[a-z0-9.+-]+\+)?(?:json|xml)|application/(?:x-ndjson|"
    r"javascript|yaml|toml)"
)
_OWN_HEADERS = {"Accept-Encoding": "identity", "User-Agent": "ordain"}

_EXCHANGING: ContextVar[bool] = ContextVar("_EXCHANGING", default=False)


def _not_exchanging(_: logging.LogRecord) -> bool:
    return not _EXCHANGING.get()


# At level DEBUG the library logs the headers of answers, in which a server may echo a secret that
# it was sent.
logging.getLogger("httpcore2.http11").addFilter(_not_exchanging)


class NoExchange(Exception):
    """There is no answer; ``sent`` says whether the request may have reached the other side."""

    def __init__(
        self, code: str, message: str, *, retryable: bool = False, sent: bool = False
    ) -> None:
        """``code`` and ``message`` as of a ``VerbError``: no value, no secret."""
        super().__init__(code, message)
        self.code, self.message, self.retryable, self.sent = code, message, retryable, sent


class Reach(Struct, frozen=True, kw_only=True):
    """Where a request may go: which names may have private addresses, whether a literal private
    address may be dialled.

    ``inside``: it must not leave, every address has to be private. ``own``: where Ordain listens,
    whatever is declared.
    """

    private_hosts: frozenset[str] = frozenset()
    literals: bool = False
    inside: bool = False
    own: OwnAddresses = field(default_factory=OwnAddresses)


class Outgoing(Struct, frozen=True, kw_only=True):
    """A request: the URL decides where it goes, the headers are printable ASCII."""

    method: str
    url: httpx2.URL
    headers: Mapping[str, str]
    content: bytes | None = None


@asynccontextmanager
async def exchange(
    request: Outgoing,
    reach: Reach,
    resolver: Resolve = resolve,
    sending: asyncio.Event | None = None,
    last_look: Withdrawing = nothing_withdrawn,
) -> AsyncGenerator[httpx2.Response]:
    """The answer's head, its body still to be read; connection and all are gone at the end.
    ``sending`` is set before the first word goes out, and ``last_look`` is asked before that.

    Raises:
        NoExchange: the host is not within reach, or did not answer, or the request may not go out
            any more; while the body is read, that it broke off.
    """
    addresses = await _addresses(request.url, reach, resolver)
    token = _EXCHANGING.set(True)
    try:
        # A transport and not a client: a client would already act on what it reads, for example
        # parse the redirect's target.
        async with _transport() as transport:
            begun = sending or asyncio.Event()
            response = await _answered(transport, request, addresses, begun, last_look)
            try:
                yield response
            except httpx2.HTTPError as error:
                raise NoExchange(
                    "broken_answer",
                    f"the answer broke off ({type(error).__name__})",
                    retryable=True,
                    sent=True,
                ) from error
            finally:
                await response.aclose()
    finally:
        _EXCHANGING.reset(token)


async def read_bytes(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    """The first ``most`` bytes of the body as sent, and whether there are more; others get their
    turn between many parts that are there already.
    """
    body = bytearray()
    parts = 0
    async for part in response.aiter_raw():
        body += part
        parts += 1
        if len(body) > most:
            break
        if parts % BREATH == 0:
            await asyncio.sleep(0)
    return bytes(body[:most]), len(body) > most


def text_type(response: httpx2.Response) -> tuple[str, str]:
    """The media type and the codec's name; only text is read, and only unpacked.

    Raises:
        NoExchange: ``not_text``.
    """
    if response.headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise NoExchange(
            "not_text", "the answer is compressed although that was declined", sent=True
        )
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not _TEXT_TYPES.fullmatch(kind) or len(kind) > 200:
        raise NoExchange("not_text", "the answer's content type is not text", sent=True)
    try:
        charset = codecs.lookup(response.charset_encoding or "utf-8").name
    except (LookupError, ValueError) as error:
        raise NoExchange(
            "not_text", "the answer's character set is not known", sent=True
        ) from error
    if not _CHARSETS.fullmatch(charset):
        raise NoExchange("not_text", "the answer's character set is not known", sent=True)
    return kind, charset


async def _addresses(target: httpx2.URL, reach: Reach, resolver: Resolve) -> Sequence[str]:
    host = target.raw_host.decode()
    try:
        found: Sequence[str] = [str(ipaddress.ip_address(host))]
        declared = reach.literals
    except ValueError:
        found, declared = (
            await _resolved(host, target.port or PORTS[target.scheme], resolver),
            host in reach.private_hosts,
        )
    public = [is_public(address) for address in found]
    port = target.port or PORTS[target.scheme]
    if any(reach.own.reached(address, port) for address in found):
        raise NoExchange("own_address", "Ordain itself listens there, and is no verb's business")
    if not declared and not all(public):
        raise NoExchange(
            "private_address", "the host resolves to a private address, which is not declared"
        )
    if reach.inside and any(public):
        raise NoExchange(
            "public_address",
            "the host has a public address; this verb stays inside the private network",
        )
    return found[:ADDRESSES_MAX]


async def _resolved(host: str, port: int, resolver: Resolve) -> Sequence[str]:
    try:
        found = await resolver(host, port)
    except Exception as error:
        # no such name, one that cannot even be asked for, no thread or memory left to ask with:
        # whatever it is, nothing has gone out
        raise NoExchange("not_resolved", "the host has no address", retryable=True) from error
    if not found:
        raise NoExchange("not_resolved", "the host has no address", retryable=True)
    return found


def _transport() -> httpx2.AsyncHTTPTransport:
    """What connects. Making it reads files: without a free descriptor nothing can be sent."""
    try:
        return httpx2.AsyncHTTPTransport(verify=tls(), trust_env=False)
    except Exception as error:
        # as above
        raise NoExchange(
            "not_connected", f"no connection could be made ({type(error).__name__})", retryable=True
        ) from error


async def _answered(
    transport: httpx2.AsyncHTTPTransport,
    request: Outgoing,
    addresses: Sequence[str],
    sending: asyncio.Event,
    last_look: Withdrawing,
) -> httpx2.Response:
    given = {name.lower() for name in request.headers}
    if HEADER.lower() in given:
        raise NoExchange("own_header", f"the header {HEADER} is Ordain's own")
    own = {name: value for name, value in _OWN_HEADERS.items() if name.lower() not in given}

    async def trace(event: str, _: Any) -> None:
        if event.endswith(".send_request_headers.started"):
            # connecting may have taken its time
            if (why := await last_look()) is not None:
                raise NoExchange(WITHDRAWN, why)
            sending.set()

    for address in addresses:
        live = httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers={"Host": request.url.netloc.decode(), **own, **request.headers, HEADER: MARK},
            content=request.content,
            extensions={
                "sni_hostname": request.url.raw_host.decode(),
                "timeout": _LIMITS,
                "trace": trace,
            },
        )
        try:
            return await transport.handle_async_request(live)
        except NoExchange:
            raise
        except Exception as error:
            # refused, nothing left to connect with, or what the library fails at
            if not sending.is_set():
                continue  # whatever it is, no word has gone out
            raise NoExchange(
                "no_answer", f"no answer ({type(error).__name__})", retryable=True, sent=True
            ) from error
    raise NoExchange("not_connected", "no connection to the host", retryable=True)


@cache
def tls() -> ssl.SSLContext:
    """Loading the certificates takes 20 ms: once per process, it holds no state of a connection.
    SSL_CERT_FILE counts.
    """
    return httpx2.create_ssl_context()


def is_public(address: str) -> bool:
    """Whether an address is one of the public network; addresses that carry another one are judged
    by that.
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if (
            carried := parsed.ipv4_mapped
            or parsed.sixtofour
            or (parsed.teredo and parsed.teredo[1])
        ):
            return is_public(str(carried))
        if parsed in _NAT64:
            return is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)))
        if int(parsed) >> 32 & _ISATAP_MASK == _ISATAP:
            return is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF)))
        if parsed.is_site_local:
            return False
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


_ISATAP, _ISATAP_MASK = 0x5EFE, 0xFDFF_FFFF
"""The third 32 bits of an address that tunnels to the IPv4 address in its last ones; one of them
says whether that is unique (RFC 5214).
"""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_PUBLIC = tuple(ipaddress.ip_network(text) for text in ("::/96", "3fff::/20", "192.88.99.0/24"))
"""IPv4-compatible addresses, documentation, and the relays of 6to4: what Python calls global and
nobody reaches by right.
"""
