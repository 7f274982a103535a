"""How the golden conversation of roster 5 is made: plans that somebody stops while some of the
agents are done, have failed, or are still at work.

``python -m tests.replay.golden_stopped FILE`` plays it and writes it; done once, never again for a
flow version that exists.
"""

from __future__ import annotations

from pathlib import Path

from tests.replay.golden_file import GoldenTalk, make
from tests.replay.golden_told import taken
from tests.shapes.handoffs import CARDS, SCRIPT, UNASKED, write_cards
from tests.shapes.lines import Held, script_of
from tests.shapes.talk import House
from tests.shapes.workflows import Desk

SLEEPER = {**CARDS, "sleeper": {"domain": "sleep"}}
POLICY = {
    **UNASKED,
    "profile": {**UNASKED["profile"], "allowed_handoff_targets": [*SLEEPER, "general_agent"]},
}
SLEEPS = Held(when=lambda asked: asked.role.startswith("sleeper"))
ENDED = "SELECT count(*) FROM runs WHERE flow = 'handoff' AND ended_at IS NOT NULL"


async def stopped(house: House, name: str, agents: list[str], ended: int) -> None:
    """Have it noted by these, and stop them when so many agents have ended in all."""
    sent = await house.send("have it noted", id=name, delegates=agents)
    await house.until(
        "the others are done", lambda: house.puppet.held and house.query(ENDED) == [(ended,)]
    )
    await house.say("stop", reply_to=name)
    await house.told(sent)
    await house.quiet()


async def play(home: Path) -> GoldenTalk:
    """Stop a turn of three agents by a message, and one in whose first wave nobody is done; the
    runs in the order in which they were opened.
    """
    write_cards(home, SLEEPER)
    async with House(
        home, script=script_of(SLEEPS, SCRIPT), policy=POLICY, verbs=Desk().verbs
    ) as house:
        await stopped(house, "m1", ["clerk", "sleeper", "babbler"], ended=2)
        await stopped(house, "m2", ["sleeper"], ended=3)
        return taken(house)


if __name__ == "__main__":
    make(play)
