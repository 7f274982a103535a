"""A bare answer goes to what its sender can mean: to what was asked last, and to the thread that a
reply chooses, never to an older slot (B.6, B.7).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.errors import InvalidRequest
from ordain.journal.records import Status
from ordain.testing import ModelScript, call, output
from tests.shapes.lines import about, holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House


def asking(question: str, expects: str, words: str, **more: Any) -> ModelScript:
    """A plan about these words that asks this."""
    return script_of().on(
        "planner",
        call("ask_user", question=question, expected_type=expects, key="k", **more),
        index=0,
        when=about(words),
    )


TIDY = asking("Delete all files?", "yes_no", "tidy")
DINNER = asking("Shall I order pizza?", "freeform", "dinner")
BOSS = asking("Mail the boss?", "yes_no", "boss")
TRIP = asking("Where to?", "location", "trip")
JOKE = script_of().on(
    "verb", output(content="At nine. Would you like to hear a joke?"), when=about("library")
)
SCRIPT = script_of(TIDY, DINNER, BOSS, TRIP, JOKE, holds("slowly"))
LIBRARY = "When does the library open?"


def slots(house: House, thread: int = 1) -> dict[str, Any]:
    """What a thread was told."""
    ((found,),) = house.query("SELECT slots FROM threads WHERE id = ?", thread)
    return json.loads(found or "{}")


def waits(house: House) -> int:
    """How many questions of runs still wait."""
    ((found,),) = house.query(
        "SELECT count(*) FROM runs WHERE flow = 'question' AND status = ?", str(Status.WAITING)
    )
    return found


def last_reply(house: House) -> str:
    """The id of the latest reply."""
    return house.query(
        "SELECT message_id FROM transcript WHERE kind = 'reply' ORDER BY seq DESC LIMIT 1"
    )[0][0]


@pytest.mark.parametrize("text", ["yes please", "yes", "no", "ok", "no thanks"])
async def test_a_question_at_the_end_of_a_later_reply_is_asked_back(text: str) -> None:
    """The older slot stays open until its sender says which was meant; B goes on with the chat, A
    answers the question.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say(LIBRARY)
        asked = await house.say(text)
        assert (asked.attached, asked.reason) == ("repair", "attach.ambiguous")
        assert asked.question is not None
        assert [option.label for option in asked.question.options] == [
            "answer “Delete all files?” about “please tidy”",
            f"go on about “{LIBRARY}”",
        ]
        assert (slots(house), waits(house)) == ({}, 1)
        chosen = await house.say("B")
        await house.quiet()
        assert chosen.attached == "answer_to_pending"
        assert (slots(house), waits(house)) == ({}, 1)
        assert house.query("SELECT thread FROM transcript WHERE kind = 'message' ORDER BY seq")[
            2
        ] == (2,)
        lawful(house.ordain)


async def test_what_is_chosen_is_answered() -> None:
    """A is the older question, and then its slot is filled; the letter is meant for what asked
    last, though other questions take one.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say("sure I'll check with my boss first")  # it goes back as A: yes B: no
        await house.say(LIBRARY)
        assert (await house.say("yes")).attached == "repair"
        assert (await house.say("A")).attached == "answer_to_pending"
        await house.quiet()
        assert (slots(house), waits(house)) == ({"k": True}, 0)
        lawful(house.ordain)


async def test_an_unanswered_question_which_is_put_again() -> None:
    """A yes to *which one do you mean?* fills nothing: it is asked once more."""
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say(LIBRARY)
        for _ in range(3):
            assert (await house.say("yes")).attached == "repair"
            assert (slots(house), waits(house)) == ({}, 1)
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["yes", "no"])
async def test_a_younger_free_question_takes_it(text: str) -> None:
    """A yes may be an answer to *shall I order pizza?*, and so it is none to what was asked
    before.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say("please see to dinner", mode="agent")
        said = await house.say(text)
        await house.quiet()
        assert (said.attached, said.thread_id) == ("answer_to_pending", "2")
        assert (slots(house, 1), slots(house, 2), waits(house)) == ({}, {"k": text}, 1)
        lawful(house.ordain)


