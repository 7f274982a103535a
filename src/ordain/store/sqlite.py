"""JournalStore over SQLite: WAL, ``synchronous=FULL``, one writing connection, one reading.

The process that drives runs holds the lock on the data folder and an epoch in table ``engine``;
every batch checks the epoch, so that an engine that lost its lease cannot commit. Others open the
store as guests: they read, and may write mail.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ordain.errors import ConfigurationError, JournalCorrupt, OrdainError, StorageUnavailable
from ordain.journal.records import Record
from ordain.own_process import OwnFile, close_at_end
from ordain.ports.store import Change, Mail, Outcome, StoredRun, Unit
from ordain.ports.writes import RowTable
from ordain.store import schema
from ordain.store.damage import UNREAD, failed
from ordain.store.elsewhere import POLL_S, Elsewhere
from ordain.store.folder import (
    FILE,
    OLDER_SERVED,
    FileWatch,
    at_once,
    check_in_use,
    configure,
    configure_reader,
    connect,
    copy_whole,
    fsync_median_s,
    needed_log,
    take_lease,
    why_not,
)
from ordain.store.folder_lock import (
    missing_log,
    name_holder,
    note_closed,
    release_lock,
    served,
    take_lock,
    tell_gone,
)
from ordain.store.ledger import cover_all
from ordain.store.library_units import LIBRARY_OPERATIONS
from ordain.store.operations import OPERATIONS
from ordain.store.posted_mail import Mailboxes
from ordain.store.slices import SliceUnit
from ordain.store.stored_runs import StoredRuns
from ordain.store.tables import make_tables
from ordain.store.transaction import Transaction
from ordain.store.units import Applier
from ordain.store.unknown_ends import UnknownEnds
from ordain.store.writer import Writer

T = TypeVar("T")
LOG = logging.getLogger("ordain.store")
THREAD_ABOVE_S = 0.002


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreOptions:
    """How to open: ``holder`` None is a guest; ``lock`` False is for tests of the fence beneath it;
    ``threaded`` None measures.

    ``tables`` hold what an embedder's shared decisions keep.
    """

    holder: str | None = None
    lock: bool = True
    threaded: bool | None = None
    tables: tuple[RowTable, ...] = ()


class SqliteStore:
    """The embedded journal store; ``folder`` None keeps everything in memory."""

    def __init__(self, folder: Path | None, options: StoreOptions | None = None) -> None:
        """Open, make tables where there are none, and take the lease if a holder is named.

        Raises:
            StorageUnavailable: the folder or file cannot be opened, or another engine holds the
                lock.
            ConfigurationError: the database is newer than this build or not ours; or older, and a
                build that knows no better serves it (``older_schema``).
            JournalCorrupt: what it says of the engine before cannot stand there.
        """
        options = options or StoreOptions()
        self.folder = folder
        self._lock: OwnFile | None = None
        self._memory = folder is None
        self._file = "the database in memory" if folder is None else folder / FILE
        self._unlogged = "" if folder is None else missing_log(folder)
        if folder is not None and options.holder is not None and options.lock:
            self._lock = take_lock(folder)
        try:
            if folder is not None:
                check_in_use(folder)
            self._db = connect(folder, guest=options.holder is None)
            reading_only = (
                folder is not None
                and options.holder is None
                and not os.access(folder / FILE, os.W_OK)
            )
            if reading_only:
                schema.read_only(self._db)
            else:
                if (
                    folder is not None
                    and options.holder is None
                    and 0 < schema.check(self._db) < schema.VERSION
                    and served(folder)
                ):
                    raise ConfigurationError(OLDER_SERVED % folder, code="older_schema")
                schema.prepare(self._db)
                configure(self._db)
            if options.holder is not None:
                cover_all(self._db)
            self.engine = take_lease(self._db, options.holder) if options.holder is not None else 0
            if self._lock is not None:
                name_holder(self._lock)
            self.fsync_s = (
                0.0 if folder is None or options.holder is None else fsync_median_s(folder)
            )
            threaded = not self._memory and (
                self.fsync_s > THREAD_ABOVE_S if options.threaded is None else options.threaded
            )
            # Where the loop commits it also reads there: another connection would read its pages
            # from the file again after each commit.
            self._reads = configure(connect(folder)) if threaded and not reading_only else self._db
            at_once(self._db)
            at_once(self._reads)
            self.writer = self._writer(options, threaded=threaded)
        except (sqlite3.Error, OSError) as error:
            self._release()
            raise self._unopened(error) from error
        except OrdainError:
            self._release()
            raise
        if self._unlogged and folder is not None:
            tell_gone(folder, self._unlogged, options.holder)
        self._elsewhere, self._closed = Elsewhere(self._reads, self.writer, self._forget), False
        self._runs, self._unknown = StoredRuns(self.query, self._reads), UnknownEnds(self.query)
        self._apart: tuple[sqlite3.Connection, ThreadPoolExecutor] | None = None
        self._watch = None if folder is None or reading_only else FileWatch.of(folder)
        close_at_end(self)

    def _writer(self, options: StoreOptions, *, threaded: bool) -> Writer:
        transaction = Transaction(self._db, self.engine, make_tables(self._db, options.tables))
        self._mailboxes = Mailboxes(self._reads, transaction.ledger.put)
        self.fresh, self._forget = transaction.fresh, transaction.forget
        self.spoken = None if threaded else transaction.spoken
        applier = Applier(transaction, {**OPERATIONS, **LIBRARY_OPERATIONS})
        return Writer(transaction, applier, self.engine, threaded=threaded)

    def submit(self, unit: Unit | SliceUnit) -> asyncio.Future[Outcome]:
        """See ``JournalStore.submit``."""
        return self.writer.submit(unit)

    def listen(self, heard: Callable[[Change], None]) -> None:
        """See ``JournalStore.listen``; what other processes did is noticed by ``poll``."""
        self.writer.listen(heard)

    async def poll(self) -> None:
        """For ever: notice commits of other processes and announce the runs that have mail from
        them, or that they opened.
        """
        if not self._memory:
            self.writer.own_entries = set()
        while True:
            with suppress(
                sqlite3.OperationalError, StorageUnavailable
            ):  # locked, unreadable, lost: the next look may see more, and must come
                self.check_files()
                with self.reads():
                    self._elsewhere.look()
            await asyncio.sleep(POLL_S)

    async def load(self, runs: Sequence[str]) -> Mapping[str, StoredRun | JournalCorrupt]:
        """See ``JournalStore.load``."""
        return self._runs.load(runs)

    def stored(self, run: str) -> StoredRun | None:
        """One run at once. Raises as ``query``.

        Raises:
            JournalCorrupt: it cannot be read.
        """
        return self._runs.stored(run)

    def below(self, runs: Sequence[str], records: int) -> Sequence[str]:
        """See ``StoredRuns.below``."""
        return self._runs.below(runs, records)

    def records_after(self, run: str, after: int) -> Sequence[Record]:
        """See ``StoredRuns.records_after``."""
        return self._runs.records_after(run, after)

    async def mail(self, run: str) -> Sequence[Mail]:
        """See ``JournalStore.mail``."""
        return self.untaken(run)

    async def unknown_beside(self, run: str) -> Sequence[str]:
        """See ``JournalStore.unknown_beside``."""
        return await self._unknown.beside(run)

    def untaken(self, run: str) -> Sequence[Mail]:
        """As ``mail``, at once."""
        if (found := self.sent(run))[1] is not None:
            raise found[1]
        return found[0]

    def sent(self, run: str) -> tuple[Sequence[Mail], JournalCorrupt | None]:
        """A run's untaken mail that somebody sent, and what is wrong with the rest of it. Raises as
        ``query``.
        """
        try:
            return self._mailboxes.of(run)
        except sqlite3.DatabaseError as error:
            raise self.unread(error) from error

    async def catalog(self, digest: str) -> bytes | None:
        """See ``JournalStore.catalog``."""
        return self.kept_catalog(digest)

    def kept_catalog(self, digest: str) -> bytes | None:
        """As ``catalog``, at once."""
        rows = self.query("SELECT bytes FROM catalogs WHERE digest = ?", (digest,))
        return rows[0][0] if rows else None

    def reader(self) -> sqlite3.Connection | None:
        """A further reading connection, for one thread that reads at length; None where everything
        is in memory. The caller closes it.

        Raises:
            StorageUnavailable: why it cannot be opened.
        """
        if self._memory or self.folder is None:
            return None
        try:
            connection = connect(self.folder, guest=True)
            schema.read_only(connection)
            return configure_reader(connection)
        except (sqlite3.Error, OSError) as error:
            raise self._unopened(error) from error

    async def apart(self, work: Callable[[], T]) -> T:
        """What takes long and asks no connection of the loop's, in the store's own thread."""
        return await asyncio.get_running_loop().run_in_executor(self._beside()[1], work)

    async def read_apart(self, read: Callable[[sqlite3.Connection], T]) -> T:
        """What reads at length, in the store's own thread with a connection of its own; in memory,
        where there is but one, here.

        Raises:
            StorageUnavailable: it cannot be read now.
        """
        try:
            if self._memory:
                return read(self._db)
            return await self.apart(lambda: read(self._beside()[0]))
        except sqlite3.Error as error:
            raise self.unread(error) from error

    def _beside(self) -> tuple[sqlite3.Connection, ThreadPoolExecutor]:
        if self._apart is None:
            self._apart = self.reader() or self._db, ThreadPoolExecutor(1, "ordain-reads")
        return self._apart

    def check_files(self) -> None:
        """Refuse every write from now on where database or log is not the file that was opened;
        what the log holds is saved where that can be.

        Raises:
            StorageUnavailable: it is not.
        """
        if (
            self._watch is None
            or not (name := self._watch.lost(lambda: needed_log(self._reads)))
            or self.folder is None
        ):
            return
        if self.writer.refusal is None:
            message = (
                f"{self.folder / name} was taken away, replaced or cut while it was in use: "
                "nothing is written any more; "
            )
            saved = self.writer.cease(
                StorageUnavailable(
                    message + "stop this process, and look at the folder before the next start"
                )
            )
            kept = (
                "all that was acknowledged was saved into"
                if name != FILE and saved
                else "what was acknowledged may be missing from"
            )
            LOG.error("%s%s %s", message, kept, self.folder / FILE)
        assert self.writer.refusal is not None
        raise self.writer.refusal

    def tell_address(self, address: str) -> None:
        """Have whoever finds the folder locked told where its holder listens."""
        if self._lock is not None:
            name_holder(self._lock, address)

    @property
    def reading(self) -> sqlite3.Connection:
        """For ``store.library``, which says what its errors mean: the connection to read on. Where
        the writer has a thread it is another than the writer's.
        """
        return self._reads

    def query(
        self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()
    ) -> list[tuple[Any, ...]]:
        """Read-only SQL for ``store.search`` and backup checks.

        Raises:
            StorageUnavailable: it cannot be read now.
        """
        try:
            return self._reads.execute(sql, parameters).fetchall()
        except sqlite3.DatabaseError as error:
            raise self.unread(error) from error

    @contextmanager
    def reads(self) -> Generator[sqlite3.Connection]:
        """The connection that reads, and writes nothing. Raises as ``query``."""
        try:
            yield self._reads
        except sqlite3.DatabaseError as error:
            raise self.unread(error) from error

    def unread(self, error: sqlite3.Error, said: str = UNREAD) -> StorageUnavailable:
        """What an error of a read means."""
        return failed(error, self._file, said)

    def _unopened(self, error: Exception) -> StorageUnavailable:
        return failed(
            error,
            self._file,
            f"cannot open {self._file}",
            whole="" if self.folder is None else why_not(self.folder, error),
        )

    def damage(self) -> str:
        """What SQLite finds wrong with the whole file, "" where that is nothing. Raises as
        ``query``.
        """
        ((found, *_), *_) = self.query("PRAGMA integrity_check")
        return "" if found == "ok" else str(found)

    def backup(self, file: Path) -> None:
        """Write a consistent copy while the engine runs; refuses to overwrite.

        Raises:
            ConfigurationError: the file exists.
            StorageUnavailable: there is no room for it (``no_room``); or as ``query``.
        """
        with self.reads() as db:
            copy_whole(db, file)

    def close(self) -> None:
        """See ``JournalStore.close``."""
        if self._closed:
            return
        self._closed = True
        if self._apart is not None:
            self._apart[1].shutdown()
            if self._apart[0] is not self._db:
                self._apart[0].close()
        self.writer.close()
        self.close_files()

    def close_files(self) -> None:
        """See ``own_process.Closing``; what is queued is not written."""
        self._closed = True
        self._db.close()
        self._reads.close()
        if self.folder is not None and (self._lock is not None or not self._unlogged):
            # what a guest told, an engine's start tells, too
            note_closed(self.folder, self._lock)
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            release_lock(self._lock)
            self._lock = None
