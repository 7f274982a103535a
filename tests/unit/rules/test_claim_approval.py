"""Laws of rule ``claim_approval``: one looks at a time, whoever may say yes; and a claim is no part
of what lets anything be decided.
"""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from ordain.rules.approve import (
    APPROVE,
    ApprovalState,
    ApproveFacts,
    ApproveReason,
    ApproverFacts,
    MayDecide,
)
from ordain.rules.claim_approval import (
    CLAIM_APPROVAL,
    ClaimApprovalFacts,
    ClaimApprovalReason,
    ClaimWish,
    MayClaim,
    MayNotClaim,
    MayRelease,
    StillClaimed,
)
from ordain.rules.decision import Decision
from tests.unit.rules.given import POLICY, decided

roles = st.lists(st.sampled_from(["leads", "money"]), unique=True, max_size=2).map(tuple)
facts = st.builds(
    ClaimApprovalFacts,
    state=st.sampled_from(["", *ApprovalState, ApprovalState.OPEN, ApprovalState.OPEN]),
    at=st.integers(0, 3),
    expires_at=st.integers(0, 9),
    same=st.booleans(),
    scoped=st.booleans(),
    named=st.booleans(),
    roles=roles,
    lacks=roles,
    own=st.booleans(),
    apart=st.booleans(),
    wish=st.sampled_from(ClaimWish),
    held=st.booleans(),
    holds=st.booleans(),
).filter(lambda one: one.held or not one.holds)


def made(one: ClaimApprovalFacts) -> Decision[Any]:
    return decided(CLAIM_APPROVAL, one, None, POLICY)


def approves(one: ClaimApprovalFacts, to: ApprovalState = ApprovalState.APPROVED) -> Decision[Any]:
    """What rule ``approve`` says of the same principal and the same approval."""
    shared = {name: getattr(one, name) for name in ApproverFacts.__struct_fields__}
    return decided(APPROVE, ApproveFacts(**shared, to=to), None, POLICY)


@given(facts)
def test_whoever_claims_may_say_yes_and_has_a_name(one: ClaimApprovalFacts) -> None:
    """Nobody claims what they could not approve, and where they could not the reason is that of
    rule ``approve``.
    """
    claims, approve = made(one), approves(one)
    assume(one.wish is not ClaimWish.RELEASE)
    if isinstance(claims.outcome, MayClaim | StillClaimed):
        assert isinstance(approve.outcome, MayDecide)
        assert one.named
    elif not isinstance(approve.outcome, MayDecide):
        assert claims.reason is approve.reason
    else:
        assert claims.reason is (
            ApproveReason.UNKNOWN if not one.named else ClaimApprovalReason.ALREADY_CLAIMED
        )


@given(facts, st.sampled_from(ApprovalState), st.data())
def test_a_claim_never_changes_what_is_decided(
    one: ClaimApprovalFacts, to: ApprovalState, data: st.DataObject
) -> None:
    """Whoever has claimed it, and whatever is wished, rule ``approve`` says the same of everybody:
    what it is told has no place for that.
    """
    held = data.draw(st.booleans())
    other = structs.replace(
        one,
        held=held,
        holds=held and data.draw(st.booleans()),
        wish=data.draw(st.sampled_from(ClaimWish)),
    )
    assert approves(one, to) == approves(other, to)
    assert not {"held", "holds", "wish", "claimed_by"} & set(ApproveFacts.__struct_fields__)


@given(facts)
def test_one_looks_at_a_time(one: ClaimApprovalFacts) -> None:
    """In another one's place only by saying so; said again it stays as it was said first; only who
    holds it gives it up.
    """
    claims = made(one)
    match claims.outcome:
        case MayClaim():
            assert not one.held or one.wish is ClaimWish.TAKE_OVER
            assert not one.holds
            assert (claims.reason is ClaimApprovalReason.TAKEN_OVER) == one.held
        case StillClaimed():
            assert one.holds
            assert one.wish is not ClaimWish.RELEASE
        case MayRelease():
            assert one.holds
            assert one.wish is ClaimWish.RELEASE
        case _:
            assert isinstance(claims.outcome, MayNotClaim)
    if not isinstance(claims.outcome, MayNotClaim):
        assert one.state == ApprovalState.OPEN
        assert one.at < one.expires_at
        assert one.scoped


@given(facts, st.data())
def test_whatever_is_taken_away_nothing_more_can_be_claimed(
    one: ClaimApprovalFacts, data: st.DataObject
) -> None:
    """A lost scope or name, a further role, policy that wants somebody else, later, an end: what
    was refused stays refused.
    """
    narrower: list[dict[str, Any]] = [
        {"scoped": False},
        {"named": False},
        {"apart": True},
        {"lacks": ("leads",)},
        {"at": one.at + 9},
        {"same": False},
    ]
    narrowed = structs.replace(one, **data.draw(st.sampled_from([*narrower, {"state": "denied"}])))
    assert not isinstance(made(one).outcome, MayNotClaim) or isinstance(
        made(narrowed).outcome, MayNotClaim
    )


@given(facts)
def test_who_holds_it_gives_it_up_whatever_policy_says_by_now(one: ClaimApprovalFacts) -> None:
    """While it is open and they have the scope: a role that they lost since keeps nobody's sign
    standing.
    """
    here = structs.replace(
        one,
        wish=ClaimWish.RELEASE,
        held=True,
        holds=True,
        scoped=True,
        state=ApprovalState.OPEN,
        at=0,
        expires_at=1,
    )
    assert isinstance(made(here).outcome, MayRelease)
