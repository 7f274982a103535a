"""Erasure as SQLite carries it out: it holds the write lock, so what it looks through must not grow with the database, nor a slice with the subject."""

from __future__ import annotations

import sqlite3

import pytest

from ordain.ports.upkeep import Slice
from ordain.store.erasure import begin_erasure, erase_begun, erase_slice
from ordain.store.ledger import LedgerDraft
from ordain.store.schema import prepare
from ordain.store.slices import SLICE_BYTES, SLICE_ROWS
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.shapes.stored_journal import journal_of
from tests.unit.store.many import filled, said


@pytest.fixture
def db() -> sqlite3.Connection:
    """An empty store."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    prepare(made)
    return made


def slices(db: sqlite3.Connection, subject: int = 1) -> list[Slice]:
    """Every slice of an erasure, to its end."""
    made, after = list[Slice](), None
    while not made or after is not None:
        made.append(erase_slice((db, LedgerDraft()), subject, after))
        after = made[-1].after
    return made


def test_an_erasure_looks_through_no_table(db: sqlite3.Connection) -> None:
    """Whatever belongs to a subject is found by index, however much others have."""
    filled(db, runs=3, records=2)
    said(db, session=1, subject=1, entries=2)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    begin_erasure(db, {"workspace": "w", "session": "s1", "at": 1}, LedgerDraft())
    slices(db)
    db.set_trace_callback(None)
    assert len(statements) > 20
    looks = [step[3] for statement in statements for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert [look for look in looks if look.startswith("SCAN") and look not in {"SCAN CONSTANT ROW", "SCAN erasures"}] == []


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("runs", "records"), [(700, 2), (1, 3000), (3000, 0)])
def test_a_slice_is_bounded_in_rows(db: sqlite3.Connection, runs: int, records: int, rows: bool) -> None:
    """Neither many runs nor a long one make a slice longer; in the end nothing is left, and every row was counted once."""
    filled(db, runs=runs, records=records, rows=rows)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    before, most, after, emptied = db.total_changes, 0, None, 0
    while True:
        made: Slice = erase_slice((db, LedgerDraft()), 1, after)
        most, before, emptied, after = max(most, db.total_changes - before), db.total_changes, emptied + made.rows, made.after
        if after is None:
            break
    assert most <= SLICE_ROWS + 4
    assert emptied == runs * records
    assert journal_of(db).execute("SELECT count(*) FROM journal WHERE body IS NOT NULL").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM erasures").fetchone() == (0,)


def test_a_slice_is_bounded_in_bytes(db: sqlite3.Connection) -> None:
    """Large content goes a few values at a time; one that alone is larger than a slice goes by itself."""
    filled(db, runs=1, records=7, size=SLICE_BYTES // 2)
    filled(db, runs=1, records=1, size=3 * SLICE_BYTES, first=2)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    assert [made.rows for made in slices(db)][:4] == [2, 2, 2, 2]


def test_what_was_cut_off_is_ended_by_whoever_comes_next(db: sqlite3.Connection) -> None:
    """Erasures stand in the store until their last slice; the next process finds all that were begun, and none after that."""
    filled(db, runs=600, records=2)
    filled(db, runs=1, records=2, first=601, subject=2)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    begin_erasure(db, {"run": "r601", "at": 2}, LedgerDraft())
    erase_slice((db, LedgerDraft()), 1, None)
    emptied, after = 0, None
    while True:
        made = erase_begun((db, LedgerDraft()), after)
        emptied, after = emptied + made.rows, made.after
        if after is None:
            break
    assert journal_of(db).execute("SELECT count(*) FROM journal WHERE body IS NOT NULL").fetchone() == (0,)
    assert (emptied, erase_begun((db, LedgerDraft()), None)) == (1202 - SLICE_ROWS, Slice(rows=0, after=None))


def test_a_subject_that_is_not_being_erased_is_left_alone(db: sqlite3.Connection) -> None:
    """Slices destroy nothing where the key was not destroyed before."""
    filled(db, runs=1, records=2)
    assert erase_slice((db, LedgerDraft()), 1, None) == Slice(rows=0, after=None)
    assert journal_of(db).execute("SELECT count(*) FROM journal WHERE body IS NOT NULL").fetchone() == (2,)


def test_nobody_reads_what_is_not_destroyed_yet() -> None:
    """With the key gone every read is without content: a run's records, those after one, and a transcript's entries."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    filled(store._db, runs=1, records=3)
    before = store.stored("r1")
    assert before is not None
    assert all(record.body for record in before.records)
    begin_erasure(store._db, {"run": "r1", "at": 1}, LedgerDraft())
    stored = store.stored("r1")
    assert stored is not None
    assert [record.body for record in (*stored.records, *store.records_after("r1", -1))] == [None] * 6
    assert [record.chain for record in stored.records] == [record.chain for record in before.records]
    journal_of(store)
    assert store.query("SELECT count(*) FROM journal WHERE body IS NOT NULL") == [(3,)]
    store.close()
