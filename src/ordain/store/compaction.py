"""Making a data folder's database as small as what stands in it, without a byte of anything else,
and such that it gives room back by itself from then on.

What is destroyed is overwritten where it stood. But SQLite moves what stands on a page, and copies
of it stay in the part of the page that is between its directory and its rows, which no statement
reaches: so a word that was erased may be read in the file. Pages that are written anew hold nothing
there.

Records that earlier builds stored as a row each become sheets first (``store.rewriting``). The rest
is SQLite's own ``VACUUM``: written beside the database and into its log, and in force with one
commit. Whatever ends the process before that leaves the database as it was; a copy that took its
place under the same name would lose what a guest writes meanwhile.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ordain.errors import ConfigurationError, StorageUnavailable
from ordain.store import schema
from ordain.store.damage import failed
from ordain.store.folder import (
    FILE,
    WAL,
    check_in_use,
    configure,
    connect,
    why_not,
)
from ordain.store.folder_lock import missing_log, note_closed, release_lock, take_lock
from ordain.store.rewriting import rewrite_rows

SPARE_BYTES = 16 * 1024 * 1024
LOOK_S = 1.0
PARTS = 2
"""Times that what stands in the database is written on the way: into a file of its own, then into
the log.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """The database's size before and after, in bytes."""

    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """How large the database is, how much of it holds something, and what is needed beside it until
    that is done; in bytes.
    """

    size: int
    used: int
    room: int
    free: int


def compact(
    folder: Path, told: Callable[[Need], None], progress: Callable[[int, int], None]
) -> Compacted:
    """Compact the database of a folder that nobody serves; ``told`` hears what it takes before,
    ``progress`` of bytes written and to be written.

    Raises:
        StorageUnavailable: ``lock_held``; ``no_room`` where the disk has less than it takes;
            ``being_read``: it is done, but in the log, since somebody reads; or the storage refuses
            it.
        ConfigurationError: the database is not one of this build's.
    """
    unlogged = missing_log(folder)
    lock = take_lock(folder)
    try:
        check_in_use(folder)
        # beside the data: another disk may be small, or anybody's
        os.environ["SQLITE_TMPDIR"] = str(folder)
        with closing(connect(folder)) as db:
            if schema.check(db) != schema.VERSION:
                raise ConfigurationError(
                    "the database is of an older schema: open it once with this build (`ordain "
                    "runs list`)",
                    code="older_schema",
                )
            return _compacted(configure(db), folder, told, progress)
    except (sqlite3.Error, OSError) as error:
        raise failed(error, folder / FILE, whole=why_not(folder, error)) from error
    finally:
        if not unlogged:  # the next start tells it
            note_closed(folder, lock)
        release_lock(lock)


def _compacted(
    db: sqlite3.Connection,
    folder: Path,
    told: Callable[[Need], None],
    progress: Callable[[int, int], None],
) -> Compacted:
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    (pages,), (free,), (page,) = (
        db.execute(f"PRAGMA {name}").fetchone()
        for name in ("page_count", "freelist_count", "page_size")
    )
    used = (pages - free) * page
    need = Need(
        size=pages * page,
        used=used,
        room=PARTS * used + SPARE_BYTES,
        free=shutil.disk_usage(folder).free,
    )
    told(need)
    if need.free < need.room:
        raise StorageUnavailable(
            f"{folder} has {need.free} bytes free, and compacting takes {need.room}", code="no_room"
        )
    ended = threading.Event()

    def watch() -> None:
        began = need.free
        while not ended.wait(LOOK_S):
            progress(
                max(0, min(began - shutil.disk_usage(folder).free, PARTS * used)), PARTS * used
            )

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        rewrite_rows(db)
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        db.execute("VACUUM")
        (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        ended.set()
        watching.join()
    if busy:  # the pages that somebody reads are those of before
        raise StorageUnavailable(
            f"{folder / FILE} is compacted in its log alone, as somebody reads it: what was erased "
            "may stand in the file until `ordain store compact` is run again, when nobody does",
            code="being_read",
        )
    return Compacted(before=need.size, after=(folder / FILE).stat().st_size + _size(folder / WAL))


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
