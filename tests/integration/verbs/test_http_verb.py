"""HTTP verbs declared in YAML against real HTTP servers on the loopback address, hostile ones among
them.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ordain.app import Ordain
from ordain.contracts.floor import stays_inside
from ordain.contracts.verbs import VerbSpec
from ordain.errors import ConfigurationError
from ordain.ports.verb import AnyLeafResult, LeafCall, LeafFailed, LeafReturned
from ordain.runtime.seal import STRUCK
from ordain.settings import load_settings
from ordain.verbs import LeafExecutor, Registry, VerbFolder
from ordain.verbs.functions import VerbContext, VerbError
from ordain.verbs.http_access import HttpAccess, Secret
from ordain.verbs.http_verb import http_verb
from ordain.verbs.outbound import Outgoing
from tests.e2e.process import nobody
from tests.lanes import examples

TOKEN = "s3cr3t/Token+value=="
LONG_S = 30.0


@dataclass
class Asked:
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    names: list[str] = field(default_factory=list[str])

    @property
    def query(self) -> list[tuple[str, str]]:
        return parse_qsl(urlsplit(self.target).query, keep_blank_values=True)


@dataclass
class Server:
    """Answers every request with the same bytes, byte by byte where told to, and remembers what it
    was asked.
    """

    port: int = 0
    answer: bytes = b""
    asked: list[Asked] = field(default_factory=list)
    drip_s: float = 0
    hang: bool = False
    open: set[asyncio.Task[None]] = field(default_factory=set)

    def says(self, body: Any = None, status: str = "200 OK", **headers: str) -> Server:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        fields = {"content-type": "application/json", "content-length": str(len(content))}
        fields |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value)
        self.answer = f"HTTP/1.1 {status}\r\n{head}connection: close\r\n\r\n".encode() + content
        return self

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.open.add(task)
        try:
            await self._answer(reader, writer)
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self.open.discard(task)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.split("\r\n")[:-2]
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, target, _ = first.split(" ")
        names = [line.partition(":")[0].lower() for line in lines]
        self.asked.append(Asked(method, target, headers, body, names))
        try:
            if self.hang:
                await reader.read()
            elif self.drip_s:
                for byte in self.answer:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(self.drip_s)
            else:
                writer.write(self.answer)
                await writer.drain()
        except ConnectionError:
            pass


@asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server().says({"ok": True})
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield server
        while server.open:
            await asyncio.wait(set(server.open))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving() as running:
        yield running


def spec(
    server: Server | None = None,
    *,
    path: str = "/items/{item_id}",
    effect: str = "read",
    **changes: Any,
) -> VerbSpec:
    """A GET of the local server, changed as asked: ``http_*`` goes into the request, the rest into
    the verb.
    """
    port = 1 if server is None else server.port
    http = {"url": f"http://127.0.0.1:{port}{path}", "hosts": ["127.0.0.1"], "private": True}
    http |= {
        name.removeprefix("http_"): value
        for name, value in changes.items()
        if name.startswith("http_")
    }
    fields: dict[str, Any] = {
        "name": "crm.get",
        "description": "An item.",
        "effect": effect,
        "http": http,
        "input_schema": schema(item_id="string"),
    }
    if effect != "read":
        fields["arguments"] = {
            "item_id": {"role": "target" if effect == "delete" else "content", "resource": "item"}
        }
    fields |= {name: value for name, value in changes.items() if not name.startswith("http_")}
    return VerbSpec.model_validate_json(json.dumps(fields))


def schema(*, required: Sequence[str] | None = None, **types: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in types.items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(types) if required is None else list(required),
        "additionalProperties": False,
    }


async def run(verb: VerbSpec, access: HttpAccess | None = None, **args: Any) -> AnyLeafResult:
    access = access or HttpAccess(secrets={"TOKEN": Secret(TOKEN)})
    folder = VerbFolder(specs={verb.name: verb}, templates={}, origins={})
    executor = LeafExecutor(Registry([folder], http=access))
    return await executor.run(
        LeafCall(spec=verb, args=args, key="key-1", attempt=1, timeout_s=LONG_S)
    )


async def output(verb: VerbSpec, **args: Any) -> dict[str, Any]:
    result = await run(verb, **args)
    assert isinstance(result, LeafReturned), result
    return result.output


async def failure(verb: VerbSpec, **args: Any) -> LeafFailed:
    result = await run(verb, **args)
    assert isinstance(result, LeafFailed), result
    return result


# --- what is asked --------------------------------------------------------------------------------


async def test_a_get_fills_path_query_and_headers(server: Server) -> None:
    """Arguments stand percent-encoded where their placeholders are, and an optional one that is
    missing takes its parameter along.
    """
    verb = spec(
        server,
        path="/items/{item_id}/parts",
        http_query={
            "q": "{query}",
            "limit": "{limit}",
            "deep": "{deep}",
            "kind": "part",
            "note": "about {note}",
        },
        http_headers={"X-Trace": "t-{limit}"},
        input_schema=schema(
            item_id="string",
            query="string",
            limit="integer",
            deep="boolean",
            note="string",
            required=["item_id", "query"],
        ),
    )
    assert await output(verb, item_id="a b?#%é", query="x&y=1 #ü", limit=3, deep=True) == {
        "ok": True
    }
    (asked,) = server.asked
    assert (asked.method, urlsplit(asked.target).path) == (
        "GET",
        "/items/a%20b%3F%23%25%C3%A9/parts",
    )
    assert asked.query == [("q", "x&y=1 #ü"), ("limit", "3"), ("deep", "true"), ("kind", "part")]
    assert asked.headers["host"] == f"127.0.0.1:{server.port}"
    assert asked.body == b""


async def test_a_header_that_the_verb_gives_replaces_our_own(server: Server) -> None:
    """Whatever its case, a header stands there once: the verb's."""
    assert await output(spec(server, http_headers={"user-agent": "mine"}), item_id="1") == {
        "ok": True
    }
    (asked,) = server.asked
    assert asked.headers["user-agent"] == "mine"
    assert asked.names.count("user-agent") == 1


