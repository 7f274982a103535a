"""Tokens and their audit over SQLite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ordain.contracts.access import TokenScope, parse_rate
from ordain.errors import InvalidRequest
from ordain.ports.access import AuditEvent, AuditLine, KnownToken, Token
from ordain.store.sqlite import SqliteStore
from ordain.store.typed_rows import RowColumns, check_row, is_moment, is_number, is_text, or_none

_TOKENS = (
    "SELECT name, scopes, workspaces, rate, created_at, expires_at, revoked_at, last_used_at FROM "
    "tokens ORDER BY name"
)
_FIND = (
    "SELECT t.name, t.scopes, t.workspaces, t.rate, t.created_at, t.expires_at, t.revoked_at, "
    "t.last_used_at, s.digest, s.ends_at"
    " FROM token_secrets s JOIN tokens t ON t.no = s.token WHERE s.id = ?"
)
_LIVE = (
    "SELECT count(*) FROM tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR "
    "expires_at > ?)"
)
_SCOPES = {str(scope): scope for scope in TokenScope}
_EVENTS = {str(event): event for event in AuditEvent}


def _is_rate(value: Any) -> bool:
    """A rate as it is written."""
    try:
        return is_text(value) and bool(parse_rate(value))
    except InvalidRequest:
        return False


_TOKEN: RowColumns = (
    *(
        ("name", is_text),
        ("scopes", is_text),
        ("workspaces", is_text),
        ("rate", or_none(_is_rate)),
        ("created_at", is_moment),
    ),
    *((name, or_none(is_moment)) for name in ("expires_at", "revoked_at", "last_used_at")),
)
_AUDIT: RowColumns = (
    *(("no", is_number), ("event", lambda value: value in _EVENTS)),
    *((name, is_text) for name in ("token", "asked", "reason", "by", "address")),
    *(("first_at", is_moment), ("last_at", is_moment), ("count", is_number)),
)


def _token(row: tuple[Any, ...]) -> Token:
    check_row("a token", _TOKEN, row)
    return Token(
        name=row[0],
        scopes=tuple(_SCOPES[scope] for scope in row[1].split() if scope in _SCOPES),
        workspaces=tuple(row[2].split()),
        rate=None if row[3] is None else parse_rate(row[3]),
        created_at=row[4],
        expires_at=row[5],
        revoked_at=row[6],
        last_used_at=row[7],
    )


def _line(row: tuple[Any, ...]) -> AuditLine:
    check_row("a line of the audit", _AUDIT, row)
    return AuditLine(
        no=row[0],
        event=_EVENTS[row[1]],
        token=row[2],
        asked=row[3],
        reason=row[4],
        by=row[5],
        address=row[6],
        first_at=row[7],
        last_at=row[8],
        count=row[9],
    )


class SqliteTokens:
    """Implements ``TokenStore`` on the store's reading connection."""

    def __init__(self, store: SqliteStore) -> None:
        """Reads only."""
        self._store = store

    async def find(self, secret_id: str) -> KnownToken | None:
        """See ``TokenStore.find``."""
        rows = self._store.query(_FIND, (secret_id,))
        return (
            KnownToken(token=_token(rows[0]), digest=rows[0][8], secret_ends_at=rows[0][9])
            if rows
            else None
        )

    async def tokens(self) -> Sequence[Token]:
        """See ``TokenStore.tokens``."""
        return [_token(row) for row in self._store.query(_TOKENS)]

    async def live(self, at: int) -> int:
        """See ``TokenStore.live``."""
        return self._store.query(_LIVE, (at,))[0][0]

    async def audit(
        self,
        *,
        limit: int,
        before: int | None,
        token: str | None,
        among: frozenset[str] | None = None,
    ) -> Sequence[AuditLine]:
        """See ``TokenStore.audit``."""
        rows = self._store.query(
            "SELECT no, event, token, asked, reason, by, address, first_at, last_at, count FROM "
            "token_audit"
            " WHERE (?1 IS NULL OR no < ?1) AND (?2 IS NULL OR token = ?2)"
            " AND (?4 IS NULL OR (token <> '' AND token IN (SELECT value FROM json_each(?4)))) "
            "ORDER BY no DESC LIMIT ?3",
            (before, token, limit, None if among is None else json.dumps(sorted(among))),
        )
        return [_line(row) for row in rows]
