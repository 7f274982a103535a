"""What is held is held wholly: also what is still being placed, and every earlier version of a
request; and it goes on once (B.7).
"""

from __future__ import annotations

import pytest

from ordain.testing import call
from tests.shapes.lines import Held, about, holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House

ASKS = {"attach": {"ask": "local"}}
PLACED = Held(when=lambda request: request.purpose == "triage")
"""The model that is asked what a message means takes its time."""


@pytest.mark.parametrize("stop", ["stop", "wait", "Stopp!", "hold on"])
@pytest.mark.parametrize("works", [True, False])
async def test_a_stop_holds_what_is_still_being_placed(stop: str, works: bool) -> None:
    """Whatever a model says of the message before it, nothing begins; whether the other work still
    runs or has just ended.
    """
    async with House(script=script_of(PLACED, holds("slowly")), policy=ASKS) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        placed = await house.send("and the letter to the bank as well", mode="agent")
        await house.until("a model is asked", lambda: len(house.puppet.held) == 2)
        assert house.so_far(placed).attached == "triage"
        if not works:
            await house.ordain.runtime.operators.cancel(
                str(house.so_far(working).run_id), by="op", why="tried"
            )
            await house.until("it has ended", lambda: house.over(house.so_far(working).run_id))
        await house.send(stop)
        house.puppet.let_go()
        done = await house.told(placed)
        await house.quiet()
        assert (done.attached, done.reason) == ("filler", "attach.halted")
        assert done.reply is not None
        assert "stop" in done.reply.narrative
        assert not done.reply.ok
        assert (done.reply.verdict, done.reply.header.splitlines()[0][0]) == ("nothing done", "✗")
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'turn'") == [(1,)]
        assert house.over(house.so_far(working).run_id)
        lawful(house.ordain)


@pytest.mark.parametrize("placed_by_then", [True, False])
async def test_what_was_said_last_goes_on_first(placed_by_then: bool) -> None:
    """The younger was still being placed when the stop came: "go on" begins it, in a thread of its
    own, and a second one the older; also before it was placed.
    """
    async with House(script=script_of(PLACED, holds("slowly")), policy=ASKS) as house:
        first = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        second = await house.send("and the letter to the bank as well", mode="agent")
        await house.until("a model is asked", lambda: len(house.puppet.held) == 2)
        await house.send("stop")
        if placed_by_then:
            house.puppet.let_go()
            assert (await house.told(second)).reason == "attach.halted"
        again = await house.send("go on")
        assert house.so_far(again).reason == "attach.resumed"
        assert house.so_far(again).thread_id not in (None, house.so_far(first).thread_id)
        house.puppet.let_go()
        done = await house.told(again)
        assert done.reply is not None
        assert (done.reply.ok, done.reply.narrative) == (
            True,
            "done: and the letter to the bank as well",
        )
        assert (await house.told(second)).reason == "attach.halted"
        older = await house.send("go on")
        await house.until(
            "the model is at work again",
            lambda: house.puppet.held == ["please work slowly on the report"],
        )
        house.puppet.let_go()
        done = await house.told(older)
        assert (done.reason, done.thread_id) == ("attach.resumed", house.so_far(first).thread_id)
        assert done.reply is not None
        assert done.reply.narrative == "done: please work slowly on the report"
        assert (await house.say("go on")).reason != "attach.resumed"
        lawful(house.ordain)


async def test_what_had_not_begun_can_be_held_and_go_on_more_than_once() -> None:
    """Its words are those that were first said, and never *go on*."""
    async with House(
        script=script_of(PLACED, holds("slowly"), holds("letter")), policy=ASKS
    ) as house:
        await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        await house.send("and the letter to the bank as well", mode="agent")
        await house.until("a model is asked", lambda: len(house.puppet.held) == 2)
        for _ in range(3):
            await house.say("stop")
            await house.until("the model was told to stop", lambda: not house.puppet.held)
            again = await house.send("go on")
            assert house.so_far(again).reason == "attach.resumed"
            await house.until(
                "the letter is worked on",
                lambda: "and the letter to the bank as well" in house.puppet.held,
            )
        house.puppet.let_go()
        done = await house.told(again)
        assert done.reply is not None
        assert done.reply.narrative == "done: and the letter to the bank as well"
        lawful(house.ordain)


async def test_what_comes_after_a_stop_is_placed_as_ever() -> None:
    """A halt is for what was said before it, by its sender, and not for what one reply alone is
    about.
    """
    async with House(script=script_of(PLACED, holds("slowly")), policy=ASKS) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        placed = await house.send("and the letter to the bank as well", mode="agent")
        await house.until("a model is asked", lambda: len(house.puppet.held) == 2)
        await house.send("stop", reply_to=working.message_id)
        await house.send("stop", user="bob")
        house.puppet.let_go()
        done = await house.told(placed)
        assert (done.attached, done.reason) == ("new_request", "attach.suggested")
        assert done.reply is not None
        assert done.reply.ok
        lawful(house.ordain)


