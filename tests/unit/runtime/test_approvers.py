"""The features of a principal that rule ``approve`` sees, and its refusals as errors."""

from __future__ import annotations

import pytest

from ordain.contracts.access import Principal, TokenScope
from ordain.contracts.approvals import WHY_CHARS, ApprovalRule, ApprovalsPolicy
from ordain.errors import Conflict, InvalidRequest, NotFound, Refused
from ordain.rules.approve import ApproveReason
from ordain.runtime.approvers import approver_facts, check_why, may_approve, refusal

POLICY = ApprovalsPolicy(roles={"leads": ["token:ada"], "money": ["token:ada", "local:1000"]})
ROWS = [ApprovalRule(role="leads"), ApprovalRule(role="money", not_requester=True)]


@pytest.mark.parametrize("scope", list(TokenScope))
def test_only_the_scope_of_its_own_lets_a_token_approve(scope: TokenScope) -> None:
    """No other scope implies it; the owner has it."""
    assert may_approve(Principal("token:a", (scope,))) == (scope is TokenScope.APPROVALS)
    assert may_approve(Principal("local:1000", None))


def test_all_the_roles_that_rows_want_have_to_be_held() -> None:
    """What is lacking is named, and one who has both lacks none."""
    facts = approver_facts(Principal("local:1000", None), ROWS, POLICY, ("local:1000",))
    assert (facts["roles"], facts["lacks"], facts["own"], facts["apart"]) == (
        ("leads", "money"),
        ("leads",),
        True,
        True,
    )
    assert (
        approver_facts(Principal("token:ada", None), ROWS, POLICY, ("local:1000",))["lacks"] == ()
    )


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (ApproveReason.NOT_FOUND, NotFound),
        (ApproveReason.DECIDED, Conflict),
        (ApproveReason.EXPIRED, Conflict),
        (ApproveReason.STALE, Conflict),
        (ApproveReason.UNKNOWN, Refused),
        (ApproveReason.NOT_AN_APPROVER, Refused),
        (ApproveReason.OWN_REQUEST, Refused),
    ],
)
def test_a_refusal_has_the_rules_own_code(reason: ApproveReason, kind: type[Exception]) -> None:
    """And says whose fault it is."""
    error = refusal(reason.value, "approval x")
    assert type(error) is kind
    assert error.code == reason.value.rpartition(".")[2]
    assert error.message == f"approval x: {reason.meaning}"


def test_a_reason_is_short() -> None:
    """One of a thousand characters is taken, a longer one is not."""
    check_why("x" * WHY_CHARS)
    with pytest.raises(InvalidRequest, match="at most"):
        check_why("x" * (WHY_CHARS + 1))


@pytest.mark.parametrize("who", ["", "http:loopback", "local:owner", "local:cli", "local:python"])
def test_whoever_is_only_on_this_machine_has_no_name(who: str) -> None:
    """A request without a token, the key of the data folder, a command that says nothing of its
    user: nobody knows who.
    """
    assert not approver_facts(Principal(who, None), ROWS, POLICY, ("token:b",))["named"]
    assert approver_facts(Principal("local:1000", None), ROWS, POLICY, ("token:b",))["named"]


@pytest.mark.parametrize("requester", ["http:loopback", "local:owner", "local:cli", "local:python"])
def test_a_user_of_this_machine_is_no_second_pair_of_eyes_for_somebody_nameless_of_it(
    requester: str,
) -> None:
    """They may be the same person; a token's holder is another one."""
    assert approver_facts(Principal("local:1000", None), ROWS, POLICY, (requester,))["own"]
    assert not approver_facts(
        Principal("token:ada", (TokenScope.APPROVALS,)), ROWS, POLICY, (requester,)
    )["own"]
