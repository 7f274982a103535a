"""Planning sessions in a whole house: requests of one caller go on from each other, of nobody
else's, and after a restart.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ordain.contracts.planner import PlannerRequest
from ordain.errors import InvalidRequest
from ordain.runtime.replay import replay
from ordain.testing import ModelScript, call, finish
from tests.shapes.talk import House

ADA, BOB = "token:ada", "token:bob"
SCRIPT = (
    ModelScript()
    .on(
        "planner",
        call("math.evaluate", expression="6 * 7"),
        index=0,
        when=lambda one: "six times seven" in one.user,
    )
    .on(
        "planner",
        finish("It is 42."),
        when=lambda one: "six times seven" in one.user and "one more" not in one.user,
    )
    .on("planner", finish("Then it is 43."), when=lambda one: "It is 42." in one.user)
    .on("planner", finish("One more than what?"))
)


async def plan(
    house: House, goal: str, principal: str = ADA, session: str = "sums"
) -> dict[str, Any]:
    request = PlannerRequest.model_validate(
        {
            "goal": {"type": "chat", "description": goal},
            "toolset": [{"tool_id": "math.evaluate"}],
            "session_id": session,
        }
    )
    accepted = await house.ordain.runtime.accept(request, principal)
    view = await house.ordain.runtime.wait(accepted.run)
    assert replay(view.stored, house.ordain.catalog, house.ordain.kinds).equal
    return house.ordain.runtime.response(view, PlannerRequest)


def said(response: dict[str, Any]) -> str:
    return response["final_answer"]["content"]


async def test_the_next_request_goes_on_from_the_last(tmp_path: Path) -> None:
    """Also by a process after this one; another caller's session of the same id is another, and so
    is another id.

    FUT-01 "Multi-turn planner sessions: `/plan/react` keeps session IDs for incremental planning."
    """
    async with House(tmp_path / "home", script=SCRIPT) as house:
        first = await plan(house, "Work out six times seven.")
        assert said(first) == "It is 42."
        assert said(await plan(house, "And one more?")) == "Then it is 43."
        assert said(await plan(house, "And one more?", BOB)) == "One more than what?"
        assert said(await plan(house, "And one more?", session="other")) == "One more than what?"
        await house.reopen()
        assert said(await plan(house, "And one more?")) == "Then it is 43."


@pytest.mark.parametrize("session", ["a b", "a\n", " ", "/a", "ü"])
async def test_a_sessions_id_is_one(session: str) -> None:
    """As a conversation's: refused with its place where it is taken, and not by the contract that
    recorded requests are read by.
    """
    async with House(script=SCRIPT) as house:
        with pytest.raises(InvalidRequest) as refused:
            await plan(house, "Work out six times seven.", session=session)
        assert refused.value.details["errors"][0]["place"] == "/session_id"


async def test_it_is_bounded_and_names_its_records() -> None:
    """The latest four, cut; what was called stands there with the records that hold it, and no
    thought does.
    """
    async with House(script=SCRIPT) as house:
        for _ in range(6):
            last = await plan(house, "Work out six times seven.")
        stored = await house.ordain.store.load([last["run_id"]])
        (run,) = stored.values()
        seen = [
            record
            for record in run.records
            if record.kind == "observation" and record.name == "read"
        ]  # type: ignore[union-attr]
        assert len(seen) == 1
        body = seen[0].body or b""
        assert body.count(b'"goal"') == 4
        assert b'"records":[' in body
        assert b"thought" not in body


async def test_erased_requests_are_gone() -> None:
    """What was erased is told to nobody."""
    async with House(script=SCRIPT) as house:
        first = await plan(house, "Work out six times seven.")
        await house.ordain.runtime.operators.erase(first["run_id"], by=ADA, why="over")
        assert said(await plan(house, "And one more?")) == "One more than what?"


async def test_requests_at_once_each_have_their_place() -> None:
    """Claims follow each other: each sees those before it, where they are over, and none itself."""
    async with House(script=SCRIPT) as house:
        await asyncio.gather(*(plan(house, "Work out six times seven.") for _ in range(3)))
        rows = house.query("SELECT runs FROM shared_plan_sessions")
        assert len(rows) == 1
        assert rows[0][0].count(",") == 2
