"""Which model servers run here: what counts as one, and that nothing beyond loopback is asked."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.hosted import LOOPBACK, PLANNER_MODEL
from ordain.errors import ConfigurationError
from ordain.models.discovery import (
    ANSWER_BYTES,
    Endpoint,
    Presence,
    listed,
    on_this_machine,
    usual_places,
)
from ordain.settings import load_settings
from tests.loopback import QuietHandler, QuietServer


class Server(QuietServer):
    """Answers every GET with the same bytes, and keeps what it was sent."""

    status, body, rest_s, realm = 200, b"", 0.0, ""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        server = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers.get("authorization")))
                time.sleep(server.rest_s)
                self.send_response(server.status)
                if server.realm:
                    self.send_header("www-authenticate", server.realm)
                self.send_header("location", "http://127.0.0.1:1/")
                self.send_header("content-length", str(len(server.body)))
                self.end_headers()
                self.wfile.write(server.body)

        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as found:
        threading.Thread(target=found.serve_forever, args=(0.02,), daemon=True).start()
        yield found
        found.shutdown()


def look(server: Server, key: str = "", limit_s: float = 5.0) -> Endpoint | None:
    return asyncio.run(listed("vllm", server.url, key, limit_s))


def test_models_are_listed_in_order(server: Server) -> None:
    """Each once, with the window where the server says one; a model that only embeds holds no
    conversation.
    """
    rows: list[Any] = [
        {"id": "b", "max_model_len": 8192},
        {"id": "nomic-embed-text"},
        {"id": "a", "max_model_len": True},
        {"id": "b"},
        7,
        {"id": 3},
    ]
    server.body = json.dumps({"object": "list", "data": rows}).encode()
    found = look(server)
    assert found is not None
    assert (found.title, found.models, found.talkers) == (
        "vLLM",
        ("b", "nomic-embed-text", "a"),
        ("b", "a"),
    )
    assert found.context_tokens == {"b": 8192}
    assert server.asked == [("/v1/models", None)]


def test_a_key_goes_only_where_it_was_given(server: Server) -> None:
    """Whoever names a key has it sent; a look around sends none."""
    server.body = b'{"data": [{"id": "m"}]}'
    assert look(server, "secret-key") is not None
    assert asyncio.run(on_this_machine({"ollama": server.url})) != []
    assert [key for _, key in server.asked] == ["Bearer secret-key", None]


def test_a_server_without_a_model_is_one(server: Server) -> None:
    """An empty list is a server that has none yet."""
    server.body = b'{"object": "list", "data": []}'
    found = look(server)
    assert found is not None
    assert found.models == ()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, b"{}"),
        (200, b"<html>Tomcat</html>"),
        (200, b'{"models": []}'),
        (200, b'["a"]'),
        (200, b'{"data": {"id": "a"}}'),
        (200, b'{"data": [{"name": "a"}]}'),
        (200, b'{"data": [{"id": "a\\u001b[2J"}]}'),
        (200, b'{"data": [{"id": "ordain", "owned_by": "ordain"}]}'),
        (200, b"[" * 100_000),
        (200, b'{"data": [{"id": "' + b"a" * ANSWER_BYTES + b'"}]}'),
        (302, b'{"data": [{"id": "a"}]}'),
    ],
)
def test_what_is_no_list_of_models_is_no_endpoint(server: Server, status: int, body: bytes) -> None:
    """A page, another shape, a name with controls, an Ordain, an answer without end, a redirect:
    something listens, and has no model for us.
    """
    server.status, server.body = status, body
    found = look(server)
    assert found is not None
    assert (found.heard, found.models) == (Presence.FOREIGN, ())


@pytest.mark.parametrize(
    ("realm", "heard"), [("", Presence.WANTS_KEY), ('Bearer realm="ordain"', Presence.FOREIGN)]
)
def test_a_server_that_wants_a_key_is_there(server: Server, realm: str, heard: Presence) -> None:
    """It runs, and refuses whoever has no key; an Ordain that wants a token is no model server to
    itself.
    """
    server.status, server.body, server.realm = 401, b'{"data": [{"id": "a"}]}', realm
    found = look(server)
    assert found is not None
    assert (found.heard, found.models) == (heard, ())


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_an_address_is_asked_however_it_is_written(server: Server, end: str) -> None:
    """As a profile's is: a host alone means /v1, slashes at its end mean nothing."""
    server.body = b'{"data": [{"id": "m"}]}'
    found = asyncio.run(listed("endpoint", server.url.removesuffix("/v1") + end))
    assert found is not None
    assert (found.base_url, server.asked) == (server.url, [("/v1/models", None)])


def test_who_does_not_answer_in_time_is_no_endpoint(server: Server) -> None:
    """A server that keeps silent is there and has no models; at a port where nobody listens nothing
    is.
    """
    server.body, server.rest_s = b'{"data": [{"id": "a"}]}', 3.0
    found = look(server, limit_s=0.2)
    assert found is not None
    assert (found.heard, found.models) == (Presence.SILENT, ())
    assert asyncio.run(listed("ollama", "http://127.0.0.1:1/v1")) is None
    assert asyncio.run(listed("ollama", "http://[::1/v1")) is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:4242", "http://127.0.0.1:4242/v1"),
        ("http://localhost:4242", "http://localhost:4242/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:4242", "http://127.0.0.1:4242/v1"),
        ("[::1]:4242", "http://[::1]:4242/v1"),
        ("gpu.example:11434", "http://127.0.0.1:11434/v1"),
        ("https://ollama.example", "http://127.0.0.1:11434/v1"),
        ("127.0.0.1:many", "http://127.0.0.1:11434/v1"),
    ],
)
def test_only_loopback_is_looked_at(said: str, asked: str) -> None:
    """Ollama's own variable moves where it is looked for, on this machine alone."""
    places = usual_places({"OLLAMA_HOST": said})
    assert places["ollama"] == asked
    assert all(urlsplit(url).hostname in LOOPBACK for url in places.values())


def models_listed(*names: str) -> bytes:
    """What an endpoint says that has these."""
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


async def test_a_model_that_nobody_named_is_asked_for_where_it_may_be(
    server: Server, tmp_path: Path
) -> None:
    """An endpoint that lists other models only is not asked for the default's: Ordain does not
    start, and says what there is to name. A running one is left alone.
    """
    settings = load_settings({"OPENAI_BASE_URL": server.url}, tmp_path)
    server.body = models_listed("qwen3-8b", "bge-m3")
    with pytest.raises(
        ConfigurationError,
        match=r"It has qwen3-8b, bge-m3: set PLANNER_MODEL to one of them, or run: ordain init",
    ) as refused:
        await Ordain(settings, extras=Extras(memory=True)).start()
    assert refused.value.code == "model_missing"


@pytest.mark.parametrize(
    ("environment", "body"),
    [
        ({"PLANNER_MODEL": "another"}, models_listed("qwen3-8b")),
        ({}, models_listed("qwen3-8b", PLANNER_MODEL)),
        ({}, models_listed()),
        ({}, b"<html>"),
    ],
)
async def test_what_may_have_the_model_is_asked_for_it(
    server: Server, environment: dict[str, str], body: bytes, tmp_path: Path
) -> None:
    """A model that somebody named, one that is listed, and an endpoint that lists none: Ordain
    starts.
    """
    server.body = body
    async with Ordain(
        load_settings({"OPENAI_BASE_URL": server.url, **environment}, tmp_path),
        extras=Extras(memory=True),
    ) as ordain:
        assert ordain.settings.profiles["default"].model == environment.get(
            "PLANNER_MODEL", PLANNER_MODEL
        )