async def test_a_younger_question_that_takes_no_yes_is_asked_back() -> None:
    """*Where to?* is no question for a yes: nothing is filled, and a place is still taken for the
    one that it fits.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say("plan a trip", mode="agent")
        assert (await house.say("yes")).attached == "repair"
        assert (slots(house, 1), slots(house, 2), waits(house)) == ({}, {}, 2)
        lawful(house.ordain)


@pytest.mark.parametrize("reply", ["reply", "message"])
@pytest.mark.parametrize(
    ("words", "text"), [("tidy", "yes"), ("tidy", "no"), ("trip", "in Lisbon"), ("dinner", "yes")]
)
async def test_a_reply_chooses_its_thread(words: str, text: str, reply: str) -> None:
    """What replies to a chat, or to the request that it answered, reaches no question of another
    thread; a yes goes on as chat.
    """
    async with House(script=SCRIPT) as house:
        await house.say(f"please {words}", mode="agent")
        await house.say(LIBRARY, id="m2")
        said = await house.say(text, reply_to="m2" if reply == "message" else last_reply(house))
        await house.quiet()
        assert (said.attached, said.thread_id) == ("new_request", "2")
        assert (slots(house), waits(house)) == ({}, 1)
        lawful(house.ordain)


async def test_a_reply_to_what_asked_answers_it() -> None:
    """To the question itself, or to the request of its thread, whatever was asked since."""
    for to_question in (True, False):
        async with House(script=SCRIPT) as house:
            first = await house.say("please tidy", mode="agent", id="m1")
            assert first.question is not None
            await house.say(LIBRARY)
            await house.say("ask the boss", mode="agent")
            said = await house.say(
                "yes", reply_to=first.question.message_id if to_question else "m1"
            )
            await house.quiet()
            assert (said.attached, said.thread_id) == ("answer_to_pending", "1")
            assert (slots(house), waits(house)) == ({"k": True}, 1)
            lawful(house.ordain)


@pytest.mark.parametrize("said", ["thanks", "any luck?", "yes"])
@pytest.mark.parametrize("how", ["edits", "reply_to"])
async def test_what_speaks_of_a_time_before_the_question_is_no_consent(said: str, how: str) -> None:
    """An edit is as old as what it edits, and a reply to what its user said speaks of then; only
    one to a request names its thread.
    """
    async with House(script=SCRIPT) as house:
        await house.say("tell me about boats", id="m0")
        await house.say(said, id="before")
        asked = await house.say("please tidy", mode="agent")
        assert asked.question is not None
        await house.say("yes", **{how: "before"})
        await house.quiet()
        assert waits(house) == 1
        assert not house.query("SELECT 1 FROM threads WHERE json_extract(slots, '$.k') IS NOT NULL")
        lawful(house.ordain)


async def test_a_reply_to_nothing_that_is_known_is_no_consent_where_two_could_be_meant() -> None:
    """With one thread it is as without; with more it is asked back."""
    async with House(script=SCRIPT) as house:
        await house.say("tell me about boats")
        await house.say("please tidy", mode="agent")
        assert (await house.say("yes", reply_to="nope")).attached == "repair"
        assert (slots(house, 2), waits(house)) == ({}, 1)
        lawful(house.ordain)
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        assert (await house.say("yes", reply_to="nope")).attached == "answer_to_pending"


async def test_a_question_about_a_model_s_question_quotes_nothing() -> None:
    """What a reply quotes, it does not ask."""
    script = script_of(TIDY).on(
        "verb", output(content="The sign says “Are you open?”"), when=about("library")
    )
    async with House(script=script) as house:
        await house.say("please tidy", mode="agent")
        await house.say(LIBRARY)
        assert (await house.say("yes")).attached == "answer_to_pending"


async def test_where_nothing_else_is_open_a_yes_goes_on_with_the_chat() -> None:
    """*Would you like to hear a joke?* gets its answer."""
    async with House(script=SCRIPT) as house:
        await house.say(LIBRARY)
        said = await house.say("yes please")
        assert (said.attached, said.reason, said.thread_id) == (
            "new_request",
            "attach.goes_on",
            "1",
        )
        assert (await house.say("thanks!")).attached == "filler"
        lawful(house.ordain)


@pytest.mark.parametrize("text", ["stop", "wait", "no, use 10 percent instead"])
async def test_an_order_that_replies_to_what_has_ended_reaches_no_other_work(text: str) -> None:
    """A stop is asked back, a correction is a request where it was said; what runs, runs on."""
    async with House(script=SCRIPT) as house:
        await house.say(LIBRARY)
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        said = await house.say(text, reply_to=last_reply(house))
        assert said.attached == ("new_request" if "use" in text else "repair")
        assert not house.over(house.so_far(working).run_id)
        house.puppet.let_go()
        done = await house.told(working)
        assert done.reply is not None
        assert done.reply.ok
        lawful(house.ordain)


async def test_an_operator_is_told_what_an_answer_comes_to() -> None:
    """What is no answer is refused and the question stays open; what leaves open what it grants
    goes back.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        ((run,),) = house.query("SELECT id FROM runs WHERE flow = 'question'")
        assert await house.ordain.runtime.operators.answer(run, 0, "r", by="op") == "asked_again"
        await house.quiet()
        for value in ("r", 7, ["yes"], None):
            with pytest.raises(InvalidRequest) as refused:
                await house.ordain.runtime.operators.answer(run, 1, value, by="op")
            assert refused.value.code == "answer_unfit"
        assert waits(house) == 1
        assert await house.ordain.runtime.operators.answer(run, 1, True, by="op") == "sent"
        await house.quiet()
        assert waits(house) == 0
        lawful(house.ordain)


@pytest.mark.parametrize(
    "text",
    [
        "yes to both",
        "ja zu beidem",
        "both",
        "beides",
        "yes both please",
        "no to both",
        "yes yes",
        "sure, whatever",
    ],
)
async def test_what_could_be_said_to_two_questions_fills_neither(text: str) -> None:
    """It goes back by what asked last, as A and B; said again it is asked which one is meant, and
    no turn of its own begins.
    """
    async with House(script=SCRIPT) as house:
        await house.say("please tidy", mode="agent")
        await house.say("ask the boss", mode="agent")
        back = await house.say(text)
        assert (back.attached, back.reason, back.thread_id) == (
            "answer_to_pending",
            "attach.unclear",
            "2",
        )
        assert back.question is not None
        assert back.question.text == "Mail the boss? A: yes B: no"
        assert (await house.say(text)).attached == "repair"
        await house.quiet()
        assert (slots(house, 1), slots(house, 2), waits(house)) == ({}, {}, 2)
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'turn'") == [(2,)]
        lawful(house.ordain)
