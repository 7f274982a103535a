"""A run that waits for one that has stopped: whoever waits for it is told, at once and later, and
it goes on after the fix.
"""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from ordain.app import Extras, Ordain
from ordain.contracts.profiles import ModelProfile
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.settings import load_settings
from ordain.testing import ModelScript
from tests.replay.golden import FACTS, TEXT
from tests.shapes.talk import House

SECONDS = 20


class Stumbling:
    """A model adapter with a bug, until it is mended."""

    def __init__(self) -> None:
        """Broken."""
        self.broken = True

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``; a real one never raises."""
        if self.broken:
            raise RuntimeError("bug")
        return ModelReply(text=json.dumps(FACTS), model="m", input_tokens=1, output_tokens=1)

    async def close(self) -> None:
        """Nothing is held."""


async def test_whoever_waits_is_told_that_a_child_has_stopped(tmp_path: Path) -> None:
    """The caller of a verb whose run faults gets a typed error, also when it asks again; resumed
    after the fix the run completes.
    """
    model = Stumbling()
    profile = ModelProfile(provider="scripted", model="m", script="in memory")
    settings = load_settings({}, tmp_path).model_copy(update={"profiles": {"default": profile}})
    async with Ordain(settings, extras=Extras(models={"default": model}, memory=True)) as ordain:
        reply = (await asyncio.wait_for(ordain.execute("extract_facts", TEXT), SECONDS)).wire
        assert (reply["ok"], reply["error"]["code"]) == (False, "child_stopped")
        again = await asyncio.wait_for(ordain.runtime.wait(reply["run_id"]), SECONDS)
        assert not again.at_rest
        # who looks for what has stopped finds it, though it is no root
        (child,) = await ordain.runtime.runs(statuses=("faulted",))
        assert [
            run.id for run in await ordain.runtime.services.headers.stopped_below(again.stored)
        ] == [child.id]
        assert (
            f"(run {child.id}) has stopped" in (await ordain.runtime.view(reply["run_id"])).header
        )
        told = await ordain.runtime.services.headers.so_far(again.stored)
        assert told.status == "waiting"
        assert any(
            line.mark == "fail" and f"(run {child.id}) has stopped" in line.what
            for line in told.lines
        )
        model.broken = False
        await ordain.runtime.operators.resume(child.id, by="test")
        async for _ in ordain.runtime.events(reply["run_id"]):
            pass  # until it rests
        ended = await ordain.runtime.view(reply["run_id"])
        assert ordain.runtime.response(ended)["ok"]
        assert not await ordain.runtime.services.headers.stopped_below(ended.stored)


@pytest.mark.parametrize(
    ("mode", "purpose"), [("brain", "verb"), ("agent", "planner"), ("council", "seat")]
)
async def test_the_reply_of_a_turn_says_once_how_a_child_stands_that_has_stopped(
    mode: str, purpose: str
) -> None:
    """It has stopped, with why, and is not at work as well; what was done below a run that could be
    read is known.

    RTE-12 "failures must not be summarised away"
    """

    def stumble(_: ModelRequest) -> None:
        raise RuntimeError("bug")

    async with House(script=ModelScript().on(purpose, stumble)) as house:
        answer = await house.say("tell me about dogs", mode=mode)
        assert answer.reply is not None
        header = answer.reply.header or ""
        stopped = set(re.findall(r"\(run (\w+)\) faulted", header))
        assert len(stopped) == 1
        assert not re.search(rf"\(run {stopped.pop()}\) at work", header), header
        assert "cannot be read" not in header
        assert "flow fault · RuntimeError" in header
        assert (answer.reply.ok, header.startswith("✗ nothing done")) == (False, True)
        assert all(run.parent for run in await house.ordain.runtime.runs(statuses=("faulted",)))
