"""web.fetch against a real HTTP server on the loopback address."""

from __future__ import annotations

import asyncio
import gzip
import shutil
import ssl
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain.contracts.schema import Schema
from ordain.contracts.verbs import ArgumentRole, VerbEffect
from ordain.errors import ConfigurationError
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned
from ordain.runtime.own_requests import HEADER, MARK, is_own
from ordain.verbs import LeafExecutor, Registry
from ordain.verbs.builtin.web_verb import web_fetch
from ordain.verbs.functions import VerbContext, VerbError
from ordain.verbs.outbound import BREATH, is_public, read_bytes, tls
from ordain.verbs.own_addresses import OwnAddresses

LONG_S = 30.0


class Server:
    """A real server that answers each path with given bytes and remembers what it was asked."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.answers: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.hanging: set[str] = set()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def answer(self, path: str, body: bytes = b"", status: str = "200 OK", **headers: str) -> str:
        fields = {
            "content-type": "text/plain; charset=utf-8",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
        self.answers[path] = f"HTTP/1.1 {status}\r\n{head}connection: close\r\n\r\n".encode() + body
        return self.url(path)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ")[1]
        self.requests.append(head)
        writer.write(
            self.answers.get(
                path,
                (
                    b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\nconnection: close\r\n"
                    b"\r\nno"
                ),
            )
        )
        await writer.drain()
        if path in self.hanging:
            await reader.read()
        writer.close()


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server(0)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


async def fetch(url: str, declared: Sequence[str] | None = None, **settings: Any) -> AnyLeafResult:
    function = web_fetch([url] if declared is None else declared, **settings)
    executor = LeafExecutor(Registry(functions=[function]))
    result = await executor.run(
        LeafCall(spec=function.spec, args={"url": url}, key="k", attempt=1, timeout_s=LONG_S)
    )
    if isinstance(result, LeafReturned):
        assert Schema(function.spec.output_schema).errors(result.output) == ()
    return result


async def text(url: str, **settings: Any) -> dict[str, Any]:
    result = await fetch(url, **settings)
    assert isinstance(result, LeafReturned), result
    return result.output


async def code(url: str, **settings: Any) -> str:
    result = await fetch(url, **settings)
    assert isinstance(result, LeafFailed), result
    assert result.happened is False
    return result.code


async def test_a_declared_page_is_fetched(server: Server) -> None:
    """Status, type and text of the answer come back; a declared private address is permitted."""
    url = server.answer("/page", "grüß".encode())
    assert await text(url) == {
        "url": url, "status": 200, "content_type": "text/plain", "text": "grüß", "truncated": False,
            "replaced": False,
    }  # fmt: skip
    assert "accept-encoding: identity" in server.requests[0].lower()


async def test_an_error_status_is_an_answer(server: Server) -> None:
    """404 and 500 are facts for the planner, not failures of the verb."""
    assert (await text(server.url("/absent")))["status"] == 404
    assert (await text(server.answer("/broken", b"oops", "500 Internal Server Error")))[
        "status"
    ] == 500


async def test_only_declared_urls_are_fetched(server: Server) -> None:
    """Any other URL, however near, is refused before a connection is made; the schema lists what
    may be asked.
    """
    page = server.answer("/page", b"x")
    near = ["/page/", "/page?x=1", "/page#a", "/PAGE", "/other", "/page/../other"]
    for url in [server.url(path) for path in near] + [
        page.replace("127.0.0.1", "localhost"),
        page + " ",
        "file:///etc/passwd",
        "",
    ]:
        assert await code(url, declared=[page]) == "url_not_declared"
    assert server.requests == []
    function = web_fetch([page])
    assert function.spec.effect is VerbEffect.EGRESS
    assert function.spec.arguments["url"].role is ArgumentRole.URL
    assert function.spec.arguments["url"].allowed == [page]
    assert function.spec.input_schema["properties"]["url"]["enum"] == [page]  # type: ignore[index, call-overload]


async def test_a_redirect_goes_to_a_declared_url_only(server: Server) -> None:
    """A redirect to a declared URL is followed, to any other it is refused, and a circle ends."""
    goal = server.answer("/goal", b"there")
    declared = server.answer("/declared", status="302 Found", location="/goal#part")
    assert (await text(declared, declared=[declared, goal]))["url"] == goal
    server.requests.clear()
    for location in (
        "/goal",
        "http://example.org/",
        "//example.org/",
        "file:///etc/passwd",
        "http://[broken/",
        "javascript:1",
    ):
        url = server.answer("/away", status="301 Moved Permanently", location=location)
        assert await code(url) == "url_not_declared"
    assert all(" /away " in request for request in server.requests)
    circle = server.answer("/circle", status="307 Temporary Redirect", location="/circle")
    assert await code(circle) == "too_many_redirects"


async def test_a_long_answer_is_cut(server: Server) -> None:
    """No more than the limit is read, a character cut in two is left out, and the output says that
    it was cut.
    """
    url = server.answer("/long", "é".encode() * 10_000)
    output = await text(url, body_bytes=1001)
    assert (output["text"], output["truncated"], output["replaced"]) == ("é" * 500, True, False)


async def test_many_parts_that_came_together_keep_nobody_waiting() -> None:
    """However many parts of a body are there at once, others get their turn after a few of them."""
    ticks = 0
    seen: list[int] = []

    async def ticking() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    async def crumbs() -> AsyncIterator[bytes]:
        for _ in range(10 * BREATH):
            seen.append(ticks)
            yield b"x"

    clock = asyncio.ensure_future(ticking())
    assert await read_bytes(httpx2.Response(200, content=crumbs()), 1000) == (
        b"x" * 10 * BREATH,
        False,
    )
    clock.cancel()
    assert max(Counter(seen).values()) <= BREATH


async def test_only_text_is_returned(server: Server) -> None:
    """Other types, none, compressed answers and strange character sets are refused."""
    kinds = [
        "image/png",
        "application/octet-stream",
        "",
        "text/plain; charset=unicode_escape",
        "text/plain; charset=rot13",
        "text/plain; charset=idna",
    ]
    for number, kind in enumerate(kinds):
        assert await code(server.answer(f"/{number}", b"abc", content_type=kind)) == "not_text"
    assert (
        await code(
            server.answer("/gzip", gzip.compress(b"x" * 10_000_000), content_encoding="gzip")
        )
        == "not_text"
    )
    for number, kind in enumerate(
        [
            "application/json",
            "application/ld+json",
            "text/html",
            "application/xhtml+xml; charset=ISO-8859-1",
        ]
    ):
        assert (await text(server.answer(f"/ok{number}", b"{}", content_type=kind)))["text"] == "{}"


async def test_bytes_that_are_no_text_are_replaced_and_flagged(server: Server) -> None:
    """What does not decode becomes a replacement character and the output says so."""
    output = await text(server.answer("/odd", b"a\xff"))
    assert (output["text"], output["replaced"]) == ("a\ufffd", True)


async def test_a_slow_answer_costs_its_time_and_no_more(server: Server) -> None:
    """A server that does not end its answer is a retryable failure after which nothing is in
    doubt.
    """
    url = server.answer("/slow", b"x", content_length="1000")
    server.hanging.add("/slow")
    with pytest.raises(VerbError) as error:
        # asked itself: the executor's own time ends shortly after
        await web_fetch([url]).function(
            url=url, context=VerbContext(key="k", attempt=1, left_s=0.5)
        )
    assert (error.value.code, error.value.retryable, error.value.happened) == (
        "too_slow",
        True,
        False,
    )


async def test_a_broken_answer_is_typed(server: Server) -> None:
    """What is no HTTP, and an answer that breaks off, are retryable failures."""
    server.answers["/noise"] = b"\x00\x01 hello\r\n\r\n"
    assert await code(server.url("/noise")) == "no_answer"
    assert await code(server.answer("/short", b"x", content_length="1000")) == "broken_answer"


async def test_nobody_there_is_typed() -> None:
    """A refused connection is retryable and had no effect."""
    async with serving() as gone:
        url = gone.url("/page")
    result = await fetch(url)
    assert result == LeafFailed(
        code="not_connected", message="no connection to the host", retryable=True, happened=False
    )


def resolving(*answers: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    """A resolver that gives one answer after the other, as a rebinding name server does, and fails
    when asked too often.
    """
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        if not left:
            raise OSError("asked once too often")
        return left.pop(0)

    return resolve


async def test_a_name_with_a_private_address_is_refused(server: Server) -> None:
    """A declared name that resolves to a private address, if only among others, is refused unless
    the name is declared private.
    """
    server.answer("/page", b"inside")
    url = server.url("/page", "intranet.example")
    for addresses in (
        ["127.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["169.254.169.254"],
    ):
        assert await code(url, resolver=resolving(addresses)) == "private_address"
    assert server.requests == []
    assert (await text(url, resolver=resolving(["127.0.0.1"]), private_hosts=["intranet.example"]))[
        "text"
    ] == "inside"
    assert f"host: intranet.example:{server.port}" in server.requests[0].lower()


async def test_a_name_is_resolved_once(server: Server) -> None:
    """The connection goes to the address that was checked: a second answer of the name server is
    never asked for.
    """
    server.answer("/page", b"inside")
    url = server.url("/page", "rebind.example")
    output = await text(url, resolver=resolving(["127.0.0.1"]), private_hosts=["rebind.example"])
    assert output["text"] == "inside"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for right.example, its key beside it."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=x",
    ]
    command += [
        "-addext",
        "subjectAltName=DNS:right.example",
        "-keyout",
        str(tmp_path / "key.pem"),
        "-out",
        str(tmp_path / "cert.pem"),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return tmp_path / "cert.pem"


async def test_tls_verifies_the_name_and_not_the_address(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although an address is dialled, the certificate must be one for the declared name; without a
    trusted one nothing is read.
    """
    server = Server(0)
    server.answer("/page", b"behind TLS")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    settings: dict[str, Any] = {
        "private_hosts": ["right.example", "wrong.example"],
        "resolver": resolving(["127.0.0.1"], ["127.0.0.1"], ["127.0.0.1"]),
    }
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context) as listener:
        port = listener.sockets[0].getsockname()[1]
        tls.cache_clear()
        assert await code(f"https://right.example:{port}/page", **settings) == "not_connected"
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        tls.cache_clear()
        assert (await text(f"https://right.example:{port}/page", **settings))[
            "text"
        ] == "behind TLS"
        assert await code(f"https://wrong.example:{port}/page", **settings) == "not_connected"
        tls.cache_clear()


