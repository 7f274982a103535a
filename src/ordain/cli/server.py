"""``ordain serve``: compose, listen on loopback, drain on SIGTERM."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

import uvicorn
import uvloop
from msgspec import Struct

from ordain.app import Extras, Ordain
from ordain.cli.exit_codes import OK, UNAVAILABLE
from ordain.cli.exposure import check_exposure, exposure_of, is_exposed
from ordain.cli.logs import log_to_stderr
from ordain.cli.output import print_json
from ordain.cli.person import person
from ordain.cli.places import ServerNote, home_of, remove_note, write_note
from ordain.collector import tune_collector
from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.own_process import own_socket
from ordain.runtime.descriptors import check_descriptors
from ordain.server import Face, build_app
from ordain.server.bodies import BodyBounds
from ordain.server.face import PRINCIPAL
from ordain.server.protocol import HttpProtocol
from ordain.server.socket_protocol import socket_options
from ordain.settings import Settings, load_settings
from ordain.wording.wording import Wording, wording_of

LOG = logging.getLogger("ordain.serve")
SWITCH_S = 0.0005
"""How long a thread that computes is left alone by those that wait for the interpreter, tenfold
less than by default: a question to SQLite lets go of it several times, and each time the loop would
wait so long for whatever compiles wording or checks a large body beside it.
"""
TEMPLATE_ENGINE = "ordain.prompts.renderer"
GRACE_S = 10.0
CLOSE_S = 5
BACKLOG = 1024
_HERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound by it


def body_bounds(settings: Settings) -> BodyBounds:
    """How large a request's body may be, as the settings say."""
    return BodyBounds(bytes=settings.server.body_bytes, values=settings.server.body_values)


class _Server(uvicorn.Server):
    """Leaves signals to us: what to do at SIGTERM is not to stop listening, but to drain first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def serve_here(data_dir: Path | None, host: str | None, port: int | None, *, as_json: bool) -> int:
    """Serve until told to stop.

    Raises:
        ConfigurationError: settings are wrong, the host is beyond this machine and nobody has a
            token (``not_loopback``), or the process may open too few files
            (``too_few_descriptors``).
        StorageUnavailable: the data folder is held by another engine, or the port by another
            process.
    """
    os.umask(0o077)
    read = partial(_settings, home_of(data_dir), host, port)
    settings = read()
    seal = log_to_stderr(settings)
    check_exposure(settings)
    check_descriptors()
    ordain = Ordain(settings, extras=Extras(reread=read, seal=seal))
    with (
        listening(settings) as listener,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        return runner.run(_serve(ordain, listener, as_json=as_json))


def _settings(home: Path, host: str | None, port: int | None) -> Settings:
    """The folder's, with what the command line says of where to listen."""
    settings = load_settings(home=home)
    if host is not None:
        settings = settings.model_copy(
            update={"server": settings.server.model_copy(update={"host": host})}
        )
    return settings if port is None else settings.model_copy(update={"port": port})


def listening(settings: Settings) -> socket.socket:
    """A listening socket; whether it may listen there is asked before (``check_exposure``).

    Raises:
        ConfigurationError: the port is none.
        StorageUnavailable: ``address_unavailable``.
    """
    host = settings.server.host.removeprefix("[").removesuffix("]")
    if not 0 <= settings.port < 65536:
        raise ConfigurationError(f"{settings.port} is not a port", code="not_a_port")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server(
            ("127.0.0.1" if host.lower() == "localhost" else host, settings.port),
            family=family,
            backlog=BACKLOG,
        )
    except (OSError, UnicodeError) as error:
        message = (
            f"cannot listen on {host} port {settings.port}: "
            f"{getattr(error, 'strerror', None) or 'no such host'}"
        )
        raise StorageUnavailable(message, code="address_unavailable") from error
    own_socket(listener)
    return listener


def url_of(listener: socket.socket) -> str:
    """The address at which this machine reaches the socket: loopback, where it listens
    everywhere.
    """
    host, port = listener.getsockname()[:2]
    host = _HERE.get(str(host), str(host))
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class ListeningFace(Struct, frozen=True, kw_only=True):
    """A face that listens: the note that says where, and the server's task, which ends when the
    server does.
    """

    note: ServerNote
    face: Face
    server: uvicorn.Server
    task: asyncio.Task[None]

    async def close(self) -> None:
        """Release whoever waits, and end."""
        self.face.stopping.set()
        self.server.should_exit = True
        try:
            await self.task
        except Exception:
            # what a connection does to the server's end must not undo the drain, nor the exit code
            LOG.exception("the listener did not end cleanly")


