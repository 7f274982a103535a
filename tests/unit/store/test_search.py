"""Searching runs: by status each is found by its index, however many others there are, and what
comes back is what a look at all would give.
"""

from __future__ import annotations

from itertools import product

import pytest

from ordain.journal.records import STOPPED, Status
from ordain.store.search import SqliteSearch
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.unit.store.many import filled, looks

STATUSES = [str(status) for status in Status]


@pytest.fixture
def search() -> SqliteSearch:
    """Runs of every status, some of them children, in two workspaces."""
    store = SqliteStore(None, StoreOptions(holder="test", lock=False))
    filled(store._db, runs=120, records=0)
    for number in range(1, 121):
        store._db.execute(
            "UPDATE runs SET status = ?, parent = ?, workspace = ? WHERE no = ?",
            (
                STATUSES[number * 7 % len(STATUSES)],
                1 if number % 3 == 0 else None,
                "w" if number % 2 else "v",
                number,
            ),
        )
    return SqliteSearch(store)


@pytest.mark.parametrize(
    ("statuses", "roots", "before", "workspace"),
    list(
        product(
            [(), ("faulted",), ("completed", "waiting", "completed"), tuple(STATUSES)],
            [False, True],
            [None, "r60", "r61"],
            [None, "w"],
        )
    ),
)
async def test_pages_are_those_of_all_runs(
    search: SqliteSearch,
    statuses: tuple[str, ...],
    roots: bool,
    before: str | None,
    workspace: str | None,
) -> None:
    """Newest first, of these statuses, whatever else is asked; none after a run of another
    workspace, which is as if there were none.
    """
    foreign = (before, workspace) == ("r60", "w")
    every = search._store.query(
        "SELECT id, no, status, parent, workspace FROM runs ORDER BY no DESC"
    )
    wanted = [
        row[0]
        for row in every
        if (not statuses or row[2] in statuses)
        and (not roots or row[3] is None or (statuses and row[2] in STOPPED))
        and (before is None or (row[1] < int(before[1:]) and not foreign))
        and (workspace is None or row[4] == workspace)
    ]
    found = await search.runs(
        statuses=statuses, roots_only=roots, limit=7, before=before, workspace=workspace
    )
    assert [row.id for row in found] == wanted[:7]


@pytest.mark.parametrize("part", ["r6", "0", "60", "r60", "r", "x", "%", "r_", "r60r60"])
async def test_runs_are_found_by_the_beginning_or_the_end_of_their_id(
    search: SqliteSearch, part: str
) -> None:
    """As text, no pattern; newest first, children too where they are asked for, and nothing of
    another workspace.
    """
    every = [
        row[0]
        for row in search._store.query("SELECT id FROM runs WHERE workspace = 'w' ORDER BY no DESC")
    ]
    wanted = [run for run in every if run.startswith(part) or run.endswith(part)]
    found = await search.runs(
        statuses=(), roots_only=False, limit=200, before=None, workspace="w", named=part
    )
    assert [row.id for row in found] == wanted


async def test_an_id_is_looked_for_in_the_index_of_ids(search: SqliteSearch) -> None:
    """The rows themselves are not read for it."""
    asked = search.runs(
        statuses=(), roots_only=False, limit=11, before=None, workspace="w", named="r6"
    )
    assert [look for look in await looks(search._store._db, asked) if look.startswith("SCAN")] == [
        "SCAN runs USING COVERING INDEX sqlite_autoindex_runs_1"
    ]


async def test_counts_are_of_all_runs(search: SqliteSearch) -> None:
    """By status, those that there are."""
    assert await search.counts() == dict(
        search._store.query("SELECT status, count(*) FROM runs GROUP BY status")
    )


async def test_nothing_is_looked_through(search: SqliteSearch) -> None:
    """Both go by the indices of runs by status."""
    found = await looks(
        search._store._db,
        search.counts(),
        search.runs(statuses=STATUSES, roots_only=True, limit=7, before="r60", workspace="w"),
    )
    assert [look for look in found if look.startswith("SCAN") or "TEMP B-TREE" in look] == []


@pytest.mark.parametrize("session", ["", "s"])
async def test_what_was_sent_is_looked_for_among_what_was_sent_alone(
    search: SqliteSearch, session: str
) -> None:
    """However many sessions there are and however much was said in them: SQLite would rather have
    gone through every session of the workspace.
    """
    found = await looks(search._store._db, search.sent("w", "digest", session=session, limit=20))
    assert found[0].startswith("SEARCH t USING INDEX transcript_sent (message_id>?")
    assert {look.partition(" USING ")[0] for look in found[1:]} == {
        "CORRELATED SCALAR SUBQUERY 1",
        "SEARCH s",
        "SEARCH u",
    }
    assert "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)" in found


async def test_what_a_run_began_as_is_found_without_the_rest_of_it(search: SqliteSearch) -> None:
    """Its flow and its first record; nothing of no run."""
    asked: list[str] = []
    search._store._db.set_trace_callback(asked.append)
    found = await search.beginning("r7")
    search._store._db.set_trace_callback(None)
    assert found is not None
    ((flow, version),) = search._store.query("SELECT flow, flow_version FROM runs WHERE id = 'r7'")
    assert (found.flow, found.version) == (flow, version)
    (opening,) = [
        row.opening
        for row in await search.runs(
            statuses=(), roots_only=False, limit=200, before=None, workspace=None
        )
        if row.id == "r7"
    ]
    assert found.opening == opening
    assert all("seq = 0" in one or "FROM runs" in one for one in asked)
    assert await search.beginning("nobody") is None


async def test_a_status_that_nobody_knows_never_reaches_a_statement(search: SqliteSearch) -> None:
    """It is refused before."""
    with pytest.raises(ValueError, match="dancing"):
        await search.runs(
            statuses=["dancing' OR '1'='1"], roots_only=True, limit=7, before=None, workspace=None
        )


async def test_who_reads_all_from_above_finds_a_run_whose_parent_is_gone(
    search: SqliteSearch,
) -> None:
    """Nothing else leads to it, and no run is left out of what is told of all."""
    roots = await search.every_run(roots_only=True)
    assert "r2" in roots
    assert "r3" not in roots
    search._store._db.execute("UPDATE runs SET parent = 999 WHERE no = 3")
    assert await search.every_run(roots_only=True) == [*roots[:2], "r3", *roots[2:]]
