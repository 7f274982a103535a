"""Thoughts that may not be kept: what answers live, what goes on after a crash and what replays are
the same bytes, and none of them holds one (B-37).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from msgspec import structs

from ordain.contracts.events import ReplyEvent, SessionEvent, TextEvent
from ordain.contracts.planner import PlannerRequest
from ordain.flows.context import FlowContext
from ordain.flows.turn.flow import run_turn
from ordain.flows.turn.kind import TURN
from ordain.flows.turn.request import TurnInput, TurnOutput
from ordain.testing import hold, proposes
from tests.shapes.lines import script_of
from tests.shapes.session_laws import unequal
from tests.shapes.stored_journal import journal_of
from tests.shapes.talk import PRINCIPAL, WORKSPACE, House

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
    rows = journal_of(house.ordain.store).execute(
        "SELECT body FROM journal WHERE run = (SELECT no FROM runs WHERE id = ?) ORDER BY seq",
        (run,),
    )
    found = [bytes(body) for (body,) in rows if body is not None]
    assert found
    return found


async def test_a_thought_is_blanked_before_its_answer_is_recorded(tmp_path: Path) -> None:
    """A run that is killed goes on from what was recorded and answers as one that was not; no
    thought is stored, and both replay equal.

    B-37 "The thought is blanked by the live handler before the answer is recorded, so that live,
    resume and replay see the same bytes;"
    """
    script = (
        script_of()
        .on("planner", proposes("planner", ADDS), index=0)
        .on("planner", proposes("planner", SAYS), index=1)
    )
    async with House(tmp_path / "whole", script=script) as house:
        whole = (await house.ordain.plan(REQUEST)).wire
        assert unequal(house.ordain) == []
    waits = hold(proposes("planner", SAYS))
    async with House(
        tmp_path / "killed",
        script=script_of()
        .on("planner", proposes("planner", ADDS), index=0)
        .on("planner", waits, index=1),
    ) as house:
        run = (
            await house.ordain.runtime.accept(PlannerRequest.model_validate(REQUEST), PRINCIPAL)
        ).run
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


def _with(folder: Path, words: bytes) -> list[str]:
    """The files below a folder that have these words."""
    return [
        path.name for path in folder.rglob("*") if path.is_file() and words in path.read_bytes()
    ]


async def _withholding(context: FlowContext, given: TurnInput) -> TurnOutput:
    """A turn whose thoughts may not be kept."""
    return await run_turn(structs.replace(context, keep_thoughts=False), given)


async def test_what_does_not_parse_is_seen_while_it_is_written_and_never_again(
    tmp_path: Path,
) -> None:
    """A session's listener reads the text of an answer that is then none; no record, entry, page or
    journal has it, and the next answer counts.

    B-37 "the text exists only in the provisional stream"
    """
    torn: dict[str, Any] = {
        **SAYS,
        "action": 7,
        "final_answer": {"content": "the unkept draft", "structured": {}},
    }
    script = (
        script_of()
        .on("planner", proposes("", torn), index=0)
        .on("planner", proposes("planner", SAYS), index=1)
    )
    kind = replace(TURN, version=TURN.version + 1, run=_withholding)
    async with House(tmp_path, script=script, kinds=[kind]) as house:
        seen: list[SessionEvent] = []

        async def listens() -> None:
            async for event in house.ordain.runtime.conversation.events(WORKSPACE, "s1"):
                seen.append(event)
                if isinstance(event, ReplyEvent):
                    return

        listener = asyncio.create_task(listens())
        answered = await house.say("add two and two", mode="agent")
        await listener
        assert "the unkept draft" in "".join(
            event.text for event in seen if isinstance(event, TextEvent)
        )
        assert [
            event for event in seen if not isinstance(event, TextEvent) and "unkept" in str(event)
        ] == []
        assert answered.reply is not None
        assert answered.reply.narrative == "It is 4."
        assert "unkept" not in answered.reply.header
        assert unequal(house.ordain) == []
        runs = [run for (run,) in house.query("SELECT id FROM runs")]
        assert b"withheld" in b"".join(body for run in runs for body in journal(house, run))
        assert not any(
            b"unkept" in body or b"secret" in body for run in runs for body in journal(house, run)
        )
        assert house.query(
            "SELECT count(*) FROM transcript WHERE instr(CAST(body AS TEXT), 'unkept')"
        ) == [(0,)]
    assert _with(tmp_path, b"unkept") == []
