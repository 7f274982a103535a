"""``/memory`` and ``/docs`` over HTTP, and the commands: beside a server and without one."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ordain import Ordain
from ordain.app import Extras
from ordain.cli import main
from ordain.contracts.access import TokenScope
from ordain.engines.clock import SystemClock
from ordain.ports.documents import Document
from ordain.ports.library import Section
from ordain.runtime.access import Exposure
from ordain.runtime.library import Memory
from ordain.runtime.tokens import NewToken, Tokens
from ordain.server import Face, build_app
from ordain.server import library as library_routes
from tests.e2e.process import Server
from tests.integration.library.pdf import encrypted, pdf

OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with Ordain(home=tmp_path) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that each test may start or not."""
    server = Server(tmp_path / "home")
    yield server
    server.end()


class Clock(SystemClock):
    """The system's clock, moved on by hand."""

    ahead = 0

    def now(self) -> int:
        return super().now() + self.ahead


class Waiting:
    """Implements ``Embedder``: after the first texts it waits until it may go on."""

    name, dimension = "waiting-1", 1

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.asked = 0

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        self.asked += 1
        assert self.asked == 1 or self.may_go_on.wait(60)
        return [bytes(4)] * len(texts)


async def test_an_addition_that_is_told_ends_with_its_token(tmp_path: Path) -> None:
    """The lines that tell how far an addition is end like any stream once the token was revoked;
    what comes in one piece is answered.
    """
    embedder, clock = Waiting(), Clock()
    async with Ordain(home=tmp_path, extras=Extras(embedder=lambda: embedder)) as ordain:
        services = ordain.runtime.services
        services.clock = clock
        tokens = Tokens(services.tokens, services.store, clock)
        new = NewToken(name="adder", scopes=(TokenScope.MEMORY,), workspaces=("default",))
        headers = {
            **OCTETS,
            "Authorization": f"Bearer {(await tokens.create(new, by='me')).secret}",
        }
        face = Face(runtime=ordain.runtime, exposure=Exposure(demanded=True))
        transport = httpx2.ASGITransport(build_app(face), raise_app_exceptions=False)
        text = "\n\n".join(
            f"Paragraph {number}: " + "word " * 150 for number in range(200)
        ).encode()

        async def add(name: str, **more: str) -> httpx2.Response:
            async with httpx2.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60
            ) as http:
                return await http.post(
                    "/docs",
                    params={"name": name},
                    content=text + name.encode(),
                    headers={**headers, **more},
                )

        adding = [asyncio.ensure_future(add("told.txt", Accept="application/x-ndjson"))]
        async with asyncio.timeout(60):
            while not embedder.asked > 1:  # noqa: ASYNC110 - announced to nobody
                await asyncio.sleep(0.01)
            adding.append(asyncio.ensure_future(add("whole.txt")))
            await asyncio.sleep(0.1)  # let in at once, it waits for the thread that embeds
        await tokens.revoke("adder", by="me")
        clock.ahead = 2_000_000
        embedder.may_go_on.set()
        told, whole = await asyncio.gather(*adding)
        assert [json.loads(line)["event"] for line in told.text.splitlines()] == ["progress"]
        assert (whole.status_code, whole.json()["outcome"]) == (200, "added")
        assert (await add("after.txt")).status_code == 401


