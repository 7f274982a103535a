"""The ticket of a review: an approval of that kind in the source's words (C6). One task has one
open ticket, for its run waits at it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from ordain.contracts.approvals import Subject
from ordain.contracts.guardrails import ReviewTicket
from ordain.journal.digests import call_digest
from ordain.rules.approve import ApprovalState
from ordain.runtime.approval_words import titled
from ordain.runtime.approvals import ApprovalView

STATUS: Mapping[str, str] = {ApprovalState.OPEN: "open", ApprovalState.APPROVED: "resolved"}
"""The source's word for a state; whatever is not here is ``dismissed``."""
IN_REVIEW = "in_review"
"""Of one that is open, and that somebody looks at."""


def ticket_of(view: ApprovalView) -> ReviewTicket | None:
    """The ticket that an approval is; None where it is no review, or its content is gone.

    ``task_id`` is the run and the digests of the exact calls; ``assigned_to`` is who looks at it,
    else the roles that policy wants (none: whoever may approve).
    """
    asked, row = view.asked, view.row
    if asked is None or row.subject != Subject.REVIEW:
        return None
    reviews: dict[str, dict[str, Any]] = asked.detail.get("reviews", {})
    escalated = {place: review for place, review in reviews.items() if review.get("escalated")}
    return ReviewTicket(
        ticket_id=row.id,
        task_id=f"{row.run}:{','.join(map(call_digest, asked.calls))}",
        status=IN_REVIEW if row.in_review_by else STATUS.get(row.state, "dismissed"),
        summary=titled(asked, view.before),
        assigned_to=(row.in_review_by,) if row.in_review_by else view.roles,
        sources=tuple(
            dict.fromkeys(source for review in reviews.values() for source in review["sources"])
        ),
        escalation_payload={
            "calls": [structs.asdict(call) for call in asked.calls],
            "reviews": escalated,
        }
        if escalated
        else {},
        notes=tuple(
            f"{what} by {by}"
            for what, by in (("claimed", row.claimed_by), (row.state, row.decided_by))
            if by
        ),
    )
