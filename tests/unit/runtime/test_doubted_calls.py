"""A call that was cut off, and repeats of it that fail: they say nothing of the first attempt, where
that may have taken effect.
"""

from __future__ import annotations

import pytest
from msgspec import structs

from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.effects.results import VerbFailed, VerbUnknown
from ordain.ports.verb import LeafFailed, LeafReturned
from ordain.runtime.calls import call_verb
from ordain.testing import catalog_of
from tests.unit.runtime.test_calls import (
    BY,
    Leaf,
    attempt,
    reconciled,
    services,
    spec,
    verb_call,
)

IDEMPOTENT = spec(effect=VerbEffect.PRIVATE, idempotent=True)


@pytest.mark.parametrize("recover", [True, False])
@pytest.mark.parametrize(
    "failure",
    [
        LeafFailed(code="not_connected", message="m", retryable=True),
        LeafFailed(code="http_409", message="m"),
        LeafFailed(code="http_429", message="m", retryable=True, retry_after_ms=2000),
    ],
)
async def test_a_repeat_that_fails_leaves_the_call_in_doubt(
    failure: LeafFailed, recover: bool
) -> None:
    """The one at recovery and each one after it: whatever was said, and whether it may pass, stands
    in it; the same failure of a call that nothing had cut off is known not to have happened.
    """
    leaf = Leaf({"shelf.do": failure})
    plain = await attempt([IDEMPOTENT], leaf)
    assert isinstance(plain, VerbFailed)
    pinned = catalog_of(verbs=[IDEMPOTENT])
    doubted = structs.replace(BY, doubted=True)
    found = (
        await attempt([IDEMPOTENT], leaf, recover=True)
        if recover
        else await call_verb(services(pinned, leaf), pinned, verb_call(), doubted)
    )
    assert isinstance(found, VerbUnknown)
    assert found.repeat == plain


@pytest.mark.parametrize(
    "harmless",
    [
        spec(),
        spec(effect=VerbEffect.EGRESS),
        spec(effect=VerbEffect.EGRESS, idempotent=True),
    ],
    ids=["read", "egress", "idempotent egress"],
)
async def test_what_changes_nothing_is_in_no_doubt(harmless: VerbSpec) -> None:
    """A read or egress that a crash cut off has changed nothing, whichever attempt of it failed, and
    whether it is made again.
    """
    leaf = Leaf({"shelf.do": LeafFailed(code="not_connected", message="m", retryable=True)})
    assert isinstance(await attempt([harmless], leaf, recover=True), VerbFailed)


async def test_what_was_voided_before_it_was_repeated_is_in_no_doubt() -> None:
    """The key is fenced against all attempts before: the repeat alone counts."""
    down = LeafFailed(code="not_connected", message="m", retryable=True)
    asked = LeafReturned(output={"happened": False})
    leaf = Leaf({"shelf.do": down, "shelf.asked": asked})
    assert isinstance(await attempt(reconciled(), leaf, recover=True), VerbFailed)