async def test_notes_over_http(http: httpx2.AsyncClient) -> None:
    """A note is added, found, listed page by page and forgotten; another workspace sees nothing of
    it.
    """
    added = (
        await http.post(
            "/memory", json={"text": "Ada drinks tea.", "user_id": "ada", "tags": ["food"]}
        )
    ).json()
    assert (added["outcome"], added["passages"], added["embedded"]) == ("added", 1, True)
    await http.post("/memory", json={"text": "Bob drinks coffee.", "user_id": "bob"})
    found = (
        await http.post(
            "/memory/search",
            json={"query": "what does Ada drink", "max_items": 1, "user_id": "ada"},
        )
    ).json()
    assert [(one["id"], one["trust"], one["author"]) for one in found["fragments"]] == [
        (added["id"], "own", "ada")
    ]
    page = (await http.get("/memory", params={"limit": 1})).json()
    assert [one["excerpt"] for one in page["notes"]] == ["Bob drinks coffee."]
    rest = (await http.get("/memory", params={"before": page["next"]})).json()
    assert [(one["id"], one["tags"]) for one in rest["notes"]] == [(added["id"], ["food"])]
    elsewhere = {"Ordain-Workspace": "other"}
    assert (await http.delete(f"/memory/{added['id']}", headers=elsewhere)).status_code == 404
    assert (await http.get("/memory", headers=elsewhere)).json()["notes"] == []
    assert (await http.delete(f"/memory/{added['id']}")).json() == {
        "id": added["id"],
        "outcome": "forgotten",
    }
    assert (await http.delete(f"/memory/{added['id']}")).json()["code"] == "note_not_found"


async def test_a_note_is_its_users_own_only_from_who_may_speak_for_users(tmp_path: Path) -> None:
    """A token that may not send messages makes no note any user's own, and takes the place of none
    that is.
    """
    async with Ordain(home=tmp_path) as ordain:
        tokens = Tokens(
            ordain.runtime.services.tokens, ordain.runtime.services.store, SystemClock()
        )
        secrets = {
            name: (
                await tokens.create(
                    NewToken(name=name, scopes=scopes, workspaces=("default",)), by="me"
                )
            ).secret
            for name, scopes in {
                "memory": (TokenScope.MEMORY,),
                "chat": (TokenScope.MEMORY, TokenScope.CHAT),
            }.items()
        }
        app = build_app(Face(runtime=ordain.runtime, exposure=Exposure(demanded=True)))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)

        async def posted(token: str, path: str, **body: Any) -> Any:
            async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return (
                    await http.post(
                        path, json=body, headers={"Authorization": f"Bearer {secrets[token]}"}
                    )
                ).json()

        async def trusts() -> list[tuple[str, str]]:
            found = await posted("chat", "/memory/search", query='"landlord"', user_id="ada")
            return [(one["trust"], one["author"]) for one in found["fragments"]]

        rent = {
            "text": "The landlord's account for the rent is with mallory@evil.example.",
            "user_id": "ada",
        }
        first = await posted("memory", "/memory", **rent)
        assert (first["outcome"], await trusts()) == ("added", [("member", "ada")])
        assert (await posted("memory", "/memory", **rent))["outcome"] == "same"
        own = await posted("chat", "/memory", **rent)
        assert (own["outcome"], sorted(await trusts())) == (
            "added",
            [("member", "ada"), ("own", "ada")],
        )
        assert (await posted("memory", "/memory", **rent))["id"] == first["id"] != own["id"]


class Uploads:
    """Documents that arrive as the test lets them."""

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self.http = http
        self.waits, self.may_end = asyncio.Event(), asyncio.Event()
        self.begun: list[str] = []

    async def body(self, name: str, size: int, *, wait: bool = False) -> AsyncIterator[bytes]:
        for at in range(0, size, 1000):
            self.begun += [name] if at == 0 else []
            yield f"{name} ".encode().ljust(1000, b"x")
        if wait:
            self.waits.set()
            await self.may_end.wait()

    async def add(
        self, name: str, size: int, *, wait: bool = False, declared: bool = False, **headers: str
    ) -> httpx2.Response:
        said = {**OCTETS, **headers, **({"Content-Length": str(size)} if declared else {})}
        return await self.http.post(
            "/docs", params={"name": name}, content=self.body(name, size, wait=wait), headers=said
        )


