"""What another outcome changes: more is allowed, less is, or something else."""

from __future__ import annotations

import pytest

from ordain.contracts.approvals import MayAsk, Tier
from ordain.contracts.verdict import RunVerdict
from ordain.rules.authorize import Allow, AuthorizeOutcome, Deny, NeedsApproval
from ordain.rules.entry import Entered
from ordain.rules.scope import Scope, ScopeRefused
from ordain.rules.verdict import Judged
from ordain.runtime.policy_changes import PolicyChange, change_of, refused_verb

ALLOW, ASK, DENY = Allow("c"), NeedsApproval("c", Tier.WRITE, MayAsk.PEOPLE), Deny()


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (DENY, ALLOW, PolicyChange.NEW_ALLOW),
        (DENY, ASK, PolicyChange.NEW_ALLOW),
        (ASK, ALLOW, PolicyChange.NEW_ALLOW),
        (ALLOW, ASK, PolicyChange.NEW_DENY),
        (ALLOW, DENY, PolicyChange.NEW_DENY),
        (ASK, DENY, PolicyChange.NEW_DENY),
        (DENY, Deny("other"), PolicyChange.OTHER),
    ],
)
def test_a_yes_stands_between_no_and_allowed(
    before: AuthorizeOutcome, after: AuthorizeOutcome, change: PolicyChange
) -> None:
    """A call that needs a yes is less than one that is allowed and more than one that is denied."""
    assert change_of(before, after) is change


def test_tool_lists_are_longer_or_shorter() -> None:
    """Fewer tools are told apart from others: what is offered besides is never taken for less."""
    assert change_of(Scope(("a", "b")), Scope(("a",))) is PolicyChange.FEWER_TOOLS
    assert change_of(Scope(("a",)), Scope(("b",))) is PolicyChange.MORE_TOOLS
    assert (
        change_of(Entered(verb="v", tools=("a", "b")), Entered(verb="v", tools=("b", "a")))
        is PolicyChange.OTHER
    )
    assert change_of(ScopeRefused("a", "c"), Scope(("a",))) is PolicyChange.NEW_ALLOW


def test_another_verdict_is_told_apart_from_other_verbs_in_one() -> None:
    """Only the verdict itself makes a run judged otherwise."""
    ok, partial = Judged(verdict=RunVerdict.OK), Judged(verdict=RunVerdict.PARTIAL, verbs=("a",))
    assert change_of(ok, partial) is PolicyChange.VERDICT
    assert (
        change_of(partial, Judged(verdict=RunVerdict.PARTIAL, verbs=("b",))) is PolicyChange.OTHER
    )


def test_a_refusal_names_its_verb() -> None:
    """Whichever of the two outcomes refuses, its verb is named; where none does, nothing is."""
    assert (
        refused_verb(Scope(("a",)), ScopeRefused("b", "c"))
        == refused_verb(ScopeRefused("b", "c"), Scope(("a",)))
        == "b"
    )
    assert refused_verb(ALLOW, DENY) == ""
