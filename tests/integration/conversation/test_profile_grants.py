"""Grants where a profile, or policy's own section, wants somebody else's yes than that of who
asks.
"""

from __future__ import annotations

from typing import Any

import pytest

from ordain.contracts.pinned import Relaxable
from ordain.errors import Refused
from ordain.runtime.grants import GrantOffer
from ordain.runtime.policy_consents import untaken_answers
from tests.integration.conversation.test_profiles import (
    SESSION,
    all_replay_equal,
    begun,
    keeping,
    kept,
    pin,
    put,
)
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House

OFFER = GrantOffer(principal=PRINCIPAL, capabilities=("keep",), ttl_s=600)
APART: dict[str, Any] = {"safety": {"mode": "guarded", "notRequester": True}}


async def give(house: House, by: str) -> None:
    await house.ordain.runtime.grants.give(WORKSPACE, OFFER, by)


@pytest.mark.parametrize(("by", "granted"), [(PRINCIPAL, False), ("local:somebody-else", True)])
@pytest.mark.parametrize("tightened", [False, True])
async def test_a_grant_of_who_asks_is_for_nothing_where_a_profile_wants_another(
    by: str, *, granted: bool, tightened: bool
) -> None:
    """Given before the profile was tightened or after: who asked is asked about it all the same,
    and somebody else's grant counts.

    PRF-02g "Safety mode and approval settings."
    """
    async with keeping() as house:
        await put(house, "profile", "p", {"safety": {"mode": "guarded"}} if tightened else APART)
        await pin(house, SESSION, "p")
        await give(house, by)
        if tightened:
            await put(house, "profile", "p", APART)
        view = await begun(house)
        assert (view is None) is granted
        assert ("authorize.granted" in kept(house)) is granted
        assert await all_replay_equal(house)


async def test_policys_own_section_refuses_a_grant_to_oneself() -> None:
    """Where no profile may loosen it the grant is not even given; where one may, it is for nothing
    as long as none does.
    """
    async with keeping(profile={"safety": {"mode": "guarded", "not_requester": True}}) as house:
        with pytest.raises(Refused) as refused:
            await give(house, PRINCIPAL)
        assert refused.value.code == "own_request"
    async with keeping(
        profile={
            "safety": {"mode": "guarded", "not_requester": True},
            "relaxable": ["safety.not_requester"],
        }
    ) as house:
        await give(house, PRINCIPAL)
        assert await begun(house) is not None
        assert "authorize.granted" not in kept(house)


@pytest.mark.parametrize(
    ("relaxable", "told"), [([], ["approve.own_request"]), ([Relaxable.NOT_REQUESTER], [])]
)
async def test_policy_ci_tells_of_a_grant_that_would_not_count(
    relaxable: list[Relaxable], told: list[str]
) -> None:
    """A policy that wants another's yes in every profile is held to the grants on record as
    well.
    """
    async with keeping() as house:
        await put(house, "profile", "p", {"safety": {"mode": "guarded"}})
        await pin(house, SESSION, "p")
        await give(house, PRINCIPAL)
        assert await begun(house) is None
        pinned = house.ordain.runtime.catalog.policy
        safety = pinned.profile.safety.model_copy(update={"not_requester": True})
        own = pinned.profile.model_copy(update={"safety": safety, "relaxable": relaxable})
        other = pinned.model_copy(update={"profile": own})
        rows = await house.ordain.runtime.runs(roots_only=False)
        stored = [
            one
            for one in map(house.ordain.store.stored, (row.id for row in rows))
            if one is not None
        ]
        assert [
            answer.now
            for run in stored
            for answer in untaken_answers(run, house.ordain.runtime.catalog, other)
        ] == told