async def test_a_write_sends_json_its_key_and_its_secret(server: Server) -> None:
    """What no placeholder names is the JSON body; the idempotency key and the secret are
    headers.
    """
    verb = spec(
        server,
        effect="private",
        http_method="POST",
        http_headers={"Authorization": {"secret": "TOKEN", "prefix": "Bearer "}},
        http_idempotency_header="Idempotency-Key",
        input_schema=schema(item_id="string", title="string", tags="array"),
        arguments={name: {"role": "content"} for name in ("item_id", "title", "tags")},
    )
    assert await output(verb, item_id="7", title="Grüße\r\nX: 1", tags=["a", 1]) == {"ok": True}
    (asked,) = server.asked
    assert (asked.method, asked.target, json.loads(asked.body)) == (
        "POST",
        "/items/7",
        {"title": "Grüße\r\nX: 1", "tags": ["a", 1]},
    )
    assert (asked.headers["authorization"], asked.headers["idempotency-key"]) == (
        f"Bearer {TOKEN}",
        "key-1",
    )
    assert asked.headers["content-type"] == "application/json"


async def test_a_form_is_encoded(server: Server) -> None:
    """``body: form`` sends names and values as a form does."""
    verb = spec(
        server, path="/", effect="private", http_method="PUT", http_body="form",
        input_schema=schema(title="string", done="boolean"),
            arguments={"title": {"role": "content"}, "done": {"role": "flag"}},
    )  # fmt: skip
    await output(verb, title="a&b=c", done=False)
    assert parse_qsl(server.asked[0].body.decode()) == [("title", "a&b=c"), ("done", "false")]
    assert server.asked[0].headers["content-type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    "value",
    [
        "",
        ".",
        "..",
        "..;",
        ".;a=b",
        "a/b",
        "../admin",
        "..\\admin",
        "a\r\nHost: evil",
        "a\0",
        "\ud800",
        "x" * 1001,
    ],
)
async def test_no_argument_leaves_its_part_of_the_path(server: Server, value: str) -> None:
    """What would be empty, climb, open another part or hold control characters is refused before
    anything is sent.
    """
    failed = await failure(spec(server), item_id=value)
    assert (failed.code, failed.happened, server.asked) == ("bad_input", False, [])


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "a\0b", "é", "\x7f"])
async def test_no_argument_opens_another_header(server: Server, value: str) -> None:
    """A header value is printable ASCII; anything else is refused before anything is sent."""
    verb = spec(server, path="/", http_headers={"X-Note": "{item_id}"})
    failed = await failure(verb, item_id=value)
    assert (failed.code, failed.happened, server.asked) == ("bad_input", False, [])


