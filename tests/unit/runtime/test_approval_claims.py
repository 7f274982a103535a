"""Claims of approvals: who looks at one, as others see it; one at a time, and nothing depends on
it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordain.contracts.access import LOOPBACK, Principal, TokenScope
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import Conflict, OrdainError
from ordain.ports.approvals import ApprovalRow
from ordain.ports.store import Operation
from ordain.rules.approve import ApprovalState
from ordain.runtime.approvals import ApprovalView
from tests.lanes import examples
from tests.unit.runtime.house import HOUR
from tests.unit.runtime.office import ASKER, BEN, CLEO, LIMITED, Office, pay, post

LEADS: dict[str, Any] = {
    "approvals": {"roles": {"leads": [CLEO]}, "rules": [{"verb": "post.*", "role": "leads"}]}
}
APART: dict[str, Any] = {"approvals": {"rules": [{"tier": "write", "not_requester": True}]}}
EVERYTHING_ELSE = tuple(scope for scope in TokenScope if scope is not TokenScope.APPROVALS)


async def claim(office: Office, view: ApprovalView, by: Principal | str = BEN, **more: Any) -> str:
    """Say that somebody looks at it; gives the code with which that was refused, "" where it
    stands.
    """
    try:
        await office.desk.claim(DEFAULT_WORKSPACE, view.row.id, by, **more)
    except OrdainError as error:
        return error.code
    return ""


async def release(office: Office, view: ApprovalView, by: Principal | str = BEN) -> str:
    """Say that they do no longer; gives the code as ``claim``."""
    try:
        await office.desk.release(DEFAULT_WORKSPACE, view.row.id, by)
    except OrdainError as error:
        return error.code
    return ""


async def row(office: Office, view: ApprovalView) -> ApprovalRow:
    return (await office.desk.one(DEFAULT_WORKSPACE, view.row.id)).row


async def test_a_claim_says_who_looks_and_since_when() -> None:
    """Said again it is the same, also as a take-over; given up, nobody does; and the answer says
    what is stored.
    """
    with Office() as office:
        view = await office.asked(post())
        office.clock.pass_s(1)
        at = office.clock.at
        first = await office.desk.claim(DEFAULT_WORKSPACE, view.row.id, BEN)
        office.clock.pass_s(1)
        rows = office.store.query("SELECT count(*) FROM ledger")
        for take_over in (False, True):
            again = await office.desk.claim(
                DEFAULT_WORKSPACE, view.row.id, BEN, take_over=take_over
            )
            assert again.row == first.row == await row(office, view)
        assert office.store.query("SELECT count(*) FROM ledger") == rows
        assert (first.row.in_review_by, first.row.claimed_at) == (BEN, at)
        (listed,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert listed.row == first.row
        released = await office.desk.release(DEFAULT_WORKSPACE, view.row.id, BEN)
        assert (released.row.in_review_by, released.row.claimed_at) == ("", 0)
        assert await row(office, view) == released.row == view.row


async def test_another_one_takes_it_over_only_by_saying_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Else they are told who looks at it; whoever held it before gives up nothing any more, and the
    log has every word of it.
    """
    caplog.set_level(logging.INFO, "ordain.approvals")
    with Office() as office:
        view = await office.asked(post())
        assert await claim(office, view) == ""
        with pytest.raises(Conflict) as refused:
            await office.desk.claim(DEFAULT_WORKSPACE, view.row.id, CLEO)
        assert (refused.value.code, refused.value.details) == (
            "already_claimed",
            {"claimed_by": BEN},
        )
        assert f"in review by {BEN} since " in refused.value.message
        assert await release(office, view, CLEO) == "not_claimed"
        assert await claim(office, view, CLEO, take_over=True) == ""
        assert (await row(office, view)).in_review_by == CLEO
        assert await release(office, view) == "not_claimed"
        assert await release(office, view, CLEO) == ""
        assert await release(office, view, CLEO) == "not_claimed"
        said = [one.getMessage() for one in caplog.records if "claim=take_over" in one.getMessage()]
        assert said == [
            f"approval={view.row.id} run={view.row.run} claim=take_over by={CLEO!r} was={BEN!r}"
        ]
        assert any(
            "claim=claim" in line and "refused=claim_approval.already_claimed" in line
            for line in caplog.text.splitlines()
        )


