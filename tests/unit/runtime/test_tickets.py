"""A review as the source's ticket: its fields, and a word for each state."""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.approvals import ApprovalRule, Subject, Tier
from ordain.effects.effect import ApprovalAsked
from ordain.ports.approvals import ApprovalRow
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApprovalView
from ordain.runtime.tickets import ticket_of
from tests.shapes.cards import hand_to


def view(
    state: ApprovalState,
    subject: Subject = Subject.REVIEW,
    *,
    escalated: bool = True,
    claimed_by: str = "",
) -> ApprovalView:
    review = {"risk": 0.8, "sources": ("compliance.high_risk",), "escalated": escalated}
    asked = ApprovalAsked(
        subject=subject,
        calls=(hand_to("dropper"),),
        tier=Tier.DELEGATION,
        detail={"reviews": {"0": review}},
    )
    fields: dict[str, Any] = dict.fromkeys(ApprovalRow.__struct_fields__, "")
    fields |= {
        "id": "t",
        "run": "r",
        "state": state,
        "subject": subject,
        "tier": Tier.DELEGATION,
        "decided_by": "" if state is ApprovalState.OPEN else "local:ben",
    }
    fields |= {"claimed_by": claimed_by, "claimed_at": 1 if claimed_by else 0}
    row = ApprovalRow(**fields)
    return ApprovalView(
        row=row,
        asked=asked,
        words="",
        requester="local:ada",
        needs=(ApprovalRule(role="auditors"),),
    )


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (ApprovalState.OPEN, "open"),
        (ApprovalState.APPROVED, "resolved"),
        (ApprovalState.DENIED, "dismissed"),
    ],
)
def test_a_ticket_has_the_sources_fields(state: ApprovalState, word: str) -> None:
    """Of a task that is escalated with all that it is, of one that is only looked at without."""
    ticket = ticket_of(view(state))
    assert ticket is not None
    assert (ticket.ticket_id, ticket.status, ticket.assigned_to) == ("t", word, ("auditors",))
    assert ticket.task_id.startswith("r:")
    assert (ticket.sources, ticket.summary) == (("compliance.high_risk",), "agent.dropper")
    assert ticket.escalation_payload["calls"]
    mere = ticket_of(view(state, escalated=False))
    assert mere is not None
    assert mere.escalation_payload == {}
    assert ticket_of(view(state, Subject.CALL)) is None


@pytest.mark.parametrize(
    ("state", "word", "whom", "notes"),
    [
        (ApprovalState.OPEN, "in_review", "local:cleo", ("claimed by local:cleo",)),
        (
            ApprovalState.APPROVED,
            "resolved",
            "auditors",
            ("claimed by local:cleo", "approved by local:ben"),
        ),
        (
            ApprovalState.DENIED,
            "dismissed",
            "auditors",
            ("claimed by local:cleo", "denied by local:ben"),
        ),
    ],
)
def test_a_claimed_ticket_is_in_review_and_assigned(
    state: ApprovalState, word: str, whom: str, notes: tuple[str, ...]
) -> None:
    """C6 “status open|in_review|resolved|dismissed”: to who looks at it while it is open; after
    that it says who did, and who decided it.
    """
    ticket = ticket_of(view(state, claimed_by="local:cleo"))
    assert ticket is not None
    assert (ticket.status, ticket.assigned_to, ticket.notes) == (word, (whom,), notes)
