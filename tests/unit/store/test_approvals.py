"""Who looks at an approval, as SQLite keeps it: on its ledger, beside what builds before wrote, and
of nobody where such a database may not be written.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from ordain.journal.ledger import LedgerFold
from ordain.journal.ledger_items import approval_item, fingerprint, sealed
from ordain.ports.approvals import ApprovalClaimed
from ordain.store.approval_rows import claim_approvals, read_approval
from ordain.store.ledger import LedgerDraft, begin_ledger, ledger_rows, standing_items
from ordain.store.schema import WITH_CLAIMS, make, prepare, read_only
from tests.unit.store.many import filled, said

KEY = bytes(32)
PUT = (
    "INSERT INTO approvals(id, workspace, run, root, addr, session, thread, subject, tier, "
    "digest, workflow, asked_at, expires_at, state,"
    " decided_at, decided_by, granted) VALUES ('a1', 'w', 1, 1, 1, 1, 1, 'call', 'write', 'd', "
    "'', 1, 9, 'open', 0, '', '')"
)


@pytest.fixture
def db() -> sqlite3.Connection:
    """A store with an open approval that somebody claims, on its ledger."""
    made = sqlite3.connect(":memory:", isolation_level=None)
    prepare(made)
    filled(made, runs=1, records=1)
    said(made, session=1, subject=1, entries=1)
    made.execute(PUT)
    begin_ledger(made, 1)
    return made


def claimed(db: sqlite3.Connection, by: str, at: int = 5) -> None:
    """Somebody looks at it, as a commit does it."""
    draft = LedgerDraft()
    claim_approvals(db, [ApprovalClaimed(id="a1", by=by, at=at)])
    draft.approval("a1")
    draft.write(db)


def named(db: sqlite3.Connection) -> list[str]:
    """Which approvals do not stand as the ledger has them."""
    fold = LedgerFold()
    for row in ledger_rows(db):
        fold.take(row)
    return [
        found.place
        for item in standing_items(db)
        for found in fold.differing(item)
        if found.place.startswith("approval")
    ]


@pytest.mark.parametrize(
    "change",
    [
        "claimed_by = 'eve'",
        "claimed_by = ''",
        "claimed_at = 6",
        "claimed_at = 0",
        "claimed_by = '', claimed_at = 0",
        "claimed_by = x'00'",
    ],
)
def test_a_changed_claim_is_named(db: sqlite3.Connection, change: str) -> None:
    """Another name, another moment, none: each is other than on the ledger; what was claimed, taken
    over and given up there is as it says.
    """
    for by, at in (("ben", 5), ("cleo", 6), ("", 7), ("ben", 5)):
        claimed(db, by, at)
        assert named(db) == []
    db.execute(f"UPDATE approvals SET {change}")
    assert named(db)


def test_a_planted_claim_is_named(db: sqlite3.Connection) -> None:
    """Of an approval that nobody has claimed, whichever of the two columns says so."""
    for change in ("claimed_by = 'eve'", "claimed_at = 6", "claimed_by = 'eve', claimed_at = 6"):
        db.execute("UPDATE approvals SET claimed_by = '', claimed_at = 0")
        assert named(db) == []
        db.execute(f"UPDATE approvals SET {change}")
        assert named(db)


def test_of_what_nobody_claimed_the_ledger_says_what_builds_before_did() -> None:
    """Their items stand: an older folder's ledger goes on."""
    row = ("w", "r", 1, "approved")
    for by in ("", "ben"):
        item = approval_item("a", row, by, ("", 0), KEY)
        assert (item.value, item.sealed) == (fingerprint(*row), sealed(KEY, by))
        assert approval_item("a", row, by, ("cleo", 1), KEY).sealed not in (b"", item.sealed)
        assert approval_item("a", row, by, ("cleo", 1), None).sealed == b""


def test_a_database_before_names_nobody(tmp_path: Path) -> None:
    """One that may not be written is read as it lies, and stays so; brought on, it says the same
    and is claimed like any other.
    """
    file = tmp_path / "old.db"
    old = sqlite3.connect(file, isolation_level=None)
    make(old, WITH_CLAIMS - 1)
    filled(old, runs=1, records=1)
    said(old, session=1, subject=1, entries=1)
    old.execute(PUT)
    old.close()
    before = file.read_bytes()
    reader = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, isolation_level=None)
    read_only(reader)
    found = read_approval(reader, "a1")
    reader.close()
    assert found is not None
    assert (found.claimed_by, found.claimed_at, found.in_review_by) == ("", 0, "")
    assert file.read_bytes() == before
    new = sqlite3.connect(file, isolation_level=None)
    prepare(new)
    assert read_approval(new, "a1") == found
    claimed(new, "ben")
    again = read_approval(new, "a1")
    assert again is not None
    assert (again.in_review_by, again.claimed_at) == ("ben", 5)
    new.close()
