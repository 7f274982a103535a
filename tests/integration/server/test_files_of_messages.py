"""Files on the ways of the sources' shapes: the hub over HTTP and WebSocket, and the gateway. They
are read as those of ``POST /messages`` are.
"""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from websockets.asyncio.client import connect

from ordain import Ordain
from ordain.app import Extras
from ordain.contracts.policy import Lane
from ordain.contracts.profiles import ModelProfile
from ordain.server import Face, build_app
from ordain.server.bodies import BODY_BYTES, FILES_BYTES
from ordain.server.protocol import HttpProtocol
from ordain.server.socket_protocol import socket_options
from ordain.settings import load_settings
from tests.integration.server.connecting import PATIENCE_S, Quiet
from tests.shapes.pictures import PNG
from tests.shapes.talk import Puppet

LEASE = b"# Lease\n\nThe tenant may keep a dog.\n"


class Place:
    """A server, its one model and its address."""

    def __init__(self, ordain: Ordain, puppet: Puppet, address: str) -> None:
        self.ordain, self.puppet, self.address = ordain, puppet, address

    @property
    def http(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=f"http://{self.address}", timeout=PATIENCE_S, trust_env=False, verify=False
        )


@asynccontextmanager
async def serving(home: Path, *, vision: bool = False) -> AsyncIterator[Place]:
    """An Ordain behind a real server; its model is the puppet, which sees or does not."""
    settings, puppet = load_settings({}, home), Puppet()
    lanes = settings.policy.lanes.model_copy(update={"profiles": {lane: ["eye"] for lane in Lane}})
    profiles = {"eye": ModelProfile(provider="scripted", model="eye", vision=vision)}
    policy = settings.policy.model_copy(update={"lanes": lanes})
    settings = settings.model_copy(update={"profiles": profiles, "policy": policy})
    async with Ordain(settings, extras=Extras(models={"eye": puppet}, memory=True)) as ordain:
        face = Face(runtime=ordain.runtime)
        config = uvicorn.Config(
            build_app(face),
            http=HttpProtocol,
            lifespan="off",
            log_config=None,
            access_log=False,
            **socket_options(),
        )
        server = Quiet(config)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            task = asyncio.create_task(server.serve(sockets=[listener]))
            yield Place(ordain, puppet, f"127.0.0.1:{listener.getsockname()[1]}")
            face.stopping.set()
            server.should_exit = True
            await task


def file(name: str, content: bytes, **more: Any) -> dict[str, Any]:
    return {"name": name, "data": b64encode(content).decode(), **more}


Sent = tuple[int, dict[str, Any], str]
"""Status, problem (empty where there is none) and header."""


async def by_hub(place: Place, session: str, text: str, *files: dict[str, Any]) -> Sent:
    async with place.http as http:
        answer = await http.post(
            "/api/chat",
            json={"text_input": text, "session_id": session, "attachments": list(files)},
        )
        said = answer.json()
        good = answer.status_code == 200
        return answer.status_code, {} if good else said, said["reply"]["header"] if good else ""


async def by_gateway(place: Place, session: str, text: str, *files: dict[str, Any]) -> Sent:
    async with place.http as http:
        answer = await http.post(
            "/v1/cortex/chat",
            json={"prompt": text, "session_id": session, "attachments": list(files)},
        )
        said = answer.json()
        good = answer.status_code == 200
        return (
            answer.status_code,
            {} if good else said,
            said["cortex_result"]["header"] if good else "",
        )


async def by_socket(place: Place, session: str, text: str, *files: dict[str, Any]) -> Sent:
    async with connect(
        f"ws://{place.address}/ws?session={session}", proxy=None, max_size=2**24
    ) as client:
        await client.send(json.dumps({"text_input": text, "attachments": list(files)}))
        while True:
            told = json.loads(await asyncio.wait_for(client.recv(), PATIENCE_S))
            if told["event"] == "refused":
                return told["problem"]["status"], told["problem"], ""
            if told["event"] == "reply":
                return 200, {}, told["header"]


WAYS: dict[str, Callable[..., Awaitable[Sent]]] = {
    "hub": by_hub,
    "gateway": by_gateway,
    "socket": by_socket,
}
ways = pytest.mark.parametrize("way", WAYS)


