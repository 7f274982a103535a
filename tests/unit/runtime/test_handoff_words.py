"""What an approver is told of work that is handed on: whom, with which verbs, and why it is asked
about.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.approvals import Subject, Tier
from ordain.effects.effect import ApprovalAsked
from ordain.flows.shipped import SHIPPED
from ordain.runtime.approval_words import CALLS_TOLD, NOT_TRACED, told
from ordain.runtime.handoff_words import LEADS, VERBS_TOLD
from ordain.testing import catalog_of
from tests.shapes.cards import CARDS, VERBS, hand_to, leaf

MANY = catalog_of(
    *SHIPPED, verbs=(*VERBS, *(leaf(f"look{number}") for number in range(30)))
).changed(cards=dict(CARDS))


def words(subject: Subject, *cards: str, **detail: Any) -> list[str]:
    calls = tuple(map(hand_to, cards))
    return told(
        ApprovalAsked(subject=subject, calls=calls, tier=Tier.DELEGATION, detail=detail), MANY
    ).splitlines()


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


@given(
    st.sets(
        st.sampled_from(
            [verb.name for verb in VERBS]
            + [f"look{number}" for number in range(30)]
            + ["agent.talker", "gone"]
        )
    )
)
def test_nothing_that_does_more_than_read_is_hidden_behind_a_number(scope: set[str]) -> None:
    """Each such verb is named, whatever stands with it, and what is graver stands before what is
    less so.

    B-27 "Approval binds to a hash of the exact expanded steps"
    """
    first = (
        words(Subject.CALL, "reader", scopes={"0": sorted(scope)})[0]
        .partition("which may use: ")[2]
        .rstrip(".")
    )
    named = [
        name
        for part in first.split("; ")
        for name in part.rpartition(" (")[0].split(" and ")[0].split(", ")
    ]
    order = ["gone", "drop", "rule", "tell", "keep", "agent.talker"]
    graver = [verb for verb in order if verb in scope]
    assert [name for name in named if name in order] == graver
    assert not graver or named[: len(graver)] == graver


def test_what_may_be_done_by_calls_that_are_not_told_one_by_one_is_told() -> None:
    """Of many calls at once, beyond those that are told."""
    cards = ["reader"] * (CALLS_TOLD + 2)
    lines = words(Subject.PLAN, *cards, scopes={str(CALLS_TOLD + 1): ["look", "tell"]})
    assert lines[-2] == "  with which may be used: tell (send)"


def test_what_lies_outside_the_domain_and_what_is_grave_is_told() -> None:
    """With the domain's name, the risk, and who wants it looked at; of many verbs how many more
    there are.
    """
    lines = words(
        Subject.REVIEW,
        "reader",
        scopes={"0": [f"look{number}" for number in range(VERBS_TOLD + 2)]},
        beyond={"0": ["rule"]},
        reviews={"0": {"risk": 0.8, "sources": ["compliance.high_risk"], "escalated": True}},
    )
    assert lines[0] == LEADS[Subject.REVIEW]
    assert lines[1].endswith("and 2 more.")
    assert lines[2] == "  outside the domain reading: rule (admin)"
    assert lines[3] == "  escalated: risk 0.80, by compliance.high_risk"
