"""Listing approvals: what comes back is what a look at all would give, and no more is looked at
than is listed, however many there are.
"""

from __future__ import annotations

from itertools import product

import pytest

from ordain.errors import JournalCorrupt
from ordain.rules.approve import ApprovalState
from ordain.store.approvals import SqliteApprovals
from ordain.store.sqlite import SqliteStore, StoreOptions
from tests.unit.store.many import filled, looks, said

STATES = [str(state) for state in ApprovalState]
MANY = 90


@pytest.fixture
def store() -> SqliteStore:
    """Approvals of every state, in two workspaces, some of a session and some of none."""
    made = SqliteStore(None, StoreOptions(holder="test", lock=False))
    filled(made._db, runs=1, records=1)
    said(made._db, session=1, subject=1, entries=1)
    said(made._db, session=2, subject=1, entries=1)
    for number in range(1, MANY + 1):
        made._db.execute(
            "INSERT INTO approvals(id, workspace, run, root, addr, session, thread, subject, tier, "
            "digest, workflow, asked_at, expires_at, state, decided_at, decided_by, granted) "
            "VALUES (?, ?, 1, 1, 1, ?, 1, 'call', 'write', 'd', '', 1, 9, ?, 0, '', '')",
            (
                f"a{number}",
                "w" if number % 4 else "v",
                number % 3,
                STATES[number * 7 % len(STATES)],
            ),
        )
    return made


@pytest.mark.parametrize(
    ("states", "session", "before", "named"),
    list(
        product(
            [(), ("open",), ("denied", "open", "denied"), tuple(STATES)],
            ["", "s1", "nobody"],
            [None, 50],
            ["", "a1"],
        )
    ),
)
async def test_pages_are_those_of_all_approvals(
    store: SqliteStore, states: tuple[str, ...], session: str, before: int | None, named: str
) -> None:
    """Newest first, of these states, of the workspace and session that is asked for."""
    every = store.query(
        "SELECT a.id, a.no, a.state, a.workspace, coalesce(s.id, '') FROM approvals a LEFT JOIN "
        "sessions s ON s.no = a.session ORDER BY a.no DESC"
    )
    wanted = [
        row[0]
        for row in every
        if row[3] == "w"
        and row[2] in (states or STATES)
        and (not session or row[4] == session)
        and (before is None or row[1] < before)
        and (row[0].startswith(named) or row[0].endswith(named))
    ]
    found = await SqliteApprovals(store).approvals(
        "w", states=states, session=session, limit=7, before=before, named=named
    )
    assert [row.id for row in found] == wanted[:7]


async def test_no_more_is_looked_at_than_is_listed(store: SqliteStore) -> None:
    """Of each state by its index: all of them at once were sorted before the first was given."""
    listed = SqliteApprovals(store).approvals("w", states=(), session="", limit=7, before=None)
    found = await looks(store._db, listed)
    assert len([look for look in found if look.startswith("SEARCH a USING INDEX")]) == len(STATES)
    assert [look for look in found if look.startswith("SCAN") or "TEMP B-TREE" in look] == []


async def test_a_grant_that_cannot_be_read_is_named(store: SqliteStore) -> None:
    """As what is damaged, with its column; it was told as a fault of Ordain's own."""
    store._db.execute(
        "INSERT INTO grants(id, workspace, principal, expires_at, uses_left, revoked_at, body) "
        "VALUES ('g', 'w', 'p', 9, NULL, 0, '{}')"
    )
    with pytest.raises(JournalCorrupt, match="column body"):
        await SqliteApprovals(store).grants("w", standing_at=None, limit=7, before=None)
