"""Upkeep over SQLite: every slice a unit of the one writer, a checkpoint after each so that the log
stays small.
"""

from __future__ import annotations

import asyncio
import errno
import os
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import assert_never

from ordain.errors import StorageUnavailable
from ordain.ports.upkeep import (
    BegunErasures,
    EndedPeriods,
    FreedSpace,
    OldContent,
    Reached,
    Slice,
    UpkeepRule,
)
from ordain.store.erasure import erase_begun, erase_slice
from ordain.store.folder import FILE, WAL
from ordain.store.ledger import LedgerDraft
from ordain.store.retention import drop_periods, give_back, sweep_content
from ordain.store.slices import SliceUnit
from ordain.store.sqlite import SqliteStore
from ordain.store.workshop import clear_unfinished

PROBE_EVERY_S = 0.25
PROBE_BYTES = 64 * 1024
"""Room for a commit or two: the log's own file may have some left where the disk has none."""
PROBE = ".probe"


class SqliteUpkeep:
    """Implements ``Upkeep``."""

    def __init__(self, store: SqliteStore) -> None:
        """Writes through the store's writer."""
        self._store = store
        self._probing: asyncio.Task[None] | None = None
        self._probed_at = -PROBE_EVERY_S

    async def erase(self, subject: int, after: Reached | None) -> Slice:
        """See ``Upkeep.erase``."""
        made = await self._slice(
            lambda db, ledger: erase_slice((db, ledger), subject, after), destroys=True
        )
        if made.after is None and self._store.folder is not None:
            # a copy that nobody finishes holds what was erased here, and is nobody's backup
            await self._store.apart(partial(clear_unfinished, self._store.folder))
        return made

    async def sweep(self, rule: UpkeepRule, after: Reached | None) -> Slice:
        """See ``Upkeep.sweep``."""
        match rule:
            case OldContent():
                return await self._slice(
                    lambda db, ledger: sweep_content(db, ledger, rule, after), destroys=True
                )
            case EndedPeriods():
                return await self._slice(
                    lambda db, ledger: drop_periods(db, ledger, rule, after), destroys=False
                )
            case BegunErasures():
                return await self._slice(
                    lambda db, ledger: erase_begun((db, ledger), after), destroys=True
                )
            case FreedSpace():
                return await self._slice(lambda db, _: give_back(db), destroys=False)
            case _:
                assert_never(rule)

    async def _slice(
        self, work: Callable[[sqlite3.Connection, LedgerDraft], Slice], *, destroys: bool
    ) -> Slice:
        unit = SliceUnit(work, destroys)
        await self._store.submit(unit)
        assert unit.made is not None
        return unit.made

    async def probe(self) -> None:
        """See ``Upkeep.probe``. Whoever asks while one is under way, or waits for its time, gets
        what that one finds.
        """
        if self._probing is None or self._probing.done():
            self._probing = asyncio.ensure_future(self._probe())
            self._probing.add_done_callback(
                lambda done: done.cancelled() or done.exception()
            )  # retrieved here: whoever asked may have gone
        await asyncio.shield(self._probing)

    async def _probe(self) -> None:
        now = asyncio.get_running_loop().time
        await asyncio.sleep(max(0.0, self._probed_at + PROBE_EVERY_S - now()))
        self._probed_at = now()
        self._store.check_files()
        await self._slice(_write, destroys=False)
        if self._store.folder is not None:
            await self._store.apart(partial(_find_room, self._store.folder))


def _write(db: sqlite3.Connection, _: LedgerDraft) -> Slice:
    db.execute("INSERT OR REPLACE INTO probes VALUES (1, ?)", (time.time_ns() // 1000,))
    return Slice(rows=1, after=None)


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0


def _find_room(folder: Path) -> None:
    """Write and sync a file that was not there, and take it away.

    It is written where the longer one of database and log ends: a limit on the size of files is met
    there, and nowhere before.

    Raises:
        StorageUnavailable: why that cannot be done.
    """
    file = folder / f"{PROBE}-{os.getpid()}"
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            at, left = max(_size(folder / name) for name in (FILE, WAL)), PROBE_BYTES
            while left:
                written = os.pwrite(descriptor, bytes(left), at)
                at, left = at + written, left - written
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
            file.unlink(missing_ok=True)
    except OSError as error:
        what = {
            errno.ENOSPC: "no room is left",
            errno.EFBIG: (
                "no file may grow any more: the limit on the size of this process's files is "
                "reached (`ulimit -f`)"
            ),
            errno.EMFILE: "no file can be opened any more",
            errno.ENFILE: "no file can be opened any more",
        }
        raise StorageUnavailable(
            f"{file.parent}: {what.get(error.errno or 0, error.strerror)}"
        ) from error
