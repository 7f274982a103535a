"""Erasing a session's subject: its content is gone everywhere, its chain stands, and it goes on
under another key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.errors import Conflict, NotFound
from ordain.journal.records import Status
from ordain.ports.sessions import ThreadChange, ThreadStatus
from ordain.ports.store import Append
from ordain.ports.upkeep import OldContent
from ordain.rules.header import without_words
from ordain.runtime.upkeep import carried_out
from ordain.testing import call, fails
from tests.replayed import replayed
from tests.shapes.lines import about, asks, holds, script_of
from tests.shapes.session_laws import broken_now, rows_of
from tests.shapes.talk import House

SECRET = "zanzibar"
"""A word of the user's that no code and no header of ours would say."""
LIVELY = (
    script_of(holds("slowly"), asks("which place", "location"))
    .on("planner", call("math.evaluate", expression="6 * 7"), index=0, when=about("calculate"))
    .on("planner", fails("rejected"), when=about("fail"))
)
"""What the model does about a lively session."""


async def lively(house: House) -> str:
    """A session with a chat, an answered question, an override, a repair, a nudge and a summary;
    gives one of its runs.
    """
    first = await house.say(f"tell me about {SECRET}")
    asked = await house.say(f"find out which place {SECRET} is close to", mode="agent")
    assert asked.question is not None
    await house.say("Dar es Salaam", reply_to=asked.question.message_id)
    await house.send(f"tell me slowly about {SECRET}", mode="agent")
    await house.quiet()
    await house.say("any luck?")
    await house.send(f"use {SECRET} slowly instead", mode="agent")
    await house.quiet()
    await house.say("stop")
    await house.say(f"fail at {SECRET}", mode="agent")
    await house.say(f"calculate {SECRET}", mode="agent")
    for _ in range(4):
        await house.say(f"tell me more about {SECRET}")
    assert house.query("SELECT count(*) FROM transcript WHERE kind = 'summary'")[0][0] >= 1
    assert first.run_id is not None
    return first.run_id


POLICY = {"history": {"max_entries": 12, "keep_entries": 6}}


def holding(house: House, word: str) -> list[str]:
    """The tables and columns that hold a word."""
    found: list[str] = []
    for (table,) in house.query(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    ):
        for _, column, *_ in house.query(f"PRAGMA table_info({table})"):
            sql = f"SELECT count(*) FROM {table} WHERE instr(lower(CAST({column} AS TEXT)), ?)"
            if table != "catalogs" and house.query(sql, word)[0][0]:
                found.append(f"{table}.{column}")
    return found


async def test_nothing_of_a_session_is_left(tmp_path: Path) -> None:
    """After erase no table holds what the user said, who that was, or what a verb gave; not even
    the headers that had quoted it.
    """
    async with House(tmp_path / "home", script=LIVELY, policy=POLICY) as house:
        run = await lively(house)
        assert {"transcript.body", "threads.intent", "sheets.records"} <= set(
            holding(house, SECRET)
        )
        await house.ordain.runtime.operators.erase(run, by="op", why="asked to")
        assert holding(house, SECRET) == []
        assert holding(house, "dar es salaam") == []
        assert house.query(
            "SELECT count(*) FROM transcript WHERE body IS NOT NULL OR decision IS NOT NULL"
        ) == [(0,)]
        assert house.query(
            "SELECT count(*) FROM threads WHERE intent <> '' OR coalesce(asked, slots, "
            "last_error) IS NOT NULL"
        ) == [(0,)]
        assert not broken_now(rows_of(house.ordain), max_active=4)


async def test_every_run_of_it_replays_as_erased() -> None:
    """Replay says ``erased`` of each of the session's runs, and the header that was shown is still
    there, without its quotations.
    """
    async with House(script=LIVELY, policy=POLICY) as house:
        run = await lively(house)
        runs = [found for (found,) in house.query("SELECT id FROM runs")]
        headers = {one: (await house.ordain.runtime.view(one)).header for one in runs}
        await house.ordain.runtime.operators.erase(run, by="op", why="asked to")
        services = house.ordain.runtime.services
        for one in runs:
            stored = house.ordain.store.stored(one)
            assert stored is not None
            assert replayed(services, stored).verdict == "erased"
            assert (await house.ordain.runtime.view(one)).header == without_words(headers[one])


async def test_another_session_begins_under_the_same_id(tmp_path: Path) -> None:
    """A later message is a new beginning: the numbers begin anew, the history holds nothing of what
    was erased, everything replays, also after a restart.
    """
    house = House(tmp_path / "home", script=LIVELY, policy=POLICY)
    await house.open()
    run = await lively(house)
    await house.ordain.runtime.operators.erase(run, by="op", why="asked to")
    await house.reopen()
    for n in range(3):
        after = await house.say(f"tell me about birds {n}")
        assert after.reply is not None
        assert after.reply.ok
        assert after.session_seq == 2 * n + 1
    ((erased, gone), kept) = house.query("SELECT id, key IS NULL FROM subjects ORDER BY no")
    assert erased.startswith("session:erased:")
    assert (gone, kept) == (1, ("session:s1#1", 0))
    assert not broken_now(rows_of(house.ordain), max_active=4)
    services = house.ordain.runtime.services
    for (one,) in house.query(
        "SELECT r.id FROM runs r JOIN subjects s ON s.no = r.subject WHERE s.key IS NOT NULL"
    ):
        stored = house.ordain.store.stored(one)
        assert stored is not None
        assert replayed(services, stored).equal
    events: list[Any] = await house.ordain.runtime.conversation.transcript(
        "default", "s1", after=0, limit=500
    )
    assert [entry.seq for entry in events] == list(range(1, len(events) + 1))
    await house.kill()


