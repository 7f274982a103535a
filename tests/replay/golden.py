"""How golden journals are made: real runs of scripted cases, written as files.

``python -m tests.replay.golden FOLDER`` plays every case and writes it; done once per journal
schema, never for an old one.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordain.app import Extras, Ordain
from ordain.contracts.planner import PlannerRequest
from ordain.contracts.profiles import ModelProfile
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import Settings, load_settings
from tests.replay.golden_file import GoldenJournal, write


def act(tool: str, given: Mapping[str, Any], thought: str = "call it") -> dict[str, Any]:
    """A directive that calls a tool."""
    return {
        "thought": thought,
        "finish": False,
        "action": {"tool_id": tool, "input": dict(given)},
        "final_answer": None,
    }


def finish(content: str, thought: str = "done") -> dict[str, Any]:
    """A directive that finishes."""
    return {
        "thought": thought,
        "finish": True,
        "action": None,
        "final_answer": {"content": content, "structured": {}},
    }


def request(*tools: str, **more: Any) -> dict[str, Any]:
    """A planning request with these tools."""
    return {
        "request_id": more.pop("request_id", "golden"),
        "caller": "test",
        "goal": {"type": "analysis", "description": "Work it out."},
        "toolset": [{"tool_id": tool} for tool in tools],
        **more,
    }


SUM = {"expression": "2 + 2"}
FACTS = {
    "facts": [
        {"text": "The lamp is red.", "subject": "The lamp", "predicate": "is", "object": "red"}
    ],
    "method": "analysed",
}
TEXT = {"text": "The lamp is red. The door is shut."}

CASES: dict[str, tuple[dict[str, Any], list[Any], dict[str, list[Any]]]] = {
    "three_tools": (request("math.evaluate"), [*[act("math.evaluate", SUM)] * 3, finish("4")], {}),
    "prompt_plan_child": (
        request("extract_facts"),
        [act("extract_facts", TEXT), finish("red lamp")],
        {"extract_facts": [FACTS]},
    ),
    "reasked": (
        request("math.evaluate"),
        ["no directive at all", act("math.evaluate", SUM), finish("4")],
        {},
    ),
    "refused_twice": (request("math.evaluate"), [act("no_such_tool", {}), {"finish": True}], {}),
    "max_steps": (
        request("math.evaluate", limits={"max_steps": 2}),
        [act("math.evaluate", SUM)] * 3,
        {},
    ),
    "clamped": (request("math.evaluate", limits={"max_steps": 500}), [finish("nothing to do")], {}),
    "thoughts_withheld": (
        request("math.evaluate", preferences={"allow_internal_thought_logging": False}),
        ["unreadable private musing", act("math.evaluate", SUM, "private"), finish("4", "private")],
        {},
    ),
    "failed_verb": (
        request("math.evaluate"),
        [act("math.evaluate", {"expression": "1 / 0"}), finish("not a number")],
        {},
    ),
    "unknown_tool": (request("no_such_tool"), [], {}),
    "model_down": (
        request("math.evaluate"),
        [{"$error": "overloaded"}, {"$error": "overloaded"}],
        {},
    ),
    "failed_child": (
        request("extract_facts"),
        [act("extract_facts", TEXT), finish("nothing")],
        {"extract_facts": [{"facts": "none"}]},
    ),
}


def scripted(settings: Settings, planner: list[Any], verbs: dict[str, list[Any]]) -> Ordain:
    """An Ordain in memory that plays these proposals."""
    extras = Extras(
        models={"default": ScriptedModel(make_script(planner=planner, verbs=verbs))}, memory=True
    )
    profile = ModelProfile(provider="scripted", model="scripted", script="in memory")
    return Ordain(settings.model_copy(update={"profiles": {"default": profile}}), extras=extras)


async def play(name: str) -> list[tuple[str, GoldenJournal]]:
    """Play one case; its run and the run's children."""
    asked, planner, verbs = CASES[name]
    with tempfile.TemporaryDirectory() as home:
        async with scripted(load_settings({}, Path(home)), planner, verbs) as ordain:
            accepted = await ordain.runtime.accept(
                PlannerRequest.model_validate(asked), "local:test"
            )
            await ordain.runtime.wait(accepted.run)
            rows = await ordain.runtime.runs(roots_only=False)
            *tables, (_, catalog) = ordain.catalog.stored
            names = {accepted.run: name}
            return [
                (
                    names.get(row.id, f"{name}.child"),
                    GoldenJournal(
                        run=ordain.store.stored(row.id) or sys.exit("lost"),
                        catalog=catalog,
                        tables=dict(tables),
                    ),
                )
                for row in rows
            ]


def main() -> None:
    """Write every case into the named folder."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        for name, journal in asyncio.run(play(case)):
            write(folder / f"{name}.json", journal)


if __name__ == "__main__":
    main()