@given(value=st.text(max_size=60))
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_value_of_an_argument_decides_where_a_request_goes(value: str) -> None:
    """Whatever the argument: the request, if there is one, goes to the declared host, port and
    path, and the value arrives as it was.
    """
    sent: list[Outgoing] = []

    async def resolver(host: str, port: int) -> Sequence[str]:
        raise AssertionError("a literal address is not resolved")

    verb = spec(
        path="/a/{item_id}/z", http_query={"q": "{item_id}"}, http_headers={"X-V": "v{item_id}"}
    )
    function = http_verb(verb, HttpAccess(resolver=resolver))
    caller: Any = next(
        cell.cell_contents
        for cell in function.function.__closure__ or ()
        if hasattr(cell.cell_contents, "request")
    )
    with contextlib.suppress(VerbError, UnicodeEncodeError):
        sent.append(caller.request({"item_id": value}, "k"))
    if not sent:
        return
    (request,) = sent
    assert (request.url.scheme, request.url.host, request.url.port) == ("http", "127.0.0.1", 1)
    path, _, query = request.url.raw_path.decode().partition("?")
    first, middle, last = path.split("/")[1:]
    assert (first, unquote(middle), last) == ("a", value, "z")
    assert parse_qsl(query, keep_blank_values=True) == [("q", value)]
    assert "\r" not in request.headers["X-V"]
    assert "\n" not in request.headers["X-V"]


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "changes", "gives"),
    [
        ({"data": {"items": [{"id": 1}]}}, {"http_path": "data.items.0"}, {"id": 1}),
        ({"data": {"items": [1, 2]}}, {"http_path": "data.items"}, {"result": [1, 2]}),
        (7, {}, {"result": 7}),
        (b"", {}, {}),
        (b"plain", {"http_result": "text"}, {"text": "plain"}),
    ],
)
async def test_the_output_is_taken_from_the_answer(
    server: Server, body: Any, changes: dict[str, Any], gives: dict[str, Any]
) -> None:
    """An object is the output, anything else stands below ``result``; a text below ``text``; an
    empty answer is an empty object.
    """
    server.says(
        body, content_type="text/plain" if changes.get("http_result") else "application/json"
    )
    assert await output(spec(server, **changes), item_id="1") == gives


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"body": b'{"a": '}, "not_json"),
        ({"body": b"NaN"}, "not_json"),
        ({"body": b"[" * 100_000}, "not_json"),
        ({"body": b"\xff\xfe\x00"}, "not_json"),
        ({"body": {"data": []}}, "path_missing"),
        ({"body": "x", "content_type": "text/html"}, "not_json"),
        ({"body": "x", "content_type": "application/octet-stream"}, "not_text"),
        ({"body": b"\x1f\x8b", "content_encoding": "gzip"}, "not_text"),
        ({"body": "x" * 5000}, "answer_too_large"),
        ({"body": b"{}", "content_length": "50"}, "broken_answer"),
    ],
)
async def test_an_answer_that_cannot_be_used_is_typed(
    server: Server, answer: dict[str, Any], code: str
) -> None:
    """Invalid, too deep, too large, cut off or not JSON: a failure of its own; of a write nobody
    then knows.
    """
    server.says(answer.pop("body"), **answer)
    bounds = {
        "http_path": "data.items",
        "http_max_response_bytes": 200_000 if code == "not_json" else 4000,
    }
    failed = await failure(spec(server, **bounds), item_id="1")
    assert (failed.code, failed.happened) == (code, False)
    failed = await failure(spec(server, effect="private", http_method="PUT", **bounds), item_id="1")
    assert (failed.code, failed.happened) == (code, None)


@pytest.mark.parametrize(
    ("status", "headers", "retryable", "write_happened"),
    [
        ("400 Bad Request", {}, False, False),
        ("404 Not Found", {}, False, False),
        ("409 Conflict", {}, False, False),
        ("429 Too Many Requests", {"retry_after": "7"}, True, False),
        ("503 Service Unavailable", {"retry_after": "7"}, True, False),
        ("503 Service Unavailable", {}, True, None),
        ("500 Internal Server Error", {}, True, None),
        ("302 Found", {"location": "http://169.254.169.254/"}, False, None),
        ("307 Temporary Redirect", {"location": "/items/2"}, False, None),
        ("999 Odd", {}, True, None),
    ],
)
async def test_a_status_says_whether_it_happened(
    server: Server,
    status: str,
    headers: dict[str, str],
    retryable: bool,
    write_happened: bool | None,
) -> None:
    """Refusals did not happen, 429 and a 503 with a time may be asked again, of a server's own
    failure of a write nobody knows; no redirect is followed.
    """
    server.says({"secret": "detail"}, status=status, **headers)
    read = await failure(spec(server), item_id="1")
    write = await failure(spec(server, effect="private", http_method="PATCH"), item_id="1")
    number = int(status[:3])
    assert read.code == write.code == ("redirected" if number < 400 else f"http_{number}")
    assert (read.retryable, read.happened, write.happened) == (retryable, False, write_happened)
    assert "detail" not in read.message + write.message
    assert ("wait 7 s" in read.message) is ("retry_after" in headers)
    assert read.retry_after_ms == (7000 if "retry_after" in headers else 0)
    assert len(server.asked) == 2


