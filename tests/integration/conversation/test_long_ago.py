"""What was asked last is found however much has been said since, and a no that takes a yes back is
what the slot shows (B.6, B.7).
"""

from __future__ import annotations

import pytest

from ordain.ports.shared import SPOKEN_MAX
from ordain.testing import ModelScript, call, hold
from tests.integration.conversation.test_addressees import LIBRARY, SCRIPT, TIDY, slots, waits
from tests.shapes.lines import about, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House


def slow() -> ModelScript:
    """The work after the answer is held."""
    return script_of(TIDY).on("planner", hold(), index=1, when=about("tidy"))


def twice() -> ModelScript:
    """Two questions, and the work after them is held."""
    copy = call("ask_user", question="A copy first?", expected_type="yes_no", key="copy")
    every = call("ask_user", question="Delete all?", expected_type="yes_no", key="all")
    script = (
        script_of()
        .on("planner", copy, index=0, when=about("tidy"))
        .on("planner", every, index=1, when=about("tidy"))
    )
    return script.on("planner", hold(), index=2, when=about("tidy"))


async def talked(house: House, times: int = SPOKEN_MAX) -> None:
    """Others say much that wants nothing."""
    for _ in range(times):
        assert (await house.say("thanks!", user="bob")).attached == "filler"


@pytest.mark.parametrize("text", ["yes", "no"])
async def test_a_question_at_the_end_of_a_reply_is_what_was_asked_last_however_long_ago(
    text: str,
) -> None:
    """Much has been said since: a bare answer still goes back, and fills no slot of the older
    question.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say(LIBRARY)
        await talked(house)
        asked = await house.say(text)
        assert (asked.attached, asked.reason) == ("repair", "attach.ambiguous")
        assert (slots(house), waits(house)) == ({}, 1)
        lawful(house.ordain)


async def test_also_where_many_threads_were_touched_since() -> None:
    """The thread of the reply is none of those that were touched last."""
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say(LIBRARY)
        for number in range(SPOKEN_MAX // 2):
            await house.say(f"Tell me about number {number}", user="bob")
        asked = await house.say("yes")
        assert (asked.attached, asked.reason) == ("repair", "attach.ambiguous")
        assert asked.question is not None
        assert [option.label for option in asked.question.options][1] == f"go on about “{LIBRARY}”"
        assert (slots(house), waits(house)) == ({}, 1)
        lawful(house.ordain)


async def test_with_nothing_open_a_yes_goes_on_with_it() -> None:
    """However many threads and entries there are behind it."""
    async with House(script=SCRIPT) as house:
        await house.say(LIBRARY)
        for number in range(SPOKEN_MAX // 2):
            await house.say(f"Tell me about number {number}", user="bob")
        said = await house.say("yes")
        assert (said.attached, said.reason, said.thread_id) == (
            "new_request",
            "attach.goes_on",
            "1",
        )
        lawful(house.ordain)


async def test_a_no_takes_back_a_yes_of_long_ago() -> None:
    """The work that it let go on still goes on: it is held, and the slot shows the no."""
    async with House(script=slow()) as house:
        await house.say("please tidy", mode="agent")
        await house.send("yes")
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        assert slots(house) == {"k": True}
        await talked(house)
        said = await house.say("no")
        assert (said.attached, said.reason) == ("override", "attach.taken_back")
        await house.quiet()
        assert slots(house) == {"k": False}
        lawful(house.ordain)


async def test_a_no_fills_the_slot_that_it_is_about_and_no_other() -> None:
    """Of two questions of one thread the later one was answered last; an earlier no does not make
    the later yes one.
    """
    async with House(script=twice()) as house:
        await house.say("please tidy", mode="agent")
        await house.say("no")
        await house.send("yes")
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[2:])
        assert slots(house) == {"copy": False, "all": True}
        assert (await house.say("no")).reason == "attach.taken_back"
        await house.quiet()
        assert slots(house) == {"copy": False, "all": False}
        lawful(house.ordain)


async def test_a_no_to_a_condition_leaves_the_slot_of_an_earlier_yes() -> None:
    """What was answered last filled none; the work is held all the same."""
    async with House(script=twice()) as house:
        await house.say("please tidy", mode="agent")
        await house.say("yes")
        await house.send("yes but only the old ones")
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[2:])
        assert slots(house) == {"copy": True}
        assert (await house.say("no")).reason == "attach.taken_back"
        await house.quiet()
        assert slots(house) == {"copy": True}
        lawful(house.ordain)


async def test_an_edit_of_a_yes_to_a_no_is_what_its_slot_shows() -> None:
    """Also of long ago."""
    async with House(script=slow()) as house:
        await house.say("please tidy", mode="agent")
        await house.send("yes", id="m2", ts=1)
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        await talked(house)
        assert (await house.say("no", edits="m2", ts=2)).attached == "override"
        await house.quiet()
        assert slots(house) == {"k": False}
        lawful(house.ordain)


async def test_a_stop_is_no_no() -> None:
    """It holds the work, and what was answered stays so."""
    async with House(script=slow()) as house:
        await house.say("please tidy", mode="agent")
        await house.send("yes")
        await house.until("the model is at work", lambda: house.puppet.asked("planner")[1:])
        await house.say("stop")
        await house.quiet()
        assert slots(house) == {"k": True}
        lawful(house.ordain)
