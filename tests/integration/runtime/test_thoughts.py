"""Thoughts that may not be kept: what answers live, what goes on after a crash and what replays are the same bytes, and none of them holds one (B-37)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.testing import hold, proposes
from tests.shapes.lines import script_of
from tests.shapes.session_laws import unequal
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import PRINCIPAL, House

ADDS = {
    "thought": "a secret thought",
    "finish": False,
    "action": {"tool_id": "math.evaluate", "input": {"expression": "2 + 2"}},
    "final_answer": None,
}
SAYS: dict[str, Any] = {
    "thought": "another secret",
    "finish": True,
    "action": None,
    "final_answer": {"content": "It is 4.", "structured": {}},
}
REQUEST = {
    "goal": {"type": "chat", "description": "add"},
    "toolset": [{"tool_id": "math.evaluate"}],
    "preferences": {"allow_internal_thought_logging": False},
}


def journal(house: House, run: str) -> list[bytes]:
    """What is recorded of a run, in its order."""
    rows = journal_of(house.ordain.store).execute("SELECT body FROM journal WHERE run = ? ORDER BY seq", (run,))
    return [body for (body,) in rows]


async def test_a_thought_is_blanked_before_its_answer_is_recorded(tmp_path: Path) -> None:
    """A run that is killed goes on from what was recorded and answers as one that was not; no thought is stored, and both replay equal.

    B-37 "The thought is blanked by the live handler before the answer is recorded, so that live, resume and replay see the same bytes;"
    """
    script = script_of().on("planner", proposes("planner", ADDS), index=0).on("planner", proposes("planner", SAYS), index=1)
    async with House(tmp_path / "whole", script=script) as house:
        whole = (await house.ordain.plan(REQUEST)).wire
        assert unequal(house.ordain) == []
    waits = hold(proposes("planner", SAYS))
    async with House(
        tmp_path / "killed", script=script_of().on("planner", proposes("planner", ADDS), index=0).on("planner", waits, index=1)
    ) as house:
        run = (await house.ordain.runtime.accept(PlannerRequest.model_validate(REQUEST), PRINCIPAL)).run
        await house.until("the second step is asked for", lambda: house.puppet.asked("planner")[1:])
        before = journal(house, run)
        await house.reopen()
        await house.until("it is asked for again", lambda: house.puppet.asked("planner")[2:])
        assert journal(house, run)[: len(before)] == before
        assert house.over(run) is False
        waits.release()
        killed = house.ordain.runtime.response(await house.ordain.runtime.wait(run))
        assert unequal(house.ordain) == []
        assert not any(b"secret" in body for body in journal(house, run))
    assert [step["thought"] for step in whole["trace"]] == [None, None]
    assert killed["trace"] == whole["trace"]
    assert killed["final_answer"] == whole["final_answer"]
