"""What a conversation's turn is like, wherever policy routes by it: in its planner, in the verbs
that its planner calls, in its summaries.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ordain.app import Extras, Ordain
from ordain.contracts.policy import Lane, Policy
from ordain.contracts.profiles import ModelProfile
from ordain.ports.model import Heard, ModelError, ModelReply, ModelRequest
from ordain.settings import load_settings
from tests.replay.golden import act, finish
from tests.replayed import replayed

FACTS: dict[str, Any] = {"facts": [], "method": "analysed"}
ANSWERS: dict[str, dict[str, Any]] = {
    "chat_general": {"content": "Hello."},
    "extract_facts": FACTS,
    "summarize_conversation": {"summary": "They greeted each other."},
}


class Noting:
    """The model behind one lane: it notes what it is asked for. A planner calls ``extract_facts``
    first, then ends.
    """

    def __init__(
        self, lane: str, asked: list[tuple[str, str]], steps: list[dict[str, Any]]
    ) -> None:
        """``asked`` and ``steps`` are shared by all lanes."""
        self.lane, self.asked, self.steps = lane, asked, steps

    async def attempt(
        self, request: ModelRequest, heard: Heard | None = None
    ) -> ModelReply | ModelError:
        """See ``ModelPort``."""
        verb = request.schema_name.removeprefix("verb_") if request.purpose == "verb" else ""
        self.asked.append((verb or request.purpose, self.lane))
        said = ANSWERS[verb] if verb else self.steps.pop(0)
        return ModelReply(text=json.dumps(said), model=self.lane, input_tokens=10, output_tokens=10)

    async def close(self) -> None:
        """Nothing is held."""


def house(
    home: Path,
    asked: list[tuple[str, str]],
    steps: Sequence[dict[str, Any]] = (),
    **tables: dict[str, Any],
) -> Ordain:
    """An Ordain with a model of its own behind each lane; turns of class large are for lane
    brain.
    """
    shipped, left = load_settings({}, home), list(steps)
    tree = shipped.policy.model_dump()
    lanes = {
        "profiles": {lane: [str(lane)] for lane in Lane},
        "routes": [{"lane": "brain", "why": "escalated", "budget_class": "large"}],
    }
    for name, change in {"lanes": lanes, **tables}.items():
        tree[name] |= change
    profile = ModelProfile(provider="scripted", model="m", script="none")
    settings = shipped.model_copy(
        update={
            "policy": Policy.model_validate(tree),
            "profiles": {str(lane): profile for lane in Lane},
        }
    )
    return Ordain(
        settings,
        extras=Extras(models={str(lane): Noting(lane, asked, left) for lane in Lane}, memory=True),
    )


def replays(ordain: Ordain) -> bool:
    """Whether every run replays equal."""
    runs = [ordain.store.stored(run) for (run,) in ordain.store.query("SELECT id FROM runs")]
    return all(run is not None and replayed(ordain.runtime.services, run).equal for run in runs)


async def test_a_tool_of_a_large_turn_is_routed_as_the_turn_is(tmp_path: Path) -> None:
    """The planner of a large agent turn asks lane brain, and so does the prompt-plan verb that it
    calls; a small turn's do not.
    """
    for budget_class, lane in (("large", "brain"), ("small", "worker")):
        asked: list[tuple[str, str]] = []
        async with house(
            tmp_path, asked, [act("extract_facts", {"text": "A is B."}), finish("done")]
        ) as ordain:
            told = await ordain.chat(
                "Do it.", mode="agent", budget_class=budget_class, allowed_verbs=["extract_facts"]
            )
            assert told.reply is not None
            assert told.reply.ok
            assert asked == [("planner", lane), ("extract_facts", lane), ("planner", lane)]
            assert replays(ordain)


async def test_what_a_large_turn_has_summarised_is_routed_as_the_turn_is(tmp_path: Path) -> None:
    """The summary that a large turn needs for its history is asked of lane brain."""
    asked: list[tuple[str, str]] = []
    async with house(tmp_path, asked, history={"max_entries": 4, "keep_entries": 2}) as ordain:
        for _ in range(8):
            told = await ordain.chat(
                "Hello there, tell me a story.", mode="brain", budget_class="large"
            )
            assert told.reply is not None
            assert told.reply.ok
        assert ("summarize_conversation", "brain") in asked
        assert {lane for _, lane in asked} == {"brain"}
        assert replays(ordain)
