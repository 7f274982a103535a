"""Agents' cards in a running house: an embedder's own, those of a folder that changes meanwhile,
and what a run that began before goes by.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ordain import Agent
from ordain.app import Extras, Ordain, with_profile
from ordain.errors import ConfigurationError
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings
from tests.replay.golden import SUM, act, finish, request
from tests.shapes.house import SCRIPTED, GatedModel

POET = Agent(
    name="poet_agent",
    domain="poems",
    description="Writes a verse.",
    tool_preference=["creative.tonecheck"],
)


def written(home: Path, name: str, **fields: Any) -> Path:
    """The file of a card; JSON is YAML."""
    file = home / "cards" / f"{name}.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(
        json.dumps({"name": name, "domain": name, "description": "For tests.", **fields}, indent=1)
    )
    return file


def running(home: Path, *agents: Agent, model: ScriptedModel | None = None) -> Ordain:
    (home / "ordain.toml").write_text("[verbs]\nwatch_ms = 0\n")
    extras = Extras(models={"default": model or ScriptedModel(make_script())}, memory=True)
    return Ordain(with_profile(load_settings({}, home), SCRIPTED), agents=agents, extras=extras)


def cards(ordain: Ordain) -> set[str]:
    """Whom work can be handed to now, beside the shipped ones."""
    return {
        name.removeprefix("agent.")
        for name in ordain.runtime.catalog.verbs
        if name.startswith("agent.")
    } - SHIPPED


SHIPPED = {"creative_agent", "research_agent", "finance_agent", "enterprise_agent", "general_agent"}


async def test_a_card_is_taken_up_while_the_house_runs(tmp_path: Path) -> None:
    """A new file is a new verb at once; one that is wrong, by itself or beside the others, leaves
    all as it is and is told by file and line; one that goes takes its verb along.
    """
    async with running(tmp_path) as ordain:
        assert (cards(ordain), set(ordain.runtime.catalog.data.cards)) == (set(), SHIPPED)
        file = written(tmp_path, "legal_agent")
        assert (await ordain.reload()).changed
        assert cards(ordain) == {"legal_agent"}
        other = written(tmp_path, "law_agent", domain="legal_agent")
        failed = await ordain.reload()
        (problem,) = failed.problems
        assert (failed.ok, problem.code, problem.file, problem.line) == (
            False,
            "invalid_card",
            str(file),
            3,
        )
        assert cards(ordain) == {"legal_agent"}
        other.unlink()
        file.unlink()
        assert (await ordain.reload()).ok
        assert cards(ordain) == set()


async def test_a_house_begins_without_the_cards_that_cannot_be_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What else is there is there, and each file that is left out is told, in the log too; a reload
    takes nothing up while one is wrong.
    """
    written(tmp_path, "legal_agent")
    broken = written(tmp_path, "torn")
    broken.write_text("nonsense: [")
    (tmp_path / "council").mkdir()
    (tmp_path / "council" / "torn.yaml").write_text("nonsense: [")
    async with running(tmp_path) as ordain:
        assert cards(ordain) == {"legal_agent"}
        assert sorted(one.code for one in ordain.runtime.reloader.problems) == [
            "invalid_card",
            "invalid_seat",
        ]
        assert str(broken) in {one.file for one in ordain.runtime.reloader.problems}
        assert f"left out: {broken}" in caplog.text
        written(tmp_path, "poems_agent")
        assert not (await ordain.reload()).ok
        assert cards(ordain) == {"legal_agent"}


async def test_what_changes_in_a_folder_is_noticed(tmp_path: Path) -> None:
    """Cards and seats, beside verbs, wording and workflows: what a watch looks at is another
    then.
    """
    async with running(tmp_path) as ordain:
        seen = [ordain._files.fingerprint()]
        written(tmp_path, "legal_agent")
        seen.append(ordain._files.fingerprint())
        (tmp_path / "council").mkdir()
        (tmp_path / "council" / "Skeptic.yaml").write_text("name: Skeptic\n")
        seen.append(ordain._files.fingerprint())
        assert (await ordain.reload()).changed
        assert "Skeptic" in ordain.runtime.catalog.data.seats
    assert all(one != other for number, one in enumerate(seen) for other in seen[:number])


