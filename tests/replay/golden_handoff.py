"""How the golden runs of handoff 1 are made: work that is handed on, further, at once, in vain,
reviewed, expanded and denied.

``python -m tests.replay.golden_handoff FILE`` plays them and writes them; done once, never again
for a flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from ordain.testing import call, finish
from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.cards import given
from tests.shapes.handoffs import POLICY, asked, decide, planned, write_cards
from tests.shapes.talk import House
from tests.shapes.workflows import Desk

STEPS = (
    call("agent.clerk", **given()),
    call("agent.boss", **given(priority="high")),
    call("agent.babbler", **given()),
    call("agent.sender", **given(forward_skills=["send_out", "pay_out"], return_expected=False)),
    call("agent.clerk", **given(tools=["note_down", "send_out"])),
    call("agent.clerk", **given(task="Note the bomb.")),
    finish("All of it was handed on."),
)
GRAVE = {**POLICY, "guardrails": {"prohibited": ["bomb"], "review_at": 0.3}}


async def play(home: Path) -> GoldenTalk:
    """Play the plan, with a yes to whatever is asked but the last; its runs in the order in which
    they were opened.
    """
    write_cards(home)
    async with House(home, script=planned(*STEPS), policy=GRAVE, verbs=Desk().verbs) as house:
        run = await asked(
            house, "agent.clerk", "agent.boss", "agent.babbler", "agent.sender", "send_out"
        )
        said = 0
        while (
            (view := await house.ordain.runtime.view(run)) is not None
            and not view.at_rest
            and said < 20
        ):
            await decide(house, approve=said != 6)
            said += 1
        await house.ordain.runtime.wait(run)
        await house.quiet()
        return taken(house)


if __name__ == "__main__":
    make(play)
