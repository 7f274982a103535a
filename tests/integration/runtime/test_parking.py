"""Runs that wait with their flow kept: they go on where they stood, record the same as those that
are driven anew, and lose nothing where they are put out.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ordain.app import Extras, Ordain, with_profile
from ordain.contracts.profiles import ModelProfile
from ordain.engines import parking
from ordain.journal.records import Status
from ordain.ports.store import StoredRun
from ordain.runtime.live import LiveRun
from ordain.settings import load_settings
from ordain.testing import ModelScript, ScriptedModels, call, finish, hold, output
from tests.replay.golden import FACTS
from tests.replayed import replayed

FOUND = output(**FACTS)
AGENTS = 4


def script(extracted: object) -> ModelScript:
    """An agent that asks a leaf, then a prompt plan (``extracted``), and answers; or first asks its
    user something.
    """
    return (
        ModelScript()
        .on(
            "planner",
            call("ask_user", question="Which one?", expected_type="freeform", key="which"),
            index=0,
            when=lambda asked: "which" in str(asked.inputs),
        )
        .on("planner", call("math.evaluate", expression="6 * 7"), index=0)
        .on("planner", call("extract_facts", text="Ada was born in 1815."), index=1)
        .on("planner", finish("42"), index=2)
        .on("verb", extracted, verb="extract_facts")
    )


def house(home: Path, extracted: object = FOUND) -> Ordain:
    settings = with_profile(
        load_settings(environment={}, home=home),
        ModelProfile(provider="scripted", model="scripted"),
    )
    return Ordain(settings, extras=Extras(models={"default": ScriptedModels(script(extracted))}))


async def ask(ordain: Ordain, session: str, text: str = "calculate") -> str:
    """What an agent answers at last, with its mark."""
    verbs = ["math.evaluate", "extract_facts", "ask_user"]
    answer = await ordain.chat(text, session=session, user="ada", mode="agent", allowed_verbs=verbs)
    return (
        answer.question.text
        if answer.question is not None
        else ""
        if answer.reply is None
        else answer.reply.narrative
    )


async def runs(ordain: Ordain) -> list[StoredRun]:
    """All runs, as they are stored."""
    stored = await ordain.runtime.services.store.load(
        [run.id for run in await ordain.runtime.runs(roots_only=False, limit=100)]
    )
    return [run for run in stored.values() if isinstance(run, StoredRun)]


async def journals(ordain: Ordain) -> list[list[tuple[str, str]]]:
    """Kind and name of each record of each run."""
    return sorted(
        [(str(record.kind), record.name) for record in run.records] for run in await runs(ordain)
    )


@pytest.fixture
def driven(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The flow of each run that was read from its journal to be driven."""
    found: list[str] = []
    made = LiveRun.__init__

    def init(self: LiveRun, *given: object) -> None:
        made(self, *given)  # type: ignore[arg-type]
        found.append(self.stored.flow)

    monkeypatch.setattr(LiveRun, "__init__", init)
    return found


@pytest.mark.parametrize(("places", "more"), [(0, True), (1, True), (AGENTS * 3, False)])
async def test_a_run_that_is_kept_records_what_one_that_is_driven_anew_does(
    tmp_path: Path, driven: list[str], places: int, more: bool
) -> None:
    """Agents beside each other, with room for none, for one and for all of their runs; each run of
    those that are kept is driven once.
    """
    async with house(tmp_path / "kept") as ordain:
        ordain.engine.parking.places = places
        assert (
            await asyncio.gather(*(ask(ordain, f"s{number}") for number in range(AGENTS)))
            == ["42"] * AGENTS
        )
        kept, drives = await journals(ordain), len(driven)
        assert (drives > len(kept)) is more
        assert all(replayed(ordain.runtime.services, run).equal for run in await runs(ordain))
    async with house(tmp_path / "anew") as ordain:
        ordain.engine.parking.places = 0
        for number in range(AGENTS):
            await ask(ordain, f"s{number}")
        assert await journals(ordain) == kept


async def test_a_run_that_holds_much_is_not_kept(
    tmp_path: Path, driven: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is kept is bounded in bytes, too."""
    async with house(tmp_path) as ordain:
        await ask(ordain, "s0")
        few = len(driven)
        monkeypatch.setattr(parking, "PARKED_BYTES", 1_000)
        await ask(ordain, "s1")
        assert len(driven) > 2 * few


async def test_what_waits_when_the_engine_stops_goes_on_at_the_next_start(tmp_path: Path) -> None:
    """A stop puts out whom it keeps; what waited is waiting in the journal, and its flow is run
    again.
    """
    gate = hold()
    async with house(tmp_path, gate) as ordain:
        asking = asyncio.ensure_future(ask(ordain, "s"))
        await gate.reached()
        waiting = await ordain.runtime.runs(statuses=(Status.WAITING,), roots_only=False)
        assert len(waiting) > 1
        asking.cancel()
    async with house(tmp_path) as ordain:
        for run in waiting:
            assert (
                await asyncio.wait_for(ordain.runtime.wait(run.id), 20)
            ).stored.status is Status.COMPLETED


async def test_nobody_above_a_question_is_kept(tmp_path: Path, driven: list[str]) -> None:
    """A person may take days: their turn and what is between it and the question give their flows
    up, and are driven anew by the answer.
    """
    async with house(tmp_path) as ordain:
        assert await ask(ordain, "s", "which") == "Which one?"
        before = len(driven)
        assert await ask(ordain, "s", "the first") == "42"
        assert "turn" in driven[before:]
