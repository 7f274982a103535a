"""What models wrote into the texts of their JSON that nobody is to see, or that nobody sees:
thoughts, and words of no ink, in whole houses.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain.testing import ModelScript, finish
from tests.integration.runtime.test_council import equal, held, response
from tests.shapes.council import judgement, verdict
from tests.shapes.talk import House

SECRET = "They must not know of it."
THOUGHT = f"<think>{SECRET}</think>"
NO_INK = "\u200b\u2060\u3164"
SEAT = {"text": f"{THOUGHT}I think so."}


async def test_no_thought_is_shown_of_what_a_council_said() -> None:
    """Neither a seat's, nor the chair's, nor the auditor's: not in the result, the header, a prompt
    or a record.
    """
    chair = {
        **judgement(),
        "proposed_answer": f"{THOUGHT}Yes, in the afternoon.",
        "notes": f"{THOUGHT}Clear.",
    }
    auditor = {**verdict(), "reason": f"{THOUGHT}It holds.", "override_answer": f"{THOUGHT}Yes."}
    async with House(
        script=ModelScript().on("seat", SEAT).on("chair", chair).on("auditor", auditor)
    ) as house:
        view, answer = await response(house, await held(house))
        result = answer["result"]
        assert (answer["status"], result["final_text"]) == ("ok", "Yes.")
        assert {one["text"] for one in result["opinions"]} == {"I think so."}
        assert (result["blink"]["proposed_answer"], result["blink"]["notes"]) == (
            "Yes, in the afternoon.",
            "Clear.",
        )
        assert result["verdict"]["reason"] == "It holds."
        assert SECRET not in f"{answer}{view.header}"
        rows = await house.ordain.runtime.runs(roots_only=False)
        stored = [house.ordain.store.stored(row.id) for row in rows]
        assert not [
            record
            for one in stored
            if one is not None
            for record in one.records
            if SECRET.encode() in (record.body or b"")
        ]
        assert await equal(house)


@pytest.mark.parametrize("words", [NO_INK, f"<think>{SECRET}", f"{THOUGHT}{NO_INK}"])
@pytest.mark.parametrize("who", ["seat", "chair", "auditor"])
async def test_who_says_nothing_that_is_seen_has_said_nothing(who: str, words: str) -> None:
    """As an empty text: a seat is absent, and there is neither judgement nor verdict."""
    said: dict[str, dict[str, Any]] = {"seat": SEAT, "chair": judgement(), "auditor": verdict()}
    place = {"seat": "text", "chair": "proposed_answer", "auditor": "override_answer"}[who]
    said[who] = {**said[who], place: words}
    script = ModelScript()
    for purpose, one in said.items():
        script = script.on(purpose, one)
    async with House(script=script) as house:
        _, answer = await response(house, await held(house))
        assert answer["error"]["code"] == (
            "council_no_quorum" if who == "seat" else "council_verdict_invalid"
        )
        assert await equal(house)


@pytest.mark.parametrize("words", [NO_INK, f"<think>{SECRET}", " \u00a0\u2003"])
@pytest.mark.parametrize("mode", ["brain", "agent", "council"])
async def test_an_answer_that_nobody_sees_is_none(tmp_path: Path, mode: str, words: str) -> None:
    """In any mode: the turn is not ok, and whoever asked is told why in words that are seen."""
    script = (
        ModelScript()
        .on("verb", words)
        .on("planner", finish(words))
        .on("seat", {"text": "So."})
        .on("chair", {**judgement(), "proposed_answer": words})
        .on("auditor", verdict())
    )
    async with House(tmp_path, script=script) as house:
        answer = await house.told(await house.send("What is it?", mode=mode))
        assert answer.reply is not None
        assert not answer.reply.ok
        assert "This was not done" in answer.reply.narrative
        assert SECRET not in f"{answer.reply.narrative}{answer.reply.header}"


async def test_an_answer_in_a_directive_is_without_the_thought_in_it(tmp_path: Path) -> None:
    """Its words are what stands after it, live as replayed; what a stream showed early was those
    words, too.
    """
    script = ModelScript().on("planner", finish(f"{THOUGHT}It is 42."))
    async with House(tmp_path, script=script) as house:
        answer = await house.told(await house.send("What is it?", mode="agent"))
        assert answer.reply is not None
        assert (answer.reply.ok, answer.reply.narrative) == (True, "It is 42.")
        assert await equal(house)
