"""From each kind of write to what it does here: the one table. A set of writes of one kind is as
few statements as SQLite can make of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

from ordain.contracts.approvals import Grant
from ordain.journal.ledger_items import config_item
from ordain.journal.records import SETTLED
from ordain.ports.approvals import (
    ApprovalClaimed,
    ApprovalDecided,
    GrantRevoked,
    GrantUse,
    NewApproval,
)
from ordain.ports.sessions import EntryKind, NewEntry, ThreadChange
from ordain.ports.writes import (
    AccountCharge,
    AttachmentKept,
    ClosedQuestion,
    ConfigVersion,
    EntryPlaced,
    KeptCatalogs,
    MailKind,
    NewMail,
    NewPlace,
    NewRun,
    OutboxRow,
    PlaceTakenBack,
    Refund,
    TableRow,
    TakenMail,
    Write,
    interrupt_of,
)
from ordain.store.accounts import charge_accounts, refund_accounts
from ordain.store.approval_rows import claim_approvals, decide_approvals, put_approval
from ordain.store.catalog_units import keep
from ordain.store.configuration_rows import put_config
from ordain.store.conversation import (
    add_entry,
    change_threads,
    place_again,
    session_number,
    take_place,
    take_place_again,
)
from ordain.store.grant_rows import put_grant, revoke_grant, use_grant
from ordain.store.ledger import kept_messages, placed_items
from ordain.store.library_units import keep_attachment
from ordain.store.open_questions import close_question
from ordain.store.posted_mail import told_to_stop
from ordain.store.statuses import MADE_READY, standing
from ordain.store.tables import put_rows
from ordain.store.transaction import (
    RunNumbers,
    TouchedSession,
    Transaction,
    UnitRefused,
    check_moved,
)

_MAIL = "INSERT OR IGNORE INTO mailbox(run, kind, addr, key, body, at) VALUES (?,?,?,?,?,?)"
_BELOW = f"SELECT id, parent_addr FROM runs WHERE parent = ? AND NOT {standing(SETTLED)}"  # noqa: S608 - statuses of the table
"""The runs that a run waits for: whatever tells it to end tells them, too."""


def write(transaction: Transaction, of: RunNumbers, writes: Sequence[Write]) -> None:
    """Carry out what was decided, in its order, each set at once. ``of`` is the run whose unit it
    is.
    """
    for kind, some in groupby(writes, type):
        WRITES[kind](transaction, of, list(some))


def _catalogs(transaction: Transaction, _: RunNumbers, some: Sequence[KeptCatalogs]) -> None:
    for kept in some:
        keep(transaction.db, kept.stored)


def _runs(transaction: Transaction, of: RunNumbers, some: Sequence[NewRun]) -> None:
    for new in some:
        transaction.open(new, None if new.root is None else of.run)
    below = [new for new in some if new.root is not None]
    if below and told_to_stop(transaction.db, of.run):
        # their parent had looked before it was told to stop
        _mail(transaction, of, [_interrupted(new) for new in below])


def _interrupted(new: NewRun) -> NewMail:
    begun = new.started
    return interrupt_of(begun.parent or "", begun.parent_addr or 0, new.id, new.record.at)


def _places(transaction: Transaction, of: RunNumbers, some: Sequence[NewPlace]) -> None:
    for place in some:
        take_place(transaction.db, of.workspace, transaction.numbers(place.run).run, place)
        transaction.ledger.session(of.workspace, place.session)


def _places_taken_back(
    transaction: Transaction, _: RunNumbers, some: Sequence[PlaceTakenBack]
) -> None:
    for place in some:
        if not take_place_again(transaction.db, place.run):
            raise UnitRefused("thread_taken")
        transaction.ledger.turn(transaction.numbers(place.run).run)


def _entries(transaction: Transaction, of: RunNumbers, some: Sequence[NewEntry]) -> None:
    for entry in some:
        row, added = add_entry(transaction.db, of.workspace, entry)
        if entry.kind is EntryKind.MESSAGE:
            transaction.entered = added.seq
        transaction.touched_sessions.append(TouchedSession(of.workspace, entry.session, row, added))
        transaction.ledger.session(of.workspace, entry.session)


def _entries_placed(transaction: Transaction, of: RunNumbers, some: Sequence[EntryPlaced]) -> None:
    for entry in some:
        number = session_number(transaction.db, of.workspace, entry.session)
        before = kept_messages(transaction.db, number, entry.instead_of)
        place_again(transaction.db, of.workspace, entry)
        for item in placed_items(transaction.db, (of.workspace, entry.session, number), before):
            transaction.ledger.item(item)
        transaction.touched_sessions.append(TouchedSession(of.workspace, entry.session))


def _threads(transaction: Transaction, of: RunNumbers, some: Sequence[ThreadChange]) -> None:
    changes = [change for change in some if not change.in_place]
    change_threads(transaction.db, of.workspace, changes)
    for change in changes:
        transaction.ledger.thread(of.workspace, change.session, change.id)


def _questions(transaction: Transaction, _: RunNumbers, some: Sequence[ClosedQuestion]) -> None:
    for question in some:
        for session, thread in close_question(transaction.db, question.run, question.addr):
            transaction.ledger.thread_number(session, thread)


def _mail(transaction: Transaction, _: RunNumbers, some: Sequence[NewMail]) -> None:
    """What a run has mail for it does not wait for any longer, whichever it is: whoever drives it
    looks.
    """
    numbers: list[int] = []
    left = deque(some)
    while left:
        mail = left.popleft()
        number = transaction.numbers(mail.run).run
        put = transaction.db.execute(
            _MAIL, (number, mail.kind, mail.addr, mail.key, mail.body, mail.at)
        )
        if put.rowcount:  # of what has come before nothing is said again
            transaction.ledger.mail(put.lastrowid or 0)
            if mail.kind is MailKind.INTERRUPT:
                below = transaction.db.execute(_BELOW, (number,)).fetchall()
                left += [interrupt_of(mail.run, addr, run, mail.at) for run, addr in below]
        numbers.append(number)
        transaction.touched.append(mail.run)
    transaction.db.executemany(MADE_READY, [(number,) for number in numbers])


def _taken_mail(transaction: Transaction, of: RunNumbers, some: Sequence[TakenMail]) -> None:
    rows = [(mail.seq, mail.mail, of.run) for mail in some]
    taken = transaction.db.executemany(
        "UPDATE mailbox SET taken = ? WHERE id = ? AND run = ? AND taken IS NULL", rows
    )
    check_moved(taken, f"number {of.run}", len(rows))
    for mail in some:
        transaction.ledger.mail(mail.mail)


def _outbox(transaction: Transaction, of: RunNumbers, some: Sequence[OutboxRow]) -> None:
    rows = [(of.run, row.addr, row.text, row.at) for row in some]
    transaction.db.executemany("INSERT INTO outbox(run, addr, text, at) VALUES (?,?,?,?)", rows)


def _charges(transaction: Transaction, of: RunNumbers, some: Sequence[AccountCharge]) -> None:
    charge_accounts(transaction.db, of.workspace, some)
    for charge in some:
        transaction.ledger.account(of.workspace, charge.account)


def _refunds(transaction: Transaction, of: RunNumbers, some: Sequence[Refund]) -> None:
    refund_accounts(transaction.db, of.workspace, some)
    for refund in some:
        transaction.ledger.account(of.workspace, refund.account)


def _rows(transaction: Transaction, of: RunNumbers, some: Sequence[TableRow]) -> None:
    for name, rows in groupby(some, attrgetter("table")):
        put_rows(transaction.db, of.workspace, transaction.table(name), list(rows))


def _configured(transaction: Transaction, _: RunNumbers, some: Sequence[ConfigVersion]) -> None:
    for new in some:
        record, key = new.record, new.record.key
        if not put_config(transaction.db, record):
            raise UnitRefused("version_conflict")
        name = (key.place, key.resource, key.id, record.version)
        transaction.ledger.item(config_item(name, record.config, (record.by, record.at)))


def _attachments(transaction: Transaction, of: RunNumbers, some: Sequence[AttachmentKept]) -> None:
    for kept in some:
        if not keep_attachment(
            transaction.db, transaction.ledger, (of.workspace, kept.item), kept.session
        ):
            raise UnitRefused("attachment_gone")


def _approvals(transaction: Transaction, of: RunNumbers, some: Sequence[NewApproval]) -> None:
    for new in some:
        for session, thread in put_approval(transaction.db, of.run, new):
            transaction.ledger.thread_number(session, thread)
        transaction.ledger.approval(new.id)


def _approvals_decided(
    transaction: Transaction, _: RunNumbers, some: Sequence[ApprovalDecided]
) -> None:
    for session, thread in decide_approvals(transaction.db, some):
        transaction.ledger.thread_number(session, thread)
    for decided in some:
        transaction.ledger.approval(decided.id)


def _approvals_claimed(
    transaction: Transaction, _: RunNumbers, some: Sequence[ApprovalClaimed]
) -> None:
    claim_approvals(transaction.db, some)
    for claimed in some:
        transaction.ledger.approval(claimed.id)


def _grants(transaction: Transaction, of: RunNumbers, some: Sequence[Grant]) -> None:
    for grant in some:
        put_grant(transaction.db, of.workspace, grant)
        transaction.ledger.grant(grant.grant_id)


def _grants_used(transaction: Transaction, of: RunNumbers, some: Sequence[GrantUse]) -> None:
    for use in some:
        if not use_grant(transaction.db, of.workspace, use):
            raise UnitRefused("grant_used_up")
        transaction.ledger.grant(use.grant)


def _grants_revoked(transaction: Transaction, of: RunNumbers, some: Sequence[GrantRevoked]) -> None:
    for revoked in some:
        revoke_grant(transaction.db, of.workspace, revoked)
        transaction.ledger.grant(revoked.grant)


WRITES: Mapping[type, Callable[[Transaction, RunNumbers, Sequence[Any]], None]] = {
    KeptCatalogs: _catalogs,
    NewRun: _runs,
    NewPlace: _places,
    PlaceTakenBack: _places_taken_back,
    NewEntry: _entries,
    EntryPlaced: _entries_placed,
    AttachmentKept: _attachments,
    ThreadChange: _threads,
    ClosedQuestion: _questions,
    NewMail: _mail,
    TakenMail: _taken_mail,
    OutboxRow: _outbox,
    AccountCharge: _charges,
    Refund: _refunds,
    TableRow: _rows,
    ConfigVersion: _configured,
    NewApproval: _approvals,
    ApprovalDecided: _approvals_decided,
    ApprovalClaimed: _approvals_claimed,
    Grant: _grants,
    GrantUse: _grants_used,
    GrantRevoked: _grants_revoked,
}
