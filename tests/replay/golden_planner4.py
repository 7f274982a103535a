"""How the golden plans of planner 4 and subgoal 1 are made: a tool and an answer, a session of two
requests, a subgoal in a subgoal, a critique, a council, prose.

``python -m tests.replay.golden_planner4 FILE`` plays them and writes them; done once, never again
for a flow version that exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ordain.contracts.planner import PlannerRequest
from ordain.testing import ModelScript, call, fails, finish, says
from tests.replay.golden_file import GoldenTalk, make
from tests.shapes.council import judgement, verdict
from tests.shapes.talk import PRINCIPAL, House

SUM = call("math.evaluate", expression="6 * 7")
BELOW = {
    "goal": "Work out 6 * 7.",
    "facts": "It is asked for by a plan.",
    "tools": ["math.evaluate", "plan.subgoal"],
}
CRITIQUE = {"verdict": "revise", "findings": []}
CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "plainly": ([SUM, finish("It is 42.")], {}),
    "first of a session": ([SUM, finish("It is 42.")], {"session_id": "sums"}),
    "second of a session": ([finish("One more is 43.")], {"session_id": "sums"}),
    "with a subgoal": ([call("plan.subgoal", **BELOW), finish("It is 42.")], {}),
    "criticised": (
        [finish("42"), finish("6 * 7 is 42.")],
        {"preferences": {"self_critique": True}},
    ),
    "criticised in vain": (
        [finish("42"), says("Now."), says("Now.")],
        {"preferences": {"self_critique": True}},
    ),
    "before a council": ([finish("42")], {"preferences": {"council": True}}),
    "in prose": ([says("It is 42."), says("It is 42, as I said.")], {}),
}
"""What the planner proposes in order, and the rest of the request, by its name, which the goal
begins with.
"""


def script() -> ModelScript:
    """Everybody's words."""
    made = ModelScript()
    for name, (steps, _) in CASES.items():
        for index, step in enumerate(steps):
            made = made.on(
                "planner", step, index=index, when=lambda one, name=name: f'"{name}:' in one.user
            )
    made = made.on(
        "planner",
        call("plan.subgoal", **{**BELOW, "goal": "Deeper."}),
        role="subgoal",
        index=0,
        when=lambda one: "Deeper" not in one.user,
    )
    made = made.on("planner", SUM, role="subgoal", index=0).on(
        "planner", finish("42"), role="subgoal"
    )
    made = (
        made.on("seat", {"text": "I think so."})
        .on("chair", judgement("It is 42."))
        .on("auditor", verdict())
    )
    return made.on("verb", CRITIQUE).on("planner", fails("rejected"))


async def play(home: Path) -> GoldenTalk:
    """Ask for every plan; the runs in the order in which they were opened."""
    async with House(home, script=script(), policy={"fallback": {"backoff_ms": 0}}) as house:
        for name, (_, more) in CASES.items():
            given = {
                "goal": {"type": "chat", "description": f"{name}: what is 6 * 7?"},
                "toolset": [{"tool_id": "math.evaluate"}, {"tool_id": "plan.subgoal"}],
                **more,
            }
            await house.ordain.runtime.wait(
                (
                    await house.ordain.runtime.accept(
                        PlannerRequest.model_validate(given), PRINCIPAL
                    )
                ).run
            )
        stored = [
            house.ordain.store.stored(run)
            for (run,) in house.query("SELECT id FROM runs ORDER BY no")
        ]
        return GoldenTalk.of(stored, (), house.ordain.catalog)


if __name__ == "__main__":
    make(play)