@pytest.mark.parametrize(
    ("policy", "by", "code"),
    [
        ({}, BEN, ""),
        ({}, Principal("token:desk", (TokenScope.APPROVALS,)), ""),
        ({}, LIMITED, "not_an_approver"),
        ({}, Principal("token:ops", EVERYTHING_ELSE), "not_an_approver"),
        ({}, "", "approver_unknown"),
        ({}, LOOPBACK, "approver_unknown"),
        (LEADS, CLEO, ""),
        (LEADS, BEN, "not_an_approver"),
        (LEADS, LOOPBACK, "approver_unknown"),
        (APART, BEN, ""),
        (APART, ASKER, "own_request"),
        (APART, LOOPBACK, "approver_unknown"),
    ],
)
async def test_whoever_may_approve_it_may_claim_it(
    policy: Mapping[str, Any], by: Principal | str, code: str
) -> None:
    """By scope, by role, and by not having asked for it; whoever has no name claims nothing, for a
    sign by nobody is none.
    """
    with Office(policy) as office:
        view = await office.asked(post())
        for take_over in (False, True):
            assert await claim(office, view, by, take_over=take_over) == code
        assert bool((await row(office, view)).in_review_by) == (code == "")


async def test_who_may_not_claim_is_not_told_who_does() -> None:
    """Whether somebody looks at it is nothing for whoever may not approve it."""
    with Office() as office:
        view = await office.asked(post())
        assert await claim(office, view) == ""
        for wish in (office.desk.claim, office.desk.release):
            with pytest.raises(OrdainError) as refused:
                await wish(DEFAULT_WORKSPACE, view.row.id, LIMITED)
            assert refused.value.code == "not_an_approver"
            assert BEN not in refused.value.message
            assert not refused.value.details


async def test_who_lost_a_role_gives_it_up_and_claims_it_no_more() -> None:
    """The claim stands until then, and is taken over by whoever may now."""
    with Office() as office:
        view, other = await office.asked(post()), await office.asked(post("b"))
        assert (await claim(office, view), await claim(office, other)) == ("", "")
        office.use_policy(LEADS)
        assert await claim(office, view) == "not_an_approver"
        assert await release(office, view) == ""
        assert await claim(office, view) == "not_an_approver"
        assert await claim(office, other, CLEO) == "already_claimed"
        assert await claim(office, other, CLEO, take_over=True) == ""


async def test_a_claim_of_another_workspace_is_not_found() -> None:
    """Nor is one of what there is not, whatever it is called."""
    with Office() as office:
        view = await office.asked(post())
        for workspace, approval in (
            ("elsewhere", view.row.id),
            (DEFAULT_WORKSPACE, "0" * 32),
            (DEFAULT_WORKSPACE, "a\nb"),
        ):
            for wish in (office.desk.claim, office.desk.release):
                with pytest.raises(OrdainError) as refused:
                    await wish(workspace, approval, BEN)
                assert refused.value.code == "approval_not_found"
        assert (await row(office, view)).in_review_by == ""


@pytest.mark.parametrize(
    ("late_us", "code"), [(-1, ""), (0, "approval_expired"), (HOUR, "approval_expired")]
)
async def test_what_expired_is_claimed_by_nobody(late_us: int, code: str) -> None:
    """It goes by the wall clock, whether or not anybody was awake to say so."""
    with Office({"approvals": {"expires_s": 60}}) as office:
        view = await office.asked(post())
        office.clock.at = view.row.expires_at + late_us
        assert await claim(office, view) == code
        assert await release(office, view) == code