async def test_documents_that_wait_fill_a_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What does not fit beside the documents that are being added is refused, unread where it said
    its length, and comes again later.
    """
    monkeypatch.setattr(library_routes, "ROOM_BYTES", 100_000)
    monkeypatch.setattr(library_routes, "ROOM_LEAST", 10_000)
    embedder = Waiting()
    async with Ordain(home=tmp_path, extras=Extras(embedder=lambda: embedder)) as ordain:
        transport = httpx2.ASGITransport(
            build_app(Face(runtime=ordain.runtime)), raise_app_exceptions=False
        )
        async with (
            httpx2.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60
            ) as http,
            asyncio.timeout(60),
        ):
            uploads = Uploads(http)
            held = asyncio.ensure_future(uploads.add("held.txt", 60_000, wait=True))
            await uploads.waits.wait()
            for declared in (True, False):
                refused = await uploads.add("refused.txt", 50_000, declared=declared)
                assert (
                    refused.status_code,
                    refused.json()["code"],
                    "retry-after" in refused.headers,
                ) == (503, "documents_busy", True)
                assert uploads.begun.count("refused.txt") == (not declared)
            embedder.may_go_on.set()
            assert (await uploads.add("small.txt", 5000)).json()["outcome"] == "added"
            embedder.may_go_on.clear()
            told = [
                asyncio.ensure_future(uploads.add(f"{n}.txt", 1000, Accept="application/x-ndjson"))
                for n in range(4)
            ]
            while "3.txt" not in uploads.begun:  # noqa: ASYNC110 - announced to nobody
                await asyncio.sleep(0.01)
            assert (await uploads.add("one_more.txt", 1000)).json()["code"] == "documents_busy"
            embedder.may_go_on.set()
            uploads.may_end.set()
            assert (await held).json()["outcome"] == "added"
            assert [
                json.loads(one.text.splitlines()[-1])["event"]
                for one in await asyncio.gather(*told)
            ] == ["kept"] * 4
            assert (await uploads.add("refused.txt", 90_000, declared=True)).json()[
                "outcome"
            ] == "added"


async def test_one_token_leaves_room_for_the_documents_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one token's documents fill its part, its next one is refused and another token's is
    added; the part is given back.
    """
    monkeypatch.setattr(library_routes, "ROOM_EACH", 50_000)
    monkeypatch.setattr(library_routes, "ROOM_LEAST", 10_000)
    async with Ordain(home=tmp_path) as ordain:
        tokens = Tokens(
            ordain.runtime.services.tokens, ordain.runtime.services.store, SystemClock()
        )
        news = [
            NewToken(name=name, scopes=(TokenScope.MEMORY,), workspaces=("default",))
            for name in ("ann", "ben")
        ]
        ann, ben = [
            {"Authorization": f"Bearer {(await tokens.create(new, by='me')).secret}"}
            for new in news
        ]
        app = build_app(Face(runtime=ordain.runtime, exposure=Exposure(demanded=True)))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with (
            httpx2.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60
            ) as http,
            asyncio.timeout(60),
        ):
            uploads = Uploads(http)
            held = asyncio.ensure_future(uploads.add("held.txt", 45_000, wait=True, **ann))
            await uploads.waits.wait()
            assert (await uploads.add("more.txt", 2000, **ann)).json()["code"] == "documents_busy"
            assert (await uploads.add("other.txt", 45_000, declared=True, **ben)).json()[
                "outcome"
            ] == "added"
            uploads.may_end.set()
            assert (await held).json()["outcome"] == "added"
            assert (await uploads.add("more.txt", 45_000, declared=True, **ann)).json()[
                "outcome"
            ] == "added"


