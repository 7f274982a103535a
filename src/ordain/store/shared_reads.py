"""From each kind of read of a shared decision to what it reads here: the one table. A transaction that writes has every row to itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ordain.journal.records import Status
from ordain.ports.shared import AccountsRead, RowRead, RunFound, RunRead, SessionRead, SessionState, SharedRead
from ordain.store.accounts import read_accounts
from ordain.store.conversation import read_state
from ordain.store.tables import read_row
from ordain.store.transaction import Transaction

_OVER = (
    "SELECT 1 FROM records r LEFT JOIN payloads p ON p.id = r.payload WHERE r.run = ? AND r.kind = 'observation' AND r.name = 'wait'"
    " AND iif(json_valid(CAST(coalesce(r.body, p.bytes) AS TEXT)), json_extract(CAST(coalesce(r.body, p.bytes) AS TEXT), '$.addr'), -1) = ?"
)


def read(transaction: Transaction, workspace: str, what: SharedRead) -> Any:
    """What one of a decision's reads gives."""
    return READS[type(what)](transaction, workspace, what)


def _session(transaction: Transaction, workspace: str, what: SessionRead) -> SessionState:
    return read_state(transaction.db, workspace, what)


def _row(transaction: Transaction, workspace: str, what: RowRead) -> tuple[Any, ...] | None:
    return read_row(transaction.db, workspace, transaction.table(what.table), what)


def _accounts(transaction: Transaction, workspace: str, what: AccountsRead) -> list[dict[str, Any]]:
    return read_accounts(transaction.db, workspace, what)


def _run(transaction: Transaction, _: str, what: RunRead) -> RunFound | None:
    db = transaction.db
    row = db.execute("SELECT no, status FROM runs WHERE id = ?", (what.run,)).fetchone()
    if row is None:
        return None
    mailed = bool(what.key) and db.execute("SELECT 1 FROM mailbox WHERE run = ? AND key = ?", (row[0], what.key)).fetchone() is not None
    over = what.addr >= 0 and db.execute(_OVER, (row[0], what.addr)).fetchone() is not None
    return RunFound(status=Status(row[1]), mailed=mailed, over=over)


READS: Mapping[type, Callable[[Transaction, str, Any], Any]] = {
    SessionRead: _session,
    RowRead: _row,
    AccountsRead: _accounts,
    RunRead: _run,
}
