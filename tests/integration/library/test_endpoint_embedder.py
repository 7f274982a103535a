"""Vectors of an endpoint's ``/v1/embeddings``: found by meaning while it answers, by words while it
does not, and made up for by itself.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from ordain import Ordain
from ordain.cli import main
from ordain.contracts.library import MemorySearch, NoteRequest
from ordain.errors import ConfigurationError, Transient
from ordain.models import endpoint_embedding
from ordain.models.endpoint_embedding import EndpointEmbedder
from ordain.ports.library import NOTES, LibrarySearch
from ordain.store import embedding_time
from ordain.store.finder import UNREACHED
from tests.loopback import QuietHandler, QuietServer

DIMENSION = 64


def vector(text: str) -> list[float]:
    """Of a text's words: those of two texts with a word in common are near."""
    numbers = [0.0] * DIMENSION
    for word in text.lower().replace(".", "").replace("?", "").split():
        numbers[zlib.crc32(word.encode()) % DIMENSION] += 1.0
    return numbers


class Endpoint(QuietServer):
    """Speaks ``/v1/embeddings``; ``answer`` is what it says, in bytes, of a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Speaks)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[str] = []
        self.answer: Callable[[dict[str, Any]], tuple[int, bytes]] = well

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Speaks(QuietHandler):
    def do_POST(self) -> None:
        server: Any = self.server
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.asked.append({"path": self.path, **asked})
        server.headers.append(self.headers.get("authorization", ""))
        status, body = server.answer(asked)
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def well(asked: dict[str, Any]) -> tuple[int, bytes]:
    rows = [{"index": at, "embedding": vector(text)} for at, text in enumerate(asked["input"])]
    return 200, json.dumps({"object": "list", "data": rows[::-1], "model": asked["model"]}).encode()


def ill(_: dict[str, Any]) -> tuple[int, bytes]:
    return 503, b"not now"


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def configured(home: Path, endpoint: Endpoint, model: str = "words", more: str = "") -> Path:
    (home / "ordain.toml").write_text(
        f'[embedder]\nbase_url = "{endpoint.url}"\nmodel = "{model}"\nbatch = 8\n{more}',
        encoding="utf-8",
    )
    return home


async def note(ordain: Ordain, text: str) -> None:
    await ordain.runtime.library.add_note("default", NoteRequest(text=text, user_id="ada"))


async def search(ordain: Ordain, query: str) -> Any:
    return await ordain.runtime.library.search("default", MemorySearch(query=query))


async def every_vector(ordain: Ordain, name: str, count: int) -> None:
    """Wait until so many passages have a vector of an embedder, which nobody asked for."""
    library = ordain._open_library()
    for _ in range(2000):
        rows = await library._read(
            lambda db: db.execute(
                "SELECT embedder, count(*) FROM vectors GROUP BY embedder"
            ).fetchall()
        )  # type: ignore[attr-defined]
        if rows == [(name, count)]:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(rows)


async def test_an_endpoint_embeds_what_is_remembered(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes and questions, with the key of the variable that settings name; what is found is found
    by meaning.
    """
    monkeypatch.setenv("EMBEDDER_KEY", "sesame-open")
    async with Ordain(
        home=configured(tmp_path, endpoint, more='key_env = "EMBEDDER_KEY"\n')
    ) as ordain:
        await note(ordain, "The boiler needs pressure.")
        await note(ordain, "Ada drinks tea.")
        found = await search(ordain, "which pressure has the boiler?")
        assert (found.method, found.fragments[0].text, found.notice) == (
            "dense",
            "The boiler needs pressure.",
            "",
        )
    assert {one["path"] for one in endpoint.asked} == {"/v1/embeddings"}
    assert set(endpoint.headers) == {"Bearer sesame-open"}