@pytest.mark.parametrize("how", ["hang", "drip"])
async def test_a_slow_server_is_given_up(server: Server, how: str) -> None:
    """Time bounds the whole call, not each byte: a read failed and may be tried again, of a write
    nobody knows.
    """
    server.says({"ok": True})
    server.hang, server.drip_s = how == "hang", 0.02 if how == "drip" else 0
    failed = await too_slow(spec(server))
    assert (failed.code, failed.retryable, failed.happened) == ("too_slow", True, False)
    assert (await too_slow(spec(server, effect="private", http_method="PUT"))).happened is None


async def test_what_never_connected_was_not_sent() -> None:
    """Nobody listens, or the name is not found in time: a write certainly did not happen, and may
    be tried again.
    """
    with nobody() as port:
        refused = await run(
            spec(Server(port=port), effect="private", http_method="PUT"), item_id="1"
        )
    assert isinstance(refused, LeafFailed)
    assert (refused.code, refused.retryable, refused.happened) == ("not_connected", True, False)

    async def never(host: str, port: int) -> Sequence[str]:
        await asyncio.sleep(3600)
        return ()

    named = spec(
        effect="private",
        http_method="PUT",
        http_url="http://crm.test/items/{item_id}",
        http_hosts=["crm.test"],
    )
    asked = http_verb(named, HttpAccess(secrets={"TOKEN": Secret(TOKEN)}, resolver=never)).function
    with pytest.raises(VerbError) as error:
        await asked(context=VerbContext(key="key-1", attempt=1, left_s=0.1), item_id="1")
    assert (error.value.code, error.value.happened) == ("too_slow", False)


FULL_TABLE = """
import asyncio, os, resource, sys
from ordain.contracts.verbs import VerbSpec
from ordain.ports.verb import LeafCall
from ordain.verbs import LeafExecutor, Registry, VerbFolder

async def main(port, warm):
    spec = VerbSpec.model_validate({
        "name": "crm.put", "description": "Put.", "effect": "private", "input_schema": {"type": "object", "additionalProperties": False}, "output_schema": {"type": "object"},
        "http": {"method": "PUT", "url": f"http://127.0.0.1:{port}/x", "hosts": ["127.0.0.1"], "private": True},
    }, strict=False)
    executor = LeafExecutor(Registry([VerbFolder(specs={spec.name: spec}, templates={}, origins={})]))
    call = LeafCall(spec=spec, args={}, key="k", attempt=1, timeout_s=30)
    if warm:
        print(await executor.run(call))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    full = await executor.run(call)
    for one in held:
        os.close(one)
    print(full.code, full.retryable, full.happened)

asyncio.run(main(int(sys.argv[1]), sys.argv[2] == "warm"))
"""


@pytest.mark.parametrize("process", ["fresh", "warm"])
async def test_a_full_table_of_descriptors_sends_nothing(server: Server, process: str) -> None:
    """Whether or not a call was made before: without a descriptor nothing goes out, so the write
    failed and is not in doubt.
    """
    server.says({"ok": True})
    command = [sys.executable, "-c", FULL_TABLE, str(server.port), process]
    ran = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    told, wrong = await ran.communicate()
    assert told.decode().splitlines()[-1:] == ["not_connected True False"], wrong.decode()[-2000:]
    assert len(server.asked) == (process == "warm")


async def too_slow(verb: VerbSpec) -> VerbError:
    """What the verb itself says of its time; the executor, whose own time ends shortly after, might
    be the first to on a busy machine.
    """
    asked = http_verb(verb, HttpAccess(secrets={"TOKEN": Secret(TOKEN)})).function
    with pytest.raises(VerbError) as error:
        await asked(context=VerbContext(key="key-1", attempt=1, left_s=1.5), item_id="1")
    return error.value


# --- where it may go ------------------------------------------------------------------------------


