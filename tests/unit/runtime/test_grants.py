"""The grants' side of the door: what may be given by whom, what it lets go out, and that its last
use is one run's.
"""

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
from ordain.contracts.verbs import Argument, ArgumentRole, VerbEffect
from ordain.errors import OrdainError
from ordain.ports.shared import Ruling, Shared
from ordain.ports.store import Arrive
from ordain.rules.authorize import AuthorizeReason
from ordain.runtime.grant_words import KEPT_NOTHING, grant_words
from ordain.runtime.grants import TTL_S_MAX, GrantOffer
from tests.unit.runtime.office import (
    ASKER,
    BEN,
    CALLS,
    CLEO,
    LIMITED,
    NOBODY_KNOWS,
    Office,
    ask,
    pay,
    post,
    post_all,
)

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
        (offered(capabilities=("ask.out",)), False),
        (offered(principal="user:other"), False),
        (offered(capabilities=("*",), risk_level=RiskLevel.READ), False),
        (offered(targets=("ben@example.org",)), True),
        (offered(targets=("cleo@example.org",)), False),
        (offered(constraints={"post.*": Constraint(domains_allowlist=("example.org",))}), True),
        (offered(constraints={"post.out": Constraint(domains_allowlist=("example.net",))}), False),
        (offered(constraints={"post.*": Constraint(max_amount=5)}), False),
        (offered(constraints={"post.*": Constraint(paths=("/srv",))}), False),
    ],
)
async def test_a_grant_covers_what_it_says(offer: GrantOffer, granted: bool) -> None:
    """By verb, asker, risk level, target and bound; all else stays denied."""
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        run = await house.begun(post())
        assert house.came_to(run) == ["" if granted else NO]
        assert len(house.did) == granted


@pytest.mark.parametrize(
    ("to", "granted"),
    [
        ("https://example.org/x", True),
        ("https://evil.com\\@example.org/", False),
        ("https:\\\\evil.com\\@example.org", False),
        ("https://evil.com\t@example.org/", False),
        ("https://evil.com /@example.org", False),
        ("ben@example.org", True),
        ("ben@evil.com\n@example.org", False),
    ],
)
async def test_an_address_that_others_read_otherwise_is_of_no_domain(
    to: str, granted: bool
) -> None:
    """Some take a backslash for a stroke and leave out blanks and controls: what they might find is
    not known, and so not granted.
    """
    with office() as house:
        await house.grants.give(
            DEFAULT_WORKSPACE,
            offered(constraints={"post.*": Constraint(domains_allowlist=("example.org",))}),
            BEN,
        )
        run = await house.begun(post(to=to))
        assert house.came_to(run) == ["" if granted else NO]


async def test_what_may_have_happened_is_not_done_again_under_a_grant() -> None:
    """The same call, once nobody knows whether it went out: the grant covers it no more in that
    run, another call it does.
    """
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        run = await house.begun(post(NOBODY_KNOWS), post(NOBODY_KNOWS), post("something else"))
        assert house.came_to(run) == ["", NO, ""]
        assert house.did == [("post.out", NOBODY_KNOWS), ("post.out", "something else")]
        assert house.withdrawn() == []


def redeclared(house: Office, verb_id: str = "post.out", **changes: Any) -> None:
    """An operator declares a verb otherwise, or another one likewise."""
    current = house.services.catalogs.current
    spec = current.verbs["post.out"].spec.model_copy(update={"name": verb_id, **changes})
    house.services.catalogs.swap(current.changed(verbs={**current.data.verbs, verb_id: spec}))


CHANGED: dict[str, dict[str, Any]] = {
    "a role": {
        "arguments": {
            "to": Argument(role=ArgumentRole.LABEL),
            "text": Argument(role=ArgumentRole.CONTENT),
        }
    },
    "its effect": {"effect": VerbEffect.ADMIN},
    "its schema": {"input_schema": {"type": "object"}},
}


@pytest.mark.parametrize("change", CHANGED)
async def test_a_verb_that_is_declared_otherwise_is_not_the_one_that_was_granted(
    change: str,
) -> None:
    """Nobody has said yes to calls of it as it is now: they are not covered, the words say so, and
    as it was it is covered again.
    """
    with office() as house:
        given = await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        house.began = house.services.catalogs.current
        redeclared(house, **CHANGED[change])
        assert house.came_to(await house.begun(post())) == [NO]
        assert "Not post.out: declared otherwise" in grant_words(
            given, house.services.catalogs.current
        )
        house.services.catalogs.swap(house.began)
        assert house.came_to(await house.begun(post())) == [""]


