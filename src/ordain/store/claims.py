"""Claims: what a shared rule reads and changes, inside the write transaction. The rule itself is handed in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ordain.ports.store import SessionState
from ordain.rules.attach import ATTACH
from ordain.rules.budget import CARVE
from ordain.store.conversation import read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlClaim:
    """Reads what facts are made of; applies the change that the decision asks for."""

    read: Callable[[sqlite3.Connection, str, dict[str, Any]], Any]
    change: Callable[[sqlite3.Connection, str, Any], None] | None = None
    """None where what follows is a ``Consequence``, which is applied like a received message's."""


def read_accounts(db: sqlite3.Connection, workspace: str, args: dict[str, Any]) -> dict[str, Any]:
    """The accounts named in ``args``, in sorted order, with what is committed of each; where one is to be shared, that one instead."""
    accounts: list[dict[str, Any]] = []
    named = [_shared(db, workspace, asked, args.get("shared")) for asked in args["accounts"]]
    for asked in sorted(named, key=lambda account: account["name"]):
        row = db.execute("SELECT tokens, usd_micros FROM accounts WHERE workspace = ? AND name = ?", (workspace, asked["name"])).fetchone()
        tokens, usd_micros = row or (0, 0)
        accounts.append({**asked, "tokens": tokens, "usd_micros": usd_micros})
    return {"tokens": args["tokens"], "usd_micros": args["usd_micros"], "accounts": accounts}


def charge_accounts(db: sqlite3.Connection, workspace: str, change: dict[str, Any]) -> None:
    """Add to every account named in ``change``."""
    for name in change["accounts"]:
        db.execute(
            "INSERT INTO accounts VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens,"
            " usd_micros = usd_micros + excluded.usd_micros",
            (workspace, name, change["tokens"], change["usd_micros"]),
        )


def refund_account(db: sqlite3.Connection, workspace: str, name: str, given_back: tuple[int, int]) -> None:
    """Give back tokens and micro-dollars; to an account that is over and was dropped, nothing."""
    db.execute(
        "UPDATE accounts SET tokens = tokens - ?, usd_micros = usd_micros - ? WHERE workspace = ? AND name = ?",
        (*given_back, workspace, name),
    )


def _shared(db: sqlite3.Connection, workspace: str, asked: dict[str, Any], shared: dict[str, Any] | None) -> dict[str, Any]:
    """The account as asked for; the one ``as`` which new names go where ``most`` names ``like`` it are there already."""
    if shared is None or shared["name"] != asked["name"]:
        return asked
    named = "SELECT 1 FROM accounts WHERE workspace = ? AND name = ?"
    if db.execute(named, (workspace, asked["name"])).fetchone() is not None:
        return asked
    like = (
        "SELECT count(*) FROM (SELECT 1 FROM accounts WHERE workspace = ? AND name >= 'agent:' AND name < 'agent;' AND name GLOB ? LIMIT ?)"
    )
    (known,) = db.execute(like, (workspace, shared["like"], shared["most"])).fetchone()
    return asked if known < shared["most"] else {**asked, "name": shared["as"]}


def read_session(db: sqlite3.Connection, workspace: str, args: dict[str, Any]) -> SessionState:
    """The session named in ``args`` as the message there sees it."""
    return read_state(db, workspace, args["session"], args)


CLAIMS: Mapping[str, SqlClaim] = {
    CARVE.name: SqlClaim(read=read_accounts, change=charge_accounts),
    ATTACH.name: SqlClaim(read=read_session),
}
