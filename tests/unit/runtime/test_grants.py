"""The grants' side of the door: what may be given by whom, what it lets go out, and that its last use is one run's."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from ordain.contracts.access import Principal
from ordain.contracts.approvals import MayAsk
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.contracts.risk import RiskLevel
from ordain.contracts.scope import Constraint
from ordain.errors import OrdainError
from ordain.rules.authorize import AuthorizeReason
from ordain.runtime.grants import TTL_S_MAX, GrantOffer
from tests.unit.runtime.office import ASKER, BEN, CALLS, CLEO, LIMITED, Office, pay, post

NO = AuthorizeReason.NO_APPROVAL.value
OFFER = GrantOffer(principal=ASKER, capabilities=("post.out",), ttl_s=60)


def offered(**changes: Any) -> GrantOffer:
    """A grant for sending, but for these changes."""
    return msgspec.structs.replace(OFFER, **changes)


def office(policy: dict[str, Any] | None = None) -> Office:
    """A house whose runs may ask grants alone."""
    made = Office(policy)
    made.may_ask = MayAsk.GRANTS
    return made


@pytest.mark.parametrize(
    ("offer", "granted"),
    [
        (OFFER, True),
        (offered(capabilities=("post.*",)), True),
        (offered(capabilities=("pay.out",)), False),
        (offered(principal="user:other"), False),
        (offered(risk_level=RiskLevel.READ), False),
        (offered(targets=("ben@example.org",)), True),
        (offered(targets=("cleo@example.org",)), False),
        (offered(constraints={"post.*": Constraint(domains_allowlist=("example.org",))}), True),
        (offered(constraints={"post.out": Constraint(domains_allowlist=("example.net",))}), False),
        (offered(constraints={"post.*": Constraint(max_calls=0)}), False),
    ],
)
async def test_a_grant_covers_what_it_says(offer: GrantOffer, granted: bool) -> None:
    """By verb, asker, risk level, target and bound; all else stays denied."""
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        run = await house.begun(post())
        assert house.came_to(run) == ["" if granted else NO]
        assert len(house.did) == granted


async def test_nothing_destructive_is_granted() -> None:
    """Whatever is named, paying is approved each time; and no grant of a higher level can be given."""
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, offered(capabilities=("*",)), BEN)
        assert house.came_to(await house.begun(pay())) == [NO]
        for level in set(RiskLevel) - {RiskLevel.READ, RiskLevel.WRITE}:
            with pytest.raises(OrdainError) as refused:
                await house.grants.give(DEFAULT_WORKSPACE, offered(risk_level=level), BEN)
            assert refused.value.code == "not_grantable"


async def test_its_last_use_is_one_runs() -> None:
    """Two runs want it at the same time: one takes it, the other is denied."""
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, offered(uses=1), BEN)
        runs = [await house.open(CALLS, [post(str(number))]) for number in range(2)]
        await asyncio.gather(*map(house.drive, runs))
        assert sorted(house.came_to(run) for run in runs) == [[""], [NO]]
        assert len(house.did) == 1


async def test_a_grant_ends_when_its_time_is_over() -> None:
    """By the wall clock."""
    with office() as house:
        grant = await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        house.clock.at = grant.expires_at - 1
        assert house.came_to(await house.begun(post())) == [""]
        house.clock.at += 1
        assert house.came_to(await house.begun(post())) == [NO]
        assert await house.grants.listed(DEFAULT_WORKSPACE) == []


async def test_a_grant_that_is_taken_back_grants_no_more() -> None:
    """From then on; taken back twice it says who did so first."""
    with office() as house:
        grant = await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        assert house.came_to(await house.begun(post())) == [""]
        with pytest.raises(OrdainError) as refused:
            await house.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, LIMITED)
        assert refused.value.code == "not_an_approver"
        assert (await house.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, CLEO)).audit.revoked_by == CLEO
        assert (await house.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, BEN)).audit.revoked_by == CLEO
        assert house.came_to(await house.begun(post())) == [NO]


@pytest.mark.parametrize("workspace", ["elsewhere", DEFAULT_WORKSPACE])
async def test_what_is_not_there_is_not_taken_back(workspace: str) -> None:
    """Nor what belongs to another workspace, where it grants nothing either."""
    with office() as house:
        grant = await house.grants.give("elsewhere", OFFER, BEN)
        missing = grant.grant_id if workspace == DEFAULT_WORKSPACE else "0" * 32
        with pytest.raises(OrdainError) as refused:
            await house.grants.revoke(workspace, missing, BEN)
        assert refused.value.code == "grant_not_found"
        assert house.came_to(await house.begun(post())) == [NO]


@pytest.mark.parametrize(
    ("policy", "by", "offer", "code"),
    [
        ({}, BEN, OFFER, ""),
        ({}, LIMITED, OFFER, "not_an_approver"),
        ({"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}}, BEN, OFFER, "not_an_approver"),
        (
            {"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}},
            BEN,
            offered(capabilities=("p*",)),
            "not_an_approver",
        ),
        ({"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}}, CLEO, OFFER, ""),
        ({"rules": [{"tier": "write", "not_requester": True}]}, ASKER, OFFER, "own_request"),
        ({"rules": [{"tier": "write", "not_requester": True}]}, "", OFFER, "approver_unknown"),
        ({"rules": [{"tier": "destructive", "not_requester": True}]}, ASKER, OFFER, ""),
    ],
)
async def test_who_may_give_one_is_who_might_approve(policy: dict[str, Any], by: Principal | str, offer: GrantOffer, code: str) -> None:
    """Whoever could not say yes to a call cannot say so beforehand, by whatever glob."""
    with office({"approvals": policy}) as house:
        if not code:
            await house.grants.give(DEFAULT_WORKSPACE, offer, by)
            return
        with pytest.raises(OrdainError) as refused:
            await house.grants.give(DEFAULT_WORKSPACE, offer, by)
        assert refused.value.code == code


@pytest.mark.parametrize(
    "offer",
    [
        offered(ttl_s=0),
        offered(ttl_s=TTL_S_MAX + 1),
        offered(uses=0),
        offered(principal=""),
        offered(capabilities=()),
        offered(capabilities=("",)),
        offered(capabilities=("a",) * 51),
    ],
)
async def test_what_is_no_grant_is_not_given(offer: GrantOffer) -> None:
    """Without a time, a use, somebody or something it is for."""
    with office() as house:
        with pytest.raises(OrdainError) as refused:
            await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        assert refused.value.code == "invalid_grant"