async def test_what_a_verb_is_made_of_and_what_settings_fix_of_it_is_granted_with_it() -> None:
    """Other code behind the same declaration, or another sender, is another thing."""
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        first = house.services.catalogs.current
        for change in (
            {"declarations": {"post.out": "5f" * 32}},
            {"fixed": {"post.out": {"from": "eve@example.org"}}},
        ):
            house.services.catalogs.swap(first.changed(**change))
            assert house.came_to(await house.begun(post())) == [NO]


async def test_a_glob_is_for_the_verbs_that_there_were() -> None:
    """One that comes later under such a name was nobody's to say yes to."""
    with office() as house:
        given = await house.grants.give(DEFAULT_WORKSPACE, offered(capabilities=("post.*",)), BEN)
        redeclared(house, "post.new")
        words = grant_words(given, house.services.catalogs.current)
        assert "post.*, now post.all, post.out." in words
        assert "Not post.new: " in words
        assert not given.is_for("post.new", house.services.catalogs.current.declared("post.new"))
        assert house.came_to(
            await house.begun(post(), {**post(), "verb": "post.all", "args": {"text": "x"}})
        ) == ["", ""]


async def test_a_grant_of_a_build_before_is_for_no_call() -> None:
    """It keeps nothing of what verbs declared then: a person is asked, and its words say that it is
    to be given anew.
    """
    with office() as house:
        given = await house.grants.give(DEFAULT_WORKSPACE, OFFER, BEN)
        before = msgspec.structs.replace(given, declared={})
        await house.grants.revoke(DEFAULT_WORKSPACE, given.grant_id, BEN)
        kept = msgspec.structs.replace(before, grant_id="0" * 32)
        await house.store.submit(
            Arrive(
                workspace=DEFAULT_WORKSPACE,
                shared=Shared(reads=(), decide=lambda: Ruling(writes=(kept,))),
            )
        )
        assert house.came_to(await house.begun(post())) == [NO]
        assert KEPT_NOTHING in grant_words(before, house.services.catalogs.current)


@pytest.mark.parametrize("bound", [Constraint(max_amount=-1), Constraint(max_calls=0)])
async def test_a_bound_below_nothing_is_none(bound: Constraint) -> None:
    """It would be for no call, or be read as something else."""
    with office() as house:
        with pytest.raises(OrdainError) as refused:
            await house.grants.give(
                DEFAULT_WORKSPACE, offered(constraints={"post.out": bound}), BEN
            )
        assert refused.value.code == "invalid_grant"


EVERYTHING = ("post.*", "ask.out")
ONLY_BEN = offered(capabilities=EVERYTHING, targets=("ben@example.org",))


@pytest.mark.parametrize(
    ("offer", "call", "granted"),
    [
        (ONLY_BEN, post_all("ben@example.org"), True),
        (ONLY_BEN, post_all("ben@example.org", "eve@example.org"), False),
        (ONLY_BEN, post_all(), False),
        (ONLY_BEN, {"verb": "post.all", "args": {"text": "x"}}, False),
        (ONLY_BEN, {"verb": "post.all", "args": {"text": "x", "to": None}}, False),
        (ONLY_BEN, ask(), False),
        (offered(capabilities=EVERYTHING), ask(), True),
        (offered(capabilities=EVERYTHING), post_all(), True),
        (
            offered(
                capabilities=EVERYTHING,
                constraints={"*": Constraint(domains_allowlist=("example.org",))},
            ),
            post_all(),
            False,
        ),
        (
            offered(
                capabilities=EVERYTHING,
                constraints={"*": Constraint(domains_allowlist=("example.org",))},
            ),
            ask(),
            False,
        ),
        (
            offered(
                capabilities=EVERYTHING,
                constraints={"post.*": Constraint(domains_allowlist=("example.org",))},
            ),
            ask(),
            True,
        ),
    ],
)
async def test_a_grant_covers_no_call_that_leaves_open_what_it_bounds(
    offer: GrantOffer, call: dict[str, Any], granted: bool
) -> None:
    """Whom it may be about is known of every call that it lets through: what names nobody may be
    for everybody.
    """
    with office() as house:
        await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        assert house.came_to(await house.begun(call)) == ["" if granted else NO]


