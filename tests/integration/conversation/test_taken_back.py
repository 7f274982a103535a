"""A no after a yes is the later word: it holds the work that the yes let go on, or is told that
this is over; and what was held goes on by a word (B.7).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.verbs import ArgumentRole
from ordain.flows.status.late import NOTHING_RAN
from ordain.testing import ModelScript, call, finish, hold, output
from ordain.verbs.functions import verb
from tests.integration.conversation.test_workflows import Office
from tests.shapes.lines import about, holds, script_of, words
from tests.shapes.session_laws import lawful
from tests.shapes.talk import WORKSPACE, House

ASKS = call("ask_user", question="Delete all files?", expected_type="yes_no", key="ok")


def slow() -> ModelScript:
    """The work after the answer is held."""
    return (
        script_of()
        .on("planner", ASKS, index=0, when=about("tidy"))
        .on("planner", hold(), index=1, when=about("tidy"))
    )


QUICK = (
    script_of()
    .on("planner", ASKS, index=0, when=about("tidy"))
    .on("planner", finish("all gone"), index=1, when=about("tidy"))
)


async def consented(house: House) -> MessageAnswer:
    """The question was asked, and answered yes."""
    asked = await house.say("please tidy", mode="agent", id="m1")
    await house.send("yes", id="m2", ts=1)
    return asked


@pytest.mark.parametrize("text", ["no", "Nein", "No!", "actually no", "nope, sorry"])
async def test_a_no_holds_the_work_that_a_yes_let_go_on(text: str) -> None:
    """As a bare stop does; the work is interrupted and what had happened is told."""
    async with House(script=slow()) as house:
        await consented(house)
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        said = await house.say(text)
        assert (said.attached, said.reason, said.thread_id) == (
            "override",
            "attach.taken_back",
            "1",
        )
        assert said.reply is not None
        assert "stopped" in said.reply.narrative
        await house.quiet()
        assert house.query(
            "SELECT count(*) FROM runs WHERE flow = 'turn' AND status = 'completed'"
        ) == [(0,)]
        lawful(house.ordain)


async def test_yes_and_no_at_once_hold_it() -> None:
    """The no that comes before the run has begun to go on is the later word all the same."""
    async with House(script=slow()) as house:
        await house.say("please tidy", mode="agent")
        await house.send("yes")
        said = await house.say("no")
        assert (said.attached, said.reason) == ("override", "attach.taken_back")
        await house.quiet()
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["no", "wait"])
async def test_an_edit_of_a_yes_to_a_no_holds_it(text: str) -> None:
    """Whatever else has been said since."""
    async with House(script=slow()) as house:
        await consented(house)
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        await house.say("any luck?")
        said = await house.say(text, edits="m2", ts=2)
        assert said.attached == "override"
        await house.quiet()
        assert house.query(
            "SELECT count(*) FROM runs WHERE flow = 'turn' AND status = 'completed'"
        ) == [(0,)]
        lawful(house.ordain)


async def test_an_edit_of_an_answer_answers_no_other_question() -> None:
    """What corrects an earlier yes fills no slot of what was asked since."""
    script = script_of(QUICK).on("planner", ASKS, index=0, when=about("other"))
    async with House(script=script) as house:
        await consented(house)
        await house.quiet()
        await house.say("the other thing", mode="agent")
        said = await house.say("no", edits="m2", ts=2)
        await house.quiet()
        assert said.attached != "answer_to_pending"
        assert (
            json.loads(house.query("SELECT coalesce(slots, '{}') FROM threads WHERE id = 2")[0][0])
            == {}
        )
        lawful(house.ordain)


async def test_a_no_that_comes_too_late_is_told_so() -> None:
    """The work has ended: the sender is told what became of it and not left without a word."""
    async with House(script=QUICK) as house:
        await consented(house)
        await house.quiet()
        said = await house.say("no")
        assert (said.attached, said.reason) == ("status_nudge", "attach.too_late")
        assert said.reply is not None
        assert said.reply.narrative == (
            "“please tidy”: too late: it was done before this came, so it stops nothing. "
            f"{NOTHING_RAN}"
        )
        assert (await house.say("thanks")).attached == "filler"
        lawful(house.ordain)


@verb(effect="send", arguments={"to": ArgumentRole.RECIPIENT})
def tell_all(to: str) -> str:
    """Tell everybody."""
    return f"{to} know"


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
def jot(text: str) -> str:
    """Jot something down."""
    return text


async def test_a_no_after_the_act_is_told_what_ran_and_what_cannot_be_undone(
    tmp_path: Path,
) -> None:
    """What went out is gone, what was changed takes a request of its own; who is told "done" would
    believe that his no was heard.
    """
    acts = [ASKS, call("jot", text="gone"), call("tell_all", to="everybody"), finish("all told")]
    script = script_of()
    for index, act in enumerate(acts):
        script = script.on("planner", act, index=index, when=about("tidy"))
    async with Office(tmp_path, script=script, verbs=[tell_all, jot]) as house:
        await house.send(
            "please tidy everybody",
            mode="agent",
            id="m1",
            max_steps=9,
            allowed_verbs=["ask_user", "jot", "tell_all"],
        )
        await house.quiet()
        await house.send("yes")
        await house.quiet()
        (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
        await house.decide(view)
        await house.quiet()
        said = await house.say("no, don't")
        assert said.reason == "attach.too_late"
        assert said.reply is not None
        assert said.reply.narrative == (
            "“please tidy everybody”: too late: it was done before this came, so it stops "
            "nothing. What ran: jot, tell_all."
            " What went out with tell_all cannot be taken back."
            " What jot changed is undone by a request of its own alone, where that can be done."
        )
        lawful(house.ordain)


async def test_a_yes_after_a_no_is_told_so() -> None:
    """It is none to a question that is closed."""
    async with House(script=QUICK) as house:
        await house.say("please tidy", mode="agent")
        await house.send("no")
        said = await house.say("yes")
        assert (said.attached, said.reason) == ("status_nudge", "attach.too_late")
        await house.quiet()
        lawful(house.ordain)


async def test_a_no_to_something_else_holds_nothing() -> None:
    """A reply that asks is answered; nobody else's no takes a yes back."""
    joke = script_of(slow()).on(
        "verb", output(content="At nine. Anything else?"), when=about("library")
    )
    async with House(script=joke) as house:
        await consented(house)
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        assert (await house.say("no", user="bob")).attached == "filler"
        await house.say("When does the library open?")
        said = await house.say("no")
        assert (said.attached, said.reason) == ("new_request", "attach.goes_on")
        assert not house.over(
            house.query("SELECT id FROM runs WHERE flow = 'turn' ORDER BY no LIMIT 1")[0][0]
        )
        await house.say("stop")
        await house.quiet()


