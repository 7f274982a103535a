"""Laws of rule ``grant``: only a grant that stands and covers the call is taken, and what is
destructive never is.
"""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.approvals import GRANTABLE, RISK_ORDER, Grant, GrantAudit, GrantScope, Tier
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect, VerbSpec
from ordain.rules.bounds import not_granted
from ordain.rules.grant import GRANT, GrantFact, GrantFacts, GrantReason, GrantTaken
from tests.unit.rules.given import POLICY, decided

grants = st.builds(
    GrantFact,
    grant=st.sampled_from(["g1", "g2", "g3"]),
    by=st.just("local:ben"),
    level=st.sampled_from(RiskLevel),
    expires_at=st.integers(0, 3),
    uses_left=st.none() | st.integers(0, 2),
    outside=st.sampled_from(["", "", "target"]),
)
facts = st.builds(
    GrantFacts,
    verb=st.just("v"),
    call=st.just("c"),
    tier=st.sampled_from(Tier),
    at=st.integers(0, 3),
    grants=st.lists(grants, max_size=4, unique_by=lambda one: one.grant).map(tuple),
)


@given(facts)
def test_only_what_stands_and_covers_the_call_is_taken(one: GrantFacts) -> None:
    """By time, uses, scope and risk; and where such a one is there, it is taken."""
    good = {
        grant.grant
        for grant in one.grants
        if one.at < grant.expires_at
        and grant.uses_left != 0
        and not grant.outside
        and one.tier in GRANTABLE
        and RISK_ORDER[grant.level] >= RISK_ORDER[GRANTABLE[one.tier]]
    }
    made = decided(GRANT, one, None, POLICY)
    if isinstance(made.outcome, GrantTaken):
        assert made.outcome.grant in good
        assert one.tier in (Tier.EGRESS, Tier.WRITE, Tier.DELEGATION)
    else:
        assert not good
        assert made.reason in (GrantReason.NONE, GrantReason.OUTSIDE)


@given(facts)
def test_fewer_grants_never_allow_more(one: GrantFacts) -> None:
    """Whichever is taken back, a call that was not granted is not granted then."""
    if isinstance(decided(GRANT, one, None, POLICY).outcome, GrantTaken):
        return
    for left in range(len(one.grants)):
        fewer = GrantFacts(
            verb=one.verb,
            call=one.call,
            tier=one.tier,
            at=one.at,
            grants=one.grants[:left] + one.grants[left + 1 :],
        )
        assert not isinstance(decided(GRANT, fewer, None, POLICY).outcome, GrantTaken)


def test_an_argument_of_which_nobody_knows_whom_it_names_is_beyond_targets() -> None:
    """A schema that lets more through than the verb declares roles for: a grant with targets is for
    no call that uses that.
    """
    arguments = {"to": Argument(role=ArgumentRole.RECIPIENT)}
    spec = VerbSpec(
        name="m",
        description="d",
        effect=VerbEffect.SEND,
        arguments=arguments,
        input_schema={"properties": {"to": {}}},
    )
    ben, eve = {"to": "ben"}, {"to": "ben", "cc": "eve"}
    grant = Grant(
        grant_id="g",
        principal="user:test",
        scope=GrantScope(capabilities=("m",), targets=("ben",)),
        risk_level=RiskLevel.WRITE,
        ttl_seconds=60,
        expires_at=1,
        reason="",
        audit=GrantAudit(by="local:ben", at=0),
    )
    assert [not_granted(grant, spec, args) for args in (ben, eve)] == ["", "target"]
    anybody = msgspec.structs.replace(grant, scope=GrantScope(capabilities=("m",)))
    assert not_granted(anybody, spec, eve) == ""


@given(st.floats(allow_nan=False) | st.integers())
def test_an_amount_is_covered_from_nothing_up_to_its_bound(amount: float) -> None:
    """Below nothing it is another thing than what was said yes to; a run's own bound, which old
    journals are held to, knows none below.
    """
    arguments = {
        "to": Argument(role=ArgumentRole.RECIPIENT),
        "amount": Argument(role=ArgumentRole.AMOUNT, maximum=10),
    }
    schema: Any = {
        "type": "object",
        "properties": {"to": {"type": "string"}, "amount": {"type": "number"}},
    }
    spec = VerbSpec(
        name="gift.send",
        description="x",
        effect=VerbEffect.SEND,
        arguments=arguments,
        input_schema=schema,
    )
    scope = GrantScope(
        capabilities=("gift.send",), constraints={"gift.send": Constraint(max_amount=5)}
    )
    grant = Grant(
        grant_id="g",
        principal="p",
        scope=scope,
        risk_level=RiskLevel.WRITE,
        ttl_seconds=60,
        expires_at=60,
        reason="",
        audit=GrantAudit(by="b", at=0),
    )
    assert (not_granted(grant, spec, {"amount": amount}) == "") == (0 <= amount <= 5)