async def test_while_it_does_not_answer_words_are_looked_up(
    tmp_path: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is added meanwhile is kept and found by its words, which the answer says; its vector
    comes by itself once the endpoint is back.
    """
    monkeypatch.setattr(endpoint_embedding, "REST_S", 0.05)
    endpoint.answer = ill
    async with Ordain(home=configured(tmp_path, endpoint)) as ordain:
        await note(ordain, "The boiler needs pressure.")
        found = await search(ordain, "boiler")
        assert (found.method, [one.text for one in found.fragments]) == (
            "text",
            ["The boiler needs pressure."],
        )
        assert "does not answer now" in found.notice
        endpoint.answer = well
        await every_vector(ordain, f"words@127.0.0.1:{endpoint.server_address[1]}/{DIMENSION}", 1)
        assert (await search(ordain, "boiler")).method == "dense"
        endpoint.answer = ill
        await note(ordain, "The pump is blue.")
        assert (await search(ordain, "pump")).method == "text"
        endpoint.answer = well
        await every_vector(ordain, f"words@127.0.0.1:{endpoint.server_address[1]}/{DIMENSION}", 2)


async def test_what_is_added_meanwhile_says_what_it_lacks(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """That the endpoint does not answer now, from the start or since; that an extra is missing is
    said where there is no embedder alone.
    """
    endpoint.answer = ill
    async with Ordain(home=configured(tmp_path, endpoint)) as ordain:
        library = ordain.runtime.library
        one = await library.add_note(
            "default", NoteRequest(text="The boiler needs pressure.", user_id="ada")
        )
        assert (one.embedded, one.notice) == (False, UNREACHED)
        indexed = await library.reindex("default")
        assert (indexed.embedder, indexed.notice) == ("", UNREACHED)
    endpoint.answer = well
    async with Ordain(home=tmp_path) as ordain:
        library = ordain.runtime.library
        one = await library.add_note(
            "default", NoteRequest(text="The pump is blue.", user_id="ada")
        )
        assert (one.embedded, one.notice) == (True, "")
        endpoint.answer = ill
        one = await library.add_note("default", NoteRequest(text="The fan is red.", user_id="ada"))
        assert (one.embedded, one.notice) == (False, UNREACHED)


def test_a_command_tells_the_right_remedy(
    tmp_path: Path, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of an endpoint that is down no package is to be installed."""
    endpoint.answer = ill
    home = ["--data-dir", str(configured(tmp_path, endpoint))]
    assert main(["memory", "add", "The boiler needs pressure.", *home]) == 0
    said = capsys.readouterr().out
    assert ("does not answer now" in said, "pip install" in said) == (True, False)
    assert main(["memory", "reindex", *home]) == 3
    said = capsys.readouterr().out
    assert ("does not answer now" in said, "pip install" in said) == (True, False)


@pytest.mark.parametrize("hangs_at", ["dimension", "which pressure has the boiler?"])
async def test_one_that_hangs_leaves_time_for_words(
    tmp_path: Path, endpoint: Endpoint, hangs_at: str
) -> None:
    """Whether it hangs from the start or at the question: recall's time is not spent on it, and
    what it asks for is found by words; at once, the next time.
    """
    held, asked = threading.Event(), threading.Event()

    def hangs(request: dict[str, Any]) -> tuple[int, bytes]:
        if hangs_at in request["input"]:
            asked.set()
            held.wait(30)
        return well(request)

    async with Ordain(home=configured(tmp_path, endpoint, more="timeout_ms = 30000\n")) as ordain:
        endpoint.answer = ill if hangs_at == "dimension" else well
        await note(ordain, "The boiler needs pressure.")
    endpoint.answer = hangs
    async with Ordain(home=tmp_path) as ordain:
        library = ordain._open_library()
        question = LibrarySearch(
            workspace="default", query="which pressure has the boiler?", limit=3, kinds=NOTES
        )
        try:
            if hangs_at != "dimension":  # how long it takes to connect is not what is looked at
                assert (
                    await library.search(structs.replace(question, query="tea?", within_s=60.0))
                ).method == "dense"
            for within_s in (0.4, 60.0):
                found = await asyncio.wait_for(
                    library.search(structs.replace(question, within_s=within_s)), 20
                )
                assert (found.method, [one.text for one in found.fragments]) == (
                    "text",
                    ["The boiler needs pressure."],
                )
                assert "does not answer now" in found.notice
            assert await asyncio.to_thread(asked.wait, 20)
        finally:
            held.set()


async def test_one_that_hangs_holds_up_no_end(tmp_path: Path, endpoint: Endpoint) -> None:
    """Neither a question's call nor one for what was kept is waited for until its own time-out:
    closing ends while both still hang, and would wait for two minutes.
    """
    held, asked = threading.Event(), threading.Event()

    def hangs(request: dict[str, Any]) -> tuple[int, bytes]:
        asked.set()
        held.wait()
        return well(request)

    try:
        async with Ordain(
            home=configured(tmp_path, endpoint, more="timeout_ms = 120000\n")
        ) as ordain:
            await note(ordain, "The boiler needs pressure.")
            endpoint.answer = hangs
            library = ordain._open_library()
            question = LibrarySearch(
                workspace="default", query="which pressure?", limit=3, kinds=NOTES, within_s=0.4
            )
            assert (await library.search(question)).method == "text"
            adding = asyncio.ensure_future(note(ordain, "The pump is blue."))
            await asyncio.to_thread(asked.wait, 30)
            assert any(one.name == "ordain-question" for one in threading.enumerate())
        adding.cancel()
        await asyncio.gather(adding, return_exceptions=True)
    finally:
        held.set()


@pytest.mark.parametrize("cancels", [False, True])
def test_nothing_begins_behind_one_that_hangs(
    monkeypatch: pytest.MonkeyPatch, cancels: bool
) -> None:
    """What waited behind it when its thread was closed is cancelled, and is never called, not even
    when it goes on after all.
    """
    monkeypatch.setattr(embedding_time, "CLOSE_S", 0.05)
    thread, begun, held, called = (
        embedding_time.HangingThread("hangs"),
        threading.Event(),
        threading.Event(),
        list[str](),
    )

    def hang() -> bool:
        begun.set()
        return held.wait()

    hangs, behind = thread.submit(hang), thread.submit(called.append, "behind")
    assert begun.wait(30)
    thread.shutdown(cancel_futures=cancels)
    assert behind.cancelled()
    held.set()
    assert hangs.result(30)
    for one in [one for one in threading.enumerate() if one.name == "hangs"]:
        one.join(30)
        assert not one.is_alive()
    assert called == []


def test_what_waits_is_done_before_a_thread_is_closed() -> None:
    """Where nothing hangs, as any executor does."""
    thread, called = embedding_time.HangingThread("works"), list[int]()
    waiting = [thread.submit(called.append, number) for number in range(50)]
    thread.shutdown()
    assert all(one.done() and not one.cancelled() for one in waiting)
    assert called == list(range(50))


def test_a_process_ends_beside_one_that_hangs() -> None:
    """What hangs in such a thread keeps no interpreter from its end."""
    lines = [
        "import threading",
        "from ordain.store.embedding_time import HangingThread",
        "thread = HangingThread('hangs')",
        "thread.submit(threading.Event().wait)",
        "thread.shutdown(wait=False)",
        "print('over')",
    ]
    ended = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout == "over\n"


async def test_a_vector_of_zeros_is_none(tmp_path: Path, endpoint: Endpoint) -> None:
    """Of a passage: it has none, and the answer says so; of the question: words are looked up. What
    such a vector was of is embedded anew once there is one.
    """

    def zeros(request: dict[str, Any]) -> tuple[int, bytes]:
        rows = [
            {"index": at, "embedding": [0.0] * DIMENSION if "zero" in text else vector(text)}
            for at, text in enumerate(request["input"])
        ]
        return 200, json.dumps({"data": rows}).encode()

    endpoint.answer = zeros
    async with Ordain(home=configured(tmp_path, endpoint)) as ordain:
        await note(ordain, "The zero boiler needs pressure.")
        await note(ordain, "The pump is blue.")
        found = await search(ordain, "which colour has the pump?")
        assert (found.method, [one.text for one in found.fragments]) == (
            "dense",
            ["The pump is blue."],
        )
        assert found.notice.startswith("1 passages have no vector")
        found = await search(ordain, "what of the zero boiler?")
        assert (found.method, [one.text for one in found.fragments]) == (
            "text",
            ["The zero boiler needs pressure."],
        )
        assert "makes nothing of the question" in found.notice
        report = await ordain.runtime.library.reindex("default")
        assert (report.passages, report.embedded, report.added) == (2, 1, 0)
        library: Any = ordain._open_library()
        number, name = library._own.execute(
            "SELECT p.no, v.embedder FROM passages p, vectors v WHERE p.text LIKE '%zero%' AND "
            "v.passage <> p.no"
        ).fetchone()
        # as builds before stored it
        before = {
            "vectors": [(number, bytes(4 * DIMENSION))],
            "embedder": name,
            "dimension": DIMENSION,
        }
        await library._submit("library_vectors", **before)
        assert (await search(ordain, "which colour has the pump?")).notice.startswith(
            "1 passages have no vector"
        )
        endpoint.answer = well
        assert (await ordain.runtime.library.reindex("default")).added == 1
        found = await search(ordain, "which boiler needs pressure?")
        assert (found.method, found.fragments[0].text, found.notice) == (
            "dense",
            "The zero boiler needs pressure.",
            "",
        )


async def test_another_embedder_makes_all_vectors_anew_by_itself(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    """In slices, each kept as it is there: what one start got done the next does not do again."""
    async with Ordain(home=configured(tmp_path, endpoint, "one")) as ordain:
        for number in range(20):
            await note(ordain, f"Note number {number} is about nothing.")
        await every_vector(ordain, f"one@127.0.0.1:{endpoint.server_address[1]}/{DIMENSION}", 20)
    endpoint.asked.clear()
    async with Ordain(home=configured(tmp_path, endpoint, "two")) as ordain:
        await every_vector(ordain, f"two@127.0.0.1:{endpoint.server_address[1]}/{DIMENSION}", 20)
    texts = [text for one in endpoint.asked for text in one["input"] if text != "dimension"]
    assert (len(texts), max(len(one["input"]) for one in endpoint.asked)) == (20, 8)
    endpoint.asked.clear()
    async with Ordain(home=configured(tmp_path, endpoint, "two")) as ordain:
        assert (await search(ordain, "number")).method == "dense"
    assert [
        text
        for one in endpoint.asked
        for text in one["input"]
        if text not in ("dimension", "number")
    ] == []


def said(**rows: Any) -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    return lambda _: (200, json.dumps(rows).encode())


@pytest.mark.parametrize(
    "answer",
    [
        ill,
        lambda _: (200, b"<html>no</html>"),
        lambda _: (200, b""),
        lambda _: (302, b""),
        said(),
        said(data=[]),
        said(data=[{"index": 0, "embedding": "AAAA"}]),
        said(data=[{"index": 0, "embedding": []}]),
        said(data=[{"index": 1, "embedding": [1.0]}]),
        said(data=[{"index": 0, "embedding": [float("nan")]}]),
        said(data=[{"index": 0, "embedding": [1e400]}]),
        said(data=[{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0]}]),
        said(data=[{"index": 0, "embedding": [1.0] * 20_000}]),
        said(data={"index": 0}),
        said(error={"message": "no"}),
        lambda _: (200, b"[" * 500_000),
        lambda _: (200, b'{"data":[{"index":0,"embedding":[1' + b"0" * 400 + b"]}]}"),
        lambda _: (200, b'{"data":[{"index":0,"embedding":[1' + b"0" * 5_000 + b".5]}]}"),
    ],
)
def test_what_is_no_vector_is_none(endpoint: Endpoint, answer: Any) -> None:
    """Whatever an endpoint answers, either it is one finite vector for each text, or the embedder
    is of no use now; and it is left alone for a while.
    """
    endpoint.answer = answer
    embedder = EndpointEmbedder(endpoint.url, "words")
    for _ in range(2):
        with pytest.raises(Transient) as refused:
            embedder.embed(["text"])
        assert refused.value.code == "embedder_unavailable"
    assert len(endpoint.asked) == 1


def test_one_that_trickles_is_given_up() -> None:
    """The time is that of the whole answer, not of one reading; whoever comes meanwhile waits no
    longer either.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:

        def trickle() -> None:
            connection, _ = server.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 4000000\r\n\r\n")
                for _ in range(600):
                    connection.sendall(b" ")
                    time.sleep(0.05)

        threading.Thread(target=trickle, daemon=True).start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        embedder = EndpointEmbedder(url, "words", timeout_s=0.5)
        told: list[str] = []

        def ask() -> None:
            try:
                embedder.embed(["a"])
            except Transient as error:
                told.append(error.message)

        asking = [threading.Thread(target=ask) for _ in range(2)]
        for one in asking:
            one.start()
        for one in asking:
            one.join(15)
        assert len(told) == 2, "it waits still"
        assert "no answer within 0.5 s" in told[0] + told[1]


def test_vectors_have_one_length(endpoint: Endpoint) -> None:
    """Of length 1, in the order of the texts however they come; a model that changes its dimension
    is refused.
    """
    embedder = EndpointEmbedder(endpoint.url.removesuffix("/v1"), "words", batch=2)
    found = embedder.embed(["a b c", "d", "a b c"])
    assert (found[0] == found[2], found[0] == found[1], embedder.dimension) == (
        True,
        False,
        DIMENSION,
    )
    endpoint.answer = said(data=[{"index": 0, "embedding": [1.0]}])
    with pytest.raises(Transient):
        embedder.embed(["a"])


def test_doctor_tells_whether_it_answers(
    tmp_path: Path,
    endpoint: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By embedding one text; an endpoint that does not is told with its reason, and is exit
    code 3.
    """
    monkeypatch.setenv("ORDAIN_HOME", str(configured(tmp_path, endpoint)))
    assert main(["doctor"]) == 0
    assert (
        f"answers, as words@127.0.0.1:{endpoint.server_address[1]}/{DIMENSION}"
        in capsys.readouterr().out
    )
    endpoint.answer = ill
    assert main(["doctor", "--json"]) == 3
    assert "status 503" in json.loads(capsys.readouterr().out)["embedder"]["why"]


@pytest.mark.parametrize(
    "url", ["ftp://host/v1", "http://user:word@host/v1", "http://host/v1?key=1", "host"]
)
def test_an_address_is_one(url: str) -> None:
    """As of a model."""
    with pytest.raises(ConfigurationError):
        EndpointEmbedder(url, "words")
