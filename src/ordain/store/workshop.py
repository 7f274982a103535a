"""Folders in which a copy of a whole database is made before it gets its name, and what a process
that was killed left of one.

Such a copy holds every word that stood in the database then, and no erasure reaches it. Whoever
makes one holds a lock in its folder until that is gone, so that what nobody holds has no maker any
more, and whoever comes next removes it: only a folder of this name and of this user, with nothing
in it but what a maker puts there, the lock's file among it. SQLite opens a database by its name:
that rules out a file without one, which would leave nothing.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ordain.errors import ConfigurationError
from ordain.own_process import OwnFile
from ordain.store.folder import FILE, RESTS

PREFIX = ".ordain-unfinished-"
HELD = "unfinished.lock"
ATTEMPTS = 16
"""Times that a folder is begun anew where somebody removes it, while it is empty and held by
nobody.
"""
_NAME = re.compile(rf"{re.escape(PREFIX)}\w{{8}}")
_MADE = frozenset({HELD, FILE, *(f"{FILE}{rest}" for rest in RESTS)})
_log = logging.getLogger("ordain.store")


@contextmanager
def workshop(beside: Path) -> Generator[Path]:
    """A private folder on the file system of ``beside``, gone afterwards; it is made there, once
    what killed processes left there is gone.

    Raises:
        ConfigurationError: ``cannot_write``.
    """
    clear_unfinished(beside)
    try:
        folder, lock = _begun(beside)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write in {beside}: {error.strerror}", code="cannot_write"
        ) from error
    try:
        yield folder
    finally:
        with suppress(OSError), _opened(folder) as opened:
            _empty(opened)
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


def clear_unfinished(folder: Path) -> None:
    """Remove from a folder what killed processes left in it, and say so in the log: a copy that
    nobody makes any more. What somebody holds, or may be another's, stays.
    """
    try:
        left = sorted(one for one in folder.iterdir() if _NAME.fullmatch(one.name))
    except OSError:  # it is not there, or not to be read: whoever needs it says so
        return
    for one in left:
        try:
            removed = _removed(one)
        except OSError as error:
            _log.warning(
                "%s is not removed, which a killed process may have left: a copy of the database "
                "(%s)",
                one,
                error.strerror,
            )
            continue
        if removed:
            _log.warning(
                "removed %s, which a killed process left: a copy of the database that was not "
                "finished",
                one,
            )


def _begun(beside: Path) -> tuple[Path, OwnFile]:
    for _ in range(ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=beside))
        try:
            descriptor = os.open(
                folder / HELD, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
            )
        except FileNotFoundError:  # empty as it was, somebody removed it
            continue
        lock = OwnFile(descriptor)
        if _taken(descriptor, unlockable=True) and os.fstat(descriptor).st_nlink:
            return folder, lock
        lock.close()
    raise OSError(errno.EBUSY, "each folder that is made there is removed by somebody")


def _taken(descriptor: int, *, unlockable: bool) -> bool:
    """Whether the lock is this process's now; ``unlockable`` is the answer where the file system
    locks nothing: a copy can be made there, and what is left of one cannot be told from it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return unlockable
    return True


def _removed(folder: Path) -> bool:
    """Remove a folder that was left by its maker, whatever of it there is; whether it was.

    Raises:
        OSError: it may have been left, and cannot be removed.
    """
    try:
        if not _ours(folder):
            return False
        with _opened(folder) as opened:
            if not _as_made(opened):
                return False
            if _names(opened):
                descriptor = os.open(HELD, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=opened)
                with closing(OwnFile(descriptor)):
                    if not _taken(descriptor, unlockable=False):
                        return False
                    _empty(opened)
            folder.rmdir()
    except (FileNotFoundError, NotADirectoryError):  # no folder of this kind, or gone meanwhile
        return False
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTEMPTY}:  # a link; its maker was at it
            return False
        raise
    return True


@contextmanager
def _opened(folder: Path) -> Generator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _names(opened: int) -> list[str]:
    return os.listdir(opened)  # of the folder that is open, whatever its name is now


def _ours(folder: Path) -> bool:
    """Whether it is this user's, or of whoever owns the folder that it is in.

    Raises:
        PermissionError: it is another's, in a folder of this user's.
    """
    user, owner = os.geteuid(), folder.parent.stat().st_uid
    if folder.lstat().st_uid in {user, owner}:
        return True
    if owner == user:
        raise PermissionError(errno.EPERM, "it is another user's")
    return False  # in a folder of many, as /tmp


def _as_made(opened: int) -> bool:
    """Whether nothing is in it but what a maker puts there."""
    return all(
        name in _MADE and stat.S_ISREG(os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode)
        for name in _names(opened)
    )


def _empty(opened: int) -> None:
    """Its lock's file goes last: whatever is left without one nobody would remove."""
    for name in sorted(_names(opened), key=lambda name: name == HELD):
        if name in _MADE:
            os.unlink(name, dir_fd=opened)
