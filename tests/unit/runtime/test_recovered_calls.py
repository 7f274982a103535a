"""A call that was cut off with its process, for a run that is being stopped: whoever was told so
sees nothing go out any more.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from ordain.contracts.verbs import VerbEffect, VerbSpec
from ordain.effects.results import VerbFailed, VerbReturned, VerbUnknown
from ordain.ports.verb import LeafReturned
from ordain.runtime.doubted_calls import DIED
from ordain.runtime.recovered_calls import VOID
from tests.unit.runtime.test_calls import BY, GOOD, Leaf, attempt, reconciled, spec


async def always() -> bool:
    """Somebody wants it stopped."""
    return True


STOPPING = structs.replace(BY, stopping=always)


@pytest.mark.parametrize(
    ("verb", "found"),
    [
        (spec(), VerbFailed),
        (spec(effect=VerbEffect.EGRESS, idempotent=True), VerbFailed),
        (spec(effect=VerbEffect.PRIVATE, idempotent=True), VerbUnknown),
        (spec(effect=VerbEffect.PRIVATE), VerbUnknown),
    ],
    ids=["read", "idempotent egress", "idempotent", "neither"],
)
async def test_nothing_is_made_again(verb: VerbSpec, found: type[Any]) -> None:
    """Perhaps what was cut off had not gone out either, and the repeat would be the first time: of
    what changes something nobody knows, a read has failed.
    """
    leaf = Leaf({"shelf.do": GOOD})
    assert isinstance(await attempt([verb], leaf, recover=True, by=STOPPING), found)
    assert leaf.calls == []


@pytest.mark.parametrize(
    ("happened", "voids", "found"),
    [
        (True, True, VerbReturned(output={"text": "then"})),
        (True, False, VerbReturned(output={"text": "then"})),
        (False, True, VerbFailed(code="lost", message=VOID)),
        (False, False, VerbUnknown(message=DIED)),
        (None, True, VerbUnknown(message=DIED)),
    ],
)
async def test_whoever_can_be_asked_is(happened: bool | None, voids: bool, found: Any) -> None:
    """That changes nothing, and says what the header then tells; what was fenced has not happened,
    and is not made again.
    """
    asked = LeafReturned(output={"happened": happened, "output": {"text": "then"}})
    leaf = Leaf({"shelf.do": GOOD, "shelf.asked": asked})
    assert await attempt(reconciled(voids=voids), leaf, recover=True, by=STOPPING) == found
    assert [one.spec.name for one in leaf.calls] == ["shelf.asked"]
