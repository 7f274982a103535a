"""Laws of rule ``configure``: versions go up by one, what was expected is asked first, and what
says the same is not written.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.rules.configure import (
    CONFIGURE,
    RECORDS_MOST,
    VERSIONS_MOST,
    Configured,
    ConfigureFacts,
    NotConfigured,
)
from tests.unit.rules.given import decided

versions = st.one_of(st.integers(0, 5), st.integers(VERSIONS_MOST - 1, VERSIONS_MOST + 1))
facts = st.builds(
    ConfigureFacts,
    version=versions,
    stands=st.booleans(),
    expected=st.one_of(st.none(), versions),
    same=st.booleans(),
    removes=st.booleans(),
    records=st.one_of(st.integers(0, 3), st.integers(RECORDS_MOST - 1, RECORDS_MOST + 1)),
)


@given(facts)
def test_a_version_follows_the_one_that_stands(asked: ConfigureFacts) -> None:
    """What is written is one more than the last; what is not leaves it. Whoever expected another is
    told before anything else.
    """
    decision = decided(CONFIGURE, asked, None, Policy(version=1))
    outcome = decision.outcome
    if isinstance(outcome, Configured) and outcome.changed:
        assert outcome.version == asked.version + 1
    else:
        assert outcome.version == asked.version
    standing = asked.version if asked.stands else 0
    assert (decision.reason == "configure.version_conflict") == (
        asked.expected not in (None, standing)
    )


@given(facts)
def test_bounds_hold_and_removal_is_always_possible(asked: ConfigureFacts) -> None:
    """Nothing grows without bound, and what stands can be taken away whatever the bounds."""
    outcome = decided(CONFIGURE, asked, None, Policy(version=1)).outcome
    if isinstance(outcome, Configured) and outcome.changed and not asked.removes:
        assert outcome.version <= VERSIONS_MOST
        assert asked.version or asked.records < RECORDS_MOST
    if asked.removes and asked.stands and asked.expected in (None, asked.version):
        assert isinstance(outcome, Configured)


@given(facts)
def test_what_says_the_same_is_no_version(asked: ConfigureFacts) -> None:
    """Setting what stands is applied and writes nothing; removing what is not there is not."""
    outcome = decided(CONFIGURE, asked, None, Policy(version=1)).outcome
    if asked.removes and not asked.stands:
        assert isinstance(outcome, NotConfigured)
    if isinstance(outcome, Configured) and not outcome.changed:
        assert asked.same
        assert asked.stands
        assert not asked.removes
