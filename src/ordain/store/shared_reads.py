"""From each kind of read of a shared decision to what it reads here: the one table. A transaction
that writes has every row to itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import Grant
from ordain.effects.effect import Wait
from ordain.errors import JournalCorrupt
from ordain.journal.records import Record, RecordKind, Status
from ordain.ports.approvals import ApprovalRow
from ordain.ports.shared import (
    AccountsRead,
    ApprovalRead,
    ConfigFound,
    ConfigRead,
    GrantRead,
    GrantsRead,
    RowRead,
    RunFound,
    RunRead,
    SessionRead,
    SessionState,
    SharedRead,
)
from ordain.store.accounts import read_accounts
from ordain.store.approval_rows import read_approval
from ordain.store.configuration_rows import read_config
from ordain.store.conversation import read_state
from ordain.store.grant_rows import read_grant, standing_grants
from ordain.store.posted_mail import told_to_stop
from ordain.store.run_records import asking, read_back
from ordain.store.tables import read_row
from ordain.store.transaction import Transaction


class _At(Struct):
    addr: int


_WAIT = str(Wait.__struct_config__.tag)
_EFFECTS = frozenset({RecordKind.INTENT, RecordKind.OBSERVATION})
_AT = msgspec.json.Decoder(_At)


def read(transaction: Transaction, workspace: str, what: SharedRead) -> Any:
    """What one of a decision's reads gives."""
    return READS[type(what)](transaction, workspace, what)


def _session(transaction: Transaction, workspace: str, what: SessionRead) -> SessionState:
    if what.opening is not None:
        transaction.ledger.session(workspace, what.session)
    return read_state(transaction.db, workspace, what)


def _row(transaction: Transaction, workspace: str, what: RowRead) -> tuple[Any, ...] | None:
    return read_row(transaction.db, workspace, transaction.table(what.table), what)


def _config(transaction: Transaction, _: str, what: ConfigRead) -> ConfigFound:
    return read_config(transaction.db, what)


def _accounts(transaction: Transaction, workspace: str, what: AccountsRead) -> list[dict[str, Any]]:
    return read_accounts(transaction.db, workspace, what)


def _run(transaction: Transaction, _: str, what: RunRead) -> RunFound | None:
    db = transaction.db
    row = db.execute("SELECT no, status FROM runs WHERE id = ?", (what.run,)).fetchone()
    if row is None:
        return None
    mailed = (
        bool(what.key)
        and db.execute(
            "SELECT 1 FROM mailbox WHERE run = ? AND key = ?", (row[0], what.key)
        ).fetchone()
        is not None
    )
    over = what.addr >= 0 and _is_over(db, row[0], what.addr)
    stopped = told_to_stop(db, row[0])
    return RunFound(status=Status(row[1]), mailed=mailed, over=over, interrupted=stopped)


def _is_over(db: sqlite3.Connection, run: int, addr: int) -> bool:
    """Whether a run's wait at effect ``addr`` has its observation. What cannot be read says that of
    none.
    """
    with suppress(JournalCorrupt):
        for record in read_back(asking(db), run):
            if record.name == _WAIT and record.kind in _EFFECTS and _addr(record) == addr:
                # before it comes its intent, and no other
                return record.kind is RecordKind.OBSERVATION
    return False


def _addr(record: Record) -> int | None:
    try:
        return _AT.decode(record.body or b"").addr
    except msgspec.DecodeError:
        return None


def _grants(transaction: Transaction, workspace: str, what: GrantsRead) -> list[Grant]:
    return standing_grants(transaction.db, workspace, what.principal, what.at, what.most)


def _grant(transaction: Transaction, workspace: str, what: GrantRead) -> Grant | None:
    return read_grant(transaction.db, workspace, what.grant)


def _approval(transaction: Transaction, workspace: str, what: ApprovalRead) -> ApprovalRow | None:
    row = read_approval(transaction.db, what.approval)
    return row if row is not None and row.workspace == workspace else None


READS: Mapping[type, Callable[[Transaction, str, Any], Any]] = {
    SessionRead: _session,
    RowRead: _row,
    ConfigRead: _config,
    AccountsRead: _accounts,
    GrantsRead: _grants,
    GrantRead: _grant,
    ApprovalRead: _approval,
    RunRead: _run,
}
