"""A turn's port keeps it to the profile that holds: a flow that leaves the profile out, invents
one, or widens what it leaves gets nothing by it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from ordain.contracts.approvals import Tier
from ordain.effects.calls import Call
from ordain.effects.effect import ApprovalAsked, SharedState, Wait, WaitFor
from ordain.flows.act import act
from ordain.flows.approval import call_approval
from ordain.flows.context import FlowContext
from ordain.flows.pinned import profiled
from ordain.flows.turn.kind import TURN
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.journal.records import Status
from ordain.rules.profile import (
    PROFILE,
    HeldProfile,
    NoProfile,
    PinsSeen,
    ProfileInputs,
    ProfileSeen,
)
from tests.integration.conversation.test_profiles import SESSION, decided, keep, pin, put
from tests.shapes.talk import House

Hostile = Callable[[FlowContext], Awaitable[Any]]
KEEP = Call(verb="keep", args={"text": "the fence is green"})
PROFILE_P = {"skills": ["chat_general"], "safety": {"mode": "guarded", "notRequester": True}}


async def leave_it_out(context: FlowContext) -> None:
    """Call a verb before the profile is decided."""
    await act(context, KEEP, (0,))


async def invent_none(context: FlowContext) -> None:
    """Decide as if nothing were pinned."""
    seen = PinsSeen()
    context.fx.decide(PROFILE, seen.facts(), ProfileInputs(seen=seen))


async def invent_one(context: FlowContext) -> None:
    """Decide from another profile than was read."""
    result = await context.fx.perform(context.read(SharedState.PROFILE, {}))
    seen = PinsSeen(
        pins={"session": "p"}, profiles={"p": ProfileSeen(version=1, config={"skills": ["*"]})}
    )
    context.fx.decide(PROFILE, seen.facts(), ProfileInputs(seen=seen), (result.seq,))


async def read_of_nothing(context: FlowContext) -> None:
    """Say that it could not be read, and refer to a record that is no read."""
    seen = PinsSeen()
    context.fx.decide(PROFILE, seen.facts(unread=True), ProfileInputs(seen=seen), (0,))
    await act(context, KEEP, (0,))


async def decide_twice(context: FlowContext) -> None:
    """Decide, and then something looser."""
    await profiled(context)
    seen = PinsSeen()
    context.fx.decide(PROFILE, seen.facts(), ProfileInputs(seen=seen))


async def ask_whom_it_likes(context: FlowContext) -> None:
    """Ask for an approval that the sender could give."""
    await profiled(context)
    asked: ApprovalAsked = call_approval(KEEP, Tier.WRITE)
    await context.fx.perform(
        Wait(what=WaitFor.APPROVAL, about="keep", deadline=context.hard, approval=asked)
    )


def hostile(flow: Hostile) -> Any:
    async def run(context: FlowContext, given: TurnInput) -> TurnOutput:
        await flow(context)
        return TurnOutput(ok=True, narrative="done", mode=given.message.mode)

    return replace(TURN, run=run, version=TURN.version + 1)


@pytest.mark.parametrize(
    "flow",
    [leave_it_out, invent_none, invent_one, read_of_nothing, decide_twice, ask_whom_it_likes],
)
async def test_a_flow_gets_nothing_by_going_round_the_profile(flow: Hostile) -> None:
    """It is a fault, before anything goes live or anybody is asked."""
    async with House(kinds=[hostile(flow)], verbs=[keep]) as house:
        await put(house, "profile", "p", PROFILE_P)
        await pin(house, SESSION, "p")
        await house.send("hello", mode="agent", allowed_verbs=["keep"])
        await house.quiet()
        assert house.query("SELECT flow, status FROM runs") == [("turn", str(Status.FAULTED))]
        assert house.query("SELECT count(*) FROM journal WHERE name = 'verb_call'") == [(0,)]
        assert house.query("SELECT count(*) FROM approvals") == [(0,)]


async def test_a_flow_that_forgets_what_a_profile_leaves_is_held_to_it() -> None:
    """The scope is the port's: a call of a verb that the profile does not enable is denied,
    whatever scope the flow goes on with.
    """

    async def forget(context: FlowContext) -> None:
        outcome = await profiled(context)
        assert not isinstance(outcome, NoProfile)
        assert isinstance(outcome.held, HeldProfile)
        acted = await act(context, KEEP, (0,))
        assert acted.denied

    house = House(kinds=[hostile(forget)], verbs=[keep])
    async with house:
        await put(house, "profile", "p", PROFILE_P)
        await pin(house, SESSION, "p")
        answer = await house.say("hello", mode="agent", allowed_verbs=["keep"])
        assert answer.reply is not None
        assert answer.reply.ok
        assert [one["reason"] for one in decided(house, "authorize")] == ["authorize.out_of_scope"]
