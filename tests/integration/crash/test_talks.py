"""Every conversation, killed at every moment: no message's consequence is lost or doubled, and
everything replays equal.
"""

from __future__ import annotations

import pytest

from tests.integration.crash.conftest import Nursery
from tests.integration.crash.test_sweep import ONE_IN, judged, moments_of, twice, undisturbed
from tests.lanes import sampled
from tests.shapes.talks import TALKS


@pytest.mark.parametrize("name", TALKS)
def test_a_conversation_survives_every_moment(nursery: Nursery, name: str) -> None:
    """Killed anywhere and started again, each message comes to what it would have come to, exactly
    once.
    """
    plain = undisturbed(nursery, name, f"{name.replace(' ', '-')}-plain")
    judged(nursery.run(sampled(moments_of(name, plain), ONE_IN, name)))


@pytest.mark.parametrize("name", [name for name, talk in TALKS.items() if talk.at_once == 1])
def test_a_conversation_survives_dying_twice(nursery: Nursery, name: str) -> None:
    """Killed again while it is taken up, also where a thread writes, each message still comes to
    what it would have.
    """
    plain = undisturbed(nursery, name, f"{name.replace(' ', '-')}-plain-twice")
    judged(nursery.run(sampled(twice(name, plain), ONE_IN, f"{name} twice")))
