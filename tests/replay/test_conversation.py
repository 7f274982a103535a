"""Replay of a conversation's runs: from journal and transcript alone, and what it says where either
is not what it was.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.errors import JournalCorrupt
from ordain.flows.transcript import TranscriptReader
from ordain.journal.records import SETTLED
from ordain.runtime.replay import Replayed, replay
from ordain.testing import ModelScript, call, fails, suggests
from tests.at_once import at_once
from tests.replayed import replayed
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.session_laws import broken_at_rest, broken_now, rows_of, unequal
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import House

POLICY = {
    "attach": {"ask": "local"},
    "router": {"ask": "local"},
    "supervisor": {"ask": "brain"},
    "history": {"max_entries": 8, "keep_entries": 4},
}

SCRIPT = (
    script_of(holds("slowly"), asks("which place", "location"))
    .on("planner", call("math.evaluate", expression="6 * 7"), index=0, when=about("calculate"))
    .on("planner", fails("rejected"), when=about("fail"))
    .on("triage", suggests("status_nudge", thread=1), when=about("well then"))
)


async def talked(house: House) -> None:
    """A conversation that uses every flow and every model's part."""
    await house.say("tell me about cats")
    asked = await house.say("find out which place is meant", mode="agent")
    assert asked.question is not None
    await house.say("Lisbon", reply_to=asked.question.message_id)
    first = await house.send("tell me slowly about Hamburg", mode="agent")
    second = await house.send("tell me slowly about Bremen", mode="agent")
    await house.quiet()
    await house.say("any luck?")
    await house.say("well then")
    stop = await house.say("stop")
    assert stop.question is not None
    await house.say("B", reply_to=stop.question.message_id)
    house.puppet.let_go()
    await house.told(first)
    await house.told(second)
    await house.say("calculate it", mode="agent")
    await house.say("fail at it", mode="agent")
    await house.say("and council", mode="council")
    for _ in range(4):
        await house.say("tell me more")


def replays(house: House, transcript: TranscriptReader | None = None) -> dict[str, Replayed]:
    """The replay of every settled run, by id; with another transcript, if given."""
    services, found = house.ordain.runtime.services, dict[str, Replayed]()
    for (run,) in house.query("SELECT id FROM runs ORDER BY no"):
        stored = house.ordain.store.stored(run)
        assert stored is not None
        if stored.status in SETTLED:
            catalog = at_once(services.catalogs.pinned(stored.catalog))
            found[run] = (
                replayed(services, stored)
                if transcript is None
                else replay(stored, catalog, services.kinds, transcript)
            )
    return found


async def test_every_flow_of_a_conversation_replays_equal() -> None:
    """Turn, supervisor, question, status, triage, a seat, chat and summary replay byte for byte,
    and no model is asked for it.
    """
    async with House(script=SCRIPT, policy=POLICY) as house:
        await talked(house)
        flows = {flow for (flow,) in house.query("SELECT DISTINCT flow FROM runs")}
        assert flows == {"turn", "supervisor", "question", "status", "triage", "verb_plan", "seat"}
        assert house.query("SELECT count(*) FROM transcript WHERE kind = 'summary'")[0][0]
        asked = len(house.puppet.requests)
        assert all(report.equal and report.settled for report in replays(house).values())
        assert len(house.puppet.requests) == asked
        assert not broken_now(rows_of(house.ordain), max_active=4)
        assert not broken_at_rest(house.ordain)


async def test_another_process_replays_without_the_model(tmp_path: Path) -> None:
    """A process that never saw the conversation, and whose model answers nothing, replays it
    equal.
    """
    async with House(tmp_path / "home", script=SCRIPT, policy=POLICY) as house:
        await talked(house)

    def never(*_: Any) -> Any:
        raise AssertionError("a model was asked")

    async with House(tmp_path / "home", script=ModelScript().on("", never), policy=POLICY) as house:
        assert unequal(house.ordain) == []


async def test_a_history_that_is_not_what_it_was_is_found_out() -> None:
    """A run whose prompt held a history replays only over that history: without it, or with it
    altered, replay says so.
    """
    async with House() as house:
        await house.say("tell me about cats")
        later = await house.say("tell me more")
        (child,) = house.query(
            "SELECT c.id FROM runs c JOIN runs p ON p.no = c.parent WHERE p.id = ?", later.run_id
        )[0]
        assert replays(house)[child].equal
        assert not replays(house, lambda *_: ())[child].equal
        house.ordain.store.writer._db.execute(
            "UPDATE transcript SET digest = x'00', body = replace(body, 'cats', 'dogs') WHERE "
            "seq = 1"
        )
        assert not replays(house)[child].equal


@pytest.mark.parametrize("alter", ["body", "chain", "gap"])
async def test_an_altered_transcript_breaks_its_chain(alter: str) -> None:
    """Altering, unlinking or removing an entry shows in the chain."""
    sql = {
        "body": "UPDATE transcript SET body = x'7b7d' WHERE seq = 2",
        "chain": "UPDATE transcript SET at = at + 1 WHERE seq = 2",
        "gap": "DELETE FROM transcript WHERE seq = 2",
    }
    async with House() as house:
        await house.say("tell me about cats")
        await house.say("tell me about dogs")
        assert not broken_now(rows_of(house.ordain), max_active=4)
        house.ordain.store.writer._db.execute(sql[alter])
        assert broken_now(rows_of(house.ordain), max_active=4)


async def test_a_journal_of_a_turn_with_an_altered_record_is_refused() -> None:
    """A turn's journal is held to its chain like any other."""
    async with House() as house:
        told = await house.say("tell me about cats")
        journal_of(house.ordain.store.writer._db).execute(
            "UPDATE journal SET body = replace(CAST(body AS TEXT), 'cats', 'dogs') WHERE kind = "
            "'started' AND run = (SELECT no FROM runs WHERE id = ?)",
            (told.run_id,),
        )
        try:
            report = replays(house)[told.run_id or ""]
        except JournalCorrupt:
            return
        assert not report.equal