@asynccontextmanager
async def served(
    ordain: Ordain, listener: socket.socket, principal: str = PRINCIPAL
) -> AsyncGenerator[ListeningFace]:
    """A running Ordain over HTTP; other commands find it by its note while it is there."""
    exposure, key = exposure_of(ordain.settings, ordain.runtime.services.clock)
    note = ServerNote(
        url=url_of(listener),
        pid=os.getpid(),
        instance=secrets.token_hex(8),
        key=key,
        demanded=exposure.demanded,
        proof=secrets.token_hex(32),
    )
    body = body_bounds(ordain.settings)
    face = Face(
        runtime=ordain.runtime,
        instance=note.instance,
        proof_key=note.proof,
        principal=principal,
        exposure=exposure,
        body=body,
        person=person(),
    )
    config = uvicorn.Config(
        build_app(face),
        http=HttpProtocol,
        **socket_options(body),
        lifespan="off",
        # uvicorn would believe whoever is on this machine; `server.peers` believes the proxies that
        # settings name
        proxy_headers=False,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=CLOSE_S,
    )
    server = _Server(config)
    serving = ListeningFace(
        note=note,
        face=face,
        server=server,
        task=asyncio.create_task(server.serve(sockets=[listener])),
    )
    write_note(ordain.settings.home, note)
    ordain.store.tell_address(note.url)
    bound = listener.getsockname()[:2]
    ordain.listening.add(*bound)
    # compiled now, and not by the first message
    ready = asyncio.create_task(asyncio.to_thread(wording_of, ordain.catalog))
    ready.add_done_callback(_tell_unread)
    try:
        yield serving
    finally:
        ordain.listening.remove(*bound)
        remove_note(ordain.settings.home, note)
        if not serving.task.done():
            await serving.close()


def _tell_unread(compiled: asyncio.Task[Wording]) -> None:
    if not compiled.cancelled() and (error := compiled.exception()) is not None:
        LOG.error("the wording cannot be compiled: %s", error)


async def _serve(ordain: Ordain, listener: socket.socket, *, as_json: bool) -> int:
    async with ordain, served(ordain, listener) as serving:
        # a start leaves hardly anything behind, and a look through it all costs 50 ms
        tune_collector(collect=False)
        sys.setswitchinterval(SWITCH_S)
        # read now, and not by the first message, for which the loop would stand still
        engine = asyncio.create_task(asyncio.to_thread(import_module, TEMPLATE_ENGINE))
        note = serving.note
        demanded = serving.face.exposure.demanded
        LOG.info(
            "listening url=%s host=%s token=%s home=%s",
            note.url,
            ordain.settings.server.host,
            demanded,
            ordain.settings.home,
        )
        if is_exposed(ordain.settings):
            LOG.warning(
                "tokens travel as they are: put TLS in front of whatever leaves this machine"
            )
        if as_json:
            print_json({"url": note.url, "home": str(ordain.settings.home), "pid": note.pid})
            sys.stdout.flush()
        code = await _until_stopped(ordain, serving)
        await engine
        return code


async def _until_stopped(ordain: Ordain, serving: ListeningFace) -> int:
    """Serve until a signal comes, the lease is lost or the server ends; then drain: intake refused,
    work put down safely.
    """
    stop = _stop_signal()
    lost = asyncio.create_task(ordain.engine.lost.wait())
    signalled = asyncio.create_task(stop.wait())
    await asyncio.wait({serving.task, lost, signalled}, return_when=asyncio.FIRST_COMPLETED)
    LOG.info("draining reason=%s", "lease_lost" if lost.done() else "signal")
    code = UNAVAILABLE if lost.done() else OK
    for task in (lost, signalled):
        task.cancel()
    await ordain.engine.stop(GRACE_S)
    await serving.close()
    LOG.info("stopped")
    return code


def _stop_signal() -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT; a second one ends the process at once, which the journal
    survives.
    """
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def heard() -> None:
        stop.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heard)
    return stop
