"""Retention and erasure: content goes, the chain and the header stay, and replay says why it
cannot.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ordain.app import Ordain
from ordain.contracts.moments import DAY_US
from ordain.contracts.policy import RetentionPolicy
from ordain.flows.shipped import shipped_kinds
from ordain.journal.codec import verify
from ordain.rules.header import without_words
from ordain.runtime.replay import replay
from ordain.runtime.upkeep import daily
from ordain.settings import load_settings
from ordain.testing import fails
from tests.replay.golden import FACTS, TEXT, act, finish, request, scripted
from tests.shapes.lines import holds, script_of, steps
from tests.shapes.talk import House

SECRET = "The lamp is red."


def kept_bytes(folder: Path) -> bytes:
    """Everything the database files hold."""
    return b"".join(file.read_bytes() for file in folder.glob("ordain.db*"))


async def test_erase_destroys_content_and_keeps_the_header(tmp_path: Path) -> None:
    """After erase no body of the run or its children is left, its chain still verifies, its header
    is shown without what it quoted.
    """
    async with scripted(
        load_settings({}, tmp_path),
        [act("extract_facts", TEXT), finish(SECRET)],
        {"extract_facts": [FACTS]},
    ) as ordain:
        answer = (await ordain.plan(request("extract_facts"))).wire
        run = answer["run_id"]
        assert await ordain.runtime.operators.erase(run, by="local:test", why="asked to") > 10
        stored = ordain.store.stored(run)
        assert stored is not None
        assert stored.key is None
        verify(run, stored.key, stored.records)
        assert SECRET.encode() not in b"".join(record.body or b"" for record in stored.records)
        assert replay(stored, ordain.catalog, shipped_kinds()).verdict == "erased"
        assert (
            (await ordain.runtime.view(run)).header
            == without_words(answer["header"])
            != answer["header"]
        )
        (note,) = [record for record in stored.records if record.kind == "note"]
        assert b"asked to" in (note.body or b"")


async def test_sweep_erases_only_what_is_old_enough(tmp_path: Path) -> None:
    """A class kept for a day is swept a day after the run's end and not before; the run then
    replays as erased.
    """
    shipped = load_settings({}, tmp_path)
    policy = shipped.policy.model_copy(update={"retention": RetentionPolicy(model_days=1)})
    async with scripted(
        shipped.model_copy(update={"policy": policy}), [finish(SECRET)], {}
    ) as ordain:
        answer = (await ordain.plan(request())).wire
        assert await ordain.engine.sweep() == {"model": 0}
        clock = ordain.runtime.services.clock
        now = clock.now()
        ordain.runtime.services.clock = _Later(clock, now + DAY_US + 1)
        assert (await ordain.engine.sweep())["model"] > 0
        stored = ordain.store.stored(answer["run_id"])
        assert stored is not None
        assert replay(stored, ordain.catalog, shipped_kinds()).verdict == "erased"
        assert (await ordain.runtime.view(answer["run_id"])).header == answer["header"]


async def test_sweep_empties_transcripts_and_a_session_goes_on(tmp_path: Path) -> None:
    """What was said is swept with its class, thread names and all, and the next turn's history
    holds what is left.
    """
    policy = {"retention": {"input_days": 1, "result_days": 1}}
    async with House(tmp_path, policy=policy) as house:
        assert (await house.say(f"remember {SECRET}")).reply is not None
        house.clock.move(DAY_US + 1)
        assert (await house.ordain.engine.sweep())["input"] > 0
        spoken = house.query(
            "SELECT body, decision FROM transcript UNION ALL SELECT nullif(intent, ''), slots "
            "FROM threads"
        )
        assert {value for row in spoken for value in row} == {None}
        again = await house.say("and now something else")
        assert again.reply is not None
        assert again.reply.ok


@pytest.mark.parametrize("kept", ["input", "result"])
async def test_a_thread_loses_what_is_of_the_class_alone(kept: str) -> None:
    """Results that go by age leave what users said in its thread, and the other way round; what was
    swept is not written again.
    """
    policy = {"retention": {"result_days" if kept == "input" else "input_days": 1}}
    held = "SELECT intent <> '', last_error IS NOT NULL FROM threads"
    async with House(script=steps(fails("rejected")), policy=policy) as house:
        failed = await house.say("do it", mode="agent")
        assert failed.reply is not None
        assert not failed.reply.ok
        assert house.query(held) == [(1, 1)]
        house.clock.move(DAY_US + 1)
        await house.ordain.engine.sweep()
        assert house.query(held) == [(1, 0) if kept == "input" else (0, 1)]
        changed = house.ordain.store._db.total_changes
        await house.ordain.engine.sweep()
        assert house.ordain.store._db.total_changes == changed


async def test_threads_of_a_session_at_work_are_left(tmp_path: Path) -> None:
    """An old thread keeps its name while a turn of its session goes on, which may still tell of it;
    later it goes.
    """
    async with House(
        tmp_path,
        script=script_of(holds("slowly")),
        policy={"retention": {"input_days": 1, "result_days": 1}},
    ) as house:
        await house.say("tell me about cats")
        house.clock.move(DAY_US + 1)
        await house.send("tell me slowly about dogs", mode="agent")
        await house.quiet()
        await house.ordain.engine.sweep()
        assert house.query("SELECT intent = '' FROM threads ORDER BY id") == [(0,), (0,)]
        house.puppet.let_go()
        await house.until(
            "at rest", lambda: not house.query("SELECT 1 FROM turns WHERE state <> 'over'")
        )
        await house.ordain.engine.sweep()
        assert house.query("SELECT intent = '' FROM threads ORDER BY id") == [(1,), (0,)]


class _Later:
    """A clock that stands at one time."""

    def __init__(self, clock: object, at: int) -> None:
        self._clock, self._at = clock, at

    def now(self) -> int:
        return self._at

    def new_key(self) -> bytes:
        return bytes(32)

    def new_run_id(self) -> str:
        return "0" * 32


async def test_the_engine_sweeps_by_itself(tmp_path: Path) -> None:
    """A started Ordain sweeps at once and would again every day: old content is gone without
    anybody asking.
    """
    shipped = load_settings({}, tmp_path)
    policy = shipped.policy.model_copy(update={"retention": RetentionPolicy(model_days=1)})
    settings = shipped.model_copy(update={"policy": policy})
    async with scripted(settings, [finish(SECRET)], {}) as ordain:
        answer = (await ordain.plan(request())).wire
        ordain.runtime.services.clock = _Later(
            ordain.runtime.services.clock, ordain.runtime.services.clock.now() + DAY_US + 1
        )
        sweeping = asyncio.ensure_future(daily(ordain.engine.sweep))
        while not _swept(ordain, answer["run_id"]):  # noqa: ASYNC110 - nothing tells of a sweep: it is looked for
            await asyncio.sleep(0.01)
        sweeping.cancel()
        assert answer["trace"] is not None
        assert ordain.runtime.response(await ordain.runtime.view(answer["run_id"]))["trace"] is None


def _swept(ordain: Ordain, run: str) -> bool:
    stored = ordain.store.stored(run)
    return stored is not None and any(record.body is None for record in stored.records)
