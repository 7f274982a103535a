"""Where things are: the data folder, and the file in which a server says that it holds it."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from stat import S_ISREG, S_IWGRP, S_IWOTH

from ordain.errors import ConfigurationError

SERVER_FILE = "server.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerNote:
    """A running server: its address, its process, and the word that it answers with (``/health``),
    by which servers are told apart.

    ``proof`` is the key under which it proves that it is this one (``contracts.proof``); it is
    never sent. "" in notes of builds before. ``key`` is the token of whoever can read the data
    folder, as long as this server runs; ``demanded``: every request needs one.
    """

    url: str
    pid: int
    instance: str
    key: str = field(default="", repr=False)
    demanded: bool = True
    proof: str = field(default="", repr=False)


def home_of(given: Path | None) -> Path:
    """The data folder: as given, else ``$ORDAIN_HOME``, else ``~/.ordain``. It need not exist.

    Raises:
        ConfigurationError: a file is in its place.
    """
    home = (given or Path(os.environ.get("ORDAIN_HOME") or Path.home() / ".ordain")).expanduser()
    if file := next((place for place in (home, *home.parents) if place.is_file()), None):
        where = (
            "where the data folder should be"
            if file == home
            else f"on the way to the data folder {home}"
        )
        message = (
            f"{file} is a file, {where}: move it away, or name another folder: --data-dir FOLDER"
        )
        raise ConfigurationError(message, code="no_data_folder")
    return home


NOTE_BYTES = 4096


def write_note(home: Path, note: ServerNote) -> None:
    """Leave the note, whole or not at all, readable by its owner only."""
    # a name that nobody can have put something at
    descriptor, partial = tempfile.mkstemp(prefix=f".{SERVER_FILE}.", dir=home)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(asdict(note), file)
    Path(partial).replace(home / SERVER_FILE)


def read_note(home: Path) -> ServerNote | None:
    """The note, if there is one that makes sense; whether the server still runs is another
    question.

    It says whom commands talk to, and proves itself by a key of its own: one that somebody else may
    have written into a folder of many is none.
    """
    try:
        descriptor = os.open(
            home / SERVER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
        with os.fdopen(descriptor, "rb") as file:
            if not _is_note(os.fstat(descriptor), home):
                return None
            found = json.loads(file.read(NOTE_BYTES))
        return ServerNote(
            url=str(found["url"]),
            pid=int(found["pid"]),
            instance=str(found["instance"]),
            key=str(found.get("key", "")),
            demanded=bool(found.get("demanded", True)),
            proof=str(found.get("proof", "")),
        )
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None


def _is_note(found: os.stat_result, home: Path) -> bool:
    """A small file of this user's, of root's or of whoever owns the folder, and written by nobody
    else.
    """
    of = found.st_uid in {0, os.geteuid(), home.stat().st_uid}
    return (
        S_ISREG(found.st_mode)
        and found.st_size <= NOTE_BYTES
        and of
        and not found.st_mode & (S_IWGRP | S_IWOTH)
    )


def remove_note(home: Path, note: ServerNote) -> None:
    """Take the note away, if it is still this server's."""
    if read_note(home) == note:
        (home / SERVER_FILE).unlink(missing_ok=True)
