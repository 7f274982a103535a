"""Erasure as SQLite carries it out: it holds the write lock, so what it looks through must not grow
with the database, nor a slice with the subject.
"""

from __future__ import annotations

import sqlite3

import pytest

from ordain.journal.ledger import LedgerFold, items_of
from ordain.ports.upkeep import Slice
from ordain.store import slices as bounds
from ordain.store.approvals import SqliteApprovals
from ordain.store.erasure import begin_erasure, erase_begun, erase_slice
from ordain.store.ledger import LedgerDraft, begin_ledger, ledger_rows, standing_items
from ordain.store.schema import prepare
from ordain.store.sessions import SqliteSessions
from ordain.store.slices import SLICE_BYTES, SLICE_ROWS
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.shapes.stored_journal import journal_of
from tests.unit.store.many import filled, said


@pytest.fixture
def db(monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    """An empty store, in which no slice ends because time passes."""
    monkeypatch.setattr(bounds, "SLICE_S", 3600)
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
    looks = [
        step[3]
        for statement in statements
        for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert [
        look
        for look in looks
        if look.startswith("SCAN") and look not in {"SCAN CONSTANT ROW", "SCAN erasures"}
    ] == []


def talked(db: sqlite3.Connection, turns: int) -> None:
    """A session in which so many turns have ended: each with a thread, a request id and something
    approved.
    """
    filled(db, runs=turns, records=1)
    said(db, session=1, subject=1, entries=turns)
    db.executemany(
        "INSERT INTO threads VALUES (1, ?, 'done', 'said', ?, NULL, '{}', NULL, 1)",
        [(n, f"r{n}") for n in range(1, turns + 1)],
    )
    db.executemany(
        "INSERT INTO requests VALUES ('w', ?, 'digest', ?)",
        [(f"q{n}", n) for n in range(1, turns + 1)],
    )
    db.executemany(
        "INSERT INTO approvals(id, workspace, run, root, addr, session, thread, subject, tier, "
        "digest, workflow, asked_at, expires_at, state,"
        " decided_at, decided_by, granted, claimed_by, claimed_at)"
        " VALUES (?, 'w', ?, ?, 1, 1, ?, 'call', 'notify', 'd', '', 1, 2, 'approved', 1, 'ben', "
        "'', 'cleo', 1)",
        [(f"a{n}", n, n, n) for n in range(1, turns + 1)],
    )


def standing(db: sqlite3.Connection) -> LedgerFold:
    """What the ledger says has to stand, after it was held to what does."""
    fold = LedgerFold()
    for row in ledger_rows(db):
        fold.take(row)
    assert [found for item in standing_items(db) for found in fold.differing(item)] == []
    assert list(fold.missing()) == []
    return fold


def test_the_first_commit_does_not_grow_with_what_there_is(db: sqlite3.Connection) -> None:
    """However long a session was talked in, the commit that ends all reading of it changes as many
    rows, and says as much on the ledger.
    """

    def costs(turns: int) -> tuple[int, int]:
        one = sqlite3.connect(":memory:", isolation_level=None)
        prepare(one)
        talked(one, turns)
        ledger, before = LedgerDraft(), one.total_changes
        begin_erasure(one, {"workspace": "w", "session": "s1", "at": 1}, ledger)
        changed = one.total_changes - before
        ledger.write(one)
        (row,) = one.execute("SELECT items FROM ledger ORDER BY no DESC LIMIT 1").fetchone()
        return changed, len(items_of(row))

    assert costs(300) == costs(3)


def test_a_session_is_erased_under_its_ledger(db: sqlite3.Connection) -> None:
    """After the first commit and after each slice the ledger holds; no slice changes more than its
    rows, and in the end no word and no name is left.
    """
    talked(db, 400)
    begin_ledger(db, 1)
    standing(db)
    ledger = LedgerDraft()
    begin_erasure(db, {"workspace": "w", "session": "s1", "at": 1}, ledger)
    ledger.write(db)
    standing(db)
    after, most = None, 0
    while True:
        before = db.total_changes
        after = erase_slice((db, ledger), 1, after).after
        most = max(most, db.total_changes - before)
        ledger.write(db)
        standing(db)
        if after is None:
            break
    assert most <= SLICE_ROWS + 8
    assert db.execute(
        "SELECT count(*) FROM threads WHERE intent <> '' OR coalesce(asked, slots, last_error) IS "
        "NOT NULL"
    ).fetchone() == (0,)
    assert db.execute(
        "SELECT count(*) FROM approvals WHERE decided_by <> '' OR claimed_by <> ''"
    ).fetchone() == (0,)
    assert db.execute(
        "SELECT count(*) FROM requests WHERE request_id NOT LIKE 'erased:%'"
    ).fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM erasures").fetchone() == (0,)


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("runs", "records"), [(700, 2), (1, 3000), (3000, 0)])
def test_a_slice_is_bounded_in_rows(
    db: sqlite3.Connection, runs: int, records: int, rows: bool
) -> None:
    """Neither many runs nor a long one make a slice longer; in the end nothing is left, and every
    row was counted once.
    """
    filled(db, runs=runs, records=records, rows=rows)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    before, most, after, emptied = db.total_changes, 0, None, 0
    while True:
        made: Slice = erase_slice((db, LedgerDraft()), 1, after)
        most, before, emptied, after = (
            max(most, db.total_changes - before),
            db.total_changes,
            emptied + made.rows,
            made.after,
        )
        if after is None:
            break
    assert most <= SLICE_ROWS + 4
    assert emptied == runs * records
    assert journal_of(db).execute(
        "SELECT count(*) FROM journal WHERE body IS NOT NULL"
    ).fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM erasures").fetchone() == (0,)


def test_a_slice_is_bounded_in_time(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time is over at once each slice still passes a row, and in the end nothing is left."""
    monkeypatch.setattr(bounds, "SLICE_S", -1)
    filled(db, runs=5, records=4)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    made = slices(db)
    assert (max(one.rows for one in made), sum(one.rows for one in made)) == (1, 20)
    assert journal_of(db).execute(
        "SELECT count(*) FROM journal WHERE body IS NOT NULL"
    ).fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM erasures").fetchone() == (0,)


def test_a_slice_is_bounded_in_bytes(db: sqlite3.Connection) -> None:
    """Large content goes a few values at a time; one that alone is larger than a slice goes by
    itself.
    """
    filled(db, runs=1, records=7, size=SLICE_BYTES // 2)
    filled(db, runs=1, records=1, size=3 * SLICE_BYTES, first=2)
    begin_erasure(db, {"run": "r1", "at": 1}, LedgerDraft())
    assert [made.rows for made in slices(db)][:4] == [2, 2, 2, 2]


def test_what_was_cut_off_is_ended_by_whoever_comes_next(db: sqlite3.Connection) -> None:
    """Erasures stand in the store until their last slice; the next process finds all that were
    begun, and none after that.
    """
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
    assert journal_of(db).execute(
        "SELECT count(*) FROM journal WHERE body IS NOT NULL"
    ).fetchone() == (0,)
    assert (emptied, erase_begun((db, LedgerDraft()), None)) == (
        1202 - SLICE_ROWS,
        Slice(rows=0, after=None),
    )


def test_a_subject_that_is_not_being_erased_is_left_alone(db: sqlite3.Connection) -> None:
    """Slices destroy nothing where the key was not destroyed before."""
    filled(db, runs=1, records=2)
    assert erase_slice((db, LedgerDraft()), 1, None) == Slice(rows=0, after=None)
    assert journal_of(db).execute(
        "SELECT count(*) FROM journal WHERE body IS NOT NULL"
    ).fetchone() == (2,)


def test_nobody_reads_what_is_not_destroyed_yet() -> None:
    """With the key gone every read is without content: a run's records, those after one, and a
    transcript's entries.
    """
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    filled(store._db, runs=1, records=3)
    before = store.stored("r1")
    assert before is not None
    assert all(record.body for record in before.records)
    begin_erasure(store._db, {"run": "r1", "at": 1}, LedgerDraft())
    stored = store.stored("r1")
    assert stored is not None
    assert [record.body for record in (*stored.records, *store.records_after("r1", -1))] == [
        None
    ] * 6
    assert [record.chain for record in stored.records] == [
        record.chain for record in before.records
    ]
    journal_of(store)
    assert store.query("SELECT count(*) FROM journal WHERE body IS NOT NULL") == [(3,)]
    store.close()


async def test_nobody_reads_of_a_session_what_is_not_destroyed_yet() -> None:
    """With the key gone no thread says what it was about, and no approval who decided it or looked
    at it.
    """
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    talked(store._db, 2)

    async def words() -> list[tuple[str, str]]:
        (session,) = await SqliteSessions(store).sessions("w", limit=9, before=None)
        threads = await SqliteSessions(store).threads("w", session.id, limit=9)
        approvals = await SqliteApprovals(store).approvals(
            "w", states=(), session="", limit=9, before=None
        )
        return [
            *((thread.intent, str(thread.slots)) for thread in threads),
            *((row.decided_by, row.claimed_by) for row in approvals),
        ]

    assert await words() == [("said", "{}")] * 2 + [("ben", "cleo")] * 2
    begin_erasure(store._db, {"workspace": "w", "session": "s1", "at": 1}, LedgerDraft())
    assert await words() == [("", "{}")] * 2 + [("", "")] * 2
    assert store.query("SELECT count(*) FROM threads WHERE intent = 'said'") == [(2,)]
    store.close()
