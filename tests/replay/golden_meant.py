"""How the golden runs of planner 5, supervisor 8, agent chain 2, subgoal 2 and handoff 2 are made:
calls that were meant and had no shape.

``python -m tests.replay.golden_meant FILE`` plays them and writes them; done once, never again for
a flow version that exists.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.testing import ModelScript, call, finish, routes, says
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.cards import given
from tests.shapes.handoffs import UNASKED, write_cards
from tests.shapes.lines import about, script_of
from tests.shapes.talk import PRINCIPAL, House
from tests.shapes.workflows import Desk

SUM = call("math.evaluate", expression="6 * 7")
ACTION: dict[str, Any] = {"tool_id": "math.evaluate", "input": {"expression": "6 * 7"}}
MEANT = says(json.dumps([{"thought": "", "finish": False, "action": ACTION}]))
EXTRA = says(json.dumps({"thought": "", "finish": False, "action": ACTION, "extra": 1}))
BELOW = call("plan.subgoal", goal="Work out 6 * 7.", tools=["math.evaluate"])
PLANS: dict[str, list[Any]] = {
    "meant": [MEANT, finish("It is 42.")],
    "mended": [EXTRA, SUM, finish("It is 42.")],
    "in prose": [says("It is 42."), finish("It is 42.")],
    "below": [BELOW, finish("It is 42.")],
    "handed": [call("agent.clerk", **given(tools=["note_down"])), finish("It is noted.")],
}
"""What the planner proposes in order, by the name that the goal begins with."""
NOTED = says(json.dumps([{"tool_id": "note_down", "input": {"text": "hello"}}]))


def script() -> ModelScript:
    """Everybody's words."""
    made = ModelScript()
    for name, steps in PLANS.items():
        for index, step in enumerate(steps):
            made = made.on(
                "planner", step, index=index, when=lambda one, name=name: f'"{name}:' in one.user
            )
    for role, first in (("subgoal", MEANT), ("clerk", NOTED)):
        made = made.on("planner", first, role=role, index=0).on(
            "planner", finish("It is 42."), role=role
        )
    made = made.on("planner", EXTRA, role="agent_chain", index=0).on(
        "planner", finish("It is 42."), role="agent_chain"
    )
    made = made.on("router", routes("agent_chain", confidence=1.0), when=about("longer work")).on(
        "router", routes("react_lite")
    )
    for told, first in (("meant", MEANT), ("in words", says("It is 42."))):
        made = made.on("planner", first, index=0, when=about(told)).on(
            "planner", finish("It is 42."), when=about(told)
        )
    return made


async def play(home: Path) -> GoldenTalk:
    """Ask for every plan and every turn; the runs in the order in which they were opened."""
    write_cards(home)
    policy = {**UNASKED, "router": {"ask": "local"}, "fallback": {"backoff_ms": 0}}
    async with House(home, script=script_of(script()), policy=policy, verbs=Desk().verbs) as house:
        for name in PLANS:
            tools = ("math.evaluate", "plan.subgoal", "agent.clerk", "note_down")
            asked = {
                "goal": {"type": "chat", "description": f"{name}: what is 6 * 7?"},
                "toolset": [{"tool_id": tool} for tool in tools],
            }
            await house.ordain.runtime.wait(
                (
                    await house.ordain.runtime.accept(
                        PlannerRequest.model_validate(asked), PRINCIPAL
                    )
                ).run
            )
        for said in ("what was meant", "what is in words", "longer work"):
            await house.say(said, mode="agent", allowed_verbs=["math.evaluate"])
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
