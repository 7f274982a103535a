"""From each kind of write to what it does here: the one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ordain.contracts.approvals import Grant
from ordain.errors import RunLost
from ordain.journal.records import SETTLED
from ordain.journal.transitions import HAS_MAIL
from ordain.ports.approvals import (
    ApprovalClaimed,
    ApprovalDecided,
    GrantRevoked,
    GrantUse,
    NewApproval,
)
from ordain.ports.sessions import EntryKind, NewEntry, ThreadChange
from ordain.ports.store import Mail
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
from ordain.testing.memory.approval_rows import (
    claim_approval,
    decide_approval,
    put_approval,
    revoke_grant,
    use_grant,
)
from ordain.testing.memory.configuration_rows import put_config
from ordain.testing.memory.places import take_place, take_place_again
from ordain.testing.memory.rows import MailRow
from ordain.testing.memory.threads import change_thread, close_question
from ordain.testing.memory.transaction import UndoneUnit, UnitAtWork
from ordain.testing.memory.transcript import add_entry, place_again


class Of:
    """Whose unit it is: of a run, or of nobody (""), in a workspace."""

    def __init__(self, workspace: str, run: str = "") -> None:
        """As it stands in the unit."""
        self.workspace, self.run = workspace, run


def write(transaction: UnitAtWork, of: Of, writes: Sequence[Write]) -> None:
    """Carry out what was decided, in its order."""
    for one in writes:
        WRITES[type(one)](transaction, of, one)


def _catalogs(transaction: UnitAtWork, _: Of, kept: KeptCatalogs) -> None:
    for digest, encoded in kept.stored:
        transaction.rows.catalogs.setdefault(digest, encoded)


def _run(transaction: UnitAtWork, of: Of, new: NewRun) -> None:
    transaction.open(new, None if new.root is None else of.run)
    stopped = any(
        there.taken is None and there.mail.kind is MailKind.INTERRUPT
        for there in transaction.rows.mailbox.get(of.run, ())
    )
    if new.root is not None and stopped:
        addr = new.started.parent_addr or 0
        _mail(transaction, of, interrupt_of(of.run, addr, new.id, new.record.at))


def _place(transaction: UnitAtWork, of: Of, place: NewPlace) -> None:
    take_place(transaction, of.workspace, place)


def _place_taken_back(transaction: UnitAtWork, _: Of, place: PlaceTakenBack) -> None:
    if not take_place_again(transaction, place.run):
        raise UndoneUnit("thread_taken")


def _entry(transaction: UnitAtWork, of: Of, entry: NewEntry) -> None:
    seq = add_entry(transaction.rows, of.workspace, entry)
    if entry.kind is EntryKind.MESSAGE:
        transaction.entered = seq
    transaction.sessions[of.workspace, entry.session] = None


def _entry_placed(transaction: UnitAtWork, of: Of, entry: EntryPlaced) -> None:
    place_again(transaction.rows, of.workspace, entry)
    transaction.sessions[of.workspace, entry.session] = None


def _thread(transaction: UnitAtWork, of: Of, change: ThreadChange) -> None:
    if not change.in_place:  # what is said in place is carried out where the place is given up
        change_thread(transaction.rows, of.workspace, change)


def _question(transaction: UnitAtWork, _: Of, question: ClosedQuestion) -> None:
    close_question(transaction.rows, question)


def _mail(transaction: UnitAtWork, of: Of, new: NewMail) -> None:
    """What a run has mail for it does not wait for any longer, whichever it is: whoever drives it
    looks.
    """
    box = transaction.rows.mailbox.get(new.run, ())
    new.key.encode()  # text that no store can hold is refused by every one of them
    if all(there.mail.key != new.key for there in box):
        number = transaction.rows.number("mail")
        mail = Mail(id=number, kind=new.kind, key=new.key, addr=new.addr, body=new.body, at=new.at)
        transaction.rows.mailbox[new.run] = (*box, MailRow(mail))
        if new.kind is MailKind.INTERRUPT:
            for one in [row.run for row in transaction.rows.runs.values()]:
                if one.parent == new.run and one.status not in SETTLED:
                    _mail(transaction, of, interrupt_of(new.run, one.parent_addr, one.id, new.at))
    transaction.befalls(new.run, HAS_MAIL)
    transaction.runs[new.run] = None


def _taken_mail(transaction: UnitAtWork, of: Of, taken: TakenMail) -> None:
    box = transaction.rows.mailbox.get(of.run, ())
    left = [
        index
        for index, there in enumerate(box)
        if there.mail.id == taken.mail and there.taken is None
    ]
    if not left:
        raise RunLost(f"run {of.run} has moved on without this engine")
    transaction.rows.mailbox[of.run] = (
        *box[: left[0]],
        replace(box[left[0]], taken=taken.seq),
        *box[left[0] + 1 :],
    )


def _outbox(transaction: UnitAtWork, of: Of, words: OutboxRow) -> None:
    if (of.run, words.addr) in transaction.rows.outbox:
        raise RunLost(f"run {of.run} has said the words of effect {words.addr} before")
    transaction.rows.outbox[of.run, words.addr] = words.text, words.at


def _charge(transaction: UnitAtWork, of: Of, charge: AccountCharge) -> None:
    name = of.workspace, charge.account
    tokens, usd_micros = transaction.rows.accounts.get(name, (0, 0))
    transaction.rows.accounts[name] = tokens + charge.tokens, usd_micros + charge.usd_micros


def _refund(transaction: UnitAtWork, of: Of, refund: Refund) -> None:
    """To an account that is over and was dropped, nothing."""
    name = of.workspace, refund.account
    if (stands := transaction.rows.accounts.get(name)) is not None:
        transaction.rows.accounts[name] = stands[0] - refund.tokens, stands[1] - refund.usd_micros


def _row(transaction: UnitAtWork, of: Of, row: TableRow) -> None:
    table = transaction.table(row.table)
    if (len(row.key), len(row.values)) != (len(table.key), len(table.columns)) or None in row.key:
        raise ValueError(
            f"a row of {table.name} has a value for each part of its key and for each column"
        )
    transaction.rows.values[table.name, of.workspace, *row.key] = row.values


def _configured(transaction: UnitAtWork, _: Of, new: ConfigVersion) -> None:
    if not put_config(transaction.rows, new.record):
        raise UndoneUnit("version_conflict")


def _approval(transaction: UnitAtWork, of: Of, new: NewApproval) -> None:
    put_approval(transaction, of.run, new)


def _approval_decided(transaction: UnitAtWork, _: Of, decided: ApprovalDecided) -> None:
    decide_approval(transaction.rows, decided)


def _approval_claimed(transaction: UnitAtWork, _: Of, claimed: ApprovalClaimed) -> None:
    claim_approval(transaction.rows, claimed)


def _attachment(_: UnitAtWork, __: Of, ___: AttachmentKept) -> None:
    raise UndoneUnit("attachment_gone")  # there is no library here, so nothing is staged


def _grant(transaction: UnitAtWork, of: Of, grant: Grant) -> None:
    transaction.rows.grants[of.workspace, grant.grant_id] = grant


def _grant_used(transaction: UnitAtWork, of: Of, use: GrantUse) -> None:
    if not use_grant(transaction.rows, of.workspace, use):
        raise UndoneUnit("grant_used_up")


def _grant_revoked(transaction: UnitAtWork, of: Of, revoked: GrantRevoked) -> None:
    revoke_grant(transaction.rows, of.workspace, revoked)


WRITES: Mapping[type, Callable[[UnitAtWork, Of, Any], None]] = {
    KeptCatalogs: _catalogs,
    NewRun: _run,
    NewPlace: _place,
    PlaceTakenBack: _place_taken_back,
    NewEntry: _entry,
    EntryPlaced: _entry_placed,
    AttachmentKept: _attachment,
    ThreadChange: _thread,
    ClosedQuestion: _question,
    NewMail: _mail,
    TakenMail: _taken_mail,
    OutboxRow: _outbox,
    AccountCharge: _charge,
    Refund: _refund,
    TableRow: _row,
    ConfigVersion: _configured,
    NewApproval: _approval,
    ApprovalDecided: _approval_decided,
    ApprovalClaimed: _approval_claimed,
    Grant: _grant,
    GrantUse: _grant_used,
    GrantRevoked: _grant_revoked,
}
