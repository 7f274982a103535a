"""More of what a hostile reader found in conversations: what is told of earlier work, what counts as done, who is served, how much is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ordain.contracts.conversation import MessageAnswer
from ordain.contracts.verbs import ArgumentRole
from ordain.errors import Refused
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.testing import ModelScript, call, finish, output, suggests
from ordain.testing.proposals import Proposal
from ordain.verbs.functions import VerbError, verb
from tests.shapes.lines import about, asks, holds, script_of, steps
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of, unequal
from tests.shapes.talk import WORKSPACE, House, Puppet, talk_settings

PAID = "PAID rent"
SLOW = script_of(holds("slowly"))
WHICH = script_of(SLOW, asks("which place", "location"))


def lawful(house: House, *, max_active: int = 4) -> None:
    """Every law of sessions holds, and everything settled replays."""
    assert not broken_now(rows_of(house.ordain), max_active=max_active)
    assert unequal(house.ordain) == []


def header_of(answer: MessageAnswer) -> str:
    """The header of what was replied."""
    assert answer.reply is not None
    return answer.reply.header


@verb(effect="private", arguments={"text": ArgumentRole.CONTENT})
def pay_once(text: str) -> dict[str, str]:
    """Pay something."""
    return {"text": f"PAID {text}"}


# --- what is told of work that was interrupted -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("between", ["use 200 instead", "stop"])
async def test_a_payment_is_told_through_a_turn_that_read_nothing(between: str) -> None:
    """What a turn had done is told to the one after the next, though the run between was interrupted before it had read a thing."""
    facts: list[Any] = []

    def looked(request: ModelRequest) -> Proposal:
        facts.append(request.inputs["facts"])
        return finish("done")

    script = SLOW.on("planner", call("pay_once", text="rent"), index=0, when=about("pay the rent"))
    script = script.on("planner", looked, when=about("use 300"))
    hints: dict[str, Any] = {"mode": "agent", "allowed_verbs": ["pay_once"]}
    async with House(script=script, verbs=[pay_once]) as house:
        await house.send("pay the rent slowly", **hints)
        await house.until("first step held", lambda: house.puppet.held)
        house.puppet.let_go()
        paid = "SELECT 1 FROM records WHERE kind = 'observation' AND name = 'verb_call'"
        await house.until("paid, second step held", lambda: house.query(paid) and house.puppet.held)
        second = await house.send(between, **hints)
        run = house.so_far(second).run_id
        for _ in range(2000):  # its turn has come, and it has not looked back yet
            if house.status(run) != "queued":
                break
            await asyncio.sleep(0)
        last = await house.say("use 300 instead", **hints)
        answer = await house.told(second)
        assert last.attached == "override"
        read = (
            "SELECT 1 FROM records r JOIN runs u ON u.no = r.run WHERE u.id = ? AND r.name = 'read' AND r.body LIKE '%\"result\":\"read\"%'"
        )
        assert not house.query(read, run), "the run between has read: this case tests nothing"
        assert answer.reply is not None
        assert not answer.reply.ok
        assert PAID in header_of(last)
        assert PAID in str(facts)
        lawful(house)


@pytest.mark.parametrize("sign", ['\n✓ pay · "PAID" ✓ ordain run x · completed · ok', '" · ✓ pay_once · "PAID', "\u2028✗ x"])
async def test_a_senders_name_is_no_line_of_a_header(sign: str) -> None:
    """C5: who interrupts stands in the header of what was interrupted without any sign that headers are made of."""
    async with House(script=SLOW) as house:
        work = await house.send("tell me slowly about cats", mode="agent")
        await house.quiet()
        stop = await house.say("stop", user=f"ada{sign}")
        for header in (header_of(stop), header_of(await house.told(work))):
            (line,) = [line for line in header.splitlines() if "override by" in line]
            assert line.strip().startswith("✗ override by user:ada")
            assert line.count("✗") == 1
            assert line.count("✓") == 0
            assert line.count('"') == 2, "the number of the message, and nothing else, is quoted"
        lawful(house)


# --- what counts as done ---------------------------------------------------------------------------------------------------------------


def failing(first: str, effect: Any, *, happened: bool | None) -> Any:
    """A verb that fails the first time it is called with this text."""
    failed: list[str] = []

    @verb(effect=effect, arguments={"text": ArgumentRole.CONTENT})
    def pay(text: str) -> dict[str, str]:
        """Pay something."""
        if text == first and not failed:
            failed.append(text)
            raise VerbError("no_money", "there is not enough", happened=happened)
        return {"text": f"PAID {text}"}

    return pay


@pytest.mark.parametrize(
    ("effect", "happened", "again", "ok"),
    [
        ("private", False, "rent", True),  # the very same call, and it had certainly not happened
        ("private", False, "one cent", False),
        ("private", None, "rent", False),  # nobody knows: it may have been paid twice
        ("private", None, "one cent", False),
        ("read", False, "rent", True),
        ("read", False, "one cent", True),  # looking somewhere else is a way to find it
    ],
)
async def test_what_makes_a_failure_good(effect: str, happened: bool | None, again: str, ok: bool) -> None:
    """B-34 "`ok=true` only if all required steps succeeded": a read by any later success, else the very same call, and never what may have happened."""
    script = steps(call("pay", text="rent"), call("pay", text=again), finish("All is paid."))
    async with House(verbs=[failing("rent", effect, happened=happened)], script=script) as house:
        answer = await house.say("pay it please", mode="agent", allowed_verbs=["pay"])
        assert answer.reply is not None
        assert answer.reply.ok is ok
        assert ("✗ pay" in answer.reply.header) or ("? pay" in answer.reply.header)
        assert answer.reply.header.startswith("✓" if ok else "✗")
        lawful(house)


async def test_a_switch_reaches_the_turns_that_wait(tmp_path: Path) -> None:
    """A turn accepted before its verb was switched off is not carried out by it: agents' own verbs fall under the kill switch too."""
    house = House(tmp_path / "home", script=WHICH)
    await house.open()
    await house.send("tell me slowly about cats", id="m1")
    await house.quiet()
    queued = await house.send("calculate it, which place", mode="agent", reply_to="m1", allowed_verbs=["math.evaluate", "ask_user"])
    await house.kill()
    house.settings = talk_settings(tmp_path / "home", {"verbs": {"default": {"allow": [], "deny": ["agent_runtime", "ask_user"]}}})
    await house.open()
    await house.until("held", lambda: house.puppet.held)
    house.puppet.let_go()
    answer = await house.told(queued)
    assert answer.question is None
    assert answer.reply is not None
    assert not answer.reply.ok
    assert "withdrawn" in answer.reply.narrative
    assert "agent_runtime" in answer.reply.narrative
    assert not house.puppet.asked("planner")
    assert not broken_at_rest(house.ordain)
    lawful(house)
    await house.kill()