@pytest.mark.parametrize("stop", ["wait", "stop"])
@pytest.mark.parametrize(
    "text", ["go on", "continue please", "weiter", "Mach weiter!", "carry on, thanks", "resume"]
)
async def test_what_was_held_begins_again(stop: str, text: str) -> None:
    """The request is served once more, as it was asked: with its words and its mode, in its thread,
    and knowing what had happened.
    """
    script = script_of(holds("slowly"))
    async with House(script=script) as house:
        await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        await house.say(stop)
        again = await house.send(text)
        assert (house.so_far(again).attached, house.so_far(again).reason) == (
            "new_request",
            "attach.resumed",
        )
        await house.until(
            "the model is at work again",
            lambda: house.puppet.held == ["please work slowly on the report"],
        )
        house.puppet.let_go()
        done = await house.told(again)
        assert done.reply is not None
        assert done.reply.ok
        assert done.reply.narrative == "done: please work slowly on the report"
        assert "cancelled" in done.reply.header
        lawful(house.ordain)


async def test_of_two_that_were_held_the_one_begins_again_that_is_meant() -> None:
    """Another thread that was held before Ordain asked something, and whose request came later,
    lends its words to none.
    """
    joke = script_of().on(
        "verb", output(content="At nine. Would you like to hear a joke?"), when=about("library")
    )
    async with House(script=script_of(joke, holds("slowly"))) as house:
        await house.send("please work slowly on the report", mode="agent")
        other = await house.send("please work slowly on the letter", mode="agent")
        await house.until("both are at work", lambda: len(house.puppet.held) == 2)
        assert (await house.say("stop", reply_to=other.message_id)).thread_id == "2"
        await house.say("When does the library open?")
        assert (await house.say("stop")).thread_id == "1"
        again = await house.send("go on")
        assert house.so_far(again).reason == "attach.resumed"
        await house.until(
            "the model is at work again",
            lambda: house.puppet.held == ["please work slowly on the report"],
        )
        house.puppet.let_go()
        done = await house.told(again)
        assert done.thread_id == "1"
        await house.quiet()
        lawful(house.ordain)


async def test_go_on_begins_nothing_that_goes_on_or_is_another_s() -> None:
    """To work that goes on it is no order, and nobody has another's request served again."""
    script = script_of(holds("slowly"))
    async with House(script=script) as house:
        await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        await house.say("wait")
        assert (await house.say("go on", user="bob")).reason == "attach.new_request"
        assert words(house.puppet.asked("verb")[-1]) == "go on"
        await house.send("work slowly on the other", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        assert (await house.say("go on")).attached == "filler"  # it does
        house.puppet.let_go()
        await house.quiet()
        lawful(house.ordain)


@pytest.mark.parametrize(
    "text", ["no no", "NEIN NEIN!", "nooooo", "no don't", "please don't do that"]
)
async def test_a_no_that_answers_nothing_holds_what_works(text: str) -> None:
    """Said over and over, with nothing asked: as a bare *wait* does. Where something is asked it
    answers that, and the work goes on.
    """
    script = script_of(holds("slowly")).on("planner", ASKS, index=0, when=about("tidy"))
    async with House(script=script) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        await house.say("please tidy", mode="agent")
        answered = await house.say(text)
        assert answered.thread_id == "2"
        if text != "nooooo":  # lengthened it is no whole no, and goes back
            assert json.loads(house.query("SELECT slots FROM threads WHERE id = 2")[0][0]) == {
                "ok": False
            }
        assert not house.over(house.so_far(working).run_id)
        if text == "nooooo":
            await house.say("no")
        await house.quiet()
        said = await house.say("the weather is fine") and await house.say(text)
        assert (said.attached, said.reason, said.thread_id) == ("override", "attach.hold", "1")
        await house.quiet()
        assert house.over(house.so_far(working).run_id)
        lawful(house.ordain)
