"""How the golden runs of roster 4, handoff 3 and subgoal 3 are made: a step that its fallback agent
did, one that was dropped for what it needs, and answers behind calls that the door refused.

``python -m tests.replay.golden_made_good FILE`` plays them and writes them; done once, never again
for a flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.testing import ModelScript, call, finish, says
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.cards import given
from tests.shapes.handoffs import CARDS, SCRIPT, UNASKED, write_cards
from tests.shapes.lines import script_of
from tests.shapes.talk import PRINCIPAL, House
from tests.shapes.workflows import Desk

HELPED = {**CARDS, "babbler": {**CARDS["babbler"], "fallback_agent": "clerk"}}
POLICY = {
    **UNASKED,
    "profile": {**UNASKED["profile"], "allowed_handoff_targets": [*CARDS, "general_agent"]},
    "roster": {"backoff_ms": 1},
}
STEPS = [{"agent": agent} for agent in ("babbler", "nobody", "clerk", "sender")]
PLAN = {"steps": STEPS, "metadata": {"depends_on": {"3": [1]}}, "confidence": 0.9}
PLANS: dict[str, list[Any]] = {
    "below": [
        call("plan.subgoal", goal="Send it out.", tools=["send_out"]),
        finish("It is sent."),
    ],
    "handed": [call("agent.sender", **given()), finish("It is sent.")],
}
"""What the planner proposes in order, by the name that the goal begins with."""


def script() -> ModelScript:
    """Everybody's words."""
    made = SCRIPT.on("roster", PLAN).on("synthesis", says("All of it was done."))
    for name, steps in PLANS.items():
        for index, step in enumerate(steps):
            made = made.on(
                "planner", step, index=index, when=lambda one, name=name: f'"{name}:' in one.user
            )
    return made.on("planner", call("send_out", text="tea"), role="subgoal", index=0).on(
        "planner", finish("It is sent."), role="subgoal"
    )


async def play(home: Path) -> GoldenTalk:
    """Have a turn planned, another handed on, and both plans made; the runs in the order in which
    they were opened.
    """
    write_cards(home, HELPED)
    async with House(home, script=script_of(script()), policy=POLICY, verbs=Desk().verbs) as house:
        await house.say("What did the clerk note in October?", verb="roster_runtime")
        await house.say("have it noted", delegates=["babbler", "clerk"])
        for name in PLANS:
            tools = ("plan.subgoal", "agent.sender", "send_out", "note_down")
            asked = {
                "goal": {"type": "chat", "description": f"{name}: send it out"},
                "toolset": [{"tool_id": tool} for tool in tools],
            }
            accepted = await house.ordain.runtime.accept(
                PlannerRequest.model_validate(asked), PRINCIPAL
            )
            await house.ordain.runtime.wait(accepted.run)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
