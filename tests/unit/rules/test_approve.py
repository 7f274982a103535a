"""Laws of rule ``approve``: open, in time, the same thing, by somebody who may; and nothing that is
taken away lets more be decided.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ordain.rules.approve import APPROVE, ApprovalState, ApproveFacts, ApproveReason, MayDecide
from tests.unit.rules.given import POLICY, decided

words = st.sampled_from(["", *ApprovalState])
roles = st.lists(st.sampled_from(["leads", "money"]), unique=True, max_size=2).map(tuple)
facts = st.builds(
    ApproveFacts,
    state=words,
    to=st.sampled_from([ApprovalState.APPROVED, ApprovalState.DENIED, ApprovalState.SUPERSEDED]),
    at=st.integers(0, 3),
    expires_at=st.integers(0, 3),
    same=st.booleans(),
    scoped=st.booleans(),
    named=st.booleans(),
    roles=roles,
    lacks=roles,
    own=st.booleans(),
    apart=st.booleans(),
)


def decides(one: ApproveFacts) -> bool:
    return isinstance(decided(APPROVE, one, None, POLICY).outcome, MayDecide)


@given(facts)
def test_what_is_decided_was_open_the_same_and_in_time(one: ApproveFacts) -> None:
    """By somebody with the scope, with every role, known where that matters, and not for oneself
    where policy says so; and it becomes what was said.
    """
    made = decided(APPROVE, one, None, POLICY)
    if isinstance(made.outcome, MayDecide):
        assert one.state == ApprovalState.OPEN
        assert one.at < one.expires_at
        assert one.same
        assert one.scoped
        assert not one.lacks
        assert one.named or not (one.roles or one.apart)
        assert not (one.own and one.apart and one.to is not ApprovalState.DENIED)
        assert made.outcome.state is one.to
    else:
        assert made.reason not in (
            ApproveReason.APPROVED,
            ApproveReason.DENIED,
            ApproveReason.SUPERSEDED,
        )


@given(facts, st.data())
def test_whatever_is_taken_away_nothing_more_can_be_decided(
    one: ApproveFacts, data: st.DataObject
) -> None:
    """Another thing, a lost scope or name, a further role, policy that wants somebody else, later:
    what was refused stays refused.
    """
    narrower = [
        {"same": False},
        {"scoped": False},
        {"named": False},
        {"apart": True},
        {"lacks": ("leads",)},
        {"at": one.at + 9},
        {"state": "denied"},
    ]
    narrowed = structs.replace(one, **data.draw(st.sampled_from(narrower)))
    assert decides(one) or not decides(narrowed)


@given(facts)
def test_whoever_may_say_yes_may_say_no(one: ApproveFacts) -> None:
    """There is no approval that somebody could give and not refuse."""
    assert not decides(structs.replace(one, to=ApprovalState.APPROVED)) or decides(
        structs.replace(one, to=ApprovalState.DENIED)
    )
