"""Conversations whose runs stop: crashes, unreadable records, resumes, erasure and retention
between.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ordain.errors import Conflict
from ordain.ports.model import ModelRequest
from ordain.runtime.transcript_replay import retell
from ordain.testing import call, finish
from tests.shapes.lines import about, holds, script_of, steps
from tests.shapes.lost import losing
from tests.shapes.session_laws import broken_at_rest, broken_now, lawful, rows_of
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import WORKSPACE, House, Puppet

SLOW = script_of(holds("slowly"))
DAMAGE = {
    "no body of its start": "UPDATE journal SET body = x'7b' WHERE seq = 0 AND run = ?",
    "unknown kind at its start": "UPDATE journal SET kind = 'nonsense' WHERE seq = 0 AND run = ?",
    "unknown kind later": "UPDATE journal SET kind = 'nonsense' WHERE seq = 1 AND run = ?",
    "unknown version": "UPDATE journal SET v = 99 WHERE seq = 0 AND run = ?",
    "body lost": "UPDATE journal SET body = NULL, payload = 999 WHERE seq = 0 AND run = ?",
    "broken body later": "UPDATE journal SET body = x'ff' WHERE seq = 1 AND run = ?",
}
TURN = "turn"
DAY_S = 86_400


def change_file(home: Path, *statements: tuple[str, Any]) -> None:
    """Change what is stored, behind the back of everybody."""
    with journal_of(sqlite3.connect(home / "ordain.db")) as db:
        for statement, given in statements:
            db.execute(statement, given)
    db.close()


async def answered(house: House, text: str, **more: Any) -> bool:
    """Whether a message is answered well."""
    answer = await house.say(text, **more)
    return answer.reply is not None and answer.reply.ok


class Faulty(Puppet):
    """A model over which the runtime stumbles, as long as ``broken``."""

    def __init__(self) -> None:
        """Broken."""
        super().__init__(SLOW.on("verb", self._stumble, when=about("dogs")))
        self.broken = True

    def _stumble(self, request: ModelRequest) -> None:
        if self.broken:
            raise RuntimeError("bug")


@pytest.mark.parametrize("flow", ["turn", "verb_plan"])
async def test_the_turn_behind_one_that_is_set_aside_begins(tmp_path: Path, flow: str) -> None:
    """A turn that a start sets aside, itself or its child, gives its place to the next one, which
    that same start begins.
    """
    home = tmp_path / "home"
    house = House(home, script=SLOW)
    await house.open()
    first = await house.send("work slowly on it", id="m1")
    await house.quiet()
    following = await house.send("and then tell me more", reply_to="m1")
    await house.kill()
    change_file(
        home,
        (
            (
                "UPDATE runs SET status = 'running', resumes = 5, resumes_at = head_seq WHERE no = "
                "(SELECT min(no) FROM runs WHERE flow = ?)"
            ),
            (flow,),
        ),
    )
    await house.open()
    told = await house.told(first)
    assert told.reply is not None
    assert not told.reply.ok
    assert "set aside" in told.reply.narrative
    assert "quarantined" in told.reply.header
    after = await house.told(following)
    assert after.reply is not None
    assert after.reply.ok
    assert house.query("SELECT count(*) FROM turns WHERE state <> 'over'") == [(0,)]
    lawful(house.ordain)
    await house.kill()


@pytest.mark.parametrize("flow", ["turn", "supervisor"])
@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_run_that_cannot_be_read_is_told_so(tmp_path: Path, flow: str, damage: str) -> None:
    """Whatever of a turn or of its child cannot be read any more: its sender is told, and its
    thread goes on.
    """
    home = tmp_path / "home"
    house = House(home, script=SLOW)
    await house.open()
    first = await house.send("work slowly on it", mode="agent", id="m1")
    await house.quiet()
    following = await house.send("and then tell me more", reply_to="m1")
    await house.kill()
    with journal_of(sqlite3.connect(home / "ordain.db")) as db:
        (no,) = db.execute("SELECT min(no) FROM runs WHERE flow = ?", (flow,)).fetchone()
    db.close()
    change_file(home, (DAMAGE[damage], (no,)))
    await house.open()
    await house.until(
        "the next one was answered",
        lambda: house.puppet.let_go() or house.over(house.so_far(following).run_id),
    )
    told = await house.told(first)
    assert told.reply is not None
    assert not told.reply.ok
    assert "operator" in told.reply.narrative
    after = await house.told(following)
    assert after.reply is not None
    assert after.reply.ok
    assert house.query("SELECT count(*) FROM turns WHERE state <> 'over'") == [(0,)]
    await house.kill()


@pytest.mark.parametrize("flow", ["turn", "supervisor"])
@pytest.mark.parametrize("damage", DAMAGE)
async def test_what_became_of_an_unreadable_run_can_be_asked(
    tmp_path: Path, flow: str, damage: str
) -> None:
    """Who asks after a turn that cannot be read, or whose child cannot be, is told so: the run that
    tells it does not break over it.
    """
    home = tmp_path / "home"
    house = House(home, script=SLOW)
    await house.open()
    work = await house.send("work slowly on it", mode="agent", id="m1")
    run = house.so_far(work).run_id
    await house.quiet()
    await house.kill()
    with journal_of(sqlite3.connect(home / "ordain.db")) as db:
        (no,) = db.execute("SELECT min(no) FROM runs WHERE flow = ?", (flow,)).fetchone()
    db.close()
    change_file(home, (DAMAGE[damage], (no,)))
    await house.open()
    for moment in ("at work", "stopped"):
        nudge = await house.say("any luck?", reply_to="m1")
        assert nudge.attached == "status_nudge"
        assert nudge.reply is not None
        assert nudge.reply.ok, f"{moment}: {nudge.reply.header}"
        assert (
            moment == "stopped" or "cannot be read" in nudge.reply.header or damage == "body lost"
        )
        await house.until(
            "it stopped",
            lambda: (
                house.puppet.let_go()
                or house.query("SELECT 1 FROM turns WHERE id = ? AND state = 'over'", run)
            ),
        )
    assert (await house.told(work)).reply is not None
    assert await answered(house, "tell me about cats", reply_to="m1")
    await house.kill()


@pytest.mark.parametrize("flow", ["turn", "supervisor"])
async def test_what_nobody_can_read_is_told_as_unknown(tmp_path: Path, flow: str) -> None:
    """A turn that takes the place of one that cannot be read knows, as its header does, that nobody
    knows what had been done.
    """
    home, facts = tmp_path / "home", list[str]()

    def looked(request: ModelRequest) -> None:
        facts.append(str(request.inputs["facts"]))

    house = House(home, script=SLOW.on("planner", looked, when=about("use 300")))
    await house.open()
    work = await house.send("work slowly on it", mode="agent")
    await house.quiet()
    await house.kill()
    with journal_of(sqlite3.connect(home / "ordain.db")) as db:
        (no,) = db.execute("SELECT min(no) FROM runs WHERE flow = ?", (flow,)).fetchone()
        db.execute(DAMAGE["unknown kind later"], (no,))
        # so that the start itself does not meet it
        db.execute("UPDATE runs SET status = 'waiting', wake_at = NULL WHERE no = ?", (no,))
    db.close()
    await house.open()
    await house.until("held", lambda: flow == "supervisor" or house.puppet.held)
    instead = await house.say("use 300 instead", mode="agent")
    assert instead.attached == "override"
    assert instead.reply is not None
    assert "? run" in instead.reply.header
    assert "cannot be read" in instead.reply.header
    assert "cannot be read" in str(facts)
    told = await house.told(work)
    assert told.reply is not None
    assert not told.reply.ok
    await house.kill()


async def test_a_resume_that_fails_again_gives_the_place_up_again() -> None:
    """However often a turn is resumed that cannot go on: each stop is told and stored, its thread
    stays free, and at last it is done.
    """
    async with House() as house:
        with losing(house.ordain.runtime.services, TURN):
            stopped = await house.say("tell me about dogs", id="m1")
            assert stopped.reply is not None
            run = stopped.run_id or ""
            for times in (2, 3, 4):
                await house.ordain.runtime.operators.resume(run, by="op")
                await house.quiet()
                assert house.status(run) == "flow_unavailable"
                assert house.query("SELECT state FROM turns WHERE id = ?", run) == [("over",)]
                assert house.query(
                    "SELECT count(*) FROM transcript WHERE kind = 'reply' AND run = ?", run
                ) == [(times,)]
        assert await answered(house, "and cats?", reply_to="m1")
        await house.ordain.runtime.operators.resume(run, by="op")
        await house.quiet()
        assert house.status(run) == "completed"
        assert not broken_at_rest(house.ordain)


async def test_a_resume_and_the_crash_after_it_are_one(tmp_path: Path) -> None:
    """A process that dies right after a resume was accepted leaves a turn that the next start
    drives: its thread is never blocked.
    """
    puppet = Faulty()
    house = House(tmp_path / "home", puppet=puppet)
    await house.open()
    stopped = await house.say("tell me about dogs", id="m1")
    assert stopped.reply is not None
    ((child,),) = house.query("SELECT id FROM runs WHERE status = 'faulted'")
    puppet.broken = False
    await house.ordain.runtime.operators.resume(child, by="op")
    await house.kill()  # before the engine had a chance to drive it
    await house.open()
    await house.quiet()
    assert house.status(stopped.run_id) == "completed"
    assert await answered(house, "and cats?", reply_to="m1")
    assert not broken_at_rest(house.ordain)
    await house.kill()


async def test_a_place_is_taken_again_with_the_run_or_not_at_all() -> None:
    """Where another turn has the thread, a resume is refused and changes nothing: neither the place
    nor the run.
    """
    puppet = Faulty()
    async with House(puppet=puppet) as house:
        stopped = await house.say("tell me about dogs", id="m1")
        ((child,),) = house.query("SELECT id FROM runs WHERE status = 'faulted'")
        puppet.broken = False
        work = await house.send("tell me slowly about cats", mode="agent", reply_to="m1")
        await house.quiet()
        for run in (child,):
            with pytest.raises(Conflict) as refused:
                await house.ordain.runtime.operators.resume(run, by="op")
            assert refused.value.code == "thread_taken"
        assert house.status(child) == "faulted"
        assert house.query("SELECT state FROM turns WHERE id = ?", stopped.run_id) == [("over",)]
        house.puppet.let_go()
        answer = await house.told(work)
        assert answer.reply is not None
        assert answer.reply.ok
        await house.ordain.runtime.operators.resume(child, by="op")
        await house.quiet()
        assert not broken_at_rest(house.ordain)
        lawful(house.ordain)


@pytest.mark.parametrize("then", ["resume", "cancel"])
async def test_a_stopped_run_of_an_erased_session_says_nothing_more(then: str) -> None:
    """Whatever an operator does with a stopped run after its session was erased: it cannot go on,
    it can be cancelled, no words stand, and none in the session after it.
    """
    async with House() as house:
        runtime = house.ordain.runtime
        await house.say("tell me about cats")
        with losing(runtime.services, TURN):
            stopped = await house.say("tell me about dogs")
        run = stopped.run_id or ""
        assert house.status(run) == "flow_unavailable"
        await runtime.operators.erase(run, by="op", why="asked to")
        if then == "resume":
            with pytest.raises(Conflict, match="erased"):
                await runtime.operators.resume(run, by="op")
        else:
            await runtime.operators.cancel(run, by="op", why="of no use")
        await house.quiet()
        assert house.status(run) == ("flow_unavailable" if then == "resume" else "cancelled")
        assert house.query("SELECT count(*) FROM transcript WHERE body IS NOT NULL") == [(0,)]
        ((named,),) = house.query("SELECT id FROM sessions")
        assert await answered(house, "tell me about birds")
        for session, verdict in ((named, "erased"), ("s1", "equal")):
            told = await retell(
                runtime.services.sessions, WORKSPACE, session, runtime.services.catalogs.pinned
            )
            assert (told.verdict, told.differences) == (verdict, [])
        assert not broken_now(rows_of(house.ordain), max_active=4)


@pytest.mark.parametrize("stopped", ["flow_unavailable", "faulted", "quarantined"])
async def test_a_stopped_run_whose_children_were_erased_is_cancelled(
    tmp_path: Path, stopped: str
) -> None:
    """It stopped within a join, and what it joined was erased with it: cancelling it still ends it,
    and those of its children that had stopped.
    """
    home = tmp_path / "home"
    house = House(home, script=SLOW)
    await house.open()
    run = house.so_far(await house.send("work slowly on it", mode="agent", id="m1")).run_id or ""
    await house.quiet()
    await house.kill()
    change_file(
        home,
        ("UPDATE runs SET status = ?, reason = 'test', wake_at = NULL", (stopped,)),
        ("UPDATE turns SET state = 'over' WHERE run > ?", (0,)),
    )
    await house.open()
    await house.ordain.runtime.operators.erase(run, by="op", why="asked to")
    assert (await house.ordain.runtime.view(run)).stored.key is None
    await house.ordain.runtime.operators.cancel(run, by="op", why="of no use")
    await house.quiet()
    assert house.query("SELECT DISTINCT status FROM runs") == [("cancelled",)]
    assert house.query("SELECT count(*) FROM runs")[0][0] > 1
    await house.kill()


async def test_what_an_open_turn_refers_to_outlives_retention(tmp_path: Path) -> None:
    """A turn that waits for an answer longer than messages are kept still has its history when the
    answer comes; afterwards that goes.
    """
    script = steps(
        call("ask_user", question="which city?", expected_type="location", key="city"),
        finish("planned"),
    )
    policy = {
        "retention": {"input_days": 1, "model_days": 0, "verb_days": 0, "result_days": 1},
        "session": {"question_seconds": 5 * DAY_S},
    }
    house = House(tmp_path / "home", script=script, policy=policy)
    await house.open()
    await house.say("tell me about cats")
    asked = await house.say("plan it", mode="agent", allowed_verbs=["ask_user"])
    assert asked.question is not None
    other = await house.say("tell me about tea", "s2")
    assert other.reply is not None
    await house.pass_time(2 * DAY_S)
    await house.ordain.engine.sweep()
    gone = (
        "SELECT s.id, count(*) FROM transcript t JOIN sessions s ON s.no = t.session WHERE t.body "
        "IS NULL GROUP BY 1"
    )
    assert house.query(gone) == [("s2", 2)]
    await house.reopen()
    answer = await house.say("Lisbon")
    assert answer.attached == "answer_to_pending"
    assert answer.reply is not None
    assert answer.reply.ok
    await house.ordain.engine.sweep()
    assert ("s1", 4) in [(session, min(count, 4)) for session, count in house.query(gone)]
    assert await answered(house, "tell me about birds")
    await house.kill()


async def test_a_stopped_child_gives_up_the_turns_place() -> None:
    """A turn whose child stopped answers its message, and does not hold up its thread or count
    against the session's caps.
    """
    async with House(
        policy={"session": {"max_active": 1}}, script=steps(finish("x"), when=about("birds"))
    ) as house:
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
            await house.ordain.runtime.operators.resume(run, by="op")
        await house.quiet()
        assert not broken_at_rest(house.ordain)