class Reading:
    """Implements ``Documents``: reads one only once it may."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.begun: list[str] = []

    async def read(self, name: str, content: bytes) -> Document:
        self.begun.append(name)
        await self.may_end.wait()
        return Document(
            media_type="text/plain", title="", pages=0, sections=(Section(text=content.decode()),)
        )

    async def until(self, *names: str) -> None:
        """Until these are being read; then it is given time to begin more."""
        while not set(names) <= set(self.begun):  # noqa: ASYNC110 - announced to nobody
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
async def test_a_token_has_one_place_for_documents(tmp_path: Path, accept: str) -> None:
    """While one of its documents is read the next ones wait, those of other tokens do not, and the
    owner has as many places as there are.
    """
    async with Ordain(home=tmp_path) as ordain:
        library, reading = ordain._open_library(), Reading()
        ordain.runtime.library = Memory(library, reading, library.clear)
        tokens = Tokens(
            ordain.runtime.services.tokens, ordain.runtime.services.store, SystemClock()
        )
        news = [
            NewToken(name=name, scopes=(TokenScope.MEMORY,), workspaces=("default",))
            for name in ("ann", "ben")
        ]
        of = {
            new.name: {"Authorization": f"Bearer {(await tokens.create(new, by='me')).secret}"}
            for new in news
        } | {"owner": {}}
        app = build_app(Face(runtime=ordain.runtime, exposure=Exposure(demanded=False)))
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with (
            httpx2.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60
            ) as http,
            asyncio.timeout(60),
        ):
            names = ["ann 1", "ann 2", "ann 3", "ben 1", "ben 2", "owner 1", "owner 2"]
            adding = [
                asyncio.ensure_future(
                    http.post(
                        "/docs",
                        params={"name": one},
                        content=one.encode(),
                        headers={**OCTETS, "Accept": accept, **of[one[:-2]]},
                    )
                )
                for one in names
            ]
            await reading.until("ann 1", "ben 1", "owner 1", "owner 2")
            assert sorted(reading.begun) == ["ann 1", "ben 1", "owner 1", "owner 2"]
            reading.may_end.set()
            answers = [json.loads((await one).text.splitlines()[-1]) for one in adding]
            assert [one["outcome"] for one in answers] == ["added"] * len(names)
            assert reading.begun.index("ann 2") < reading.begun.index("ann 3")


async def test_documents_over_http(http: httpx2.AsyncClient) -> None:
    """A document is added once, shown by its passages, replaced by another content of its source,
    and removed.
    """
    options: dict[str, Any] = {
        "params": {"name": "report.pdf", "source": "/a/report.pdf"},
        "headers": OCTETS,
    }
    added = (
        await http.post("/docs", content=pdf("Revenue rose.", "Costs fell."), **options)
    ).json()
    assert (added["outcome"], added["passages"]) == ("added", 2)
    assert (
        await http.post("/docs", content=pdf("Revenue rose.", "Costs fell."), **options)
    ).json()["outcome"] == "same"
    shown = (await http.get(f"/docs/{added['id']}")).json()
    assert (shown["pages"], [(one["page"], one["text"].strip()) for one in shown["contents"]]) == (
        2,
        [(1, "Revenue rose."), (2, "Costs fell.")],
    )
    replaced = (await http.post("/docs", content=pdf("Revenue sank."), **options)).json()
    assert replaced["outcome"] == "replaced"
    listed = (await http.get("/docs")).json()["documents"]
    assert [(one["id"], one["title"], one["trust"]) for one in listed] == [
        (replaced["id"], "report.pdf", "foreign")
    ]
    assert (await http.delete(f"/memory/{replaced['id']}")).status_code == 404
    assert (await http.delete(f"/docs/{replaced['id']}")).json()["outcome"] == "removed"
    assert (await http.get(f"/docs/{replaced['id']}")).json()["code"] == "document_not_found"


async def test_an_addition_tells_how_far_it_is(http: httpx2.AsyncClient) -> None:
    """With Accept: application/x-ndjson each stored batch is a line, and the last line is what
    became of it, or why it was refused.
    """
    options: dict[str, Any] = {
        "params": {"name": "long.md"},
        "headers": {**OCTETS, "Accept": "application/x-ndjson"},
    }
    lines = (
        await http.post(
            "/docs", content=b"".join(b"# H%d\n\nText.\n" % n for n in range(150)), **options
        )
    ).text.splitlines()
    events = [json.loads(line) for line in lines]
    assert [(one["stored"], one["of"]) for one in events[:-1]] == [
        (64, 150),
        (128, 150),
        (150, 150),
    ]
    assert (events[-1]["event"], events[-1]["passages"]) == ("kept", 150)
    refused = json.loads((await http.post("/docs", content=b"\0", **options)).text)
    assert (refused["event"], refused["problem"]["code"]) == ("refused", "document_not_text")


@pytest.mark.parametrize(
    ("path", "options", "status", "code"),
    [
        ("/memory", {"json": {"text": ""}}, 422, "invalid_request"),
        ("/memory", {"json": {"text": "  "}}, 422, "empty_text"),
        ("/memory", {"json": {"text": "x" * 20_001}}, 422, "invalid_request"),
        ("/memory", {"json": {"text": "x", "colour": "red"}}, 422, "invalid_request"),
        ("/memory/search", {"json": {"query": "x", "mode": "psychic"}}, 422, "invalid_request"),
        (
            "/docs",
            {
                "content": b"x",
                "params": {"name": "a.txt"},
                "headers": {"Content-Type": "text/plain"},
            },
            415,
            "unsupported_media_type",
        ),
        ("/docs", {"content": b"x", "headers": OCTETS}, 422, "invalid_request"),
        (
            "/docs",
            {"content": b"\xff\xfe\x00", "params": {"name": "a.txt"}, "headers": OCTETS},
            422,
            "document_not_text",
        ),
        (
            "/docs",
            {"content": encrypted(pdf("x"), "pw"), "params": {"name": "a.pdf"}, "headers": OCTETS},
            422,
            "document_encrypted",
        ),
        (
            "/docs",
            {
                "content": b"x",
                "params": {"name": "a\nb"},
                "headers": {**OCTETS, "Content-Length": "99999999999"},
            },
            413,
            "document_too_large",
        ),
    ],
)
async def test_what_does_not_fit_is_refused(
    http: httpx2.AsyncClient, path: str, options: dict[str, Any], status: int, code: str
) -> None:
    """Every refusal is a problem with its code, and nothing is stored."""
    answer = await http.post(path, **options)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert (
        (await http.get("/memory")).json()["notes"]
        == (await http.get("/docs")).json()["documents"]
        == []
    )


Cli = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def cli(
    server: Server, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> Cli:
    """Runs a command over the server's folder in this process, which starts faster than one of its
    own.
    """
    monkeypatch.setenv("ORDAIN_HOME", str(server.home))

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        capsysbinary.readouterr()
        code = main(list(arguments))
        said = capsysbinary.readouterr()
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)

    return run


@pytest.mark.parametrize("served", [False, True])
def test_notes_by_command(server: Server, cli: Cli, served: bool) -> None:
    """Added, searched, listed and forgotten, beside a server and without one; nothing found is exit
    code 1.
    """
    if served:
        server.start()
    added = json.loads(
        cli("memory", "add", "The", "boiler", "leaks.", "--user", "ada", "--json").stdout
    )
    found = cli("memory", "search", "is", "the", "boiler", "broken", "--user", "ada")
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.decode().splitlines()[1:] == [
        "> The boiler leaks.",
        "1 found, method dense",
    ]
    if not served:  # the rest is the same requests
        return
    assert added["id"] in cli("memory", "list").stdout.decode()
    assert cli("memory", "forget", added["id"]).stdout.decode() == f"forgotten: {added['id']}\n"
    again = cli("memory", "forget", added["id"])
    assert (again.returncode, again.stderr.decode().strip().endswith("[note_not_found]")) == (
        2,
        True,
    )
    nothing = cli("memory", "search", "boiler")
    assert (nothing.returncode, b"--mode deep" in nothing.stdout) == (1, True)
    assert b"--mode deep" not in cli("memory", "search", "boiler", "--mode", "deep").stdout


def test_documents_by_command(server: Server, cli: Cli, tmp_path: Path) -> None:
    """Several files at once: one that cannot be read is named with its reason and keeps nothing
    out; a changed file replaces itself.
    """
    (tmp_path / "a.md").write_text("# Pump\n\nThe pump stands in the cellar.\n")
    (tmp_path / "b.pdf").write_bytes(encrypted(pdf("x"), "pw"))
    server.start()
    done = cli(
        "docs",
        "add",
        str(tmp_path / "a.md"),
        str(tmp_path / "b.pdf"),
        str(tmp_path / "none.txt"),
        "--json",
    )
    first, second, third = json.loads(done.stdout)["documents"]
    assert (done.returncode, first["outcome"], second["error"]["code"], third["error"]["code"]) == (
        1,
        "added",
        "document_encrypted",
        "cannot_read",
    )
    (tmp_path / "a.md").write_text("# Pump\n\nThe pump stands in the garage.\n\u001b[2Jred\n")
    assert cli("docs", "add", str(tmp_path / "a.md")).stdout.decode().startswith("replaced: ")
    (listed,) = json.loads(cli("docs", "list", "--json").stdout)["documents"]
    shown = cli("docs", "show", listed["id"]).stdout.decode()
    assert "garage" in shown
    assert "cellar" not in shown
    assert "\x1b" not in shown
    assert cli("docs", "remove", listed["id"]).returncode == 0
    assert cli("docs", "show", listed["id"]).returncode == 2


def test_a_folder_by_command(server: Server, cli: Cli, tmp_path: Path) -> None:
    """All below it, with counts; what is no document is passed over and named by what it is, links
    and what is hidden too, and again it is there already.
    """
    folder = tmp_path / "papers"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("# Pump\n\nThe pump stands in the cellar.\n")
    (folder / "deep" / "b.txt").write_text("The boiler is blue.")
    (folder / "deep" / "c.pdf").write_bytes(encrypted(pdf("x"), "pw"))
    (folder / "photo.md").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / ".hidden.md").write_text("hidden")
    (folder / "link.md").symlink_to(folder / "a.md")
    (folder / "linked").symlink_to(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".git" / "c.md").write_text("hidden below")
    os.mkfifo(folder / "pipe.md")
    (folder / os.fsdecode(b"bad\xff.md")).write_text("nobody can say its name")
    server.start()
    done = cli("docs", "add", str(folder))
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, lines[3]) == (1, "2 added, 1 refused")
    assert sorted(lines[4:]) == [
        "passed over: 1 × a file whose name is no UTF-8 (bad\\xff.md)",
        "passed over: 1 × an image (image/png) (photo.md)",
        "passed over: 1 × no plain file (pipe.md)",
        "passed over: 2 × a link (linked, link.md)",
        "passed over: 2 × hidden (.git, .hidden.md)",
    ]
    assert [line.partition(":")[0] for line in lines[:3]] == ["added", "added", "refused"]
    assert "[document_encrypted]" in lines[2]
    (folder / "deep" / "c.pdf").unlink()
    again = cli("docs", "add", str(folder), "--json")
    told = json.loads(again.stdout)
    assert (
        again.returncode,
        [one["outcome"] for one in told["documents"]],
        len(told["passed_over"]),
    ) == (0, ["same", "same"], 7)
    assert len(json.loads(cli("docs", "list", "--json").stdout)["documents"]) == 2


def test_a_file_goes_with_a_message_by_command(server: Server, cli: Cli, tmp_path: Path) -> None:
    """Of the command line, or by /attach with the next line alone; one that lies is refused by its
    name, and the chat says so.
    """
    (tmp_path / "lease.md").write_text("# Lease\n\nThe tenant may keep a dog.\n")
    (tmp_path / "lie.txt").write_bytes(b"\x89PNG\r\n\x1a\n")
    server.start()
    one = cli("chat", "may I keep a dog?", "--attach", str(tmp_path / "lease.md"), "--verbose")
    assert (one.returncode, b"recall.attached" in one.stdout) == (0, True)
    lines = f"/attach {tmp_path / 'lease.md'}\nmay I keep a dog?\nand a cat?\n".encode()
    command = [sys.executable, "-m", "ordain", "chat", "--verbose"]
    both = subprocess.run(
        command,
        input=lines,
        capture_output=True,
        check=False,
        env={**os.environ, "ORDAIN_HOME": str(server.home)},
    )
    assert (both.returncode, both.stdout.count(b"recall.attached")) == (0, 1)
    assert b"lease.md goes with the next message" in both.stderr
    lie = cli("chat", "what is it?", "--attach", str(tmp_path / "lie.txt"))
    assert (lie.returncode, b"lie.txt says that it is text/plain" in lie.stderr) == (2, True)
    after = f"/attach {tmp_path / 'lie.txt'}\nmay I keep a dog?\n".encode()
    left = subprocess.run(
        command,
        input=after,
        capture_output=True,
        check=False,
        env={**os.environ, "ORDAIN_HOME": str(server.home)},
    )
    assert b"lie.txt says that it is text/plain" in left.stderr
    assert b"attachment_unlike" in left.stderr


def test_a_user_without_a_name_can_remember(
    server: Server, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever the system has no entry for, as in a container, works as `local`; the audit of tokens
    has who that is.
    """
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 2_000_000_011)
    assert cli("memory", "add", "The boiler leaks.").returncode == 0
    assert cli("memory", "search", "boiler").returncode == 0
    assert cli("token", "create", "one", "--scope", "chat").returncode == 0
    assert {one["by"] for one in json.loads(cli("token", "audit", "--json").stdout)["audit"]} == {
        f"local:{os.geteuid()}"
    }


