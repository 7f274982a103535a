"""The process that commands under test are forked from: it has imported what `ordain` imports and
compiled what never changes.

Over the socket that it is given it receives, for each command, that command's channel and its three
standard streams. The child reads from the channel what to run and becomes that command, in a
process of its own with its own memory, files and signals. This process writes to the channel the
child's id, then how it ended. It has no threads and no event loop, so that forking it is safe;
where its socket closes, it kills what still runs.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import SimpleNamespace
from typing import Any, NoReturn, cast

import ordain.cli
import ordain.server
from ordain import Ordain
from ordain.cli import main
from ordain.server import Face, build_app
from ordain.settings import load_settings
from ordain.wording.wording import wording_of

NUMBER = struct.Struct("i")
"""What is written to a channel: the child's id, later its wait status."""
HIGHEST = 1024
"""Above every descriptor that this process has."""
LENGTH = struct.Struct("I")
"""What comes before a request on its channel."""


def warm() -> None:
    """Import what commands import when they are asked for, and fill the caches of what is
    shipped.
    """
    for package in (ordain.cli, ordain.server):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    # nothing is opened: of the settings, these are the defaults
    shipped = Ordain(load_settings(environment={}, home=Path("nowhere")))
    wording_of(shipped.catalog)
    build_app(Face(runtime=cast("Any", SimpleNamespace(conversation=None))))
    gc.collect()
    gc.freeze()  # what is shared with all that are forked: the collector leaves it alone


def serve(control: socket.socket) -> dict[str, Any]:
    """Fork for whoever asks. Returns in the children alone, each with its request."""
    children: dict[int, socket.socket] = {}
    ended, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(ended, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # who interrupts the tests ends this process by ending them
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(ended, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if ended in ready:
                os.read(ended, 4096)
                report(children)
            if control in ready:
                said, streams, _, _ = socket.recv_fds(control, 1, 4)
                if not said:
                    for child in children:
                        os.kill(child, signal.SIGKILL)
                    os._exit(0)
                child = os.fork()
                if child == 0:
                    return become(streams)
                children[child] = socket.socket(fileno=streams[0])
                children[child].sendall(NUMBER.pack(child))
                for stream in streams[1:]:
                    os.close(stream)


def report(children: dict[int, socket.socket]) -> None:
    """Tell of every child that has ended how it did."""
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            with children.pop(found[0]) as channel, suppress(OSError):
                # nobody may be listening any more
                channel.sendall(NUMBER.pack(found[1]))


def become(streams: list[int]) -> dict[str, Any]:
    """Be a process as one that was started: its own streams, signals, environment, folder; gives
    its request.
    """
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with open(streams[0], "rb", closefd=False) as channel:
        (length,) = LENGTH.unpack(channel.read(LENGTH.size))
        request = json.loads(channel.read(length))
    for number, stream in enumerate(streams[1:]):
        os.dup2(stream, number)
    os.closerange(3, HIGHEST)
    if request["session"]:
        os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    sys.stdin = sys.__stdin__ = opened(0, sys.stdin)
    sys.stdout = sys.__stdout__ = opened(1, sys.stdout)
    sys.stderr = sys.__stderr__ = opened(2, sys.stderr)
    sys.argv = ["ordain", *request["arguments"]]
    return request


def opened(number: int, before: Any) -> Any:
    """A standard stream as the interpreter opens it, in the encoding that it chose."""
    lines = number == 2 or os.isatty(number)
    mode, buffering = ("r", -1) if number == 0 else ("w", 1 if lines else -1)
    return open(
        number, mode, buffering, encoding=before.encoding, errors=before.errors, closefd=False
    )


def run(arguments: list[str]) -> NoReturn:
    """Be the command to its end, which is an interpreter's but for one thing: memory that is shared
    is not taken apart, and copied for that.
    """
    try:
        code = main(arguments)
    except SystemExit as told:
        code = told.code
    if not isinstance(code, int | None):
        sys.exit(code)
    threading._shutdown()  # type: ignore[attr-defined]  # what the interpreter does first: it waits for threads, then asks whoever wants to be asked
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError):
        sys.exit(code)  # nobody reads it any more: that too has a code of its own
    os._exit(code or 0)


if __name__ == "__main__":
    warm()
    run(serve(socket.socket(fileno=int(sys.argv[1])))["arguments"])