async def test_a_name_without_address_is_typed() -> None:
    """An unknown name is a retryable failure."""
    assert await code("http://nowhere.example/", resolver=resolving()) == "not_resolved"
    assert await code("http://nowhere.example/", resolver=resolving([])) == "not_resolved"


async def test_the_systems_own_resolver_is_asked(server: Server) -> None:
    """Without another resolver a name is resolved as the system does it, and a private result still
    needs its declaration.
    """
    server.answer("/page", b"local")
    url = server.url("/page", "localhost")
    assert await code(url) == "private_address"
    assert (await text(url, private_hosts=["LOCALHOST"]))["text"] == "local"


async def test_a_second_address_is_tried(server: Server) -> None:
    """Where the first address takes no connection, the next one of the same answer is used."""
    server.answer("/page", b"second")
    url = server.url("/page", "two.example")
    assert (
        await text(url, resolver=resolving(["::1", "127.0.0.1"]), private_hosts=["two.example"])
    )["text"] == "second"


async def test_proxies_of_the_environment_are_not_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would resolve the name itself, so it is never asked."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert (await text(server.answer("/page", b"direct")))["text"] == "direct"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True), ("2606:2800:220:1::1", True), ("64:ff9b::5db8:d822", True),
            ("127.0.0.1", False), ("10.1.2.3", False),
        ("172.16.0.1", False), ("192.168.1.1", False), ("169.254.169.254", False), ("100.64.0.1",
            False), ("0.0.0.0", False), ("224.0.0.1", False),
        ("255.255.255.255", False), ("240.0.0.1", False), ("::1", False), ("::", False),
            ("fe80::1%eth0", False), ("fc00::1", False),
        ("ff02::1", False), ("::ffff:10.0.0.1", False), ("::127.0.0.1", False), ("64:ff9b::a00:1",
            False), ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:f5ff:fffe", False), ("fec0::1", False), ("feff::1", False),
            ("3fff::1", False), ("192.88.99.1", False),
        ("2606:2800::5efe:7f00:1", False), ("2606:2800::200:5efe:a00:1", False),
            ("2606:2800::5efe:5db8:d822", True),
    ],
)  # fmt: skip
def test_what_is_public(address: str, public: bool) -> None:
    """Private, local, shared, multicast and reserved ranges are not public, nor are addresses that
    carry one of them.
    """
    assert is_public(address) is public


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org/", "example.org", "/page", "http://", "http://user:pw@example.org/",
            "http://example.org/#part", "HTTP://example.org/",
        "http://EXAMPLE.org/", "http://example.org:80/", "http://ex ample.org/",
            "http://example.org/a b", "file:///etc/passwd", "", "http://exa\nmple.org/",
    ],
)  # fmt: skip
def test_a_declared_url_is_absolute_and_in_normal_form(url: str) -> None:
    """Anything else is a configuration error, so that comparing strings compares URLs."""
    with pytest.raises(ConfigurationError, match="declared URL"):
        web_fetch([url])


