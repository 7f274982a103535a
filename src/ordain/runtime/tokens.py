"""Giving, replacing and taking away bearer tokens. A token is shown once, to whoever made it;
nothing keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from ordain.contracts.access import ParsedToken, Rate, TokenScope, mint_token, parse_token
from ordain.contracts.nearest import as_given
from ordain.errors import Conflict, NotFound
from ordain.ports.access import AuditEvent, AuditLine, Token, TokenStore
from ordain.ports.clock import Clock
from ordain.ports.store import JournalStore, Operation

__all__ = ["AuditEvent", "AuditLine", "MadeToken", "NewToken", "Token", "Tokens", "fresh_token"]

_WHY = {
    "token_exists": (
        "a token {} was given before; a name is given once, so that what the journal says of it "
        "stays true"
    ),
    "token_revoked": "token {} was revoked",
    "token_expired": "token {} has expired: make another one",
}


class NewToken(Struct, frozen=True, kw_only=True):
    """A token to give; every part was checked. ``lifetime_s`` None lasts until it is revoked,
    ``rate`` None is the server's.
    """

    name: str
    scopes: tuple[TokenScope, ...]
    workspaces: tuple[str, ...]
    lifetime_s: int | None = None
    rate: Rate | None = None


class MadeToken(Struct, frozen=True, kw_only=True):
    """A token and the one sight of its secret."""

    token: Token
    secret: str

    def __repr__(self) -> str:
        """Without the secret."""
        return f"Made({self.token.name})"


def fresh_token(clock: Clock) -> tuple[str, ParsedToken]:
    """A token that was never there before, and what is known of it afterwards."""
    secret = mint_token(clock.new_key() + clock.new_key())
    parsed = parse_token(secret)
    assert parsed is not None
    return secret, parsed


class Tokens:
    """Every change is one transaction with its line in the audit."""

    def __init__(self, tokens: TokenStore, store: JournalStore, clock: Clock) -> None:
        """Reads through the one port, writes through the other."""
        self._tokens, self._store, self._clock = tokens, store, clock

    async def create(self, new: NewToken, *, by: str) -> MadeToken:
        """Give a token.

        Raises:
            Conflict: there was one of this name (``token_exists``).
        """
        at = self._clock.now()
        secret, parsed = fresh_token(self._clock)
        token = Token(
            name=new.name,
            scopes=new.scopes,
            workspaces=new.workspaces,
            rate=new.rate,
            created_at=at,
            expires_at=None if new.lifetime_s is None else at + new.lifetime_s * 1_000_000,
            revoked_at=None,
            last_used_at=None,
        )
        await self._write(
            "create_token",
            new.name,
            {"token": token, "id": parsed.id, "digest": parsed.digest, "by": by},
        )
        return MadeToken(token=token, secret=secret)

    async def rotate(self, name: str, *, grace_s: int, by: str) -> MadeToken:
        """Another secret for a token; the one it had is good for ``grace_s`` seconds more.

        Raises:
            NotFound: no such token.
            Conflict: it was revoked, or has expired.
        """
        at = self._clock.now()
        secret, parsed = fresh_token(self._clock)
        args = {
            "name": name,
            "id": parsed.id,
            "digest": parsed.digest,
            "at": at,
            "ends_at": at + grace_s * 1_000_000,
            "by": by,
        }
        await self._write("rotate_token", name, args)
        return MadeToken(token=await self.named(name), secret=secret)

    async def revoke(self, name: str, *, by: str) -> Token:
        """End a token at once; the next request that brings it is refused, and open streams end.

        Raises:
            NotFound: no such token.
            Conflict: it was revoked before.
        """
        await self._write("revoke_token", name, {"name": name, "at": self._clock.now(), "by": by})
        return await self.named(name)

    async def _write(self, operation: str, name: str, args: Mapping[str, object]) -> None:
        outcome = await self._store.submit(Operation(name=operation, args=dict(args)))
        if outcome.refused == "not_found":
            raise NotFound(f"there is no token {as_given(name)}", code="token_not_found")
        if outcome.refused:
            raise Conflict(_WHY[outcome.refused].format(name), code=outcome.refused)

    async def named(self, name: str) -> Token:
        """One token.

        Raises:
            NotFound: no such token.
        """
        for token in await self._tokens.tokens():
            if token.name == name:
                return token
        raise NotFound(f"there is no token {as_given(name)}", code="token_not_found")

    async def all(self) -> Sequence[Token]:
        """Every token there ever was, by name."""
        return await self._tokens.tokens()

    async def live(self) -> int:
        """How many tokens are good now."""
        return await self._tokens.live(self._clock.now())

    async def audit(
        self, *, limit: int, before: int | None, token: str | None
    ) -> Sequence[AuditLine]:
        """Lines of the audit, newest first."""
        return await self._tokens.audit(limit=limit, before=before, token=token)