@pytest.mark.parametrize("approve", [True, False])
async def test_a_claim_ends_with_what_it_is_of(approve: bool) -> None:
    """Decided by another one it is over, who looked stays in the row, and nothing is claimed or
    released any more.
    """
    with Office() as office:
        view = await office.asked(post())
        assert await claim(office, view) == ""
        assert await office.decide(view, by=CLEO, approve=approve) == ""
        ended = await row(office, view)
        assert (ended.in_review_by, ended.claimed_by, ended.decided_by) == ("", BEN, CLEO)
        assert [
            await claim(office, view),
            await claim(office, view, CLEO, take_over=True),
            await release(office, view),
        ] == ["already_decided"] * 3
        assert (await row(office, view)) == ended


async def test_who_looked_goes_with_the_runs_content() -> None:
    """Erased, an approval names neither who claimed it nor who decided it, and nobody claims it any
    more.
    """
    with Office() as office:
        view = await office.asked(post())
        assert await claim(office, view, CLEO) == ""
        assert await office.decide(view) == ""
        assert (await row(office, view)).claimed_by == CLEO
        await office.store.submit(
            Operation(name="erase", args={"run": view.row.run, "at": office.clock.at})
        )
        erased = await row(office, view)
        assert (erased.claimed_by, erased.decided_by) == ("", "")
        for take_over in (False, True):
            assert await claim(office, view, take_over=take_over) == "already_decided"


async def test_what_is_void_is_looked_at_all_the_same() -> None:
    """A claim says nothing of whether it may still be done, and takes nothing back: a no is to be
    given.
    """
    with Office() as office:
        view = await office.asked(post())
        office.use_policy({"verbs": {"default": {"deny": ["post.*"]}}})
        assert await claim(office, view) == ""
        assert await office.state(view) is ApprovalState.OPEN
        assert await office.decide(view, by=CLEO) == "approval_stale"
        assert (await row(office, view)).state == ApprovalState.WITHDRAWN


@pytest.mark.parametrize("take_over", [True, False])
async def test_of_two_who_claim_at_once_one_does(take_over: bool) -> None:
    """The other is told who; where both take it over, the last one has it, and both know what was
    so at their moment.
    """
    with Office() as office:
        view = await office.asked(post())
        codes = await asyncio.gather(
            claim(office, view, BEN, take_over=take_over),
            claim(office, view, CLEO, take_over=take_over),
        )
        assert sorted(codes) == (["", ""] if take_over else ["", "already_claimed"])
        holder = (await row(office, view)).in_review_by
        assert holder == (CLEO if take_over else (BEN, CLEO)[codes.index("")])


async def test_nothing_of_a_claim_is_in_a_run() -> None:
    """It makes no record and no mail, and wakes nobody."""
    with Office() as office:
        view = await office.asked(post())
        before = (office.stored(view.row.run), office.store.query("SELECT * FROM mailbox"))
        await claim(office, view)
        await claim(office, view, CLEO, take_over=True)
        await release(office, view, CLEO)
        assert (office.stored(view.row.run), office.store.query("SELECT * FROM mailbox")) == before


people = st.sampled_from([BEN, CLEO, ASKER, "", LIMITED])
words = st.lists(st.tuples(st.sampled_from(["claim", "take over", "release"]), people), max_size=4)


@settings(max_examples=examples(40, quick=10), deadline=None)
@given(said=words, by=people, approve=st.booleans(), pays=st.booleans())
def test_whatever_is_claimed_the_same_is_decided(
    said: list[tuple[str, Any]], by: Any, approve: bool, pays: bool
) -> None:
    """Of two approvals that differ in their claims alone, the same word of the same principal comes
    to the same.
    """

    async def decided() -> None:
        with Office({"approvals": {"rules": [{"verb": "pay.*", "not_requester": True}]}}) as office:
            claimed, plain = (
                await office.asked(pay() if pays else post()),
                await office.asked(pay() if pays else post()),
            )
            for word, who in said:
                await (
                    release(office, claimed, who)
                    if word == "release"
                    else claim(office, claimed, who, take_over=word != "claim")
                )
            codes = [await office.decide(view, by=by, approve=approve) for view in (claimed, plain)]
            assert codes[0] == codes[1]
            assert await office.state(claimed) is await office.state(plain)
            assert len(office.did) % 2 == 0

    asyncio.run(decided())