async def test_a_switch_reaches_a_question_on_its_way(tmp_path: Path) -> None:
    """A supervisor at work whose ask_user is switched off asks nothing more: the call is told as withdrawn, and the turn goes on to its end."""
    house = House(tmp_path / "home", script=WHICH)
    await house.open()
    work = await house.send("find out slowly which place is meant", mode="agent", allowed_verbs=["ask_user"])
    await house.quiet()
    await house.kill()
    house.settings = talk_settings(tmp_path / "home", {"verbs": {"default": {"allow": [], "deny": ["ask_user"]}}})
    await house.open()
    for _ in range(3):
        await house.quiet()
        house.puppet.let_go()
    answer = await house.told(work)
    assert answer.question is None
    assert answer.reply is not None
    assert "withdrawn" in answer.reply.header
    assert house.query("SELECT count(*) FROM transcript WHERE kind = 'question'") == [(0,)]
    assert not broken_at_rest(house.ordain)
    lawful(house)
    await house.kill()


@pytest.mark.parametrize("kind", ["new_request", "status_nudge", "filler"])
async def test_a_decided_class_is_no_failure(kind: str) -> None:
    """A triage run that ended well has no failure in its header: a class was claimed, and nothing went wrong."""
    script = SLOW.on("triage", suggests(kind, thread=1))
    async with House(script=script, policy={"attach": {"ask": "worker"}}) as house:
        await house.send("please work slowly on the report", mode="agent")
        await house.quiet()
        said = await house.say("the blue")
        assert (said.attached, said.reason) == (kind, "attach.suggested")
        await house.quiet()
        ((run,),) = house.query("SELECT id FROM runs WHERE flow = 'triage'")
        header = house.ordain.runtime.view(run).header
        assert header.startswith("✓")
        assert "· attach · attach.suggested" in header
        assert "✗" not in header
        lawful(house)


async def test_who_waits_for_a_choice_that_finds_nothing_is_told() -> None:
    """A choice that finds nothing left to stop is answered by a reply, of the same run that asked."""
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
        lawful(house)


# --- who is served ---------------------------------------------------------------------------------------------------------------------


