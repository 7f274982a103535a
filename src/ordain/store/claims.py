"""Claims: what a shared rule reads and changes, inside the write transaction. The rule itself is handed in."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ordain.ports.store import SessionState
from ordain.store.conversation import read_state


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlClaim:
    """Reads what facts are made of; applies the change that the decision asks for."""

    read: Callable[[sqlite3.Connection, str, dict[str, Any]], Any]
    change: Callable[[sqlite3.Connection, str, Any], None] | None = None
    """None where what follows is a ``Consequence``, which is applied like a received message's."""


def read_accounts(db: sqlite3.Connection, workspace: str, args: dict[str, Any]) -> dict[str, Any]:
    """The accounts named in ``args``, in sorted order, with what is committed of each."""
    accounts: list[dict[str, Any]] = []
    for asked in sorted(args["accounts"], key=lambda account: account["name"]):
        row = db.execute("SELECT tokens, usd_micros FROM accounts WHERE workspace = ? AND name = ?", (workspace, asked["name"])).fetchone()
        tokens, usd_micros = row or (0, 0)
        accounts.append({**asked, "tokens": tokens, "usd_micros": usd_micros})
    return {"tokens": args["tokens"], "usd_micros": args["usd_micros"], "accounts": accounts}


def charge_accounts(db: sqlite3.Connection, workspace: str, change: dict[str, Any]) -> None:
    """Add to every account named in ``change``; negative amounts give back."""
    for name in change["accounts"]:
        db.execute(
            "INSERT INTO accounts VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET tokens = tokens + excluded.tokens,"
            " usd_micros = usd_micros + excluded.usd_micros",
            (workspace, name, change["tokens"], change["usd_micros"]),
        )


def read_session(db: sqlite3.Connection, workspace: str, args: dict[str, Any]) -> SessionState:
    """The session named in ``args`` as the message there sees it."""
    return read_state(db, workspace, args["session"], args)


CLAIMS: Mapping[str, SqlClaim] = {
    "carve": SqlClaim(read=read_accounts, change=charge_accounts),
    "attach": SqlClaim(read=read_session),
}
