"""A server that listens in this process, spoken to byte by byte."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httptools
import uvicorn

from ordain import Ordain
from ordain.ports.model import ModelPort
from ordain.server import Face, build_app
from ordain.server.protocol import HttpProtocol
from ordain.server.socket_protocol import socket_options
from tests.integration.server.openai_house import ordain_of

PATIENCE_S = 60


class Quiet(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass
class Listening:
    """A server, its face and its port."""

    ordain: Ordain
    face: Face
    server: Quiet
    port: int = 0


@asynccontextmanager
async def listening_server(
    home: Path,
    protocol: type[HttpProtocol] = HttpProtocol,
    model: ModelPort | None = None,
    **face: Any,
) -> AsyncIterator[Listening]:
    """As `ordain serve` has it, in this process."""
    async with ordain_of(home, model) if model else Ordain(home=home) as ordain:
        place = Face(runtime=ordain.runtime, **face)
        config = uvicorn.Config(
            build_app(place),
            http=protocol,
            port=0,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            **socket_options(),  # pyright: ignore[reportArgumentType]
        )
        server = Quiet(config)
        task = asyncio.ensure_future(server.serve())
        async with asyncio.timeout(PATIENCE_S):
            while not server.started:  # noqa: ASYNC110 - announced to nobody
                await asyncio.sleep(0.01)
        yield Listening(ordain, place, server, server.servers[0].sockets[0].getsockname()[1])
        place.stopping.set()
        server.should_exit = True
        await task


@dataclass
class Answer:
    """One response as it came over the wire; of status 0 where the connection ended before it."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Answers:
    """What a connection's parser finds; a response without its body is one to HEAD."""

    def __init__(self, *, head: bool = False) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self.coming = Answer()
        self._head = head
        self.whole: list[Answer] = []

    def feed(self, data: bytes) -> None:
        """What came."""
        self._parser.feed_data(data)

    def on_message_begin(self) -> None:
        self.coming = Answer()

    def on_header(self, name: bytes, value: bytes) -> None:
        self.coming.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self.coming.status = self._parser.get_status_code()
        if self._head:
            self.whole.append(self.coming)

    def on_body(self, body: bytes) -> None:
        self.coming.body += body

    def on_message_complete(self) -> None:
        if not self._head:
            self.whole.append(self.coming)


class Wire:
    """A connection that sends what it is told to, however wrong."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._answers = Answers()

    async def send(self, data: bytes) -> None:
        """Send; a server that has hung up is no error here."""
        try:
            self.writer.write(data)
            await self.writer.drain()
        except ConnectionError:
            return

    async def answer(self, *, head: bool = False) -> Answer:
        """The next response (to a HEAD, where ``head``)."""
        answers = Answers(head=True) if head else self._answers
        async with asyncio.timeout(PATIENCE_S):
            while not answers.whole:
                try:
                    data = await self.reader.read(65_536)
                except ConnectionError:
                    data = b""
                if not data:
                    return Answer()
                answers.feed(data)
        return answers.whole.pop(0)

    async def ended(self) -> bool:
        """Whether the server hangs up."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                while await self.reader.read(65_536):
                    pass
            except ConnectionError:
                pass
        return True


@asynccontextmanager
async def wire(port: int) -> AsyncIterator[Wire]:
    """A connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