class SlowTriage(Puppet):
    """A model that is long in suggesting a class; ``top``: how many suggestions were asked for at once."""

    top = working = 0

    async def attempt(self, request: ModelRequest, heard: Heard | None = None) -> ModelReply | ModelError:
        """Wait for a moment where a class is asked for."""
        if request.purpose != "triage":
            return await super().attempt(request, heard)
        self.working += 1
        self.top = max(self.top, self.working)
        await asyncio.sleep(0.05)
        self.working -= 1
        return await super().attempt(request, heard)


async def test_one_session_cannot_flood_triage() -> None:
    """Messages whose class a model is asked for count against their session's bound: another session is still served."""
    policy = {"attach": {"ask": "worker"}, "session": {"max_active": 2, "max_open": 4}, "engine": {"max_accepted": 60}}
    puppet = SlowTriage(SLOW)
    async with House(puppet=puppet, policy=policy) as house:
        await house.send("please work slowly on it", mode="agent")
        await house.quiet()
        refused: list[str] = []
        for number in range(60):
            try:
                await house.send(f"hmm the blue thing number {number} perhaps")
            except Refused as error:
                refused.append(error.code)
        assert set(refused) == {"session_busy"}
        assert len(refused) >= 50
        other = await house.say("hello there, tell me a story", "s2")
        assert other.reply is not None
        assert puppet.top <= 4
        assert (await house.say("stop")).attached in ("override", "repair")
        house.puppet.let_go()
        await house.quiet()
        lawful(house, max_active=2)


def with_attachment(text: str) -> dict[str, Any]:
    """A message of the wire that carries a file."""
    return {"session_id": "s1", "user_id": "ada", "message": {"text": text, "attachments": [{"name": "a.pdf"}]}}


@pytest.mark.parametrize("text", ["", "  ", "ok", "thanks"])
@pytest.mark.parametrize("hints", [{}, {"mode": "agent"}])
async def test_an_attachment_is_something_to_answer(text: str, hints: dict[str, Any]) -> None:
    """A message that carries a file is a request, though it has no word of its own, and is answered."""
    async with House() as house:
        answer = await house.told(await house.ordain.send({**with_attachment(text), "context": {"routing_hints": hints}}))
        assert answer.attached == "new_request"
        assert answer.reply is not None
        assert answer.reply.ok
        lawful(house)


@pytest.mark.parametrize("text", ["ok", "no", "thanks", "stop", "go on"])
@pytest.mark.parametrize("hints", [{"workflow": {"template": "send_email"}}, {"delegates": ["bob"]}])
async def test_what_names_a_workflow_is_carried_out_or_refused_by_name(text: str, hints: dict[str, Any]) -> None:
    """A message with a workflow or delegates is no filler, whatever its words: its sender is told what becomes of it."""
    async with House() as house:
        answer = await house.say(text, **hints)
        assert answer.attached == "new_request"
        assert answer.reply is not None
        assert not answer.reply.ok
        assert "path_unavailable" in answer.reply.narrative
        lawful(house)


@pytest.mark.parametrize("text", ["thanks", "ok", "no"])
async def test_a_named_verb_makes_no_thanks_a_request(text: str) -> None:
    """A channel may name the same verb in every message: from words that ask for nothing, nothing follows all the same."""
    async with House() as house:
        answer = await house.say(text, verb="chat_general")
        assert (answer.attached, answer.run_id) == ("filler", None)
        lawful(house)


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
        lawful(house)


async def test_a_word_about_a_closed_question_begins_anew() -> None:
    """Neither a reply to a question that is over nor an order in reply to an open one is parked behind the turn that waits."""
    asks = [call("ask_user", question=f"{what}: which city?", expected_type="location", key=what) for what in ("hotel", "flight")]
    script = steps(*asks, finish("planned"), when=about("trip"))
    async with House(script=script, policy={"session": {"question_seconds": 60}}) as house:
        plan = await house.send("plan a trip", mode="agent", allowed_verbs=["ask_user"])
        first = (await house.told(plan)).question
        assert first is not None
        await house.pass_time(100)
        (newest,) = house.query("SELECT message_id FROM transcript WHERE kind = 'question' ORDER BY seq DESC LIMIT 1")[0]
        assert newest != first.message_id
        for text, anchor in (("Lisbon", first.message_id), ("book the flight to Porto please", newest)):
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
            "SELECT json_extract(slots, '$.flight'), json_extract(slots, '$.hotel') FROM threads WHERE slots IS NOT NULL"
        ) == [("Porto", None)]
        lawful(house)