async def test_an_erased_message_that_is_sent_again_is_a_new_one() -> None:
    """Nothing is kept by which it could be known: whoever sends it again begins a session with
    it.
    """
    async with House() as house:
        first = await house.say(f"tell me about {SECRET}", id="m1")
        assert first.run_id is not None
        await house.ordain.runtime.operators.erase(first.run_id, by="op", why="asked to")
        again = await house.say(f"tell me about {SECRET}", id="m1")
        assert (again.session_seq, again.duplicate) == (1, False)
        assert not broken_now(rows_of(house.ordain), max_active=4)


async def test_a_session_at_work_is_not_erased() -> None:
    """Erase waits for the session's turns: with one unsettled it is refused, and nothing is
    destroyed.
    """
    async with House(script=LIVELY) as house:
        done = await house.say("tell me about cats")
        await house.send("tell me slowly about dogs", mode="agent")
        await house.quiet()
        assert done.run_id is not None
        with pytest.raises(Conflict) as refused:
            await house.ordain.runtime.operators.erase(done.run_id, by="op", why="asked to")
        assert refused.value.code == "not_at_rest"
        assert house.query("SELECT count(*) FROM transcript WHERE body IS NULL") == [(0,)]


async def test_a_session_without_a_turn_is_erased_too() -> None:
    """A session in which nothing was ever asked for has content, and it can be erased."""
    async with House() as house:
        await house.say("thanks!")
        await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        assert holding(house, "thanks!") == []
        assert house.query("SELECT count(*) FROM subjects WHERE key IS NOT NULL") == [(0,)]
        later = await house.say("tell me about birds")
        assert later.reply is not None
        assert later.reply.ok
        assert not broken_now(rows_of(house.ordain), max_active=4)


@pytest.mark.parametrize("swept", [False, True])
async def test_who_spoke_is_erased_too(swept: bool) -> None:
    """No table names the person any more, also where retention had taken what was said; whoever
    speaks next is the session's user.
    """
    async with House() as house:
        assert (await house.say("tell me about cats", user="ada.lovelace")).reply is not None
        assert {"transcript.author", "sessions.user"} <= set(holding(house, "ada.lovelace"))
        now = house.ordain.runtime.services.clock.now() + 1
        if swept:
            await carried_out(
                house.ordain.runtime.services.upkeep,
                OldContent(content_class="input", before=now, at=now),
            )
        emptied = await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        assert emptied > 0
        assert holding(house, "ada.lovelace") == []
        with pytest.raises(NotFound):
            await house.ordain.runtime.operators.erase_session("s1", by="op", why="asked to")
        ((again,),) = house.query("SELECT id FROM sessions")
        assert (
            await house.ordain.runtime.operators.erase_session(again, by="op", why="asked to") == 0
        )
        assert (await house.say("tell me about birds")).reply is not None
        assert house.query(
            "SELECT DISTINCT user FROM sessions WHERE user <> '' UNION SELECT author FROM "
            "transcript WHERE body IS NOT NULL AND author <> ''"
        ) == [("ada",)]


async def test_a_stopped_run_leaves_no_word_in_an_erased_session(tmp_path: Path) -> None:
    """What a run that had stopped says once its session was erased is kept nowhere: its thread goes
    on, without a word.
    """
    async with House(tmp_path / "home", script=LIVELY) as house:
        run = (await house.say(f"find out which place {SECRET} is close to", mode="agent")).run_id
        assert run is not None
        await house.quiet()
        stopping = house.query(
            "SELECT id, epoch FROM runs WHERE status = 'waiting' ORDER BY no DESC"
        )
        for one, epoch in stopping:
            await house.ordain.runtime.services.store.submit(
                Append(run=one, epoch=epoch, status=Status.DIVERGED, reason="journal_diverged")
            )
        await house.ordain.runtime.operators.erase(run, by="op", why="asked to")
        said: dict[str, Any] = {
            "intent": SECRET,
            "last_error": {"output": SECRET},
            "slot": ("told", SECRET),
        }
        (session,) = house.query("SELECT id FROM sessions")[0]
        for one, epoch in stopping:
            change = ThreadChange(id=1, session=session, status=ThreadStatus.BLOCKED, at=1, **said)
            await house.ordain.runtime.services.store.submit(
                Append(run=one, epoch=epoch, writes=(change,))
            )
        assert house.query("SELECT status FROM threads WHERE id = 1") == [(ThreadStatus.BLOCKED,)]
        assert house.query(
            "SELECT count(*) FROM threads WHERE intent <> '' OR coalesce(asked, slots, "
            "last_error) IS NOT NULL"
        ) == [(0,)]
