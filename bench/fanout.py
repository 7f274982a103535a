"""``python -m bench.fanout``: CPU per proposal of a turn that is handed to eight agents beside each
other, and of turns that one model answers, in the same process; printed, and kept by hand in
``bench.report.TOGETHER``.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from bench.page import table
from ordain import Agent, Ordain
from ordain.app import Extras
from ordain.contracts.conversation import Message
from ordain.contracts.ids import DEFAULT_WORKSPACE
from ordain.models.scripted import ScriptedModel, make_script
from ordain.settings import load_settings

COUNT, REPEATS, AT_ONCE = 48, 5, 8
WAYS = 8
AGENTS = [f"agent_{number}" for number in range(WAYS)]
CALL = {
    "thought": "count",
    "finish": False,
    "action": {"tool_id": "math.evaluate", "input": {"expression": "2 + 2"}},
    "final_answer": None,
}
DONE = {
    "thought": "done",
    "finish": True,
    "action": None,
    "final_answer": {"content": "4", "structured": {}},
}
SCRIPT = make_script(
    planner=[CALL, DONE],
    synthesis=[{"content": "All eight say four."}],
    verbs={"chat_general": [{"content": "Four."}]},
)
POLICY = """
version = 1

[approvals]
delegation = "never"

[profile]
allowed_handoff_targets = [{names}]
allowed_handoff_modes = ["delegate", "fanout-fanin"]
default_handoff_mode = "fanout-fanin"
max_fanout_agents = {ways}

[roster]
max_concurrency = {ways}
"""
TURNS: dict[str, tuple[dict[str, Any], int]] = {
    "turn, answered at once": ({}, 1),
    "turn, agent mode": ({"mode": "agent", "allowedVerbs": ["math.evaluate"]}, 2),
    "turn, eight agents": ({"delegates": AGENTS}, 2 * WAYS + 1),
}
"""Routing hints of a message, and the proposals of models that its turn takes."""


async def _measured(home: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {name: [] for name in TURNS}
    cards = [
        Agent(name=name, domain=name, description="Counts.", allow=["math.evaluate"])
        for name in AGENTS
    ]
    sessions = count()
    extras = Extras(models={"default": ScriptedModel(SCRIPT)})
    async with Ordain(load_settings({}, home), agents=cards, extras=extras) as ordain:

        async def once(hints: dict[str, Any]) -> None:
            given = {
                "sessionId": f"s{next(sessions)}",
                "userId": "ada",
                "message": {"text": "What is 2 + 2?"},
            }
            message = Message.model_validate({**given, "context": {"routingHints": hints}})
            sent = await ordain.runtime.receive(message, "local:bench")
            answer = await ordain.runtime.conversation.answer(DEFAULT_WORKSPACE, sent)
            assert answer.reply is not None
            assert answer.reply.ok, answer.reply.header

        for repeat in range(REPEATS + 1):
            for name, (hints, proposals) in TURNS.items():
                began = time.process_time()
                for _ in range(COUNT // AT_ONCE):
                    await asyncio.gather(*(once(hints) for _ in range(AT_ONCE)))
                if repeat:  # the first warms up
                    found[name].append(
                        (time.process_time() - began)
                        * 1000
                        / (COUNT // AT_ONCE * AT_ONCE * proposals)
                    )
    return found


def _row(name: str, took: Sequence[float]) -> list[str]:
    return [
        name,
        str(TURNS[name][1]),
        f"{statistics.median(took):.2f}",
        f"{min(took):.2f}",
        f"{max(took):.2f}",
    ]


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "policy.toml").write_text(
            POLICY.format(names=", ".join(f'"{name}"' for name in AGENTS), ways=WAYS),
            encoding="utf-8",
        )
        found = asyncio.run(_measured(home))
    print(
        table(
            ["turn", "proposals", "CPU per proposal, ms", "least", "most"],
            [_row(name, took) for name, took in found.items()],
        )
    )
    *single, fanned = found.values()
    for name, turn in zip(TURNS, single, strict=False):
        ratios = [wide / alone for alone, wide in zip(turn, fanned, strict=True)]
        print(
            f"eight agents to {name}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to "
            f"{max(ratios):.2f})"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
