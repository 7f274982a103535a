"""Rule ``claim_approval`` (shared): may this principal say that they look at this open approval, or
no longer? Applied inside the transaction that writes it.

Such a claim is a sign to other approvers. It grants nothing and keeps nobody from deciding: rule
``approve`` knows nothing of it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from ordain.contracts.policy import Policy
from ordain.rules.approve import ApproveReason, ApproverFacts, why_closed, why_not_theirs
from ordain.rules.decision import Decision, Rule
from ordain.rules.reasons import Reason


class ClaimApprovalReason(Reason):
    """Why somebody looks at an approval, as it stands in its row, or does not; why they may not at
    all rule ``approve`` has words for.
    """

    CLAIMED = "claim_approval.claimed", "Somebody who may approve it looks at it."
    HELD = "claim_approval.held", "They said so before."
    TAKEN_OVER = "claim_approval.taken_over", "They look at it in another one's place, and say so."
    RELEASED = "claim_approval.released", "Whoever looked at it does so no longer."
    ALREADY_CLAIMED = (
        "claim_approval.already_claimed",
        "Somebody else looks at it, and it was not said that it is taken over.",
    )
    NOT_CLAIMED = "claim_approval.not_claimed", "This principal has not claimed it."


class ClaimWish(StrEnum):
    """What a principal says: that they look at it, that they do in another one's place, or that
    they do no longer.
    """

    CLAIM = "claim"
    TAKE_OVER = "take_over"
    RELEASE = "release"


class ClaimApprovalFacts(ApproverFacts, frozen=True, kw_only=True, omit_defaults=True):
    """The approval, who comes to it, and what they wish. ``held``: somebody has claimed it;
    ``holds``: it is this principal.
    """

    wish: ClaimWish
    held: bool = False
    holds: bool = False


class MayClaim(Struct, frozen=True, tag="claims"):
    """They look at it from now on."""


class StillClaimed(Struct, frozen=True, tag="stays"):
    """They do already, since when they said so first."""


class MayRelease(Struct, frozen=True, tag="releases"):
    """Nobody looks at it from now on."""


class MayNotClaim(Struct, frozen=True, tag="refused"):
    """Whoever looks at it still does."""


ClaimApprovalOutcome = MayClaim | StillClaimed | MayRelease | MayNotClaim


def decide_claim_approval(
    facts: ClaimApprovalFacts, inputs: None, policy: Policy
) -> Decision[ClaimApprovalOutcome]:
    """Open, in time, by somebody with a name who may say yes to it; one at a time, and in another
    one's place only by saying so.
    """
    if (refused := _refused(facts)) is not None:
        return Decision(outcome=MayNotClaim(), reason=refused)
    if facts.wish is ClaimWish.RELEASE:
        return Decision(outcome=MayRelease(), reason=ClaimApprovalReason.RELEASED)
    if facts.holds:
        return Decision(outcome=StillClaimed(), reason=ClaimApprovalReason.HELD)
    return Decision(
        outcome=MayClaim(),
        reason=ClaimApprovalReason.TAKEN_OVER if facts.held else ClaimApprovalReason.CLAIMED,
    )


def _refused(facts: ClaimApprovalFacts) -> ApproveReason | ClaimApprovalReason | None:
    if (closed := why_closed(facts)) is not None:
        return closed
    if facts.wish is ClaimWish.RELEASE:
        # whoever holds it gives it up, whatever policy says of them by now
        return (
            ApproveReason.NOT_AN_APPROVER
            if not facts.scoped
            else None
            if facts.holds
            else ClaimApprovalReason.NOT_CLAIMED
        )
    if (refused := why_not_theirs(facts, asks=True)) is not None:
        return refused
    if not facts.named:  # a sign by nobody is none
        return ApproveReason.UNKNOWN
    return (
        ClaimApprovalReason.ALREADY_CLAIMED
        if facts.held and not facts.holds and facts.wish is ClaimWish.CLAIM
        else None
    )


CLAIM_APPROVAL: Rule[ClaimApprovalFacts, None, Any] = Rule(
    name="claim_approval",
    outcome=ClaimApprovalOutcome,
    apply=decide_claim_approval,
    reasons=(ClaimApprovalReason, ApproveReason),
)