@pytest.mark.parametrize(
    "arguments", [("memory", "add", "x", "-f", "y"), ("memory", "add", "-f", "no-such-file")]
)
def test_wrong_arguments_are_one_line(cli: Cli, arguments: tuple[str, ...]) -> None:
    """What is missing, given twice or not there is said in a line, exit code 2."""
    done = cli(*arguments)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)


def test_a_folder_that_cannot_be_read_is_refused_as_a_file_is(
    server: Server, cli: Cli, tmp_path: Path
) -> None:
    """By itself and below another, with why, in words and in JSON: the exit code is 1, and what can
    be read is added.
    """
    folder = tmp_path / "papers"
    (folder / "shut").mkdir(parents=True)
    (folder / "a.md").write_text("# Pump\n\nThe pump stands in the cellar.\n")
    (folder / "shut" / "b.md").write_text("nobody reads this")
    (folder / "blind").mkdir()
    (folder / "blind" / "c.md").write_text("its names are known, and nothing else")
    server.start()
    (folder / "shut").chmod(0)
    (folder / "blind").chmod(0o400)
    try:
        alone = unprivileged(server, "docs", "add", str(folder / "shut"))
        told = json.loads(unprivileged(server, "docs", "add", str(folder), "--json").stdout)[
            "documents"
        ]
        below = unprivileged(server, "docs", "add", str(folder / "shut" / "b.md"))
    finally:
        (folder / "shut").chmod(0o700)
        (folder / "blind").chmod(0o700)
    assert (alone.returncode, alone.stdout.decode().splitlines()) == (
        1,
        [
            (
                f"refused: {folder}/shut: cannot read the folder {folder}/shut: Permission denied "
                "[cannot_read]"
            ),
            "1 refused",
        ],
    )
    refused = {Path(one["file"]).name: one["error"]["code"] for one in told if "error" in one}
    assert refused == {"shut": "cannot_read", "c.md": "cannot_read"}
    assert [one["outcome"] for one in told if "error" not in one] == ["added"]
    assert (below.returncode, b"Permission denied" in below.stderr) == (2, True)