@pytest.mark.parametrize("of", ["the first", "each other"])
async def test_of_several_edits_the_last_alone_is_served(of: str) -> None:
    """Each takes the place of all versions before it, whether it names the first or the one before
    it; none of those comes to its end.
    """
    async with House(script=script_of(holds("slowly"))) as house:
        await house.send("please work slowly on the report", mode="agent", id="m1", ts=1)
        await house.until("the model is at work", lambda: house.puppet.held)
        for number in (2, 3, 4, 5):
            edits = "m1" if of == "the first" else f"m{number - 1}"
            sent = await house.send(
                f"please work slowly on report {number}",
                mode="agent",
                id=f"m{number}",
                edits=edits,
                ts=number,
            )
            assert house.so_far(sent).reason == "attach.edit"
        await house.until(
            "the last is at work", lambda: house.puppet.held == ["please work slowly on report 5"]
        )
        house.puppet.let_go()
        done = await house.told(sent)
        await house.quiet()
        assert done.reply is not None
        assert done.reply.narrative == "done: please work slowly on report 5"
        turns = house.query("SELECT status FROM runs WHERE flow = 'turn' ORDER BY no")
        assert turns == [("cancelled",)] * 4 + [("completed",)]
        lawful(house.ordain)


async def test_an_edit_of_what_is_served_leaves_what_was_said_since() -> None:
    """Another request that is queued in its thread is no version of it."""
    async with House(script=script_of(holds("slowly"))) as house:
        first = await house.send("please work slowly on the report", mode="agent", id="m1", ts=1)
        await house.until("the model is at work", lambda: house.puppet.held)
        other = await house.send(
            "translate the summary into French for the board",
            mode="agent",
            reply_to=first.message_id,
        )
        assert house.so_far(other).thread_id == "1"
        for number in (2, 3):
            sent = await house.send(
                f"please work slowly on report {number}",
                mode="agent",
                id=f"m{number}",
                edits="m1",
                ts=number,
            )
        done = await house.told(other)
        assert done.reply is not None
        assert done.reply.ok
        await house.until(
            "the last is at work", lambda: house.puppet.held == ["please work slowly on report 3"]
        )
        house.puppet.let_go()
        assert (await house.told(sent)).reply is not None
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["yes", "no", "B"])
@pytest.mark.parametrize("others", [True, False])
async def test_a_reply_to_the_first_bubble_answers_what_it_became(text: str, others: bool) -> None:
    """A question that went back once as A and B is one question: a reply to how it was put first is
    to it, and to no other.
    """
    ask = {
        name: call("ask_user", question=f"{name}?", expected_type="yes_no", key="k")
        for name in ("delete all", "mail the boss")
    }
    script = script_of().on("planner", ask["delete all"], index=0, when=about("tidy"))
    async with House(
        script=script.on("planner", ask["mail the boss"], index=0, when=about("boss"))
    ) as house:
        first = await house.say("please tidy", mode="agent")
        assert first.question is not None
        again = await house.say("sure I'll check with my boss first")
        assert again.question is not None
        assert again.question.message_id != first.question.message_id
        if others:
            await house.say("ask the boss", mode="agent")
        said = await house.say(text, reply_to=first.question.message_id)
        await house.quiet()
        assert (said.attached, said.reason, said.thread_id) == (
            "answer_to_pending",
            "attach.answer_anchored",
            "1",
        )
        assert house.query("SELECT slots FROM threads WHERE id < 3 ORDER BY id")[0] == (
            '{"k":true}' if text == "yes" else '{"k":false}',
        )
        waits = house.query(
            "SELECT count(*) FROM runs WHERE flow = 'question' AND status = 'waiting'"
        )
        assert waits == [(1 if others else 0,)]
        lawful(house.ordain)


async def test_a_reply_to_a_question_that_was_answered_answers_none_of_the_same_run() -> None:
    """What the same work asks next is another question, though it has the same key."""
    script = script_of()
    for index, question in enumerate(("Delete all?", "Really all?")):
        script = script.on(
            "planner",
            call("ask_user", question=question, expected_type="yes_no", key="k"),
            index=index,
            when=about("tidy"),
        )
    async with House(script=script) as house:
        first = await house.say("please tidy", mode="agent")
        assert first.question is not None
        second = await house.say("yes")
        assert second.question is not None
        said = await house.say("yes", reply_to=first.question.message_id)
        assert said.attached != "answer_to_pending"
        assert house.query(
            "SELECT count(*) FROM runs WHERE flow = 'question' AND status = 'waiting'"
        ) == [(1,)]
        lawful(house.ordain)
