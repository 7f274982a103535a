"""Orders to stop and to change: what an order and an edit reach, whose they are, and what they
leave alone.
"""

from __future__ import annotations

import asyncio

import pytest

from ordain.contracts.conversation import Question
from ordain.errors import Refused
from ordain.journal.codec import decode
from ordain.journal.records import Started
from ordain.testing import suggests
from ordain.verbs.functions import verb
from tests.shapes.lines import holds, script_of
from tests.shapes.session_laws import broken_at_rest, lawful
from tests.shapes.talk import PRINCIPAL, House, message

SLOW = script_of(holds("slowly"))


async def asked_which(house: House) -> Question:
    """Two turns at work and a bare stop: the question which of the two is meant."""
    for what in ("cats", "dogs"):
        await house.send(f"tell me slowly about {what}", mode="agent")
    await house.quiet()
    asked = await house.say("stop")
    assert asked.question is not None
    return asked.question


async def test_a_stop_that_comes_too_late_says_so() -> None:
    """A verb in flight is awaited: where it ended well, the answer to "stop" does not call it
    stopped.
    """
    begun, gate = asyncio.Event(), asyncio.Event()

    @verb(effect="read")
    async def look_up(text: str) -> dict[str, str]:
        """Look something up."""
        begun.set()
        await gate.wait()
        return {"found": text}

    async with House(verbs=[look_up]) as house:
        first = await house.send("cats", verb="look_up")
        await asyncio.wait_for(begun.wait(), 5)
        stop = await house.send("stop")
        gate.set()
        answer, late = await house.told(first), await house.told(stop)
        assert late.attached == "override"
        assert answer.reply is not None
        assert late.reply is not None
        assert answer.reply.ok
        assert "had ended by itself" in late.reply.narrative
        lawful(house.ordain)


async def test_editing_a_nudge_kills_nothing() -> None:
    """An edit takes the place of the turn that its own message began: mending a typo in a question
    after progress is no override.
    """
    async with House(script=SLOW) as house:
        work = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        nudge = await house.say("any luck?")
        edited = await house.say("any luck??", edits=nudge.message_id, ts=5)
        assert edited.attached != "override"
        house.puppet.let_go()
        answer = await house.told(work)
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house.ordain)


async def test_an_edit_interrupts_its_own_turn_only() -> None:
    """Editing a queued message leaves the turn before it alone."""
    async with House(script=SLOW) as house:
        first = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        second = await house.send("tell me about dogs", reply_to=first.message_id, ts=1)
        edited = await house.send("tell me about birds", edits=second.message_id, ts=2)
        house.puppet.let_go()
        kept, gone, new = [await house.told(one) for one in (first, second, edited)]
        assert [answer.reply is not None and answer.reply.ok for answer in (kept, gone, new)] == [
            True,
            False,
            True,
        ]
        lawful(house.ordain)


async def test_nobody_edits_anothers_message() -> None:
    """An edit by another user, or sent ahead of another user's message, neither stops nor
    suppresses it.
    """
    async with House(script=SLOW) as house:
        work = await house.send("tell me slowly about cats", mode="agent", id="m1", user="ada")
        await house.quiet()
        meddling = await house.send("tell me about dogs", edits="m1", user="bob", ts=9)
        assert house.so_far(meddling).attached != "override"
        await house.send("nothing here", edits="m9", user="bob", ts=2**53)
        later = await house.say("tell me about birds", id="m9", user="ada", ts=10)
        assert later.attached == "new_request"
        house.puppet.let_go()
        answer = await house.told(work)
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house.ordain)


async def test_the_newest_edit_counts_though_a_model_is_asked() -> None:
    """A message's time is not forgotten on the way through triage: the newest edit is no stale
    one.
    """
    async with House(
        script=SLOW.on("triage", suggests("new_request")), policy={"attach": {"ask": "local"}}
    ) as house:
        await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        await house.say("tell me about dogs", id="m1", ts=1)
        first = await house.say("tell me about birds", edits="m1", ts=100)
        second = await house.say("tell me about fish", edits="m1", ts=200)
        assert [answer.attached for answer in (first, second)] == ["new_request", "new_request"]
        stale = await house.say("tell me about frogs", edits="m1", ts=150)
        assert (stale.attached, stale.reason) == ("filler", "attach.stale_edit")
        lawful(house.ordain)


async def test_how_a_message_came_is_not_forgotten_on_the_way_through_triage() -> None:
    """HUB-06 “metadata:{source:"hub_ws", trace_verb}”: the turn and the second decision name both
    labels, though a model was asked in between.
    """
    async with House(
        script=SLOW.on("triage", suggests("new_request")), policy={"attach": {"ask": "local"}}
    ) as house:
        await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        said = message("hm right so suggest it", id="m1")
        labelled = said.model_copy(
            update={
                "message": said.message.model_copy(
                    update={"metadata": {"trace_verb": "chat_general"}}
                )
            }
        )
        sent = await house.ordain.runtime.receive(labelled, PRINCIPAL, source="hub_ws")
        await house.told(sent)
        assert house.puppet.asked("triage")
        ((decision, turn),) = house.query(
            "SELECT decision, run FROM transcript WHERE message_id = 'm1'"
        )
        stored = house.ordain.store.stored(turn)
        assert stored is not None
        started = decode(stored.records[0])
        assert isinstance(started, Started)
        assert started.flow == "turn"
        for told in (bytes(decision), bytes(started.input)):
            assert b'"source":"hub_ws"' in told
            assert b'"trace_verb":"chat_general"' in told
        lawful(house.ordain)


