"""The lock on a data folder: who has it, and whether the last one closed the database."""

from __future__ import annotations

import fcntl
import logging
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from ordain.errors import StorageUnavailable
from ordain.own_process import OwnFile
from ordain.store.folder import FILE, LOCK, WAL, has_bytes, why_not
from ordain.store.workshop import clear_unfinished

LOCK_BYTES = 1024
OPEN, CLOSED = "open", "closed"
"""How the lock's file says whether all that was acknowledged is in the database itself. Builds
before said nothing of it.
"""

_LOG_GONE = (
    "%s was not closed by %s, and its log %s is gone: what was acknowledged last may be missing, "
    "unless another program has brought the log in."
    " Compare with a backup, or with what callers were told"
)
_log = logging.getLogger("ordain.store")


def take_lock(folder: Path) -> OwnFile:
    """The lock on the folder, as an open file; what killed processes left of copies there is gone
    then (``store.workshop``).

    Raises:
        StorageUnavailable: ``lock_held``, with whom by; or it cannot be opened.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StorageUnavailable(why_not(folder, error)) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        said = _said(descriptor)
        os.close(descriptor)
        raise StorageUnavailable(
            f"another engine holds {folder}: {said}", code="lock_held"
        ) from error
    clear_unfinished(folder)
    return OwnFile(descriptor)


def release_lock(lock: OwnFile) -> None:
    """Let go of it, also where a program that this process began has it open."""
    if lock.descriptor is not None:
        with suppress(OSError):
            fcntl.flock(lock.descriptor, fcntl.LOCK_UN)
    lock.close()


def served(folder: Path) -> bool:
    """Whether an engine holds the folder now."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return _held(descriptor)
    finally:
        os.close(descriptor)


def name_holder(lock: OwnFile, address: str = "") -> None:
    """Write into the lock's file who holds it, and where it listens."""
    if lock.descriptor is not None:
        _write(lock.descriptor, f"process {os.getpid()}", address, OPEN)


def _write(descriptor: int, who: str, address: str, state: str) -> None:
    said = f"{who}\n{address}\n{state}\n".encode()
    os.pwrite(descriptor, said, 0)
    os.ftruncate(descriptor, len(said))


def _lines(descriptor: int) -> tuple[str, str, str]:
    """Who held the folder last, where it listened, and whether it closed it; "" where that is not
    said.
    """
    who, address, state, *_ = (
        *os.pread(descriptor, LOCK_BYTES, 0).decode("utf-8", "replace").split("\n"),
        "",
        "",
        "",
    )
    return who, address.strip(), state


def _said(descriptor: int) -> str:
    who, address, _ = _lines(descriptor)
    if not who:
        return "a process that is starting, or one of an older build"
    if who == f"process {os.getpid()}" and not address:
        return f"this {who}, in which an Ordain was started and not stopped"
    return f"{who}, at {address}" if address else f"{who}, which listens nowhere"


def missing_log(folder: Path) -> str:
    """Who ended without closing the database, if its log is gone; "" where nothing is missing. To
    be asked before the database is opened.
    """
    if (folder / WAL).exists() or not has_bytes(folder / FILE):
        return ""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        who, _, state = _lines(descriptor)
        return who if state == OPEN and not _held(descriptor) else ""
    finally:
        os.close(descriptor)


@cache  # once in a process: one command opens a folder several times
def tell_gone(folder: Path, unlogged: str, _holder: str | None) -> None:
    """Say aloud that the log of ``unlogged`` is gone (``missing_log``)."""
    _log.error(_LOG_GONE, folder / FILE, unlogged, folder / WAL)


def note_closed(folder: Path, lock: OwnFile | None = None) -> None:
    """The database was closed: where nobody has it open any more, no log belongs to it.

    ``lock`` is the caller's, which it still holds; without one, that nobody holds it is looked at:
    whoever closes a folder last after an engine was killed brings its log in.
    """
    held = None if lock is None else lock.descriptor
    try:
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC) if held is None else held
    except OSError:
        return
    try:
        who, address, state = _lines(descriptor)
        if (
            state == OPEN
            and not (folder / WAL).exists()
            and (held is not None or not _held(descriptor))
        ):
            _write(descriptor, who, address, CLOSED)
    finally:
        if held is None:
            os.close(descriptor)


def _held(descriptor: int) -> bool:
    """Whether another open file holds the lock; it is this one's until that is closed where none
    does.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False
