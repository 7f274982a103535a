"""An approver's word that they look at an approval, or no longer, as one unit with rule
``claim_approval`` inside: of two who say so at once one does.

No run hears of it and no decision asks for it: it is a sign to other approvers, kept in the
approval's row.
"""

from __future__ import annotations

import logging
from typing import Any

from msgspec import Struct, structs

from ordain.contracts.legible_text import name_text
from ordain.contracts.moments import moment
from ordain.errors import Conflict, OrdainError
from ordain.ports.approvals import ApprovalClaimed, ApprovalRow
from ordain.ports.shared import ApprovalRead, Ruling, Shared
from ordain.ports.store import Arrive
from ordain.rules.claim_approval import (
    CLAIM_APPROVAL,
    ClaimApprovalFacts,
    ClaimApprovalReason,
    ClaimWish,
    MayClaim,
    MayNotClaim,
    MayRelease,
)
from ordain.runtime.approvers import refusal
from ordain.runtime.services import Services

LOG = logging.getLogger("ordain.approvals")
_OWN = {reason.value: reason for reason in ClaimApprovalReason}


class ClaimAsked(Struct, frozen=True, kw_only=True):
    """Who comes to an approval with which wish. ``gone``: what it is of was erased; ``may`` is what
    rule ``approve`` is told of a principal (``approver_facts``).
    """

    by: str
    wish: ClaimWish
    gone: bool
    may: dict[str, Any]


async def claimed(services: Services, row: ApprovalRow, asked: ClaimAsked) -> ApprovalRow:
    """Carry the wish out, where it may be; the row as it stands since. Durable when this returns.

    Raises:
        NotFound: ``approval_not_found``.
        Conflict: ``already_claimed`` (``claimed_by`` says who looks at it), ``not_claimed``,
            ``already_decided``, ``approval_expired``, ``approval_stale``.
        Refused: ``not_an_approver``, ``own_request``, ``approver_unknown``.
    """
    at, policy = services.clock.now(), services.catalogs.current.policy
    stood = [row]

    def decide(found: ApprovalRow | None) -> Ruling:
        holder = "" if found is None else found.in_review_by
        facts = ClaimApprovalFacts(
            state="" if found is None else found.state,
            at=at,
            expires_at=0 if found is None else found.expires_at,
            same=not asked.gone,
            wish=asked.wish,
            held=bool(holder),
            holds=bool(holder) and holder == asked.by,
            **asked.may,
        )
        made = CLAIM_APPROVAL.apply(facts, None, policy)
        stood[:] = [row if found is None else found]
        match made.outcome:
            case MayNotClaim():
                return Ruling(refused=str(made.reason))
            case MayClaim():
                return Ruling(writes=(ApprovalClaimed(id=row.id, by=asked.by, at=at),))
            case MayRelease():
                return Ruling(writes=(ApprovalClaimed(id=row.id, by="", at=at),))
            case _:
                return Ruling()

    shared = Shared(reads=(ApprovalRead(approval=row.id),), decide=decide)
    outcome = await services.store.submit(Arrive(workspace=row.workspace, shared=shared))
    (before,) = stood
    if outcome.refused:
        LOG.warning(
            "approval=%s claim=%s by=%r refused=%s", row.id, asked.wish, asked.by, outcome.refused
        )
        raise _refusal(outcome.refused, before)
    LOG.info(
        "approval=%s run=%s claim=%s by=%r was=%r",
        row.id,
        row.run,
        asked.wish,
        asked.by,
        before.in_review_by,
    )
    if asked.wish is ClaimWish.RELEASE:
        return structs.replace(before, claimed_by="", claimed_at=0)
    return (
        before
        if before.in_review_by == asked.by
        else structs.replace(before, claimed_by=asked.by, claimed_at=at)
    )


def _refusal(reason: str, row: ApprovalRow) -> OrdainError:
    known = _OWN.get(reason)
    if known is None:
        return refusal(reason, f"approval {row.id}")
    if known is not ClaimApprovalReason.ALREADY_CLAIMED:
        return Conflict(f"approval {row.id}: {known.meaning}", code=reason.rpartition(".")[2])
    who = name_text(row.claimed_by)
    said = (
        f"approval {row.id} is in review by {who} since {moment(row.claimed_at)}; it is decided "
        "without a claim, and claimed in their place by taking it over"
    )
    return Conflict(said, code="already_claimed", details={"claimed_by": who})
