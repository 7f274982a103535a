"""What a hostile reader found in conversations, each held down by a test: late stops, edits, old questions, policy changes, crashes between."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.conversation import Question
from ordain.contracts.verbs import ArgumentRole
from ordain.errors import OrdainError, Refused, Transient
from ordain.testing import call, finish, suggests
from ordain.verbs.functions import VerbError, verb
from tests.shapes.lines import about, asks, holds, script_of, steps
from tests.shapes.lost import losing
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of, unequal
from tests.shapes.talk import House, talk_settings

SLOW = script_of(holds("slowly"))
WHICH = script_of(asks("which place", "location"))


def lawful(house: House) -> None:
    """Every law of sessions holds, and everything settled replays."""
    assert not broken_now(rows_of(house.ordain), max_active=4)
    assert unequal(house.ordain) == []


async def asked_which(house: House) -> Question:
    """Two turns at work and a bare stop: the question which of the two is meant."""
    for what in ("cats", "dogs"):
        await house.send(f"tell me slowly about {what}", mode="agent")
    await house.quiet()
    asked = await house.say("stop")
    assert asked.question is not None
    return asked.question


async def test_a_turn_opened_by_a_claim_keeps_its_catalog(tmp_path: Path) -> None:
    """A turn that a choice opens under another policy than the question's can still be driven and replayed after a restart under a third."""
    house = House(tmp_path / "home", script=SLOW)
    await house.open()
    for what in ("cats", "dogs"):
        await house.send(f"tell me slowly about {what}", mode="agent")
    await house.quiet()
    asked = await house.say("use Berlin instead")
    assert asked.question is not None
    for most in (7, 5):
        await house.kill()
        house.settings = talk_settings(tmp_path / "home", {"supervisor": {"max_steps": most}})
        await house.open()
        await house.quiet()
        if most == 7:
            await house.send("B", reply_to=asked.question.message_id)
    house.puppet.let_go()
    await house.quiet()
    assert {status for (status,) in house.query("SELECT status FROM runs")} <= {"completed", "cancelled", "failed"}
    assert not broken_at_rest(house.ordain)
    lawful(house)
    await house.kill()


async def test_a_suggestion_decided_under_a_pinned_policy_replays(tmp_path: Path) -> None:
    """A claim names the catalog whose policy decided it: a later change of policy does not make its record differ."""
    script = SLOW.on("triage", suggests("status_nudge", thread=1, confidence=0.7))
    house = House(tmp_path / "home", script=script, policy={"attach": {"ask": "local", "threshold": 0.5}})
    await house.open()
    await house.send("tell me slowly about cats", mode="agent")
    await house.quiet()
    told = await house.say("well then")
    assert told.attached == "status_nudge"
    await house.kill()
    house.settings = talk_settings(tmp_path / "home", {"attach": {"ask": "local", "threshold": 0.9}})
    await house.open()
    house.puppet.let_go()
    await house.quiet()
    lawful(house)
    await house.kill()


async def test_a_stop_that_comes_too_late_says_so() -> None:
    """A verb in flight is awaited: where it ended well, the answer to "stop" does not call it stopped."""
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
        lawful(house)


async def test_editing_a_nudge_kills_nothing() -> None:
    """An edit takes the place of the turn that its own message began: mending a typo in a question after progress is no override."""
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
        lawful(house)


async def test_an_edit_interrupts_its_own_turn_only() -> None:
    """Editing a queued message leaves the turn before it alone."""
    async with House(script=SLOW) as house:
        first = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        second = await house.send("tell me about dogs", reply_to=first.message_id, ts=1)
        edited = await house.send("tell me about birds", edits=second.message_id, ts=2)
        house.puppet.let_go()
        kept, gone, new = [await house.told(one) for one in (first, second, edited)]
        assert [answer.reply is not None and answer.reply.ok for answer in (kept, gone, new)] == [True, False, True]
        lawful(house)


async def test_nobody_edits_anothers_message() -> None:
    """An edit by another user, or sent ahead of another user's message, neither stops nor suppresses it."""
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
        lawful(house)