def unprivileged(server: Server, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """A command that no file mode is passed over for, also where these tests are root's."""
    ours = [sys.executable, "-m", "ordain", *arguments]
    held = [
        "setpriv",
        "--bounding-set=-dac_override,-dac_read_search",
        "--inh-caps=-dac_override,-dac_read_search",
    ]
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root reads every folder, and setpriv is not there to be no root")
    command = [*held, *ours] if os.geteuid() == 0 else ours
    return subprocess.run(
        command,
        capture_output=True,
        check=False,
        env={**os.environ, "ORDAIN_HOME": str(server.home)},
    )


def test_a_name_or_a_path_that_is_too_long_is_told_in_words(cli: Cli, tmp_path: Path) -> None:
    """By the file, before anything is sent; no words of a request's parameters."""
    long = tmp_path / ("n" * 210 + ".md")
    long.write_text("x")
    deep = tmp_path.joinpath(*["d" * 200] * 5)
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("x")
    for file, why in (
        (long, "has a name of more than 200 characters: rename it"),
        (deep / "a.md", "path of more than 1000 characters"),
    ):
        done = cli("docs", "add", str(file))
        assert (done.returncode, why in done.stderr.decode(), b"query" in done.stderr) == (
            2,
            True,
            False,
        )


def test_documents_and_notes_are_named_as_runs_are(server: Server, cli: Cli) -> None:
    """By the whole id, a beginning or an end that only one has, or ``last``; a part of several is
    refused with both.
    """
    server.start()
    for words in ("Ada drinks tea.", "Bob drinks milk."):
        assert cli("memory", "add", words).returncode == 0
    (second, first) = json.loads(cli("memory", "list", "--json").stdout)["notes"]
    assert (
        cli("memory", "forget", first["id"][-8:]).stdout.decode() == f"forgotten: {first['id']}\n"
    )
    assert cli("memory", "forget", "last").stdout.decode() == f"forgotten: {second['id']}\n"
    nothing = cli("memory", "forget", "last")
    assert (nothing.returncode, b"there is no note yet" in nothing.stderr) == (2, True)
    paper = server.home / "a.md"
    paper.write_text("The pump stands in the cellar.")
    assert cli("docs", "add", str(paper)).returncode == 0
    shown = json.loads(cli("docs", "show", "last", "--json").stdout)
    assert json.loads(cli("docs", "show", shown["id"][-8:], "--json").stdout) == shown
    missed = cli("docs", "show", "lsat")
    assert (missed.returncode, b"did you mean last?" in missed.stderr) == (2, True)
    assert cli("docs", "remove", "last").stdout.decode() == f"removed: {shown['id']}\n"


async def test_what_is_there_already_is_not_read_again(tmp_path: Path) -> None:
    """The same bytes of one source under one name; another name, another source and other bytes are
    read.
    """
    async with Ordain(home=tmp_path) as ordain:
        library, documents = ordain._open_library(), Reading()
        documents.may_end.set()
        memory = Memory(library, documents, library.clear)
        first = await memory.add_document("default", "a.md", b"The pump.", source="/a.md")
        again = await memory.add_document("default", "a.md", b"The pump.", source="/a.md")
        assert (again.id, again.outcome, documents.begun) == (first.id, "same", ["a.md"])
        assert (
            await memory.add_document("default", "b.md", b"The pump.", source="/a.md")
        ).outcome == "same"
        assert (
            await memory.add_document("default", "a.md", b"The pump.", source="/b.md")
        ).outcome == "added"
        assert (
            await memory.add_document("default", "a.md", b"The fan.", source="/a.md")
        ).outcome == "replaced"
        assert (
            await memory.add_document("other", "a.md", b"The pump.", source="/a.md")
        ).outcome == "added"
        await memory.remove_document(
            "default", (await memory.documents("default", limit=1, before=None))[0].id, by=""
        )
        assert (
            await memory.add_document("default", "a.md", b"The fan.", source="/a.md")
        ).outcome == "added"
        assert documents.begun == ["a.md", "b.md", "a.md", "a.md", "a.md", "a.md"]
