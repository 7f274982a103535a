"""``ordain token``: giving and taking tokens where the data folder is, also beside a running
server, for which it holds at once.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ordain.cli.comma_lists import names_of
from ordain.cli.exit_codes import OK
from ordain.cli.output import MESSAGE, moment, print_json, print_table, show
from ordain.cli.person import operator
from ordain.cli.places import home_of
from ordain.contracts.access import (
    checked_name,
    checked_scopes,
    checked_workspaces,
    parse_lifetime_s,
    parse_rate,
)
from ordain.contracts.visible import visible_line
from ordain.engines.clock import SystemClock
from ordain.errors import ConfigurationError, NotFound
from ordain.runtime.tokens import MadeToken, NewToken, Tokens
from ordain.server.tokens import LIST_MAX, audit_page, token_view
from ordain.store.access import SqliteTokens
from ordain.store.folder import FILE
from ordain.store.sqlite import SqliteStore

T = TypeVar("T")


class TokenWanted(Struct, frozen=True, kw_only=True):
    """A token as the command line asks for it."""

    name: str
    scopes: tuple[str, ...]
    workspaces: tuple[str, ...]
    expires: str | None
    rate: str | None


def create(data_dir: Path | None, wanted: TokenWanted, *, as_json: bool) -> int:
    """Give a token and show it, once.

    Raises:
        InvalidRequest: a part of it does not fit.
        Conflict: there was one of this name.
    """
    new = NewToken(
        name=checked_name(wanted.name),
        scopes=checked_scopes(names_of(wanted.scopes, "--scope")),
        workspaces=checked_workspaces(names_of(wanted.workspaces, "--workspace")),
        lifetime_s=None if wanted.expires is None else parse_lifetime_s(wanted.expires),
        rate=None if wanted.rate is None else parse_rate(wanted.rate),
    )
    made = _changed(data_dir, lambda tokens: tokens.create(new, by=operator()), fresh=True)
    return _show_made(made, as_json=as_json)


def rotate(data_dir: Path | None, name: str, grace: str | None, *, as_json: bool) -> int:
    """Give a token another secret.

    Raises:
        InvalidRequest: ``grace`` is no time.
        NotFound, Conflict: there is no such token, or it is not good any more.
    """
    grace_s = 0 if grace is None else parse_lifetime_s(grace)
    made = _changed(data_dir, lambda tokens: tokens.rotate(name, grace_s=grace_s, by=operator()))
    return _show_made(made, as_json=as_json)


def revoke(data_dir: Path | None, name: str, *, as_json: bool) -> int:
    """End a token.

    Raises:
        NotFound, Conflict: there is no such token, or it was revoked before.
    """
    token = _changed(data_dir, lambda tokens: tokens.revoke(name, by=operator()))
    if as_json:
        print_json(msgspec.to_builtins(token_view(token, SystemClock().now())))
    else:
        show(f"revoked: token {token.name}")
    return OK


def print_tokens(data_dir: Path | None, *, as_json: bool) -> int:
    """Every token, without its secret."""
    now = SystemClock().now()
    with _tokens(home_of(data_dir)) as tokens:
        found = [msgspec.to_builtins(token_view(token, now)) for token in asyncio.run(tokens.all())]
    if as_json:
        print_json({"tokens": found})
        return OK
    rows = [
        (
            one["name"],
            one["state"],
            ",".join(one["scopes"]),
            ",".join(one["workspaces"]),
            one["rate"] or "server's",
            moment(one["expires_at"]) or "never",
            moment(one["last_used_at"]) or "never",
        )
        for one in found
    ]
    print_table(
        ("token", "state", "scopes", "workspaces", "rate", "expires (UTC)", "last used (UTC)"), rows
    )
    return OK


def print_audit(
    data_dir: Path | None, name: str | None, limit: int, before: int | None, *, as_json: bool
) -> int:
    """The audit, newest first; what a server noted in the last seconds may not be in it yet."""
    if not 1 <= limit <= LIST_MAX:
        raise ConfigurationError(f"--limit is 1 to {LIST_MAX}", code="usage")
    with _tokens(home_of(data_dir)) as tokens:
        page = audit_page(asyncio.run(tokens.audit(limit=limit, before=before, token=name)), limit)
    if as_json:
        print_json(msgspec.to_builtins(page))
        return OK
    rows = [
        (
            moment(one.last_at),
            one.event,
            one.token,
            one.asked,
            one.reason,
            one.count,
            one.by or one.address,
        )
        for one in page.audit
    ]
    print_table(("last (UTC)", "event", "token", "asked for", "reason", "times", "by"), rows)
    if page.next is not None:
        show(f"more: --before {page.next}")
    return OK


def _show_made(made: MadeToken, *, as_json: bool) -> int:
    """The secret alone on stdout, so that it can be piped into whatever keeps it; what is said
    about it goes to stderr.
    """
    if as_json:
        print_json(
            {
                **msgspec.to_builtins(token_view(made.token, made.token.created_at)),
                "token": made.secret,
            }
        )
        return OK
    print(made.secret)
    scopes, workspaces = ", ".join(made.token.scopes), ", ".join(made.token.workspaces)
    print(
        visible_line(
            f"token {made.token.name}: {scopes}; in {workspaces}. It is shown this once.", MESSAGE
        ),
        file=sys.stderr,
    )
    return OK


@contextmanager
def _tokens(home: Path, *, fresh: bool = False) -> Generator[Tokens]:
    """The tokens of a data folder, opened as a guest; ``fresh`` makes the folder where there is
    none.
    """
    if not fresh and not (home / FILE).is_file():
        raise NotFound(f"there is no data in {home}", code="no_data")
    store = SqliteStore(home)
    try:
        yield Tokens(SqliteTokens(store), store, SystemClock())
    finally:
        store.close()


def _changed(
    data_dir: Path | None, change: Callable[[Tokens], Awaitable[T]], *, fresh: bool = False
) -> T:
    async def changed(tokens: Tokens) -> Any:
        return await change(tokens)

    with _tokens(home_of(data_dir), fresh=fresh) as tokens:
        return asyncio.run(changed(tokens))
