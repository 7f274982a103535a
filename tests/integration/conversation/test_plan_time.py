"""A plan's time: no step that begins outlasts it, and what it leaves undone is not done."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ordain.ports.model import ModelRequest
from ordain.testing import ModelScript, finish, says
from tests.integration.conversation.test_profiles import all_replay_equal, decided
from tests.shapes.lines import script_of
from tests.shapes.talk import House

PLAN = {
    "steps": [
        {"agent": agent, "reason": agent, "confidence": 0.9}
        for agent in ("creative_agent", "general_agent")
    ],
    "metadata": {},
    "confidence": 0.9,
}
POLICY: dict[str, Any] = {"approvals": {"delegation": "never"}, "roster": {"plan_seconds": 60}}


def company(first: Any) -> ModelScript:
    """A plan of two steps; what the first agent says is ``first``'s."""
    lines = (
        ModelScript()
        .on("roster", PLAN)
        .on("planner", first, role="creative_agent")
        .on("planner", finish("Done."), role="general_agent")
    )
    return script_of(lines.on("synthesis", {"content": "Both were done."}))


async def asked(house: House) -> Any:
    """Have it planned; the answer."""
    answer = await house.say("do both", verb="roster_runtime")
    assert await all_replay_equal(house)
    assert answer.reply is not None
    return answer.reply


def moving(house: House, seconds: int, says: Any) -> Callable[[ModelRequest], Any]:
    """An answer while whose making so much time goes by."""

    def answer(_: ModelRequest) -> Any:
        house.clock.move(house.clock.offset + seconds * 1_000_000)
        return says

    return answer


@pytest.mark.parametrize(("seconds", "ok"), [(50, True), (61, False), (130, False)])
async def test_a_step_that_time_leaves_undone_is_not_done(seconds: int, *, ok: bool) -> None:
    """Whatever the synthesis says of it: the header opens with partial, and names what was not run.

    B-34 "`ok=true` only if all required steps succeeded."
    """
    async with House(policy=POLICY) as house:
        house.puppet.script = company(moving(house, seconds, finish("A poem.")))
        reply = await asked(house)
        assert (
            reply.ok,
            reply.verdict,
            "not run: steps 2 · plan_wave.out_of_time" in reply.header,
        ) == (
            ok,
            "ok" if ok else "partial",
            not ok,
        )
        assert [
            one["outcome"]["steps"]
            for one in decided(house, "plan_wave")
            if "steps" in one["outcome"]
        ] == ([[0], [1]] if ok else [[0]])


async def test_no_step_outlasts_the_time_of_its_plan() -> None:
    """What is left of it when a step begins bounds the agent's own loop, which else has the time of
    any handoff.
    """
    async with House(policy=POLICY) as house:
        house.puppet.script = company(
            moving(house, 30, {"thought": "", "finish": False, "action": None})
        )
        await asked(house)
        limits = [one["facts"]["limits"]["ms"] for one in decided(house, "safety")]
        given = [
            json.loads(given)["within_ms"]
            for (given,) in house.query(
                "SELECT CAST(json_extract(CAST(body AS TEXT), '$.input') AS TEXT) FROM journal "
                "WHERE kind = 'started' AND name = 'handoff'"
            )
        ]
        assert 59_000 < given[0] <= 60_000
        assert all(ms <= 60_000 for ms in limits)
        assert all(later < 31_000 for later in given[1:])


async def test_a_step_goes_through_each_word_of_its_lifecycle() -> None:
    """On record, as it moves: whoever follows the run sees where each step is."""
    async with House(policy={**POLICY, "roster": {"plan_seconds": 3600, "backoff_ms": 0}}) as house:
        script = (
            ModelScript().on("roster", PLAN).on("planner", says("prose"), role="creative_agent")
        )
        house.puppet.script = script_of(
            script.on("planner", finish("Done."), role="general_agent").on(
                "synthesis", {"content": "Done."}
            )
        )
        await asked(house)
        moves = [
            (one["facts"]["step"], one["facts"]["before"], one["facts"]["event"])
            for one in decided(house, "step_event")
        ]
        first = [(before, event) for step, before, event in moves if step == 0]
        assert first[:4] == [
            ("queued", "accepted"),
            ("planned", "scheduled"),
            ("scheduled", "started"),
            ("in_progress", "failed"),
        ]
        assert first[4:] == [
            ("failed", "scheduled"),
            ("scheduled", "started"),
            ("in_progress", "completed"),
        ]
        assert [move for move in moves if move[0] == 1] == [
            (1, *move)
            for move in (
                ("queued", "accepted"),
                ("planned", "scheduled"),
                ("scheduled", "started"),
                ("in_progress", "completed"),
            )
        ]
