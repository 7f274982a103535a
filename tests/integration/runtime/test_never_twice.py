"""What may have happened is not made once more by the run's own doing: neither where its model
proposes it anew, nor by a run below or above it, and under no other key.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ordain import Ordain, VerbContext, VerbError, verb
from ordain.app import Extras, shipped_kinds
from ordain.contracts.verbs import ArgumentRole
from ordain.runtime.replay import replay
from ordain.testing import ModelScript, ScriptedModels, call, finish

KEYS: list[tuple[str, str]] = []
AGAIN = call("note.keep", text="tea")
BELOW, OTHERWISE = (
    call("plan.subgoal", goal=goal, tools=["note.keep"]) for goal in ("Keep it.", "Do keep it.")
)


@verb(name="note.keep", effect="private", arguments={"text": ArgumentRole.CONTENT})
def keep(text: str, context: VerbContext) -> dict[str, str]:
    """Keep a note, of which nobody hears whether it was kept."""
    KEYS.append((text, context.key))
    raise VerbError("no_answer", "the connection broke")


@pytest.mark.parametrize(
    ("steps", "kept"),
    [
        ((AGAIN, AGAIN, call("note.keep", text="cake"), AGAIN), ["tea", "cake"]),
        ((AGAIN, BELOW), ["tea"]),
        ((BELOW, AGAIN), ["tea"]),
        ((BELOW, OTHERWISE), ["tea"]),
    ],
    ids=["itself", "below", "above", "beside"],
)
async def test_a_call_in_doubt_is_not_made_again_by_whoever_proposes_it(
    tmp_path: Path, steps: tuple[Any, ...], kept: list[str]
) -> None:
    """The second proposal of the very call is denied, one with other arguments is another call; the
    header says both, and the run replays equal.
    """
    KEYS.clear()
    script = ModelScript().on("planner", AGAIN, role="subgoal", index=0)
    script = script.on("planner", finish("kept"), role="subgoal")
    for number, step in enumerate(steps):
        script = script.on("planner", step, index=number)
    script = script.on("planner", finish("kept"))
    async with Ordain(
        home=tmp_path, verbs=[keep], extras=Extras(models={"default": ScriptedModels(script)})
    ) as ordain:
        done = await ordain.plan(
            {
                "goal": {"type": "chat", "description": "Keep tea."},
                "toolset": [{"tool_id": "note.keep"}, {"tool_id": "plan.subgoal"}],
            }
        )
        assert [text for text, _ in KEYS] == kept
        assert done.verdict == "unknown"
        assert "authorize.in_doubt" in done.header
        for run in await ordain.runtime.search.tree(done.run_id):
            stored = (await ordain.runtime.view(run)).stored
            assert replay(stored, ordain.catalog, shipped_kinds()).equal
