"""Specialists that ask the user: one alone, and several beside each other in one turn. Each
question reaches the user, and each answer its specialist.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.conversation import MessageAnswer
from ordain.journal.records import Status
from ordain.testing import ModelScript, call, finish
from tests.integration.conversation.test_profiles import all_replay_equal
from tests.shapes.handoffs import UNASKED, write_cards
from tests.shapes.session_laws import lawful
from tests.shapes.talk import PRINCIPAL, House
from tests.shapes.workflows import Desk

ASKING = {
    name: {"domain": name, "allow": ["note_*", "ask_user"]} for name in ("clerk", "sender", "boss")
}
AGENTS = list(ASKING)


def script(expects: str = "freeform") -> ModelScript:
    """Each asks for a city, notes down its own name, and says that it has."""
    made = ModelScript()
    for name in AGENTS:
        question = call(
            "ask_user", question=f"{name}: which city?", expected_type=expects, key=name
        )
        made = made.on("planner", question, role=name, index=0).on(
            "planner", call("note_down", text=name), role=name, index=1
        )
        made = made.on("planner", finish(f"{name} is done."), role=name)
    return made


def asked_now(house: House) -> str:
    """The key of what the thread asks now."""
    return house.query(
        "SELECT coalesce(json_extract(asked, '$.key'), '') FROM threads WHERE id = 1"
    )[0][0]


def told(house: House) -> dict[str, str]:
    """By specialist, what it was answered."""
    return dict(
        house.query("SELECT key, value FROM threads, json_each(slots) WHERE threads.id = 1")
    )


async def begun(house: House, agents: list[str]) -> Any:
    sent = await house.send("have it noted", delegates=agents)
    await house.quiet()
    answer: MessageAnswer = await house.told(sent)
    assert answer.question is not None
    return sent


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_each_question_is_asked_and_answered(tmp_path: Path, count: int) -> None:
    """What was asked last is answered first; then the thread asks what it had asked before, and
    waits for its user until nothing is asked.
    """
    write_cards(tmp_path, ASKING)
    desk, answers = Desk(), dict[str, str]()
    async with House(tmp_path, script=script(), policy=UNASKED, verbs=desk.verbs) as house:
        sent = await begun(house, AGENTS[:count])
        for number in range(count):
            assert house.query("SELECT status FROM threads WHERE id = 1") == [("waiting_for_user",)]
            answers[asked_now(house)] = f"Paris {number}"
            said = await house.send(f"Paris {number}")
            await house.quiet()
            assert house.query(
                "SELECT attached FROM transcript WHERE message_id = ?", said.message_id
            ) == [("answer_to_pending",)]
        answer = await house.told(sent)
        assert answer.reply is not None
        assert answer.reply.ok
        assert sorted(text for _, text in desk.did) == sorted(AGENTS[:count])
        assert told(house) == answers
        assert sorted(answers) == sorted(AGENTS[:count])
        lawful(house.ordain)
        assert await all_replay_equal(house)


async def test_an_older_one_that_is_over_leaves_the_later_one_open(tmp_path: Path) -> None:
    """An operator answers what was asked before: no message is taken for its answer, and the
    other's goes where it is meant.
    """
    write_cards(tmp_path, ASKING)
    desk = Desk()
    async with House(tmp_path, script=script(), policy=UNASKED, verbs=desk.verbs) as house:
        sent = await begun(house, AGENTS[:2])
        ((run, addr, key),) = house.query(
            "SELECT json_extract(asked, '$.earlier.run'), json_extract(asked, '$.earlier.addr'), "
            "json_extract(asked, '$.earlier.key') FROM threads"
        )
        later = asked_now(house)
        assert {key, later} == set(AGENTS[:2])
        await house.ordain.runtime.operators.answer(run, addr, "Rome", by=PRINCIPAL)
        await house.quiet()
        assert asked_now(house) == later
        await house.send("Paris")
        answer = await house.told(sent)
        assert answer.reply is not None
        assert answer.reply.ok
        assert house.query("SELECT asked, status FROM threads WHERE id = 1") == [(None, "done")]
        lawful(house.ordain)


async def test_a_stop_takes_back_all_that_the_turn_asks(tmp_path: Path) -> None:
    """Nothing that it asked is taken for a question any more."""
    write_cards(tmp_path, ASKING)
    desk = Desk()
    async with House(tmp_path, script=script("yes_no"), policy=UNASKED, verbs=desk.verbs) as house:
        await begun(house, AGENTS)
        await house.send("stop")
        assert asked_now(house) == ""
        await house.quiet()
        assert asked_now(house) == ""
        assert desk.did == []
        assert house.query(
            "SELECT count(*) FROM runs WHERE flow = 'question' AND status = ?", str(Status.WAITING)
        ) == [(0,)]
        lawful(house.ordain)
