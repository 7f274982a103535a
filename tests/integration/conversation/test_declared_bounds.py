"""What a verb declares of its arguments' values holds for every call: nobody is asked about one
beyond it, and a yes does not carry it.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from ordain.contracts.moments import EPOCH
from ordain.contracts.verbs import Argument, ArgumentRole
from ordain.runtime.grants import GrantOffer
from ordain.testing import call, finish
from ordain.verbs.functions import verb
from tests.integration.conversation.test_profiles import all_replay_equal, decided
from tests.shapes.lines import script_of, steps
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House

MADE: list[tuple[object, ...]] = []


@verb(
    effect="pay",
    arguments={
        "amount": Argument(role=ArgumentRole.AMOUNT, maximum=100),
        "to": Argument(role=ArgumentRole.RECIPIENT, allowed=["anna", "bert"]),
    },
)
def transfer(amount: float, to: str) -> str:
    """Transfer money."""
    MADE.append((amount, to))
    return "done"


@verb(
    effect="send",
    arguments={
        "amount": Argument(role=ArgumentRole.AMOUNT, maximum=100),
        "to": ArgumentRole.RECIPIENT,
    },
)
def order(amount: int, to: str) -> str:
    """Order so many."""
    MADE.append((amount, to))
    return "done"


@verb(effect="private", arguments={"on": Argument(role=ArgumentRole.WHEN, within_days=30)})
def book(on: str) -> str:
    """Book a table."""
    MADE.append((on,))
    return "done"


async def reasons(house: House, name: str) -> list[str]:
    """Have it done; the decisions about the verb."""
    MADE.clear()
    await house.send("please do it", mode="agent", allowed_verbs=[name])
    await house.quiet()
    assert await all_replay_equal(house)
    return [one["reason"] for one in decided(house, "authorize") if one["facts"]["verb"] == name]


@pytest.mark.parametrize(
    ("amount", "to", "found"),
    [
        (100, "anna", ["authorize.needs_approval"]),
        (100.5, "anna", []),
        (5, "mallory", []),
    ],
)
async def test_nobody_is_asked_about_a_call_beyond_what_is_declared(
    amount: float, to: str, found: list[str]
) -> None:
    """A maximum and a list are no matter of somebody's yes: a proposal with more is none that fits
    the verb.
    """
    async with House(
        script=steps(call("transfer", amount=amount, to=to), finish("done")), verbs=[transfer]
    ) as house:
        assert await reasons(house, "transfer") == found
        assert len(await house.ordain.runtime.approvals.listed(WORKSPACE)) == found.count(
            "authorize.needs_approval"
        )
        assert MADE == []


@pytest.mark.parametrize(("amount", "made"), [(100, True), (101, False)])
async def test_a_grant_covers_nothing_beyond_what_is_declared(amount: int, *, made: bool) -> None:
    """The declaration binds whoever said yes beforehand."""
    async with House(
        script=steps(call("order", amount=amount, to="anna"), finish("done")), verbs=[order]
    ) as house:
        offer = GrantOffer(principal=PRINCIPAL, capabilities=("order",), ttl_s=600)
        await house.ordain.runtime.grants.give(WORKSPACE, offer, "local:somebody")
        found = await reasons(house, "order")
        assert (found[-1:], MADE) == (
            (["authorize.granted"], [(100, "anna")]) if made else ([], [])
        )


@pytest.mark.parametrize(
    ("days", "reason"),
    [(29, "authorize.private"), (31, "authorize.too_far"), (None, "authorize.too_far")],
)
async def test_a_moment_further_ahead_than_declared_is_refused(
    days: int | None, reason: str
) -> None:
    """By the run's own time, which replay has again; what is no date is none that is near
    enough.
    """
    async with House(verbs=[book]) as house:
        now = EPOCH + timedelta(microseconds=house.clock.now())
        on = "whenever" if days is None else (now + timedelta(days=days)).isoformat()
        house.puppet.script = script_of(steps(call("book", on=on), finish("done")))
        assert await reasons(house, "book") == [reason]
        assert ([(on,)] if reason == "authorize.private" else []) == MADE


async def test_what_no_verb_declares_is_not_looked_at() -> None:
    """A catalog in which no verb declares days has the bytes that it had before they were held to,
    and its decisions have no moment.
    """
    async with House(
        script=steps(call("order", amount=1, to="anna"), finish("done")), verbs=[order]
    ) as house:
        await reasons(house, "order")
        assert b"bounds_days" not in house.ordain.runtime.catalog.encoded
        assert all("at" not in one["facts"] for one in decided(house, "authorize"))
