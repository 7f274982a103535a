"""Rule ``authorize`` on handing work to a card: never without an envelope, and with a yes where
policy wants one.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.approvals import Delegation, MayAsk, Tier
from ordain.contracts.handoff import Handed
from ordain.contracts.risk import RiskLevel
from ordain.rules.authorize import (
    AUTHORIZE,
    Allow,
    AuthorizeFacts,
    AuthorizeInputs,
    AuthorizeReason,
    Deny,
    NeedsApproval,
)
from ordain.rules.decision import Decision
from ordain.rules.grant import reach_of
from tests.shapes.cards import ALL, house_of_cards
from tests.shapes.cards import given as wish
from tests.unit.rules.given import decided

R = AuthorizeReason
CATALOGS = {asks: house_of_cards(approvals={"delegation": asks}) for asks in Delegation}
handed = st.none() | st.sampled_from(Handed)


def authorize(asks: Delegation, handed: Handed | None, **more: Any) -> Decision[Any]:
    known: dict[str, Any] = {
        "in_scope": True,
        "depth": 0,
        "verb_calls": 0,
        "cap_verb_calls": 9,
        "may_ask": MayAsk.PEOPLE,
        **more,
    }
    facts = AuthorizeFacts(verb="agent.reader", call="d", handed=handed, **known)
    return decided(
        AUTHORIZE,
        facts,
        AuthorizeInputs(args=wish(), catalog=CATALOGS[asks]),
        CATALOGS[asks].policy,
    )


@given(st.sampled_from(Delegation), handed, st.sampled_from(["", "guarded"]), st.booleans())
def test_when_handing_on_needs_a_yes(
    asks: Delegation, handed: Handed | None, safety: str, asked: bool
) -> None:
    """Always as shipped; beyond reads; or never, but for what a person has to look at. Without an
    envelope it is denied whatever policy says.

    B-27 "external write/destructive/undeclared egress/delegating → proposal."
    """
    decision = authorize(asks, handed, safety=safety, grant_asked=asked)
    if handed in (None, Handed.REFUSED):
        assert decision.reason is R.NO_ENVELOPE
        return
    guarded = safety == "guarded" and handed is Handed.MORE
    beyond = asks is Delegation.BEYOND_READ and handed is Handed.MORE
    needs = asks is Delegation.ALWAYS or beyond or guarded or handed is Handed.PERSON
    assert isinstance(decision.outcome, NeedsApproval) == needs
    if needs:
        assert decision.outcome.tier is Tier.DELEGATION
        assert (decision.outcome.why is MayAsk.GRANTS) == (
            not asked and handed is not Handed.PERSON
        )
    else:
        assert (decision.outcome, decision.reason) == (Allow("d"), R.DELEGATED)


@given(st.sampled_from(Delegation), handed)
def test_a_yes_makes_no_envelope(asks: Delegation, handed: Handed | None) -> None:
    """An approval allows what has one; a grant allows what no person has to look at; nobody to ask
    denies.
    """
    has = handed not in (None, Handed.REFUSED)
    assert isinstance(authorize(asks, handed, approval="a").outcome, Allow) == has
    granted = authorize(asks, handed, grant="g", grant_asked=True).outcome
    assert isinstance(granted, Allow) == (has and handed is not Handed.PERSON)
    if handed is Handed.PERSON:
        assert isinstance(authorize(asks, handed, may_ask=None).outcome, Deny)


def test_a_grant_names_the_card() -> None:
    """No glob is for handing work on, and a grant of reads is not."""
    catalog = CATALOGS[Delegation.ALWAYS]
    assert reach_of(["agent.reader"], RiskLevel.WRITE, catalog).covered == ("agent.reader",)
    assert reach_of(["agent.reader"], RiskLevel.READ, catalog).covered == ()
    assert not any(
        verb.startswith("agent.")
        for verb in reach_of(["*", "agent.*"], RiskLevel.WRITE, catalog).covered
    )
    assert len(ALL) == 5