def resolving(*answers: Sequence[str]) -> Callable[[str, int], Awaitable[Sequence[str]]]:
    left = list(answers)

    async def resolve(host: str, port: int) -> Sequence[str]:
        if not left:
            raise OSError("asked once too often")
        return left.pop(0)

    return resolve


def named(server: Server, host: str = "api.example.com", **changes: Any) -> VerbSpec:
    return spec(
        server,
        http_url=f"http://{host}:{server.port}/items/{{item_id}}",
        http_hosts=[host],
        **changes,
    )


async def test_a_private_address_needs_its_declaration(server: Server) -> None:
    """A name that resolves to a private address, if only among others, and a literal one are
    refused unless ``private`` is declared.
    """
    public = {"effect": "egress", "http_private": False}
    for addresses in (
        ["127.0.0.1"],
        ["93.184.216.34", "10.0.0.1"],
        ["::ffff:127.0.0.1"],
        ["169.254.169.254"],
    ):
        failed = await failure(
            named(server, **public), access=HttpAccess(resolver=resolving(addresses)), item_id="1"
        )
        assert (failed.code, failed.happened) == ("private_address", False)
    assert (await failure(spec(server, **public), item_id="1")).code == "private_address"
    assert server.asked == []
    private = named(server)
    result = await run(private, access=HttpAccess(resolver=resolving(["127.0.0.1"])), item_id="1")
    assert isinstance(result, LeafReturned)
    assert server.asked[0].headers["host"] == f"api.example.com:{server.port}"


async def test_a_name_is_resolved_once(server: Server) -> None:
    """DNS rebinding: the address that was checked is dialled, a second answer is never asked
    for.
    """
    rebinding = resolving(["127.0.0.1"], ["169.254.169.254"])
    assert isinstance(
        await run(named(server), access=HttpAccess(resolver=rebinding), item_id="1"), LeafReturned
    )
    assert await rebinding("x", 1) == ["169.254.169.254"]


async def test_a_private_read_stays_inside(server: Server) -> None:
    """A read that is declared private sends its arguments to private addresses only: a public one
    among them is refused.
    """
    for addresses in (["93.184.216.34"], ["127.0.0.1", "93.184.216.34"]):
        failed = await failure(
            named(server), access=HttpAccess(resolver=resolving(addresses)), item_id="1"
        )
        assert (failed.code, server.asked) == ("public_address", [])


async def test_a_private_write_stays_inside(server: Server) -> None:
    """So does a write that is declared private for a private host; one that says that it sends goes
    wherever its host is.
    """
    public = HttpAccess(resolver=resolving(["93.184.216.34"]))
    write = {
        "effect": "private",
        "http_method": "PUT",
        "http_url": "http://crm.test/items/{item_id}",
        "http_hosts": ["crm.test"],
    }
    failed = await failure(spec(server, **write), access=public, item_id="1")
    assert (failed.code, failed.happened, server.asked) == ("public_address", False, [])
    assert not stays_inside(spec(server, **{**write, "effect": "admin"}))


async def test_nobody_there_did_not_happen() -> None:
    """A refused connection, a name without address: retryable, and a write certainly did not
    happen.
    """
    async with serving() as gone:
        verb = spec(gone, effect="private", http_method="PUT")
    failed = await failure(verb, item_id="1")
    assert (failed.code, failed.retryable, failed.happened) == ("not_connected", True, False)
    failed = await failure(named(gone), access=HttpAccess(resolver=resolving()), item_id="1")
    assert (failed.code, failed.retryable, failed.happened) == ("not_resolved", True, False)


async def test_a_server_that_hangs_up_leaves_a_write_in_doubt() -> None:
    """Whether a request that got no answer was carried out is unknown, of a read it does not
    matter.
    """

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listener:
        there = Server(port=listener.sockets[0].getsockname()[1])
        assert (await failure(spec(there), item_id="1")).happened is False
        failed = await failure(spec(there, effect="private", http_method="PUT"), item_id="1")
        assert (failed.code, failed.happened) == ("no_answer", None)


# --- secrets --------------------------------------------------------------------------------------