@pytest.mark.parametrize("mode", ["brain", "agent"])
async def test_an_edit_of_what_is_queued_leaves_the_rest(mode: str) -> None:
    """Editing a message that waits behind other work gives up that message alone: what runs and
    what else waits is done.
    """
    async with House(script=SLOW) as house:
        work = await house.send("tell me slowly about cats", mode="agent", id="m1", ts=1)
        await house.quiet()
        queued = await house.send("and about dogs", mode=mode, id="m2", ts=2, reply_to="m1")
        beside = await house.send("and about fish", mode=mode, id="m3", ts=3, reply_to="m1")
        edited = await house.send("and about birds", mode=mode, id="m4", ts=4, edits="m2")
        assert house.so_far(edited).reason == "attach.edit"
        await house.quiet()
        assert not house.over(house.so_far(work).run_id)
        house.puppet.let_go()
        told = [await house.told(one) for one in (work, queued, beside, edited)]
        assert [answer.reply is not None and answer.reply.ok for answer in told] == [
            True,
            False,
            True,
            True,
        ]
        assert not broken_at_rest(house.ordain)
        lawful(house.ordain)


async def test_a_choice_is_made_by_who_left_it_open() -> None:
    """Which of two is meant says the sender of the message that could mean both."""
    async with House(script=SLOW) as house:
        await asked_which(house)
        await house.send("A", user="bob")
        await house.quiet()
        assert house.query("SELECT count(*) FROM mailbox WHERE kind = 'interrupt'") == [(0,)]
        assert (await house.say("A", user="ada")).attached == "answer_to_pending"
        lawful(house.ordain)


async def test_a_choice_that_finds_nothing_left_is_told_so() -> None:
    """Choosing what to stop after it has ended: both the order and the choice are answered, and
    nothing waits for ever.
    """
    async with House(script=SLOW) as house:
        question = await asked_which(house)
        house.puppet.let_go()
        await house.quiet()
        chosen = await house.say("A", reply_to=question.message_id)
        assert chosen.attached == "answer_to_pending"
        assert not broken_at_rest(house.ordain)
        lawful(house.ordain)


async def test_who_waits_for_a_choice_that_finds_nothing_is_told() -> None:
    """A choice that finds nothing left to stop is answered by a reply, of the same run that
    asked.
    """
    async with House(script=SLOW) as house:
        for what in ("cats", "dogs"):
            await house.send(f"tell me slowly about {what}", mode="agent")
        await house.quiet()
        order = await house.send("stop")
        assert (await house.told(order)).question is not None
        house.puppet.let_go()
        await house.quiet()
        chosen = await house.say("A")
        assert chosen.reply is not None
        assert "nothing_to_stop" in chosen.reply.narrative
        assert "✗ attach" not in chosen.reply.header
        assert chosen.run_id == house.so_far(order).run_id
        assert house.query("SELECT count(*) FROM transcript WHERE kind = 'reply'") == [(3,)]
        lawful(house.ordain)


async def test_a_busy_engine_can_be_stopped_and_asked() -> None:
    """The engine's limit refuses new work, not the orders to stop and the questions after progress
    that come with work at hand.
    """
    async with House(script=SLOW, policy={"engine": {"max_accepted": 1}}) as house:
        work = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        with pytest.raises(Refused):
            await house.send("tell me about dogs", "s2")
        assert (await house.say("any luck?")).attached == "status_nudge"
        assert (await house.say("stop")).attached == "override"
        answer = await house.told(work)
        assert answer.reply is not None
        assert not answer.reply.ok
        lawful(house.ordain)


async def test_another_repair_leaves_other_work_alone() -> None:
    """A request in reply to a repair question is not given up when the next repair question takes
    that one's place.
    """
    async with House(script=SLOW) as house:
        question = await asked_which(house)
        own = await house.send("tell me about the birds then", reply_to=question.message_id)
        await house.send("stop")
        await house.quiet()
        answer = await house.told(own)
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house.ordain)


async def test_an_order_to_stop_stays_one() -> None:
    """Where there is work to stop, "stop" stops it, whatever else the message carries."""
    async with House(script=SLOW) as house:
        work = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        stop = await house.say("stop", workflow={"template": "send_email"})
        assert stop.attached == "override"
        answer = await house.told(work)
        assert answer.reply is not None
        assert not answer.reply.ok
        lawful(house.ordain)
