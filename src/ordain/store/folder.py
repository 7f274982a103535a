"""The data folder's files: whose they are, whether they are the ones that were opened, and why they
cannot be.

The lock's file is also the mark of use: once tables were made, it names the last process that held
the folder, and whether that closed it. A database that is empty or gone beside it was not always
so, and is not made anew; one that was not closed has a log.
"""

from __future__ import annotations

import errno
import os
import resource
import shutil
import sqlite3
import sys
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from msgspec import Struct

from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.store.typed_rows import RowColumns, check_row, is_number

FILE = "ordain.db"
LOCK = "ordain.lock"
WAL = f"{FILE}-wal"
RESTS = ("-wal", "-shm", "-journal")
"""What SQLite puts behind a database's name for the files beside it."""
SERVER_FILE = "server.json"
NEEDED = (FILE, WAL, f"{FILE}-shm", LOCK)
FSYNC_SAMPLES = 20
_LOG_HEADING, _FRAME_HEADING = 32, 24
"""Of the log, and of each page in it, in bytes:
https://sqlite.org/fileformat2.html#the_write_ahead_log.
"""
OPENING_MS = 5_000
"""Whoever closes a database last brings its log in, and has it to itself for that: another that
opens it then waits so long at most.
"""
CACHE_KIB = 8_192
"""Most of a connection's pages in memory. With SQLite's own 2 MiB what many sessions write at once
is read again for each of them.
"""
ROOM_BYTES = 256 * 1024
"""An open takes about so much: pages of the log's index, and one fsync after another."""

_EPOCH: RowColumns = (("epoch", is_number),)
OLDER_SERVED = (
    "an older build of Ordain serves %s, and would not keep what this one keeps: stop it first, "
    "or use that build"
)


def no_room(error: sqlite3.Error) -> bool:
    """Whether something could not be written: the disk is full, no file may grow so far, or (SQLite
    does not tell these apart) the disk fails.
    """
    return error.sqlite_errorname in {"SQLITE_FULL", "SQLITE_IOERR_WRITE"}


def copy_whole(db: sqlite3.Connection, file: Path) -> None:
    """Copy a database into a new file.

    Raises:
        ConfigurationError: the file exists.
        StorageUnavailable: there is no room for it (``no_room``).
        sqlite3.Error: the database cannot be read.
    """
    if file.exists():
        raise ConfigurationError(f"{file} exists", code="file_exists")
    with closing(sqlite3.connect(file)) as target, target:
        try:
            db.backup(target)
        except sqlite3.OperationalError as error:
            if no_room(error):
                raise StorageUnavailable(
                    f"the copy {file} cannot be written, which has no room or a disk that fails: "
                    f"{error}",
                    code="no_room",
                ) from error
            raise


