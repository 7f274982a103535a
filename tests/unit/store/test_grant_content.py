"""What of a grant stands apart counts under the key of the run whose approval it came with, and
nowhere else: the ledger names it, and nobody acts on it.
"""

from __future__ import annotations

import sqlite3

import pytest

from ordain.contracts.approvals import Grant, GrantAudit, GrantScope
from ordain.contracts.risk import RiskLevel
from ordain.journal.ledger import LedgerFold
from ordain.ports.approvals import GrantRevoked, GrantUse
from ordain.store.erasure import begin_erasure, erase_slice
from ordain.store.grant_rows import put_grant, read_grant, revoke_grant, standing_grants, use_grant
from ordain.store.ledger import LedgerDraft, begin_ledger, ledger_rows, standing_items
from ordain.store.schema import prepare
from tests.unit.store.many import filled, said

WIDER = '\'{"targets":null,"reason":"another"}\''
ELSE = "(SELECT no FROM subjects WHERE key IS NOT NULL ORDER BY no DESC LIMIT 1)"
ERASED = "(SELECT no FROM subjects WHERE key IS NULL LIMIT 1)"


def grant(name: str, approval: str = "") -> Grant:
    return Grant(
        grant_id=name,
        principal="token:web",
        scope=GrantScope(capabilities=("post.out",), targets=("ada@example.org",)),
        risk_level=RiskLevel.WRITE,
        ttl_seconds=10,
        expires_at=100,
        reason="tea",
        audit=GrantAudit(by="local:ben", at=1, approval=approval),
        uses_left=9,
    )


@pytest.fixture
def db() -> sqlite3.Connection:
    """A store with a grant that was given by itself, one that came with an approval of session
    ``s1``, and a session of somebody else's; all on its ledger.
    """
    made = sqlite3.connect(":memory:", isolation_level=None)
    prepare(made)
    filled(made, runs=1, records=1)
    said(made, session=1, subject=1, entries=1)
    made.execute("INSERT INTO subjects(workspace, id, key) VALUES ('w', 'else', zeroblob(32))")
    made.execute(
        "INSERT INTO subjects(workspace, id, key, erased_at) VALUES ('w', 'gone', NULL, 1)"
    )
    made.execute(
        "INSERT INTO approvals(id, workspace, run, root, addr, session, thread, subject, tier, "
        "digest, workflow, asked_at, expires_at, state,"
        " decided_at, decided_by, granted) VALUES ('a1', 'w', 1, 1, 1, 1, 1, 'call', 'write', "
        "'d', '', 1, 2, 'approved', 1, 'ben', 'with')"
    )
    put_grant(made, "w", grant("alone"))
    put_grant(made, "w", grant("with", "a1"))
    made.execute("DELETE FROM ledger")
    begin_ledger(made, 1)
    return made


def named(db: sqlite3.Connection) -> set[str]:
    """Which things do not stand as the ledger has them."""
    fold = LedgerFold()
    for row in ledger_rows(db):
        fold.take(row)
    return {
        found.place
        for item in standing_items(db)
        for found in fold.differing(item)
        if found.place.startswith("grant")
    }


def committed(db: sqlite3.Connection, draft: LedgerDraft) -> None:
    draft.write(db)


ASTRAY = {
    "under no key": ("alone", f"content = {WIDER}"),
    "under somebody's key": ("alone", f"content = {WIDER}, subject = {ELSE}"),
    "under a key that is destroyed": ("alone", f"content = {WIDER}, subject = {ERASED}"),
    "under another's key than its run's": ("with", f"content = {WIDER}, subject = {ELSE}"),
    "under a key that it had": ("with", f"content = {WIDER}, subject = NULL"),
}


@pytest.mark.parametrize("what", ASTRAY)
def test_what_stands_astray_is_named_and_widens_nothing(db: sqlite3.Connection, what: str) -> None:
    """Whatever is written into a grant's row under no key, or another one's: the grant is for no
    more than it was, and stays named after a use of it.
    """
    name, change = ASTRAY[what]
    before = read_grant(db, "w", name)
    assert before is not None
    assert before.scope.targets == ("ada@example.org",)
    assert named(db) == set()
    db.execute(f"UPDATE grants SET {change} WHERE id = ?", (name,))
    assert len(named(db)) == 1
    found = {one.grant_id: one for one in standing_grants(db, "w", "token:web", 1, 9)}
    assert found[name].scope.targets == (("ada@example.org",) if name == "alone" else ())
    assert found[name].reason == ("tea" if name == "alone" else "")
    draft = LedgerDraft()
    assert use_grant(db, "w", GrantUse(grant=name))
    draft.grant(name)
    committed(db, draft)
    assert len(named(db)) == 1


@pytest.mark.parametrize("subject", [ELSE, ERASED, "1"])
def test_whose_content_it_would_be_is_held_to_its_approval(
    db: sqlite3.Connection, subject: str
) -> None:
    """Its subject's column is derived and compared, also where nothing stands apart."""
    db.execute(f"UPDATE grants SET subject = {subject} WHERE id = 'alone'")
    assert len(named(db)) == 1


def test_an_erased_grant_is_not_awoken(db: sqlite3.Connection) -> None:
    """Written again after its key was destroyed, what it was for counts for nobody, and is
    named.
    """
    draft = LedgerDraft()
    begin_erasure(db, {"workspace": "w", "session": "s1", "at": 5}, draft)
    after = None
    while (after := erase_slice((db, draft), 1, after).after) is not None:
        pass
    committed(db, draft)
    assert named(db) == set()
    db.execute(f"UPDATE grants SET content = {WIDER} WHERE id = 'with'")
    assert len(named(db)) == 1
    found = read_grant(db, "w", "with")
    assert found is not None
    assert (found.scope.targets, found.reason) == ((), "")


def test_what_is_as_it_was_given_stays_so(db: sqlite3.Connection) -> None:
    """Used and taken back, both stand as the ledger has them."""
    for name in ("alone", "with"):
        draft = LedgerDraft()
        use_grant(db, "w", GrantUse(grant=name))
        revoke_grant(db, "w", GrantRevoked(grant=name, by="local:ben", at=2, why="enough"))
        draft.grant(name)
        committed(db, draft)
        found = read_grant(db, "w", name)
        assert found is not None
        assert (found.scope.targets, found.reason, found.audit.revoked_why) == (
            ("ada@example.org",),
            "tea",
            "enough",
        )
    assert named(db) == set()