async def test_calls_of_a_bound_count_over_all_runs() -> None:
    """``maxCalls`` of a grant is what all runs together have, and of two runs at once one has the
    last; other verbs are not counted by it.
    """
    with office() as house:
        bounds = {"post.out": Constraint(max_calls=2), "post.*": Constraint(max_calls=3)}
        given = await house.grants.give(
            DEFAULT_WORKSPACE, offered(capabilities=("post.*",), constraints=bounds), BEN
        )
        assert given.calls_left == {"post.out": 2, "post.*": 3}
        assert house.came_to(await house.begun(post("a"))) == [""]
        runs = [await house.open(CALLS, [post(text)]) for text in "bc"]
        await asyncio.gather(*map(house.drive, runs))
        assert sorted(house.came_to(run) for run in runs) == [[""], [NO]]
        assert house.came_to(
            await house.begun(post_all("x", text="d"), post_all("x", text="e"))
        ) == ["", NO]
        (left,) = await house.grants.listed(DEFAULT_WORKSPACE)
        assert left.calls_left == {"post.out": 0, "post.*": 0}
        assert len(house.did) == 3


async def test_nothing_destructive_is_granted() -> None:
    """Whatever is named, paying is approved each time; and no grant of a higher level can be
    given.
    """
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
        for by, why in ((CLEO, "tea is over"), (BEN, "")):
            audit = (await house.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, by, why)).audit
            assert (audit.revoked_by, audit.revoked_at, audit.revoked_why) == (
                CLEO,
                house.clock.at,
                "tea is over",
            )
        with pytest.raises(OrdainError) as too_long:
            await house.grants.revoke(DEFAULT_WORKSPACE, grant.grant_id, BEN, "x" * 1001)
        assert too_long.value.code == "why_too_long"
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
        (
            {"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}},
            BEN,
            OFFER,
            "not_an_approver",
        ),
        (
            {"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}},
            BEN,
            offered(capabilities=("p*",)),
            "not_an_approver",
        ),
        (
            {"rules": [{"verb": "post.*", "role": "leads"}], "roles": {"leads": [CLEO]}},
            CLEO,
            OFFER,
            "",
        ),
        ({"rules": [{"tier": "write", "not_requester": True}]}, ASKER, OFFER, "own_request"),
        ({"rules": [{"tier": "write", "not_requester": True}]}, "", OFFER, "approver_unknown"),
        ({"rules": [{"tier": "destructive", "not_requester": True}]}, ASKER, OFFER, ""),
    ],
)
async def test_who_may_give_one_is_who_might_approve(
    policy: dict[str, Any], by: Principal | str, offer: GrantOffer, code: str
) -> None:
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
        offered(principal="*"),
        offered(principal="token:*"),
        offered(principal=" "),
        offered(principal=f"{ASKER} "),
        offered(principal="a\u202eb"),
        offered(targets=()),
        offered(targets=("",)),
        offered(constraints={"post.otu": Constraint(max_calls=1)}),
        offered(constraints={"pay.*": Constraint(max_calls=1)}),
        offered(constraints={"post.*": Constraint(max_calls=0)}),
    ],
)
async def test_what_is_no_grant_is_not_given(offer: GrantOffer) -> None:
    """Without a time, a use, one principal, or something that it is for; nor with a bound of what
    it is not for.
    """
    with office() as house:
        with pytest.raises(OrdainError) as refused:
            await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        assert refused.value.code == "invalid_grant"


@pytest.mark.parametrize(
    ("offer", "code"),
    [
        (offered(capabilities=("pay.out",)), "not_grantable"),
        (offered(capabilities=("post.out", "pay.*")), "not_grantable"),
        (offered(capabilities=("look.up",)), "not_grantable"),
        (offered(risk_level=RiskLevel.READ), "not_grantable"),
        (offered(capabilities=("post.otu",)), "unknown_verb"),
        (offered(capabilities=("post.out", "mail.*")), "unknown_verb"),
    ],
)
async def test_a_grant_that_would_be_for_nothing_is_refused(offer: GrantOffer, code: str) -> None:
    """Each name and glob names something that such a grant can let through."""
    with office() as house:
        with pytest.raises(OrdainError) as refused:
            await house.grants.give(DEFAULT_WORKSPACE, offer, BEN)
        assert refused.value.code == code
        assert await house.grants.listed(DEFAULT_WORKSPACE, standing=False) == []