def test_declaring_nothing_or_too_much_is_refused() -> None:
    """The verb needs at least one URL and takes a bounded number."""
    for urls in ([], [f"http://example.org/{number}" for number in range(1001)]):
        with pytest.raises(ConfigurationError, match="declared URLs"):
            web_fetch(urls)


@pytest.mark.parametrize("bound", ["127.0.0.1", "0.0.0.0", "::"])
@pytest.mark.parametrize(
    ("host", "named"),
    [
        ("127.0.0.1", ""),
        ("[::ffff:127.0.0.1]", ""),
        ("0.0.0.0", ""),
        ("any.example", "127.0.0.1"),
        ("any.example", "::ffff:7f00:1"),
        ("any.example", "0.0.0.0"),
    ],
)
async def test_where_ordain_listens_nothing_is_fetched(
    server: Server, bound: str, host: str, named: str
) -> None:
    """However the address is spelt or named, declared as it is, and after a redirect; no connection
    is made there.
    """
    own = OwnAddresses()
    own.add(bound, server.port)

    async def resolver(_: str, __: int) -> Sequence[str]:
        return ["192.0.2.1", named]

    server.answer("/page", b"x")
    there = server.url("/page", host=host)
    settings: dict[str, Any] = {"private_hosts": ["any.example"], "resolver": resolver, "own": own}
    assert await code(there, **settings) == "own_address"
    assert server.requests == []
    async with serving() as other:
        first = other.answer("/first", status="302 Found", location=there)
        assert await code(first, declared=[first, there], **settings) == "own_address"
        assert (len(server.requests), len(other.requests)) == (0, 1)


async def test_a_request_says_that_a_verb_sent_it(server: Server) -> None:
    """The mark is by what a server of this process knows its own verbs' requests, whatever stands
    between; another one's is nothing to it.
    """
    await text(server.answer("/page", b"x"))
    head = server.requests[0].lower()
    assert f"{HEADER.lower()}: {MARK}" in head
    assert is_own([(HEADER.lower().encode(), MARK.encode())])
    assert not is_own([(HEADER.lower().encode(), b"another"), (b"other", MARK.encode())])
