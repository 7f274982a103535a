"""What is this process's alone: a copy of it (fork) lets go of it at once, and it is closed at its
end where nobody has done that.

A lock stays taken, and an address in use, for as long as any process has the file open. A copy that
works on for others, as a pool's does, would keep both from whoever comes next.
"""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from socket import socket
from typing import Protocol
from weakref import WeakSet


class Closing(Protocol):
    """What is open until somebody closes it."""

    def close_files(self) -> None:
        """Close its files, whatever else it was at. Idempotent."""
        ...


class OwnFile:
    """An open file that no copy of this process has: there it is closed, and its number may be
    another file's.
    """

    def __init__(self, descriptor: int) -> None:
        """It is open."""
        self._descriptor: int | None = descriptor
        _files.add(self)

    @property
    def descriptor(self) -> int | None:
        """Its number; None where it is closed, or this process is a copy."""
        return self._descriptor

    def close(self) -> None:
        """Idempotent."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            with suppress(OSError):
                os.close(descriptor)


_files = WeakSet[OwnFile]()
_sockets = WeakSet[socket]()
_open = WeakSet[Closing]()


def own_socket(listening: socket) -> None:
    """This socket is no copy's."""
    _sockets.add(listening)


def close_at_end(what: Closing) -> None:
    """Close its files at this process's end, where it is still there."""
    _open.add(what)


def _let_go() -> None:
    for file in list(_files):
        file.close()
    for listening in list(_sockets):
        # taken from the socket: an event loop that has it, too, would keep it open
        with suppress(OSError):
            os.close(listening.detach())
    _files.clear()
    _sockets.clear()
    _open.clear()


def _end() -> None:
    for what in list(_open):
        # the interpreter ends: nobody could be told, and the next one shall have its turn
        with suppress(Exception):
            what.close_files()


os.register_at_fork(after_in_child=_let_go)
atexit.register(_end)