def connect(folder: Path | None, *, guest: bool = False) -> sqlite3.Connection:
    """A connection to the folder's database, or to one in memory. It waits for what has the
    database to itself until it is ``at_once``.

    ``guest``: it looks, and one damaged text is not the end of that. An engine's own does without,
    since each text that it reads would cost a call.
    """
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not (folder / FILE).exists():
            # journal and keys are the owner's alone, in whatever folder they lie
            os.close(os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    name = ":memory:" if folder is None else str(folder / FILE)
    connection = sqlite3.connect(
        name, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    if guest:
        connection.text_factory = _as_it_lies
    connection.execute(f"PRAGMA busy_timeout={OPENING_MS}")
    # Before anything is read: whoever wrote the file wrote its schema, and what stands in one calls
    # no function that could do harm.
    connection.execute("PRAGMA trusted_schema=OFF")
    # What is erased, forgotten or dropped by an upgrade is overwritten, in whatever way SQLite was
    # built; copies that it left when it moved rows are not (``store.compaction``).
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(f"PRAGMA cache_size=-{CACHE_KIB}")
    return connection


def _as_it_lies(raw: bytes) -> str | bytes:
    """A text; what is none, because somebody else wrote it or the disk did, is the bytes that it
    is.
    """
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def at_once(connection: sqlite3.Connection) -> None:
    """From here on it waits for nobody: an event loop asks it."""
    connection.execute("PRAGMA busy_timeout=0")


def configure(connection: sqlite3.Connection) -> sqlite3.Connection:
    """After ``schema.prepare``: the journal mode is written into the file, and a file that is not
    ours stays as it is.
    """
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    # what a savepoint keeps to go back to, some pages each: as a file it is two thirds of all that
    # is written
    connection.execute("PRAGMA temp_store=MEMORY")
    return connection


def configure_reader(connection: sqlite3.Connection) -> sqlite3.Connection:
    """One that writes nothing."""
    connection.execute("PRAGMA query_only=ON")
    return connection


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Generator[None]:
    """What is read within it is as of one commit; nothing is written."""
    if connection.in_transaction:  # in memory the one connection may be writing
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.rollback()  # what read a damaged page cannot commit


def check_in_use(folder: Path) -> None:
    """A database that is gone, or has no byte, beside what says that it was used is not taken for a
    new one.

    Raises:
        StorageUnavailable: ``storage_lost``.
    """
    try:
        size = (folder / FILE).stat().st_size
    except FileNotFoundError:
        size = -1
    if size > 0:
        return
    marks = [name for name in (WAL, LOCK, SERVER_FILE) if has_bytes(folder / name)]
    if marks:
        what = "is gone" if size < 0 else "is empty"
        raise StorageUnavailable(
            f"{folder / FILE} {what}, and {folder / marks[0]} says that it was not: put the file "
            "back (`ordain restore` into another folder puts a"
            f" backup there); to begin anew, move the whole folder away",
            code="storage_lost",
        )


def has_bytes(file: Path) -> bool:
    """Whether it is there and not empty."""
    try:
        return file.stat().st_size > 0
    except OSError:
        return False


def why_not(folder: Path, error: Exception) -> str:
    """Why the folder cannot be opened, with the file that is the reason where one is."""
    if (spent := _used_up(folder)) is not None:
        return f"cannot open {folder / FILE}: {spent} ({error})"
    if isinstance(error, OSError):
        return f"cannot open {error.filename or folder}: {error.strerror or error}"
    for name in (*NEEDED, ""):
        file = folder / name if name else folder
        if file.exists() and not os.access(file, os.R_OK | os.W_OK | (os.X_OK if not name else 0)):
            return f"cannot open {file}: this process may not read and write it ({error})"
    return f"cannot open {folder / FILE}: {error}"


def _used_up(folder: Path) -> str | None:
    """What there is too little of, of that which SQLite does not tell apart: files that may be
    open, and room on the disk.
    """
    try:
        os.close(os.open(folder, os.O_RDONLY | os.O_CLOEXEC))
        free = shutil.disk_usage(folder).free
    except OSError as error:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        out = f"this process has as many files open as it may, {soft}: raise that with `ulimit -n`"
        return out if error.errno in {errno.EMFILE, errno.ENFILE} else None
    return f"the disk is full, {free} bytes are free in {folder}" if free < ROOM_BYTES else None


def take_lease(db: sqlite3.Connection, holder: str) -> int:
    """The next epoch.

    Raises:
        JournalCorrupt: the last one is none.
    """
    with db:  # what is refused leaves nothing open
        db.execute("BEGIN IMMEDIATE")
        row = db.execute("SELECT epoch FROM engine").fetchone()
        if row is not None:
            check_row("the row of the engine", _EPOCH, row)
        epoch: int = 1 if row is None else row[0] + 1
        db.execute(
            "INSERT INTO engine(one, epoch, holder, since) VALUES (1, ?, ?, ?)"
            " ON CONFLICT(one) DO UPDATE SET epoch = excluded.epoch, holder = excluded.holder, "
            "since = excluded.since",
            (epoch, holder, time.time_ns() // 1000),
        )
    return epoch


class FileWatch(Struct):
    """Whether database and log are still the files that were opened: SQLite writes on into a file
    without a name, and nobody finds it again.
    """

    folder: Path
    seen: dict[str, tuple[int, int] | None]
    log_bytes: int = 0

    @classmethod
    def of(cls, folder: Path) -> FileWatch:
        """As they are now."""
        return cls(folder, {name: _identity(folder / name) for name in (FILE, WAL)})

    def lost(self, needed: Callable[[], int]) -> str:
        """The name of the first that is gone, cut or another one; "" where both are what they were.
        A log that comes later is noted.

        ``needed`` is how long the log must be (``needed_log``): one that got shorter was cut, or
        brought in and emptied by whoever has the database open.
        """
        for name, known in self.seen.items():
            found = _identity(self.folder / name)
            if known is None:
                self.seen[name] = found
            elif found != known:
                return name
        return WAL if self._cut(needed) else ""

    def _cut(self, needed: Callable[[], int]) -> bool:
        try:
            if (size := self._log_size()) < self.log_bytes:
                before = needed()
                size = self._log_size()
                if before < 0 or needed() != before:  # somebody is about to empty it: the next look
                    return False
                if size < before:
                    return True
        except FileNotFoundError:  # since it was looked at: the next look finds it so
            return False
        self.log_bytes = size
        return False

    def _log_size(self) -> int:
        return (self.folder / WAL).stat().st_size


def needed_log(connection: sqlite3.Connection) -> int:
    """How many bytes the log must have, by what SQLite knows to be in it; -1 while somebody brings
    it in.
    """
    try:
        # the one way to ask for it
        ((_, frames, _),) = connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        ((page,),) = connection.execute("PRAGMA page_size")
    except sqlite3.OperationalError as error:
        return sys.maxsize if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR else -1
    return _LOG_HEADING + frames * (_FRAME_HEADING + page) if frames > 0 else frames


def _identity(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def fsync_median_s(folder: Path) -> float:
    """Median of a few fsyncs in the data folder, in seconds."""
    probe = folder / ".fsync"
    took: list[float] = []
    with probe.open("wb") as file:
        for _ in range(FSYNC_SAMPLES):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            took.append(time.perf_counter() - began)
    probe.unlink(missing_ok=True)  # a guest may be measuring the same folder
    return median(took)
