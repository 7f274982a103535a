"""Consent is a whole message: what says more goes back once or reaches the run that asked as a
condition, and a bare wait holds what runs (B.6, B.7).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.journal.folds import ending
from ordain.journal.records import Status
from ordain.testing import call, hold, suggests
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import House

ASKING = script_of(asks("whether", "yes_no"), holds("slowly"))
NO_YES = (
    *(
        "sure I'll check with my boss first",
        "fine, let me ask Anna first",
        "ja ja, später",
        "sure, if you want them to hate me",
    ),
    *(
        "yes?",
        "yes...",
        "suuure",
        '"yes"',
        "yess",
        "yeah right",
        "yes, when Bob is back",
        "yes 😂",
        "ok 🙄",
        "na ja",
        "yes and no",
        "oui mais non",
        "yes yes",
        "ja ja",
        "sure, sure",
        "ok sorry",
    ),
)
NO_NO = (
    "no, go ahead",
    "no wait, yes",
    "nein, mach ruhig",
    "No. 5 is a great perfume",
    "no clue",
    "no, yes",
    "non si",
)


async def question(house: House) -> MessageAnswer:
    """An agent's question that wants a yes or a no."""
    return await house.say("find out whether I shall send it to all 40 customers", mode="agent")


def slots(house: House) -> list[dict[str, Any]]:
    """What the threads of the session were told."""
    return [
        json.loads(one or "{}") for (one,) in house.query("SELECT slots FROM threads ORDER BY id")
    ]


def told(house: House) -> tuple[Status, Any]:
    """How the run that asked ended, and what it gave back."""
    ((run,),) = house.query("SELECT id FROM runs WHERE flow = 'question'")
    stored = house.ordain.store.stored(run)
    assert stored is not None
    ended = ending(stored.records)
    assert ended is not None
    return stored.status, json.loads(bytes(ended.result))["output"]


@pytest.mark.parametrize("text", [*NO_YES, *NO_NO])
async def test_what_says_more_than_yes_or_no_goes_back_once(text: str) -> None:
    """Neither a yes nor a no is made of it: it is asked again as A and B, and the letter is the
    answer.
    """
    async with House(script=ASKING) as house:
        first = await question(house)
        back = await house.say(text)
        assert (back.attached, back.reason) == ("answer_to_pending", "attach.unclear")
        assert first.question is not None
        assert back.question is not None
        assert back.question.text == f"{first.question.text} A: yes B: no"
        assert [(option.key, option.label) for option in back.question.options] == [
            ("A", "yes"),
            ("B", "no"),
        ]
        assert slots(house) == [{}]
        chosen = await house.say("B")
        assert (chosen.attached, chosen.reason) == ("answer_to_pending", "attach.answer")
        await house.quiet()
        assert told(house) == (Status.COMPLETED, {"answer": "B", "value": False})
        lawful(house.ordain)


async def test_it_goes_back_once_and_then_stays_open() -> None:
    """A second unclear answer is asked back no more; the question is open for a whole one, and
    other matters are served meanwhile.
    """
    async with House(script=ASKING) as house:
        await question(house)
        await house.say("sure I'll check with my boss first")
        again = await house.say("sure I'll check with my boss first")
        assert again.reason != "attach.unclear"
        # its reply asks nothing
        assert (await house.say("tell me when the library opens")).attached == "new_request"
        assert house.query("SELECT status FROM runs WHERE flow = 'question'") == [(Status.WAITING,)]
        assert (await house.say("yes please")).attached == "answer_to_pending"
        await house.quiet()
        assert told(house) == (Status.COMPLETED, {"answer": "yes please", "value": True})
        lawful(house.ordain)


@pytest.mark.parametrize(
    "text",
    ["yes but only to the German ones", "ja, aber nur an die deutschen", "lieber am Dienstag"],
)
@pytest.mark.parametrize("back", [False, True])
async def test_a_condition_reaches_the_run_as_text(text: str, back: bool) -> None:
    """The run that asked has the words, and no value; the slot is not filled."""
    async with House(script=ASKING) as house:
        await question(house)
        if back:
            await house.say("no clue")
        said = await house.say(text)
        assert (said.attached, said.reason) == ("answer_to_pending", "attach.condition")
        await house.quiet()
        assert told(house) == (Status.COMPLETED, {"answer": text, "value": None})
        assert slots(house) == [{}]
        lawful(house.ordain)


@pytest.mark.parametrize(
    "says", ["override", "status_nudge", "answer_to_pending", "filler", "new_request"]
)
@pytest.mark.parametrize(
    "text", ["sure I'll check with my boss first", "Klar ist hier erstmal gar nichts."]
)
async def test_no_model_makes_a_consent(says: str, text: str) -> None:
    """Whatever a model calls it, it goes back or is another matter: the run that asked is granted
    nothing and goes on asking.
    """
    async with House(
        script=ASKING.on("triage", suggests(says, thread=1)), policy={"attach": {"ask": "local"}}
    ) as house:
        await question(house)
        await house.send(text)
        await house.quiet()
        assert slots(house)[0] == {}
        assert house.query("SELECT status FROM runs WHERE flow = 'question'") == [(Status.WAITING,)]
        lawful(house.ordain)


SUGGESTING = script_of(holds("slowly")).on("triage", suggests("override", thread=1))


