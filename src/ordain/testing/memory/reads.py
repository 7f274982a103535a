"""From each kind of read of a shared decision to what it reads here: the one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from ordain.contracts.approvals import Grant
from ordain.errors import JournalCorrupt
from ordain.journal.codec import decode
from ordain.journal.records import ObservationBody, Record, RecordKind
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
    SharedName,
    SharedRead,
)
from ordain.ports.writes import MailKind
from ordain.testing.memory.approval_rows import standing_grants
from ordain.testing.memory.configuration_rows import read_config
from ordain.testing.memory.rows import MemoryRows
from ordain.testing.memory.transaction import UnitAtWork
from ordain.testing.memory.transcript import read_state


def read(transaction: UnitAtWork, workspace: str, what: SharedRead) -> Any:
    """What one of a decision's reads gives."""
    return READS[type(what)](transaction, workspace, what)


def _session(transaction: UnitAtWork, workspace: str, what: SessionRead) -> SessionState:
    return read_state(transaction.rows, workspace, what)


def _row(transaction: UnitAtWork, workspace: str, what: RowRead) -> tuple[Any, ...] | None:
    return transaction.rows.values.get((transaction.table(what.table).name, workspace, *what.key))


def _config(transaction: UnitAtWork, _: str, what: ConfigRead) -> ConfigFound:
    return read_config(transaction.rows, what)


def _accounts(transaction: UnitAtWork, workspace: str, what: AccountsRead) -> list[dict[str, Any]]:
    """In sorted order, with what is committed of each; where one is to be shared, that one
    instead.
    """
    rows = transaction.rows
    named = sorted(
        (_shared(rows, workspace, asked, what.sharing) for asked in what.accounts),
        key=lambda account: account["name"],
    )
    stand = [(asked, rows.accounts.get((workspace, asked["name"]), (0, 0))) for asked in named]
    return [
        {**asked, "tokens": tokens, "usd_micros": usd_micros}
        for asked, (tokens, usd_micros) in stand
    ]


def _shared(
    rows: MemoryRows, workspace: str, asked: dict[str, Any], sharing: SharedName | None
) -> dict[str, Any]:
    if (
        sharing is None
        or sharing.name != asked["name"]
        or (workspace, asked["name"]) in rows.accounts
    ):
        return asked
    known = sum(of == workspace and fnmatchcase(name, sharing.like) for of, name in rows.accounts)
    return asked if known < sharing.most else {**asked, "name": sharing.to}


def _run(transaction: UnitAtWork, _: str, what: RunRead) -> RunFound | None:
    row = transaction.rows.runs.get(what.run)
    if row is None:
        return None
    mailed = bool(what.key) and any(
        there.mail.key == what.key for there in transaction.rows.mailbox.get(what.run, ())
    )
    over = what.addr >= 0 and any(_ends_wait(record, what.addr) for record in row.run.records)
    interrupted = any(
        there.taken is None and there.mail.kind is MailKind.INTERRUPT
        for there in transaction.rows.mailbox.get(what.run, ())
    )
    return RunFound(status=row.run.status, mailed=mailed, over=over, interrupted=interrupted)


def _ends_wait(record: Record, addr: int) -> bool:
    if record.kind is not RecordKind.OBSERVATION or record.name != "wait":
        return False
    try:
        body = decode(record)
    except (JournalCorrupt, msgspec.MsgspecError):
        return False
    return isinstance(body, ObservationBody) and body.addr == addr


def _grants(transaction: UnitAtWork, workspace: str, what: GrantsRead) -> list[Grant]:
    return standing_grants(transaction.rows, workspace, what.principal, what.at, what.most)


def _grant(transaction: UnitAtWork, workspace: str, what: GrantRead) -> Grant | None:
    return transaction.rows.grants.get((workspace, what.grant))


def _approval(transaction: UnitAtWork, workspace: str, what: ApprovalRead) -> ApprovalRow | None:
    row = transaction.rows.approvals.get(what.approval)
    return row if row is not None and row.workspace == workspace else None


READS: Mapping[type, Callable[[UnitAtWork, str, Any], Any]] = {
    SessionRead: _session,
    RowRead: _row,
    ConfigRead: _config,
    AccountsRead: _accounts,
    GrantsRead: _grants,
    GrantRead: _grant,
    ApprovalRead: _approval,
    RunRead: _run,
}
