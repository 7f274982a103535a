"""The approvers' desk: exactly what was looked at, once, in time, by somebody who may; and what a
run makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ordain.contracts.access import Principal, TokenScope
from ordain.contracts.approvals import MayAsk
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.errors import OrdainError
from ordain.journal.records import RecordKind, Status
from ordain.ports.store import Operation
from ordain.rules.approve import ApprovalState
from ordain.rules.authorize import AuthorizeReason
from ordain.rules.header import HeaderLine
from ordain.runtime.approval_words import MAYBE_ALIKE, MAYBE_DONE
from ordain.runtime.approvals import ApproverWord, GrantWanted
from ordain.runtime.configuration import ControlPlane, RecordChange
from ordain.runtime.entries import at_rest
from ordain.runtime.grant_words import grant_words
from ordain.runtime.grants import GrantOffer
from ordain.runtime.replay import replay
from ordain.testing import with_policy
from tests.unit.runtime.house import HOUR
from tests.unit.runtime.office import (
    ASKER,
    BEN,
    CLEO,
    LIMITED,
    NOBODY_KNOWS,
    Office,
    ask,
    pay,
    post,
    post_all,
)
from tests.unit.runtime.test_entries import facts

LEADS: dict[str, Any] = {
    "approvals": {"roles": {"leads": [CLEO]}, "rules": [{"verb": "post.*", "role": "leads"}]}
}
APART: dict[str, Any] = {"approvals": {"rules": [{"tier": "write", "not_requester": True}]}}


async def test_a_yes_lets_exactly_this_call_go_out_once() -> None:
    """The run waits for it, makes the call, and has to ask again for the very same call."""
    with Office() as office:
        view = await office.asked(post("a"), post("a"))
        assert office.did == []
        assert await office.decide(view) == ""
        assert office.did == [("post.out", "a")]
        (again,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert again.row.id != view.row.id
        assert again.row.digest != view.row.digest
        assert await office.decide(again, digest=view.row.digest) == "approval_stale"
        assert await office.decide(again, approve=False, why="once is enough") == ""
        assert office.did == [("post.out", "a")]
        assert office.came_to(view.row.run) == ["", AuthorizeReason.NOT_APPROVED.value]


@pytest.mark.parametrize("approve", [True, False])
async def test_why_it_was_decided_is_told_with_the_approval(approve: bool) -> None:
    """By the answer to whoever decides, and to whoever looks later, once the run has it; of what is
    open nothing is told.
    """
    with Office() as office:
        view = await office.asked(post("a"))
        assert view.why == ""
        word = ApproverWord(approve=approve, digest=view.row.digest, why="ask Cleo first")
        assert (
            await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        ).why == "ask Cleo first"
        await office.drive(view.row.run)
        later = await office.desk.one(DEFAULT_WORKSPACE, view.row.id)
        assert (later.row.decided_by, later.why) == (BEN, "ask Cleo first")


async def test_a_no_is_kept_with_its_reason_where_a_thread_failed() -> None:
    """Who said no and why comes first in what is kept of the failure, for no line of the header has
    it.
    """
    with Office() as office:
        view = await office.asked(post("a"))
        await office.decide(view, approve=False, why="too early")
        change = at_rest(
            office.stored(view.row.run),
            facts(HeaderLine(mark="fail", what="post.out", reason="denied")),
            Status.FAILED,
            0,
        )
        assert change.last_error is not None
        assert change.last_error["output"] == f"{BEN} said no: too early; denied"


async def test_a_yes_to_one_run_is_none_to_another() -> None:
    """Two runs ask for the same call; the yes of one leaves the other waiting."""
    with Office() as office:
        first = await office.asked(post("a"))
        second = await office.asked(post("a"))
        assert first.row.digest != second.row.digest
        assert await office.decide(second, digest=first.row.digest) == "approval_stale"
        assert await office.decide(first) == ""
        assert await office.state(second) is ApprovalState.OPEN
        assert office.did == [("post.out", "a")]


@pytest.mark.parametrize("approve", [True, False])
async def test_of_two_who_decide_one_decides(approve: bool) -> None:
    """The second is told that it was decided before, whatever it says, and nothing more happens."""
    with Office() as office:
        view = await office.asked(post())
        assert await office.decide(view, drive=False) == ""
        assert await office.decide(view, by=CLEO, approve=approve, drive=False) == "already_decided"
        await office.drive(view.row.run)
        assert len(office.did) == 1
        assert (await office.desk.one(DEFAULT_WORKSPACE, view.row.id)).row.decided_by == BEN


async def test_a_word_that_comes_again_after_the_run_went_on_counts_no_more() -> None:
    """Repeated, it is refused, and the call is not made again."""
    with Office() as office:
        view = await office.asked(post())
        assert await office.decide(view) == ""
        assert await office.decide(view) == "already_decided"
        assert len(office.did) == 1


@pytest.mark.parametrize(
    ("policy", "by", "code"),
    [
        ({}, BEN, ""),
        ({}, "", ""),
        ({}, Principal("token:desk", (TokenScope.APPROVALS,)), ""),
        ({}, LIMITED, "not_an_approver"),
        (
            {},
            Principal(
                "token:ops",
                tuple(scope for scope in TokenScope if scope is not TokenScope.APPROVALS),
            ),
            "not_an_approver",
        ),
        (LEADS, CLEO, ""),
        (LEADS, BEN, "not_an_approver"),
        (LEADS, "", "approver_unknown"),
        (APART, BEN, ""),
        (APART, ASKER, "own_request"),
        (APART, "", "approver_unknown"),
    ],
)
async def test_who_may_decide_is_policys(
    policy: Mapping[str, Any], by: Principal | str, code: str
) -> None:
    """By scope, by role, and by not having asked for it; where it matters who it is, nobody knows a
    caller without a name.
    """
    with Office(policy) as office:
        view = await office.asked(post())
        assert await office.decide(view, by=by) == code
        assert (office.did == []) == bool(code)
        assert await office.state(view) is (ApprovalState.OPEN if code else ApprovalState.APPROVED)


async def test_who_asked_may_always_say_no() -> None:
    """Policy keeps one's own yes away, and nobody's no."""
    with Office(APART) as office:
        view = await office.asked(post())
        assert await office.decide(view, by=ASKER, approve=False) == ""
        assert office.came_to(view.row.run) == [AuthorizeReason.NOT_APPROVED.value]


async def test_a_narrowed_policy_holds_for_what_is_open() -> None:
    """Somebody who might have decided when it was asked may not after policy names a role."""
    with Office() as office:
        view = await office.asked(post())
        office.use_policy(LEADS)
        assert await office.decide(view, by=BEN) == "not_an_approver"
        assert await office.decide(view, by=CLEO) == ""


@pytest.mark.parametrize(
    ("late_us", "code"), [(-1, ""), (0, "approval_expired"), (HOUR, "approval_expired")]
)
async def test_nobody_decides_after_its_time_whoever_was_awake(late_us: int, code: str) -> None:
    """It goes by the wall clock, also where no engine ran meanwhile: the run finds it expired, and
    the call was never made.
    """
    with Office({"approvals": {"expires_s": 60}}) as office:
        view = await office.asked(post())
        office.clock.at = view.row.expires_at + late_us
        assert await office.decide(view, drive=False) == code
        await office.drive(view.row.run)
        if code:
            assert office.did == []
            assert await office.state(view) is ApprovalState.EXPIRED
            assert office.came_to(view.row.run) == [AuthorizeReason.APPROVAL_EXPIRED.value]


async def test_an_approval_of_another_workspace_is_not_found() -> None:
    """Neither to look at nor to decide, and so is one that there is not."""
    with Office() as office:
        view = await office.asked(post())
        word = ApproverWord(approve=True, digest=view.row.digest)
        for workspace, approval in (
            ("elsewhere", view.row.id),
            (DEFAULT_WORKSPACE, "0" * 32),
            (DEFAULT_WORKSPACE, "a\nb"),
        ):
            with pytest.raises(OrdainError) as refused:
                await office.desk.decide(workspace, approval, word, BEN)
            assert refused.value.code == "approval_not_found"
            assert await office.desk.listed("elsewhere") == []


async def test_other_arguments_are_a_new_proposal_with_an_approval_of_its_own() -> None:
    """The old one is superseded, a yes to it counts no more, and what goes out is what was approved
    at last.
    """
    with Office() as office:
        view = await office.asked(post("rude"))
        await office.desk.resubmit(
            DEFAULT_WORKSPACE, view.row.id, {"to": "ben@example.org", "text": "kind"}, BEN
        )
        await office.drive(view.row.run)
        assert await office.state(view) is ApprovalState.SUPERSEDED
        assert await office.decide(view) == "already_decided"
        assert office.did == []
        (again,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert await office.decide(again, digest=view.row.digest) == "approval_stale"
        assert again.calls[0].args["text"] == "kind"
        assert await office.decide(again) == ""
        assert office.did == [("post.out", "kind")]


async def test_whoever_proposed_the_arguments_asked_for_them() -> None:
    """Where policy wants somebody else than who asked, neither they nor who asked for the run say
    yes to what they put in its place; a third one does.
    """
    with Office(APART) as office:
        view = await office.asked(post("rude"))
        await office.desk.resubmit(DEFAULT_WORKSPACE, view.row.id, post("kind")["args"], BEN)
        await office.drive(view.row.run)
        (again,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert [await office.decide(again, by=who) for who in (BEN, ASKER)] == [
            "own_request",
            "own_request",
        ]
        assert await office.decide(again, by=CLEO) == ""
        assert office.did == [("post.out", "kind")]


async def test_a_yes_of_whoever_proposed_it_dies_once_policy_wants_another_one() -> None:
    """They said it while they might; the rule is asked again before the call goes out."""
    with Office() as office:
        view = await office.asked(post("rude"))
        await office.desk.resubmit(DEFAULT_WORKSPACE, view.row.id, post("kind")["args"], BEN)
        await office.drive(view.row.run)
        (again,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert await office.decide(again, by=BEN, drive=False) == ""
        office.narrow(APART)
        await office.drive(view.row.run)
        assert office.did == []
        assert "approve.own_request" in office.withdrawn()[0]


async def test_what_may_have_happened_already_is_told_to_whoever_is_asked_again() -> None:
    """Of the very call whose end nobody knows, and of another one of its verb; of what ended as it
    should nothing is said.
    """
    with Office() as office:
        view = await office.asked(post(NOBODY_KNOWS), post(NOBODY_KNOWS), post("another"), ask())
        assert MAYBE_DONE not in view.words
        assert await office.decide(view) == ""
        found: list[tuple[bool, bool]] = []
        for _ in range(3):
            (view,) = await office.desk.listed(DEFAULT_WORKSPACE)
            found.append(
                (MAYBE_DONE in view.words.split("\n"), MAYBE_ALIKE in view.words.split("\n"))
            )
            assert await office.decide(view, approve=False) == ""
        assert found == [(True, False), (False, True), (False, False)]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"to": "ben@example.org", "text": "rude"}, "same_args"),
        ({"to": "ben@example.org"}, "invalid_args"),
        ({"to": "ben@example.org", "text": 7}, "invalid_args"),
        ({"to": "ben@example.org", "text": "\ud800"}, "invalid_args"),
        ({"to": "ben@example.org", "text": "x" * 300_000}, "args_too_large"),
    ],
)
async def test_arguments_that_are_none_are_not_proposed(args: dict[str, Any], code: str) -> None:
    """What does not fit the verb, or no record holds, is refused, and the approval stays open."""
    with Office() as office:
        view = await office.asked(post("rude"))
        with pytest.raises(OrdainError) as refused:
            await office.desk.resubmit(DEFAULT_WORKSPACE, view.row.id, args, BEN)
        assert refused.value.code == code
        assert await office.state(view) is ApprovalState.OPEN


async def test_a_verb_that_is_switched_off_after_the_yes_is_not_called() -> None:
    """An approval never outlives a narrowing."""
    with Office() as office:
        view = await office.asked(post())
        assert await office.decide(view, drive=False) == ""
        office.services.catalogs.swap(
            with_policy(
                office.services.catalogs.current, {"verbs": {"default": {"deny": ["post.*"]}}}
            )
        )
        await office.drive(view.row.run)
        assert office.did == []


async def test_who_cancels_a_run_closes_what_it_asked() -> None:
    """Nobody can say yes to what nobody waits for, from when the cancellation is acknowledged."""
    with Office() as office:
        view = await office.asked(post())
        await office.interrupt(view.row.run)
        for approve in (True, False):
            assert await office.decide(view, approve=approve, drive=False) == "already_decided"
        await office.drive(view.row.run)
        assert await office.state(view) is ApprovalState.WITHDRAWN
        assert await office.decide(view, drive=False) == "already_decided"
        assert office.did == []


@pytest.mark.parametrize("may_ask", [None, MayAsk.GRANTS])
async def test_a_run_that_may_ask_no_people_asks_none(may_ask: MayAsk | None) -> None:
    """It is denied at once, and no approval is there."""
    with Office() as office:
        office.may_ask = may_ask
        run = await office.begun(post(), pay())
        assert office.came_to(run) == [AuthorizeReason.NO_APPROVAL.value] * 2
        assert await office.desk.listed(DEFAULT_WORKSPACE, states=()) == []


async def test_a_grant_that_comes_with_a_yes_is_for_the_same_verb_and_asker() -> None:
    """The next call of it goes out unasked, as often as the grant says."""
    with Office() as office:
        view = await office.asked(post("a"), post("b"), post("c"))
        word = ApproverWord(
            approve=True,
            digest=view.row.digest,
            grant=GrantWanted(ttl_s=60, uses=1, reason="for b"),
        )
        decided = await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        await office.drive(view.row.run)
        assert [text for _, text in office.did] == ["a", "b"]
        (grant,) = await office.grants.listed(DEFAULT_WORKSPACE, standing=False)
        assert (grant.grant_id, grant.principal, grant.scope.capabilities) == (
            decided.row.grant,
            ASKER,
            ("post.out",),
        )
        assert grant.scope.targets == ("ben@example.org",)
        assert (grant.audit.by, grant.audit.approval, grant.uses_left) == (BEN, view.row.id, 0)


@pytest.mark.parametrize("anybody", [True, False])
async def test_a_grant_that_comes_with_a_yes_is_for_nobody_else(anybody: bool) -> None:
    """It is to and about exactly those whom the approved call names, unless the approver says that
    it is for any.
    """
    with Office() as office:
        view = await office.asked(post_all("ben@example.org", "cleo@example.org"))
        word = ApproverWord(
            approve=True, digest=view.row.digest, grant=GrantWanted(ttl_s=60, any_target=anybody)
        )
        await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        await office.drive(view.row.run)
        office.may_ask = MayAsk.GRANTS
        calls = (
            post_all("cleo@example.org"),
            post_all("eve@example.org"),
            post_all(),
            post("x", "ben@example.org"),
        )
        came = [office.came_to(await office.begun(call)) == [""] for call in calls]
        assert came == [True, anybody, anybody, False]


@pytest.mark.parametrize("call", [ask(), post_all()])
async def test_what_names_nobody_gets_a_grant_only_for_any(call: dict[str, Any]) -> None:
    """A grant that came with it and said nothing would be for everybody: that is said, or there is
    none, and the approval stays open.
    """
    with Office() as office:
        view = await office.asked(call)
        word = ApproverWord(approve=True, digest=view.row.digest, grant=GrantWanted(ttl_s=60))
        with pytest.raises(OrdainError) as refused:
            await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        assert refused.value.code == "invalid_grant"
        assert await office.state(view) is ApprovalState.OPEN
        word = ApproverWord(
            approve=True, digest=view.row.digest, grant=GrantWanted(ttl_s=60, any_target=True)
        )
        await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        (grant,) = await office.grants.listed(DEFAULT_WORKSPACE)
        assert grant.scope.targets is None


async def test_what_a_grant_took_from_a_call_goes_with_its_run() -> None:
    """Whom it is for, and why it was given and taken back, is erased with the run that it came
    with, and then it is for nobody; one by itself stays.
    """
    with Office() as office:
        view = await office.asked(post("a", "secret@example.org"))
        word = ApproverWord(
            approve=True,
            digest=view.row.digest,
            grant=GrantWanted(ttl_s=600, reason="a private reason"),
        )
        await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        own = await office.grants.give(
            DEFAULT_WORKSPACE,
            GrantOffer(principal="x", capabilities=("post.out",), ttl_s=600, reason="kept"),
            BEN,
        )
        await office.drive(view.row.run)
        (_, given) = await office.grants.listed(DEFAULT_WORKSPACE)
        await office.grants.revoke(DEFAULT_WORKSPACE, given.grant_id, BEN, "a private end")
        (_, given) = await office.grants.listed(DEFAULT_WORKSPACE, standing=False)
        assert (given.scope.targets, given.reason, given.audit.revoked_why) == (
            ("secret@example.org",),
            "a private reason",
            "a private end",
        )
        assert office.store.query(
            "SELECT count(*) FROM grants WHERE body LIKE '%secret%' OR body LIKE '%private%'"
        ) == [(0,)]
        await office.store.submit(
            Operation(name="erase", args={"run": view.row.run, "at": office.clock.at})
        )
        stored = repr(office.store.query("SELECT * FROM grants"))
        assert not any(word in stored for word in ("secret@", "a private"))
        (kept, given) = await office.grants.listed(DEFAULT_WORKSPACE, standing=False)
        assert (kept, given.scope.targets, given.reason, given.audit.revoked_why) == (
            own,
            (),
            "",
            "",
        )
        assert "To nobody" in grant_words(given, office.services.catalogs.current)


NARROWED: dict[str, dict[str, Any]] = {
    "switched off": {"verbs": {"default": {"deny": ["post.*"]}}},
    "by policy's own profile": {"profile": {"safety": {"mode": "read_only"}}},
    "not enabled": {"profile": {"skills": ["look.*"]}},
}
PINNED = "a profile of the workspace"


async def narrow(office: Office, how: str) -> None:
    """What everything is held to, by policy or by a profile that is pinned."""
    if how in NARROWED:
        return office.use_policy(NARROWED[how])
    control = ControlPlane(office.services.configuration, office.store, office.clock)
    for resource, name, config in (
        ("profile", "p", {"safety": {"mode": "read_only"}}),
        ("policy", "profile-pin:workspace:default", {"profile": "p"}),
    ):
        await control.change(
            RecordChange(place=DEFAULT_WORKSPACE, resource=resource, id=name, config=config), by=BEN
        )
    return None


@pytest.mark.parametrize("narrowed", NARROWED)
async def test_who_says_yes_to_what_is_withdrawn_is_told_at_once(narrowed: str) -> None:
    """The yes is refused as stale, with why; the approval is withdrawn for good, and the run that
    waits goes on without it.
    """
    with Office() as office:
        view = await office.asked(post())
        office.use_policy(NARROWED[narrowed])
        (listed,) = await office.desk.listed(DEFAULT_WORKSPACE)
        assert listed.void
        assert await office.decide(view, by=LIMITED) == "not_an_approver"
        assert await office.decide(view, digest="00") == "approval_stale"
        assert await office.state(view) is ApprovalState.OPEN
        with pytest.raises(OrdainError) as refused:
            await office.desk.decide(
                DEFAULT_WORKSPACE,
                view.row.id,
                ApproverWord(approve=True, digest=view.row.digest),
                BEN,
            )
        assert refused.value.code == "approval_stale"
        assert listed.void in refused.value.message
        assert await office.state(view) is ApprovalState.WITHDRAWN
        office.services.catalogs.swap(office.catalog)
        assert await office.decide(view) == "already_decided"
        await office.drive(view.row.run)
        assert office.came_to(view.row.run) == [AuthorizeReason.APPROVAL_WITHDRAWN.value]
        assert await office.state(view) is ApprovalState.WITHDRAWN
        assert office.did == []
        (ended,) = office.bodies(view.row.run, RecordKind.ENDED)
        assert "wait withdrawn" in ended.header
        assert listed.void.replace('"', "'") in ended.header.replace('"', "'")
        assert "wait expired" not in ended.header
        assert replay(office.stored(view.row.run), office.catalog, office.kinds).equal


async def test_a_no_and_other_arguments_to_what_is_withdrawn() -> None:
    """A no ends it as ever; other arguments are proposed to nobody where they may not be made
    either.
    """
    with Office() as office:
        view, other = await office.asked(post()), await office.asked(post("b"))
        office.use_policy(NARROWED["switched off"])
        assert await office.decide(view, approve=False) == ""
        assert office.came_to(view.row.run) == [AuthorizeReason.NOT_APPROVED.value]
        with pytest.raises(OrdainError) as refused:
            await office.desk.resubmit(DEFAULT_WORKSPACE, other.row.id, post("c")["args"], BEN)
        assert refused.value.code == "approval_stale"
        assert await office.state(other) is ApprovalState.WITHDRAWN


@pytest.mark.parametrize("narrowed", [*NARROWED, PINNED])
async def test_a_yes_does_not_outlive_a_narrowing(narrowed: str) -> None:
    """What was allowed when somebody said yes, and is not when the call would go out, does not go
    out; and that replays.
    """
    with Office() as office:
        view = await office.asked(post())
        assert await office.decide(view, drive=False) == ""
        await narrow(office, narrowed)
        await office.drive(view.row.run)
        assert office.did == []
        assert [
            body.result
            for body in office.bodies(view.row.run, RecordKind.OBSERVATION)
            if b"withdrawn" in bytes(body.result)
        ]
        assert replay(office.stored(view.row.run), office.catalog, office.kinds).equal


@pytest.mark.parametrize("approve", [True, False])
async def test_no_grant_comes_with_a_no_or_with_what_is_destructive(approve: bool) -> None:
    """It is refused as a whole: the approval stays open."""
    with Office() as office:
        view = await office.asked(pay() if approve else post())
        word = ApproverWord(approve=approve, digest=view.row.digest, grant=GrantWanted(ttl_s=60))
        with pytest.raises(OrdainError) as refused:
            await office.desk.decide(DEFAULT_WORKSPACE, view.row.id, word, BEN)
        assert refused.value.code == "not_grantable"
        assert await office.state(view) is ApprovalState.OPEN
        assert await office.grants.listed(DEFAULT_WORKSPACE, standing=False) == []


async def test_a_row_holds_no_content() -> None:
    """Ids, hashes and times: what is asked stands in the run's intent alone, and why somebody said
    no in its observation.
    """
    with Office() as office:
        view = await office.asked(post("a secret word"))
        assert await office.decide(view, approve=False, why="a private reason") == ""
        stored = repr(office.store.query("SELECT * FROM approvals"))
        assert "secret word" not in stored
        assert "private reason" not in stored
        assert "a secret word" in view.words
