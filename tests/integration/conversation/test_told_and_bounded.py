"""What a router is told of the turn's budgets, and how long a chain may take that a turn enters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordain.testing import ModelScript, finish, moves, routes
from tests.integration.conversation.test_profiles import all_replay_equal, decided
from tests.shapes.lines import steps
from tests.shapes.talk import House

ROUTED: dict[str, Any] = {"ask": "local"}


async def test_a_router_is_told_what_is_left() -> None:
    """Of each of the turn's budgets what is left when it is asked, the rest of a shared account
    too, is in the very prompt.
    """
    policy: dict[str, Any] = {
        "router": ROUTED,
        "budget": {
            "run_model_calls": 50,
            "run_verb_calls": 7,
            "rest": True,
            "session": {"tokens": 90_000},
        },
    }
    script = steps(finish("42")).on("router", routes("react_lite"))
    async with House(script=script, policy=policy) as house:
        await house.say("please work this out", mode="agent")
        (asked,) = house.puppet.asked("router")
        (context,) = [
            json.loads(line.removeprefix("CONTEXT "))
            for line in asked.user.splitlines()
            if line.startswith("CONTEXT ")
        ]
        left = context["budgets"]
        assert {name: left[name] for name in ("tokens", "model_calls", "verb_calls")} == {
            "tokens": 90_000,
            "model_calls": 50,
            "verb_calls": 7,
        }
        assert left["usd_micros"] > 0
        assert left["ms"] > 0
        assert await all_replay_equal(house)


@pytest.mark.parametrize(
    "script",
    [
        steps(finish("42")).on("router", routes("agent_chain", budget_class="large")),
        steps(finish("42"))
        .on("router", routes("react_lite", budget_class="large"))
        .on("supervisor", moves("escalate_agent_chain")),
    ],
    ids=["routed", "escalated"],
)
async def test_a_chain_has_no_more_time_than_its_step(script: ModelScript) -> None:
    """Though class and chain have more as policy says: two minutes, routed or escalated to.

    EXE-17 “Each step call is bounded by `step.timeout_ms`”
    """
    policy: dict[str, Any] = {
        "router": ROUTED,
        "supervisor": {"ask": "local"},
        "agent_chain": {"timeout_seconds": 600},
    }
    async with House(script=script, policy=policy) as house:
        answer = await house.say("please work this out", mode="agent")
        assert answer.reply is not None
        assert answer.reply.ok
        assert [one["outcome"]["timeout_ms"] for one in decided(house, "limits")][-1] == 120_000
        assert await all_replay_equal(house)