async def test_a_run_goes_by_the_cards_that_it_began_under(tmp_path: Path) -> None:
    """A card that is renamed meanwhile is in the catalog that the run pinned, by its name of then;
    what begins afterwards has the new one.
    """
    file = written(tmp_path, "legal_agent")
    model = GatedModel(make_script(planner=[act("math.evaluate", SUM), finish("4")]), 0)
    async with running(tmp_path, model=model) as ordain:
        planned = asyncio.ensure_future(ordain.plan(request("math.evaluate")))
        await model.asked.wait()
        file.unlink()
        written(tmp_path, "law_agent", domain="legal_agent")
        assert (await ordain.reload()).changed
        model.gate.set()
        answer = (await planned).wire
        assert answer["status"] == "ok"
        stored = ordain.store.stored(answer["run_id"])
        assert stored is not None
        pinned = await ordain.runtime.services.catalogs.pinned(stored.catalog)
        assert ("agent.legal_agent" in pinned.verbs, "agent.law_agent" in pinned.verbs) == (
            True,
            False,
        )
        assert cards(ordain) == {"law_agent"}


async def test_an_embedder_brings_cards(tmp_path: Path) -> None:
    """They stand beside the shipped ones and those of the folder; what of them does not go together
    begins no house, what of the folder does not is left out.
    """
    written(tmp_path, "legal_agent", fallback_agent="poet_agent")
    async with running(tmp_path, POET) as ordain:
        assert cards(ordain) == {"legal_agent", "poet_agent"}
        assert ordain.runtime.catalog.card_of("agent.poet_agent") == POET
    for agents, says in (
        ((POET, POET), "two cards have one name"),
        (
            (POET, POET.model_copy(update={"name": "bard"})),
            "card bard: domain: poems belongs to poet_agent",
        ),
    ):
        with pytest.raises(ConfigurationError, match=says):
            running(tmp_path, *agents)
    other = POET.model_copy(update={"name": "legal_agent"})
    for agents, left, says in (
        ((other,), {"legal_agent"}, "legal_agent is an embedded card"),
        ((), set[str](), "there is no card poet_agent"),
    ):
        async with running(tmp_path, *agents) as ordain:
            assert cards(ordain) == left
            assert any(says in problem.message for problem in ordain.runtime.reloader.problems)


async def test_an_embedder_hands_work_on(tmp_path: Path) -> None:
    """The call of a card's verb like any other: the reply has what the specialist gave, or the
    typed refusal of what is nobody's name.
    """
    handed = (
        'allowed_handoff_targets = ["creative_agent"]\nallowed_handoff_modes = ["delegate"]\n'
        'default_handoff_mode = "delegate"'
    )
    (tmp_path / "policy.toml").write_text(
        f'version = 1\n[approvals]\ndelegation = "never"\n[profile]\n{handed}\n'
    )
    model = ScriptedModel(make_script(planner=[finish("A verse.")]))
    async with running(tmp_path, model=model) as ordain:
        reply = (
            await ordain.delegate("creative_agent", "Write a verse.", payload={"about": "tea"})
        ).wire
        assert (reply["ok"], reply["output"]["status"]) == (True, "completed"), reply["header"]
        assert reply["output"]["outputPayload"]["content"] == "A verse."
        refused = (await ordain.delegate("finance_agent", "Write a verse.")).wire
        assert (refused["ok"], refused["error"]["code"]) == (False, "handoff_target_not_allowed")
        refused = (await ordain.delegate("nobody", "Write a verse.")).wire
        assert (refused["ok"], refused["error"]["code"]) == (False, "unknown_agent")
        refused = (await ordain.delegate("creative_agent", "Write a verse.", scope=["*"])).wire
        assert (refused["ok"], refused["error"]["code"]) == (False, "envelope_invalid")


async def test_an_embedder_asks_the_council(tmp_path: Path) -> None:
    """It is asked as a run of its own; a council without a seat that can speak ends typed."""
    async with running(tmp_path) as ordain:
        answer = await ordain.council("Is tea ready?", max_rounds=1)
        assert (answer.ok, answer.content, answer.next) == (False, "", "")
        assert answer.result is not None
        assert len(answer.result.meta.absent) == 4
        assert answer.error is not None
        assert answer.error.code == "council_no_quorum"


async def test_what_a_chain_answers_for_a_council_is_its_answer(tmp_path: Path) -> None:
    """A verdict that calls for the agent chain leads to an answer that counts: the result says ok
    and has the words, made visible, as the header of the same run says ok.
    """
    model = ScriptedModel(
        make_script(
            seat={"*": [{"text": "Ask at length."}]},
            chair=[{"proposed_answer": "Perhaps."}],
            auditor=[{"action": "delegate"}],
            planner=[finish("Tea is\u202e ready.")],
        )
    )
    async with running(tmp_path, model=model) as ordain:
        answer = await ordain.council("Is tea ready?")
    assert (answer.ok, answer.next, answer.error) == (True, "delegate_chain", None)
    assert answer.header.startswith("✓ ok")
    assert answer.content == "Tea is[U+202E] ready."
    assert answer.result is not None
    assert answer.result.final_text == ""