async def test_the_newest_edit_counts_though_a_model_is_asked() -> None:
    """A message's time is not forgotten on the way through triage: the newest edit is no stale one."""
    async with House(script=SLOW.on("triage", suggests("new_request")), policy={"attach": {"ask": "local"}}) as house:
        await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        await house.say("tell me about dogs", id="m1", ts=1)
        first = await house.say("tell me about birds", edits="m1", ts=100)
        second = await house.say("tell me about fish", edits="m1", ts=200)
        assert [answer.attached for answer in (first, second)] == ["new_request", "new_request"]
        stale = await house.say("tell me about frogs", edits="m1", ts=150)
        assert (stale.attached, stale.reason) == ("filler", "attach.stale_edit")
        lawful(house)


async def test_a_reply_to_an_expired_question_answers_no_other() -> None:
    """Who replies to a question that is closed does not answer the one that is open now."""
    async with House(script=WHICH, policy={"session": {"question_seconds": 60}}) as house:
        old = await house.say("find out which place the hotel is in", mode="agent")
        assert old.question is not None
        await house.pass_time(120)
        new = await house.say("find out which place the flight goes to", mode="agent", reply_to=old.message_id)
        assert new.question is not None
        late = await house.send("Lisbon", reply_to=old.question.message_id, mode="agent")
        await house.quiet()
        assert house.so_far(late).attached != "answer_to_pending"
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        lawful(house)


async def test_an_answer_given_before_a_question_is_none_to_it() -> None:
    """A yes that was left open between two questions says nothing to what one of their threads asks since."""
    again = call("ask_user", question="And delete all of it?", expected_type="yes_no", key="again")
    script = script_of(asks("first", "yes_no"), asks("second", "yes_no")).on("planner", again, index=1, when=about("first"))
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
        threads = house.ordain.runtime.conversation.threads("default", "s1")
        assert {thread.id: thread.slots for thread in threads if thread.id < 3} == {1: {"told": True}, 2: {}}
        lawful(house)


async def test_nobody_agrees_for_another() -> None:
    """In a session of several people a question is answered by whom it is put to; what others say to it is a message of their own."""
    async with House(script=script_of(asks("first", "yes_no"))) as house:
        asked = await house.say("tidy up the first folder", user="ada", mode="agent")
        assert asked.question is not None
        for reply_to in (None, asked.question.message_id):
            await house.send("yes", user="bob", reply_to=reply_to)
        await house.quiet()
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        assert (await house.say("yes", user="ada")).attached == "answer_to_pending"
        lawful(house)


async def test_a_choice_is_made_by_who_left_it_open() -> None:
    """Which of two is meant says the sender of the message that could mean both."""
    async with House(script=SLOW) as house:
        await asked_which(house)
        await house.send("A", user="bob")
        await house.quiet()
        assert house.query("SELECT count(*) FROM mailbox WHERE kind = 'interrupt'") == [(0,)]
        assert (await house.say("A", user="ada")).attached == "answer_to_pending"
        lawful(house)


async def test_a_busy_engine_can_be_stopped_and_asked() -> None:
    """The engine's limit refuses new work, not the orders to stop and the questions after progress that come with work at hand."""
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
        lawful(house)


async def test_another_repair_leaves_other_work_alone() -> None:
    """A request in reply to a repair question is not given up when the next repair question takes that one's place."""
    async with House(script=SLOW) as house:
        question = await asked_which(house)
        own = await house.send("tell me about the birds then", reply_to=question.message_id)
        await house.send("stop")
        await house.quiet()
        answer = await house.told(own)
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house)


async def test_a_choice_that_finds_nothing_left_is_told_so() -> None:
    """Choosing what to stop after it has ended: both the order and the choice are answered, and nothing waits for ever."""
    async with House(script=SLOW) as house:
        question = await asked_which(house)
        house.puppet.let_go()
        await house.quiet()
        chosen = await house.say("A", reply_to=question.message_id)
        assert chosen.attached == "answer_to_pending"
        assert not broken_at_rest(house.ordain)
        lawful(house)


async def test_who_waits_is_told_when_the_engine_stops() -> None:
    """Waiting for an answer ends when the engine goes: the caller learns that it stopped, and that nothing was lost."""
    house = House(script=SLOW)
    await house.open()
    sent = await house.send("tell me slowly about cats", mode="agent")
    await house.quiet()
    waiting = asyncio.ensure_future(house.ordain.runtime.conversation.answer("default", sent))
    await asyncio.sleep(0)
    await house.ordain.stop(grace_s=0.0)
    with pytest.raises(Transient) as told:
        await asyncio.wait_for(waiting, 5)
    assert told.value.code == "stopping"


