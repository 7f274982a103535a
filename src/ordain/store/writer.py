"""The one writer: units in, in order; a batch per tick, each unit whole or not at all; nothing is
told before it is durable.

On fast storage the batch commits on the loop's own thread (no hop); where an fsync takes long, in
one writer thread. Both modes pass the same suites.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from msgspec import Struct

from ordain.errors import EngineLost, OrdainError, RunLost, StorageUnavailable
from ordain.one_loop import OneLoop
from ordain.ports.sessions import Entry
from ordain.ports.store import Change, Outcome, Unit
from ordain.store.checkpoints import Checkpoints
from ordain.store.damage import failed, file_of
from ordain.store.slices import SliceUnit
from ordain.store.transaction import TouchedSession, Transaction, UnitRefused
from ordain.store.units import Applier

BATCH = 512
BUSY_RETRY_S = 0.02
BUSY_TRIES = 250
UNITS_OWN = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.DataError,
)
"""Errors that the same statements meet again on the healthiest storage."""


class _Queued(Struct):
    unit: Unit | SliceUnit
    future: asyncio.Future[Outcome]


class _Busy(Exception):
    """The database is locked by somebody else; the batch goes back to the queue."""


class _Undone(Exception):
    """A unit is refused, or its own fault: so ends its transaction, with ``outcome`` for it."""

    def __init__(self, outcome: Outcome | OrdainError) -> None:
        super().__init__()
        self.outcome = outcome


class Writer:
    """Commits batches of units on one connection under one epoch."""

    def __init__(
        self, transaction: Transaction, applier: Applier, epoch: int, *, threaded: bool
    ) -> None:
        """``epoch`` 0 is a guest: it may post mail, and fences nothing.

        Raises:
            StorageUnavailable: the thread cannot be started.
        """
        self._db = transaction.db
        self._transaction = transaction
        self._applier = applier
        self._epoch = epoch
        self._queue: list[_Queued] = []
        self._scheduled = False
        self._undone = False
        self._busy_tries = 0
        self._checkpoints = Checkpoints(self._db)
        self._thread = _begun() if threaded else None
        self._committing = False
        self._in_flight: tuple[list[_Queued], Future[list[Outcome | OrdainError]]] | None = None
        self._closed = False
        self._home = OneLoop(moves=True)  # a guest holds nothing of a loop between its writes
        self._listeners: list[Callable[[Change], None]] = []
        self.commits = 0
        self.refusal: StorageUnavailable | None = None
        """Why nothing is written any more."""
        self.own_entries: set[int] | None = None
        """Rows of transcripts that were committed here and are announced; kept where somebody looks
        for those of other processes, who empties it.
        """

    def listen(self, heard: Callable[[Change], None]) -> None:
        """See ``JournalStore.listen``."""
        self._listeners.append(heard)

    def announce(self, change: Change) -> None:
        """Tell whoever listens."""
        for heard in self._listeners:
            heard(change)

    def submit(self, unit: Unit | SliceUnit) -> asyncio.Future[Outcome]:
        """Queue a unit for the next batch."""
        loop, elsewhere = self._home.asked()
        if loop is None:
            raise RuntimeError("a unit is submitted in an event loop, and none runs here")
        future: asyncio.Future[Outcome] = loop.create_future()
        if why := "the store is closed" if self._closed else elsewhere:
            future.set_exception(self._unwritten(why))
            future.exception()  # retrieved here: the caller may have gone
            return future
        self._queue.append(_Queued(unit, future))
        if not self._scheduled and not self._committing:
            self._scheduled = True
            loop.call_soon(self._flush)
        return future

    def _unwritten(self, why: str) -> OrdainError:
        """A copy of this process holds no run; another loop of it may not end what the engine does
        in its own.
        """
        return EngineLost(why) if self._home.copied else StorageUnavailable(why)

    def _flush(self) -> None:
        self._scheduled = False
        if self._committing or not self._queue:
            return
        batch, self._queue = self._queue[:BATCH], self._queue[BATCH:]
        if self._thread is None:
            try:
                self._done(batch, self._commit([queued.unit for queued in batch]))
            except _Busy:
                self._put_back(batch)
            except Exception as error:
                # the boundary of the loop's callback: nobody else would tell those who wait
                self._settle(batch, [self._failed(error)] * len(batch))
            self._again()
            return
        self._committing = True
        work = self._thread.submit(self._commit, [queued.unit for queued in batch])
        self._in_flight = batch, work
        work.add_done_callback(partial(self._told, asyncio.get_running_loop()))

    def _told(
        self, loop: asyncio.AbstractEventLoop, _: Future[list[Outcome | OrdainError]]
    ) -> None:
        with suppress(RuntimeError):  # the loop is closed; ``close`` settles what has landed
            loop.call_soon_threadsafe(self._threaded_done)

    def _threaded_done(self) -> None:
        self._landed()
        self._again()

    def _landed(self) -> None:
        """Settle what the thread has finished, once: the loop or ``close`` comes first."""
        if self._in_flight is None:
            return
        batch, work = self._in_flight
        self._in_flight, self._committing = None, False
        error = work.exception()
        if isinstance(error, _Busy):
            self._put_back(batch)
        elif error is not None:
            self._settle(batch, [self._failed(error)] * len(batch))
        else:
            self._done(batch, work.result())

    def _done(self, batch: list[_Queued], results: list[Outcome | OrdainError]) -> None:
        """Answer what was applied; what a lock cut short goes back to the queue, and nothing is
        applied twice.
        """
        self._settle(batch[: len(results)], results)
        if len(results) < len(batch):
            self._put_back(batch[len(results) :])

    def _again(self) -> None:
        if self._queue and not self._scheduled and not self._committing:
            self._scheduled = True
            loop = asyncio.get_running_loop()
            if self._busy_tries:
                loop.call_later(BUSY_RETRY_S, self._flush)
            else:
                loop.call_soon(self._flush)

    def _put_back(self, batch: list[_Queued]) -> None:
        self._busy_tries += 1
        if self._busy_tries > BUSY_TRIES:
            self._busy_tries = 0
            self._settle(
                batch,
                [StorageUnavailable("the database is locked by another process")] * len(batch),
            )
            return
        self._queue[:0] = batch

    def _settle(self, batch: list[_Queued], results: Sequence[Outcome | OrdainError]) -> None:
        self._busy_tries = 0
        for queued, result in zip(batch, results, strict=True):
            if queued.future.done():
                continue
            if isinstance(result, Outcome):
                queued.future.set_result(result)
            else:
                queued.future.set_exception(result)
                # retrieved here: a run that was evicted meanwhile does not await it
                queued.future.exception()
        touched, self._transaction.touched = self._transaction.touched, []
        sessions, self._transaction.touched_sessions = self._transaction.touched_sessions, []
        if touched or sessions:
            self.announce(_change(touched, sessions))
        if self.own_entries is not None:
            self.own_entries.update([one.row for one in sessions])

    def _commit(self, units: list[Unit | SliceUnit]) -> list[Outcome | OrdainError]:
        """One transaction for all; if it fails as a whole, one for each, up to a lock: fewer
        results than units then.

        Raises:
            _Busy: a lock before anything was applied.
        """
        if self.refusal is not None:
            return [self.refusal] * len(units)
        if self._home.copied:
            # what was queued when the process was copied is written by the one that it was copied
            # from
            return [EngineLost(self._home.elsewhere())] * len(units)
        try:
            results = self._in_one(units)
        except _Busy:
            raise
        except (sqlite3.Error, OrdainError, MemoryError, OSError) as error:
            if len(units) == 1:
                return [self._failed(error)]
            return self._one_by_one(units)
        self._checkpoints.after(units, results)
        return results

    def _one_by_one(self, units: list[Unit | SliceUnit]) -> list[Outcome | OrdainError]:
        results: list[Outcome | OrdainError] = []
        for unit in units:
            try:
                results += self._commit([unit])
            except _Busy:
                if not results:
                    raise
                break
        return results

    def _in_one(self, units: list[Unit | SliceUnit]) -> list[Outcome | OrdainError]:
        """One transaction for all. Hardly any unit is undone by itself, so that none has a savepoint
        until one is: then its batch is applied anew, and the next one at once, with one for each.
        """
        if not self._undone or len(units) == 1:
            try:
                return self._transacted(units, self._applied)
            except _Undone as undone:
                if len(units) == 1:
                    return [undone.outcome]
        self._undone = False
        return self._transacted(units, self._savepoint)

    def _transacted(
        self,
        units: list[Unit | SliceUnit],
        apply: Callable[[Unit | SliceUnit], Outcome | OrdainError],
    ) -> list[Outcome | OrdainError]:
        db = self._db
        mark = self._transaction.mark()
        try:
            db.execute("BEGIN IMMEDIATE")
            self._fence()
            results = [apply(unit) for unit in units]
            self._transaction.ledger.write(db)
            db.execute("COMMIT")
        except BaseException as error:
            # whatever broke, the transaction is undone before it goes on
            self._transaction.back_to(mark)
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode in {
                sqlite3.SQLITE_BUSY,
                sqlite3.SQLITE_LOCKED,
            }:
                raise _Busy from None
            raise
        self._transaction.ledger.committed()
        self.commits += 1
        return results

    def _fence(self) -> None:
        if self._epoch:
            row = self._db.execute("SELECT epoch FROM engine").fetchone()
            if row is None or row[0] != self._epoch:
                raise EngineLost("another engine holds this store now")

    def _applied(self, unit: Unit | SliceUnit) -> Outcome:
        try:
            return self._applier.apply(unit)
        except Exception as error:
            # the unit's own fault must not take its batch mates with it; the storage's fails them
            # all
            if isinstance(error, sqlite3.Error | MemoryError) and not isinstance(error, UNITS_OWN):
                raise
            raise _Undone(
                Outcome(refused=error.code)
                if isinstance(error, UnitRefused)
                else self._failed(error)
            ) from None

    def _savepoint(self, unit: Unit | SliceUnit) -> Outcome | OrdainError:
        db = self._db
        mark = self._transaction.mark()
        db.execute("SAVEPOINT unit")
        try:
            outcome: Outcome | OrdainError = self._applied(unit)
        except _Undone as undone:
            self._undone, outcome = True, undone.outcome
            self._transaction.back_to(mark)
            db.execute("ROLLBACK TO unit")
        db.execute("RELEASE unit")
        return outcome

    def _failed(self, error: BaseException) -> OrdainError:
        if isinstance(error, OrdainError):
            return error
        if isinstance(error, sqlite3.IntegrityError):
            return RunLost(f"the journal has moved on: {error}")
        if isinstance(error, MemoryError):
            return StorageUnavailable("no memory is left to write with")
        if isinstance(error, OSError) or (
            isinstance(error, sqlite3.Error) and not isinstance(error, UNITS_OWN)
        ):
            return failed(error, file_of(self._db), "storage refused a write")
        return OrdainError(f"the unit cannot be applied: {type(error).__name__}: {error}")

    def cease(self, refusal: StorageUnavailable) -> bool:
        """Refuse everything from now on; whether the log could be brought into the database before.
        What is being committed is ended.
        """
        self.refusal = refusal
        if self._home.copied:
            return False
        try:
            if self._thread is not None:
                return self._thread.submit(self._checkpoints.empty_log).result()
            return self._checkpoints.empty_log()
        except RuntimeError:  # closed
            return False

    def close(self) -> None:
        """Write what is queued, then stop. What cannot be written fails with its error."""
        self._closed = True
        if self._thread is not None:
            self._thread.shutdown(wait=True)
            self._landed()
        while self._queue:
            batch, self._queue = self._queue[:BATCH], self._queue[BATCH:]
            try:
                self._done(batch, self._commit([queued.unit for queued in batch]))
            except _Busy:
                self._put_back(batch)
                time.sleep(BUSY_RETRY_S)  # the last chance, and nothing else runs here any more


def _change(runs: Sequence[str], sessions: Sequence[TouchedSession]) -> Change:
    """What is announced of a commit."""
    told: dict[tuple[str, str], list[Entry]] = {}
    for one in sessions:
        if one.entry is not None:
            told.setdefault(one.place, []).append(one.entry)
    untold = [one.place for one in sessions if one.entry is None]
    grown = dict.fromkeys((*told, *untold))
    for place in untold:
        told.pop(place, None)
    return Change(runs=tuple(dict.fromkeys(runs)), sessions=tuple(grown), told=told)


def _begun() -> ThreadPoolExecutor:
    """The one thread, which runs already: a batch that could not start it would neither be written
    nor told so.
    """
    thread = ThreadPoolExecutor(1, "ordain-writer")
    try:
        thread.submit(int)
    except RuntimeError as error:
        raise StorageUnavailable(f"no thread can be started to write with: {error}") from error
    return thread
