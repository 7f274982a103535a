"""A run's wait for an approver, as its driver carries it: what is written with the intent, what an
approver's mail comes to, and when nobody waits any more.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ordain.contracts.approvals import Subject
from ordain.contracts.catalog import Catalog
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked, Wait
from ordain.effects.results import (
    AnyResult,
    Approved,
    Expired,
    NotApproved,
    Resubmitted,
    withdrawn_wait,
)
from ordain.errors import FlowFault
from ordain.journal.digests import approval_digest, approval_id
from ordain.journal.records import ENCODER
from ordain.ports.approvals import ApprovalDecided, ApprovalRow, NewApproval
from ordain.ports.sessions import EntryKind, NewEntry, message_id
from ordain.ports.store import StoredRun
from ordain.ports.writes import MailKind, NewMail, Write
from ordain.rules.approve import ApprovalState
from ordain.runtime.approval_words import told
from ordain.runtime.asking_run import NOTHING_BEFORE, AskedBefore, told_digest
from ordain.runtime.calls import held_now, withdrawn
from ordain.runtime.consent_policy import YES_OVER
from ordain.runtime.entries import spoken
from ordain.runtime.handed_on import no_longer_named, no_target_now
from ordain.runtime.services import Services


class ApprovalMail(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An approver's word, as mail: what the approval became, by whom and why; the call that is
    proposed instead, where one is.

    ``told``: where what was said yes to may have happened, as its approver was told. Of one that is
    withdrawn ``why`` says why nobody can say yes to it any more.
    """

    state: ApprovalState
    by: str
    why: str = ""
    call: Call | None = None
    told: tuple[str, ...] | None = None


WITHDRAWN = "withdrawn"
"""Why a wait is over for something that may not be done any more, where nothing else says why."""
_MAIL = msgspec.json.Decoder(ApprovalMail)


async def not_asked(
    services: Services, run: StoredRun, catalog: Catalog, asked: ApprovalAsked
) -> str | None:
    """Why nobody is asked: what holds now does not let a run's calls be made whatever anybody says.
    None where it does.
    """
    current = services.catalogs.current
    if workflow_changed(current, catalog, asked):
        return "the workflow's template is another one now"
    if (card := _card_changed(current, catalog, asked)) is not None:
        return f"the card {card} is another one now"
    if (
        lost := next(
            (
                why
                for call in asked.calls
                if (why := no_longer_named(run, catalog, current, call.verb)) is not None
            ),
            None,
        )
    ) is not None:
        return lost
    held = await held_now(services, run)
    if (why := no_target_now(run, current, asked.calls, held)) is not None:
        return why
    return next(
        (
            why
            for call in asked.calls
            if (why := withdrawn(services, catalog, call, held, approved=True)) is not None
        ),
        None,
    )


def _card_changed(current: Catalog, pinned: Catalog, asked: ApprovalAsked) -> str | None:
    """The first card that work would be handed to and that is declared otherwise now, or gone: its
    name.
    """
    if current.digest == pinned.digest:
        return None
    cards = (pinned.card_of(call.verb) for call in asked.calls)
    return next(
        (
            card.name
            for card in cards
            if card is not None and current.data.cards.get(card.name) != card
        ),
        None,
    )


async def not_begun(
    services: Services, run: StoredRun, catalog: Catalog, asked: ApprovalAsked, result: AnyResult
) -> str | None:
    """Why a workflow does not begin though somebody said yes to it: the template was changed since,
    or the yes is over. None where it begins.

    From here on its steps are those that were approved, each held to what holds when it runs. A
    single call is held to that anyway.
    """
    if asked.subject is not Subject.WORKFLOW or not isinstance(result, Approved):
        return None
    row = await services.approvals.approval(result.approval)
    if row is not None and services.clock.now() >= row.expires_at:
        return YES_OVER
    return await not_asked(services, run, catalog, asked)


def workflow_changed(current: Catalog, pinned: Catalog, asked: ApprovalAsked) -> bool:
    """Whether the template that the steps are of is another one now, or gone. Nobody says yes to
    what an operator has taken back.
    """
    if asked.subject is not Subject.WORKFLOW or current.digest == pinned.digest:
        return False
    template = str(asked.detail.get("template", ""))
    now, then = current.workflows.get(template), pinned.workflows.get(template)
    return now is None or then is None or not now.is_as(then)


def asking(stored: StoredRun, addr: int, wait: Wait, asked_at: int, until: int) -> NewApproval:
    """The approval that a wait asks for, as a row. It may be written again: what was decided
    stays.
    """
    asked, name = _asked(wait), approval_id(stored.id, addr)
    return NewApproval(
        id=name,
        addr=addr,
        subject=asked.subject,
        tier=asked.tier,
        digest=approval_digest(stored.key or b"", name, asked),
        asked_at=asked_at,
        expires_at=until,
        workflow=stored.id if asked.subject is Subject.WORKFLOW else "",
    )


def asked_entry(
    stored: StoredRun,
    wait: Wait,
    catalog: Catalog,
    row: NewApproval,
    before: AskedBefore = NOTHING_BEFORE,
) -> NewEntry:
    """What the session is told of it: no word of the wait's own. ``before``: what may have happened
    already.
    """
    text = told(_asked(wait), catalog, before, approval=row.id)
    body = {
        "text": text,
        "approval": row.id,
        "digest": told_digest(row.digest, before.places(_asked(wait).calls, catalog)),
        "subject": row.subject,
        "tier": row.tier,
        "until": row.expires_at,
    }
    return NewEntry(
        kind=EntryKind.APPROVAL,
        body=ENCODER.encode(body),
        size=spoken(text),
        at=row.asked_at,
        session=stored.session,
        thread=stored.thread,
        run=stored.root,
        message_id=message_id(stored.id, row.addr),
    )


def letter(row: ApprovalRow, mail: ApprovalMail, at: int) -> NewMail:
    """An approver's word to the run that waits for it."""
    return NewMail(
        run=row.run,
        kind=MailKind.APPROVAL,
        key=f"approval:{row.addr}",
        body=ENCODER.encode(mail),
        at=at,
        addr=row.addr,
    )


def heard(approval: str, body: bytes) -> AnyResult:
    """What an approver's mail comes to."""
    said = _MAIL.decode(body)
    match said.state:
        case ApprovalState.APPROVED:
            return Approved(approval=approval, by=said.by, why=said.why, told=said.told)
        case ApprovalState.SUPERSEDED if said.call is not None:
            return Resubmitted(approval=approval, by=said.by, why=said.why, call=said.call)
        case ApprovalState.WITHDRAWN:
            return withdrawn_wait(said.why or WITHDRAWN)
        case _:
            return NotApproved(approval=approval, by=said.by, why=said.why)


def closing(stored: StoredRun, addr: int, result: AnyResult, at: int) -> tuple[Write, ...]:
    """The row of an approval whose wait has ended without an approver's word."""
    if isinstance(result, Approved | NotApproved | Resubmitted):
        return ()
    state = (
        ApprovalState.EXPIRED
        if isinstance(result, Expired) and not result.why
        else ApprovalState.WITHDRAWN
    )
    return (ApprovalDecided(id=approval_id(stored.id, addr), state=state, at=at),)


def _asked(wait: Wait) -> ApprovalAsked:
    if wait.approval is None:
        raise FlowFault("a wait that asks no approver")
    return wait.approval
