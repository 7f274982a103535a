"""Shared accounts inside the write transaction: read for a decision, charged and given back to."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from ordain.ports.shared import AccountsRead, SharedName
from ordain.ports.writes import AccountCharge, Refund


def read_accounts(
    db: sqlite3.Connection, workspace: str, read: AccountsRead
) -> list[dict[str, Any]]:
    """The accounts, in sorted order, with what is committed of each; where one is to be shared,
    that one instead.
    """
    accounts: list[dict[str, Any]] = []
    named = [_shared(db, workspace, asked, read.sharing) for asked in read.accounts]
    for asked in sorted(named, key=lambda account: account["name"]):
        row = db.execute(
            "SELECT tokens, usd_micros FROM accounts WHERE workspace = ? AND name = ?",
            (workspace, asked["name"]),
        ).fetchone()
        tokens, usd_micros = row or (0, 0)
        accounts.append({**asked, "tokens": tokens, "usd_micros": usd_micros})
    return accounts


def charge_accounts(
    db: sqlite3.Connection, workspace: str, charges: Sequence[AccountCharge]
) -> None:
    """Add to each account; one that is not there begins with it."""
    db.executemany(
        "INSERT INTO accounts VALUES (?,?,?,?) ON CONFLICT DO UPDATE SET tokens = tokens + "
        "excluded.tokens,"
        " usd_micros = usd_micros + excluded.usd_micros",
        [(workspace, charge.account, charge.tokens, charge.usd_micros) for charge in charges],
    )


def refund_accounts(db: sqlite3.Connection, workspace: str, refunds: Sequence[Refund]) -> None:
    """Give back tokens and micro-dollars; to an account that is over and was dropped, nothing."""
    db.executemany(
        "UPDATE accounts SET tokens = tokens - ?, usd_micros = usd_micros - ? WHERE workspace = ? "
        "AND name = ?",
        [(refund.tokens, refund.usd_micros, workspace, refund.account) for refund in refunds],
    )


def _shared(
    db: sqlite3.Connection, workspace: str, asked: dict[str, Any], sharing: SharedName | None
) -> dict[str, Any]:
    """The account as asked for; the one that new names go to where enough names like it are there
    already.
    """
    if sharing is None or sharing.name != asked["name"]:
        return asked
    named = "SELECT 1 FROM accounts WHERE workspace = ? AND name = ?"
    if db.execute(named, (workspace, asked["name"])).fetchone() is not None:
        return asked
    like = (
        "SELECT count(*) FROM (SELECT 1 FROM accounts WHERE workspace = ? AND name >= 'agent:' "
        "AND name < 'agent;' AND name GLOB ? LIMIT ?)"
    )
    (known,) = db.execute(like, (workspace, sharing.like, sharing.most)).fetchone()
    return asked if known < sharing.most else {**asked, "name": sharing.to}