@ways
async def test_a_file_is_read_on_each_of_them(tmp_path: Path, way: str) -> None:
    """Its text stands in the prompt, the header says so, and it is a document of the session; also
    beside no text at all.
    """
    async with serving(tmp_path) as place:
        for session, text, name in (
            ("s1", "May I keep a dog?", "lease.md"),
            ("s2", "", "again.md"),
        ):
            status, _, header = await WAYS[way](
                place, session, text, file(name, LEASE + name.encode())
            )
            assert status == 200
            assert "recall.attached" in header
            shown = place.puppet.requests[-1].inputs["recalled"]
            assert [
                (one["kind"], one["title"]) for one in shown if one["kind"] == "attachment"
            ] == [("attachment", name)]
        documents = await place.ordain.runtime.library.documents("default", limit=9, before=None)
        assert {(one.title, one.session) for one in documents} == {
            ("lease.md", "s1"),
            ("again.md", "s2"),
        }


@ways
async def test_a_model_that_sees_is_shown_the_images_of_each(tmp_path: Path, way: str) -> None:
    """As it came; where none sees it is refused in words."""
    async with serving(tmp_path / "sees", vision=True) as place:
        status, _, _ = await WAYS[way](place, "s1", "what is on it?", file("a.png", PNG))
        assert (status, [one.media_type for one in place.puppet.requests[-1].images]) == (
            200,
            ["image/png"],
        )
    async with serving(tmp_path / "blind") as place:
        status, problem, _ = await WAYS[way](place, "s1", "what is on it?", file("a.png", PNG))
        assert (status, problem["code"], "no model here sees" in problem["detail"]) == (
            415,
            "attachment_unread",
            True,
        )


@ways
@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("a.zip", b"PK\x03\x04....", 415, "attachment_unread"),
        ("a.txt", PNG, 415, "attachment_unlike"),
        ("b.md", b"", 422, "attachment_invalid"),
    ],
)
async def test_what_nobody_reads_is_refused_on_each_of_them(
    tmp_path: Path, way: str, name: str, content: bytes, status: int, code: str
) -> None:
    """By its name and by the place that it has in what was sent; nothing is said in the session,
    and the good file beside it is not kept.
    """
    async with serving(tmp_path) as place:
        got, problem, _ = await WAYS[way](
            place, "s1", "read these", file("good.md", LEASE), file(name, content)
        )
        assert (got, problem["code"]) == (status, code)
        assert name in problem["detail"]
        assert [one["place"] for one in problem["errors"]] == ["/attachments/1"]
        assert not await place.ordain.runtime.conversation.sessions("default")
        assert not await place.ordain.runtime.library.documents("default", limit=9, before=None)


@ways
async def test_a_file_may_be_larger_than_a_body_without_files(tmp_path: Path, way: str) -> None:
    """One of several times as many bytes is read; the bounds are those of any message's files."""
    async with serving(tmp_path) as place:
        large = b"# Book\n\n" + b"The tenant may keep a dog, and a cat beside it. \n\n" * 20_000
        assert len(large) > 3 * BODY_BYTES
        status, _, header = await WAYS[way](
            place, "s1", "May I keep a dog?", file("book.md", large)
        )
        assert (status, "recall.attached" in header) == (200, True)
        status, problem, _ = await WAYS[way](
            place, "s2", "more", *[file(f"{one}.md", LEASE) for one in range(9)]
        )
        assert (status, problem["code"]) == (413, "attachments_too_many")
        status, problem, _ = await WAYS[way](
            place, "s2", "more", {"name": "x", "data": "A" * FILES_BYTES}
        )
        assert (status, problem["code"]) == (413, "too_large")


@ways
async def test_nothing_said_and_no_file_is_refused(tmp_path: Path, way: str) -> None:
    """By the place of the text."""
    async with serving(tmp_path) as place:
        status, problem, _ = await WAYS[way](place, "s1", "  ")
        assert (status, problem["code"]) == (422, "invalid_request")
        assert problem["errors"][0]["place"] in ("/text_input", "/prompt")
