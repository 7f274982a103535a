"""Which claims a run may make: on its own accounts, for its own bound, once; and of a message's
place only where that is its business.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordain.effects.effect import Claim
from ordain.errors import FlowFault
from ordain.flows.accounts import shared_accounts
from ordain.flows.context import FlowContext
from ordain.flows.kind import Kind, Serves
from ordain.flows.triage.kind import TRIAGE
from ordain.rules.attachment import AttachFacts
from ordain.testing import ScriptedEffects, Standing, catalog_of, claimed, kind_of
from ordain.wording.cues import Cues

CATALOG = catalog_of(
    policy={"budget": {"run_tokens": 1000, "run_usd_micros": 100, "day_tokens": 10_000}}
)
PLACE = {
    "seq": 1,
    "channel": "web",
    "message_id": "m",
    "reply_to": "",
    "edits": "",
    "author": "",
    "suggests": "none",
    "thread": 0,
    "confidence": 0.0,
}


async def _claim(context: FlowContext, asked: list[dict[str, Any]]) -> list[str]:
    reasons: list[str] = []
    for one in asked:
        args = dict(one)
        name = args.pop("claim")
        if name == "carve" and "accounts" not in args:
            args["accounts"] = shared_accounts(
                context.catalog.policy.budget, "", context.session, context.fx.now()
            )
        reasons.append(str((await context.fx.claim(Claim(name=name, args=args))).reason))
    return reasons


def claim(*asked: dict[str, Any], kind: Kind[Any, Any] | None = None, session: str = "s1") -> Any:
    effects = ScriptedEffects(
        kind or kind_of(_claim, charged=True), CATALOG, standing=Standing(session=session)
    )
    return effects.play(
        list(asked),
        lambda one: claimed(AttachFacts(cues=Cues())) if one.name == "attach" else None,
        faults=True,
    )


@given(st.integers(-5, 2000), st.integers(-5, 200))
def test_no_more_than_its_own_bound_is_carved(tokens: int, money: int) -> None:
    """Anything within it may be; what is below nothing would give to others what is theirs."""
    played = claim({"claim": "carve", "tokens": tokens, "usd_micros": money})
    assert (played.fault is None) == (0 <= tokens <= 1000 and 0 <= money <= 100)


def test_only_its_own_accounts_are_carved() -> None:
    """By the very names and caps that policy gives."""
    for accounts in ([], [{"name": "day:1999-01-01", "cap_tokens": 10_000, "cap_usd_micros": 0}]):
        assert isinstance(
            claim({"claim": "carve", "tokens": 1, "usd_micros": 0, "accounts": accounts}).fault,
            FlowFault,
        )


def test_a_share_is_had_once() -> None:
    """What was taken out twice would be given back once."""
    one = {"claim": "carve", "tokens": 1, "usd_micros": 0}
    played = claim(one, one)
    assert isinstance(played.fault, FlowFault)
    assert len(played.decided("carve")) == 1


@pytest.mark.parametrize(
    ("serves", "session", "may"),
    [(Serves.PLACING, "s1", True), (Serves.PLACING, "s2", False), (None, "s1", False)],
)
def test_a_place_is_claimed_by_whom_it_concerns(
    serves: Serves | None, session: str, may: bool
) -> None:
    """A run that was opened for that, in its own session."""
    kind = replace(kind_of(_claim), serves=serves)
    assert (claim({"claim": "attach", "session": session, **PLACE}, kind=kind).fault is None) == may
    assert TRIAGE.serves is Serves.PLACING