async def test_another_call_of_the_verb_makes_nothing_good() -> None:
    """B-34 "`ok=true` only if all required steps succeeded": a failed call is not made good by a call of the same verb for something else."""

    @verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
    def pay(text: str) -> dict[str, str]:
        """Pay something."""
        if text == "rent":
            raise VerbError("no_money", "there is not enough", happened=False)
        return {"paid": text}

    script = steps(call("pay", text="rent"), call("pay", text="one cent"), finish("Both are paid."))
    async with House(verbs=[pay], script=script) as house:
        answer = await house.say("pay the rent and a cent", mode="agent", allowed_verbs=["pay"])
        assert answer.reply is not None
        assert not answer.reply.ok


@pytest.mark.parametrize(
    ("text", "hints"),
    [("ok", {"delegates": ["somebody"]}), ("thanks", {"workflow": {"template": "send_email"}})],
)
async def test_who_names_what_is_to_serve_is_served(text: str, hints: dict[str, Any]) -> None:
    """A message that hints at a workflow or delegates is no filler, however short its words."""
    async with House() as house:
        answer = await house.say(text, **hints)
        assert answer.attached == "new_request"
        assert answer.reply is not None


async def test_a_request_is_not_parked_behind_an_open_question() -> None:
    """A request in reply to a question that it does not answer begins at once, in a thread of its own; the question stays open."""
    async with House(script=WHICH) as house:
        asked = await house.say("find out which place is meant", mode="agent")
        assert asked.question is not None
        other = await house.say("tell me about the history of tea please", reply_to=asked.question.message_id)
        assert other.attached == "new_request"
        assert other.reply is not None
        assert house.query("SELECT count(*) FROM threads WHERE asked IS NOT NULL") == [(1,)]
        lawful(house)


async def test_a_stopped_child_gives_up_the_turns_place() -> None:
    """A turn whose child stopped answers its message, and does not hold up its thread or count against the session's caps."""
    async with House(policy={"session": {"max_active": 1}}, script=steps(finish("x"), when=about("birds"))) as house:
        with losing(house.ordain.runtime.services, "supervisor"):
            first = await house.say("tell me about cats", mode="agent")
        assert first.reply is not None
        assert not first.reply.ok
        second = await house.say("tell me about birds", mode="agent")
        assert second.reply is not None
        assert second.reply.ok
        stopped = house.query("SELECT id FROM runs WHERE status = 'flow_unavailable'")
        assert stopped
        for (run,) in stopped:
            await house.ordain.runtime.resume(run, by="op")
        await house.quiet()
        assert not broken_at_rest(house.ordain)


async def test_a_lost_word_is_not_refused_as_a_fault() -> None:
    """Text that is no Unicode, wherever it stands in a message, is refused by a typed error and never by a bug."""
    async with House() as house:
        given: dict[str, Any] = {"session_id": "s1", "user_id": "ada", "message": {"text": "hi", "metadata": {"k": "\ud800"}}}
        with pytest.raises((OrdainError, ValueError)) as refused:
            await house.ordain.send(given)
        assert not isinstance(refused.value, UnicodeEncodeError)


async def test_sessions_used_at_the_same_time_are_all_listed(tmp_path: Path) -> None:
    """A page ends at a session and not at a moment: none is left out where several were used in the same microsecond."""
    async with House(tmp_path) as house:
        for name in ("a", "b", "c"):
            await house.say("thanks", session=name)
    with closing(sqlite3.connect(tmp_path / "ordain.db")) as db, db:
        db.execute("UPDATE sessions SET last_at = 5")
    async with House(tmp_path) as house:
        listed, before = list[str](), None
        while page := house.ordain.runtime.conversation.sessions("default", limit=1, before=before):
            listed.append(page[0].id)
            before = page[0].place
    assert listed == ["c", "b", "a"]


@pytest.mark.parametrize("max_bytes", [0, 3, 60])
async def test_a_policy_without_room_for_history_leaves_it_out(max_bytes: int) -> None:
    """However few bytes policy gives the history, a turn is answered, and the header says what was left out."""
    async with House(policy={"history": {"max_bytes": max_bytes, "verb": ""}}) as house:
        await house.say("hello there " + "alpha beta gamma " * 400)
        answer = await house.say("hello again")
        assert answer.reply is not None
        assert answer.reply.ok, answer.reply.narrative
        assert "history.left_out" in answer.reply.header
