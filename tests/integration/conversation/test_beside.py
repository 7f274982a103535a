"""A request that comes while something is open is worked on beside it; its yes or no grants
nothing, and its sender is told so (B-03, B-22).
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordain.journal.folds import ending
from ordain.runtime.brief import needs_all
from ordain.testing import ModelScript, output
from tests.integration.conversation.test_workflows import Office, office, said
from tests.shapes.lines import asks, script_of
from tests.shapes.session_laws import lawful
from tests.shapes.talk import WORKSPACE, House

ANSWERS = ModelScript().on("verb", output(content="It is beside the sea."))
REQUESTS = (
    "Wait, what is a lighthouse?",
    "Dijkstra",
    "weather please",
    "What is 17 times 23?",
    "Warte, was ist ein Leuchtturm?",
)
YES_AND = (
    "Yes, and what is the capital of France?",
    "yes. What is a lighthouse?",
    "ok and remind me to call mum",
    "ja, und was ist ein Leuchtturm?",
)
NO_AND = ("no, what is a lighthouse?", "nein, was ist ein Leuchtturm?")


async def nothing_decided(house: Office) -> None:
    """The approval is open as it was, and nothing of it ran."""
    assert house.desk.did == []
    assert house.query("SELECT state FROM approvals") == [("open",)]
    (view,) = await house.ordain.runtime.approvals.listed(WORKSPACE)
    await house.decide(view)
    await house.quiet()
    assert house.desk.did != []  # a yes at its door is the one that counts


@pytest.mark.parametrize("text", [*REQUESTS, *YES_AND, *NO_AND])
async def test_a_request_beside_an_approval_is_worked_on(tmp_path: Path, text: str) -> None:
    """And answered by its own turn, in its own thread; the approval stays open, whatever the
    request begins with.
    """
    async with office(tmp_path, script=ANSWERS) as house:
        await house.proposed("tell them", "announce", text="tea is ready")
        answer = await house.told(await house.send(text))
        assert (answer.attached, answer.thread_id) == ("new_request", "2")
        assert said(answer) == "It is beside the sea."
        await nothing_decided(house)


@pytest.mark.parametrize(
    ("text", "lead"), [*((text, "yes") for text in YES_AND), *((text, "no") for text in NO_AND)]
)
async def test_what_it_begins_with_is_told_as_not_taken(
    tmp_path: Path, text: str, lead: str
) -> None:
    """In the header, by code, with what is still open; and a header that says so is shown whole."""
    async with office(tmp_path, script=ANSWERS) as house:
        await house.proposed("tell them", "announce", text="tea is ready")
        answer = await house.told(await house.send(text))
        assert answer.reason == "attach.beside"
        assert answer.reply is not None
        told = (
            f"· the {lead} in it was not taken: it says more than that, and the approval, which "
            "no message gives, is still open"
        )
        assert f'{told} · attach.beside · "tell them"' in answer.reply.header.splitlines()
        assert needs_all(answer.reply.header)
        assert answer.reply.ok
        await nothing_decided(house)


async def test_a_reply_to_the_approval_does_not_wait_with_it(tmp_path: Path) -> None:
    """A request that replies to what is asked for is worked on beside it, and not behind it."""
    async with office(tmp_path, script=ANSWERS) as house:
        sent, _ = await house.proposed("tell them", "announce", text="tea is ready")
        approval = (await house.told(sent)).approval
        assert approval is not None
        answer = await house.told(
            await house.send("Who is going to read that?", reply_to=approval.message_id)
        )
        assert (answer.attached, said(answer)) == ("new_request", "It is beside the sea.")
        await nothing_decided(house)


@pytest.mark.parametrize("text", [*REQUESTS, *YES_AND, *NO_AND])
async def test_a_request_beside_a_question_is_worked_on(text: str) -> None:
    """It comes back as no A or B; the question stays open for a whole yes or no, which is taken as
    ever.
    """
    async with House(script=script_of(asks("whether", "yes_no"), ANSWERS)) as house:
        first = await house.say("find out whether I shall send it", mode="agent")
        assert first.question is not None
        answer = await house.say(text)
        assert (answer.attached, answer.thread_id, answer.question) == ("new_request", "2", None)
        assert answer.reply is not None
        assert answer.reply.narrative == "It is beside the sea."
        taken = (
            f'and what was asked is still open · attach.beside · "{first.question.text}"'
            in answer.reply.header
        )
        assert taken == (text not in REQUESTS)
        assert house.query("SELECT slots FROM threads WHERE id = 1") == [(None,)]
        assert (
            await house.say("yes", reply_to=first.question.message_id)
        ).attached == "answer_to_pending"
        await house.quiet()
        assert json.loads(house.query("SELECT slots FROM threads WHERE id = 1")[0][0]) == {
            "told": True
        }
        lawful(house.ordain)


async def test_what_is_still_open_is_forgotten_with_its_words(tmp_path: Path) -> None:
    """The line of the header quotes, and what is quoted goes when the session is erased."""
    async with office(tmp_path, script=ANSWERS) as house:
        _, view = await house.proposed("tell them", "announce", text="tea is ready")
        await house.told(await house.send(YES_AND[0]))
        await house.decide(view, approve=False)
        await house.quiet()
        run = house.query("SELECT id FROM runs WHERE flow = 'turn' ORDER BY no")[-1][0]
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked for")
        stored = house.ordain.store.stored(run)
        assert stored is not None
        ended = ending(stored.records)
        header = "" if ended is None else ended.header
        assert "attach.beside" in header
        assert "tell them" not in header
