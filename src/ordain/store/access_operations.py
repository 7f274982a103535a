"""What changes tokens and their audit, inside the write transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ordain.ports.access import AuditEvent, Noted, Token
from ordain.ports.store import Outcome

AUDIT_LINES = 100_000
"""Most lines of the audit; beyond them the oldest go."""


def create_token(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """A new token with its first secret. A name is given once for ever: what a journal says of
    ``token:NAME`` stays true.
    """
    token: Token = args["token"]
    if db.execute("SELECT 1 FROM tokens WHERE name = ?", (token.name,)).fetchone():
        return Outcome(refused="token_exists")
    rate = None if token.rate is None else str(token.rate)
    made = db.execute(
        "INSERT INTO tokens(name, scopes, workspaces, rate, created_at, expires_at) VALUES "
        "(?,?,?,?,?,?)",
        (
            token.name,
            " ".join(token.scopes),
            " ".join(token.workspaces),
            rate,
            token.created_at,
            token.expires_at,
        ),
    )
    db.execute(
        "INSERT INTO token_secrets VALUES (?,?,?,?,NULL)",
        (args["id"], made.lastrowid, args["digest"], token.created_at),
    )
    _note(db, AuditEvent.CREATED, token.name, args["by"], token.created_at)
    return Outcome(count=1)


def rotate_token(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Another secret for a live token; those it has end at ``ends_at``, or when they would have."""
    at = args["at"]
    row = db.execute(
        "SELECT no, revoked_at, expires_at FROM tokens WHERE name = ?", (args["name"],)
    ).fetchone()
    refused = _not_live(row, at)
    if refused:
        return Outcome(refused=refused)
    db.execute("DELETE FROM token_secrets WHERE token = ? AND ends_at <= ?", (row[0], at))
    db.execute(
        "UPDATE token_secrets SET ends_at = min(coalesce(ends_at, ?2), ?2) WHERE token = ?1",
        (row[0], args["ends_at"]),
    )
    db.execute(
        "INSERT INTO token_secrets VALUES (?,?,?,?,NULL)", (args["id"], row[0], args["digest"], at)
    )
    _note(db, AuditEvent.ROTATED, args["name"], args["by"], at)
    return Outcome(count=1)


def revoke_token(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """End a token now; one that was revoked before stays as it was."""
    row = db.execute(
        "SELECT no, revoked_at, NULL FROM tokens WHERE name = ?", (args["name"],)
    ).fetchone()
    refused = _not_live(row, args["at"])
    if refused:
        return Outcome(refused=refused)
    db.execute("UPDATE tokens SET revoked_at = ? WHERE no = ?", (args["at"], row[0]))
    _note(db, AuditEvent.REVOKED, args["name"], args["by"], args["at"])
    return Outcome(count=1)


def revoke_every_token(db: sqlite3.Connection, by: str, at: int) -> tuple[str, ...]:
    """End all tokens and destroy what is kept of their secrets; gives the names of those that had
    not ended before.
    """
    names = tuple(
        name
        for (name,) in db.execute(
            "SELECT name FROM tokens WHERE revoked_at IS NULL ORDER BY no"
        ).fetchall()
    )
    for name in names:
        _note(db, AuditEvent.REVOKED, name, by, at)
    db.execute("UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL", (at,))
    db.execute("DELETE FROM token_secrets")
    return names


def _not_live(row: tuple[Any, ...] | None, at: int) -> str:
    if row is None:
        return "not_found"
    if row[1] is not None:
        return "token_revoked"
    return "token_expired" if row[2] is not None and row[2] <= at else ""


def _note(db: sqlite3.Connection, event: AuditEvent, token: str, by: str, at: int) -> None:
    line = (None, event, token, "", "", by, "", at, at, 1)
    db.execute(
        "INSERT INTO token_audit(day, event, token, asked, reason, by, address, first_at, "
        "last_at, count) VALUES (?,?,?,?,?,?,?,?,?,?)",
        line,
    )
    _prune(db)


def note_access(db: sqlite3.Connection, args: dict[str, Any]) -> Outcome:
    """Many uses and refusals at once, added to their days' lines, and when each token was last
    used.
    """
    noted: Sequence[Noted] = args["noted"]
    db.executemany(
        "INSERT INTO token_audit(day, event, token, asked, reason, by, address, first_at, "
        "last_at, count) VALUES (?,?,?,?,?,'',?,?,?,?)"
        " ON CONFLICT(day, event, token, asked, reason) WHERE day IS NOT NULL DO UPDATE SET count "
        "= count + excluded.count,"
        " last_at = max(last_at, excluded.last_at), address = excluded.address",
        [
            (n.day, n.event, n.token, n.asked, n.reason, n.address, n.first_at, n.last_at, n.count)
            for n in noted
        ],
    )
    db.executemany(
        "UPDATE tokens SET last_used_at = max(coalesce(last_used_at, 0), ?) WHERE name = ?",
        [(n.last_at, n.token) for n in noted if n.event is AuditEvent.USED],
    )
    _prune(db)
    return Outcome(count=len(noted))


def _prune(db: sqlite3.Connection) -> None:
    db.execute(
        "DELETE FROM token_audit WHERE no <= (SELECT max(no) FROM token_audit) - ?", (AUDIT_LINES,)
    )


ACCESS_OPERATIONS: Mapping[str, Callable[[sqlite3.Connection, dict[str, Any]], Outcome]] = {
    "create_token": create_token,
    "rotate_token": rotate_token,
    "revoke_token": revoke_token,
    "note_access": note_access,
}