@pytest.mark.parametrize(
    "text", ["good morning everyone", "use of commas in English", "the other supplier"]
)
async def test_a_model_overrides_nothing(text: str) -> None:
    """A suggested override never reaches the work that runs: the sender is asked at most, and a
    request of its own is served beside it.
    """
    async with House(script=SUGGESTING, policy={"attach": {"ask": "local"}}) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        said = await house.send(text)
        await house.until("it is placed", lambda: house.so_far(said).attached not in ("", "triage"))
        assert house.so_far(said).attached in ("repair", "new_request")
        house.puppet.let_go()
        done = await house.told(working)
        assert done.reply is not None
        assert done.reply.ok
        lawful(house.ordain)


@pytest.mark.parametrize(("choice", "attached"), [("A", "override"), ("B", "new_request")])
async def test_a_suggested_override_is_the_senders_choice(choice: str, attached: str) -> None:
    """What was suggested is asked as A, a request of its own as B; the letter decides what happens
    to the work.
    """
    async with House(script=SUGGESTING, policy={"attach": {"ask": "local"}}) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        said = await house.send("the other supplier")
        await house.until("the sender is asked", lambda: house.so_far(said).question)
        question = house.so_far(said).question
        assert question is not None
        assert house.so_far(said).reason == "attach.suggested_back"
        assert [option.label for option in question.options] == [
            "change “please work slowly on the report”",
            "a request of its own",
        ]
        await house.send(choice)
        await house.until("it is chosen", lambda: house.so_far(said).attached == attached)
        if choice == "B":
            house.puppet.let_go()
        done = await house.told(working)
        assert done.reply is not None
        assert done.reply.ok is (choice == "B")
        house.puppet.let_go()
        await house.quiet()
        lawful(house.ordain)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("the alpha one", "the alpha report"),
        ("B", "the beta report"),
        ("beta please", "the beta report"),
        ("the first one", "the alpha report"),
    ],
)
@pytest.mark.parametrize("more", [0, 1, 7])
async def test_an_option_is_chosen_by_its_name(text: str, value: str, more: int) -> None:
    """*the alpha one* answers a question with options, whose value is the option itself; there may
    be up to nine.
    """
    options = [
        "the alpha report",
        "the beta report",
        *(f"report {number}" for number in range(3, 3 + more)),
    ]
    asked = call(
        "ask_user", question="Which one?", expected_type="option", options=options, key="which"
    )
    async with House(
        script=script_of().on("planner", asked, index=0, when=about("report"))
    ) as house:
        first = await house.say("send a report", mode="agent")
        assert first.question is not None
        assert [(option.key, option.label) for option in first.question.options] == list(
            zip("ABCDEFGHI", options, strict=False)
        )
        assert (await house.say(text)).attached == "answer_to_pending"
        await house.quiet()
        assert told(house) == (Status.COMPLETED, {"answer": text, "value": value})
        assert slots(house) == [{"which": value}]
        lawful(house.ordain)


async def test_no_day_is_no_date() -> None:
    """*31.2.* answers no question for a date, *29.2.* does."""
    async with House(script=script_of(asks("which day", "date_time"))) as house:
        await house.say("find out which day it is", mode="agent")
        assert (await house.say("31.2.")).attached != "answer_to_pending"
        assert (await house.say("29.2.")).attached == "answer_to_pending"


@pytest.mark.parametrize(
    "text",
    [
        "wait",
        "hold on, that's not what I meant",
        "pause",
        "undo",
        "change of plans",
        "Moment mal bitte",
        "warte",
        "Planänderung",
    ],
)
async def test_a_bare_wait_holds(text: str) -> None:
    """What runs is stopped, what had happened is told, and no turn is opened."""
    async with House(script=ASKING) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        held = await house.say(text)
        assert (held.attached, held.reason) == ("override", "attach.hold")
        assert held.reply is not None
        assert "stopped" in held.reply.narrative
        done = await house.told(working)
        assert done.reply is not None
        assert not done.reply.ok
        assert house.query("SELECT count(*) FROM runs WHERE flow = 'turn'") == [(1,)]
        lawful(house.ordain)


@pytest.mark.parametrize(
    "text",
    [
        "20 percent, not 10",
        "nimm statt Äpfeln Birnen",
        "could you make it shorter?",
        "kannst du es kürzer machen?",
    ],
)
async def test_a_correction_that_names_what_it_corrects_overrides(text: str) -> None:
    """What runs gives way to a turn that knows of it."""
    async with House(script=ASKING) as house:
        await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        corrected = await house.send(text)
        assert (house.so_far(corrected).attached, house.so_far(corrected).reason) == (
            "override",
            "attach.override",
        )
        house.puppet.let_go()
        await house.told(corrected)


async def test_an_instead_with_matter_of_its_own_stops_nothing() -> None:
    """*Instead of Monday book Tuesday for the dentist* is a request beside an unrelated report."""
    async with House(script=ASKING) as house:
        working = await house.send("please work slowly on the report", mode="agent")
        await house.until("the model is at work", lambda: house.puppet.held)
        assert (
            await house.say("Instead of Monday book Tuesday for the dentist")
        ).attached == "new_request"
        house.puppet.let_go()
        assert (await house.told(working)).attached == "new_request"


async def test_a_model_that_takes_too_long_is_not_waited_for() -> None:
    """FAIL-04 "The user always gets a deterministic response path": after the bound the message is
    placed by wording alone.
    """
    script = ASKING.on("triage", hold())
    async with House(
        script=script, policy={"attach": {"ask": "local", "timeout_seconds": 0.05}}
    ) as house:
        await question(house)
        late = await house.say("fine, let me ask Anna first")
        assert late.question is not None
        assert late.attached == "answer_to_pending"