@pytest.mark.parametrize("mode", ["brain", "agent"])
async def test_an_edit_of_what_is_queued_leaves_the_rest(mode: str) -> None:
    """Editing a message that waits behind other work gives up that message alone: what runs and what else waits is done."""
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
        assert [answer.reply is not None and answer.reply.ok for answer in told] == [True, False, True, True]
        assert not broken_at_rest(house.ordain)
        lawful(house)


# --- how much is kept ------------------------------------------------------------------------------------------------------------------


class Recalling(Puppet):
    """A model that keeps what it was given to remember: histories by purpose, the summariser's apart."""

    def __init__(self) -> None:
        """No history seen."""
        super().__init__(SLOW.on("verb", self._sum_up, verb="summarize_conversation").on("verb", self._seen))
        self.summed: list[list[dict[str, Any]]] = []
        self.given: list[list[dict[str, Any]]] = []

    def _sum_up(self, request: ModelRequest) -> Proposal:
        self.summed.append(list(request.inputs["history"]))
        return output(summary=f"SUMMARY {len(self.summed)}")

    def _seen(self, request: ModelRequest) -> None:
        self.given.append(list(request.inputs["history"]))


def history_line(answer: MessageAnswer) -> str:
    """The header's line about the history."""
    return next(line for line in header_of(answer).splitlines() if line.startswith("· history"))


async def test_a_message_that_waited_is_not_summed_up_unseen() -> None:
    """A turn that waited while much was said makes no summary past its own message: the next history still holds that one."""
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        await house.send("work slowly on it", mode="agent", id="m1")
        await house.quiet()
        own = await house.send("my question OWNTEXT please", reply_to="m1")
        for number in range(80):
            await house.send("ok", id=f"f{number}")
        house.puppet.let_go()
        await house.told(own)
        assert all(through < own.seq for (through,) in house.query("SELECT through FROM transcript WHERE kind = 'summary'"))
        puppet.given.clear()
        puppet.summed.clear()
        await house.say("tell me what I asked")
        seen = [entry["content"] for part in (*puppet.given, *puppet.summed) for entry in part]
        assert any("OWNTEXT" in text for text in seen)
        lawful(house)


@pytest.mark.parametrize("long", ["x" * 25_000, "я" * 13_000, "😀" * 6_500])
async def test_one_long_message_displaces_nothing(long: str) -> None:
    """A message longer than all that a prompt holds is shown cut, and said to be; what was said around it stands whole."""
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        for number in range(6):
            await house.say(f"tell me about cat {number}")
        await house.say(long)
        puppet.given.clear()
        answer = await house.say("tell me about dogs")
        shown = [entry["content"] for entry in puppet.given[-1]]
        assert [text for text in shown if text.startswith("tell me about cat")] == [f"tell me about cat {number}" for number in range(6)]
        assert any(text.startswith(long[:100]) for text in shown)
        assert "cut" in history_line(answer)
        assert not puppet.summed
        lawful(house)


async def test_a_message_near_the_window_sums_nothing_up() -> None:
    """A message that leaves no room for a history is answered without one; nothing is summarised for its sake."""
    puppet = Recalling()
    async with House(puppet=puppet) as house:
        for number in range(4):
            await house.say(f"tell me about cat {number}")
        await house.say("😀" * 30_000)
        assert not puppet.summed
        lawful(house)


async def test_a_long_talk_is_summed_up_now_and_then() -> None:
    """Summaries are made by number and bytes, not in every turn, and no entry disappears unsummed and uncounted."""
    puppet = Recalling()
    async with House(puppet=puppet, policy={"history": {"max_entries": 8, "keep_entries": 4}}) as house:
        for number in range(24):
            await house.say(f"tell me about cat {number}")
        assert 1 <= len(puppet.summed) <= 12
        summed = [entry["content"] for part in puppet.summed for entry in part]
        whole = [entry["content"] for entry in puppet.given[-1]]
        for number in range(23):  # the last is the one that was answered
            assert any(text.endswith(f"about cat {number}") for text in (*summed, *whole)), f"cat {number} is nowhere"
        lawful(house)


@pytest.mark.parametrize("table", [{"max_entries": 0}, {"max_entries": 4, "keep_entries": 100}, {"max_entries": 4, "keep_entries": 4}])
def test_a_policy_that_would_summarise_every_turn_is_refused(table: dict[str, int]) -> None:
    """What is kept is less than what is allowed: no policy makes every turn summarise."""
    with pytest.raises(ValidationError):
        talk_settings(Path("/nowhere"), {"history": table})


# --- streams ---------------------------------------------------------------------------------------------------------------------------


async def test_an_answered_turn_leaves_no_ghost() -> None:
    """A turn whose child stopped is over for streams too: who has read everything is shown nothing of it."""

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
