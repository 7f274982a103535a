"""Grants inside the write transaction: SQL and conditions, no decisions.

A grant that came with an approval is for what a run's call named, which is content: it stands apart
in the row, under the key of that run's subject, and goes when that is erased. Such a grant is for
nobody then. What stands apart counts under that key alone: anywhere else the ledger holds it to
nothing.
"""

from __future__ import annotations

import sqlite3

from msgspec import structs

from ordain.contracts.approvals import Grant
from ordain.journal.records import ENCODER
from ordain.ports.approvals import GrantContent, GrantRevoked, GrantUse, stored_grant
from ordain.store.typed_rows import parsed

GRANT_COLUMNS = """
ALTER TABLE grants ADD COLUMN subject INTEGER;
ALTER TABLE grants ADD COLUMN content TEXT;
"""
GRANT_TABLES = f"""{GRANT_COLUMNS}CREATE INDEX grants_subject ON grants(subject) WHERE subject IS NOT NULL;
"""
"""``subject`` is that of the run whose approval a grant came with, NULL of one that was given by
itself; ``content`` what of it goes with that one's.
"""
ITS_SUBJECT = (
    "(SELECT r.subject FROM approvals a JOIN runs r ON r.no = a.run"
    " WHERE a.id = CASE WHEN typeof(grants.body) = 'text' AND json_valid(grants.body) THEN "
    "json_extract(grants.body, '$.audit.approval') END)"
)
"""Whose content a grant's can be: the subject of the run whose approval it came with, whatever its
row says.
"""
GRANT_ROW = (
    "SELECT body, uses_left, revoked_at, CASE WHEN content IS NOT NULL AND "  # noqa: S608 - constants
    "subject IS "
    f"{ITS_SUBJECT} AND EXISTS (SELECT 1 FROM subjects u WHERE u.no = grants.subject AND u.key IS "
    "NOT NULL) THEN content END FROM grants"
)


def grant_row(row: tuple[str, int | None, int, str | None]) -> Grant:
    """What ``GRANT_ROW`` selects, as the port's value.

    Raises:
        JournalCorrupt: the row holds none.
    """
    grant = structs.replace(parsed("a grant", "body", row[0], Grant), uses_left=row[1])
    if row[3] is None:
        return grant
    return parsed("a grant", "content", row[3], GrantContent).put_into(grant)


def put_grant(db: sqlite3.Connection, workspace: str, grant: Grant) -> None:
    """A grant is given."""
    row = db.execute(
        "SELECT r.subject FROM approvals a JOIN runs r ON r.no = a.run WHERE a.id = ?",
        (grant.audit.approval,),
    ).fetchone()
    body, content = stored_grant(grant, apart=row is not None)
    db.execute(
        "INSERT INTO grants(id, workspace, principal, expires_at, uses_left, revoked_at, body, "
        "subject, content) VALUES (?,?,?,?,?,0,?,?,?)",
        (
            grant.grant_id,
            workspace,
            grant.principal,
            grant.expires_at,
            grant.uses_left,
            body,
            None if row is None else row[0],
            content,
        ),
    )


def use_grant(db: sqlite3.Connection, workspace: str, use: GrantUse) -> bool:
    """Take one use; whether there was one."""
    row = db.execute(
        "UPDATE grants SET uses_left = uses_left - 1 WHERE id = ? AND workspace = ? AND "
        "revoked_at = 0 AND (uses_left IS NULL OR uses_left > 0)"
        " RETURNING body",
        (use.grant, workspace),
    ).fetchone()
    if row is not None and use.bounds:
        grant = parsed("a grant", "body", row[0], Grant)
        body = ENCODER.encode(structs.replace(grant, calls=grant.counted(use.bounds))).decode()
        db.execute("UPDATE grants SET body = ? WHERE id = ?", (body, use.grant))
    return row is not None


def revoke_grant(db: sqlite3.Connection, workspace: str, revoked: GrantRevoked) -> None:
    """Take a grant back; one that was taken back before stays as it is."""
    row = db.execute(
        f"{GRANT_ROW} WHERE id = ? AND workspace = ? AND revoked_at = 0", (revoked.grant, workspace)
    ).fetchone()
    if row is None:
        return
    grant = grant_row(row)
    audit = structs.replace(
        grant.audit, revoked_by=revoked.by, revoked_at=revoked.at, revoked_why=revoked.why
    )
    (whole, _), (bare, content) = (
        stored_grant(structs.replace(grant, audit=audit), apart=apart) for apart in (False, True)
    )
    db.execute(
        "UPDATE grants SET revoked_at = ?, body = iif(subject IS NULL, ?, ?), content = "
        "iif(content IS NULL, NULL, ?) WHERE id = ?",
        (revoked.at, whole, bare, content, revoked.grant),
    )


def forget_grants(db: sqlite3.Connection, subject: int) -> None:
    """A subject is erased: what was said yes to beforehand with an approval of its runs is for
    nobody any more.
    """
    db.execute(
        "UPDATE grants SET content = NULL WHERE subject = ? AND content IS NOT NULL", (subject,)
    )


def standing_grants(
    db: sqlite3.Connection, workspace: str, principal: str, at: int, most: int
) -> list[Grant]:
    """A principal's grants that stand, those that expire first."""
    rows = db.execute(
        f"{GRANT_ROW} WHERE workspace = ? AND principal = ? AND revoked_at = 0 AND expires_at > ? "
        "AND (uses_left IS NULL OR uses_left > 0)"
        " ORDER BY expires_at, no LIMIT ?",
        (workspace, principal, at, most),
    )
    return [grant_row(row) for row in rows.fetchall()]


def read_grant(db: sqlite3.Connection, workspace: str, grant: str) -> Grant | None:
    """One grant."""
    row = db.execute(f"{GRANT_ROW} WHERE id = ? AND workspace = ?", (grant, workspace)).fetchone()
    return None if row is None else grant_row(row)
