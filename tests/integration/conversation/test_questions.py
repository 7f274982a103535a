"""Open questions: which words answer one, whose answer counts, and what waits for nobody's
answer.
"""

from __future__ import annotations

from ordain.ports.model import ModelRequest
from ordain.testing import ModelScript, call, finish
from tests.shapes.lines import about, asks, script_of, steps
from tests.shapes.session_laws import lawful
from tests.shapes.talk import WORKSPACE, House

WHICH = script_of(asks("which place", "location"))


async def test_a_reply_to_an_expired_question_answers_no_other() -> None:
    """Who replies to a question that is closed does not answer the one that is open now."""
    async with House(script=WHICH, policy={"session": {"question_seconds": 60}}) as house:
        old = await house.say("find out which place the hotel is in", mode="agent")
        assert old.question is not None
        await house.pass_time(120)
        new = await house.say(
            "find out which place the flight goes to", mode="agent", reply_to=old.message_id
        )
        assert new.question is not None
        late = await house.send("Lisbon", reply_to=old.question.message_id, mode="agent")
        await house.quiet()
        assert house.so_far(late).attached != "answer_to_pending"
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        lawful(house.ordain)


async def test_an_answer_given_before_a_question_is_none_to_it() -> None:
    """A yes that was left open between two questions says nothing to what one of their threads asks
    since.
    """
    again = call("ask_user", question="And delete all of it?", expected_type="yes_no", key="again")
    script = script_of(asks("first", "yes_no"), asks("second", "yes_no")).on(
        "planner", again, index=1, when=about("first")
    )
    async with House(script=script) as house:
        first = await house.say("tidy up the first folder", mode="agent")
        await house.say("tidy up the second folder", mode="agent")
        open_yes = await house.send("yes")
        await house.quiet()
        which = house.so_far(open_yes).question
        assert first.question is not None
        assert which is not None
        await house.say("yes", reply_to=first.question.message_id)
        (key,) = [option.key for option in which.options if "first folder" in option.label]
        await house.send(key, reply_to=which.message_id)
        await house.quiet()
        left = await house.told(open_yes)
        assert left.attached == "filler"
        assert left.reply is not None
        assert not left.reply.ok
        threads = await house.ordain.runtime.conversation.threads("default", "s1")
        assert {thread.id: thread.slots for thread in threads if thread.id < 3} == {
            1: {"told": True},
            2: {},
        }
        lawful(house.ordain)


async def test_nobody_agrees_for_another() -> None:
    """In a session of several people a question is answered by whom it is put to; what others say
    to it is a message of their own.
    """
    async with House(script=script_of(asks("first", "yes_no"))) as house:
        asked = await house.say("tidy up the first folder", user="ada", mode="agent")
        assert asked.question is not None
        for reply_to in (None, asked.question.message_id):
            await house.send("yes", user="bob", reply_to=reply_to)
        await house.quiet()
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        assert (await house.say("yes", user="ada")).attached == "answer_to_pending"
        lawful(house.ordain)


async def test_a_request_is_not_parked_behind_an_open_question() -> None:
    """A request in reply to a question that it does not answer begins at once, in a thread of its
    own; the question stays open.
    """
    async with House(script=WHICH) as house:
        asked = await house.say("find out which place is meant", mode="agent")
        assert asked.question is not None
        other = await house.say(
            "tell me about the history of tea please", reply_to=asked.question.message_id
        )
        assert other.attached == "new_request"
        assert other.reply is not None
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        lawful(house.ordain)


async def test_a_word_about_a_closed_question_begins_anew() -> None:
    """Neither a reply to a question that is over nor an order in reply to an open one is parked
    behind the turn that waits.
    """
    asks = [
        call("ask_user", question=f"{what}: which city?", expected_type="location", key=what)
        for what in ("hotel", "flight")
    ]
    script = steps(*asks, finish("planned"), when=about("trip"))
    async with House(script=script, policy={"session": {"question_seconds": 60}}) as house:
        plan = await house.send("plan a trip", mode="agent", allowed_verbs=["ask_user"])
        first = (await house.told(plan)).question
        assert first is not None
        await house.pass_time(100)
        (newest,) = house.query(
            "SELECT message_id FROM transcript WHERE kind = 'question' ORDER BY seq DESC LIMIT 1"
        )[0]
        assert newest != first.message_id
        for text, anchor in (
            ("Lisbon", first.message_id),
            ("book the flight to Porto please", newest),
        ):
            said = await house.say(text, reply_to=anchor)
            assert said.attached == "new_request"
            assert said.reply is not None
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        answered = await house.say("Porto", reply_to=newest)
        assert answered.attached == "answer_to_pending"
        assert answered.run_id == house.so_far(plan).run_id
        assert answered.reply is not None
        assert answered.reply.ok
        assert house.query(
            "SELECT json_extract(slots, '$.flight'), json_extract(slots, '$.hotel') FROM threads "
            "WHERE slots IS NOT NULL"
        ) == [("Porto", None)]
        lawful(house.ordain)


async def test_an_answered_turn_leaves_no_ghost() -> None:
    """A turn whose child stopped is over for streams too: who has read everything is shown nothing
    of it.
    """

    def bug(_: ModelRequest) -> None:
        raise RuntimeError("bug")

    async with House(script=ModelScript().on("planner", bug, when=about("boom"))) as house:
        for number in range(3):
            answer = await house.say(f"do boom {number}", mode="agent")
            assert answer.reply is not None
            assert not answer.reply.ok
        await house.quiet()
        ((head,),) = house.query("SELECT head FROM sessions")
        events = house.ordain.runtime.conversation.events(WORKSPACE, "s1", head)
        sent = await house.send("tell me about cats")
        seen: list[tuple[str, str]] = []
        async for event in events:
            seen.append((type(event).__name__, event.run))
            if type(event).__name__ == "ReplyEvent":
                break
        await events.aclose()
        run = house.so_far(sent).run_id
        assert {of for _, of in seen} == {run}
        assert seen[0] == ("MessageEvent", run)
