"""Laws of rule ``negotiate``: the most confident stands first, and how far the others agree is a
number.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ordain.rules.negotiate import (
    NEGOTIATE,
    AgentProposal,
    Agreed,
    NegotiateFacts,
    NegotiateInputs,
    NegotiateReason,
)
from tests.unit.rules.given import POLICY, decided, json_values, texts

proposals = st.lists(
    st.builds(
        AgentProposal,
        agent=st.sampled_from("abcdef"),
        summary=texts,
        confidence=st.floats(0, 1),
        rationale=texts,
        said=json_values,
    ),
    max_size=6,
)


def negotiated(found: Any) -> Any:
    return decided(
        NEGOTIATE, NegotiateFacts(proposals=len(found)), NegotiateInputs(proposals=found), POLICY
    )


@given(proposals)
def test_the_most_confident_stands_first(found: list[AgentProposal]) -> None:
    """Its supporters are within policy's distance, and the consensus is a part of one."""
    outcome = negotiated(found).outcome
    if isinstance(outcome, Agreed):
        best = found[outcome.place]
        assert best.counted == max(one.counted for one in found)
        assert best.agent == outcome.agent
        assert 0 < outcome.consensus <= 1
        near = [one for one in found if best.counted - one.counted <= POLICY.roster.agreement]
        assert len(outcome.supporters) == len(near) - 1
    else:
        assert len(found) < 2 or not any(one.counted for one in found)


def test_what_it_comes_to_is_recorded() -> None:
    """Three of whom two agree; and the ways in which there is none."""
    found = [
        AgentProposal(agent=name, summary="s", confidence=confidence)
        for name, confidence in (("a", 0.4), ("b", 0.9), ("c", 0.8))
    ]
    decision = negotiated(found)
    assert (decision.reason, decision.outcome) == (
        NegotiateReason.AGREED,
        Agreed(place=1, agent="b", consensus=round(1.7 / 2.1, 6), supporters=("c",)),
    )
    assert negotiated(found[:1]).reason is NegotiateReason.TOO_FEW
    assert (
        negotiated([AgentProposal(agent=name, summary="s", confidence=0.0) for name in "ab"]).reason
        is NegotiateReason.NO_CONFIDENCE
    )
