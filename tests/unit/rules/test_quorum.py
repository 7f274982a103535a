"""Laws of rule ``quorum``."""

from __future__ import annotations

from math import ceil

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.council import CouncilPolicy
from ordain.contracts.policy import Policy
from ordain.journal.records import raw
from ordain.rules.decision import Recorded
from ordain.rules.quorum import (
    ABSENT_TOLD,
    QUORUM,
    QuorumFacts,
    QuorumMet,
    QuorumMissed,
    RoundRefused,
)
from tests.unit.rules.given import POLICY, decided

shares = st.floats(0, 1, exclude_min=True).map(
    lambda share: Policy(version=1, council=CouncilPolicy(quorum=share))
)
numbers = st.integers(0, 50)


@given(numbers, numbers, shares)
def test_the_share_of_policy_is_needed_and_one_at_least(
    seats: int, spoken: int, policy: Policy
) -> None:
    """Whoever has spoken counts, nobody else; of no seats there is no quorum."""
    spoken = min(spoken, seats)
    outcome = decided(
        QUORUM, QuorumFacts(round=1, seats=seats, spoken=spoken), None, policy
    ).outcome
    needed = max(1, ceil(policy.council.quorum * seats))
    assert isinstance(outcome, QuorumMet) is (spoken >= needed)
    assert not isinstance(outcome, QuorumMissed) or outcome.needed == needed


@given(numbers, numbers, shares)
def test_one_more_voice_never_breaks_it(seats: int, spoken: int, policy: Policy) -> None:
    """Monotone in those who have spoken."""
    met = [
        isinstance(
            decided(QUORUM, QuorumFacts(round=1, seats=seats, spoken=n), None, policy).outcome,
            QuorumMet,
        )
        for n in (spoken, spoken + 1)
    ]
    assert met[1] or not met[0]


def test_by_default_it_is_half() -> None:
    """Two of four, three of five."""
    met = {
        (spoken, seats)
        for seats in (4, 5)
        for spoken in range(seats + 1)
        if isinstance(
            decided(QUORUM, QuorumFacts(round=1, seats=seats, spoken=spoken), None, POLICY).outcome,
            QuorumMet,
        )
    }
    assert met == {(2, 4), (3, 4), (4, 4), (3, 5), (4, 5), (5, 5)}


@given(numbers, numbers, shares)
def test_a_round_begins_only_with_a_run_for_each_seat(
    seats: int, room: int, policy: Policy
) -> None:
    """Whatever policy's share is: more seats than runs that may still be opened, and nobody is
    asked.
    """
    outcome = decided(
        QUORUM, QuorumFacts(round=1, seats=seats, spoken=0, room=room), None, policy
    ).outcome
    assert isinstance(outcome, RoundRefused) is (room < seats)
    assert not isinstance(outcome, RoundRefused) or outcome.code == "budget"


def test_the_header_names_who_said_nothing() -> None:
    """The first of them, and how many there are besides; as much as a fact may hold however long
    their names are.
    """
    names = tuple(
        f"{'S' * 63}{number} (failed: prompt_over_bound)" for number in range(ABSENT_TOLD)
    )
    facts = QuorumFacts(round=1, seats=50, spoken=40, absent=names)
    assert len(msgspec.json.encode(facts)) <= 1024
    met = decided(QUORUM, facts, None, POLICY)
    recorded = Recorded(facts=raw(facts), outcome=raw(met.outcome), reason=str(met.reason))
    (line,) = QUORUM.tells(recorded).lines
    assert line.what.startswith(f"council round 1: 40 of 50 seats spoke; absent: {names[0]}, ")
    assert line.what.endswith(" and 2 more")