async def test_an_echo_of_the_secret_is_blanked(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever form a server echoes it in, the secret reaches no output, message or log."""
    caplog.set_level(logging.DEBUG)
    verb = spec(
        server,
        http_headers={"Authorization": {"secret": "TOKEN", "prefix": "Bearer "}},
        http_query={"key": {"secret": "TOKEN"}},
    )
    encoded = base64.b64encode(TOKEN.encode()).decode()
    server.says(
        {
            "you": f"sent Bearer {TOKEN}",
            TOKEN: [encoded, "s3cr3t%2FToken%2Bvalue%3D%3D"],
            "raw": "x",
        }
    )
    assert await output(verb, item_id="1") == {
        "you": f"sent Bearer {STRUCK}",
        STRUCK: [STRUCK, STRUCK],
        "raw": "x",
    }
    server.says("".join(f"\\u{ord(character):04x}" for character in TOKEN).join('""').encode())
    assert await output(verb, item_id="1") == {"result": STRUCK}
    by_hand = "".join(f"%{byte:02x}" for byte in TOKEN.encode())
    twice = TOKEN.replace("/", "\\u002f").replace("=", "%3d")
    server.says({"codes of all letters": by_hand, "code in code": twice})
    assert await output(verb, item_id="1") == {
        "codes of all letters": STRUCK,
        "code in code": STRUCK,
    }
    server.says(TOKEN.encode(), content_type="text/plain")
    assert await output(
        spec(server, http_result="text", http_headers={"X-Key": {"secret": "TOKEN"}}), item_id="1"
    ) == {"text": STRUCK}
    server.says({}, status="401 Unauthorized", x_echo=TOKEN)
    assert TOKEN not in (await failure(verb, item_id="1")).message
    assert TOKEN in server.asked[0].headers["authorization"]
    assert TOKEN not in caplog.text
    assert TOKEN not in repr(verb) + verb.model_dump_json() + repr(
        HttpAccess(secrets={"TOKEN": Secret(TOKEN)})
    )


async def test_a_secret_that_is_not_there_stops_the_call(server: Server) -> None:
    """Without its value nothing is sent; a secret that is not declared, or for another host, is
    refused when the verb is loaded.
    """
    verb = spec(server, http_headers={"X-Key": {"secret": "TOKEN"}})
    failed = await failure(verb, access=HttpAccess(secrets={"TOKEN": Secret("")}), item_id="1")
    assert (failed.code, server.asked) == ("secret_missing", [])
    for secrets, says in (
        ({}, "not declared"),
        ({"TOKEN": Secret(TOKEN, frozenset({"other.example"}))}, "not declared for host"),
    ):
        with pytest.raises(ConfigurationError, match=says) as error:
            http_verb(verb, HttpAccess(secrets=secrets))
        assert TOKEN not in error.value.message


VERB_YAML = """\
name: crm.get
description: An item of the local service.
effect: read
http:
  url: "http://127.0.0.1:{port}/items/{{item_id}}"
  hosts: [127.0.0.1]
  private: true
  headers: {{Authorization: {{secret: CRM_TOKEN, prefix: "Bearer "}}}}
input_schema:
  type: object
  properties: {{item_id: {{type: string, maxLength: 40}}}}
  required: [item_id]
  additionalProperties: false
output_schema:
  type: object
  properties: {{title: {{type: string}}}}
  required: [title]
  additionalProperties: false
"""


def holding(text: str, folder: Path) -> list[Path]:
    """The files below the folder that hold the text."""
    return [
        file for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()
    ]


async def test_through_the_one_door_nothing_keeps_the_secret(
    server: Server, tmp_path: Path
) -> None:
    """A run of an HTTP verb is journalled like any other; the secret of the settings stands in no
    file of the data folder, no header, no catalog.
    """
    (tmp_path / "verbs").mkdir()
    (tmp_path / "verbs" / "crm.get.yaml").write_text(
        VERB_YAML.format(port=server.port), encoding="utf-8"
    )
    (tmp_path / "ordain.toml").write_text(
        '[verbs.secrets]\nCRM_TOKEN = {env = "CRM_TOKEN", hosts = ["127.0.0.1"]}\n',
        encoding="utf-8",
    )
    loaded = load_settings({"CRM_TOKEN": TOKEN}, tmp_path)
    async with Ordain(loaded) as ordain:
        server.says({"title": f"echo {TOKEN}"})
        reply = (await ordain.execute("crm.get", {"item_id": "7"})).wire
        assert (reply["ok"], reply["output"]) == (True, {"title": f"echo {STRUCK}"})
        server.says({"title": 1})
        assert (await ordain.execute("crm.get", {"item_id": "7"})).wire["error"][
            "code"
        ] == "bad_output"
        assert TOKEN.encode() not in ordain.catalog.encoded
        assert TOKEN not in repr(loaded) + repr(ordain.settings)
    assert not holding(TOKEN, tmp_path)
