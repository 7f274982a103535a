"""Whose word a file of configuration is: read only where nobody but the user and root can have
written it.

Settings, policy, verbs, profiles, phrases, playbooks and secrets decide what is allowed. Whoever
may write one of them, or may put another in the place of a folder or link on the way to it, may do
all that they allow. So the whole way is looked at, from the root, links followed one by one: each
folder, link and file belongs to the user or to root, and is writable by nobody else. A folder may
be so where it is sticky (``/tmp``): what stands in it is then replaced by its owner alone.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG, S_ISVTX, S_IWGRP, S_IWOTH

from ordain.contracts.shell_words import shell_word
from ordain.errors import ConfigurationError

LINKS_MAX = 40
"""Most links on the way to a file, as of Linux."""
CODE = "not_own_file"


def not_owned(file: Path) -> str:
    """What on the way to a file somebody else may write, in words; "" where nothing is. What is
    missing is for whoever reads it to tell.
    """
    ahead = list(reversed(_parts(file)))
    place, links = Path("/"), 0
    fault = _fault(place, os.lstat(place))
    while ahead and not fault:
        part = ahead.pop()
        if part == "..":
            place = place.parent
            continue
        here = place / part
        try:
            found = os.lstat(here)
            target = str(here.readlink()) if S_ISLNK(found.st_mode) else None
        except (OSError, ValueError):  # a ValueError: no file can have this name
            return ""
        fault = _fault(here, found)
        if target is None:
            place = here
            continue
        links += 1
        if links > LINKS_MAX:
            return f"more than {LINKS_MAX} links"
        place = Path("/") if target.startswith("/") else place
        ahead += reversed([part for part in target.split("/") if part not in {"", "."}])
    return fault


def check_owned(file: Path) -> None:
    """Refuse a file that somebody else may have written.

    Raises:
        ConfigurationError: ``not_own_file``; the message names what they may write.
    """
    if fault := not_owned(file):
        raise ConfigurationError(f"{file}: not read: {fault}", code=CODE)


def read_owned(file: Path) -> str:
    """The text of a file that is the user's own or root's, without the mark of its encoding that an
    editor may have put before it.

    Raises:
        ConfigurationError: it is not (``not_own_file``), or cannot be read.
    """
    check_owned(file)
    try:
        return regular_bytes(file).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ConfigurationError(f"cannot read {file}: {why}") from error


def regular_bytes(file: Path, most: int = -1) -> bytes:
    """The bytes of a regular file, at most so many. Nothing is waited for: a pipe that nobody
    writes into would keep whoever reads it for ever.

    Raises:
        OSError: it cannot be read, or is something else: a pipe, a device, a folder.
    """
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", str(file)) from None
    mode = os.fstat(descriptor).st_mode
    if not S_ISREG(mode):
        os.close(descriptor)
        raise OSError(
            errno.EINVAL,
            os.strerror(errno.EISDIR) if S_ISDIR(mode) else "it is no regular file",
            str(file),
        )
    with os.fdopen(descriptor, "rb") as opened:
        return opened.read(most)


def _parts(file: Path) -> list[str]:
    """The parts of the way from the root; ``..`` stays, since it is the parent of what a link
    before it leads to.
    """
    return [part for part in str(Path.cwd() / file).split("/") if part not in {"", "."}]


def _fault(place: Path, found: os.stat_result) -> str:
    if found.st_uid not in {0, os.geteuid()}:
        return f"{place} belongs to another user (uid {found.st_uid})"
    if S_ISLNK(found.st_mode) or not found.st_mode & (S_IWGRP | S_IWOTH):
        # a link has no mode of its own
        return ""
    sticky = S_ISDIR(found.st_mode) and found.st_mode & S_ISVTX
    return "" if sticky else f"{place} can be written by others (chmod go-w {shell_word(place)})"
