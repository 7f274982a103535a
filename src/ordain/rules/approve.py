"""Rule ``approve`` (shared): may this principal decide this open approval, for exactly this thing?
Applied inside the transaction that writes the decision.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class ApproveReason(Reason):
    """Why a decision about an approval counts or does not."""

    APPROVED = "approve.approved", "A principal that may said yes to exactly this."
    DENIED = "approve.denied", "A principal that may said no."
    SUPERSEDED = "approve.superseded", "A principal that may proposes other arguments instead."
    NOT_FOUND = "approve.approval_not_found", "There is no such approval."
    DECIDED = "approve.already_decided", "It was decided before, or nobody waits for it any more."
    EXPIRED = "approve.approval_expired", "Its time is over."
    STALE = "approve.approval_stale", "What was looked at is not what is asked for."
    UNKNOWN = "approve.approver_unknown", "It matters who approves, and nobody knows who this is."
    NOT_AN_APPROVER = "approve.not_an_approver", "This principal may not approve it."
    OWN_REQUEST = "approve.own_request", "Who asked for the run does not approve what it does."


class ApprovalState(StrEnum):
    """Where an approval stands; all but the first are for good, but that a run which was resumed
    asks again for what was withdrawn.
    """

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    WITHDRAWN = "withdrawn"


class ApproverFacts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The approval as the transaction reads it ("": there is none), and who comes to it.

    ``same``: what came is about what the row is about. ``scoped``: the principal has the scope
    ``approvals``. ``named``: it is known who that is, ``lacks`` the roles that policy wants and it
    has not, ``own`` that it asked for the run; ``apart`` that policy wants another one.
    """

    state: str
    at: int
    expires_at: int = 0
    same: bool = False
    scoped: bool = False
    named: bool = False
    roles: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    own: bool = False
    apart: bool = False


class ApproveFacts(ApproverFacts, frozen=True, kw_only=True, omit_defaults=True):
    """The same, and what is to become of it. ``withdrawn``: what is asked for may not be done any
    more, whatever anybody says.
    """

    to: ApprovalState
    withdrawn: bool = False


class MayDecide(Struct, frozen=True, tag="decides"):
    """It is so from now on; whoever said yes to what is withdrawn is refused all the same."""

    state: ApprovalState


class MayNotDecide(Struct, frozen=True, tag="refused"):
    """It stays as it is."""


ApproveOutcome = MayDecide | MayNotDecide
_REASONS = {
    ApprovalState.APPROVED: ApproveReason.APPROVED,
    ApprovalState.DENIED: ApproveReason.DENIED,
    ApprovalState.SUPERSEDED: ApproveReason.SUPERSEDED,
}


def decide_approve(facts: ApproveFacts, inputs: None, policy: Policy) -> Decision[ApproveOutcome]:
    """Open, in time, the same, by somebody who may; a yes to what may not be done any more ends it,
    and is none.
    """
    if (refused := _refused(facts)) is not None:
        return Decision(outcome=MayNotDecide(), reason=refused)
    if facts.withdrawn and facts.to is not ApprovalState.DENIED:
        return Decision(outcome=MayDecide(ApprovalState.WITHDRAWN), reason=ApproveReason.STALE)
    return Decision(outcome=MayDecide(facts.to), reason=_REASONS[facts.to])


def _refused(facts: ApproveFacts) -> ApproveReason | None:
    if (closed := why_closed(facts)) is not None:
        return closed
    if facts.to not in _REASONS:
        return ApproveReason.DECIDED
    return why_not_theirs(facts, asks=facts.to is not ApprovalState.DENIED)


def why_closed(facts: ApproverFacts) -> ApproveReason | None:
    """Why an approval waits for nobody; None where it is open and in time."""
    if not facts.state:
        return ApproveReason.NOT_FOUND
    if facts.state == ApprovalState.EXPIRED or (
        facts.state == ApprovalState.OPEN and facts.at >= facts.expires_at
    ):
        return ApproveReason.EXPIRED
    return None if facts.state == ApprovalState.OPEN else ApproveReason.DECIDED


def why_not_theirs(facts: ApproverFacts, *, asks: bool) -> ApproveReason | None:
    """Why this principal has no say about an open approval; ``asks``: it would let something
    happen, which whoever asked for it may be kept from.
    """
    if not facts.same:
        return ApproveReason.STALE
    if not facts.scoped:
        return ApproveReason.NOT_AN_APPROVER
    if (facts.roles or facts.apart) and not facts.named:
        return ApproveReason.UNKNOWN
    if facts.lacks:
        return ApproveReason.NOT_AN_APPROVER
    return ApproveReason.OWN_REQUEST if facts.apart and facts.own and asks else None


APPROVE: Rule[ApproveFacts, None, Any] = Rule(
    name="approve", outcome=ApproveOutcome, apply=decide_approve, reasons=(ApproveReason,)
)
