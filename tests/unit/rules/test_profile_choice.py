"""Laws of rule ``profile_choice``: nothing but an offer binds a session, and no caller undoes a
pin.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ordain.contracts.policy import Policy
from ordain.rules.profile_choice import PROFILE_CHOICE, Binding, ProfileChoiceFacts
from tests.unit.rules.given import decided

names = st.sampled_from(["writer", "strict"])
facts = st.builds(
    ProfileChoiceFacts,
    named=names,
    offered=st.booleans(),
    begun=st.booleans(),
    pinned=st.one_of(st.just(""), names),
)


@given(facts)
def test_only_an_offer_binds_and_only_what_begins(asked: ProfileChoiceFacts) -> None:
    """A pin is written where policy offers the profile, the session has not begun and has no pin; a
    pin that says the same needs nothing.
    """
    outcome = decided(PROFILE_CHOICE, asked, None, Policy(version=1)).outcome
    assert (outcome.binding is Binding.PINS) == (
        asked.offered and not asked.begun and not asked.pinned
    )
    assert (outcome.binding is Binding.STANDS) == (asked.pinned == asked.named)
