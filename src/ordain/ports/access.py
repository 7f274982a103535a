"""TokenStore: the bearer tokens and the audit of their use, as durable now. Written by operations
of the one writer (``store.access``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from msgspec import Struct

from ordain.contracts.access import Rate, TokenScope


class AuditEvent(StrEnum):
    """What a line of the audit is about."""

    CREATED = "created"
    ROTATED = "rotated"
    REVOKED = "revoked"
    USED = "used"
    REFUSED = "refused"


class Token(Struct, frozen=True, kw_only=True):
    """A token without its secret. Times in microseconds since 1970 UTC; ``rate`` None is the
    server's own.
    """

    name: str
    scopes: tuple[TokenScope, ...]
    workspaces: tuple[str, ...]
    rate: Rate | None
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None


class KnownToken(Struct, frozen=True, kw_only=True):
    """A token found by the public id of one of its secrets, with that secret's digest and, once
    replaced, the end of its own time.
    """

    token: Token
    digest: bytes
    secret_ends_at: int | None

    def __repr__(self) -> str:
        """Without the digest."""
        return f"KnownToken({self.token.name})"


class AuditLine(Struct, frozen=True, kw_only=True):
    """What happened, and how often on that day: uses and refusals of one kind are one line a day.

    ``token`` is "" where none is known. ``asked`` is the scope that the address asks for,
    ``address`` where the last of them came from.
    """

    no: int
    event: AuditEvent
    token: str
    asked: str
    reason: str
    by: str
    address: str
    first_at: int
    last_at: int
    count: int


class Noted(Struct, frozen=True, kw_only=True):
    """Uses or refusals of one kind on one day, not written yet. ``day`` counts from 1970 UTC."""

    day: int
    event: AuditEvent
    token: str
    asked: str
    reason: str
    address: str
    first_at: int
    last_at: int
    count: int


class TokenStore(Protocol):
    """Reading tokens and their audit. Errors: none but the storage's own; what is not there is None
    or empty.
    """

    async def find(self, secret_id: str) -> KnownToken | None:
        """The token that has a secret with this public id, dead or alive."""
        ...

    async def tokens(self) -> Sequence[Token]:
        """Every token there ever was, by name."""
        ...

    async def live(self, at: int) -> int:
        """How many tokens are neither revoked nor expired."""
        ...

    async def audit(
        self,
        *,
        limit: int,
        before: int | None,
        token: str | None,
        among: frozenset[str] | None = None,
    ) -> Sequence[AuditLine]:
        """Lines of the audit, newest first; older than line ``before``, of one token, of ``among``
        alone.
        """
        ...
