"""What SQLite's errors mean to whoever meets them: a damaged file is told apart from storage that
cannot be had now, by its name and with what to do.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress

from ordain.errors import StorageUnavailable

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY = 0xFF
"""What of an error's number says its kind; the rest says where."""
UNREAD = "the storage cannot be read"
DAMAGED = "storage_damaged"


def failed(
    error: BaseException, file: object, said: str = UNREAD, *, whole: str = ""
) -> StorageUnavailable:
    """An error of SQLite's as ours: of a damaged ``file`` always the same, else that what was
    ``said`` did not succeed (``whole``: in these words).

    Nothing mends such a file by waiting: ``DAMAGED``.
    """
    if getattr(error, "sqlite_errorcode", 0) & _PRIMARY not in _DAMAGE:
        return StorageUnavailable(whole or f"{said}: {error}")
    return StorageUnavailable(
        f"{file} is damaged ({error}): stop what uses it, keep it as it is, and put a backup into "
        "another folder"
        " (`ordain restore FILE --data-dir FOLDER`). What can still be read of it `ordain replay "
        "--all` says",
        code=DAMAGED,
    )


def check_damage(error: StorageUnavailable) -> StorageUnavailable:
    """An error that damage of the file is the reason of: what else is stored may be read.

    Raises:
        StorageUnavailable: that error, where it is another.
    """
    if error.code != DAMAGED:
        raise error
    return error


def file_of(connection: sqlite3.Connection) -> str:
    """The file that a connection has open."""
    with suppress(sqlite3.Error):  # it is closed
        return connection.execute("PRAGMA database_list").fetchone()[2] or "the database in memory"
    return "the database"
