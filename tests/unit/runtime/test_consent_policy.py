"""A yes dies with a tightening: whatever policy would not let be said any more, or not so late,
lets nothing go out, whoever said it before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ordain.contracts.approvals import MayAsk
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import OrdainError
from ordain.rules.approve import ApprovalState
from ordain.rules.authorize import AuthorizeReason
from ordain.runtime.consent_policy import GRANT_OVER, TAKEN_BACK, YES_OVER
from ordain.runtime.grants import GrantOffer
from tests.unit.runtime.office import ASKER, BEN, CLEO, Office, pay, post, ring, tell

OF_LEADS: dict[str, Any] = {"rules": [{"role": "leads"}], "roles": {"leads": [CLEO]}}
LED: dict[str, Any] = {"rules": [{"role": "leads"}], "roles": {"leads": [BEN]}}
TIGHTER: Mapping[str, tuple[dict[str, Any], str, dict[str, Any], str]] = {
    "a role is wanted": ({}, BEN, OF_LEADS, "approve.not_an_approver"),
    "the role is taken away": (LED, BEN, OF_LEADS, "approve.not_an_approver"),
    "it matters who it was": ({}, "", OF_LEADS, "approve.approver_unknown"),
    "somebody else than who asked": (
        {},
        ASKER,
        {"rules": [{"not_requester": True}]},
        "approve.own_request",
    ),
    "open for less": ({}, BEN, {"expires_s": 60}, "approve.approval_expired"),
}
"""Policy when it is asked for, who says yes, 100 seconds later, and policy when the call would go
out; and the rule's reason.
"""
CALLS = {"a leaf": post, "graver": pay, "a run of its own": tell}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("tighter", TIGHTER)
async def test_a_yes_dies_with_a_tightening(tighter: str, call: str) -> None:
    """It was given by somebody who might, in time, and nothing came of it yet: the call does not go
    out, with why, and that replays.
    """
    before, by, after, reason = TIGHTER[tighter]
    with Office({"approvals": before}) as office:
        view = await office.asked(CALLS[call]())
        office.clock.pass_s(100)
        assert await office.decide(view, by=by, drive=False) == ""
        office.narrow({"approvals": after})
        await office.go_on(view.row.run)
        assert office.did == []
        (why,) = office.withdrawn()
        assert reason in why


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "after",
    [
        {},
        {"expires_s": 200},
        LED,
        {"rules": [{"tier": "delegation", "role": "leads"}]},
        {"rules": [{"not_requester": True}]},
    ],
    ids=["the same", "still in time", "has the role", "of others", "asked by another"],
)
async def test_what_takes_nothing_from_a_yes_leaves_it(after: dict[str, Any], call: str) -> None:
    """Whoever might say it now, and as late, has said it."""
    with Office() as office:
        view = await office.asked(CALLS[call]())
        office.clock.pass_s(100)
        assert await office.decide(view, drive=False) == ""
        office.narrow({"approvals": after})
        await office.go_on(view.row.run)
        assert office.withdrawn() == []
        assert office.came_to(view.row.run) == [""]
        assert len(office.did) == (2 if call == "a run of its own" else 1)


@pytest.mark.parametrize(
    ("now", "goes_out"),
    [({"from": "me@example.org"}, True), ({"from": "eve@example.org"}, False), (None, False)],
)
async def test_a_yes_is_to_what_settings_fixed_of_the_call_too(
    now: dict[str, str] | None, *, goes_out: bool
) -> None:
    """Who sends it was shown: with another sender it does not go out."""
    with Office() as office:
        office.services.catalogs.swap(
            office.catalog.changed(fixed={"post.out": {"from": "me@example.org"}})
        )
        view = await office.asked(post())
        assert 'from (as settings have it): "me@example.org"' in view.words
        assert await office.decide(view, drive=False) == ""
        office.began = office.services.catalogs.current
        office.services.catalogs.swap(
            office.began.changed(fixed={} if now is None else {"post.out": now}, node="elsewhere")
        )
        await office.go_on(view.row.run)
        assert bool(office.did) == goes_out
        assert len(office.withdrawn()) == (not goes_out)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(("late_us", "goes_out"), [(-1, True), (0, False), (60_000_000, False)])
async def test_nothing_goes_out_by_a_yes_after_its_end(
    call: str, late_us: int, *, goes_out: bool
) -> None:
    """It was said in time, and whoever drives the run came too late: by the wall clock, with why,
    though nothing else has changed.
    """
    with Office({"approvals": {"expires_s": 60}}) as office:
        view = await office.asked(CALLS[call]())
        assert await office.decide(view, drive=False) == ""
        office.clock.at = view.row.expires_at + late_us
        await office.go_on(view.row.run)
        assert bool(office.did) == goes_out
        assert [YES_OVER in why for why in office.withdrawn()] == ([] if goes_out else [True])


async def test_another_attempt_is_a_call_that_a_yes_covers_in_its_time_alone() -> None:
    """The first attempt went out and failed; the next one begins after the end of the yes, and goes
    out no more.
    """
    with Office({"approvals": {"expires_s": 60}}) as office:
        view = await office.asked(ring())
        assert await office.decide(view) == ""
        office.clock.at = view.row.expires_at
        await office.drive(view.row.run)
        assert office.did == [("ring.out", 1)]
        assert len(office.withdrawn()) == 1


async def test_what_is_open_for_longer_than_policy_leaves_it_now_is_void() -> None:
    """A yes is refused as stale, and says why; a no ends it as ever, and other arguments are none
    either.
    """
    with Office() as office:
        view, other, third = [await office.asked(post(text)) for text in "abc"]
        office.clock.pass_s(100)
        office.use_policy({"approvals": {"expires_s": 60}})
        (shown,) = [
            one for one in await office.desk.listed(DEFAULT_WORKSPACE) if one.row.id == view.row.id
        ]
        assert "60 s" in shown.void
        assert await office.decide(view) == "approval_stale"
        assert await office.state(view) is ApprovalState.WITHDRAWN
        assert await office.decide(other, approve=False) == ""
        with pytest.raises(OrdainError) as refused:
            await office.desk.resubmit(DEFAULT_WORKSPACE, third.row.id, post("d")["args"], BEN)
        assert refused.value.code == "approval_stale"
        assert office.did == []


# --- grants ---------------------------------------------------------------------------------------

GRANT = GrantOffer(principal=ASKER, capabilities=("post.out", "tell.out"), ttl_s=3600)


async def test_a_grant_is_for_nothing_while_whoever_gave_it_could_not() -> None:
    """It is their yes: a role that is wanted now and that they have not is theirs no more, and
    comes back with the role.
    """
    with Office() as office:
        office.may_ask = MayAsk.GRANTS
        await office.grants.give(DEFAULT_WORKSPACE, GRANT, BEN)
        came: list[list[str]] = []
        for policy in ({}, OF_LEADS, LED):
            office.use_policy({"approvals": policy})
            came.append(office.came_to(await office.begun(post())))
        assert came == [[""], [AuthorizeReason.NO_APPROVAL.value], [""]]
        (left,) = await office.grants.listed(DEFAULT_WORKSPACE)
        assert left.uses_left is None
        assert len(office.did) == 2


@pytest.mark.parametrize("how", ["taken back", "a role is wanted", "nothing"])
async def test_what_a_grant_let_begin_goes_on_only_while_it_would(how: str) -> None:
    """Its use was taken and nothing had gone out: taken back now, or given by somebody who may not
    any more, it lets nothing out.
    """
    with Office() as office:
        office.may_ask = MayAsk.GRANTS
        grant = await office.grants.give(DEFAULT_WORKSPACE, GRANT, BEN)
        run = await office.begun(tell())
        if how == "taken back":
            await office.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, BEN)
        elif how == "a role is wanted":
            office.narrow({"approvals": OF_LEADS})
        await office.go_on(run)
        assert len(office.did) == (2 if how == "nothing" else 0)
        assert len(office.withdrawn()) == (how != "nothing")


@pytest.mark.parametrize(
    ("how", "why"), [("taken back", TAKEN_BACK), ("over", GRANT_OVER), ("stands", "")]
)
async def test_a_grant_covers_an_attempt_only_while_it_stands(how: str, why: str) -> None:
    """Between two attempts of one call it is taken back, or its time ends: the next attempt does
    not go out, though the use was taken.
    """
    with Office() as office:
        office.may_ask = MayAsk.GRANTS
        grant = await office.grants.give(
            DEFAULT_WORKSPACE,
            GrantOffer(principal=ASKER, capabilities=("ring.out",), ttl_s=60, uses=1),
            BEN,
        )
        run = await office.begun(ring())
        assert office.did == [("ring.out", 1)]
        office.clock.pass_s(5)
        if how == "taken back":
            await office.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, BEN)
        elif how == "over":
            office.clock.at = grant.expires_at
        await office.drive(run)
        assert len(office.did) == (1 if why else 2)
        assert [why in said for said in office.withdrawn()] == ([True] if why else [])
