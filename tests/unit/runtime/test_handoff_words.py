"""What an approver is told of work that is handed on: whom, with which verbs, and why it is asked about."""

from __future__ import annotations

from typing import Any

from ordain.contracts.approvals import Subject, Tier
from ordain.effects.effect import ApprovalAsked
from ordain.runtime.approval_words import NOT_TRACED, told
from ordain.runtime.handoff_words import LEADS, VERBS_TOLD
from tests.shapes.cards import hand_to, house_of_cards

CATALOG = house_of_cards()


def words(subject: Subject, *cards: str, **detail: Any) -> list[str]:
    calls = tuple(map(hand_to, cards))
    return told(ApprovalAsked(subject=subject, calls=calls, tier=Tier.DELEGATION, detail=detail), CATALOG).splitlines()


def test_the_verbs_that_are_passed_on_are_told() -> None:
    """One call by itself; several under one line, each with its number."""
    first, *rest = words(Subject.CALL, "reader", scopes={"0": ["look"]})
    assert first == "agent.reader hands work to reader, which may use: look."
    assert rest[-1] == NOT_TRACED
    lines = words(Subject.PLAN, "reader", "talker", scopes={"0": ["look"], "1": []})
    assert lines[0] == LEADS[Subject.PLAN]
    assert [line for line in lines if line[:2] in ("1.", "2.")] == [
        "1. agent.reader hands work to reader, which may use: look.",
        "2. agent.talker hands work to talker, which may use: no verb.",
    ]


def test_what_lies_outside_the_domain_and_what_is_grave_is_told() -> None:
    """With the domain's name, the risk, and who wants it looked at; of many verbs how many more there are."""
    lines = words(
        Subject.REVIEW,
        "reader",
        scopes={"0": [f"v{number}" for number in range(VERBS_TOLD + 2)]},
        beyond={"0": ["rule"]},
        reviews={"0": {"risk": 0.8, "sources": ["compliance.high_risk"], "escalated": True}},
    )
    assert lines[0] == LEADS[Subject.REVIEW]
    assert lines[1].endswith("and 2 more.")
    assert lines[2] == "  outside the domain reading: rule"
    assert lines[3] == "  escalated: risk 0.80, by compliance.high_risk"
