"""Where a copy of a database goes: which names it may have, and how it gets one without taking
anybody else's.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from ordain.errors import ConfigurationError
from ordain.store.folder import FILE, LOCK, NEEDED, RESTS, SERVER_FILE

_UNLINKED = frozenset(
    {errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}
)
"""How a file system says that a file has no second name there (FAT), or may get none."""


@cache
def house_names() -> frozenset[str]:
    """What Ordain itself reads, writes or removes in a data folder, and the folders whose files it
    reads; further names begin with a dot.
    """
    from ordain.catalogs import DECLARED  # lazy: replay, which reads backups, needs no verbs

    return frozenset(
        {
            *NEEDED,
            *(f"{FILE}{rest}" for rest in RESTS),
            SERVER_FILE,
            *("ordain.toml", "policy.toml", "confirmed-verbs.json", "model-ways.json"),
            *("keys", "local", "playbooks", "verbs", "wording", *DECLARED),
        }
    )


def check_target(file: Path, home: Path) -> None:
    """Refuse a name that no backup can have, before anything is written; ``home`` is the data
    folder that is backed up.

    Raises:
        ConfigurationError: ``file_exists``, of it or of what SQLite would play into it;
            ``house_name``: it is, or would be taken for, a file of a data folder or a database's
            log; ``cannot_write``.
    """
    try:
        taken = _taken(file)
    except (OSError, ValueError) as error:
        raise _unwritable(file, error) from error
    if taken:
        raise ConfigurationError(f"{file} exists; a backup never overwrites", code="file_exists")
    if any(file.name.casefold().endswith(rest) for rest in RESTS):
        message = (
            f"{file} cannot be a backup's name: SQLite takes a file whose name ends so for the log "
            "of another, and plays it in or removes it"
        )
        raise ConfigurationError(message, code="house_name")
    if (named := _within(file, home)) is not None:
        message = (
            f"{file} cannot be a backup's name: {named} belongs to the data folder, whatever lies "
            "there; name a file elsewhere"
        )
        raise ConfigurationError(message, code="house_name")
    for rest in RESTS:
        if os.path.lexists(beside := f"{file}{rest}"):
            message = (
                f"{beside} exists: whatever opens a backup {file} plays that into it, and `ordain "
                "restore` refuses both; move it away, or name another file"
            )
            raise ConfigurationError(message, code="file_exists")


def place(made: Path, target: Path, taken: str) -> None:
    """Make it durable, then give it its name without replacing anything.

    Raises:
        ConfigurationError: ``taken``: somebody else was quicker; ``cannot_write``.
    """
    with made.open("rb") as file:
        os.fsync(file.fileno())
    try:
        try:
            os.link(made, target)
        except OSError as error:
            if error.errno not in _UNLINKED:
                raise
            _move(made, target)
        folder = os.open(target.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    except FileExistsError as error:
        raise ConfigurationError(
            f"{target} was written meanwhile by somebody else, and nothing is overwritten",
            code=taken,
        ) from error
    except OSError as error:
        raise _unwritable(target, error) from error


def _move(made: Path, target: Path) -> None:
    """Take the name with an empty file, which is there for nobody before, and put it in its
    place.
    """
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        if not os.path.samestat(os.fstat(descriptor), target.lstat()):
            raise FileExistsError(errno.EEXIST, "replaced meanwhile", str(target))
        made.replace(target)
    except FileExistsError:
        raise
    except OSError:
        target.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def _taken(file: Path) -> bool:
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def _within(file: Path, home: Path) -> Path | None:
    """The part of a data folder that a name is, or is in; None where it is Ordain's in no way."""
    real = file.absolute().parent.resolve() / file.name
    for folder in _data_folders(real, home):
        first = real.relative_to(folder).parts[0]
        if first.startswith(".") or first.casefold() in house_names():
            return folder / first
    return None


def _data_folders(real: Path, home: Path) -> Iterator[Path]:
    for folder in real.parents:
        if folder == home.resolve() or (folder / LOCK).is_file():
            yield folder


def _unwritable(file: Path, error: OSError | ValueError) -> ConfigurationError:
    why = error.strerror if isinstance(error, OSError) else str(error)
    return ConfigurationError(f"cannot write {file}: {why}", code="cannot_write")
