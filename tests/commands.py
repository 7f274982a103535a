"""`ordain` as a process of its own, begun at once: forked from one that has imported it
(`commands_forked.py`).

Nearly all the time of a short command goes into importing, and a run of the tests begins hundreds.
With `--full` every command begins as a user's does, with its interpreter; so does one whose
environment says something to the interpreter itself.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from tests.commands_forked import LENGTH, NUMBER
from tests.lanes import is_full

ROOT = Path(__file__).resolve().parents[1]
Stream = int | IO[bytes] | None


class Forked:
    """A forked command; what of ``subprocess.Popen`` tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        streams: Sequence[Stream],
        *,
        session: bool,
    ) -> None:
        """``streams`` as ``Popen`` takes them: stdin, stdout, stderr."""
        self.args = ["ordain", *arguments]
        self.returncode: int | None = None
        ends = [_ends(stream, number) for number, stream in enumerate(streams)]
        self.stdin, self.stdout, self.stderr = (ours for ours, _ in ends)
        self._waiting = threading.Lock()
        self._channel, theirs = socket.socketpair()
        asked = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(Path.cwd()),
            "session": session,
        }
        request = json.dumps(asked).encode()
        with theirs:
            socket.send_fds(_forker(), [b"x"], [theirs.fileno(), *(their for _, their in ends)])
        for (ours, their), stream in zip(ends, streams, strict=True):
            if ours is not None or stream == subprocess.DEVNULL:
                os.close(their)
        self._channel.sendall(LENGTH.pack(len(request)) + request)
        self.pid = self._number()

    def _number(self) -> int:
        said = self._channel.recv(NUMBER.size, socket.MSG_WAITALL)
        if len(said) < NUMBER.size:
            raise ChildProcessError(f"{self.args}: what forks commands is gone")
        return int(NUMBER.unpack(said)[0])

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end; the exit code, negative where a signal ended it.

        Raises:
            subprocess.TimeoutExpired: it goes on.
        """
        with self._waiting:
            if self.returncode is None:
                self._channel.settimeout(timeout)
                try:
                    self.returncode = os.waitstatus_to_exitcode(self._number())
                except (TimeoutError, BlockingIOError):
                    raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
                self._channel.close()
            return self.returncode

    def poll(self) -> int | None:
        """The exit code; None while it goes on."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended: that is known here a moment after it has."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def communicate(
        self, given: bytes | None = None, timeout: float | None = None
    ) -> tuple[bytes, bytes]:
        """Write ``given`` to it, and read all it writes; both empty where they are not read here.

        Raises:
            subprocess.TimeoutExpired: it goes on.
        """
        read = {1: b"", 2: b""}

        def drain(number: int, pipe: IO[bytes]) -> None:
            with pipe:
                read[number] = pipe.read()

        pipes = [
            (number, pipe)
            for number, pipe in ((1, self.stdout), (2, self.stderr))
            if pipe is not None
        ]
        readers = [threading.Thread(target=drain, args=one, daemon=True) for one in pipes]
        for reader in readers:
            reader.start()
        if self.stdin is not None and not self.stdin.closed:
            try:
                self.stdin.write(given or b"")
                self.stdin.close()
            except BrokenPipeError:
                pass  # it has ended, or reads no more
        self.wait(timeout)
        for reader in readers:
            reader.join(timeout)
        return read[1], read[2]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pipe in (self.stdin, self.stdout, self.stderr):
            if pipe is not None:
                pipe.close()
        if error is not None:  # nothing will tell it to end
            self.kill()
        self.wait()


Command = Forked | subprocess.Popen[bytes]


def start_command(
    *arguments: str,
    environment: Mapping[str, str],
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    session: bool = False,
) -> Command:
    """Begin `ordain ARGUMENTS`; streams as ``Popen`` takes them, ``session`` whether it leads a
    session of its own.
    """
    if is_full() or _told(environment) != _told(os.environ):
        command = [sys.executable, "-m", "ordain", *arguments]
        return subprocess.Popen(
            command,
            env=dict(environment),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            start_new_session=session,
        )
    return Forked(arguments, environment, (stdin, stdout, stderr), session=session)


def run_command(
    *arguments: str, environment: Mapping[str, str], stdin: bytes | None = None, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """Run `ordain ARGUMENTS` to its end.

    Raises:
        subprocess.TimeoutExpired: it goes on, and is killed.
    """
    pipe = subprocess.PIPE
    begun = start_command(
        *arguments,
        environment=environment,
        stdin=None if stdin is None else pipe,
        stdout=pipe,
        stderr=pipe,
    )
    with begun as command:
        try:
            out, errors = command.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            command.kill()
            raise
        assert command.returncode is not None
        return subprocess.CompletedProcess(command.args, command.returncode, out, errors)


def _told(environment: Mapping[str, str]) -> dict[str, str]:
    """What an environment says to the interpreter; a UTF-8 locale is what it takes where nothing is
    said.
    """
    names = [name for name in environment if name.startswith(("PYTHON", "LC_", "LANG"))]
    return {name: environment[name] for name in names if environment[name] != "C.UTF-8"}


def _ends(stream: Stream, number: int) -> tuple[IO[bytes] | None, int]:
    """Our end of a stream where it is a pipe, and the command's."""
    if stream == subprocess.PIPE:
        reading, writing = os.pipe()
        return (
            (os.fdopen(writing, "wb"), reading)
            if number == 0
            else (os.fdopen(reading, "rb"), writing)
        )
    if stream == subprocess.DEVNULL:
        return None, os.open(os.devnull, os.O_RDWR)
    if stream is None:
        return None, number
    return None, stream if isinstance(stream, int) else stream.fileno()


@cache
def _forker() -> socket.socket:
    """What commands are asked for at; it ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", "tests.commands_forked", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
