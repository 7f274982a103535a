"""Retention as SQLite carries it out: a slice is bounded whatever there is to sweep, and where
there is nothing, nothing is looked at.
"""

from __future__ import annotations

import sqlite3

import pytest

from ordain.ports.upkeep import EndedPeriods, OldContent, Reached, Slice, UpkeepRule
from ordain.store import slices as bounds
from ordain.store.ledger import LedgerDraft
from ordain.store.retention import PAGES, drop_periods, give_back, sweep_content
from ordain.store.schema import prepare
from ordain.store.slices import SLICE_BYTES, SLICE_LOOKS, SLICE_ROWS
from tests.shapes.stored_journal import journal_of
from tests.unit.store.many import DAY, filled, said

VERBS = OldContent(content_class="verb", before=2 * DAY, at=3 * DAY)
INPUT = OldContent(content_class="input", before=2 * DAY, at=3 * DAY)
RESULT = OldContent(content_class="result", before=2 * DAY, at=3 * DAY)


@pytest.fixture
def db(monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    """An empty store, in which no slice ends because time passes."""
    monkeypatch.setattr(bounds, "SLICE_S", 3600)
    made = sqlite3.connect(":memory:", isolation_level=None)
    prepare(made)
    return made


def one(db: sqlite3.Connection, rule: UpkeepRule, after: Reached | None) -> Slice:
    ledger = LedgerDraft()
    return (
        sweep_content(db, ledger, rule, after)
        if isinstance(rule, OldContent)
        else drop_periods(db, ledger, rule, after)
    )  # type: ignore[arg-type]


def slices(db: sqlite3.Connection, rule: UpkeepRule = VERBS) -> list[tuple[int, int]]:
    """(rows, statements' changes) of every slice of a sweep."""
    made, after = list[tuple[int, int]](), None
    while True:
        before = db.total_changes
        ended = one(db, rule, after)
        made.append((ended.rows, db.total_changes - before))
        after = ended.after
        if after is None:
            return made


def held(db: sqlite3.Connection) -> int:
    return (
        journal_of(db)
        .execute(
            "SELECT (SELECT count(*) FROM journal WHERE body IS NOT NULL) + (SELECT count(*) FROM "
            "payloads WHERE bytes IS NOT NULL)"
        )
        .fetchone()[0]
    )


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize(("runs", "records"), [(1500, 1), (1, 1500), (40, 40)])
def test_a_slice_is_bounded_in_rows(
    db: sqlite3.Connection, runs: int, records: int, rows: bool
) -> None:
    """However the old content is spread over runs, all of it goes, and no slice changes more than
    its rows.
    """
    filled(db, runs=runs, records=records, rows=rows)
    made = slices(db)
    assert sum(rows for rows, _ in made) == runs * records
    assert max(changes for _, changes in made) <= SLICE_ROWS + 1
    assert held(db) == 0


def test_a_slice_is_bounded_in_bytes(db: sqlite3.Connection) -> None:
    """Large values go a few at a time; one that alone is larger than a slice goes by itself."""
    filled(db, runs=2, records=3, size=SLICE_BYTES // 2)
    filled(db, runs=1, records=1, size=2 * SLICE_BYTES, first=3)
    assert max(rows for rows, _ in slices(db)) == 2
    assert held(db) == 0


@pytest.mark.parametrize("rule", [VERBS, INPUT])
def test_a_slice_is_bounded_in_time(
    db: sqlite3.Connection, rule: OldContent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where time is over at once each slice still passes a row, and together they sweep what one
    without end would.
    """
    monkeypatch.setattr(bounds, "SLICE_S", -1)
    filled(db, runs=5, records=4)
    said(db, session=1, subject=1, entries=6)
    made = slices(db, rule)
    assert max(changes for _, changes in made) <= 3
    monkeypatch.setattr(bounds, "SLICE_S", 3600)
    assert sum(rows for rows, _ in made) == (20 if rule is VERBS else 6)
    assert slices(db, rule) == [(0, 0)]


def test_a_slice_is_bounded_in_what_it_looks_at(db: sqlite3.Connection) -> None:
    """Runs that hold nothing of the class are passed in slices, too."""
    filled(db, runs=3, records=SLICE_LOOKS)
    made = slices(db, INPUT)
    assert len(made) > 3
    assert sum(rows for rows, _ in made) == 0


def test_where_nothing_became_old_nothing_is_looked_at(db: sqlite3.Connection) -> None:
    """A sweep that is asked for again reads no run that it has passed, and writes nothing."""
    filled(db, runs=300, records=2)
    slices(db)
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    assert slices(db) == [(0, 0)]
    db.set_trace_callback(None)
    assert not [
        statement
        for statement in statements
        if "FROM records" in statement or "FROM sheets" in statement
    ]


def test_what_became_old_since_is_swept(db: sqlite3.Connection) -> None:
    """The next sweep goes on from where the last one stood; what is young stays."""
    filled(db, runs=10, records=2)
    filled(db, runs=10, records=2, first=11, ended_at=2 * DAY)
    assert sum(rows for rows, _ in slices(db)) == 20
    later = OldContent(content_class="verb", before=2 * DAY + 16, at=3 * DAY)
    assert sum(rows for rows, _ in slices(db, later)) == 10
    assert held(db) == 10


def test_a_sweep_that_was_cut_off_is_gone_on_with(db: sqlite3.Connection) -> None:
    """Whoever begins anew after a crash goes on within the run where the last slice ended."""
    filled(db, runs=2, records=SLICE_ROWS)
    assert sweep_content(db, LedgerDraft(), VERBS, None).rows == SLICE_ROWS
    assert sum(rows for rows, _ in slices(db)) == SLICE_ROWS
    assert held(db) == 0


def test_where_time_went_back_what_was_passed_is_looked_at_again(db: sqlite3.Connection) -> None:
    """A clock that was ahead, or days that policy made more, hide nothing from later sweeps."""
    filled(db, runs=2, records=1, ended_at=9 * DAY)
    slices(db, OldContent(content_class="verb", before=10 * DAY, at=10 * DAY))
    filled(db, runs=2, records=1, first=3, ended_at=DAY)
    assert sum(rows for rows, _ in slices(db)) == 2
    assert held(db) == 0


def test_what_was_said_is_found_by_what_still_holds_it(db: sqlite3.Connection) -> None:
    """Old entries of sessions where nothing is open go, those where a turn goes on stay until it is
    over; nothing else is looked through.
    """
    filled(db, runs=0, records=0)
    said(db, session=1, subject=1, entries=SLICE_ROWS + 50)
    said(db, session=2, subject=1, entries=3)
    db.execute("INSERT INTO turns VALUES (1, 'r1', 2, 1, 'live', 1)")
    db.execute(
        "INSERT INTO threads VALUES (1, 1, 'open', 'said', 'r1', NULL, NULL, NULL, ?), (2, 1, "
        "'open', 'said', 'r1', NULL, NULL, NULL, ?)",
        (DAY, DAY),
    )
    statements: list[str] = []
    db.set_trace_callback(statements.append)
    made = slices(db, INPUT)
    db.set_trace_callback(None)
    assert (len(made) > 1, sum(rows for rows, _ in made)) == (True, SLICE_ROWS + 50)
    assert db.execute(
        "SELECT session, count(*) FROM transcript WHERE body IS NOT NULL GROUP BY session"
    ).fetchall() == [(2, 3)]
    assert db.execute("SELECT session, intent FROM threads").fetchall() == [(1, ""), (2, "said")]
    looks = [
        step[3]
        for statement in statements
        for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
    ]
    assert [look for look in looks if look.startswith("SCAN")] == []
    assert all(
        f" INDEX {name}" in str(looks) for name in ("transcript_held", "threads_said", "runs_ended")
    ), looks
    db.execute("UPDATE turns SET state = 'over'")
    assert sum(rows for rows, _ in slices(db, INPUT)) == 3


def test_accounts_of_ended_periods_go_in_slices(db: sqlite3.Connection) -> None:
    """Days and months before the ones named go, whatever stands in the name; other kinds and later
    ones stay.
    """
    names = [f"session:s{number}:2026-01-{number % 28 + 1:02d}" for number in range(SLICE_ROWS * 2)]
    kept = [
        "day:2026-02-03",
        "session:a:b:2026-02-03",
        "agent:x:2026-02",
        "else:2025-01-01",
        "session:2026-13",
        "session:x",
    ]
    over = ["day:2026-01-30", "session:a:b:2026-02-02", "agent:x:2026-01"]
    db.executemany(
        "INSERT INTO accounts VALUES ('w', ?, 1, 1)", [(name,) for name in (*names, *kept, *over)]
    )
    made = slices(
        db, EndedPeriods(kinds=("day", "session", "agent"), before=("2026-02-03", "2026-02"))
    )
    assert len(made) == 3
    assert sum(rows for rows, _ in made) == len(names) + len(over)
    assert {name for (name,) in db.execute("SELECT name FROM accounts")} == set(kept)


def test_room_is_given_back_in_slices(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A new store's file shrinks by so many pages at a time until nothing in it is free."""
    db = sqlite3.connect(tmp_path_factory.mktemp("room") / "file.db", isolation_level=None)
    prepare(db)
    filled(db, runs=PAGES * 3, records=1, size=4100)
    db.execute("UPDATE payloads SET bytes = NULL")
    (size,) = db.execute("PRAGMA page_count").fetchone()
    given = [give_back(db)]
    while given[-1].after is not None:
        given.append(give_back(db))
    assert len(given) >= 3
    assert max(each.rows for each in given) <= PAGES + 2
    assert db.execute("PRAGMA page_count").fetchone()[0] < size - PAGES * 2
    assert give_back(db) == Slice(rows=0, after=None)
    db.close()


def posted(db: sqlite3.Connection, *, runs: int, each: int, taken: bool) -> None:
    """For each run mail of its children and of people, and as many words that it told."""
    for run in range(1, runs + 1):
        for number in range(each):
            for kind in ("child", "answer"):
                db.execute(
                    "INSERT INTO mailbox(run, kind, addr, key, body, at, taken) VALUES "
                    '(?, ?, 0, ?, \'{"said": "Kestrel"}\', 1, ?)',
                    (run, kind, f"{kind} {number}", 1 if taken else None),
                )
            db.execute("INSERT INTO outbox VALUES (NULL, ?, ?, 'Kestrel', 1, NULL)", (run, number))


def left_beside(db: sqlite3.Connection) -> list[int]:
    """How much a person's words, a child's result and what was told still stand somewhere."""
    return [
        db.execute(f"SELECT count(*) FROM {place} LIKE '%Kestrel%'").fetchone()[0]
        for place in (
            "mailbox WHERE kind = 'answer' AND CAST(body AS TEXT)",
            "mailbox WHERE kind = 'child' AND CAST(body AS TEXT)",
            "outbox WHERE text",
        )
    ]


@pytest.mark.parametrize("taken", [False, True])
def test_what_stands_beside_a_run_goes_with_it(db: sqlite3.Connection, taken: bool) -> None:
    """What people said to it goes with what it was asked, what its children came to and what it
    told with its results; other classes touch neither, and young runs keep both. Mail that nobody
    took is on the ledger as it stands then.
    """
    filled(db, runs=2, records=2)
    filled(db, runs=1, records=2, first=3, ended_at=5 * DAY)
    posted(db, runs=3, each=2, taken=taken)
    slices(db)
    assert left_beside(db) == [6, 6, 6]
    ledger = LedgerDraft()
    assert sweep_content(db, ledger, INPUT, None).after is None
    assert left_beside(db) == [2, 6, 6]
    assert ledger.mark()[1] == (0 if taken else 4)
    slices(db, RESULT)
    assert left_beside(db) == [2, 2, 2]
    assert db.execute("SELECT DISTINCT body FROM mailbox WHERE run < 3").fetchall() == [(b"{}",)]


def test_what_stands_beside_is_swept_in_slices(db: sqlite3.Connection) -> None:
    """However much mail one run has; whoever begins anew goes on with it."""
    filled(db, runs=1, records=1)
    posted(db, runs=1, each=3 * SLICE_ROWS, taken=True)
    made = slices(db, RESULT)
    assert len(made) > 6
    assert max(changes for _, changes in made) <= SLICE_ROWS + 1
    assert left_beside(db) == [3 * SLICE_ROWS, 0, 0]


def test_what_builds_before_left_beside_is_swept(db: sqlite3.Connection) -> None:
    """They passed its run and left what stands beside it: it is passed once more."""
    filled(db, runs=2, records=2)
    posted(db, runs=2, each=1, taken=True)
    db.executemany(
        "INSERT INTO sweeps VALUES (?, ?, 2, -1)", [("input", DAY + 2), ("result", DAY + 2)]
    )
    slices(db, INPUT)
    slices(db, RESULT)
    assert left_beside(db) == [0, 0, 0]
    assert slices(db, INPUT) == slices(db, RESULT) == [(0, 0)]
